//! The keychain of the system: Secret Service, Keychain, or Credential Manager.

use keyring::{Entry, Error};
use zeroize::Zeroizing;

use super::{Secret, SecretStore};
use crate::session;

/// Under which name the system lists our secrets.
const SERVICE: &str = "Tapdesk";

/// The user's own keychain.
pub(super) struct SystemKeychain;

impl SystemKeychain {
    fn entry(name: &str) -> Result<Entry, String> {
        if !session::has_bus() {
            return Err("there is no session bus".to_owned());
        }
        Entry::new(SERVICE, name).map_err(|error| why(&error))
    }
}

impl SecretStore for SystemKeychain {
    fn get(&self, name: &str) -> Result<Option<Secret>, String> {
        match Self::entry(name)?.get_password() {
            Ok(secret) => Ok(Some(Zeroizing::new(secret))),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(why(&error)),
        }
    }

    fn set(&self, name: &str, secret: &str) -> Result<(), String> {
        let entry = Self::entry(name)?;
        entry.set_password(secret).map_err(|error| why(&error))
    }

    fn remove(&self, name: &str) -> Result<(), String> {
        match Self::entry(name)?.delete_credential() {
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
