//! Boltcard's deterministic key scheme (`DETERMINISTIC.md` of its repository).

use crate::inlay::Uid;
use crate::inlay::key::AesKey;
use crate::inlay::session::cmac;

/// The keys of a card in this scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoltcardKeys {
    /// The key that K0 and K2 to K4 follow from.
    pub card: AesKey,
    /// Application key.
    pub k0: AesKey,
    /// Meta key, shared by all cards of an issuer.
    pub k1: AesKey,
    /// File key.
    pub k2: AesKey,
    /// Not used.
    pub k3: AesKey,
    /// Not used.
    pub k4: AesKey,
    /// The card's identity for people who must not learn its UID.
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
        // With the issuer's key: some programs say the card's, and their own vectors do not.
        id: cmac(issuer, &[&tag(0x7B)[..], &uid].concat()),
        card,
    }
}

/// K1.
pub(super) fn shared_key(issuer: &AesKey) -> AesKey {
    AesKey::from_bytes(cmac(issuer, &tag(0x77)))
}

/// What separates the scheme's keys.
const fn tag(purpose: u8) -> [u8; 4] {
    [0x2D, 0x00, 0x3F, purpose]
}
