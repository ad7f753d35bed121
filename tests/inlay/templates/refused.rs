//! Templates that are refused, with the position of each error.

use tapdesk_service::inlay::technology::{Mode, Technology};
use tapdesk_service::inlay::template::{MacStart, Template, TemplateError, TemplateSettings};

use super::{TWO, refused, settings};

/// A wrong template, and the beginning of its error message.
const REFUSED: &[(&str, &str)] = &[
    (
        "tags.example.com/{picc}{mac}",
        "A template begins with https://",
    ),
    ("https:///{picc}{mac}", "Character 9: the host"),
    ("https://.example/{picc}{mac}", "Character 9: the host"),
    ("https://x.example:8a/{picc}{mac}", "Character 20: the host"),
    (
        "https://x.example:65536/{picc}{mac}",
        "Character 18: the host",
    ),
    ("https://256.0.2.1/{picc}{mac}", "Character 9: the host"),
    ("https://0x100000000/{picc}{mac}", "Character 9: the host"),
    ("https://{slug}.0x1/{picc}{mac}", "Character 9: the host"),
    ("https://user@x.example/{picc}{mac}", "Character 13: '@'"),
    (
        "https://{picc}.example/{mac}",
        "Character 9: {picc} cannot stand in the host",
    ),
    (
        "https://a{slug}.example/{picc}{mac}",
        "Character 10: {slug} cannot stand in the host",
    ),
    ("https://[::g]/{picc}{mac}", "Character 9: the host"),
    ("https://[::1%25a]/{picc}{mac}", "Character 9: the host"),
    ("https://[::1/{picc}{mac}", "Character 11: the host"),
    ("https://[::1]x/{picc}{mac}", "Character 9: the host"),
    ("https://[::1]:x/{picc}{mac}", "Character 15: the host"),
    (
        "https://[{slug}::1]/{picc}{mac}",
        "Character 10: {slug} cannot stand in the host",
    ),
    ("https://::1/{picc}{mac}", "Character 10: the host"),
    // A Cyrillic a, which looks like the Latin one.
    (
        "https://ex\u{430}mple.com/{picc}{mac}",
        "Character 11: '\u{430}'",
    ),
    ("https://x.example/\u{ff1f}{picc}{mac}", "Character 19"),
    ("https://x.example/a b/{picc}{mac}", "Character 20: ' '"),
    (
        "https://x.example/[^a]*(b+)+$/{picc}{mac}",
        "Character 20: '^'",
    ),
    (
        "https://x.example/%4/{picc}{mac}",
        "Character 19: two hex digits",
    ),
    (
        "https://x.example/%{mac}{picc}",
        "Character 19: two hex digits",
    ),
    (
        "https://x.example/{picc}{mac}#top",
        "Character 30: a browser does not send",
    ),
    (
        "https://x.example/../{picc}{mac}",
        "Character 19: the segments . and ..",
    ),
    (
        "https://x.example/%2e%2E/{picc}{mac}",
        "Character 19: the segments . and ..",
    ),
    (
        "https://x.example/{picc}{mac}{picc}",
        "Character 30: {picc} stands in the template twice",
    ),
    (
        "https://x.example/{PICC}{mac}",
        "Character 19: \"{PICC}\" is no placeholder",
    ),
    (
        "https://x.example/{.*}{picc}{mac}",
        "Character 19: \"{.*}\" is no placeholder",
    ),
    (
        "https://x.example/{picc{mac}",
        "Character 19: \"{picc{mac}\" is no placeholder",
    ),
    (
        "https://x.example/{picc}{mac",
        "Character 25: a brace has no partner",
    ),
    (
        "https://x.example/picc}{mac}",
        "Character 23: a brace has no partner",
    ),
    (
        "https://x.example/{slug}{*}/{picc}{mac}",
        "Character 25: {*} makes this ambiguous",
    ),
    (
        "https://x.example/{*}-{*}/{picc}{mac}",
        "Character 23: {*} makes this ambiguous",
    ),
    (
        "https://x.example/?a{uid}={picc}&m={mac}",
        "Character 21: {uid} cannot be part of a parameter's name",
    ),
    (
        "https://x.example/?m={picc}&%6D={mac}",
        "Character 29: the parameter \"m\" stands in the template twice",
    ),
    (
        "https://x.example/?{picc}&{mac}",
        "Character 27: the parameter \"\" stands in the template twice",
    ),
    ("https://x.example/{picc}", "{mac} is missing"),
    ("https://x.example/{mac}", "{picc} is missing"),
    ("https://x.example/{counter}{mac}", "{slug} is missing"),
    (
        "https://x.example/{uid}{picc}{mac}",
        "Character 19: {uid} cannot stand beside {picc}",
    ),
    (
        "https://x.example/{picc}{tamper}{mac}",
        "Character 25: ntag424dna does not write {tamper}",
    ),
    (
        "https://x.example/{picc}{enc}{mac}",
        "{enc} has a number of characters",
    ),
];

#[test]
fn what_cannot_be_read_in_one_way_is_refused_with_its_place() {
    let long = format!("https://x.example/{}/{{picc}}{{mac}}", "a".repeat(300));
    let many = format!("https://x.example/{}", "{uid}".repeat(10_000));
    let long = [
        (&*long, "The URL needs"),
        (&*many, "A template has at most"),
    ];
    for &(text, expected) in REFUSED.iter().chain(&long) {
        let error = refused(text).to_string();
        assert!(error.starts_with(expected), "{text}: {error}");
        assert!(error.ends_with('.'), "{error}");
    }
}

/// The file of an NTAG 424 DNA has 256 bytes, 7 of them before the URL. On a Type 2 tag only the
/// record's size is known.
#[test]
fn a_url_has_room_in_the_file_of_its_chip() {
    for (technology, code, most) in [
        (Technology::Ntag424Dna, "{picc}{mac}", 249),
        (Technology::Ntag424DnaTt, "{picc}{mac}", 249),
        (Technology::Ntag223Dna, "{uid}x{counter}x{mac}", 254),
    ] {
        let of = |length: usize| {
            let code_length = if code.starts_with("{picc}") { 48 } else { 38 };
            let rest = length - "x.example//".len() - code_length;
            let text = format!("https://x.example/{}/{code}", "a".repeat(rest));
            Template::new(TemplateSettings::new(text, technology))
        };
        assert!(of(most).is_ok(), "{technology:?}");
        assert_eq!(
            of(most + 1),
            Err(TemplateError::TooLongForChip {
                length: most + 1,
                max: most
            })
        );
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "each refusal, one after the other")]
fn what_no_chip_writes_is_refused() {
    let enc = settings("https://x.example/{picc}/{enc}/{mac}");
    let refused = |settings| Template::new(settings).unwrap_err().to_string();
    let member = |settings| Template::new(settings).unwrap_err().field();
    let with = |enc_length, mac_from| TemplateSettings {
        enc_length: Some(enc_length),
        mac_from,
        ..enc.clone()
    };
    assert_eq!(member(with(33, MacStart::Enc)), "enc_length");
    assert_eq!(member(with(0, MacStart::Enc)), "enc_length");
    // Longer than the file of a chip, or than any memory.
    for length in [256, 1 << 40, usize::MAX & !31] {
        assert_eq!(member(with(length, MacStart::Enc)), "enc_length");
    }
    let outside = refused(with(32, MacStart::None));
    assert!(
        outside.starts_with("Character 26: {enc} lies inside the MAC's input"),
        "{outside}"
    );
    assert!(Template::new(with(32, MacStart::Picc)).is_ok());
    assert_eq!(member(with(32, MacStart::Counter)), "mac_from");
    assert_eq!(member(with(32, MacStart::Offset(250))), "mac_from");
    assert!(Template::new(with(32, MacStart::Offset(0))).is_ok());

    let any = TemplateSettings {
        mac_from: MacStart::Picc,
        ..settings("https://x.example/{picc}/{*}/{mac}")
    };
    assert!(refused(any).starts_with("Character 26: {*} cannot stand inside the MAC's input"));
    let behind = TemplateSettings {
        mac_from: MacStart::Uid,
        ..settings("https://x.example/{mac}{uid}{counter}")
    };
    assert_eq!(member(behind), "mac_from");

    let tamper = |technology, tamper_at| TemplateSettings {
        technology,
        tamper_at: Some(tamper_at),
        ..with(32, MacStart::Enc)
    };
    assert!(Template::new(tamper(Technology::Ntag424DnaTt, 14)).is_ok());
    assert_eq!(member(tamper(Technology::Ntag424DnaTt, 15)), "tamper_at");
    assert_eq!(
        member(tamper(Technology::Ntag424DnaTt, usize::MAX)),
        "tamper_at"
    );
    assert_eq!(member(tamper(Technology::Ntag424Dna, 0)), "tamper_at");

    for (text, technology, expected) in [
        ("https://x.example/{slug}?m={uid}", Technology::Ntag210, ""),
        (
            "https://x.example/?m={uid}",
            Technology::Ntag213,
            "{slug} is missing",
        ),
        (
            "https://x.example/{slug}?m={uid}x{counter}",
            Technology::Ntag212,
            "Character 34: ntag212 does not write {counter}",
        ),
        (
            "https://x.example/{slug}?m={uid}-{counter}",
            Technology::Ntag213,
            "Character 28: ntag213 writes its values in one run: {uid}x{counter}.",
        ),
        (
            "https://x.example/{slug}?m={counter}x{uid}",
            Technology::Ntag213,
            "Character 28: ntag213 writes its values in one run",
        ),
        (
            "https://x.example/?m={uid}x{counter}x{mac}",
            Technology::Ntag224Dna,
            "",
        ),
        (
            "https://x.example/?m={uid}x{mac}",
            Technology::Ntag224Dna,
            "{counter} is missing",
        ),
        (
            "https://x.example/?d={uid}{tamper}{counter}{mac}",
            Technology::Sic43Nt,
            "",
        ),
        (
            "https://x.example/?d={uid}{counter}{mac}",
            Technology::Sic43Nt,
            "{tamper} is missing",
        ),
    ] {
        match Template::new(TemplateSettings::new(text, technology)) {
            Ok(_) => assert_eq!(expected, "", "{text}"),
            Err(error) => assert!(
                !expected.is_empty() && error.to_string().starts_with(expected),
                "{text}: {error}"
            ),
        }
    }
    let lrp = TemplateSettings {
        mode: Mode::Lrp,
        ..TemplateSettings::new("https://x.example/{slug}?m={uid}", Technology::Ntag213)
    };
    assert_eq!(member(lrp.clone()), "mode");
    assert_eq!(refused(lrp), "ntag213 has no LRP.");
    let prefix = TemplateSettings {
        ndef_prefix: Some(2),
        ..settings(TWO)
    };
    assert_eq!(member(prefix), "ndef_prefix");
}
