//! The keys of each chip: which it has, and how long they are.

use super::{Family, Technology};

impl Technology {
    /// Whether its keys are AES keys. A master key can derive them, so they can also verify a chip
    /// that is no inlay yet.
    pub const fn has_aes_keys(self) -> bool {
        matches!(
            self.family(),
            Family::Ntag424 | Family::Ntag22x | Family::Sic43S1
        )
    }

    /// Whether it has a meta key, which encrypts UID and counter, in addition to its file key.
    pub const fn has_meta_key(self) -> bool {
        matches!(self.family(), Family::Ntag424)
    }

    /// The length of its file key, or of its only key, in hex digits; `None` if it has no key.
    pub const fn key_digits(self) -> Option<usize> {
        match self.family() {
            Family::Ntag424 | Family::Ntag22x | Family::Sic43S1 => Some(32),
            Family::Sic43Nt => Some(20),
            Family::Ntag21x => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{AesKey, Sic43ntKey};
    use crate::template::Field;

    #[test]
    fn a_chip_that_rolls_has_a_key_of_its_kind() {
        for chip in Technology::ALL {
            assert_eq!(chip.key_digits().is_some(), chip.rolls(), "{chip}");
            let Some(digits) = chip.key_digits() else {
                assert!(!chip.has_aes_keys() && !chip.has_meta_key(), "{chip}");
                continue;
            };
            let key = "1".repeat(digits);
            assert_eq!(
                AesKey::from_hex(&key).is_ok(),
                chip.has_aes_keys(),
                "{chip}"
            );
            let is_rolling = Sic43ntKey::from_hex(&key).is_ok();
            assert_eq!(is_rolling, !chip.has_aes_keys(), "{chip}");
            // Encrypted UID and counter need a key of their own.
            for mode in chip.modes() {
                let encrypts = chip.length(Field::Picc, *mode).is_some();
                assert_eq!(encrypts, chip.has_meta_key(), "{chip}");
            }
        }
    }
}
