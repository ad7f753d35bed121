//! Why does a code at a URL template's address not verify? Looks for the settings under which it
//! would be authentic. All keys known here are tried in every role.

use super::finding::{Absent, Finding, KeyIs, Slot};
use crate::Uid;
use crate::derivation::{Derivation, MasterSecret};
use crate::key::{AesKey, InlayKeys, Keys};
use crate::solver::mac_starts;
use crate::technology::ntag424::Mirrored;
use crate::technology::{Family, Mode};
use crate::template::{Field, Filled, Template, TemplateSettings};

/// A chip that could have made the code.
#[derive(Clone, Debug)]
pub struct KnownChip {
    /// UID of the chip.
    pub uid: Uid,
    /// Configured keys of the chip.
    pub keys: InlayKeys,
    /// How the chip relates to the URL.
    pub is: Relation,
}

/// How a chip relates to the URL that has its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// An inlay to which the URL may belong.
    OfPlace,
    /// An inlay of another tag.
    OfOtherTag,
    /// An inlay with another URL template, or without one.
    OfOtherTemplate,
}

impl Relation {
    /// The finding if the chip with this UID made the code; `None` if the chip is at its place.
    const fn finding(self, uid: Uid) -> Option<Finding> {
        match self {
            Self::OfPlace => None,
            Self::OfOtherTag => Some(Finding::OtherInlay { uid }),
            Self::OfOtherTemplate => Some(Finding::OtherTemplate { uid }),
        }
    }
}

/// A master key, with the scheme by which it derives keys.
#[derive(Clone, Debug)]
pub struct KnownMaster {
    /// Name that the owner gave it.
    pub name: String,
    /// Secret from which keys are derived.
    pub secret: MasterSecret,
    /// The scheme of the derivation.
    pub derivation: Derivation,
}

/// Explains why a code at the place of a template, with this slug, does not verify. `opened`: its
/// PICC data, if a key of the template opens them. Returns the index in `chips` of the chip that
/// made it, if it is known, and the findings.
pub fn explain(
    (template, slug): (&Template, Option<&str>),
    code: &Filled,
    opened: Option<Mirrored>,
    chips: &[KnownChip],
    masters: &[KnownMaster],
) -> (Option<usize>, Vec<Finding>) {
    if !template.settings().technology.rolls() {
        return without_mac(code, chips);
    }
    let fits = |template: &Template, uid: Uid, keys: &InlayKeys| {
        template.check(slug, code, uid, keys).is_authentic()
    };
    let is_zero = |field| {
        code.get(field)
            .is_some_and(|value| value.bytes().all(|b| b == b'0'))
    };
    if is_zero(Field::Mac) {
        // No key made an all-zero code, so no key can be wrong.
        let mut named = chips.iter();
        let named = named.position(|chip| names(template, code, chip));
        let finding = if is_zero(Field::Uid) || is_zero(Field::Picc) {
            Finding::NothingWritten
        } else {
            Finding::NoMac
        };
        return (named, vec![finding]);
    }
    for (index, chip) in chips.iter().enumerate() {
        if fits(template, chip.uid, &chip.keys) {
            let finding = chip.is.finding(chip.uid);
            let absent = absent(template, code, chip).map(Finding::NotMirrored);
            return (Some(index), finding.into_iter().chain(absent).collect());
        }
    }
    for (index, chip) in chips.iter().enumerate() {
        for (keys, finding) in other_keys(template, chip) {
            if fits(template, chip.uid, &keys) {
                return (Some(index), vec![finding]);
            }
        }
    }
    for (index, chip) in chips.iter().enumerate() {
        // PICC data without a UID name no chip, so the MAC decides.
        let absent = absent(template, code, chip);
        if template.settings().technology.family() == Family::Ntag424
            && (names(template, code, chip) || absent == Some(Absent::Uid))
            && let Some(found) = mac_starts(template, slug, code, &chip.keys).first()
        {
            let start = Finding::MacStart(found.settings().mac_from);
            let absent = absent.map(Finding::NotMirrored);
            return (Some(index), [start].into_iter().chain(absent).collect());
        }
    }
    if let Some(other) = in_other_mode(template) {
        let mode = other.settings().mode;
        let mut chips = chips.iter();
        if let Some(index) = chips.position(|chip| fits(&other, chip.uid, &chip.keys)) {
            return (Some(index), vec![Finding::Mode(mode)]);
        }
    }
    let named = code.uid().or_else(|| {
        let mut chips = chips.iter();
        chips
            .find(|chip| names(template, code, chip))
            .map(|chip| chip.uid)
    });
    let named = named.or(opened.and_then(|opened| opened.uid));
    let Some(uid) = named else {
        let finding = match opened {
            Some(_) => Finding::NotMirrored(Absent::Uid),
            None => Finding::PiccDataFitsNoKey,
        };
        return (None, vec![finding]);
    };
    let known = chips.iter().position(|chip| chip.uid == uid);
    if let Some(absent) = known.and_then(|index| absent(template, code, &chips[index])) {
        return (known, vec![Finding::NotMirrored(absent)]);
    }
    for master in masters {
        let keys = master.derivation.keys(&master.secret, uid);
        if let Ok(keys) = keys
            && fits(template, uid, &InlayKeys::Aes(keys))
        {
            let is = KeyIs::Diversified {
                name: master.name.clone(),
            };
            let slot = Slot::File;
            let not_configured = known.is_none().then_some(Finding::NotConfigured { uid });
            let key = Finding::Key { slot, is };
            return (known, not_configured.into_iter().chain([key]).collect());
        }
    }
    let finding = match known {
        Some(_) => Finding::MacFitsNothing { uid },
        None => Finding::NotConfigured { uid },
    };
    (known, vec![finding])
}

/// Explains the UID of a chip that makes no MAC.
fn without_mac(code: &Filled, chips: &[KnownChip]) -> (Option<usize>, Vec<Finding>) {
    let Some(uid) = code.uid() else {
        return (None, Vec::new());
    };
    let known = chips.iter().position(|chip| chip.uid == uid);
    let finding = match known {
        Some(index) => chips[index].is.finding(uid),
        None => Some(Finding::NotConfigured { uid }),
    };
    (known, finding.into_iter().collect())
}

/// The value that is missing in the PICC data, decrypted with a chip's key.
fn absent(template: &Template, code: &Filled, chip: &KnownChip) -> Option<Absent> {
    let InlayKeys::Aes(keys) = &chip.keys else {
        return None;
    };
    let picc = template.has(Field::Picc);
    let opened = picc.then(|| template.meta_key(keys.for_picc_data()).open(code))??;
    match (opened.uid, opened.counter) {
        (None, _) => Some(Absent::Uid),
        (_, None) => Some(Absent::Counter),
        _ => None,
    }
}

/// Whether a code claims to be of a chip: in clear, or in PICC data that the chip's key decrypts.
fn names(template: &Template, code: &Filled, chip: &KnownChip) -> bool {
    match (&chip.keys, template.has(Field::Picc)) {
        (InlayKeys::Aes(keys), true) => {
            let opened = template.meta_key(keys.for_picc_data()).open(code);
            opened.is_some_and(|opened| opened.uid == Some(chip.uid))
        }
        (_, true) => false,
        (_, false) => code.uid().is_none_or(|uid| uid == chip.uid),
    }
}

/// The keys that a chip could have instead of the configured ones.
fn other_keys(template: &Template, chip: &KnownChip) -> Vec<(InlayKeys, Finding)> {
    let InlayKeys::Aes(keys) = &chip.keys else {
        return Vec::new();
    };
    let pair = |meta: Option<&AesKey>, file: &AesKey| {
        InlayKeys::Aes(Keys {
            meta: meta.cloned(),
            file: file.clone(),
        })
    };
    let is = |slot, is| Finding::Key { slot, is };
    let (meta, file, zero) = (keys.meta.as_ref(), &keys.file, &AesKey::FACTORY);
    let mut others = vec![(pair(meta, zero), is(Slot::File, KeyIs::Factory))];
    if template.has(Field::Picc)
        && let Some(meta) = meta
    {
        others.extend([
            (pair(Some(file), meta), Finding::KeysSwapped),
            (pair(Some(file), file), is(Slot::Meta, KeyIs::OtherSlot)),
            (pair(Some(meta), meta), is(Slot::File, KeyIs::OtherSlot)),
            (pair(Some(zero), file), is(Slot::Meta, KeyIs::Factory)),
            (pair(Some(zero), zero), is(Slot::Meta, KeyIs::Factory)),
        ]);
    }
    others
}

/// The template in its chip's other cipher, if its URLs would look the same.
fn in_other_mode(template: &Template) -> Option<Template> {
    let settings = template.settings();
    if settings.technology.family() != Family::Ntag424 || template.has(Field::Picc) {
        return None;
    }
    Template::new(TemplateSettings {
        mode: match settings.mode {
            Mode::Aes => Mode::Lrp,
            Mode::Lrp => Mode::Aes,
        },
        ..settings.clone()
    })
    .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Technology;
    use crate::check::Read;
    use crate::template::MacStart;

    const UID: Uid = Uid::from_bytes([0x04, 1, 2, 3, 4, 5, 6]);

    fn template(mac_from: MacStart) -> Template {
        let text = "https://x.example/a/{slug}?p={picc}&c={mac}";
        Template::new(TemplateSettings {
            mac_from,
            ..TemplateSettings::new(text, Technology::Ntag424Dna)
        })
        .unwrap()
    }

    fn keys(meta: u8, file: u8) -> InlayKeys {
        InlayKeys::Aes(Keys {
            meta: Some(AesKey::from_bytes([meta; 16])),
            file: AesKey::from_bytes([file; 16]),
        })
    }

    fn code(template: &Template, keys: &InlayKeys) -> Filled {
        let read = Read {
            uid: UID,
            counter: 7,
            keys,
            picc: None,
            tamper: "",
            file_data: &[],
            random: [9; 24],
        };
        template.make_code(Some("bottle"), &read).unwrap()
    }

    #[test]
    fn each_wrong_setting_is_named() {
        let plain = template(MacStart::None);
        let chip = |meta, file, is| {
            vec![KnownChip {
                uid: UID,
                keys: keys(meta, file),
                is,
            }]
        };
        let of_place = |meta, file| chip(meta, file, Relation::OfPlace);
        for (chips, made_with, mac_from, expected) in [
            (
                chip(1, 2, Relation::OfOtherTag),
                keys(1, 2),
                MacStart::None,
                "other_inlay",
            ),
            (
                chip(1, 2, Relation::OfOtherTemplate),
                keys(1, 2),
                MacStart::None,
                "other_template",
            ),
            (of_place(2, 1), keys(1, 2), MacStart::None, "keys_swapped"),
            (of_place(1, 2), keys(1, 1), MacStart::None, "file_key"),
            (of_place(1, 2), keys(2, 2), MacStart::None, "meta_key"),
            (of_place(1, 2), keys(1, 0), MacStart::None, "file_key"),
            (of_place(1, 2), keys(0, 0), MacStart::None, "meta_key"),
            (of_place(1, 2), keys(1, 2), MacStart::Picc, "mac_window"),
            (
                of_place(1, 2),
                keys(1, 2),
                MacStart::Offset(9),
                "mac_window",
            ),
            (
                of_place(1, 2),
                keys(1, 9),
                MacStart::None,
                "mac_fits_nothing",
            ),
            (
                of_place(1, 2),
                keys(8, 9),
                MacStart::None,
                "picc_data_fits_no_key",
            ),
        ] {
            let code = code(&template(mac_from), &made_with);
            let (_, found) = explain((&plain, Some("bottle")), &code, None, &chips, &[]);
            let names: Vec<_> = found.iter().map(Finding::name).collect();
            assert_eq!(names, [expected], "{mac_from:?}: {found:?}");
        }
    }

    #[test]
    fn a_chip_of_a_master_key_that_is_not_added_is_told() {
        let text = "https://x.example/v?u={uid}&n={counter}&c={mac}";
        let settings = TemplateSettings::new(text, Technology::Ntag424Dna);
        let template = Template::new(settings.clone()).unwrap();
        let derivation = Derivation::PlainCmac {
            input: "01{uid}".parse().unwrap(),
        };
        let secret = MasterSecret::from_bytes(&[7; 16]);
        let keys = InlayKeys::Aes(derivation.keys(&secret, UID).unwrap());
        let code = code(&template, &keys);
        let (_, found) = explain((&template, None), &code, None, &[], &[]);
        assert_eq!(found, [Finding::NotConfigured { uid: UID }]);
        let master = KnownMaster {
            name: "Batch".to_owned(),
            secret,
            derivation,
        };
        let (_, found) = explain((&template, None), &code, None, &[], &[master]);
        let names: Vec<_> = found.iter().map(Finding::name).collect();
        assert_eq!(names, ["not_configured", "file_key"]);
        let lrp = Template::new(TemplateSettings {
            mode: Mode::Lrp,
            ..settings
        });
        let chips = [KnownChip {
            uid: UID,
            keys,
            is: Relation::OfPlace,
        }];
        let (maker, found) = explain((&lrp.unwrap(), None), &code, None, &chips, &[]);
        assert_eq!((maker, found), (Some(0), vec![Finding::Mode(Mode::Aes)]));
    }
}
