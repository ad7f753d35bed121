//! Boltcard's deterministic key scheme (`DETERMINISTIC.md` of its repository).

use crate::Uid;
use crate::key::{AesKey, cmac};

/// The keys of a card in this scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoltcardKeys {
    /// The key that K0 and K2 to K4 follow from.
    pub card: AesKey,
    /// Key 0, the application's master key.
    pub k0: AesKey,
    /// Meta key, shared by all cards of an issuer.
    pub k1: AesKey,
    /// Key 2, from which the MAC is made.
    pub k2: AesKey,
    /// Key 3, which the scheme defines but does not use.
    pub k3: AesKey,
    /// Key 4, which the scheme defines but does not use.
    pub k4: AesKey,
    /// Identifies the card without revealing its UID.
    pub id: [u8; 16],
}

/// The keys of the card `uid`.
pub fn boltcard_keys(issuer: &AesKey, uid: Uid, version: u32) -> BoltcardKeys {
    let uid = uid.bytes();
    let card = [&tag(0x75)[..], &uid, &version.to_le_bytes()].concat();
    let card = AesKey::from_bytes(cmac(issuer, &card));
    let of_card = |purpose| AesKey::from_bytes(cmac(&card, &tag(purpose)));
    BoltcardKeys {
        k0: of_card(0x76),
        k1: shared_key(issuer),
        k2: of_card(0x78),
        k3: of_card(0x79),
        k4: of_card(0x7A),
        // Uses the issuer's key. Some programs say that it is the card's key, but their own vectors
        // use the issuer's.
        id: cmac(issuer, &[&tag(0x7B)[..], &uid].concat()),
        card,
    }
}

/// K1, the meta key that all cards of an issuer share.
pub(super) fn shared_key(issuer: &AesKey) -> AesKey {
    AesKey::from_bytes(cmac(issuer, &tag(0x77)))
}

/// The input that separates the scheme's keys by their purpose.
const fn tag(purpose: u8) -> [u8; 4] {
    [0x2D, 0x00, 0x3F, purpose]
}
