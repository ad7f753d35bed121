//! The keys of a rotation in the system's keychain.

use tapdesk_service::clock::Timestamp;
use tapdesk_service::rotate::places::{KeyPlaces, Names, WrappingKey};
use zeroize::Zeroizing;

use super::{INLAY_KEY, Keychain, Secret, parse};

/// The keychain name of the new key until it replaces the present one.
const NEXT: &str = "inlay-key.next";

/// The advice to the person if the key of the database is not in the keychain.
pub(crate) const FIND: &str =
    "Restore a backup with its passphrase: it contains the key that was in use then.";

/// Keeps both keys of a rotation in the keychain.
pub(crate) struct KeychainPlaces(pub(crate) Keychain);

impl KeychainPlaces {
    fn read(&self, name: &str) -> Result<Option<WrappingKey>, String> {
        let Some(text) = self.0.get(name).map_err(unusable)? else {
            return Ok(None);
        };
        let damaged = || format!("The entry {name} in the system's keychain is not a key. {FIND}");
        parse(&text).map(Some).ok_or_else(damaged)
    }

    fn keep(&self, name: &str, secret: Secret) -> Result<(), String> {
        self.0.set(name, secret).map_err(unusable)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` gives it away")]
fn unusable(why: String) -> String {
    format!("The system's keychain cannot be used: {why}. Unlock it, then try again.")
}

impl KeyPlaces for KeychainPlaces {
    fn present(&self) -> Result<Option<WrappingKey>, String> {
        self.read(INLAY_KEY)
    }

    fn next(&self) -> Result<Option<WrappingKey>, String> {
        self.read(NEXT)
    }

    fn keep_next(&self, key: &WrappingKey) -> Result<(), String> {
        let text = base16ct::lower::encode_string(&**key);
        self.keep(NEXT, Zeroizing::new(text))
    }

    fn replace(&self, now: Timestamp) -> Result<Option<String>, String> {
        let Some(new) = self.0.get(NEXT).map_err(unusable)? else {
            return Ok(None);
        };
        let before = self.0.get(INLAY_KEY).map_err(unusable)?;
        // A rotation that was interrupted between the last two steps has stored it already.
        let aside = match before.filter(|before| *before != new) {
            Some(before) => {
                let name = format!("{INLAY_KEY}.replaced-at-{}", now.unix_seconds());
                let name = self.0.unused(&name).map_err(unusable)?;
                self.keep(&name, before)?;
                Some(name)
            }
            None => None,
        };
        self.keep(INLAY_KEY, new.clone())?;
        // The next step deletes the only other copy.
        if self.0.get(INLAY_KEY).map_err(unusable)? != Some(new) {
            let why = "it does not keep stored entries".to_owned();
            return Err(unusable(why));
        }
        let removed = self.0.ask(|store| store.remove(NEXT));
        removed.map_err(unusable)?;
        Ok(aside.map(|name| format!("{name} in the system's keychain")))
    }

    fn names(&self) -> Names {
        Names {
            present: format!("the system's keychain ({INLAY_KEY})"),
            next: format!("the system's keychain ({NEXT})"),
            find: FIND,
        }
    }
}
