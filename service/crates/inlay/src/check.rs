//! A code of any template, checked with an inlay's keys; and the codes a chip would make.

use crate::Uid;
use crate::assessment::{Assessment, Authenticity, FailedStep};
use crate::key::{AesKey, InlayKeys, Keys};
use crate::technology::ntag424::{self, Message, MetaKey, Mirrored, Session};
use crate::technology::{Family, ntag21x, ntag22x, sic43nt, sic43s1};
use crate::template::{Field, Filled, Template};

/// Replaces a missing key, so that the work stays the same; the result is dropped.
static NO_KEY: AesKey = AesKey::FACTORY;

impl Template {
    /// Checks a code with the keys of the inlay `uid`. `slug` is the requested one.
    pub fn check(
        &self,
        slug: Option<&str>,
        code: &Filled,
        uid: Uid,
        keys: &InlayKeys,
    ) -> Assessment {
        match (self.settings().technology.family(), keys) {
            (Family::Ntag424, InlayKeys::Aes(keys)) => {
                let input = self.mac_input(slug, code);
                let message = self.message(code, &input);
                ntag424::check(self.settings().mode, &message, uid, keys)
            }
            (Family::Ntag22x, InlayKeys::Aes(keys)) => ntag22x::check(code, uid, &keys.file),
            (Family::Sic43S1, InlayKeys::Aes(keys)) => sic43s1::check(code, uid, &keys.file),
            (Family::Sic43Nt, InlayKeys::Rolling(key)) => sic43nt::check(code, uid, key),
            (Family::Ntag21x, _) => ntag21x::check(code),
            _ => Assessment {
                authenticity: Authenticity::NotAuthentic(FailedStep::Keys),
                uid: code.uid(),
                counter: code.counter(),
                tamper: None,
                file_data: None,
            },
        }
    }

    /// Checks a code whose PICC data [`Template::open`] decrypted, with the file key of the inlay
    /// that they name. Pass `None` for PICC data that did not decrypt and for an inlay that is not
    /// known: the work is the same, and the code is not authentic.
    pub fn check_opened(
        &self,
        slug: Option<&str>,
        code: &Filled,
        opened: Option<Mirrored>,
        inlay: Option<(Uid, &AesKey)>,
    ) -> Assessment {
        let input = self.mac_input(slug, code);
        let message = self.message(code, &input);
        let (uid, file_key) = inlay.unwrap_or((Uid::from_bytes([0; 7]), &NO_KEY));
        let opened = opened.filter(|_| inlay.is_some());
        ntag424::judge(self.settings().mode, &message, uid, file_key, opened)
    }

    /// A shared meta key, prepared for [`Template::open`].
    pub fn meta_key(&self, key: &AesKey) -> MetaKey {
        MetaKey::new(self.settings().mode, key)
    }

    /// Decrypts a code's PICC data with the template's shared keys: one decryption for each key,
    /// whether an earlier one fits or not. One wrong key in 85 seems to fit, so all results are
    /// returned, and the caller looks for the inlay that they name.
    pub fn open(&self, code: &Filled, keys: &[MetaKey]) -> Vec<(usize, Mirrored)> {
        let opened = keys.iter().map(|key| key.open(code));
        let opened = opened.enumerate();
        opened
            .filter_map(|(index, opened)| Some((index, opened?)))
            .collect()
    }

    fn message<'a>(&self, code: &'a Filled, mac_input: &'a [u8]) -> Message<'a> {
        Message {
            code,
            mac_input,
            tamper_at: self.settings().tamper_at,
            tamper_covered: self.tamper_covered(),
        }
    }

    /// The code that a chip makes in one read, as its URL shows it; `None` if the keys do not fit
    /// the technology.
    pub fn make_code(&self, slug: Option<&str>, read: &Read<'_>) -> Option<Filled> {
        let settings = self.settings();
        let mut code = Filled::default();
        if self.has(Field::Uid) {
            code.set(Field::Uid, &read.uid.to_string());
        }
        if self.has(Field::Counter) {
            let digits = self.length(Field::Counter)?;
            code.set(Field::Counter, &format!("{:0digits$X}", read.counter));
        }
        if self.has(Field::Tamper) {
            code.set(Field::Tamper, read.tamper);
        }
        match (settings.technology.family(), read.keys) {
            (Family::Ntag424, InlayKeys::Aes(keys)) => {
                self.sign_424(slug, read, keys, &mut code);
            }
            (Family::Ntag22x, InlayKeys::Aes(keys)) => {
                let mac = ntag22x::mac(&code, &keys.file)?;
                code.set(Field::Mac, &hex(&mac));
            }
            (Family::Sic43S1, InlayKeys::Aes(keys)) => {
                let mac = sic43s1::mac(&code, &keys.file)?;
                code.set(Field::Mac, &hex(&mac));
            }
            (Family::Sic43Nt, InlayKeys::Rolling(key)) => {
                let [plain, _] = sic43nt::codes(key, read.counter);
                code.set(Field::Mac, &hex(&plain));
            }
            (Family::Ntag21x, _) => {}
            _ => return None,
        }
        Some(code)
    }

    fn sign_424(&self, slug: Option<&str>, read: &Read<'_>, keys: &Keys, code: &mut Filled) {
        let settings = self.settings();
        let mut mirrored = Mirrored::both(read.uid, read.counter);
        if self.has(Field::Picc) {
            mirrored = read.picc.unwrap_or(mirrored);
            let key = MetaKey::new(settings.mode, keys.for_picc_data());
            code.set(Field::Picc, &hex(&key.seal(mirrored, read.random)));
        } else {
            mirrored.uid = mirrored.uid.filter(|_| self.has(Field::Uid));
            mirrored.counter = mirrored.counter.filter(|_| self.has(Field::Counter));
        }
        let session = Session::new(settings.mode, &keys.file, mirrored);
        if let Some(length) = settings.enc_length {
            let mut data = read.file_data.to_vec();
            data.resize(length / 2, 0);
            if let Some(at) = settings.tamper_at {
                data[at..at + 2].copy_from_slice(&read.tamper.as_bytes()[..2]);
            }
            code.set(Field::Enc, &hex(&session.encrypt(&data)));
        }
        let input = self.mac_input(slug, code);
        code.set(Field::Mac, &hex(&session.mac(&input)));
    }
}

/// One read of a chip.
#[derive(Clone, Debug)]
pub struct Read<'a> {
    /// UID of the chip.
    pub uid: Uid,
    /// Its counter after this read, or its time stamp.
    pub counter: u32,
    /// Keys that the chip has.
    pub keys: &'a InlayKeys,
    /// The values in the PICC data; by default UID and counter.
    pub picc: Option<Mirrored>,
    /// The letters for the tamper loop: 2, or as many as `{tamper}` has.
    pub tamper: &'a str,
    /// The bytes that it encrypts, cut or filled with zeros to the length of the template.
    pub file_data: &'a [u8],
    /// The chip's own randomness: LRP uses all of it, AES the last 5 bytes.
    pub random: [u8; 24],
}

fn hex(bytes: &[u8]) -> String {
    format!("{:X}", base16ct::HexDisplay(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effort;
    use crate::key::Sic43ntKey;
    use crate::technology::{Mode, Technology};
    use crate::template::{MacStart, TemplateSettings};

    const CHIP: [u8; 7] = [4, 1, 2, 3, 4, 5, 6];

    fn key(byte: u8) -> AesKey {
        AesKey::from_bytes([byte; 16])
    }

    fn aes(meta: u8, file: u8) -> InlayKeys {
        InlayKeys::Aes(Keys {
            meta: Some(key(meta)),
            file: key(file),
        })
    }

    fn code(template: &Template, uid: [u8; 7], keys: &InlayKeys, random: u8) -> Filled {
        let read = Read {
            uid: Uid::from_bytes(uid),
            counter: 41,
            keys,
            picc: None,
            tamper: "00",
            file_data: b"No. 41",
            random: [random; 24],
        };
        template.make_code(None, &read).expect("the keys fit")
    }

    /// Works like a tap without a slug: the shared keys, then the inlay that they name, if it is
    /// known.
    fn tapped(template: &Template, code: &Filled, shared: &[MetaKey]) -> (usize, bool) {
        let (blocks, found) = effort::of(|| {
            let mut opened = template.open(code, shared).into_iter();
            let chip = Uid::from_bytes(CHIP);
            let file = key(0x22);
            let known = opened.find(|(_, mirrored)| mirrored.uid == Some(chip));
            let mirrored = known.map(|(_, mirrored)| mirrored);
            let inlay = mirrored.map(|_| (chip, &file));
            template.check_opened(None, code, mirrored, inlay)
        });
        (blocks, found.is_authentic())
    }

    #[test]
    fn picc_data_take_the_same_work_whether_anybody_is_found_or_not() {
        for (mode, count) in [
            (Mode::Aes, 1),
            (Mode::Aes, 64),
            (Mode::Lrp, 1),
            (Mode::Lrp, 4),
        ] {
            let template = Template::new(TemplateSettings {
                mode,
                mac_from: MacStart::Enc,
                enc_length: Some(32),
                ..TemplateSettings::new(
                    "https://x.example/v?p={picc}&e={enc}&c={mac}",
                    Technology::Ntag424Dna,
                )
            })
            .expect("it is well-formed");
            let (right, shared): (Filled, Vec<MetaKey>) = (
                code(&template, CHIP, &aes(0x11, 0x22), 7),
                (0..count)
                    .map(|n| template.meta_key(&key(0x11 + n)))
                    .collect(),
            );
            let last_key = code(&template, CHIP, &aes(0x10 + count, 0x22), 7);
            let mut wrong_mac = right.clone();
            wrong_mac.set(Field::Mac, "0123456789ABCDEF");
            let (valid, authentic) = tapped(&template, &right, &shared);
            assert!(authentic && valid > usize::from(count), "{mode:?} {valid}");
            for (what, code, is_authentic) in [
                ("opened by the last key", last_key, true),
                ("a wrong MAC", wrong_mac, false),
                (
                    "another file key",
                    code(&template, CHIP, &aes(0x11, 0x33), 7),
                    false,
                ),
                (
                    "an unknown inlay",
                    code(&template, [9; 7], &aes(0x11, 0x22), 7),
                    false,
                ),
                (
                    "other keys",
                    code(&template, CHIP, &aes(0x99, 0x22), 7),
                    false,
                ),
                (
                    "other keys and inlays",
                    code(&template, [9; 7], &aes(0x98, 0x97), 8),
                    false,
                ),
            ] {
                let found = tapped(&template, &code, &shared);
                assert_eq!(
                    found,
                    (valid, is_authentic),
                    "{mode:?}, {count} keys: {what}"
                );
            }
        }
    }

    #[test]
    fn a_uid_in_clear_takes_the_same_work_whether_it_is_known_or_not() {
        let rolling = || InlayKeys::Rolling(Sic43ntKey::from_bytes([7; 10]));
        let nobody = || InlayKeys::Rolling(Sic43ntKey::from_bytes([0; 10]));
        let of_424 = "https://x.example/v?u={uid}&r={counter}&c={mac}";
        for (text, technology, mode, keys, of_nobody) in [
            (
                of_424,
                Technology::Ntag424Dna,
                Mode::Aes,
                aes(1, 2),
                aes(0, 0),
            ),
            (
                of_424,
                Technology::Ntag424Dna,
                Mode::Lrp,
                aes(1, 2),
                aes(0, 0),
            ),
            (
                "https://x.example/v?m={uid}x{counter}x{mac}",
                Technology::Ntag223Dna,
                Mode::Aes,
                aes(1, 2),
                aes(0, 0),
            ),
            (
                "https://x.example/v?U={uid}&TF={tamper}&TS={counter}&SAC={mac}",
                Technology::Sic43S1,
                Mode::Aes,
                aes(1, 2),
                aes(0, 0),
            ),
            (
                "https://x.example/v?d={uid}{tamper}{counter}{mac}",
                Technology::Sic43Nt,
                Mode::Aes,
                rolling(),
                nobody(),
            ),
        ] {
            let settings = TemplateSettings {
                mode,
                ..TemplateSettings::new(text, technology)
            };
            let template = Template::new(settings).expect("it is well-formed");
            let code = code(&template, CHIP, &keys, 7);
            let uid = Uid::from_bytes(CHIP);
            let (valid, found) = effort::of(|| template.check(None, &code, uid, &keys));
            assert!(found.is_authentic() && valid > 0, "{technology:?}");
            let (unknown, found) = effort::of(|| template.check(None, &code, uid, &of_nobody));
            assert!(!found.is_authentic());
            assert_eq!(unknown, valid, "{technology:?} {mode:?}");
        }
    }
}
