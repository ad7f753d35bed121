//! Values of a form's fields, checked like in a browser, for any sender.

use scraper::Html;
use serde_json::{Value, json};
use tapdesk_tests::{Answer, Answering as _, TestService, TestTag};

use crate::studio::dom::{all, key, one, text};
use crate::studio::tag_with;

const FIELDS: [(&str, &str); 7] = [
    ("name", "text"),
    ("story", "multiline"),
    ("mail", "email"),
    ("age", "number"),
    ("colour", "choice"),
    ("news", "checkbox"),
    ("agreed", "consent"),
];
/// A value for each field that a browser would send.
const GOOD: [&str; 7] = [
    "Ada",
    "Once\nupon",
    "ada@example.com",
    "36",
    "Red",
    "true",
    "true",
];

/// A service without a limit on refused requests.
async fn service() -> TestService {
    TestService::start_with(|options| options.settings.rate_limit = None).await
}

/// A tag with one form that has every kind of field, and that can be sent once.
async fn form(service: &TestService, more: Value) -> TestTag {
    let fields: Vec<_> = FIELDS
        .iter()
        .map(|(variable, kind)| {
            let mut field =
                json!({"label": format!("The {variable}"), "kind": kind, "variable": variable});
            if *kind == "choice" {
                field["choices"] = json!(["Red", "Light  blue"]);
            }
            field
        })
        .collect();
    let blocks = json!([{"type": "form", "submit_label": "Send", "once": true, "fields": fields}]);
    let variables: serde_json::Map<_, _> = FIELDS
        .iter()
        .map(|(variable, _)| ((*variable).to_owned(), json!("")))
        .collect();
    let mut tag = json!({"variables": variables});
    tag.as_object_mut()
        .expect("an object")
        .extend(more.as_object().cloned().unwrap_or_default());
    tag_with(service, json!({"blocks": blocks}), tag).await
}

/// Sends the form with valid values, except for those in `entries`.
async fn send(service: &TestService, tag: &TestTag, key: &str, entries: &[(&str, &str)]) -> Answer {
    let named: Vec<_> = FIELDS
        .iter()
        .zip(GOOD)
        .map(|((variable, _), good)| {
            let other = entries.iter().find(|(name, _)| name == variable);
            (
                format!("tag:variable:{variable}"),
                other.map_or(good, |(_, entry)| *entry),
            )
        })
        .collect();
    let mut fields = vec![("rolling_key", key), ("form", "1")];
    fields.extend(named.iter().map(|(name, entry)| (name.as_str(), *entry)));
    service.post_form(&tag.path(), &fields).answer().await
}

async fn tapped(service: &TestService, tag: &TestTag) -> String {
    let tap = service.tap(&tag.path()).await;
    key(&Html::parse_document(&tap.answer.body))
}

#[expect(
    clippy::too_many_lines,
    reason = "a table of entries, and one visit that tries them"
)]
#[tokio::test]
async fn an_entry_that_no_browser_would_send_is_refused_at_its_field_and_uses_nothing_up() {
    let service = service().await;
    let tag = form(&service, json!({})).await;
    let key = tapped(&service, &tag).await;
    let (long, long_mail) = ("ä".repeat(1001), format!("{}@example.com", "a".repeat(243)));
    let (mail, number, choice) = (
        "Please enter an email address, such as name@example.com.",
        "Please enter a number, such as 12 or 1.5.",
        "Please choose one of the options.",
    );
    let long_words = "This is too long. Please write at most 1000 characters.";
    let long_mail_words = "This is too long. Please write at most 254 characters.";
    for (variable, entry, words) in [
        ("mail", "not-an-email", mail),
        ("mail", "@", mail),
        ("mail", "ada@", mail),
        ("mail", "ada@example.com, eve@example.com", mail),
        ("mail", "ada@exa mple.com", mail),
        ("mail", "\"><script>alert(1)</script>@x", mail),
        ("mail", "{{interaction:rk}}", mail),
        ("mail", &*long_mail, long_mail_words),
        ("age", "abc", number),
        ("age", "1,5", number),
        ("age", "0x10", number),
        ("age", "NaN", number),
        ("age", "1e400", number),
        ("age", "\"onfocus=alert(1) autofocus=\"", number),
        ("colour", "Green", choice),
        ("colour", "red", choice),
        ("colour", "</select><script>", choice),
        ("news", "yes", choice),
        ("agreed", "on", choice),
        ("name", &*long, long_words),
        ("story", &*long, long_words),
    ] {
        let answer = send(&service, &tag, &key, &[(variable, entry)]).await;
        assert_eq!(answer.status, 400, "{variable}: {entry}");
        let page = Html::parse_document(&answer.body);
        assert!(all(&page, "main script").is_empty(), "{entry}");
        // The message is at the top, and at the field itself, which refers to it.
        let said = format!("\u{2068}The {variable}\u{2069}: {words}");
        assert_eq!(text(&page, ".said.caution[role=alert]"), [said]);
        assert_eq!(text(&page, ".wrong"), [words]);
        let field = one(
            &page,
            &format!("[name='tag:variable:{variable}']:not([type=hidden])"),
        );
        assert_eq!(field.attr("aria-invalid"), Some("true"));
        assert_eq!(
            field.attr("aria-describedby"),
            one(&page, ".wrong").attr("id")
        );
        assert_eq!(all(&page, "[aria-invalid]").len(), 1);
        // The entered values are still there, even wrong ones if the field can show them.
        match variable {
            "story" => {
                assert_eq!(text(&page, "textarea"), [entry]);
            }
            "colour" | "news" | "agreed" => {}
            _ => {
                assert_eq!(field.attr("value"), Some(entry));
                assert_eq!(text(&page, "textarea"), ["Once\nupon"]);
                assert_eq!(text(&page, "option[selected]"), ["Red"]);
                assert_eq!(all(&page, "input[type=checkbox][checked]").len(), 2);
            }
        }
        assert!(
            all(&page, "fieldset[disabled]").is_empty(),
            "nothing is consumed"
        );
    }
    for (variable, _) in FIELDS {
        let value = service.variable(&tag, variable).await;
        assert_eq!(value.as_deref(), Some(""), "{variable}");
    }
    let submissions = service.admin_get("/submissions").await;
    assert_eq!(submissions["items"], json!([]));

    // The same key, and the form's only submission.
    let answer = send(
        &service,
        &tag,
        &key,
        &[("age", " 36 "), ("colour", "Light blue")],
    )
    .await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let sent = service.admin_get("/submissions").await["items"][0].clone();
    let values: Vec<_> = sent["fields"]
        .as_array()
        .expect("fields")
        .iter()
        .map(|field| field["value"].as_str().expect("a value"))
        .collect();
    let stored = [
        "Ada",
        "Once\nupon",
        "ada@example.com",
        "36",
        "Light  blue",
        "true",
        "true",
    ];
    assert_eq!(values, stored);
    let again = tapped_again(&service, &tag).await;
    assert_eq!(
        text(&again, ".notice strong"),
        ["This form was sent already."]
    );
}

async fn tapped_again(service: &TestService, tag: &TestTag) -> Html {
    let tap = service.tap(&tag.path()).await;
    Html::parse_document(&tap.answer.body)
}

#[tokio::test]
async fn each_field_says_what_is_wrong_in_the_language_of_the_visitor() {
    let service = service().await;
    let tag = form(&service, json!({"language_code": "de_DE"})).await;
    let key = tapped(&service, &tag).await;
    let wrong = [("mail", "x"), ("age", "x"), ("colour", "x")];
    let answer = send(&service, &tag, &key, &wrong).await;
    let page = Html::parse_document(&answer.body);
    let words = [
        "Bitte eine E-Mail-Adresse eingeben, zum Beispiel name@example.com.",
        "Bitte eine Zahl eingeben, zum Beispiel 12 oder 1.5.",
        "Bitte eine der Möglichkeiten wählen.",
    ];
    assert_eq!(text(&page, ".wrong"), words);
    assert_eq!(all(&page, "[aria-invalid=true]").len(), 3);
    // In a number field, a browser would not show a value that is not a number.
    assert_eq!(one(&page, "[name='tag:variable:age']").attr("type"), None);
}

#[tokio::test]
async fn what_the_page_does_not_offer_is_not_saved() {
    let service = service().await;
    let blocks = json!([
        {"type": "form", "submit_label": "Send", "fields": [
            {"label": "Mail", "kind": "email", "variable": "mail"},
        ]},
        {"type": "variable_button", "label": "Red", "variable": "colour", "value": "Red\nwine"},
        {"type": "variable_button", "label": "Mine", "variable": "owner", "value": "{{tag:name}}, {{interaction:rk}}"},
    ]);
    let variables = json!({"variables": {"mail": "", "colour": "", "owner": "", "other": ""}});
    let tag = tag_with(&service, json!({"blocks": blocks}), variables).await;
    let tap = service.tap(&tag.path()).await;
    let page = Html::parse_document(&tap.answer.body);
    let key = key(&page);
    let send = async |fields: &[(&str, &str)]| {
        let key = [("rolling_key", &*key)];
        let fields: Vec<_> = key.iter().chain(fields).copied().collect();
        service.post_form(&tag.path(), &fields).answer().await
    };
    for fields in [
        &[("form", "1"), ("tag:variable:other", "x")][..],
        &[("tag:variable:other", "x")],
        &[
            ("form", "1"),
            ("tag:variable:mail", "not-an-email"),
            ("tag:variable:other", "x"),
        ],
        &[
            ("form", "9"),
            ("tag:variable:mail", "ada@example.com"),
            ("tag:variable:colour", "Red\nwine"),
        ],
        &[("tag:variable:colour", "Blue")],
        &[("tag:variable:owner", "Eve")],
    ] {
        let answer = send(fields).await;
        assert_eq!(answer.status, 400, "{fields:?}");
        let page = Html::parse_document(&answer.body);
        assert!(
            text(&page, ".said")[0].starts_with("The page has changed."),
            "{fields:?}"
        );
    }
    // With any number of the form, and without one.
    for form in [None, Some("0"), Some("9"), Some("x")] {
        let form = form.map(|number| ("form", number));
        let fields: Vec<_> = form
            .into_iter()
            .chain([("tag:variable:mail", "x")])
            .collect();
        let answer = send(&fields).await;
        assert_eq!(answer.status, 400, "{fields:?}");
        assert_eq!(text(&Html::parse_document(&answer.body), ".wrong").len(), 1);
    }
    for variable in ["mail", "colour", "owner", "other"] {
        assert_eq!(service.variable(&tag, variable).await.as_deref(), Some(""));
    }
    // The value on the page's button is allowed.
    let owner = one(&page, "[name='tag:variable:owner']").attr("value");
    let owner = owner.expect("a value");
    assert!(owner.starts_with("Bottle 41, "), "{owner}");
    assert_eq!(send(&[("tag:variable:owner", owner)]).await.status, 200);
    let next = service.tap(&tag.path()).await;
    let next = Html::parse_document(&next.answer.body);
    let fields = [
        ("rolling_key", &*crate::studio::dom::key(&next)),
        ("tag:variable:colour", "Red\r\nwine"),
    ];
    let answer = service.post_form(&tag.path(), &fields).answer().await;
    assert_eq!(answer.status, 200);
    let colour = service.variable(&tag, "colour").await;
    assert_eq!(colour.as_deref(), Some("Red\nwine"));
}

/// The specification's own operation accepts any text: an owner's page decides about the values.
#[tokio::test]
async fn the_update_operation_takes_what_a_form_would_not() {
    let service = service().await;
    let tag = form(&service, json!({})).await;
    let key = tapped(&service, &tag).await;
    let record = json!({"rolling_key": key, "data": {"mail": "not-an-email"}});
    let answer = service.update_record(&record).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let mail = service.variable(&tag, "mail").await;
    assert_eq!(mail.as_deref(), Some("not-an-email"));
}
