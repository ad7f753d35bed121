//! URLs that do not belong together, and chips with keys of their own: the answer names the URLs
//! that it is not about, and each chip's key.

use tapdesk_service::inlay::derivation::{Derivation, MasterSecret};
use tapdesk_service::inlay::key::{InlayKeys, Keys};
use tapdesk_service::inlay::pasted::Unused;
use tapdesk_service::inlay::solver::{Certainty, KeySource, Solution};
use tapdesk_service::inlay::technology::Technology;
use tapdesk_service::inlay::template::{Template, TemplateSettings};

use super::{OTHER, ZERO, aes, solved};

const ENCRYPTED: &str = "https://tags.example/v?p={picc}&c={mac}";
const CHIPS: [&str; 4] = [
    "04A39493CC8680",
    "04DE5F1EACC040",
    "04996C6A926980",
    "041E3C5A7B6F80",
];

/// A URL of a chip with these keys.
fn url(template: &str, uid: &str, keys: Keys, counter: u32) -> String {
    let settings = TemplateSettings::new(template, Technology::Ntag424Dna);
    let template = Template::new(settings).unwrap();
    let keys = InlayKeys::Aes(keys);
    let read = tapdesk_service::inlay::check::Read {
        uid: uid.parse().unwrap(),
        counter,
        keys: &keys,
        picc: None,
        tamper: "",
        file_data: &[],
        random: [7; 24],
    };
    template.url(
        Some("k3v9qa"),
        &template.make_code(Some("k3v9qa"), &read).unwrap(),
    )
}

fn own(meta: &str, file: &str) -> Keys {
    let key = |hex| tapdesk_service::inlay::key::AesKey::from_hex(hex).unwrap();
    Keys {
        meta: Some(key(meta)),
        file: key(file),
    }
}

/// The answer for URLs, with keys in hex.
fn answer(urls: &[String], keys: &[&str], masters: &[&str]) -> Solution {
    let urls: Vec<&str> = urls.iter().map(|url| &**url).collect();
    let keys: Vec<_> = keys.iter().map(|key| aes(key)).collect();
    let masters = masters
        .iter()
        .map(|key| MasterSecret::from_hex(key).unwrap());
    solved(&urls, &keys, &masters.collect::<Vec<_>>())
}

fn unused(found: &Solution) -> Vec<(&str, &'static str)> {
    let unused = found.unused.iter();
    unused
        .map(|Unused { text, why }| (&**text, why.name()))
        .collect()
}

fn assert_only(found: &Solution, certainty: Certainty, template: &str) {
    assert_eq!(found.certainty, certainty, "{found:?}");
    let [format] = found.candidates.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(format.settings.template, template);
    assert_eq!(format.proved_by, found.urls.len());
    assert_eq!(format.reads.len(), found.urls.len());
}

#[test]
fn urls_that_belong_to_no_chip_are_named_and_not_in_the_way() {
    let good = [0, 1].map(|chip| url(ENCRYPTED, CHIPS[chip], own(ZERO, OTHER), 5));
    let cut = good[0].replace("p=", "p=1");
    for (other, reason) in [
        ("https://help.example/tags/how-to", "no_code"),
        ("https://tags.example/v?p=12&c=34", "no_code"),
        ("myprefix://p=00&c=00", "no_web_address"),
        ("tags.example/v", "no_scheme"),
        (&*cut, "cut"),
    ] {
        for place in 0..3 {
            let mut urls = good.to_vec();
            urls.insert(place, other.to_owned());
            let found = answer(&urls, &[ZERO, OTHER], &[]);
            assert_only(&found, Certainty::Proved, ENCRYPTED);
            assert_eq!(found.urls, good, "{other}");
            assert_eq!(unused(&found), [(other, reason)]);
        }
    }
    // A URL that is there twice is used once.
    let found = answer(&[good[0].clone(), good[0].clone()], &[ZERO, OTHER], &[]);
    assert_only(&found, Certainty::Proved, ENCRYPTED);
    assert_eq!(unused(&found), [(&*good[0], "repeated")]);
    // Without others, such a URL is named as well.
    let found = answer(std::slice::from_ref(&cut), &[ZERO, OTHER], &[]);
    assert_eq!(found.certainty, Certainty::Unknown);
    assert_eq!(unused(&found), [(&*cut, "cut")]);
}

#[test]
fn random_digits_that_another_chip_could_write_hide_no_cut_value() {
    // With AA or 00 in six places, 32 digits are a UID, a counter, a MAC and the state of a loop.
    for picc in [
        "1FF72DC1181A22CD7ACA7CA84B9BE7AA",
        "AAF72DC1181A22CD7ACA7CA84B9BE712",
        "1FF72DC1181A2200CD7ACA7CA84B9BE7",
        "1FF72DC1181A22CD7ACA7CA84B9BE7CC",
    ] {
        let whole = format!("https://tags.example/v?picc_data={picc}&cmac=A28B35BC8EE476F0");
        let found = answer(std::slice::from_ref(&whole), &[ZERO, OTHER], &[]);
        assert!(!found.candidates.is_empty());
        for format in &found.candidates {
            let text = &format.settings.template;
            assert!(text.contains("{mac}") && !text.contains("cmac=A"), "{text}");
        }
        let cut = &whole[..whole.len() - 1];
        let found = answer(&[cut.to_owned()], &[ZERO, OTHER], &[]);
        assert_eq!(found.certainty, Certainty::Unknown, "{found:?}");
        assert_eq!(unused(&found), [(cut, "cut")]);
    }
}

#[test]
fn of_two_forms_the_one_with_more_urls_is_solved() {
    let plain = "https://tags.example/w?u={uid}&n={counter}&c={mac}";
    let of = |text: &str, chip: usize| url(text, CHIPS[chip], own(ZERO, OTHER), 5);
    let urls = [of(plain, 0), of(ENCRYPTED, 0), of(ENCRYPTED, 1)];
    let found = answer(&urls, &[ZERO, OTHER], &[]);
    assert_only(&found, Certainty::Proved, ENCRYPTED);
    assert_eq!(unused(&found), [(&*urls[0], "other_form")]);
    // Without keys, by their shape.
    let found = answer(&urls, &[], &[]);
    assert_eq!(found.certainty, Certainty::Narrowed);
    assert_eq!(found.urls, urls[1..]);
    assert!(found.candidates.iter().all(|format| format.proved_by == 0));
}

#[test]
fn a_url_that_no_key_verifies_is_named_and_leaves_a_doubt() {
    let files = ["11", "22", "33"].map(|byte| byte.repeat(16));
    let urls = [0, 1, 2].map(|chip| url(ENCRYPTED, CHIPS[chip], own(ZERO, &files[chip]), 5));
    let found = answer(&urls, &[ZERO, &files[0], &files[2]], &[]);
    assert_only(&found, Certainty::Narrowed, ENCRYPTED);
    assert_eq!(found.urls, [urls[0].clone(), urls[2].clone()]);
    assert_eq!(unused(&found), [(&*urls[1], "no_key")]);
    // An edited MAC belongs to no key.
    let mut edited = urls.to_vec();
    let end = edited[1].pop().unwrap();
    edited[1].push(if end == '0' { '1' } else { '0' });
    let found = answer(&edited, &[ZERO, &files[0], &files[1], &files[2]], &[]);
    assert_only(&found, Certainty::Narrowed, ENCRYPTED);
    assert_eq!(unused(&found), [(&*edited[1], "no_key")]);
}

/// File keys given, derived from two master keys, and by versions of one scheme.
#[test]
fn chips_with_given_and_derived_keys_are_told_apart() {
    let masters = ["a1", "b2"].map(|byte| byte.repeat(16));
    let derived = |master: usize, version: u32, chip: usize| {
        let secret = MasterSecret::from_hex(&masters[master]).unwrap();
        let scheme = Derivation::Boltcard { version };
        let keys = scheme.keys(&secret, CHIPS[chip].parse().unwrap()).unwrap();
        url(ENCRYPTED, CHIPS[chip], keys, 5)
    };
    let urls = [
        url(ENCRYPTED, CHIPS[0], own(ZERO, OTHER), 9),
        derived(0, 0, 1),
        derived(1, 0, 2),
        derived(0, 3, 3),
    ];
    let found = answer(&urls, &[OTHER, ZERO], &[&masters[0], &masters[1]]);
    assert_only(&found, Certainty::Proved, ENCRYPTED);
    let sources = found.candidates[0].own_sources.iter();
    let shown: Vec<_> = sources
        .map(|source| match source {
            KeySource::Given { meta, file, .. } => (*meta, Some(*file), None),
            KeySource::Derived {
                master, derivation, ..
            } => match derivation {
                Derivation::Boltcard { version } => (None, None, Some((*master, *version))),
                other => panic!("{other:?}"),
            },
        })
        .collect();
    assert_eq!(
        shown,
        [
            (Some(1), Some(0), None),
            (None, None, Some((0, 0))),
            (None, None, Some((1, 0))),
            (None, None, Some((0, 3))),
        ]
    );
    let words: Vec<_> = found.remarks.iter().map(ToString::to_string).collect();
    assert_eq!(
        words,
        [
            "Each chip has a file key of its own: URL 1 has key 1, that of URL 2 is derived from \
             master key 1, that of URL 3 is derived from master key 2, that of URL 4 is derived \
             from master key 1."
        ]
    );
}

#[test]
fn the_sentence_about_own_keys_counts_unused_urls() {
    let files = ["11", "22"].map(|byte| byte.repeat(16));
    let chips = [0, 1].map(|chip| url(ENCRYPTED, CHIPS[chip], own(ZERO, &files[chip]), 5));
    let help = "https://help.example/tags/how-to".to_owned();
    let urls = [help, chips[0].clone(), chips[1].clone()];
    let found = answer(&urls, &[ZERO, &files[0], &files[1]], &[]);
    assert_only(&found, Certainty::Proved, ENCRYPTED);
    assert_eq!(found.urls, chips);
    let words: Vec<_> = found.remarks.iter().map(ToString::to_string).collect();
    assert_eq!(
        words,
        ["Each chip has a file key of its own: URL 2 has key 2, URL 3 has key 3."]
    );
}

/// Each word could be several values of a SIC43NT, so there are thousands of ways to read the URLs.
#[test]
fn urls_with_too_many_shapes_are_not_taken_for_fixed_ones() {
    let words = "12345678/".repeat(8) + &"AA/".repeat(5);
    let urls = [1, 2].map(|tag| format!("https://s.example/{words}bottle-{tag}"));
    let found = answer(&urls, &[], &[]);
    assert_eq!(found.certainty, Certainty::Unknown);
    assert!(found.candidates.is_empty(), "{found:?}");
    assert_eq!(unused(&found), []);
    assert_eq!(found.remarks, []);
}

/// NXP's own layout: a meta key that all chips share, and file keys that follow from a master key.
#[test]
fn a_given_meta_key_and_a_master_key_of_file_keys_are_found_together() {
    let master = "c3".repeat(16);
    let secret = MasterSecret::from_hex(&master).unwrap();
    let schemes = [
        Derivation::An10922 {
            input: "{uid}3042F5".parse().unwrap(),
            diversify_meta: false,
        },
        Derivation::PlainCmac {
            input: "01{uid}".parse().unwrap(),
        },
        Derivation::Boltcard { version: 1 },
    ];
    for scheme in schemes {
        let urls = [0, 1].map(|chip| {
            let derived = scheme.keys(&secret, CHIPS[chip].parse().unwrap()).unwrap();
            let shared = own(OTHER, ZERO).meta;
            let keys = Keys {
                meta: shared,
                file: derived.file,
            };
            url(ENCRYPTED, CHIPS[chip], keys, 5)
        });
        let found = answer(&urls, &[ZERO, OTHER], &[&master]);
        assert_only(&found, Certainty::Proved, ENCRYPTED);
        match &found.candidates[0].source {
            Some(KeySource::Derived {
                master: 0,
                meta: Some(1),
                derivation,
                ..
            }) => assert_eq!(*derivation, scheme),
            other => panic!("{other:?}"),
        }
    }
}
