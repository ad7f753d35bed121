//! The place of the key that wraps inlay keys, as the screens show it.

use serde::Serialize;

/// The place of the key that wraps inlay keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct KeyStore {
    /// The kind of place.
    pub kind: KeyStoreKind,
    /// A description of the place, with the reason if it is not the keychain.
    pub text: String,
}

/// Kinds of places for secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum KeyStoreKind {
    /// The keychain of the system's session.
    Keychain,
    /// A file of mode 0600.
    File,
    /// No place is available: codes of rolling-code inlays cannot be verified.
    Locked,
}
