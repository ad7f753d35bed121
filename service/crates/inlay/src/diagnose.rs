//! Why does this code not verify? Looks for the settings under which the code would be authentic,
//! and names those that differ from the configured ones.
//!
//! All keys known here are tried in every role, in both byte orders of the counter and over every
//! beginning of the MAC's input. The work is bounded: it grows with the number of keys, and the
//! input's beginnings are at most [`WINDOWS_MAX`]. A code that [verifies](crate::verify) has
//! no findings.

mod finding;
mod window;
mod written;

use subtle::ConstantTimeEq;

use crate::Uid;
use crate::code::{Code, Mirrored};
use crate::diversify::MasterKey;
use crate::key::{AesKey, Keys};
use crate::technology::ntag424;
use crate::technology::ntag424::session::{
    self, PiccData, Purpose, mac_session_key, sdmmac, session_key,
};
use crate::verify::Candidate;

pub use finding::{Absent, Finding, KeyIs, Slot};
pub use window::{WINDOWS_MAX, Window};
pub use written::{KnownChip, KnownMaster, Relation, explain};

use window::MacText;

/// The known inlays and keys, in which an explanation is searched.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// The inlays of the tag whose URL has the code.
    pub inlays: &'a [Candidate],
    /// Inlays that are not of this tag. With their keys only the windows that can be
    /// configured are tried: some microseconds for each inlay.
    pub other_inlays: &'a [Candidate],
    /// Master keys, whether an inlay uses them or not.
    pub master_keys: &'a [NamedMasterKey],
}

/// A master key with its name, for findings.
#[derive(Clone, Debug)]
pub struct NamedMasterKey {
    /// Name that the owner gave it.
    pub name: String,
    /// The key and how it is diversified.
    pub key: MasterKey,
}

/// The assessment of a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// The maker of the code. `None` if no settings were found under which it is authentic.
    pub maker: Option<Maker>,
    /// The counter the code states, if it can be read.
    pub counter: Option<u32>,
    /// The findings of the explanation that has the fewest.
    pub findings: Vec<Finding>,
}

/// Who made a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// An inlay of this tag, by its index in [`Known::inlays`].
    Inlay(usize),
    /// Another inlay, by its index in [`Known::other_inlays`].
    OtherInlay(usize),
    /// A chip that is not configured at all.
    Unconfigured(Uid),
}

/// Finds out why the code in `uid` and `token` does not verify. With the whole `url` that has them,
/// every beginning of the MAC's input is tried; without it, only those within the query.
pub fn diagnose(uid: &str, token: &str, url: Option<&str>, known: &Known<'_>) -> Diagnosis {
    let code = match Code::parse(uid, token) {
        Ok(code) => code,
        Err(malformed) => {
            return Diagnosis {
                maker: None,
                counter: None,
                findings: vec![Finding::Malformed(malformed)],
            };
        }
    };
    let texts = MacText::of(uid, token, url);
    let keys = known.keys();
    let readings = known.readings(&code, &keys);
    // No key made an all-zero MAC, so no key can be wrong.
    if code.mac == [0; 8] {
        return known.unwritten(&code, &readings);
    }
    let mut explanations = Vec::new();
    for reading in &readings {
        for key in &keys {
            for text in &texts {
                explanations.extend(known.explanations(&code, reading, key, text));
            }
        }
    }
    explanations
        .into_iter()
        .min_by_key(|explanation| explanation.findings.len())
        .or_else(|| known.not_mirrored(&code, &texts))
        .unwrap_or_else(|| known.unexplained(&code, &readings))
}

/// A key and its source.
struct KnownKey<'a> {
    source: Source<'a>,
    key: AesKey,
}

/// The source of a key.
#[derive(Clone, Copy)]
enum Source<'a> {
    /// An inlay of this tag, or one that is not.
    Inlay {
        candidate: &'a Candidate,
        of_tag: bool,
    },
    Factory,
    /// The master key itself.
    Master(&'a NamedMasterKey),
    /// The master key diversified for the chip that is read: `key` is still the master key.
    Diversified(&'a NamedMasterKey),
}

impl KnownKey<'_> {
    /// The key that the chip with this UID would have.
    fn of_chip(&self, uid: Uid) -> AesKey {
        match self.source {
            Source::Diversified(master) => master.key.diversified(uid),
            _ => self.key.clone(),
        }
    }
}

/// The UID and counter that a code states, read with a key.
struct Reading<'a> {
    said: PiccData,
    /// The key that decrypted it; `None` with the plain mirror.
    key: Option<(Source<'a>, AesKey)>,
}

impl<'a> Known<'a> {
    fn keys(&self) -> Vec<KnownKey<'a>> {
        let inlays = self.inlays.iter().map(|candidate| (candidate, true));
        let others = self.other_inlays.iter().map(|candidate| (candidate, false));
        let of_inlays = inlays.chain(others).flat_map(|(candidate, of_tag)| {
            let keys = [Some(&candidate.keys.file), candidate.keys.meta.as_ref()];
            keys.into_iter().flatten().map(move |key| KnownKey {
                source: Source::Inlay { candidate, of_tag },
                key: key.clone(),
            })
        });
        let of_masters = self.master_keys.iter().flat_map(|master| {
            let sources = [Source::Master(master), Source::Diversified(master)];
            sources.map(|source| KnownKey {
                source,
                key: master.key.key.clone(),
            })
        });
        let factory = KnownKey {
            source: Source::Factory,
            key: AesKey::FACTORY,
        };
        of_inlays.chain([factory]).chain(of_masters).collect()
    }

    /// Every way to read the UID and counter of the code. A diversified meta key needs the UID
    /// before it can decrypt the code, so it is tried for the chips of this tag. One wrong key in
    /// 256 seems to decrypt: an unknown UID must at least look like one.
    fn readings(&self, code: &Code, keys: &[KnownKey<'a>]) -> Vec<Reading<'a>> {
        let picc = match code.mirrored {
            Mirrored::Plain { uid, counter } => {
                let said = PiccData { uid, counter };
                return vec![Reading { said, key: None }];
            }
            Mirrored::Encrypted { picc } => picc,
        };
        let mut readings: Vec<Reading<'a>> = Vec::new();
        for known in keys {
            let tried = match known.source {
                Source::Diversified(_) => {
                    self.inlays.iter().map(|c| known.of_chip(c.uid)).collect()
                }
                _ => vec![known.key.clone()],
            };
            for key in tried {
                if let Some(said) = PiccData::decrypt(&key, picc)
                    && (said.uid.is_nxp() || self.is_known(said.uid))
                    && !readings.iter().any(|r| r.said == said)
                {
                    let key = Some((known.source, key));
                    readings.push(Reading { said, key });
                }
            }
        }
        readings
    }

    /// Every way in which the code is authentic, with this reading and with this key for its MAC.
    fn explanations(
        &self,
        code: &Code,
        reading: &Reading<'a>,
        known: &KnownKey<'a>,
        text: &MacText,
    ) -> Vec<Diagnosis> {
        let PiccData { uid, counter } = reading.said;
        let key = known.of_chip(uid);
        let starts = match known.source {
            Source::Inlay { of_tag: false, .. } => text.usual_starts(),
            _ => text.starts(),
        };
        let mut found = Vec::new();
        for swapped in [false, true] {
            let counted = if swapped {
                swap_bytes(counter)
            } else {
                counter
            };
            let session_key = mac_session_key(&key, uid, counted);
            for &start in &starts {
                let mac = sdmmac(&session_key, text.from(start));
                if bool::from(mac.ct_eq(&code.mac)) {
                    let mut diagnosis = self.differences(code, reading, (known.source, &key));
                    if swapped && counted != counter {
                        diagnosis.findings.push(Finding::CounterByteOrder);
                    }
                    let window = text.window(start);
                    let configured = self.candidate(diagnosis.maker);
                    if configured.is_none_or(|c| !window.is(c.mac_from)) {
                        diagnosis.findings.push(Finding::MacWindow(window));
                    }
                    found.push(diagnosis);
                }
            }
        }
        found
    }

    /// The maker of the code, and how the inlay and its keys differ from the configuration.
    fn differences(
        &self,
        code: &Code,
        reading: &Reading<'a>,
        mac: (Source<'a>, &AesKey),
    ) -> Diagnosis {
        let PiccData { uid, counter } = reading.said;
        let of_uid = |inlays: &[Candidate]| inlays.iter().position(|c| c.uid == uid);
        let maker = if let Some(index) = of_uid(self.inlays) {
            Maker::Inlay(index)
        } else if let Some(index) = of_uid(self.other_inlays) {
            Maker::OtherInlay(index)
        } else if let Some(index) = self.inlays.iter().position(|c| c.keys.file == *mac.1) {
            Maker::Inlay(index)
        } else {
            Maker::Unconfigured(uid)
        };
        let mut findings = Vec::new();
        match maker {
            Maker::Inlay(_) => {}
            Maker::OtherInlay(_) => findings.push(Finding::OtherInlay { uid }),
            Maker::Unconfigured(uid) => findings.push(Finding::NotConfigured { uid }),
        }
        let configured = self.candidate(Some(maker));
        if let Some(candidate) = configured {
            if candidate.uid != uid {
                let configured = candidate.uid;
                findings.push(Finding::OtherUid {
                    configured,
                    actual: uid,
                });
            }
            if candidate.mirror != code.mirrored.mirror() {
                findings.push(Finding::Mirror {
                    sent: code.mirrored.mirror(),
                });
            }
        }
        let keys = configured.map(|c| &c.keys);
        let picc = reading.key.as_ref().map(|(source, key)| (*source, key));
        findings.extend(key_findings(keys, picc, mac));
        Diagnosis {
            maker: Some(maker),
            counter: Some(counter),
            findings,
        }
    }

    fn candidate(&self, maker: Option<Maker>) -> Option<&'a Candidate> {
        match maker? {
            Maker::Inlay(index) => self.inlays.get(index),
            Maker::OtherInlay(index) => self.other_inlays.get(index),
            Maker::Unconfigured(_) => None,
        }
    }

    fn is_known(&self, uid: Uid) -> bool {
        let mut inlays = self.inlays.iter().chain(self.other_inlays);
        inlays.any(|inlay| inlay.uid == uid)
    }

    /// A code whose MAC is all zeros.
    fn unwritten(&self, code: &Code, readings: &[Reading<'_>]) -> Diagnosis {
        let mut said = readings.iter().map(|reading| reading.said);
        let said = said.clone().find(|s| self.is_known(s.uid)).or(said.next());
        let is_empty = match code.mirrored {
            Mirrored::Plain { uid, .. } => uid.bytes() == [0; 7],
            Mirrored::Encrypted { picc } => picc == [0; 16],
        };
        let of_uid = |uid| self.inlays.iter().position(|inlay| inlay.uid == uid);
        Diagnosis {
            maker: said.and_then(|said| of_uid(said.uid)).map(Maker::Inlay),
            counter: said.map(|said| said.counter),
            findings: vec![if is_empty {
                Finding::NothingWritten
            } else {
                Finding::NoMac
            }],
        }
    }

    /// A code whose PICC data decrypt but contain less than UID and counter. One wrong key in 128
    /// seems to decrypt such data, so the UID has to be the inlay's own, or the MAC has to fit.
    fn not_mirrored(&self, code: &Code, texts: &[MacText]) -> Option<Diagnosis> {
        let Mirrored::Encrypted { picc } = code.mirrored else {
            return None;
        };
        let of_tag = self.inlays.iter().enumerate();
        let of_tag = of_tag.map(|(index, inlay)| (Maker::Inlay(index), inlay));
        let others = self.other_inlays.iter().enumerate();
        let others = others.map(|(index, inlay)| (Maker::OtherInlay(index), inlay));
        of_tag.chain(others).find_map(|(maker, inlay)| {
            let block = session::decrypt_block(inlay.keys.for_picc_data(), picc);
            let mirrored = ntag424::Mirrored::from_block(block)?;
            let absent = match (mirrored.uid, mirrored.counter) {
                (Some(uid), None) if uid == inlay.uid => Absent::Counter,
                (None, Some(_)) => {
                    let key = session_key(&inlay.keys.file, Purpose::Mac, mirrored);
                    let fits = |text: &MacText, start| {
                        bool::from(sdmmac(&key, text.from(start)).ct_eq(&code.mac))
                    };
                    texts
                        .iter()
                        .any(|text| text.starts().into_iter().any(|start| fits(text, start)))
                        .then_some(Absent::Uid)?
                }
                _ => return None,
            };
            let is_other = matches!(maker, Maker::OtherInlay(_));
            let other = is_other.then_some(Finding::OtherInlay { uid: inlay.uid });
            let findings = other.into_iter().chain([Finding::NotMirrored(absent)]);
            Some(Diagnosis {
                maker: Some(maker),
                counter: mirrored.counter,
                findings: findings.collect(),
            })
        })
    }

    /// The findings about a code whose MAC fits no known key.
    fn unexplained(&self, code: &Code, readings: &[Reading<'a>]) -> Diagnosis {
        let sent = code.mirrored.mirror();
        let mut findings = Vec::new();
        let mut said = readings.iter().map(|r| r.said);
        let said = said.clone().find(|s| self.is_known(s.uid)).or(said.next());
        if !self.inlays.is_empty() && self.inlays.iter().all(|c| c.mirror != sent) {
            findings.push(Finding::Mirror { sent });
        }
        if let Some(PiccData { uid, .. }) = said {
            if !self.is_known(uid) {
                findings.push(Finding::NotConfigured { uid });
            }
            findings.push(Finding::MacFitsNothing { uid });
        } else {
            findings.push(Finding::PiccDataFitsNoKey);
        }
        Diagnosis {
            maker: None,
            counter: said.map(|said| said.counter),
            findings,
        }
    }
}

/// How the keys that made a code differ from the configured ones. `picc` is the key of the PICC
/// data, `mac` the key of the MAC.
fn key_findings(
    configured: Option<&Keys>,
    picc: Option<(Source<'_>, &AesKey)>,
    mac: (Source<'_>, &AesKey),
) -> Vec<Finding> {
    if let (Some(keys), Some((_, picc))) = (configured, picc)
        && keys.meta.as_ref() == Some(mac.1)
        && keys.file == *picc
        && *picc != *mac.1
    {
        return vec![Finding::KeysSwapped];
    }
    let is_as_set = |slot, key: &AesKey| {
        configured.is_some_and(|keys| match slot {
            Slot::Meta => keys.for_picc_data() == key,
            Slot::File => keys.file == *key,
        })
    };
    let is_other_slot = |slot, key: &AesKey| {
        configured.is_some_and(|keys| match slot {
            Slot::Meta => keys.file == *key,
            Slot::File => keys.meta.as_ref() == Some(key),
        })
    };
    let of_picc = picc.map(|(source, key)| (Slot::Meta, source, key));
    let of_mac = (Slot::File, mac.0, mac.1);
    let used = of_picc.into_iter().chain([of_mac]);
    let wrong = used.filter(|(slot, _, key)| !is_as_set(*slot, key));
    let finding = |(slot, source, key): (Slot, Source<'_>, &AesKey)| {
        let is = if key.is_factory() {
            KeyIs::Factory
        } else if is_other_slot(slot, key) {
            KeyIs::OtherSlot
        } else {
            match source {
                Source::Factory => KeyIs::Factory,
                Source::Inlay { candidate, .. } => KeyIs::OfInlay { uid: candidate.uid },
                Source::Master(master) => KeyIs::MasterKey {
                    name: master.name.clone(),
                },
                Source::Diversified(master) => KeyIs::Diversified {
                    name: master.name.clone(),
                },
            }
        };
        Finding::Key { slot, is }
    };
    wrong.map(finding).collect()
}

/// A 24-bit counter read the other way round.
fn swap_bytes(counter: u32) -> u32 {
    counter.swap_bytes() >> 8
}
