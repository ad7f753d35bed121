//! Names of tags in the paths of URLs: of letters only, in capitals, short, or like a value of a chip.

use tapdesk_service::inlay::key::{AesKey, InlayKeys, Keys};
use tapdesk_service::inlay::solver::Certainty;
use tapdesk_service::inlay::technology::Technology;
use tapdesk_service::inlay::technology::ntag424::Mirrored;
use tapdesk_service::inlay::template::{Template, TemplateSettings};

use super::{ZERO, aes, solved, texts, url_of};

const ONE: &str = "04A39493CC8680";
const TWO: &str = "04A39493CC8681";

/// Blue Bite's form in clear.
const PLAIN: &str = "https://m.example.com/{slug}?uid={uid}&token={counter}{mac}";
/// Blue Bite's form with encrypted PICC data.
const ENCRYPTED: &str = "https://m.example.com/{slug}?uid={picc}&token={mac}";

/// Pairs of names in the forms that are out there.
const NAMES: [(&str, &str); 11] = [
    ("eeeee", "fffff"),
    ("nilpps", "eeeee"),
    ("AbCdEf", "GhIjKl"),
    ("AbCdEfGh", "IjKlMnOp"),
    ("AABB12", "AABB13"),
    ("AABBCCDDEEFF0011", "AABBCCDDEEFF0012"),
    ("000041", "000042"),
    ("1042", "1043"),
    ("abc_123", "abc_124"),
    ("BOTTLE-ONE", "BOTTLE-TWO"),
    ("maxi", "x-b-x-c"),
];

fn at(form: &str, name: &str) -> String {
    form.replace("{slug}", name)
}

#[test]
fn a_name_in_one_url_of_blue_bite_s_form_is_a_slug_or_literal() {
    for form in [PLAIN, ENCRYPTED] {
        for (name, other) in NAMES {
            for name in [name, other] {
                let literal = at(form, name);
                for reads in [1, 2] {
                    let urls: Vec<_> = (1..=reads)
                        .map(|counter| url_of(&literal, ONE, None, counter))
                        .collect();
                    let urls: Vec<&str> = urls.iter().map(|url| &**url).collect();
                    let found = solved(&urls, &[aes(ZERO)], &[]);
                    assert_eq!(found.certainty, Certainty::Narrowed, "{literal}: {found:?}");
                    let candidates = found.candidates.iter();
                    let texts: Vec<_> = candidates
                        .map(|format| (&*format.settings.template, format.proved_by))
                        .collect();
                    // The likelier one is first.
                    assert_eq!(texts, [(form, urls.len()), (&*literal, urls.len())]);

                    let found = solved(&urls, &[], &[]);
                    assert_eq!(found.certainty, Certainty::Narrowed, "{literal}: {found:?}");
                    let mut candidates = found.candidates.iter();
                    assert!(candidates.all(|format| format.settings.template == form));
                }
            }
        }
    }
}

#[test]
fn two_names_in_one_place_are_slugs() {
    for form in [
        PLAIN,
        ENCRYPTED,
        "https://m.example.com/id/{slug}?m={uid}x{counter}x{mac}",
        "https://m.example.com/{slug}/{picc}/{mac}",
        "https://m.example.com/{slug}/en?p={picc}&c={mac}&lang=en",
    ] {
        for (name, other) in NAMES {
            for (first, second) in [(name, other), (other, name)] {
                let urls = [
                    url_of(&at(form, first), ONE, None, 7),
                    url_of(&at(form, second), TWO, None, 9),
                ];
                let found = texts(&urls, &[aes(ZERO)]);
                let proved = (Certainty::Proved, vec![form.to_owned()]);
                assert_eq!(found, proved, "{first} and {second}");
                let (certainty, texts) = texts(&urls, &[]);
                assert_eq!(certainty, Certainty::Narrowed, "{urls:?}");
                assert!(texts.iter().any(|text| text == form), "{urls:?}: {texts:?}");
            }
        }
    }
}

#[test]
fn a_name_like_a_value_of_a_chip_is_a_slug_with_file_keys_of_their_own_too() {
    const OWN: [&str; 2] = [
        "11111111111111111111111111111111",
        "22222222222222222222222222222222",
    ];
    let template = TemplateSettings::new(PLAIN, Technology::Ntag424Dna);
    let template = Template::new(template).unwrap();
    let urls = [("AABB12", ONE, OWN[0]), ("AABB13", TWO, OWN[1])].map(|(name, uid, file)| {
        let keys = InlayKeys::Aes(Keys {
            meta: None,
            file: AesKey::from_hex(file).unwrap(),
        });
        let read = tapdesk_service::inlay::check::Read {
            uid: uid.parse().unwrap(),
            counter: 5,
            keys: &keys,
            picc: None,
            tamper: "",
            file_data: &[],
            random: [5; 24],
        };
        template.url(Some(name), &template.make_code(Some(name), &read).unwrap())
    });
    let found = texts(&urls, &OWN.map(aes));
    assert_eq!(found, (Certainty::Proved, vec![PLAIN.to_owned()]));
}

/// Words of an address, single letters, versions and names of chips are the same for all tags.
#[test]
fn words_of_an_address_are_no_names() {
    for word in [
        "v",
        "v2",
        "t",
        "r",
        "B",
        "tag",
        "products",
        "Verify",
        "424dna",
        "my424dna",
        "ntag424",
        "NTAG424DNA",
    ] {
        for form in [PLAIN, ENCRYPTED] {
            let literal = at(form, word);
            for chips in [&[ONE][..], &[ONE, ONE], &[ONE, TWO]] {
                let urls: Vec<_> = (1..)
                    .zip(chips)
                    .map(|(counter, uid)| url_of(&literal, uid, None, counter))
                    .collect();
                let found = texts(&urls, &[aes(ZERO)]);
                let proved = (Certainty::Proved, vec![literal.clone()]);
                assert_eq!(found, proved, "{urls:?}");
            }
        }
    }
    // Two chips share the text, so it names none of them, whatever its form.
    let literal = at(PLAIN, "eeeee");
    let urls = [(ONE, 1), (TWO, 2)].map(|(uid, counter)| url_of(&literal, uid, None, counter));
    let proved = (Certainty::Proved, vec![literal]);
    assert_eq!(texts(&urls, &[aes(ZERO)]), proved);
}

#[test]
fn names_without_a_code_are_slugs() {
    for urls in [
        &["https://mtag.io/eeeee"][..],
        &["https://mtag.io/AbCdEf"],
        &["https://mtag.io/eeeee", "https://mtag.io/fffff"],
    ] {
        let found = solved(urls, &[], &[]);
        assert_eq!(found.certainty, Certainty::Narrowed, "{found:?}");
        assert_eq!(
            found.candidates[0].settings.template,
            "https://mtag.io/{slug}"
        );
    }
}

/// It does not matter whether the tag's name is a slug or literal.
#[test]
fn values_that_the_picc_data_lack_are_named_beside_a_name() {
    let template = TemplateSettings::new(at(ENCRYPTED, "njaix4"), Technology::Ntag424Dna);
    let template = Template::new(template).unwrap();
    let uid = ONE.parse().unwrap();
    let keys = InlayKeys::Aes(Keys {
        meta: None,
        file: AesKey::from_hex(ZERO).unwrap(),
    });
    for (named, counter, says) in [
        (Some(uid), None, "contain no read counter"),
        (None, Some(7), "contain no UID"),
    ] {
        let picc = Mirrored {
            uid: named,
            counter,
        };
        let read = tapdesk_service::inlay::check::Read {
            uid,
            counter: 7,
            keys: &keys,
            picc: Some(picc),
            tamper: "",
            file_data: &[],
            random: [5; 24],
        };
        let url = template.url(None, &template.make_code(None, &read).unwrap());
        let found = solved(&[&url], &[aes(ZERO)], &[]);
        assert!(found.candidates.len() > 1, "{found:?}");
        let words: Vec<_> = found.remarks.iter().map(ToString::to_string).collect();
        let [only] = words.as_slice() else {
            panic!("{words:?}");
        };
        assert!(only.contains(says), "{only}");
    }
}
