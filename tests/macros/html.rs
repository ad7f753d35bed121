//! Values in HTML and in plain text.

use proptest::prelude::*;
use tapdesk_service::macros::{Encoding, Template};
use tapdesk_tests::{cases, injections};

use crate::macros::Says;

/// The text that a browser reads from escaped HTML. Panics on anything that could be markup.
fn text_of(html: &str) -> String {
    assert!(!html.contains(['<', '>', '"', '\'']), "{html:?}");
    let mut runs = html.split('&');
    let mut text = runs.next().unwrap_or_default().to_owned();
    for run in runs {
        let reference = run.strip_prefix('#').and_then(|run| run.split_once(';'));
        let (number, rest) = reference.unwrap_or_else(|| panic!("a bare & in {html:?}"));
        text.extend(char::from_u32(number.parse().unwrap()));
        text += rest;
    }
    text
}

fn assert_text_stays_text(value: &str) {
    for (before, after) in [
        ("<p>", "</p>"),
        ("<a title=\"", "\">"),
        ("<a title='", "'>"),
        ("", ""),
    ] {
        for macros in [
            "{{ tag:variable:x }}",
            "{{tag:name}}",
            "{{ tag:data:x || \"y\" }}",
        ] {
            let template = Template::parse(&format!("{before}{macros}{after}"));
            let html = template.render(&Says(value), Encoding::Html);
            let inner = html
                .strip_prefix(before)
                .and_then(|html| html.strip_suffix(after));
            let expected = if value.is_empty() && macros.contains("||") {
                "y"
            } else {
                value
            };
            assert_eq!(text_of(inner.unwrap()), expected);

            let text = template.render(&Says(value), Encoding::Text);
            assert_eq!(text, format!("{before}{expected}{after}"));
        }
    }
}

#[test]
fn every_value_of_the_corpus_stays_text_in_html() {
    for value in injections() {
        assert_text_stays_text(&value);
    }
}

#[test]
fn a_fallback_is_encoded_like_a_value() {
    for value in injections() {
        let quoted = value.replace('\\', r"\\").replace('"', r#"\""#);
        let template = Template::parse(&format!("{{{{ tag:title || \"{quoted}\" }}}}"));
        assert_eq!(text_of(&template.render(&Says(""), Encoding::Html)), value);
        assert_eq!(template.render(&Says(""), Encoding::Text), value);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(500)))]

    #[test]
    fn any_value_stays_text_in_html(value in any::<String>()) {
        assert_text_stays_text(&value);
    }

    /// Parsing accepts any text. Without a value, the output is never longer than the input.
    #[test]
    fn every_text_is_a_template(text in r#"([{}|"\\ ]|tag:id|tag:variable:x|\{\{|\}\}|\PC){0,40}"#) {
        let template = Template::parse(&text);
        prop_assert_eq!(template.source(), &text);
        let rendered = template.render(&Says(""), Encoding::Text);
        prop_assert!(rendered.len() <= text.len());
        if !text.contains("{{") {
            prop_assert_eq!(&rendered, &text);
        }
    }

    /// A text is literal if each of its `{{` is escaped.
    #[test]
    fn an_escaped_text_is_literal(text in r#"([{} a"|]|tag:id){0,30}"#) {
        let escaped = text.replace("{{", r"\{{");
        prop_assert_eq!(Template::parse(&escaped).render(&Says("value"), Encoding::Text), text);
    }
}
