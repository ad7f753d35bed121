//! The remote service that the screens show, and whether it still answers.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::Shell;
use super::connections::write;
use crate::backend::RemoteService;
use crate::state::Connection;

/// Pause between two checks. [`RemoteService::answers`] waits for at most a second, so a dead
/// service is noticed within two.
const INTERVAL: Duration = Duration::from_millis(500);

/// The remote service that the screens show.
pub(super) struct Shown {
    /// The connection of this service.
    pub(super) connection: Connection,
    pub(super) service: Arc<RemoteService>,
    /// The reason why it does not answer; `None` if it does.
    pub(super) lost: Option<String>,
}

impl Shown {
    pub(super) fn new(connection: Connection, service: Arc<RemoteService>) -> Self {
        Self {
            connection,
            service,
            lost: None,
        }
    }
}

impl Shell {
    /// Starts checking whether `service` answers, as long as the screens show it.
    pub(super) fn attend(self: &Arc<Self>, service: &Arc<RemoteService>) {
        let (shell, service) = (Arc::downgrade(self), Arc::downgrade(service));
        tokio::spawn(async move {
            while let Some(going_on) = look(&shell, &service).await {
                going_on.await;
            }
        });
    }

    /// Stores whether `service` answers, and publishes a change. `false` if it is no longer shown.
    async fn note(&self, service: &Arc<RemoteService>, lost: Option<String>) -> bool {
        let changed = {
            let mut remote = write(&self.remote);
            let Some(shown) = remote
                .as_mut()
                .filter(|shown| Arc::ptr_eq(&shown.service, service))
            else {
                return false;
            };
            // The first reason stays until the service answers again: one message for one cause.
            let changed = shown.lost.is_some() != lost.is_some();
            if changed {
                shown.lost = lost;
            }
            changed
        };
        if changed {
            self.publish(self.embedded.read().await.as_ref(), None);
        }
        true
    }
}

/// Checks once. Returns the pause until the next check, or `None` if there is none.
async fn look(
    shell: &Weak<Shell>,
    service: &Weak<RemoteService>,
) -> Option<impl Future<Output = ()> + use<>> {
    let service = service.upgrade()?;
    let asked = Arc::clone(&service);
    let answer = tokio::task::spawn_blocking(move || asked.answers()).await;
    let lost = answer.ok()?.err();
    let shell = shell.upgrade()?;
    let goes_on = shell.note(&service, lost).await;
    goes_on.then(|| tokio::time::sleep(INTERVAL))
}
