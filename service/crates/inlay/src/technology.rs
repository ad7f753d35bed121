//! The chips of inlays, one file for each family. Code outside of `inlay` does not ask which chip
//! an inlay has: it asks the [`Technology`] for its abilities.

mod access;
mod direct_mac;
mod forms;
mod keys;
pub mod ntag21x;
pub mod ntag22x;
pub mod ntag424;
pub mod sic43nt;
pub mod sic43s1;
pub mod type2;
pub mod type4;

pub use access::Access;

use crate::Uid;
use crate::assessment::Tamper;
use crate::key::{InlayKeys, KeyFingerprint};
use crate::template::Field;
use crate::word::word;

/// The chip of an inlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Technology {
    /// NXP NTAG 424 DNA: AES keys, a one-time code on every tap.
    Ntag424Dna,
    /// NXP NTAG 213: a static URL.
    Ntag213,
    /// NXP NTAG 215: a static URL.
    Ntag215,
    /// NXP NTAG 216: a static URL.
    Ntag216,
    /// NXP MIFARE Ultralight: a static URL.
    Ultralight,
    /// NXP NTAG 424 DNA `TagTamper`: an NTAG 424 DNA with a tamper loop.
    #[cfg_attr(feature = "serde", serde(rename = "ntag424dna_tt"))]
    Ntag424DnaTt,
    /// NXP NTAG 223 DNA, also with `StatusDetect`: SUNCMAC.
    Ntag223Dna,
    /// NXP NTAG 224 DNA, also with `StatusDetect`: SUNCMAC.
    Ntag224Dna,
    /// Silicon Craft SIC43NT: a rolling code of 32 bits.
    Sic43Nt,
    /// Silicon Craft SIC43S1: an AES-CMAC.
    Sic43S1,
    /// NXP NTAG 210: mirrors its UID.
    Ntag210,
    /// NXP NTAG 212: mirrors its UID.
    Ntag212,
    /// NXP NTAG 213 TT: an NTAG 213 with a tamper loop.
    Ntag213Tt,
}

impl Technology {
    /// Every technology, in the order of declaration.
    pub const ALL: [Self; 13] = [
        Self::Ntag424Dna,
        Self::Ntag213,
        Self::Ntag215,
        Self::Ntag216,
        Self::Ultralight,
        Self::Ntag424DnaTt,
        Self::Ntag223Dna,
        Self::Ntag224Dna,
        Self::Sic43Nt,
        Self::Sic43S1,
        Self::Ntag210,
        Self::Ntag212,
        Self::Ntag213Tt,
    ];

    /// The word for this technology in the API and in storage.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ntag424Dna => "ntag424dna",
            Self::Ntag424DnaTt => "ntag424dna_tt",
            Self::Ntag223Dna => "ntag223dna",
            Self::Ntag224Dna => "ntag224dna",
            Self::Sic43Nt => "sic43nt",
            Self::Sic43S1 => "sic43s1",
            Self::Ntag210 => "ntag210",
            Self::Ntag212 => "ntag212",
            Self::Ntag213 => "ntag213",
            Self::Ntag213Tt => "ntag213tt",
            Self::Ntag215 => "ntag215",
            Self::Ntag216 => "ntag216",
            Self::Ultralight => "ultralight",
        }
    }

    /// The product name, as the maker's data sheet writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ntag424Dna => "NTAG 424 DNA",
            Self::Ntag424DnaTt => "NTAG 424 DNA TagTamper",
            Self::Ntag223Dna => "NTAG 223 DNA",
            Self::Ntag224Dna => "NTAG 224 DNA",
            Self::Sic43Nt => "SIC43NT",
            Self::Sic43S1 => "SIC43S1",
            Self::Ntag210 => "NTAG210",
            Self::Ntag212 => "NTAG212",
            Self::Ntag213 => "NTAG213",
            Self::Ntag213Tt => "NTAG213 TT",
            Self::Ntag215 => "NTAG215",
            Self::Ntag216 => "NTAG216",
            Self::Ultralight => "MIFARE Ultralight",
        }
    }

    /// The modes of its cipher. A chip with one mode has [`Mode::Aes`], whatever its cipher is.
    pub const fn modes(self) -> &'static [Mode] {
        match self.family() {
            Family::Ntag424 => &Mode::ALL,
            _ => &[Mode::Aes],
        }
    }

    /// The published weakness of the chip; `None` if none is known.
    pub const fn weakness(self) -> Option<Weakness> {
        match self.family() {
            Family::Ntag22x => Some(ntag22x::WEAKNESS),
            _ => None,
        }
    }

    /// The family, which decides how the chip makes its codes.
    pub const fn family(self) -> Family {
        match self {
            Self::Ntag424Dna | Self::Ntag424DnaTt => Family::Ntag424,
            Self::Ntag223Dna | Self::Ntag224Dna => Family::Ntag22x,
            Self::Sic43Nt => Family::Sic43Nt,
            Self::Sic43S1 => Family::Sic43S1,
            Self::Ntag210
            | Self::Ntag212
            | Self::Ntag213
            | Self::Ntag213Tt
            | Self::Ntag215
            | Self::Ntag216
            | Self::Ultralight => Family::Ntag21x,
        }
    }

    /// Whether the chip can make rolling codes: codes with a MAC or a key stream.
    pub const fn rolls(self) -> bool {
        !matches!(self.family(), Family::Ntag21x)
    }

    /// Whether the chip can write encrypted file data in place of `{enc}`, of a chosen length.
    pub const fn encrypts_data(self) -> bool {
        matches!(self.family(), Family::Ntag424)
    }

    /// How many characters the chip writes in place of a placeholder. `None` if it never writes
    /// that one, if the length is chosen (`{enc}`), or if any length is possible (`{slug}`, `{*}`).
    pub const fn length(self, field: Field, mode: Mode) -> Option<usize> {
        match self.family() {
            Family::Ntag424 => match (field, mode) {
                (Field::Uid, _) => Some(14),
                (Field::Counter, _) => Some(6),
                (Field::Picc, Mode::Aes) => Some(32),
                (Field::Picc, Mode::Lrp) => Some(48),
                (Field::Mac, _) => Some(16),
                (Field::Tamper, _) if matches!(self, Self::Ntag424DnaTt) => Some(2),
                _ => None,
            },
            Family::Ntag22x => match field {
                Field::Uid => Some(14),
                Field::Counter => Some(6),
                Field::Tamper => Some(10),
                Field::Mac => Some(16),
                _ => None,
            },
            Family::Sic43Nt => match field {
                Field::Uid => Some(14),
                Field::Tamper => Some(2),
                Field::Counter | Field::Mac => Some(8),
                _ => None,
            },
            Family::Sic43S1 => match field {
                Field::Uid => Some(14),
                Field::Tamper => Some(2),
                Field::Counter => Some(8),
                Field::Mac => Some(32),
                _ => None,
            },
            Family::Ntag21x => match field {
                Field::Uid => Some(14),
                // NTAG 210 and 212 have no counter.
                Field::Counter if !matches!(self, Self::Ntag210 | Self::Ntag212) => Some(6),
                Field::Tamper if matches!(self, Self::Ntag213Tt) => Some(8),
                _ => None,
            },
        }
    }

    /// The characters that a chip writes in place of `{tamper}`, or into its file data, in this
    /// state of its loop; `None` if it has no loop. A chip without memory of the state writes a
    /// loop that was closed again as a closed one.
    pub const fn tamper_letters(self, state: Tamper) -> Option<&'static str> {
        match self {
            Self::Ntag424DnaTt => Some(match state {
                Tamper::Sealed => "CC",
                Tamper::Reclosed => "OC",
                Tamper::Open => "OO",
                Tamper::Off => "II",
                // The file contains zeros, which stay if the loop is not mirrored.
                Tamper::Unknown => "00",
            }),
            Self::Ntag223Dna | Self::Ntag224Dna => Some(match state {
                Tamper::Sealed => "CC00000000",
                Tamper::Reclosed => "OC00000000",
                Tamper::Open => "OO00000000",
                Tamper::Off | Tamper::Unknown => ntag22x::SWITCHED_OFF,
            }),
            Self::Sic43Nt | Self::Sic43S1 => Some(match state {
                Tamper::Open => "AA",
                _ => "00",
            }),
            Self::Ntag213Tt => Some(match state {
                // The owner chooses the text for a loop that was seen open.
                Tamper::Open | Tamper::Reclosed => "4F50454E",
                _ => "00000000",
            }),
            _ => None,
        }
    }

    /// Whether any of an inlay's keys is its chip's delivery key: a code made with it proves
    /// nothing. Silicon Craft's delivery keys follow from the UID, which anyone can read.
    pub fn has_factory_key(self, uid: Uid, keys: &InlayKeys) -> bool {
        match keys {
            InlayKeys::None => false,
            InlayKeys::Rolling(key) => *key == sic43nt::factory_key(uid),
            InlayKeys::Aes(keys) => {
                let of_uid =
                    self.family() == Family::Sic43S1 && keys.file == sic43s1::factory_key(uid);
                keys.factory() || of_uid
            }
        }
    }

    /// Whether a fingerprint belongs to the delivery key of the chip `uid`.
    pub fn is_factory_key(self, uid: Uid, key: KeyFingerprint) -> bool {
        let delivered = match self.family() {
            Family::Sic43Nt => Some(sic43nt::factory_key(uid).fingerprint()),
            Family::Sic43S1 => Some(sic43s1::factory_key(uid).fingerprint()),
            Family::Ntag424 | Family::Ntag22x | Family::Ntag21x => None,
        };
        key.is_factory() || delivered == Some(key)
    }

    /// Whether its codes are short enough to be guessed: 32 bits.
    pub const fn is_guessable(self) -> bool {
        matches!(self.family(), Family::Sic43Nt)
    }

    /// The highest value of its counter; after it the chip makes no further codes.
    pub const fn counter_max(self) -> u32 {
        match self.family() {
            Family::Sic43Nt | Family::Sic43S1 => u32::MAX,
            _ => super::code::COUNTER_MAX,
        }
    }
}

/// A published weakness of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ChipWeakness))]
pub struct Weakness {
    /// The weakness, and a protection from it, in two sentences for the owner of a chip.
    pub text: &'static str,
    /// The name of the publication.
    pub source: &'static str,
    /// The URL of the publication.
    pub url: &'static str,
}

/// Chips that make their codes in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ChipFamily))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Family {
    /// Secure Dynamic Messaging: [`ntag424`].
    Ntag424,
    /// SUNCMAC directly with the chip's key: [`ntag22x`].
    Ntag22x,
    /// A key stream of the cipher MICKEY: [`sic43nt`].
    Sic43Nt,
    /// AES-CMAC over time stamp and UID: [`sic43s1`].
    Sic43S1,
    /// Only UID and counter in clear: [`ntag21x`].
    Ntag21x,
}

/// The cipher of an NTAG 424 DNA. A URL does not show it, so it is configured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Mode {
    /// AES-128, the mode of a new chip.
    #[default]
    Aes,
    /// LRP, the leakage resilient primitive over AES-128 (AN12304). A chip can be switched to
    /// it once, and not back.
    Lrp,
}

impl Mode {
    /// Both modes, in the order of declaration.
    pub const ALL: [Self; 2] = [Self::Aes, Self::Lrp];

    /// The word for this mode in the API and in storage.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Aes => "aes",
            Self::Lrp => "lrp",
        }
    }
}

word!(Technology);
word!(Mode);

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "serde")]
    #[test]
    fn words_are_read_as_they_are_written() {
        for technology in Technology::ALL {
            assert_eq!(technology.as_str().parse(), Ok(technology));
            let json = serde_json::to_string(&technology).unwrap();
            assert_eq!(json, format!("{:?}", technology.as_str()));
        }
        for mode in Mode::ALL {
            assert_eq!(mode.as_str().parse(), Ok(mode));
            let json = serde_json::to_string(&mode).unwrap();
            assert_eq!(json, format!("{:?}", mode.as_str()));
        }
    }

    #[test]
    fn every_chip_has_every_entry() {
        let mut names: Vec<_> = Technology::ALL.map(Technology::name).to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Technology::ALL.len());
        for chip in Technology::ALL {
            assert!(chip.modes().starts_with(&[Mode::default()]), "{chip}");
            for mode in Mode::ALL {
                let length = |field| chip.length(field, mode);
                assert_eq!(length(Field::Uid), Some(14), "{chip}");
                // A chip that rolls makes a MAC and counts; only its counter orders its codes.
                assert_eq!(length(Field::Mac).is_some(), chip.rolls(), "{chip}");
                assert!(!chip.rolls() || length(Field::Counter).is_some(), "{chip}");
                let digits = length(Field::Counter).unwrap_or(6);
                let highest = u32::try_from((1_u64 << (4 * digits)) - 1);
                assert_eq!(highest, Ok(chip.counter_max()), "{chip}");
                // Encrypted PICC data and file data belong together.
                let has_picc = length(Field::Picc).is_some();
                assert_eq!(has_picc, chip.encrypts_data(), "{chip}");
                for state in [Tamper::Sealed, Tamper::Open, Tamper::Off, Tamper::Unknown] {
                    let written = chip.tamper_letters(state).map(str::len);
                    assert_eq!(written, length(Field::Tamper), "{chip} {state:?}");
                }
            }
            let by_size = ntag21x::Memory::of(chip).map(|memory| type2::by_size(memory.size));
            assert!(by_size.is_none_or(|found| found.is_some_and(|(one, _)| one == chip)));
        }
    }

    #[test]
    fn chips_with_a_mirror_alone_do_not_roll() {
        let static_ones = Technology::ALL.into_iter().filter(|t| !t.rolls());
        for technology in static_ones {
            assert_eq!(technology.family(), Family::Ntag21x);
            assert_eq!(technology.length(Field::Mac, Mode::Aes), None);
        }
        assert!(Technology::Ntag424Dna.rolls());
    }
}
