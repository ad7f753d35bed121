//! The codes that an NTAG 424 DNA makes in AES mode, and those of a verifier's common mistakes.

use std::fmt::Write as _;

use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::key::{AesKey, Keys, cmac};
use tapdesk_service::inlay::technology::Mode;
use tapdesk_service::inlay::technology::ntag424::session::{Purpose, session_key};
use tapdesk_service::inlay::technology::ntag424::{MetaKey, Mirrored, Session};
use tapdesk_service::inlay::template::{Field, Filled, Template};

/// The highest read counter, 24 bits.
pub(super) const COUNTER_END: u32 = 0x00FF_FFFF;

/// The content of the file data: readable, so that an answer that shows it can be recognised.
pub(super) const FILE_DATA: &[u8; 16] = b"tapdesk-judge-01";

/// One tap of a chip.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tap {
    pub(super) uid: Uid,
    pub(super) counter: u32,
    pub(super) rule: Rule,
}

/// How a code is made: the chip's way, or with mistakes that verifiers make, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) session: SessionRule,
    pub(super) kept: Kept,
    pub(super) input: Input,
    pub(super) shown: Shown,
    pub(super) slots: Slots,
}

/// The key of the MAC. The chip's is the CMAC of SV2 (`NT4H2421Gx` section 9.3.9.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionRule {
    Sv2,
    /// The file key itself: no session key.
    FileKey,
    /// SV1, from which the key of file data follows.
    Sv1,
    NoUid,
    NoCounter,
    UidReversed,
    CounterMsbFirst,
}

/// The 8 bytes of the CMAC that are the MAC. The chip keeps those at odd indices (section 9.3.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    Odd,
    Even,
    First,
    Last,
}

/// The text that the MAC covers. The chip's is that of the template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    OfTemplate,
    Empty,
    /// The whole URL up to the MAC.
    Url,
}

/// UID and counter as they are mirrored. The MAC is of the true ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    True,
    UidReversed,
    /// The order of a chip's bytes, reversed: MSB first in PICC data, LSB first in clear.
    CounterReversed,
    /// PICC data without a counter, in which case the session key has none either.
    NoCounter,
}

/// The keys of the two slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slots {
    Own,
    /// Each key in the place of the other.
    Swapped,
    /// The meta key in both places.
    MetaTwice,
    /// The file key in both places.
    FileTwice,
}

impl Rule {
    /// The rule by which chips make their codes.
    pub(super) const CHIP: Self = Self {
        session: SessionRule::Sv2,
        kept: Kept::Odd,
        input: Input::OfTemplate,
        shown: Shown::True,
        slots: Slots::Own,
    };

    /// The rule in words, after "accepts".
    pub(super) fn described(self) -> String {
        let session = match self.session {
            SessionRule::Sv2 => None,
            SessionRule::FileKey => Some("MACs under the file key, without a session key"),
            SessionRule::Sv1 => Some("MACs under the session key of SV1"),
            SessionRule::NoUid => Some("session keys without the UID"),
            SessionRule::NoCounter => Some("session keys without the counter"),
            SessionRule::UidReversed => Some("session keys with the UID reversed"),
            SessionRule::CounterMsbFirst => Some("session keys with the counter MSB first"),
        };
        let kept = match self.kept {
            Kept::Odd => None,
            Kept::Even => Some("the even bytes of the MAC"),
            Kept::First => Some("the first half of the MAC"),
            Kept::Last => Some("the last half of the MAC"),
        };
        let input = match self.input {
            Input::OfTemplate => None,
            Input::Empty => Some("MACs over an empty text"),
            Input::Url => Some("MACs over the whole URL"),
        };
        let shown = match self.shown {
            Shown::True => None,
            Shown::UidReversed => Some("UIDs in reversed order"),
            Shown::CounterReversed => Some("counters in reversed order"),
            Shown::NoCounter => Some("codes without a counter"),
        };
        let slots = match self.slots {
            Slots::Own => None,
            Slots::Swapped => Some("codes with swapped keys"),
            Slots::MetaTwice => Some("the meta key as file key"),
            Slots::FileTwice => Some("the file key as meta key"),
        };
        let parts = [session, kept, input, shown, slots].into_iter().flatten();
        parts.collect::<Vec<_>>().join(", ")
    }
}

/// The next counter from `from` whose bytes read differently from both ends: otherwise a wrong
/// order would make the right code.
pub(super) fn next_counter(from: u32) -> u32 {
    let is_one_way = |counter: &u32| counter.to_le_bytes()[0] != counter.to_le_bytes()[2];
    let mut counters = from..=COUNTER_END;
    counters.find(is_one_way).unwrap_or(COUNTER_END)
}

/// The values that a chip with these keys would write into its URL.
pub(super) fn make(template: &Template, keys: &Keys, tap: &Tap) -> Filled {
    let (meta, file) = tap.rule.slots.of(keys);
    let mut code = Filled::default();
    let shown = tap.shown();
    if template.has(Field::Uid) {
        let uid = shown.uid.unwrap_or(tap.uid);
        code.set(Field::Uid, &uid.to_string());
    }
    if template.has(Field::Counter) {
        let counter = shown.counter.unwrap_or_default();
        code.set(Field::Counter, &format!("{counter:06X}"));
    }
    if template.has(Field::Tamper) {
        code.set(Field::Tamper, "CC");
    }
    if template.has(Field::Picc) {
        let sealed = MetaKey::new(Mode::Aes, meta).seal(shown, randomness(tap.counter));
        code.set(Field::Picc, &hex(&sealed));
    }
    let mirrored = tap.mirrored();
    if let Some(length) = template
        .length(Field::Enc)
        .filter(|_| template.has(Field::Enc))
    {
        let mut data = FILE_DATA.to_vec();
        data.resize(length / 2, b'.');
        let data = Session::new(Mode::Aes, file, mirrored).encrypt(&data);
        code.set(Field::Enc, &hex(&data));
    }
    let input = tap.rule.input.of(template, &code);
    let full = cmac(&tap.session_key(file), &input);
    code.set(Field::Mac, &hex(&tap.rule.kept.of(full)));
    code
}

/// PICC data whose randomness differs from those that [`make`] writes.
pub(super) fn other_picc(keys: &Keys, uid: Uid, counter: u32) -> String {
    let mut random = randomness(counter);
    random[23] ^= 0xFF;
    hex(&MetaKey::new(Mode::Aes, keys.for_picc_data()).seal(Mirrored::both(uid, counter), random))
}

/// The full CMAC, of which the MAC is one half.
pub(super) fn full_mac(template: &Template, keys: &Keys, tap: &Tap, code: &Filled) -> String {
    let input = tap.rule.input.of(template, code);
    hex(&cmac(&tap.session_key(tap.rule.slots.of(keys).1), &input))
}

/// The chip's randomness, repeatable: a report can then be compared with the next one.
fn randomness(counter: u32) -> [u8; 24] {
    let [low, middle, high, _] = counter.to_le_bytes();
    let mut random = [0x5A; 24];
    random[19..22].copy_from_slice(&[low, middle, high]);
    random
}

impl Tap {
    /// The values in the session vector.
    fn mirrored(&self) -> Mirrored {
        let mut mirrored = Mirrored::both(self.uid, self.counter);
        if self.rule.shown == Shown::NoCounter {
            mirrored.counter = None;
        }
        mirrored
    }

    /// The values in the URL.
    fn shown(&self) -> Mirrored {
        let mirrored = self.mirrored();
        match self.rule.shown {
            Shown::UidReversed => Mirrored::both(reversed(self.uid), self.counter),
            Shown::CounterReversed => Mirrored::both(self.uid, swapped(self.counter)),
            Shown::True | Shown::NoCounter => mirrored,
        }
    }

    /// The key of the MAC.
    fn session_key(&self, file: &AesKey) -> AesKey {
        let mirrored = self.mirrored();
        let mac = |mirrored| session_key(file, Purpose::Mac, mirrored);
        match self.rule.session {
            SessionRule::Sv2 => mac(mirrored),
            SessionRule::FileKey => file.clone(),
            SessionRule::Sv1 => session_key(file, Purpose::Encryption, mirrored),
            SessionRule::NoUid => mac(Mirrored {
                uid: None,
                ..mirrored
            }),
            SessionRule::NoCounter => mac(Mirrored {
                counter: None,
                ..mirrored
            }),
            SessionRule::UidReversed => mac(Mirrored {
                uid: mirrored.uid.map(reversed),
                ..mirrored
            }),
            SessionRule::CounterMsbFirst => mac(Mirrored {
                counter: mirrored.counter.map(swapped),
                ..mirrored
            }),
        }
    }
}

impl Kept {
    fn of(self, full: [u8; 16]) -> [u8; 8] {
        std::array::from_fn(|i| match self {
            Self::Odd => full[2 * i + 1],
            Self::Even => full[2 * i],
            Self::First => full[i],
            Self::Last => full[8 + i],
        })
    }
}

impl Input {
    fn of(self, template: &Template, code: &Filled) -> Vec<u8> {
        match self {
            Self::OfTemplate => template.mac_input(None, code),
            Self::Empty => Vec::new(),
            Self::Url => {
                // A missing MAC is written as zeros at its place.
                let with = |mac: &str| template.url(None, &code.clone().with(Field::Mac, mac));
                let (zeros, ones) = (with("0"), with("1"));
                let pairs = zeros.bytes().zip(ones.bytes());
                let before = pairs.take_while(|(zero, one)| zero == one);
                before.map(|(byte, _)| byte).collect()
            }
        }
    }
}

impl Slots {
    /// The keys in the places of the meta key and the file key.
    fn of(self, keys: &Keys) -> (&AesKey, &AesKey) {
        let (meta, file) = (keys.for_picc_data(), &keys.file);
        match self {
            Self::Own => (meta, file),
            Self::Swapped => (file, meta),
            Self::MetaTwice => (meta, meta),
            Self::FileTwice => (file, file),
        }
    }
}

fn reversed(uid: Uid) -> Uid {
    let mut bytes = uid.bytes();
    bytes.reverse();
    Uid::from_bytes(bytes)
}

fn swapped(counter: u32) -> u32 {
    counter.swap_bytes() >> 8
}

/// Bytes in upper-case hex digits, as chips write them.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing into a string cannot fail.
        let _ = write!(text, "{byte:02X}");
        text
    })
}

#[cfg(test)]
mod tests {
    use tapdesk_service::inlay::Technology;
    use tapdesk_service::inlay::key::InlayKeys;
    use tapdesk_service::inlay::template::{MacStart, TemplateSettings};

    use super::*;

    fn templates() -> [Template; 3] {
        let new = |text: &str, mac_from, enc_length| {
            let settings = TemplateSettings {
                mac_from,
                enc_length,
                ..TemplateSettings::new(text, Technology::Ntag424Dna)
            };
            Template::new(settings).unwrap()
        };
        [
            new("https://a.example/?p={picc}&c={mac}", MacStart::None, None),
            new(
                "https://a.example/?u={uid}&r={counter}&c={mac}",
                MacStart::Uid,
                None,
            ),
            new(
                "https://a.example/?p={picc}&e={enc}&c={mac}",
                MacStart::Enc,
                Some(32),
            ),
        ]
    }

    fn keys() -> Keys {
        Keys {
            meta: Some(AesKey::from_bytes([1; 16])),
            file: AesKey::from_bytes([2; 16]),
        }
    }

    fn is_authentic(template: &Template, rule: Rule) -> bool {
        let uid = Uid::from_bytes([4, 1, 2, 3, 4, 5, 6]);
        let tap = Tap {
            uid,
            counter: 0x64,
            rule,
        };
        let code = make(template, &keys(), &tap);
        let verdict = template.check(None, &code, uid, &InlayKeys::Aes(keys()));
        verdict.is_authentic()
    }

    #[test]
    fn codes_of_the_chips_way_verify_and_those_of_mistakes_do_not() {
        for template in templates() {
            assert!(is_authentic(&template, Rule::CHIP));
            for rule in [
                Rule {
                    session: SessionRule::FileKey,
                    ..Rule::CHIP
                },
                Rule {
                    session: SessionRule::CounterMsbFirst,
                    ..Rule::CHIP
                },
                Rule {
                    kept: Kept::Even,
                    ..Rule::CHIP
                },
                Rule {
                    input: Input::Url,
                    ..Rule::CHIP
                },
                Rule {
                    shown: Shown::CounterReversed,
                    ..Rule::CHIP
                },
                Rule {
                    slots: Slots::Swapped,
                    ..Rule::CHIP
                },
            ] {
                assert!(!is_authentic(&template, rule), "{rule:?}");
            }
        }
    }

    #[test]
    fn a_counter_reads_differently_from_both_ends() {
        assert_eq!(next_counter(0x64), 0x64);
        assert_eq!(next_counter(0x100), 0x101);
        assert_eq!(next_counter(0x01_0001), 0x01_0002);
        assert_eq!(swapped(0x01_0203), 0x03_0201);
    }

    #[test]
    fn the_text_of_the_url_ends_before_the_mac() {
        let [template, ..] = templates();
        let code = Filled::default().with(Field::Picc, "AB");
        let text = Input::Url.of(&template, &code);
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "https://a.example/?p=AB&c="
        );
    }
}
