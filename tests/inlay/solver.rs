//! The solver: published URLs are solved, random ones are solved or left open, and none is solved
//! wrongly.

mod forms;
mod names;
mod parts;
mod published;
mod random_chips;
mod slugs;

use tapdesk_service::inlay::derivation::{Derivation, MasterSecret};
use tapdesk_service::inlay::key::{AesKey, InlayKeys, Keys, Sic43ntKey, SomeKey};
use tapdesk_service::inlay::solver::{ATTEMPTS_MAX, Certainty, KeySource, Puzzle, Solution, solve};
use tapdesk_service::inlay::technology::{Technology, sic43nt};
use tapdesk_service::inlay::template::{Template, TemplateSettings};

use super::published::{VECTORS, maybe};

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
    let found = solve(&Puzzle::of(&[url], &keys), &mut || false);
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
