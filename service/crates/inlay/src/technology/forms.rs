//! The forms of URL that each chip can have.

use super::{Family, Technology};

impl Technology {
    /// Whether it can make codes in the canonical form, without a URL template.
    pub const fn is_canonical(self) -> bool {
        matches!(self.family(), Family::Ntag424)
    }

    /// Whether the beginning of its MAC's input is a setting. Other chips define their input.
    pub const fn chooses_mac_start(self) -> bool {
        matches!(self.family(), Family::Ntag424)
    }

    /// Whether a chip of this kind can be written with the URL of a `planned` one. A `TagTamper` is
    /// an NTAG 424 DNA with a loop; an NTAG 424 DNA has no loop whose state a `TagTamper`'s URL
    /// could show.
    pub fn serves_as(self, planned: Self) -> bool {
        self == planned
            || (matches!(self, Self::Ntag424DnaTt) && matches!(planned, Self::Ntag424Dna))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::{MacStart, Template, TemplateError, TemplateSettings};
    use crate::{MacFrom, Mirror};

    #[test]
    fn a_chip_serves_as_itself_and_a_tag_tamper_also_without_its_loop() {
        for chip in Technology::ALL {
            for planned in Technology::ALL {
                let has_more =
                    (chip, planned) == (Technology::Ntag424DnaTt, Technology::Ntag424Dna);
                let serves = chip.serves_as(planned);
                assert_eq!(serves, chip == planned || has_more, "{chip} {planned}");
            }
        }
    }

    #[test]
    fn the_canonical_form_is_of_a_chip_that_can_make_it() {
        for mirror in [Mirror::Plain, Mirror::Encrypted] {
            let template = Template::canonical("https://x.example/t", mirror, MacFrom::Uid);
            let settings = template.unwrap().settings().clone();
            assert!(settings.technology.is_canonical());
            for chip in Technology::ALL {
                let settings = TemplateSettings {
                    technology: chip,
                    ..settings.clone()
                };
                let is_made = Template::new(settings).is_ok();
                assert!(!is_made || chip.is_canonical(), "{chip}");
            }
        }
    }

    #[test]
    fn other_chips_have_no_choice_of_the_input_of_their_mac() {
        for chip in Technology::ALL {
            let text = "https://x.example/{slug}?c={uid}x{counter}x{mac}";
            let settings = TemplateSettings {
                mac_from: MacStart::Uid,
                ..TemplateSettings::new(text, chip)
            };
            let is_fixed = matches!(
                Template::new(settings),
                Err(TemplateError::MacStartFixed { .. } | TemplateError::NotWritten { .. })
            );
            assert_eq!(is_fixed, !chip.chooses_mac_start(), "{chip}");
        }
    }
}
