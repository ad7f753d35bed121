//! What a template says, refuses and catches.

use tapdesk_service::inlay::technology::{Mode, Technology};
use tapdesk_service::inlay::template::{
    Field, Filled, LayoutError, MacStart, MalformedCode, Request, RouteSegment, Template,
    TemplateError, TemplateSettings,
};
use tapdesk_service::inlay::{MacFrom, Mirror};

fn settings(text: &str) -> TemplateSettings {
    TemplateSettings::new(text, Technology::Ntag424Dna)
}

fn template(text: &str) -> Template {
    Template::new(settings(text)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> TemplateError {
    Template::new(settings(text)).expect_err(text)
}

fn read(template: &Template, url: &str) -> Option<Result<Option<Filled>, MalformedCode>> {
    let addressed = template.read(&Request::of_url(url).unwrap());
    addressed.map(|addressed| addressed.code)
}

const PICC: &str = "EF963FF7828658A599F3041510671E88";
const MAC: &str = "94EED9EE65337086";
const TWO: &str = "https://tags.example.com/v?picc_data={picc}&cmac={mac}";

#[test]
fn a_template_says_what_chip_and_request_have() {
    let template = Template::new(TemplateSettings {
        mac_from: MacStart::Enc,
        enc_length: Some(32),
        ..settings("https://www.tags.example.com/v?picc_data={picc}&enc={enc}&cmac={mac}")
    });
    let template = template.unwrap();
    assert_eq!(template.ndef_prefix(), 2);
    let layout = template.layout(None).unwrap();
    assert_eq!(
        layout.offset(Field::Picc),
        Some(7 + "tags.example.com/v?picc_data=".len())
    );
    assert_eq!(layout.mac_input, layout.offset(Field::Enc));
    assert_eq!(
        layout.file[..2],
        u16::try_from(layout.file.len() - 2).unwrap().to_be_bytes()
    );
    assert!(template.proves_taps());
}

#[test]
fn parameters_come_in_any_order_and_among_others() {
    let template = template(TWO);
    let code = Filled::default()
        .with(Field::Picc, PICC)
        .with(Field::Mac, MAC);
    for url in [
        format!("https://tags.example.com/v?picc_data={PICC}&cmac={MAC}"),
        format!("http://TAGS.example.com:8080/v?cmac={MAC}&utm_source=x&picc_data={PICC}&x"),
        format!(
            "https://tags.example.com/v?picc_data={}&cmac={MAC}#top",
            PICC.to_lowercase()
        ),
        format!(
            "https://tags.example.com/%76?picc%5Fdata={PICC}&cmac=%39{}",
            &MAC[1..]
        ),
    ] {
        assert_eq!(read(&template, &url), Some(Ok(Some(code.clone()))), "{url}");
    }
}

#[test]
fn another_address_is_not_this_templates() {
    let template = template(TWO);
    for url in [
        format!("https://example.com/v?picc_data={PICC}&cmac={MAC}"),
        format!("https://tags.example.com.evil.example/v?picc_data={PICC}&cmac={MAC}"),
        format!("https://tags.example.com/V?picc_data={PICC}&cmac={MAC}"),
        format!("https://tags.example.com/v/?picc_data={PICC}&cmac={MAC}"),
        format!("https://tags.example.com/v%2F?picc_data={PICC}&cmac={MAC}"),
        format!("https://tags.example.com/?picc_data={PICC}&cmac={MAC}"),
    ] {
        assert_eq!(read(&template, &url), None, "{url}");
    }
}

#[test]
fn a_code_with_something_wrong_is_malformed() {
    let template = template(TWO);
    let base = "https://tags.example.com/v";
    assert_eq!(read(&template, base), Some(Ok(None)));
    assert_eq!(
        read(&template, &format!("{base}?cmac")),
        Some(Err(MalformedCode::Shape("cmac".into())))
    );
    let cases = [
        (
            format!("picc_data={PICC}"),
            MalformedCode::Missing(Field::Mac),
        ),
        (
            format!("picc_data={PICC}&cmac={MAC}&cmac={MAC}"),
            MalformedCode::Repeated("cmac".into()),
        ),
        (
            format!("picc_data={PICC}&cmac={MAC}0"),
            MalformedCode::Shape("cmac".into()),
        ),
        (
            format!("picc_data={PICC}&cmac={}G", &MAC[1..]),
            MalformedCode::NotHex(Field::Mac),
        ),
        (
            format!("picc_data={PICC}&cmac={}é", &MAC[2..]),
            MalformedCode::NotHex(Field::Mac),
        ),
        (
            format!("picc_data={PICC}&cmac=%00{}", &MAC[1..]),
            MalformedCode::NotHex(Field::Mac),
        ),
    ];
    for (query, fault) in cases {
        assert_eq!(
            read(&template, &format!("{base}?{query}")),
            Some(Err(fault)),
            "{query}"
        );
    }
}

#[test]
fn placeholders_touch_and_stand_in_paths() {
    let template = template("https://x.example/{slug}/{picc}{mac}");
    let url = format!("https://x.example/bottle-41/{PICC}{MAC}");
    let addressed = template.read(&Request::of_url(&url).unwrap()).unwrap();
    assert_eq!(addressed.slug.as_deref(), Some("bottle-41"));
    let code = addressed.code.unwrap().unwrap();
    assert_eq!(
        (code.get(Field::Picc), code.get(Field::Mac)),
        (Some(PICC), Some(MAC))
    );
    assert_eq!(template.url(Some("bottle-41"), &code), url);

    // A slug beside values: they have their lengths, so there is one way to read it.
    let template = self::template("https://{slug}.x.example/{*}-{picc}{mac}?q={*}");
    let url = format!("https://bottle-41.x.example/a-b-{PICC}{MAC}?q=1");
    let addressed = template.read(&Request::of_url(&url).unwrap()).unwrap();
    assert_eq!(addressed.slug.as_deref(), Some("bottle-41"));
    assert_eq!(addressed.code, Ok(Some(code)));
    assert_eq!(template.layout(Some("bottle-41")), Err(LayoutError::Any));
}

#[test]
fn a_parameter_without_a_name() {
    let text = "https://x.example/?{uid}x{counter}x{mac}";
    let template = Template::new(TemplateSettings::new(text, Technology::Ntag223Dna)).unwrap();
    let run = format!("04E141124C2880x003F31x{MAC}");
    let code = read(&template, &format!("https://x.example?a=1&{run}")).unwrap();
    assert_eq!(code.unwrap().unwrap().counter(), Some(0x3F31));
    assert_eq!(read(&template, "https://x.example/?04E1"), Some(Ok(None)));
    let twice = format!("https://x.example/?{run}&{run}");
    assert_eq!(
        read(&template, &twice),
        Some(Err(MalformedCode::Repeated(String::new())))
    );
}

#[test]
fn the_macs_text_is_the_templates() {
    let template = Template::new(TemplateSettings {
        mac_from: MacStart::Offset(7),
        ..settings("https://Tags.Example.com/%7Ev?p={picc}&m={mac}")
    });
    let template = template.unwrap();
    let sent = format!(
        "https://tags.example.com/~v?m={MAC}&utm=1&p={}",
        PICC.to_lowercase()
    );
    let code = read(&template, &sent).unwrap().unwrap().unwrap();
    let input = format!("Tags.Example.com/%7Ev?p={PICC}&m=");
    assert_eq!(template.mac_input(None, &code), input.as_bytes());
}

#[test]
fn the_canonical_form_is_the_first_template() {
    for (mirror, mac_from) in [
        (Mirror::Plain, MacFrom::None),
        (Mirror::Plain, MacFrom::Uid),
        (Mirror::Encrypted, MacFrom::None),
        (Mirror::Encrypted, MacFrom::Uid),
    ] {
        let template = Template::canonical("http://127.0.0.1:8787/t", mirror, mac_from).unwrap();
        let layout = template.layout(Some("bottle-41")).unwrap();
        let text = String::from_utf8(layout.file[7..].to_vec()).unwrap();
        assert!(
            text.starts_with("127.0.0.1:8787/t/bottle-41?uid=0000"),
            "{text}"
        );
        let empty = layout.mac_input == layout.offset(Field::Mac);
        assert_eq!(empty, mac_from == MacFrom::None);
    }
}

/// What is wrong with a template, and the beginning of the sentence that says so.
const REFUSED: &[(&str, &str)] = &[
    (
        "tags.example.com/{picc}{mac}",
        "A template begins with https://",
    ),
    ("https:///{picc}{mac}", "Character 9: the host"),
    ("https://.example/{picc}{mac}", "Character 9: the host"),
    ("https://x.example:8a/{picc}{mac}", "Character 20: the host"),
    ("https://user@x.example/{picc}{mac}", "Character 13: '@'"),
    (
        "https://{picc}.example/{mac}",
        "Character 9: {picc} cannot stand in the host",
    ),
    (
        "https://a{slug}.example/{picc}{mac}",
        "Character 10: {slug} cannot stand in the host",
    ),
    // Cyrillic a, which looks like the Latin one.
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
        "Character 25: a brace stands alone",
    ),
    (
        "https://x.example/picc}{mac}",
        "Character 23: a brace stands alone",
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
    ("https://x.example/{picc}{enc}{mac}", "enc_length:"),
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

#[test]
fn braces_of_the_url_are_doubled() {
    let template = template("https://x.example/a{{b}}/{picc}{mac}");
    let url = format!("https://x.example/a{{b}}/{PICC}{MAC}");
    let code = read(&template, &url).unwrap().unwrap().unwrap();
    assert_eq!(template.url(None, &code), url);
}

#[test]
fn what_no_chip_writes_is_refused() {
    let enc = settings("https://x.example/{picc}/{enc}/{mac}");
    let refused = |settings| Template::new(settings).unwrap_err().to_string();
    let with = |enc_length, mac_from| TemplateSettings {
        enc_length: Some(enc_length),
        mac_from,
        ..enc.clone()
    };
    assert!(refused(with(33, MacStart::Enc)).starts_with("enc_length"));
    assert!(refused(with(0, MacStart::Enc)).starts_with("enc_length"));
    let outside = refused(with(32, MacStart::None));
    assert!(
        outside.starts_with("Character 26: {enc} lies inside the MAC's input"),
        "{outside}"
    );
    assert!(Template::new(with(32, MacStart::Picc)).is_ok());
    assert!(refused(with(32, MacStart::Counter)).starts_with("mac_from"));
    assert!(refused(with(32, MacStart::Offset(250))).starts_with("mac_from"));
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
    assert!(refused(behind).starts_with("mac_from"));

    let tamper = |technology, tamper_at| TemplateSettings {
        technology,
        tamper_at: Some(tamper_at),
        ..with(32, MacStart::Enc)
    };
    assert!(Template::new(tamper(Technology::Ntag424DnaTt, 14)).is_ok());
    assert!(refused(tamper(Technology::Ntag424DnaTt, 15)).starts_with("tamper_at"));
    assert!(refused(tamper(Technology::Ntag424DnaTt, usize::MAX)).starts_with("tamper_at"));
    assert!(refused(tamper(Technology::Ntag424Dna, 0)).starts_with("tamper_at"));

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
    assert_eq!(refused(lrp), "mode: ntag213 has no LRP.");
    let prefix = TemplateSettings {
        ndef_prefix: Some(2),
        ..settings(TWO)
    };
    assert!(refused(prefix).starts_with("ndef_prefix"));
}

#[test]
fn two_templates_that_match_one_url_are_known() {
    let cases = [
        ("https://x.example/v?p={picc}&m={mac}", true),
        ("http://X.EXAMPLE:80/v?other={picc}&m={mac}", true),
        ("https://y.example/v?p={picc}&m={mac}", false),
        ("https://x.example/w?p={picc}&m={mac}", false),
        ("https://x.example/v/{picc}{mac}", false),
        // A slug has 6 characters or more, and values have their lengths.
        ("https://x.example/{slug}?p={picc}&m={mac}", false),
        ("https://x.example/{picc}{mac}", false),
        ("https://x.example/{*}?p={picc}&m={mac}", true),
        ("https://{slug}.example/v?p={picc}&m={mac}", false),
    ];
    let first = template("https://x.example/v?p={picc}&m={mac}");
    for (text, overlaps) in cases {
        let other = template(text);
        assert_eq!(first.overlaps(&other), overlaps, "{text}");
        assert_eq!(other.overlaps(&first), overlaps, "{text}");
    }
    let pairs = [
        (
            "https://x.example/{slug}?p={picc}&m={mac}",
            "https://x.example/bottle-41?p={picc}&m={mac}",
            true,
        ),
        (
            "https://x.example/{slug}?p={picc}&m={mac}",
            "https://x.example/Bottle-41?p={picc}&m={mac}",
            false,
        ),
        (
            "https://x.example/a{picc}{mac}",
            "https://x.example/{picc}{mac}a",
            true,
        ),
        (
            "https://x.example/{picc}{mac}",
            "https://x.example/{uid}{counter}{mac}",
            false,
        ),
        (
            "https://x.example/?k=1&p={picc}&m={mac}",
            "https://x.example/?k=2&p={picc}&m={mac}",
            false,
        ),
        (
            "https://x.example/?k=1&p={picc}&m={mac}",
            "https://x.example/?p={picc}&m={mac}",
            true,
        ),
        (
            "https://{slug}.example/v?p={picc}&m={mac}",
            "https://bottle-41.example/v?p={picc}&m={mac}",
            true,
        ),
    ];
    for (a, b, overlaps) in pairs {
        assert_eq!(template(a).overlaps(&template(b)), overlaps, "{a} {b}");
    }
}

#[test]
fn a_template_that_could_catch_a_route_is_known() {
    use RouteSegment::{Any, Literal, Rest};
    let tag = [Literal("t"), Any];
    let admin = [Literal("admin"), Rest];
    let root = [Literal("")];
    for (text, route, overlaps) in [
        (
            "https://x.example/t/{slug}?p={picc}&m={mac}",
            &tag[..],
            true,
        ),
        ("https://x.example/{*}/{picc}{mac}", &tag, true),
        ("https://x.example/s/{slug}?p={picc}&m={mac}", &tag, false),
        ("https://x.example/{slug}?p={picc}&m={mac}", &admin, false),
        ("https://x.example/{*}?p={picc}&m={mac}", &admin, true),
        ("https://x.example/%61dmin/v1/{picc}{mac}", &admin, true),
        ("https://x.example?p={picc}&m={mac}", &root, true),
        ("https://x.example/v?p={picc}&m={mac}", &root, false),
    ] {
        assert_eq!(template(text).overlaps_route(route), overlaps, "{text}");
    }
}
