//! The schemes as a form offers them: their options, and the length of their master keys.

use std::ops::RangeInclusive;

use super::{Derivation, MASTER_MAX, SdmBackendVersion, first, second};
use crate::diversify::DiversificationInput;

impl Derivation {
    /// Each scheme once, with the usual values of its options.
    pub fn usual() -> [Self; 5] {
        [
            Self::An10922 {
                input: input("{uid}"),
                diversify_meta: true,
            },
            Self::Boltcard { version: 1 },
            Self::SdmBackend {
                version: SdmBackendVersion::Standard,
                meta_slot: first(),
                file_slot: second(),
            },
            Self::Ntag424Crate {
                system_id: "".parse().expect("an empty name"),
                file_slot: second(),
            },
            Self::PlainCmac {
                input: input("01{uid}"),
            },
        ]
    }

    /// The lengths that its master key can have, in bytes.
    pub const fn master_bytes(&self) -> RangeInclusive<usize> {
        match self {
            Self::SdmBackend { .. } => 1..=MASTER_MAX,
            Self::An10922 { .. }
            | Self::Boltcard { .. }
            | Self::Ntag424Crate { .. }
            | Self::PlainCmac { .. } => 16..=16,
        }
    }
}

fn input(text: &str) -> DiversificationInput {
    text.parse().expect("hex digits around one {uid}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Uid;
    use crate::derivation::MasterSecret;

    #[test]
    fn each_scheme_derives_keys_from_a_master_key_of_its_length_and_of_no_other() {
        let uid = Uid::from_bytes([0x04, 0xDE, 0x5F, 0x1E, 0xAC, 0xC0, 0x40]);
        for scheme in Derivation::usual() {
            let lengths = scheme.master_bytes();
            let (least, most) = (*lengths.start(), *lengths.end());
            for (length, fits) in [
                (least - 1, false),
                (least, true),
                (most, true),
                (most + 1, false),
            ] {
                let master = MasterSecret::from_bytes(&vec![0x11; length]);
                assert_eq!(scheme.check(&master).is_ok(), fits, "{scheme:?} {length}");
                assert!(!fits || scheme.keys(&master, uid).is_ok(), "{scheme:?}");
            }
        }
    }

    #[cfg(feature = "serde")]
    #[test]
    fn each_scheme_is_there_once_and_is_read_as_it_is_written() {
        let mut words: Vec<_> = Derivation::usual()
            .iter()
            .map(|scheme| {
                let json = serde_json::to_value(scheme).unwrap();
                let read: Derivation = serde_json::from_value(json.clone()).unwrap();
                assert_eq!(&read, scheme);
                json["scheme"].to_string()
            })
            .collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Derivation::usual().len());
    }
}
