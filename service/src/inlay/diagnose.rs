//! Why does this code not verify? Looks for the settings under which the code
//! would be authentic, and names those that differ from what is configured.
//!
//! All keys known here are tried in every role, in both byte orders of the
//! counter and over every beginning of the MAC's input. The work is bounded: it
//! grows with the number of keys, and the input's beginnings are at most
//! [`WINDOWS_MAX`]. A code that [verifies](crate::inlay::verify) has no findings.

mod finding;
mod window;
mod written;

use subtle::ConstantTimeEq;

use crate::inlay::Uid;
use crate::inlay::code::{Code, Mirrored};
use crate::inlay::diversify::MasterKey;
use crate::inlay::key::{AesKey, Keys};
use crate::inlay::session::{PiccData, mac_session_key, sdmmac};
use crate::inlay::verify::Candidate;

pub use finding::{Finding, KeyIs, Slot};
pub use window::{WINDOWS_MAX, Window};
pub use written::{KnownChip, KnownMaster, Relation, explain};

use window::MacText;

/// The known settings, among which an explanation is searched for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// The inlays of the tag at whose URL the code stands.
    pub inlays: &'a [Candidate],
    /// Inlays that are not of this tag. With their keys only the windows that can be
    /// configured are tried: some microseconds for each inlay.
    pub other_inlays: &'a [Candidate],
    /// Master keys, whether an inlay uses them or not.
    pub master_keys: &'a [NamedMasterKey],
}

/// A master key with the name by which people know it.
#[derive(Clone, Debug)]
pub struct NamedMasterKey {
    /// Its name.
    pub name: String,
    /// The key and how it is diversified.
    pub key: MasterKey,
}

/// The assessment of a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// Who made the code. `None` if no settings were found under which it is authentic.
    pub maker: Option<Maker>,
    /// The counter the code states, if it can be read.
    pub counter: Option<u32>,
    /// What is wrong: of all explanations, the one with the fewest findings.
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

/// Finds out why the code in `uid` and `token` does not verify. With the whole
/// `url` in which they stand, every beginning of the MAC's input is tried;
/// without it, those within the query.
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
        .unwrap_or_else(|| known.unexplained(&code, &readings))
}

/// A key, and where it is known from.
struct KnownKey<'a> {
    source: Source<'a>,
    key: AesKey,
}

/// Where a key is known from.
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
    /// The key as the chip with this UID would have it.
    fn of_chip(&self, uid: Uid) -> AesKey {
        match self.source {
            Source::Diversified(master) => master.key.diversified(uid),
            _ => self.key.clone(),
        }
    }
}

/// What a code says of itself, read with a key.
struct Reading<'a> {
    said: PiccData,
    /// The key that decrypted it; none with the plain mirror.
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

    /// Every way to read who made the code. A diversified meta key needs the UID
    /// before it can decrypt it, so it is tried for the chips of this tag. One
    /// wrong key in 256 seems to decrypt: a UID that is not known must at least look like one.
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

    /// Every way in which the code is authentic, so read and with this key for its MAC.
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

    /// Who made the code, and how far the inlay and its keys are not as configured.
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

    /// What can be said of a code whose MAC fits nothing that is known.
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

/// How the keys that made a code differ from the configured ones. `picc` is the
/// key of the PICC data, `mac` that of the MAC.
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
