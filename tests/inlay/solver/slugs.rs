//! Texts of URLs that could be the slug of a tag, or the same for all tags.

use tapdesk_service::inlay::solver::Certainty;

use super::{ZERO, aes, texts, url_of};

/// UID, counter and MAC in clear, one after the other.
const MIRROR: &str = "{uid}x{counter}x{mac}";

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
