//! The solver: published URLs are solved, random ones are solved or left open, and none is solved
//! wrongly.

mod forms;
mod names;
mod parts;
mod published;

use tapdesk_service::inlay::derivation::{Derivation, MasterSecret};
use tapdesk_service::inlay::key::{AesKey, InlayKeys, Keys, Sic43ntKey, SomeKey};
use tapdesk_service::inlay::solver::{ATTEMPTS_MAX, Certainty, KeySource, Puzzle, Solution, solve};
use tapdesk_service::inlay::technology::{Technology, sic43nt};
use tapdesk_service::inlay::template::{Field, Filled, Template, TemplateSettings};
use tapdesk_tests::length;

use super::published::{VECTORS, maybe};
use super::taps::{Chip, SLUG, chip_of};

fn aes(hex: &str) -> SomeKey {
    SomeKey::Aes(AesKey::from_hex(hex).unwrap())
}

fn solved(urls: &[&str], keys: &[SomeKey], master_keys: &[MasterSecret]) -> Solution {
    let puzzle = Puzzle {
        urls,
        keys,
        master_keys,
    };
    solve(&puzzle, &mut || true)
}

const ZERO: &str = "00000000000000000000000000000000";
const OTHER: &str = "0123456789ABCDEF0123456789ABCDEF";

/// UID, counter and MAC in clear, one after the other.
const MIRROR: &str = "{uid}x{counter}x{mac}";

#[test]
fn master_keys_of_boltcard_and_sdm_backend() {
    let issuer = MasterSecret::from_hex("00000000000000000000000000000001").unwrap();
    let scheme = Derivation::Boltcard { version: 3 };
    let uid = "04A39493CC8680".parse().unwrap();
    let keys = InlayKeys::Aes(scheme.keys(&issuer, uid).unwrap());
    let text = "https://card.example/boltcards/api/v1/scan?p={picc}&c={mac}";
    let template = Template::new(TemplateSettings::new(text, Technology::Ntag424Dna)).unwrap();
    let read = tapdesk_service::inlay::check::Read {
        uid,
        counter: 7,
        keys: &keys,
        picc: None,
        tamper: "",
        file_data: &[],
        random: [5; 24],
    };
    let url = template.url(None, &template.make_code(None, &read).unwrap());
    let found = solved(&[&url], &[aes(OTHER)], &[issuer]);
    assert_eq!(found.certainty, Certainty::Proved);
    let Some(KeySource::Derived { derivation, .. }) = &found.candidates[0].source else {
        panic!("{found:?}");
    };
    assert_eq!(*derivation, scheme);
    assert_eq!(found.candidates[0].settings, *template.settings());

    let bulk = VECTORS
        .iter()
        .find(|v| v["name"] == "sdm-backend-bulk-kdf1")
        .unwrap();
    let url = format!(
        "https://sdm.example/?{}",
        maybe(&bulk["inputs"], "query").unwrap()
    );
    let master = MasterSecret::from_hex(maybe(&bulk["inputs"], "master_key").unwrap()).unwrap();
    let found = solved(&[&url], &[], &[master]);
    let truth = found.candidates.iter().find(|format| {
        format.settings.template == "https://sdm.example/?e={picc}{enc}{mac}"
            && format.settings.enc_length == Some(128)
    });
    assert_eq!(truth.map(|format| format.proved_by), Some(1), "{found:?}");
}

#[test]
fn a_code_of_32_bits_needs_two_urls() {
    let key = Sic43ntKey::from_hex("F3091FF9C5D509EA2DC4").unwrap();
    let url = |time_stamp: u32| {
        let [code, _] = sic43nt::codes(&key, time_stamp);
        let code = u32::from_be_bytes(code);
        format!("https://s.example/?d=394930A1A2A3A400{time_stamp:08X}{code:08X}")
    };
    let (first, second) = (url(5), url(9));
    let twin = first.to_lowercase();
    let keys = [aes(OTHER), SomeKey::Rolling(key.clone())];
    for (urls, certainty) in [
        (vec![&*first], Certainty::Narrowed),
        (vec![&*first, &*first], Certainty::Narrowed),
        // Another URL with the same code.
        (vec![&*first, &*twin], Certainty::Narrowed),
        (vec![&*first, &*second], Certainty::Proved),
    ] {
        let found = solved(&urls, &keys, &[]);
        assert_eq!(found.certainty, certainty, "{found:?}");
        assert_eq!(found.candidates[0].settings.technology, Technology::Sic43Nt);
    }
}

#[test]
fn what_cannot_be_told_is_said_so() {
    for url in [
        "",
        "https://",
        "https://x.example/",
        "https://x.example/?q=1",
        "no url",
        "https://é/é?é=é&\u{202e}",
    ] {
        let found = solved(&[url], &[aes(ZERO)], &[]);
        assert_eq!(
            (found.certainty, found.candidates),
            (Certainty::Unknown, vec![]),
            "{url}"
        );
    }
    assert_eq!(solved(&[], &[aes(ZERO)], &[]).certainty, Certainty::Unknown);
    // Two URLs in different formats have no common template.
    let urls = [
        "https://x.example/?p=EF963FF7828658A599F3041510671E88&m=94EED9EE65337086",
        "https://x.example/v?p=EF963FF7828658A599F3041510671E88&m=94EED9EE65337086",
    ];
    assert_eq!(
        solved(&urls, &[aes(ZERO)], &[]).certainty,
        Certainty::Unknown
    );
    // A chip without a MAC is recognized only by the URL's shape.
    let found = solved(
        &["https://n.example/bottle-41?m=04E141124C2880x003F31"],
        &[aes(ZERO)],
        &[],
    );
    assert_eq!(found.certainty, Certainty::Narrowed);
    assert!(
        found
            .candidates
            .iter()
            .all(|format| !format.settings.technology.rolls())
    );
}

#[test]
fn the_search_is_bounded() {
    let keys: Vec<SomeKey> = (0..16)
        .map(|i| SomeKey::Aes(AesKey::from_bytes([i; 16])))
        .collect();
    let hex = "04AABBCCDDEEFF80".repeat(500);
    let many: Vec<_> = (0..100).map(|i| format!("a{i}={}", &hex[..32])).collect();
    let (many, some) = (many.join("&"), many[..12].join("&"));
    for url in [
        format!("https://x.example/{hex}"),
        format!("https://x.example/?p={hex}&{many}"),
        format!("https://x.example/?{some}"),
        format!("https://x.example/?{many}"),
    ] {
        let found = solved(&[&url], &keys, &[]);
        assert!(found.tried <= ATTEMPTS_MAX + 10_000, "{}", found.tried);
        assert_ne!(found.certainty, Certainty::Proved);
    }
    let url = "https://x.example/?uid=04E141124C2880&ctr=000001&cmac=94EED9EE65337086";
    let puzzle = Puzzle {
        urls: &[url],
        keys: &keys,
        master_keys: &[],
    };
    let found = solve(&puzzle, &mut || false);
    assert_eq!(found.certainty, Certainty::Unknown);
    assert!(found.tried <= 512);
}

/// A URL of an NTAG 424 DNA with a zero key, in plain form.
fn url_of(text: &str, uid: &str, slug: Option<&str>, counter: u32) -> String {
    let keys = InlayKeys::Aes(Keys {
        meta: None,
        file: AesKey::from_hex(ZERO).unwrap(),
    });
    let template = Template::new(TemplateSettings::new(text, Technology::Ntag424Dna)).unwrap();
    let read = tapdesk_service::inlay::check::Read {
        uid: uid.parse().unwrap(),
        counter,
        keys: &keys,
        picc: None,
        tamper: "",
        file_data: &[],
        random: [5; 24],
    };
    template.url(slug, &template.make_code(slug, &read).unwrap())
}

/// The certainty of the answer, and the texts of its templates.
fn texts(urls: &[String], keys: &[SomeKey]) -> (Certainty, Vec<String>) {
    let urls: Vec<&str> = urls.iter().map(|url| &**url).collect();
    let found = solved(&urls, keys, &[]);
    let templates = found.candidates.iter();
    let mut texts: Vec<_> = templates
        .map(|format| format.settings.template.clone())
        .collect();
    texts.sort();
    texts.dedup();
    (found.certainty, texts)
}

/// The URLs of one tag do not show whether a text is its slug or the same for all tags.
#[test]
fn a_text_that_could_be_a_slug_is_left_open() {
    let (one, two) = ("04A39493CC8680", "04A39493CC8681");
    for place in [
        "https://x.example/{slug}?m={uid}x{counter}x{mac}",
        "https://x.example/v?t={slug}&m={uid}x{counter}x{mac}",
        "https://{slug}.x.example/v?m={uid}x{counter}x{mac}",
    ] {
        let literal = |segment: &str| place.replace("{slug}", segment);
        let any = place.replace("{slug}", "{*}");
        let urls = |chips: [(&str, &str); 2]| {
            let reads = (1..).zip(chips);
            let urls = reads.map(|(counter, (uid, slug))| url_of(place, uid, Some(slug), counter));
            urls.collect::<Vec<_>>()
        };
        for (chips, certainty, expected) in [
            (
                [(one, "k3v9qa"), (one, "k3v9qa")],
                Certainty::Narrowed,
                vec![literal("k3v9qa"), place.to_owned()],
            ),
            // Three digits of a number do not identify a chip.
            (
                [(one, "item-1424"), (one, "item-1424")],
                Certainty::Narrowed,
                vec![literal("item-1424"), place.to_owned()],
            ),
            (
                [(one, "k3v9qa"), (two, "k3v9qa")],
                Certainty::Proved,
                vec![literal("k3v9qa")],
            ),
            // A word, and the name of a chip, do not identify a tag.
            (
                [(one, "verify"), (one, "verify")],
                Certainty::Proved,
                vec![literal("verify")],
            ),
            (
                [(one, "ntag424"), (one, "ntag424")],
                Certainty::Proved,
                vec![literal("ntag424")],
            ),
            (
                [(one, "my424dna"), (one, "my424dna")],
                Certainty::Proved,
                vec![literal("my424dna")],
            ),
        ] {
            let found = texts(&urls(chips), &[aes(ZERO)]);
            assert_eq!(found, (certainty, expected), "{place}");
        }
        let of_two = texts(&urls([(one, "k3v9qa"), (two, "k3v9qb")]), &[aes(ZERO)]);
        // A parameter that varies may be one that other programs append to all URLs.
        let expected = if place.contains("t={slug}") {
            (Certainty::Narrowed, vec![any, place.to_owned()])
        } else {
            (Certainty::Proved, vec![place.to_owned()])
        };
        assert_eq!(of_two, expected, "{place}");

        let (certainty, texts) = texts(&urls([(one, "k3v9qa"), (one, "k3v9qa")]), &[]);
        assert_eq!(certainty, Certainty::Narrowed);
        for text in [literal("k3v9qa"), place.to_owned()] {
            assert!(texts.contains(&text), "{texts:?}");
        }
    }
    // Another service's names are slugs here if they have their characters, and a version identifies
    // nothing.
    for (name, other, placeholder) in [
        ("abc1", "abc2", "{slug}"),
        ("BOTTLE-41", "BOTTLE-42", "{slug}"),
        ("b+1", "b+2", "{*}"),
    ] {
        let place = |segment: &str| format!("https://x.example/api/v1/{segment}?m={MIRROR}");
        let (literal, any) = (place(name), place(placeholder));
        let urls = |chips: [(&str, &str); 2]| {
            let reads = (1..).zip(chips);
            reads
                .map(|(counter, (uid, name))| url_of(&place(name), uid, None, counter))
                .collect::<Vec<_>>()
        };
        let found = texts(&urls([(one, name), (one, name)]), &[aes(ZERO)]);
        assert_eq!(found.0, Certainty::Narrowed);
        assert!(
            found.1.contains(&literal) && found.1.contains(&any),
            "{found:?}"
        );
        let found = texts(&urls([(one, name), (two, name)]), &[aes(ZERO)]);
        assert_eq!(found, (Certainty::Proved, vec![literal]));
        if name == "abc1" {
            let found = texts(&urls([(one, name), (two, other)]), &[aes(ZERO)]);
            assert_eq!(found, (Certainty::Proved, vec![any]));
        }
    }
    // A name directly below a public suffix is a domain.
    let domain = "https://brand24.example/v?m={uid}x{counter}x{mac}";
    let urls = [1, 2].map(|counter| url_of(domain, one, None, counter));
    let proved = (Certainty::Proved, vec![domain.to_owned()]);
    assert_eq!(texts(&urls, &[aes(ZERO)]), proved);
}

/// 1,000 random chips of each technology in a soak; by default as many as take some seconds. The
/// last number is the lowest percentage of chips that must be recognized: by a verified code, or by
/// the shape of their URLs if they have no code.
macro_rules! told_rightly_or_not {
    ($($name:ident: $technology:ident, $short:literal, $told:literal;)+) => {$(
        #[test]
        fn $name() {
            told_rightly_or_not(Technology::$technology, $short, $told);
        }
    )+};
}

mod random_chips_are_told_rightly_or_not {
    use super::{Technology, told_rightly_or_not};

    told_rightly_or_not! {
        of_ntag424dna: Ntag424Dna, 15, 80;
        of_ntag424dna_tt: Ntag424DnaTt, 15, 80;
        of_ntag223dna: Ntag223Dna, 60, 100;
        of_ntag224dna: Ntag224Dna, 60, 100;
        of_sic43nt: Sic43Nt, 1_000, 100;
        of_sic43s1: Sic43S1, 1_000, 100;
        of_ntag210: Ntag210, 1_000, 99;
        of_ntag212: Ntag212, 1_000, 99;
        of_ntag213: Ntag213, 1_000, 99;
        of_ntag213tt: Ntag213Tt, 1_000, 99;
        of_ntag215: Ntag215, 1_000, 99;
        of_ntag216: Ntag216, 1_000, 99;
        of_ultralight: Ultralight, 1_000, 99;
    }
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// The template was found, and a code verified.
    Found,
    /// The right template is among those with the shape of the URL.
    Shape,
    /// The template cannot be determined.
    Unknown,
}

/// A proof is right, and a narrowed result contains the right template.
fn told_rightly_or_not(technology: Technology, short: usize, expected: usize) {
    let chips = length(short, 1_000);
    let told: Vec<Told> = (0..chips)
        .map(|case| {
            let seed = 1_000_000 + u64::try_from(case).unwrap();
            told_rightly(case, &chip_of(technology, seed))
        })
        .collect();
    let count = |what| told.iter().filter(|told| **told == what).count();
    let (found, shape, unknown) = (count(Told::Found), count(Told::Shape), count(Told::Unknown));
    let told = if technology.rolls() { found } else { shape };
    assert!(
        told * 100 >= expected * chips,
        "{found} found, {shape} by their shape, {unknown} unknown"
    );
}

/// Each result is right, or the solver leaves it open. NTAG 223 and 224 generate the same codes, so
/// a verified code narrows it to both.
fn told_rightly(case: usize, chip: &Chip) -> Told {
    let (template, settings) = (&chip.template, chip.template.settings());
    let url = |counter| template.url(Some(SLUG), &chip.code(counter));
    let both = [url(41), url(4_242)];
    let urls: Vec<&str> = both[..=(case % 2)].iter().map(|url| &**url).collect();
    let mut keys = vec![aes(OTHER)];
    match &chip.keys {
        InlayKeys::Aes(chip) => {
            keys.push(SomeKey::Aes(chip.file.clone()));
            keys.push(SomeKey::Aes(chip.for_picc_data().clone()));
        }
        InlayKeys::Rolling(key) => keys.push(SomeKey::Rolling(key.clone())),
        InlayKeys::None => {}
    }
    let found = solved(&urls, &keys, &[]);
    // A chip with a loop whose state is not in the URL looks like one without a loop.
    let has_state = template.has(Field::Tamper) || settings.tamper_at.is_some();
    let told = match settings.technology {
        Technology::Ntag424DnaTt if !has_state => Technology::Ntag424Dna,
        other => other,
    };
    let same = |format: &tapdesk_service::inlay::solver::Format| {
        let theirs = &format.settings;
        let slug = |text: &str| text.replace("{slug}", SLUG);
        theirs.technology == told
            && theirs.mode == settings.mode
            && slug(&theirs.template) == slug(&settings.template)
            && theirs.enc_length == settings.enc_length
            && theirs.tamper_at == settings.tamper_at
            && (format.proved_by == 0
                || starts(format.settings.clone()) == starts(settings.clone()))
    };
    match found.certainty {
        Certainty::Proved => {
            assert!(
                same(&found.candidates[0]),
                "case {case}: {settings:?}: {found:?}"
            );
        }
        Certainty::Narrowed => {
            let truth = found.candidates.iter().any(same);
            assert!(truth, "case {case}: {settings:?}: {found:?}");
        }
        Certainty::Unknown => {
            // A slug may be any text of the URL, and may look like a UID: then the shape is not
            // conclusive.
            assert!(
                template.has(Field::Slug),
                "case {case}: {settings:?} {urls:?}"
            );
        }
    }
    match found.certainty {
        Certainty::Unknown => Told::Unknown,
        _ if found.candidates.iter().any(|format| format.proved_by > 0) => Told::Found,
        _ => Told::Shape,
    }
}

/// The MAC's input, to compare two of its possible beginnings.
fn starts(settings: TemplateSettings) -> Vec<u8> {
    let template = Template::new(settings).unwrap();
    template.mac_input(Some(SLUG), &Filled::default())
}

/// Two chips of one batch with different file keys: each URL is proved separately, and both
/// together.
#[test]
fn chips_with_file_keys_of_their_own_are_proved() {
    const THIRD: &str = "89ABCDEF0123456789ABCDEF01234567";
    let encrypted = "https://x.example/v?p={picc}&c={mac}";
    let plain = "https://x.example/v?u={uid}&n={counter}&c={mac}";
    for (text, metas) in [
        (encrypted, [ZERO, ZERO]),
        (encrypted, [ZERO, OTHER]),
        (plain, [ZERO, ZERO]),
    ] {
        let template = Template::new(TemplateSettings::new(text, Technology::Ntag424Dna)).unwrap();
        let url = |uid: &str, meta: &str, file: &str, counter| {
            let keys = InlayKeys::Aes(Keys {
                meta: Some(AesKey::from_hex(meta).unwrap()),
                file: AesKey::from_hex(file).unwrap(),
            });
            let read = tapdesk_service::inlay::check::Read {
                uid: uid.parse().unwrap(),
                counter,
                keys: &keys,
                picc: None,
                tamper: "",
                file_data: &[],
                random: [7; 24],
            };
            template.url(None, &template.make_code(None, &read).unwrap())
        };
        let [one, two] = ["04A39493CC8680", "04DE5F1EACC040"];
        let urls = [
            url(one, metas[0], OTHER, 3),
            url(two, metas[1], THIRD, 9),
            url(one, metas[0], OTHER, 4),
        ];
        let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
        let keys = [aes(ZERO), aes(OTHER), aes(THIRD)];
        let found = solved(&urls, &keys, &[]);
        assert_eq!(found.certainty, Certainty::Proved, "{found:?}");
        let [format] = found.candidates.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(format.settings.template, text);
        assert_eq!(format.proved_by, 3);
        assert_eq!(format.reads[1], (Some(two.parse().unwrap()), Some(9)));
        let files = format.own_sources.iter().map(|source| match source {
            KeySource::Given { file, .. } => *file,
            KeySource::Derived { .. } => panic!("{source:?}"),
        });
        assert_eq!(files.collect::<Vec<_>>(), [1, 2, 1]);
        let words: Vec<String> = found.remarks.iter().map(ToString::to_string).collect();
        assert_eq!(
            words,
            [
                "Each chip has a file key of its own: URL 1 has key 2, URL 2 has key 3, URL 3 has key 2."
            ]
        );

        // A chip has one key: two keys for one UID prove nothing.
        let urls = [url(one, ZERO, OTHER, 3), url(one, ZERO, THIRD, 4)];
        let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
        let found = solved(&urls, &keys, &[]);
        assert_ne!(found.certainty, Certainty::Proved, "{found:?}");
    }
}
