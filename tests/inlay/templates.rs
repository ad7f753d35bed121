//! The parsing, validation and matching of templates.

mod attribution;
mod overlap;
mod refused;

use tapdesk_service::inlay::technology::Technology;
use tapdesk_service::inlay::template::{
    Field, Filled, LayoutError, MacStart, MalformedCode, Request, Template, TemplateError,
    TemplateSettings,
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

    // A slug next to values: the values have fixed lengths, so there is only one way to parse it.
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

#[test]
fn braces_of_the_url_are_doubled() {
    let template = template("https://x.example/a{{b}}/{picc}{mac}");
    let url = format!("https://x.example/a{{b}}/{PICC}{MAC}");
    let code = read(&template, &url).unwrap().unwrap().unwrap();
    assert_eq!(template.url(None, &code), url);
}
