//! The MAC that a verifier expects, right or with a fault, and the values in its URLs.

use tapdesk_service::inlay::check::Read;
use tapdesk_service::inlay::key::{AesKey, InlayKeys, Keys, cmac};
use tapdesk_service::inlay::technology::Mode;
use tapdesk_service::inlay::technology::ntag424::session::{Purpose, session_key};
use tapdesk_service::inlay::technology::ntag424::{MetaKey, Mirrored};
use tapdesk_service::inlay::template::{Field, Filled, MacStart, Template, TemplateSettings};
use tapdesk_service::inlay::{Technology, Uid};
use tapdesk_tests::fixtures::hex;

use super::Fault;

/// The UID that the judge assumes, and that of the second chip.
pub(super) const UID: &str = "04DE5F1EACC040";
pub(super) const OTHER_UID: &str = "04958CAA5C5E80";

/// The keys of all chips, as the verifier has them.
fn keys() -> Keys {
    Keys {
        meta: Some(AesKey::from_bytes([0x11; 16])),
        file: AesKey::from_bytes([0x22; 16]),
    }
}

/// The same keys, as the judge reads them.
pub(super) fn key_lines() -> String {
    format!("{}\n{}\n", "11".repeat(16), "22".repeat(16))
}

/// The values that a template has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Encrypted UID and counter.
    Picc,
    /// UID and counter in clear.
    Plain,
    /// Encrypted UID, counter and file data, which the MAC covers.
    Enc,
}

impl Kind {
    /// Path and query of the template.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Picc => "/tag?picc_data={picc}&cmac={mac}",
            Self::Plain => "/tag?uid={uid}&ctr={counter}&cmac={mac}",
            Self::Enc => "/tag?picc_data={picc}&enc={enc}&cmac={mac}",
        }
    }

    /// The template at `base`.
    pub(super) fn template(self, base: &str) -> Template {
        let is_enc = self == Self::Enc;
        let settings = TemplateSettings {
            mac_from: if is_enc {
                MacStart::Enc
            } else {
                MacStart::None
            },
            enc_length: is_enc.then_some(32),
            ..TemplateSettings::new(format!("{base}{}", self.path()), Technology::Ntag424Dna)
        };
        Template::new(settings).expect("a chip can write it")
    }
}

/// Path and query of a code with the counter 50, which the verifier accepted before it was restarted.
pub(super) fn used_url(kind: Kind) -> String {
    const BASE: &str = "http://verifier.example";
    let (template, keys) = (kind.template(BASE), InlayKeys::Aes(keys()));
    let read = Read {
        uid: UID.parse().expect("a UID"),
        counter: 50,
        keys: &keys,
        picc: None,
        tamper: "",
        file_data: b"",
        random: [9; 24],
    };
    let code = template.make_code(None, &read).expect("it has the keys");
    template.url(None, &code).replace(BASE, "")
}

/// The order of the bytes, reversed.
pub(super) fn reversed(uid: Uid) -> Uid {
    let mut bytes = uid.bytes();
    bytes.reverse();
    Uid::from_bytes(bytes)
}

fn swapped(counter: u32) -> u32 {
    counter.swap_bytes() >> 8
}

/// The meta key and the file key that a verifier uses.
pub(super) fn slots(fault: Option<Fault>) -> (AesKey, AesKey) {
    let Keys { meta, file } = keys();
    let meta = meta.expect("they have a meta key");
    match fault {
        Some(Fault::SwappedKeys) => (file, meta),
        Some(Fault::MetaKeyAsFileKey) => (meta.clone(), meta),
        Some(Fault::FileKeyAsMetaKey) => (file.clone(), file),
        _ => (meta, file),
    }
}

/// The UID and the counter in a code.
pub(super) fn open(fault: Option<Fault>, meta: &AesKey, code: &Filled) -> Option<Mirrored> {
    let mut shown = match code.get(Field::Picc) {
        Some(_) => MetaKey::new(Mode::Aes, meta).open(code)?,
        None => Mirrored::both(code.uid()?, code.counter()?),
    };
    match fault {
        Some(Fault::UidReversed) => shown.uid = shown.uid.map(reversed),
        Some(Fault::CounterReversed) => shown.counter = shown.counter.map(swapped),
        _ => {}
    }
    Some(shown)
}

/// The whole CMAC of a code.
pub(super) fn full_mac(
    fault: Option<Fault>,
    file: &AesKey,
    mirrored: Mirrored,
    input: &[u8],
) -> [u8; 16] {
    let of = |mirrored| session_key(file, Purpose::Mac, mirrored);
    let key = match fault {
        Some(Fault::NoSessionKey) => file.clone(),
        Some(Fault::SessionOfSv1) => session_key(file, Purpose::Encryption, mirrored),
        Some(Fault::SessionWithoutUid) => of(Mirrored {
            uid: None,
            ..mirrored
        }),
        Some(Fault::SessionWithoutCounter | Fault::OfAnyRead) => of(Mirrored {
            counter: None,
            ..mirrored
        }),
        Some(Fault::SessionUidReversed) => of(Mirrored {
            uid: mirrored.uid.map(reversed),
            ..mirrored
        }),
        Some(Fault::SessionCounterMsbFirst) => of(Mirrored {
            counter: mirrored.counter.map(swapped),
            ..mirrored
        }),
        Some(Fault::UidTrusted) => of(Mirrored {
            uid: UID.parse().ok(),
            ..mirrored
        }),
        _ => of(mirrored),
    };
    cmac(&key, input)
}

fn kept(full: [u8; 16], at: impl Fn(usize) -> usize) -> String {
    hex(&std::array::from_fn::<u8, 8, _>(|i| full[at(i)]))
}

/// Whether the MAC in a URL counts as right.
pub(super) fn is_right(fault: Option<Fault>, shown: &str, full: [u8; 16]) -> bool {
    let (odd, even) = (kept(full, |i| 2 * i + 1), kept(full, |i| 2 * i));
    let whole = shown.len() == odd.len();
    let other = match fault {
        Some(Fault::EvenBytes) => return shown == even,
        Some(Fault::FirstHalf) => return shown == kept(full, |i| i),
        Some(Fault::LastHalf) => return shown == kept(full, |i| 8 + i),
        Some(Fault::EvenBytesToo) => shown == even,
        Some(Fault::MacIgnored) => true,
        Some(Fault::MacOfZeros) => shown == "0".repeat(16),
        Some(Fault::MacOfOnes) => shown == "F".repeat(16),
        Some(Fault::FirstFourBytes) => whole && shown[..8] == odd[..8],
        Some(Fault::LastByteSkipped) => whole && shown[..14] == odd[..14],
        Some(Fault::PartOfMac) => !shown.is_empty() && odd.starts_with(shown),
        Some(Fault::LongMac) => shown.starts_with(&odd),
        Some(Fault::FullMac) => shown == hex(&full),
        Some(Fault::EmptyMac) => shown.is_empty(),
        _ => false,
    };
    other || shown == odd
}
