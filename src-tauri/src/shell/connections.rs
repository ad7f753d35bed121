//! The services that the screens can show: the embedded one, and remote ones that accept a token.

use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use tapdesk_service::admin_token::AdminToken;
use tapdesk_service::entropy::{self, OsEntropy};
use tapdesk_service::field_error::FieldError;
use zeroize::Zeroizing;

use super::remote::Shown;
use super::{Shell, blocking};
use crate::backend::{self, RemoteService};
use crate::preferences::Remote;
use crate::state::{Connection, ConnectionKind, EMBEDDED};

/// Alphabet and length of a connection's id.
const ID: (&[u8], usize) = (b"abcdefghijklmnopqrstuvwxyz0123456789", 8);

impl Shell {
    /// Shows another service in the screens.
    pub async fn connect(self: &Arc<Self>, id: &str) -> Result<(), String> {
        let remote = if id == EMBEDDED {
            None
        } else {
            let known = self
                .preferences()
                .connections
                .iter()
                .find(|known| known.id == id)
                .cloned();
            let known = known.ok_or("This connection no longer exists.")?;
            let (keychain, folders) = (self.keychain.clone(), self.folders.clone());
            let name = secret_name(id);
            let token = blocking(move || keychain.recall(&folders, &name)).await?;
            let token = AdminToken::parse(&token).map_err(|error| error.to_string())?;
            let service = RemoteService::new(known.url.clone(), token);
            Some(Shown::new(connection(&known), Arc::new(service)))
        };
        let service = remote.as_ref().map(|shown| Arc::clone(&shown.service));
        *write(&self.remote) = remote;
        if let Some(service) = service {
            self.attend(&service);
        }
        self.publish(self.embedded.read().await.as_ref(), None);
        Ok(())
    }

    /// Adds a remote service after it has accepted the token.
    pub async fn add_connection(
        &self,
        name: &str,
        url: &str,
        token: Zeroizing<String>,
    ) -> Result<Connection, FieldError> {
        let remote = Remote {
            id: entropy::text(&OsEntropy, ID.0, ID.1),
            name: name.trim().to_owned(),
            url: backend::address(url).map_err(|why| FieldError::of("url", why))?,
        };
        if remote.name.is_empty() {
            return Err(FieldError::of("name", "A connection needs a name."));
        }
        let parsed = AdminToken::parse(&token)
            .map_err(|error| FieldError::of("token", error.to_string()))?;
        let service = RemoteService::new(remote.url.clone(), parsed);
        let (keychain, folders) = (self.keychain.clone(), self.folders.clone());
        let secret = secret_name(&remote.id);
        let kept = move || {
            service.check()?;
            keychain
                .keep(&folders, &secret, &token)
                .map_err(|error| format!("The token cannot be stored: {error}."))
                .map_err(|why| FieldError::of("token", why))
        };
        blocking(move || Ok::<_, String>(kept()))
            .await
            .map_err(FieldError::whole)??;
        let added = connection(&remote);
        self.choose(|preferences| preferences.connections.push(remote));
        self.publish(self.embedded.read().await.as_ref(), None);
        Ok(added)
    }

    /// Removes a remote service and its token.
    pub async fn remove_connection(&self, id: &str) -> Result<(), String> {
        self.choose(|preferences| preferences.connections.retain(|known| known.id != id));
        {
            let mut remote = write(&self.remote);
            if remote
                .as_ref()
                .is_some_and(|shown| shown.connection.id == id)
            {
                *remote = None;
            }
        }
        let (keychain, folders) = (self.keychain.clone(), self.folders.clone());
        let name = secret_name(id);
        blocking(move || {
            keychain.forget(&folders, &name);
            Ok::<_, String>(())
        })
        .await?;
        self.publish(self.embedded.read().await.as_ref(), None);
        Ok(())
    }
}

pub(super) fn connection(remote: &Remote) -> Connection {
    Connection {
        id: remote.id.clone(),
        name: remote.name.clone(),
        kind: ConnectionKind::Remote,
        url: remote.url.clone(),
    }
}

/// The name under which the token of a connection is stored.
fn secret_name(id: &str) -> String {
    format!("connection-{id}")
}

pub(super) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
