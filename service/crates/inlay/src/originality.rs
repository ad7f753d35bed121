//! Originality signatures: ECDSA by the chip's manufacturer over its UID. A signature shows that
//! the manufacturer made a chip with this UID. It can be copied with the UID, so it never verifies
//! a tap.
//!
//! Sources: SEC 1 section 4.1.4 and SEC 2 for ECDSA and its curves. NXP publishes keys in AN11350
//! (NTAG 21x), AN11341 (Ultralight EV1), AN12998 (NTAG 22x DNA), AN13452 (Ultralight AES) and
//! AN12196 (NTAG 424 DNA). The other keys follow from published signatures of real chips.

mod curve;

use num_bigint::BigUint;
use sha2::{Digest, Sha256};

pub use curve::Curve;

/// A manufacturer's signing key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signer {
    /// The chips that are signed with it.
    pub chips: &'static str,
    /// Curve of the key.
    pub curve: Curve,
    /// Content that the signature covers.
    pub signs: Signs,
    /// The public key, an uncompressed point in hex digits (SEC 1 section 2.3.3).
    pub public_key: &'static str,
}

/// The content that a signature covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signs {
    /// The UID as a number, without a hash.
    Uid,
    /// SHA-256 of the UID.
    Sha256,
}

const fn nxp(chips: &'static str, curve: Curve, public_key: &'static str) -> Signer {
    Signer {
        chips,
        curve,
        signs: Signs::Uid,
        public_key,
    }
}

const fn st(chips: &'static str, public_key: &'static str) -> Signer {
    Signer {
        chips,
        curve: Curve::Secp128r1,
        signs: Signs::Sha256,
        public_key,
    }
}

/// The keys that manufacturers published, or that follow from published signatures.
pub const SIGNERS: [Signer; 15] = [
    nxp(
        "NTAG21x, NTAG 5",
        Curve::Secp128r1,
        "04494E1A386D3D3CFE3DC10E5DE68A499B1C202DB5B132393E89ED19FE5BE8BC61",
    ),
    nxp(
        "MIFARE Ultralight EV1",
        Curve::Secp128r1,
        "0490933BDCD6E99B4E255E3DA55389A827564E11718E017292FAF23226A96614B8",
    ),
    nxp(
        "NTAG 210 and 212",
        Curve::Secp128r1,
        "04A748B6A632FBEE2C0897702B33BEA1C074998E17B84ACA04FF267E5D2C91F6DC",
    ),
    nxp(
        "ICODE DNA, ICODE SLIX2",
        Curve::Secp128r1,
        "048878A2A2D3EEC336B4F261A082BD71F9BE11C4E2E896648B32EFA59CEA6E59F0",
    ),
    nxp(
        "NTAG 223 and 224 DNA",
        Curve::Secp192r1,
        "0485D5B9353B4FAA77581BA2AE96630C5876D6E8603308ABE9A81A0B506F52D02D04FEE6F2D365B3DEE7B9FAD9133E2976",
    ),
    nxp(
        "MIFARE Ultralight AES",
        Curve::Secp192r1,
        "0453BF8C49B7BD9FE3207A91513B9C1D238ECAB07186B772104AB535F7D3AE63CF7C7F3DD0D169DA3E99E43C6399621A86",
    ),
    nxp(
        "MIFARE Ultralight AES (Vingcard)",
        Curve::Secp192r1,
        "04DC34DAA903F2726A6225B11C692AF6AB4396575CA12810CBBCE3F781A097B3833B50AB364A70D9C2B641A728A599AE74",
    ),
    nxp(
        "NTAG 424 DNA",
        Curve::Secp224r1,
        "048A9B380AF2EE1B98DC417FECC263F8449C7625CECE82D9B916C992DA209D68422B81EC20B65A66B5102A61596AF3379200599316A00A1410",
    ),
    nxp(
        "NTAG 413 DNA, DESFire EV1",
        Curve::Secp224r1,
        "04BB5D514F7050025C7D0F397310360EEC91EAF792E96FC7E0F496CB4E669D414F877B7B27901FE67C2E3B33CD39D1C797715189AC951C2ADD",
    ),
    nxp(
        "DESFire Light",
        Curve::Secp224r1,
        "040E98E117AAA36457F43173DC920A8757267F44CE4EC5ADD3C54075571AEBBF7B942A9774A1D94AD02572427E5AE0A2DD36591B1FB34FCF3D",
    ),
    nxp(
        "DESFire EV2",
        Curve::Secp224r1,
        "04B304DC4C615F5326FE9383DDEC9AA892DF3A57FA7FFB3276192BC0EAA252ED45A865E3B093A3D0DCE5BE29E92F1392CE7DE321E3E5C52B3A",
    ),
    nxp(
        "DESFire EV3",
        Curve::Secp224r1,
        "041DB46C145D0A36539C6544BD6D9B0AA62FF91EC48CBC6ABAE36E0089A46F0D08C8A715EA40A63313B92E90DDC1730230E0458A33276FB743",
    ),
    st(
        "ST25TA (TruST25)",
        "041D92163650161A2548D33881C235D0FB2315C2C31A442F23C87ACF14497C0CBA",
    ),
    st(
        "ST25TN (TruST25)",
        "0440004F974F7C76BC8718E523D85FA7B354A9A992BFA966CB8219242F9D274FD6",
    ),
    st(
        "ST25TV (TruST25)",
        "04101E188A8B4CDDBC62D5BC3E0E6850F0C2730E744B79765A0E079907FBDB01BC",
    ),
];

/// The signer of the UID. A chip family can have several keys, so all keys with the signature's
/// length are tried. The bytes of the UID are in the order of the manufacturer: the ICODE's and
/// NTAG 5's least significant first, all others as the chip sends them.
pub fn signer(uid: &[u8], signature: &[u8]) -> Option<&'static Signer> {
    SIGNERS.iter().find(|signer| signer.signed(uid, signature))
}

impl Signer {
    /// Whether `signature` is this signer's signature over a UID: r, then s.
    pub fn signed(&self, uid: &[u8], signature: &[u8]) -> bool {
        let hash = match self.signs {
            Signs::Uid => BigUint::from_bytes_be(uid),
            Signs::Sha256 => BigUint::from_bytes_be(&Sha256::digest(uid)),
        };
        let hash_bits = match self.signs {
            Signs::Uid => 0,
            Signs::Sha256 => 256,
        };
        self.curve
            .verifies(self.public_key, &hash, hash_bits, signature)
    }
}
