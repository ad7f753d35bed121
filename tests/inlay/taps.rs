//! Random templates and chips: a chip's URL is parsed and verified, and no other URL is.

use ntag424::KeyNumber;
use ntag424::sdm::Verifier;
use ntag424::types::file_settings::{
    CryptoMode, CtrRetAccess, EncFileData, EncLength, EncryptedContent, FileRead, MacWindow,
    Offset, PiccData, PlainMirror, ReadCtrFeatures, ReadCtrMirror, Sdm,
};
use ntag424::types::{TagTamperStatus, TagTamperStatusReadout};
use proptest::prelude::*;
use tapdesk_service::entropy::{SeededEntropy, bytes};
use tapdesk_service::inlay::assessment::{Authenticity, FailedStep, Tamper};
use tapdesk_service::inlay::check::Read;
use tapdesk_service::inlay::code::COUNTER_MAX;
use tapdesk_service::inlay::key::{AesKey, InlayKeys, Keys, Sic43ntKey};
use tapdesk_service::inlay::technology::ntag424::Mirrored;
use tapdesk_service::inlay::technology::{Family, Mode, Technology};
use tapdesk_service::inlay::template::{
    Field, Filled, Layout, MacStart, Request, Template, TemplateSettings,
};
use tapdesk_service::inlay::verify::{Candidate, verify};
use tapdesk_service::inlay::virtual_inlay::{OneTimeCode, VirtualInlay};
use tapdesk_service::inlay::{MacFrom, Mirror, Uid};
use tapdesk_tests::length;

pub(super) const SLUG: &str = "bottle-41";

/// A chip with a possible template.
#[derive(Clone, Debug)]
pub(super) struct Chip {
    pub template: Template,
    uid: Uid,
    pub keys: InlayKeys,
    tamper: &'static str,
    data: Vec<u8>,
    random: [u8; 24],
}

impl Chip {
    fn read(&self, counter: u32) -> Read<'_> {
        Read {
            uid: self.uid,
            counter,
            keys: &self.keys,
            picc: None,
            tamper: self.tamper,
            file_data: &self.data,
            random: self.random,
        }
    }

    pub(crate) fn code(&self, counter: u32) -> Filled {
        self.template
            .make_code(Some(SLUG), &self.read(counter))
            .unwrap()
    }
}

/// Draws numbers below a bound, from one seed.
struct Draw(SeededEntropy);

impl Draw {
    fn below(&self, bound: usize) -> usize {
        usize::from(u16::from_le_bytes(bytes(&self.0))) % bound
    }

    fn one<T: Copy>(&self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn flip(&self) -> bool {
        self.below(2) == 0
    }
}

const TAMPER: [&str; 4] = ["CC", "OC", "OO", "II"];

/// An NTAG 424 DNA with any allowed settings.
fn ntag424(draw: &Draw) -> TemplateSettings {
    ntag424_of(
        draw,
        draw.one(&[Technology::Ntag424Dna, Technology::Ntag424DnaTt]),
    )
}

fn ntag424_of(draw: &Draw, technology: Technology) -> TemplateSettings {
    let mode = draw.one(&Mode::ALL);
    let mut fields = match draw.below(5) {
        0 | 1 => vec![Field::Picc],
        2 => vec![Field::Uid, Field::Counter],
        3 => vec![Field::Uid],
        _ => vec![Field::Slug, Field::Counter],
    };
    let both = fields[0] == Field::Picc || fields == [Field::Uid, Field::Counter];
    let enc_length = (both && draw.flip()).then(|| 32 * (1 + draw.below(2)));
    let loops = technology == Technology::Ntag424DnaTt;
    let mut tamper_at = None;
    if let Some(length) = enc_length {
        fields.push(Field::Enc);
        tamper_at = (loops && draw.flip()).then(|| draw.below(length / 2 - 1));
    }
    if loops && tamper_at.is_none() && draw.flip() {
        fields.insert(draw.below(fields.len() + 1), Field::Tamper);
    }
    // The input begins at the file, the host, a placeholder, or inside one.
    let mac_from = match (draw.below(5), fields[0]) {
        (0, _) => MacStart::Offset(0),
        (1, _) => MacStart::Offset(7),
        (2, _) if enc_length.is_some() => MacStart::Enc,
        (2, _) => MacStart::None,
        (3, _) => MacStart::Offset(20),
        (_, Field::Picc) => MacStart::Picc,
        (_, Field::Uid) => MacStart::Uid,
        (_, Field::Tamper) => MacStart::Tamper,
        _ => MacStart::Slug,
    };
    fields.push(Field::Mac);
    TemplateSettings {
        mode,
        mac_from,
        enc_length,
        tamper_at,
        ..TemplateSettings::new(url(draw, &fields), technology)
    }
}

/// The placeholders in a path, in parameters, or directly after each other.
fn url(draw: &Draw, fields: &[Field]) -> String {
    let scheme = draw.one(&["https://", "http://www.", "https://www.", "lnurlw://"]);
    let (path, fields) = match fields.split_first() {
        Some((Field::Slug, rest)) => ("/s/{slug}", rest),
        _ => ("/tap", fields),
    };
    let fields: Vec<String> = fields.iter().map(Field::to_string).collect();
    let rest = match draw.below(4) {
        0 => format!("/{}", fields.join("/")),
        1 => format!("?m={}", fields.join("x")),
        2 => format!("?e={}&x=1", fields.concat()),
        _ => {
            let named = fields.iter().enumerate();
            let named: Vec<_> = named.map(|(i, field)| format!("p{i}={field}")).collect();
            format!("?{}", named.join("&"))
        }
    };
    format!("{scheme}tags.example.com{path}{rest}")
}

/// The forms of the other chips' URLs.
const OTHERS: [(Technology, &str); 11] = [
    (Technology::Ntag223Dna, "?m={uid}x{counter}x{mac}"),
    (Technology::Ntag224Dna, "?m={uid}x{counter}x{tamper}x{mac}"),
    (Technology::Sic43Nt, "?d={uid}{tamper}{counter}{mac}"),
    (
        Technology::Sic43S1,
        "?U={uid}&TF={tamper}&TS={counter}&SAC={mac}",
    ),
    (Technology::Ntag210, "/{slug}?m={uid}"),
    (Technology::Ntag212, "/{slug}?m={uid}"),
    (Technology::Ntag213, "/{slug}?m={uid}x{counter}"),
    (Technology::Ntag215, "/{slug}?m={uid}x{counter}"),
    (Technology::Ntag216, "/{slug}?m={uid}x{counter}"),
    (Technology::Ntag213Tt, "/{slug}?m={uid}x{counter}x{tamper}"),
    (Technology::Ultralight, "/{slug}/{counter}"),
];

fn other((technology, run): (Technology, &str)) -> TemplateSettings {
    TemplateSettings::new(format!("https://tags.example.com{run}"), technology)
}

/// A random chip, in half of all cases an NTAG 424 DNA.
pub(super) fn chip(seed: u64, of_424: bool) -> Chip {
    let draw = Draw(SeededEntropy::new(seed));
    let settings = if of_424 || draw.flip() {
        ntag424(&draw)
    } else {
        other(draw.one(&OTHERS))
    };
    chip_with(&draw, settings)
}

/// A random chip of one technology.
pub(super) fn chip_of(technology: Technology, seed: u64) -> Chip {
    let draw = Draw(SeededEntropy::new(seed));
    let settings = match technology.family() {
        Family::Ntag424 => ntag424_of(&draw, technology),
        _ => other(*OTHERS.iter().find(|(of, _)| *of == technology).unwrap()),
    };
    chip_with(&draw, settings)
}

fn chip_with(draw: &Draw, settings: TemplateSettings) -> Chip {
    let text = format!("{settings:?}");
    let template = Template::new(settings).unwrap_or_else(|error| panic!("{text}: {error}"));
    let entropy = &draw.0;
    let keys = match template.settings().technology.family() {
        Family::Ntag21x => InlayKeys::None,
        Family::Sic43Nt => InlayKeys::Rolling(Sic43ntKey::from_bytes(bytes(entropy))),
        _ => InlayKeys::Aes(Keys {
            meta: draw.flip().then(|| AesKey::from_bytes(bytes(entropy))),
            file: AesKey::from_bytes(bytes(entropy)),
        }),
    };
    let tamper = match template.length(Field::Tamper) {
        Some(8) => "00000000",
        Some(10) => draw.one(&["CC00000000", "OO12345678", "0000000000"]),
        _ if template.settings().technology.family() == Family::Ntag424 => draw.one(&TAMPER),
        _ => draw.one(&["00", "AA"]),
    };
    Chip {
        template,
        uid: Uid::from_bytes(bytes(entropy)),
        keys,
        tamper,
        data: bytes::<32>(entropy).to_vec(),
        random: bytes(entropy),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(length(100, 20_000)))]

    #[test]
    fn what_a_chip_writes_is_read_and_verified(seed: u64, counter in 1..=COUNTER_MAX) {
        let chip = chip(seed, false);
        let template = &chip.template;
        let code = chip.code(counter);
        let url = template.url(Some(SLUG), &code);

        // The encoding sheet agrees with the chip's output.
        let Layout { mut file, offsets, .. } = template.layout(Some(SLUG)).unwrap();
        for (field, at) in offsets {
            let value = if field == Field::Slug { SLUG } else { code.get(field).unwrap() };
            file[at..at + value.len()].copy_from_slice(value.as_bytes());
        }
        prop_assert!(url.as_bytes().ends_with(&file[7..]), "{url}");

        let addressed = template.read(&Request::of_url(&url).unwrap()).unwrap();
        prop_assert_eq!(addressed.slug.as_deref(), template.has(Field::Slug).then_some(SLUG));
        prop_assert_eq!(&addressed.code, &Ok(Some(code.clone())));
        let found = template.check(Some(SLUG), &code, chip.uid, &chip.keys);
        if chip.keys == InlayKeys::None {
            prop_assert_eq!(found.authenticity, Authenticity::NotCheckable);
            return Ok(());
        }
        prop_assert_eq!(found.authenticity, Authenticity::Authentic, "{}", url);
        prop_assert_eq!(found.proves_tap(), template.proves_taps());
        let named = template.has(Field::Picc) || template.has(Field::Uid);
        prop_assert_eq!(found.uid, named.then_some(chip.uid));
        if let Some(length) = template.settings().enc_length {
            prop_assert_eq!(found.file_data.as_ref().map(|data| data.expose().len()), Some(length / 2));
        }
        let in_clear = template.has(Field::Tamper) && !template.mac_covers(Field::Tamper);
        if in_clear && template.settings().technology == Technology::Ntag424DnaTt {
            prop_assert_eq!(found.tamper, Some(Tamper::Unknown));
        } else if template.settings().tamper_at.is_some() && chip.tamper == "CC" {
            prop_assert_eq!(found.tamper, Some(Tamper::Sealed));
        }
    }

    #[test]
    fn what_it_does_not_write_is_not_verified(seed: u64, counter in 1..=COUNTER_MAX, at: u16, by in 1..16_u8) {
        let chip = chip(seed, false);
        let template = &chip.template;
        if chip.keys == InlayKeys::None {
            return Ok(());
        }
        let code = chip.code(counter);
        let other = Uid::from_bytes([0xEE; 7]);
        let found = template.check(Some(SLUG), &code, other, &chip.keys);
        prop_assert_eq!(found.is_authentic(), found.uid.is_none());

        // One changed digit in any placeholder that the MAC depends on.
        let fields = [Field::Uid, Field::Counter, Field::Picc, Field::Enc, Field::Mac];
        let fields: Vec<Field> = fields.into_iter().filter(|&field| template.has(field)).collect();
        let field = fields[usize::from(at) % fields.len()];
        let mut value = code.get(field).unwrap().as_bytes().to_vec();
        let at = usize::from(at / 8) % value.len();
        let old = char::from(value[at]).to_digit(16).unwrap();
        let new = char::from_digit((old + u32::from(by)) % 16, 16).unwrap();
        value[at] = u8::try_from(new).unwrap();
        let mut edited = code.clone();
        edited.set(field, std::str::from_utf8(&value).unwrap());
        let found = template.check(Some(SLUG), &edited, chip.uid, &chip.keys);
        prop_assert!(!found.is_authentic(), "{field} of {code:?}");
        prop_assert_eq!(found.file_data, None);

        let found = template.check(Some(SLUG), &code, chip.uid, &InlayKeys::None);
        prop_assert_eq!(found.authenticity, Authenticity::NotAuthentic(FailedStep::Keys));
    }

    #[test]
    fn no_request_and_no_template_is_trouble(text in ".{0,80}", url in ".{0,80}", seed: u64) {
        let _ = Template::new(TemplateSettings::new(format!("https://{text}"), Technology::Ntag424Dna));
        let chip = chip(seed, false);
        let _ = Request::of_url(&url).map(|request| chip.template.read(&request));
        let request = Request { host: "tags.example.com", path: &url, query: &url };
        let _ = chip.template.read(&request);
    }

    #[test]
    fn a_template_overlaps_itself(seed: u64, other: u64) {
        let (a, b) = (chip(seed, false).template, chip(other, false).template);
        prop_assert!(a.overlaps(&a));
        prop_assert_eq!(a.overlaps(&b), b.overlaps(&a));
        // If one template matches the other's URL, the check reports an overlap.
        let url = b.url(Some(SLUG), &chip(other, false).code(1));
        if a.read(&Request::of_url(&url).unwrap()).is_some() {
            prop_assert!(a.overlaps(&b));
        }
    }

    #[test]
    fn shared_keys_open_what_they_sealed(seed: u64, counter in 1..=COUNTER_MAX, count in 1..8_usize) {
        let chip = chip(seed, true);
        let template = &chip.template;
        let InlayKeys::Aes(keys) = &chip.keys else { unreachable!("an NTAG 424 DNA has AES keys") };
        let entropy = SeededEntropy::new(seed);
        let mut shared: Vec<_> = (0..count).map(|_| AesKey::from_bytes(bytes(&entropy))).collect();
        shared.insert(count / 2, keys.for_picc_data().clone());
        let shared: Vec<_> = shared.iter().map(|key| template.meta_key(key)).collect();
        let code = chip.code(counter);
        let opened = template.open(&code, &shared);
        if template.has(Field::Picc) {
            let right = (count / 2, Mirrored::both(chip.uid, counter));
            prop_assert!(opened.contains(&right));
            let inlay = Some((chip.uid, &keys.file));
            let found = template.check_opened(Some(SLUG), &code, Some(right.1), inlay);
            prop_assert_eq!(found, template.check(Some(SLUG), &code, chip.uid, &chip.keys));
            let nobody = template.check_opened(Some(SLUG), &code, Some(right.1), None);
            prop_assert!(!nobody.is_authentic());
        } else {
            prop_assert!(opened.is_empty());
        }
    }

    #[test]
    fn the_canonical_form_and_its_template_agree(
        uid: [u8; 7], meta: [u8; 16], file: [u8; 16], counter in 0..=COUNTER_MAX, mirrors: (bool, bool), wrong: bool,
    ) {
        let mirror = if mirrors.0 { Mirror::Plain } else { Mirror::Encrypted };
        let mac_from = if mirrors.1 { MacFrom::None } else { MacFrom::Uid };
        let keys = Keys {
            meta: (mirror == Mirror::Encrypted).then(|| AesKey::from_bytes(meta)),
            file: AesKey::from_bytes(file),
        };
        let uid = Uid::from_bytes(uid);
        let inlay = VirtualInlay { uid, mirror, mac_from, keys: keys.clone(), counter };
        let mut code: OneTimeCode = inlay.code_at(counter, [7; 5]);
        if wrong {
            code.token = code.token.chars().rev().collect();
        }
        let candidate = Candidate { uid, mirror, mac_from, keys: keys.clone() };
        let canonical = verify(&code.uid, &code.token, &[candidate]).ok().map(|found| found.counter);
        let template = Template::canonical("https://tapdesk.example/t", mirror, mac_from).unwrap();
        let url = code.url("https://tapdesk.example/t", SLUG);
        let addressed = template.read(&Request::of_url(&url).unwrap()).unwrap();
        let found = template.check(Some(SLUG), &addressed.code.unwrap().unwrap(), uid, &InlayKeys::Aes(keys));
        prop_assert_eq!(found.counter.filter(|_| found.is_authentic()), canonical);
    }
}

/// The settings of a chip for the other implementation.
fn oracle(layout: &Layout, settings: &TemplateSettings) -> Verifier {
    let at = |offset: usize| Offset::new(u32::try_from(offset).unwrap()).unwrap();
    let field = |field| layout.offset(field).map(at);
    let features = ReadCtrFeatures {
        limit: None,
        ret_access: CtrRetAccess::NoAccess,
    };
    let read_ctr = |offset| ReadCtrMirror { offset, features };
    let picc = match (field(Field::Picc), field(Field::Uid), field(Field::Counter)) {
        (Some(offset), ..) => PiccData::Encrypted {
            key: KeyNumber::Key1,
            offset,
            content: EncryptedContent::Both(features),
        },
        (None, Some(uid), Some(ctr)) => PiccData::Plain(PlainMirror::Both {
            uid,
            read_ctr: read_ctr(ctr),
        }),
        (None, Some(uid), None) => PiccData::Plain(PlainMirror::Uid { uid }),
        (None, None, Some(ctr)) => PiccData::Plain(PlainMirror::RCtr {
            read_ctr: read_ctr(ctr),
        }),
        (None, None, None) => unreachable!("something is mirrored"),
    };
    let window = MacWindow {
        input: at(layout.mac_input.unwrap()),
        mac: field(Field::Mac).unwrap(),
    };
    let key = KeyNumber::Key2;
    let file_read = match (field(Field::Enc), settings.enc_length) {
        (Some(start), Some(length)) => FileRead::MacAndEnc {
            key,
            window,
            enc: EncFileData {
                start,
                length: EncLength::new(u32::try_from(length).unwrap()).unwrap(),
            },
        },
        _ => FileRead::MacOnly { key, window },
    };
    let mode = match settings.mode {
        Mode::Aes => CryptoMode::Aes,
        Mode::Lrp => CryptoMode::Lrp,
    };
    let sdm = Sdm::try_new(picc, Some(file_read), layout.tamper.map(at), mode).unwrap();
    Verifier::try_new(&sdm, mode).unwrap()
}

/// The loop state by the other implementation.
fn told(status: TagTamperStatusReadout) -> Tamper {
    match (status.permanent(), status.current()) {
        (TagTamperStatus::Close, TagTamperStatus::Close) => Tamper::Sealed,
        (TagTamperStatus::Open, TagTamperStatus::Close) => Tamper::Reclosed,
        (_, TagTamperStatus::Open) => Tamper::Open,
        (TagTamperStatus::Invalid, TagTamperStatus::Invalid) => Tamper::Off,
        _ => Tamper::Unknown,
    }
}

#[test]
fn both_implementations_verify_the_same_templates() {
    for case in 0..length(500_u32, 100_000) {
        let chip = chip(u64::from(case), true);
        let (template, settings) = (&chip.template, chip.template.settings());
        let InlayKeys::Aes(keys) = &chip.keys else {
            unreachable!("an NTAG 424 DNA has AES keys")
        };
        let counter = case * 1_677 % COUNTER_MAX + 1;
        let mut code = chip.code(counter);
        if case % 3 == 0 {
            code.set(Field::Mac, "0123456789ABCDEF");
        }
        let layout = template.layout(Some(SLUG)).unwrap();
        let mut file = layout.file.clone();
        for (field, at) in &layout.offsets {
            if let Some(value) = code.get(*field) {
                file[*at..at + value.len()].copy_from_slice(value.as_bytes());
            }
        }
        let theirs = oracle(&layout, settings)
            .verify_with_meta_key(&file, keys.file.expose(), keys.for_picc_data().expose())
            .ok();
        let ours = template.check(Some(SLUG), &code, chip.uid, &chip.keys);
        assert_eq!(
            ours.is_authentic(),
            theirs.is_some(),
            "case {case}: {settings:?}"
        );
        assert_eq!(
            ours.is_authentic(),
            case % 3 != 0,
            "case {case}: {settings:?}"
        );
        if let Some(theirs) = theirs {
            assert_eq!(ours.uid.map(Uid::bytes), theirs.uid, "case {case}");
            assert_eq!(ours.counter, theirs.read_ctr, "case {case}");
            let data = ours.file_data.map(|data| data.expose().to_vec());
            assert_eq!(data, theirs.enc_file_data, "case {case}: {settings:?}");
            // It does not report whether the letters are authenticated.
            let in_clear = template.has(Field::Tamper) && !template.mac_covers(Field::Tamper);
            let state = theirs.tamper_status.map(|_| Tamper::Unknown);
            let state = state
                .filter(|_| in_clear)
                .or_else(|| theirs.tamper_status.map(told));
            assert_eq!(ours.tamper, state, "case {case}: {settings:?}");
        }
    }
}
