//! Forms and variable buttons, sent like a browser without JavaScript, and like the page's script.

use scraper::Html;
use serde_json::{Value, json};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::{Answer, Answering as _, TestService, TestTag, at_once};

use crate::studio::dom::{all, key, one, text};
use crate::studio::{tag, tag_with};

/// A form to register with a note, a message after the registration, and another form.
fn registration() -> Value {
    json!([
        {"type": "condition",
         "when": {"type": "variable_equals", "variable": "registered", "value": "true"},
         "blocks": [{"type": "notice", "tone": "good", "title": "Registered", "text": "{{tag:variable:note}}"}],
         "otherwise": [{"type": "form", "submit_label": "Register", "fields": [
             {"label": "Name", "kind": "multiline", "variable": "note", "required": true},
             {"label": "I have read it", "kind": "checkbox", "variable": "registered"},
         ]}]},
        {"type": "variable_button", "label": "Reset", "variable": "registered", "value": "false"},
    ])
}

struct Visit {
    url: String,
    cookie: String,
    page: Html,
}

async fn visit(service: &TestService, tag: &TestTag) -> Visit {
    let tap = service.tap(&tag.path()).await;
    Visit {
        url: tag.path(),
        cookie: tap.cookie.expect("a key"),
        page: Html::parse_document(&tap.answer.body),
    }
}

async fn send(service: &TestService, url: &str, fields: &[(&str, &str)]) -> Answer {
    service.post_form(url, fields).answer().await
}

const NOTE: &str = "tag:variable:note";
const REGISTERED: &str = "tag:variable:registered";

#[tokio::test]
async fn a_form_is_sent_saved_and_answered_with_the_page_as_it_is_now() {
    let service = TestService::start().await;
    let tag = tag(&service, registration()).await;
    let Visit { url, page, cookie } = visit(&service, &tag).await;
    let key = key(&page);
    // The checkbox sends its value after the hidden field, which means no.
    let fields = [
        ("rolling_key", &*key),
        (NOTE, "Ada\r\nLovelace"),
        (REGISTERED, "false"),
        (REGISTERED, "true"),
    ];
    let answer = send(&service, &url, &fields).await;
    assert_eq!(answer.status, 200);
    let page = Html::parse_document(&answer.body);
    assert_eq!(text(&page, ".said.good"), ["Saved. Thank you."]);
    assert_eq!(text(&page, ".notice strong"), ["Registered"]);
    assert_eq!(
        service.variable(&tag, "note").await.as_deref(),
        Some("Ada\nLovelace")
    );
    assert_eq!(
        service.variable(&tag, "registered").await.as_deref(),
        Some("true")
    );
    // The other form needs another tap.
    assert_eq!(all(&page, "form fieldset[disabled]").len(), 1);
    assert_eq!(text(&page, ".wait"), ["Tap again to change more."]);

    // A reload shows the same page, and the next tap does too, with its own key.
    let reload = service.get(&url).header("cookie", &cookie);
    let reload = reload.header("cache-control", "max-age=0").answer().await;
    let page = Html::parse_document(&reload.body);
    assert_eq!(text(&page, ".notice strong"), ["Registered"]);
    assert_eq!(all(&page, "fieldset[disabled]").len(), 1);
    assert!(
        all(&page, ".said:not([hidden])").is_empty(),
        "it says so once"
    );
    let next = visit(&service, &tag).await;
    assert_eq!(text(&next.page, ".notice strong"), ["Registered"]);
    assert!(all(&next.page, "fieldset[disabled]").is_empty());
}

#[tokio::test]
async fn the_same_form_sent_twice_is_one_submission() {
    let service = TestService::start().await;
    let tag = tag(&service, registration()).await;
    let Visit { url, page, .. } = visit(&service, &tag).await;
    let key = key(&page);
    let fields = [("rolling_key", &*key), (NOTE, "Ada"), (REGISTERED, "true")];
    let client = (*service).clone();
    let request = client.post_form(&url, &fields);
    let answers = at_once(2, |_| {
        let request = request.try_clone().expect("a form can be sent again");
        async move { request.answer().await }
    })
    .await;
    for answer in &answers {
        assert_eq!(answer.status, 200);
        let page = Html::parse_document(&answer.body);
        assert_eq!(text(&page, ".said.good"), ["Saved. Thank you."]);
    }
    let other = [("rolling_key", &*key), (NOTE, "Eve"), (REGISTERED, "true")];
    let answer = send(&service, &url, &other).await;
    assert_eq!(answer.status, 400);
    let page = Html::parse_document(&answer.body);
    assert!(text(&page, ".said")[0].starts_with("Something was saved with this tap already."));
    assert_eq!(service.variable(&tag, "note").await.as_deref(), Some("Ada"));
}

#[tokio::test]
async fn after_five_minutes_the_page_asks_for_another_tap() {
    let service = TestService::start().await;
    let tag = tag_with(
        &service,
        json!({"blocks": registration()}),
        json!({"language_code": "de_DE"}),
    )
    .await;
    let Visit { url, page, .. } = visit(&service, &tag).await;
    let key = key(&page);
    let fields = [("rolling_key", &*key), (NOTE, "Ada"), (REGISTERED, "true")];
    service.advance(299_999);
    let answer = send(&service, &url, &[("rolling_key", &*key)]).await;
    assert_eq!(answer.status, 200, "the key lives still");
    service.advance(1);
    let answer = send(&service, &url, &fields).await;
    assert_eq!(answer.status, 400);
    let page = Html::parse_document(&answer.body);
    assert_eq!(one(&page, "html").attr("lang"), Some("de-DE"));
    assert_eq!(text(&page, "h1"), ["Bitte noch einmal antippen"]);
    assert!(text(&page, "main p")[0].contains("fünf Minuten"));
    assert_eq!(service.variable(&tag, "note").await.as_deref(), Some(""));
}

#[tokio::test]
async fn a_key_that_is_none_or_of_another_tag_changes_nothing() {
    let service = TestService::start().await;
    let tag_a = tag(&service, registration()).await;
    let tag_b = tag(&service, registration()).await;
    let Visit { page, .. } = visit(&service, &tag_a).await;
    let key = key(&page);
    for fields in [
        vec![(NOTE, "x")],
        vec![("rolling_key", ""), (NOTE, "x")],
        vec![("rolling_key", "AAAA"), (NOTE, "x")],
        vec![("rolling_key", &*key), (NOTE, "x")],
    ] {
        let answer = send(&service, &tag_b.path(), &fields).await;
        assert_eq!(answer.status, 400);
        assert_eq!(
            text(&Html::parse_document(&answer.body), "h1"),
            ["Please tap again"]
        );
    }
    assert_eq!(service.variable(&tag_b, "note").await.as_deref(), Some(""));
    assert_eq!(service.variable(&tag_a, "note").await.as_deref(), Some(""));
    let unknown = send(&service, "/t/nobody-here", &[("rolling_key", "x")]).await;
    assert_eq!(unknown.status, 404);
    let redirect = service.redirecting_tag(Value::Null).await;
    let answer = send(&service, &redirect.path(), &[("rolling_key", "x")]).await;
    assert_eq!(answer.status, 405, "a redirect has no forms");
}

#[tokio::test]
async fn what_cannot_be_saved_is_said_and_what_was_entered_is_kept() {
    let service = TestService::start().await;
    let form = json!([{"type": "form", "submit_label": "Send", "fields": [
        {"label": "Note", "kind": "text", "variable": "note"},
        {"label": "Missing", "kind": "text", "variable": "missing"},
    ]}]);
    let lacks_one = json!({"add_variables": false});
    let tag = tag_with(&service, json!({"blocks": form}), lacks_one).await;
    let Visit { url, page, .. } = visit(&service, &tag).await;
    let key = key(&page);
    let fields = [
        ("rolling_key", &*key),
        (NOTE, "\"Ada\" <b>"),
        ("tag:variable:missing", "x"),
    ];
    let answer = send(&service, &url, &fields).await;
    assert_eq!(answer.status, 400);
    let page = Html::parse_document(&answer.body);
    assert!(text(&page, ".said.caution[role=alert]")[0].contains("We have received"));
    assert_eq!(one(&page, "#f0-note").attr("value"), Some("\"Ada\" <b>"));
    assert!(
        all(&page, "fieldset[disabled]").is_empty(),
        "nothing is consumed"
    );
    let long = "x".repeat(4097);
    let fields = [("rolling_key", &*key), (NOTE, &*long)];
    let answer = send(&service, &url, &fields).await;
    assert!(text(&Html::parse_document(&answer.body), ".said")[0].contains("too long"));
    let fields = [("rolling_key", &*key), (NOTE, "fine")];
    assert_eq!(send(&service, &url, &fields).await.status, 200);
    let huge = "x".repeat(65 * 1024);
    assert_eq!(send(&service, &url, &[(NOTE, &*huge)]).await.status, 413);
}

#[tokio::test]
async fn a_field_that_has_to_be_filled_in_is_named_and_what_was_entered_is_kept() {
    let service = TestService::start().await;
    let form = json!([{"type": "form", "submit_label": "Send", "fields": [
        {"label": "Note <1>", "kind": "text", "variable": "note", "required": true},
        {"label": "I have read it", "kind": "checkbox", "variable": "registered", "required": true},
    ]}]);
    let tag = tag(&service, form).await;
    let Visit { url, page, .. } = visit(&service, &tag).await;
    let key = key(&page);
    let begin = [("rolling_key", &*key), ("form", "1")];
    let said = async |fields: &[(&str, &str)]| {
        let sent: Vec<_> = begin.iter().chain(fields).copied().collect();
        let answer = send(&service, &url, &sent).await;
        assert_eq!(answer.status, 400, "{fields:?}");
        Html::parse_document(&answer.body)
    };
    // A request that neither the page's script nor a browser has checked.
    let page = said(&[(NOTE, "Ada"), (REGISTERED, "false")]).await;
    let words = &text(&page, ".said.caution[role=alert]")[0];
    assert!(words.contains("Please fill in"), "{words}");
    assert!(words.contains("I have read it"), "{words}");
    assert_eq!(one(&page, "#f0-note").attr("value"), Some("Ada"));
    let page = said(&[(NOTE, " "), (REGISTERED, "true")]).await;
    assert!(text(&page, ".said")[0].contains("Note <1>"));
    assert!(one(&page, "input[type=checkbox]").attr("checked").is_some());
    said(&[(NOTE, "Ada")]).await;
    assert_eq!(service.variable(&tag, "note").await.as_deref(), Some(""));
    let listed = service.admin_get("/submissions").await;
    assert_eq!(listed["items"], json!([]), "nothing is stored");
    // A refused request does not consume the key.
    let sent: Vec<_> = begin
        .iter()
        .chain(&[(NOTE, "Ada"), (REGISTERED, "true")])
        .copied()
        .collect();
    assert_eq!(send(&service, &url, &sent).await.status, 200);
    assert_eq!(service.variable(&tag, "note").await.as_deref(), Some("Ada"));
}

#[tokio::test]
async fn a_tag_that_wants_verified_taps_says_so_before_anything_is_entered() {
    let service = TestService::start().await;
    let more = json!({"updates_require_verified": true});
    let tag = tag_with(&service, json!({"blocks": registration()}), more).await;
    let mut inlay = service
        .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None)
        .await;
    let url = inlay.url(&tag);
    let verified = service.tap(&url).await;
    let page = Html::parse_document(&verified.answer.body);
    assert!(all(&page, "fieldset[disabled]").is_empty());
    let replayed = service.tap(&url).await;
    let page = Html::parse_document(&replayed.answer.body);
    assert_eq!(all(&page, "fieldset[disabled]").len(), 2);
    assert!(text(&page, ".wait")[0].starts_with("Only a verified tap"));
    // If a client sends it anyway, the update itself refuses it.
    let cookie = replayed.cookie.expect("a key");
    let rk = cookie.split_once('=').expect("a cookie").1;
    let key = tapdesk_tests::client::base64(rk);
    let answer = send(&service, &url, &[("rolling_key", &*key), (NOTE, "x")]).await;
    assert_eq!(answer.status, 400);
    assert_eq!(service.variable(&tag, "note").await.as_deref(), Some(""));
}

/// The script sends the same data as a browser without it, to the same URL.
#[tokio::test]
async fn a_form_says_which_of_its_page_it_is() {
    let service = TestService::start().await;
    let form = |label: &str| {
        json!({"type": "form", "submit_label": label, "fields": [
            {"label": label, "kind": "text", "variable": "note"},
        ]})
    };
    let blocks = json!([
        {"type": "condition", "when": {"type": "variable_equals", "variable": "registered", "value": "true"},
         "blocks": [form("Hidden")], "otherwise": [form("Shown")]},
        form("Another"),
    ]);
    let tag = tag(&service, blocks).await;
    let Visit { url, page, .. } = visit(&service, &tag).await;
    let numbers: Vec<_> = all(&page, "[name=form]")
        .into_iter()
        .map(|field| field.attr("value").expect("a number").to_owned())
        .collect();
    assert_eq!(numbers, ["2", "3"], "also what is not shown counts");
    let fields = [("rolling_key", &*key(&page)), ("form", "3"), (NOTE, "Ada")];
    assert_eq!(send(&service, &url, &fields).await.status, 200);
    let sent = service.admin_get("/submissions").await["items"][0].clone();
    assert_eq!(sent["fields"][0]["label"], "Another");
}

#[tokio::test]
async fn a_button_sets_its_variable_with_the_values_of_macros() {
    let service = TestService::start().await;
    let button = json!([{
        "type": "variable_button", "label": "Serviced", "variable": "note", "value": "at {{interaction:time}}",
    }]);
    let tag = tag(&service, button).await;
    let Visit { url, page, .. } = visit(&service, &tag).await;
    let value = one(&page, "[name='tag:variable:note']")
        .attr("value")
        .expect("a value");
    assert_eq!(value, "at 1767268800");
    let fields = [("rolling_key", &*key(&page)), (NOTE, value)];
    assert_eq!(send(&service, &url, &fields).await.status, 200);
    assert_eq!(
        service.variable(&tag, "note").await.as_deref(),
        Some("at 1767268800")
    );
}

#[tokio::test]
async fn refused_forms_count_against_those_who_send_them() {
    let service = TestService::start().await;
    let tag = tag(&service, registration()).await;
    let mut statuses = Vec::new();
    for _ in 0..70 {
        statuses.push(
            send(&service, &tag.path(), &[("rolling_key", "x")])
                .await
                .status,
        );
    }
    assert_eq!(statuses[0], 400);
    assert_eq!(statuses[69], 429);
}
