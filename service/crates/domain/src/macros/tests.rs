use super::*;

/// A tag and an interaction that have a value for most macros.
pub(super) struct Example;

impl Scope for Example {
    fn value(&self, name: &Macro) -> Option<Cow<'_, str>> {
        let value = match name {
            Macro::InteractionRk => "KEY44",
            Macro::InteractionId => "90412",
            Macro::InteractionTime => "1767225600",
            Macro::TechValue => "n",
            Macro::TechName => "NFC",
            Macro::VerificationSupported | Macro::TamperSupported => "true",
            Macro::VerificationResult | Macro::TagTitle => "",
            Macro::Tampered | Macro::TamperResult => "false",
            Macro::InteractionCounter => "12",
            Macro::InlayUid => "04C767F2066180",
            Macro::GroupName | Macro::BatchName => "Lot 3",
            Macro::BatchCode => "L03",
            Macro::ProductName => "Grand Cru",
            Macro::ProductCode => "GC-21",
            Macro::ProductGtin => "04012345678901",
            Macro::Query(key) => return (key == "lang").then_some("de".into()),
            Macro::TagId => "41",
            Macro::TagSlug => "bottle-41",
            Macro::TagName => "Bottle 41",
            Macro::TagAttribute(key) | Macro::TagData(key) | Macro::TagVariable(key) => {
                return example_property(key);
            }
            Macro::DeviceCountry => "DE",
            Macro::LocationLat => "52.5",
            Macro::LocationLon => "13.4",
            Macro::VenueName | Macro::LabelNumber => return None,
        };
        Some(value.into())
    }
}

fn example_property(key: &str) -> Option<Cow<'static, str>> {
    let value = match key {
        "sku" => "A-1",
        "markup" => r#"<b title="x">'&'</b>"#,
        "template" => "{{ tag:id }}",
        "path" => "../a/b?c#d",
        "up" => "..",
        "dot" => ".",
        "name_rk" => "rk",
        "umlaut" => "ü",
        "url" => "https://example.com/a?b=c#d",
        "script" => "javascript:alert(1)",
        "long" => return Some("/".repeat(4096).into()),
        "half" => return Some("y".repeat(2000).into()),
        _ => return None,
    };
    Some(value.into())
}

fn render(template: &str, encoding: Encoding) -> String {
    Template::parse(template).render(&Example, encoding)
}

#[test]
fn every_name_of_the_decisions_is_a_macro() {
    for (name, value) in [
        ("interaction:rk", "KEY44"),
        ("interaction:id", "90412"),
        ("interaction:time", "1767225600"),
        ("interaction:counter", "12"),
        ("inlay:uid", "04C767F2066180"),
        ("group:name", "Lot 3"),
        ("product:name", "Grand Cru"),
        ("product:code", "GC-21"),
        ("product:gtin", "04012345678901"),
        ("batch:name", "Lot 3"),
        ("batch:code", "L03"),
        ("query:lang", "de"),
        ("query:other", ""),
        ("interaction:tech:value", "n"),
        ("interaction:tech:name", "NFC"),
        ("interaction:tampered", "false"),
        ("interaction:tamper:result", "false"),
        ("interaction:tamper:supported", "true"),
        ("interaction:verification:supported", "true"),
        ("interaction:verification:result", ""),
        ("tag:id", "41"),
        ("tag:name", "Bottle 41"),
        ("tag:title", ""),
        ("tag:attribute:sku", "A-1"),
        ("tag:data:sku", "A-1"),
        ("tag:variable:sku", "A-1"),
        ("device:country", "DE"),
        ("location:lat", "52.5"),
        ("location:lon", "13.4"),
        ("location:venue:name", ""),
    ] {
        let parsed = name.parse::<Macro>();
        assert_eq!(parsed.map(|parsed| parsed.to_string()).as_deref(), Ok(name));
        assert_eq!(render(&format!("{{{{{name}}}}}"), Encoding::Text), value);
    }
}

#[test]
fn a_name_that_is_none_is_empty_text() {
    for name in [
        "",
        "interaction",
        "interaction:key",
        "INTERACTION:RK",
        "interaction:rk:",
        "interaction :rk",
        "tag:variable",
        "tag:variable:",
        "tag:attributes:sku",
        "rk",
    ] {
        assert_eq!(name.parse::<Macro>(), Err(UnknownMacro), "{name}");
        assert_eq!(
            render(&format!("<{{{{{name}}}}}>"), Encoding::Text),
            "<>",
            "{name}"
        );
    }
}

#[test]
fn templates_read_as_the_decisions_say() {
    for (template, text) in [
        ("", ""),
        ("no macro", "no macro"),
        ("{{tag:id}}", "41"),
        ("{{ tag:id }}", "41"),
        ("{{\t\n tag:id\u{a0}}}", "41"),
        ("a{{tag:id}}b{{tag:id}}c", "a41b41c"),
        ("{{tag:id}}{{tag:id}}", "4141"),
        // Fallbacks.
        (r#"{{ tag:title || "none" }}"#, "none"),
        (r#"{{tag:title||"none"}}"#, "none"),
        (r#"{{ tag:id || "none" }}"#, "41"),
        ("{{ tag:title || location:venue:name || tag:id }}", "41"),
        (r#"{{ tag:title || "" || "last" }}"#, "last"),
        (r#"{{ unknown || "known" }}"#, "known"),
        (r#"{{ "only text" }}"#, "only text"),
        (r#"{{ tag:title || " kept " }}"#, " kept "),
        (r#"{{ tag:title || "a}}b{{c||d" }}"#, "a}}b{{c||d"),
        (
            r#"{{ tag:title || "\"quoted\" \\ \n" }}"#,
            r#""quoted" \ \n"#,
        ),
        (r#"{{ || "x" || }}"#, "x"),
        ("{{ tag:title || }}", ""),
        ("{{}}", ""),
        // Literal text.
        (r"\{{ tag:id }}", "{{ tag:id }}"),
        (r"\{{tag:id}} {{tag:id}}", "{{tag:id}} 41"),
        (r"a\b \\{{ tag:id }}", r"a\b \{{ tag:id }}"),
        ("{{ tag:id", "{{ tag:id"),
        ("{{ tag:id }", "{{ tag:id }"),
        ("{{ tag:id } }", "{{ tag:id } }"),
        ("{{", "{{"),
        ("}}", "}}"),
        ("{ {tag:id} }", "{ {tag:id} }"),
        (r#"{{ tag:id || "open }}"#, r#"{{ tag:id || "open }}"#),
        ("{{ tag:id | tag:name }}", "{{ tag:id | tag:name }}"),
        (r#"{{ tag:id "x" }}"#, r#"{{ tag:id "x" }}"#),
        (r#"{{ "x" tag:id }}"#, r#"{{ "x" tag:id }}"#),
        // An expression directly after text that is not one.
        ("{{ open {{ tag:id }}", "{{ open 41"),
        ("{{{tag:id}}}", "{41}"),
        ("{{{{tag:id}}}}", "{{41}}"),
        // A value is never expanded again.
        ("{{ tag:data:template }}", "{{ tag:id }}"),
    ] {
        assert_eq!(render(template, Encoding::Text), text, "{template}");
        assert_eq!(Template::parse(template).source(), template);
    }
}

#[test]
fn macros_are_told_in_the_order_of_the_text() {
    let template = Template::parse(r#"{{tag:id}} x {{ unknown || tag:variable:a || "b" }}"#);
    let names: Vec<_> = template.macros().cloned().collect();
    assert_eq!(names, [Macro::TagId, Macro::TagVariable("a".to_owned())]);
    assert!(template.uses(|name| matches!(name, Macro::TagVariable(_))));
    assert!(!template.uses(|name| matches!(name, Macro::TagData(_))));
}

#[test]
fn values_and_fallbacks_are_encoded_for_where_they_stand() {
    let template = r#"<i>{{ tag:data:markup }}</i>{{ tag:title || "<é>" }}"#;
    assert_eq!(
        render(template, Encoding::Text),
        r#"<i><b title="x">'&'</b></i><é>"#
    );
    assert_eq!(
        render(template, Encoding::Html),
        "<i>&#60;b title=&#34;x&#34;&#62;&#39;&#38;&#39;&#60;/b&#62;</i>&#60;é&#62;"
    );
    assert_eq!(
        render(template, Encoding::Url),
        "<i>%3Cb%20title%3D%22x%22%3E%27%26%27%3C%2Fb%3E</i>%3C%C3%A9%3E"
    );
}

#[test]
fn in_a_url_only_unreserved_characters_stand_for_themselves() {
    let ascii: String = (0..=0x7Fu8).map(char::from).collect();
    let encoded = Encoding::Url.encode(ascii.as_str().into());
    let kept: String = encoded
        .split('%')
        .enumerate()
        .map(|(i, run)| if i == 0 { run } else { &run[2..] })
        .collect();
    assert_eq!(
        kept,
        "-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~"
    );
}
