//! The keychain of the system: Secret Service, Keychain, or Credential Manager.

use keyring::{Entry, Error};
use zeroize::Zeroizing;

use super::{Secret, SecretStore};
use crate::session;

/// The user's own keychain, which lists our secrets under this name.
pub(super) struct SystemKeychain(pub(super) String);

impl SystemKeychain {
    fn entry(&self, name: &str) -> Result<Entry, String> {
        if !session::has_bus() {
            return Err("there is no session bus".to_owned());
        }
        Entry::new(&self.0, name).map_err(|error| why(&error))
    }
}

impl SecretStore for SystemKeychain {
    fn get(&self, name: &str) -> Result<Option<Secret>, String> {
        match self.entry(name)?.get_password() {
            Ok(secret) => Ok(Some(Zeroizing::new(secret))),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(why(&error)),
        }
    }

    fn set(&self, name: &str, secret: &str) -> Result<(), String> {
        let entry = self.entry(name)?;
        entry.set_password(secret).map_err(|error| why(&error))
    }

    fn remove(&self, name: &str) -> Result<(), String> {
        match self.entry(name)?.delete_credential() {
            Ok(()) | Err(Error::NoEntry) => Ok(()),
            Err(error) => Err(why(&error)),
        }
    }
}

fn why(error: &Error) -> String {
    match error {
        Error::NoStorageAccess(cause) => format!("it is locked or refuses access ({cause})"),
        Error::PlatformFailure(cause) => cause.to_string(),
        error => error.to_string(),
    }
}
