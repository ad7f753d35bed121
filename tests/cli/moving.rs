//! The pages of the guide "Moving from another service", run exactly as written: each ends with a
//! verified tap at the address of the other service.

use std::fs;

use serde_json::{Value, json};
use tapdesk_service::inlay::Technology;
use tapdesk_service::inlay::template::{Template, TemplateSettings};

use super::tour::{blocks, take};

/// A page, and the outputs of its commands in order.
struct Page {
    file: &'static str,
    text: &'static str,
    expected: &'static [&'static str],
}

macro_rules! pages {
    ($($name:ident: $file:literal, $expected:expr;)+) => {
        /// The pages that have a test.
        const FILES: &[&str] = &[$($file),+];

        $(
            #[tokio::test]
            async fn $name() {
                let text = include_str!(concat!("../../service/docs/guides/moving/", $file));
                moves(&Page { file: $file, text, expected: &$expected }).await;
            }
        )+
    };
}

pages! {
    from_blue_bite: "bluebite.md", [
        "Proved",
        "https://m.example.com/{slug}?uid={uid}&token={counter}{mac}",
        "2 tags would be created",
        "2 tags created",
        r#""tag_verified":true"#,
    ];
    from_ixkio: "ixkio.md", [
        "Proved",
        "https://shop.example.com/?x={slug}&n={counter}&e={mac}",
        "2 tags would be created",
        "2 tags created",
        r#""tag_verified":true"#,
    ];
    from_boltcard: "boltcard.md", [
        "Proved",
        "lnurlw://card.yourdomain.com/ln?p={picc}&c={mac}",
        "1 tag would be created",
        "1 tag created",
        r#""tag_verified":true"#,
        "1 tag created",
        r#""tag_verified":true"#,
    ];
    from_gototags: "gototags.md", [
        "Proved",
        "https://go.example.com/n?uid={uid}&ctr={counter}&cmac={mac}",
        "2 tags would be created",
        "2 tags created",
        r#""tag_verified":true"#,
    ];
    from_sdm_backend: "sdm-backend.md", [
        "https://sdm.example.com/tag?e={picc}{enc}{mac}",
        r#""tag_verified":true"#,
        "1 tag would be created",
        "1 tag created",
    ];
    from_a_list_of_ones_own: "own-list.md", [
        "Proved",
        "https://tags.example.com/424?e={picc}&c={mac}",
        "2 tags would be created",
        "2 tags created",
        r#""tag_verified":true"#,
    ];
}

async fn moves(page: &Page) {
    let commands = blocks(page.text);
    assert!(
        commands.contains("\ntap "),
        "{} ends without a tap",
        page.file
    );
    take(&commands, page.expected).await;
}

/// After a move and one tap, the command of "Roll back" lists the counters, the tap's included.
#[tokio::test]
async fn rolling_back_lists_the_last_counter_of_each_chip() {
    let page = include_str!("../../service/docs/guides/moving/bluebite.md");
    let map = include_str!("../../service/docs/guides/moving.md");
    let commands = format!("{}{}", blocks(page), blocks(map));
    let chips = [
        r#""tag_verified":true"#,
        r#""uid":"04A1B2C3D4E580""#,
        r#""last_counter":8"#,
        r#""uid":"04A1B2C3D4E680""#,
        r#""last_counter":7"#,
    ];
    take(&commands, &chips).await;
}

/// The settings of the template in a row of a table: its text, and the members beside it. `None` if
/// the row has no template.
fn settings(row: &str) -> Option<Value> {
    let cell = row.split('|').nth(2)?;
    let spans: Vec<_> = cell.split('`').skip(1).step_by(2).collect();
    let text = spans.iter().find(|span| span.contains('{'))?;
    let address = match text.chars().next() {
        Some('?') => "https://tags.example/n",
        Some('/') => "https://tags.example",
        _ => "",
    };
    let members = spans.iter().filter(|span| span.starts_with('"'));
    let members: Vec<_> = members.copied().collect();
    let members = format!("{{{}}}", members.join(","));
    let members: Value = serde_json::from_str(&members).expect("members of a template");
    let mut settings = json!({
        "template": format!("{address}{text}"), "mode": "aes", "mac_from": "none",
        "ndef_prefix": null, "enc_length": null, "tamper_at": null, "lookup": null,
    });
    for (name, value) in members.as_object().expect("an object") {
        settings[name] = value.clone();
    }
    Some(settings)
}

/// A person copies a template from the tables of a page, with the members beside it.
#[test]
fn each_form_on_a_page_is_a_template_of_a_chip() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../service/docs/guides/moving");
    for file in FILES {
        let page = fs::read_to_string(format!("{folder}/{file}")).expect("the page");
        let forms: Vec<_> = page.lines().filter_map(settings).collect();
        assert!(!forms.is_empty(), "{file}");
        for form in forms {
            let is_of = |chip: &Technology| {
                let mut form = form.clone();
                form["technology"] = json!(chip);
                let settings: TemplateSettings = serde_json::from_value(form).expect("settings");
                Template::new(settings).is_ok()
            };
            assert!(Technology::ALL.iter().any(is_of), "{file}: {form}");
        }
    }
}

#[test]
fn each_page_has_a_test_and_is_on_the_map() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../service/docs/guides/moving");
    let pages = fs::read_dir(folder).expect("the pages").map(|page| {
        let name = page.expect("a page").file_name();
        name.into_string().expect("a plain name")
    });
    let mut pages: Vec<_> = pages.collect();
    pages.sort_unstable();
    let mut tested = FILES.to_vec();
    tested.sort_unstable();
    assert_eq!(pages, tested);
    let map = include_str!("../../service/docs/guides/moving.md");
    for page in pages {
        assert!(map.contains(&format!("(moving/{page})")), "{page}");
    }
}
