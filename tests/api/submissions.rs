//! Submissions of forms: separate records that are listed, searched, exported, sent as events, and
//! erased.

mod erase;
mod export;
mod once;
mod refused;
mod told;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answer, Answering as _, Client, TestService, TestTag, at_once};

/// A tag with a page that asks for a name and a mail address, in two languages.
pub(in crate::api) struct Form {
    pub(in crate::api) tag: TestTag,
    pub(in crate::api) experience: i64,
}

/// The form's blocks; members of `more` are added to both forms.
fn blocks(more: &Value) -> Value {
    let form = |name: &str, agree: &str| {
        let mut form = json!({"type": "form", "submit_label": "Send", "fields": [
            {"label": name, "kind": "text", "variable": "name", "required": true},
            {"label": "E-mail", "kind": "email", "variable": "email"},
            {"label": agree, "kind": "consent", "variable": "agreed"},
        ]});
        if let (Some(form), Some(more)) = (form.as_object_mut(), more.as_object()) {
            form.extend(more.clone());
        }
        form
    };
    json!([
        {"type": "condition", "when": {"type": "language", "any_of": ["de"]},
         "blocks": [form("Ihr Name", "Ich stimme zu.")],
         "otherwise": [form("Your name", "I agree that you write to me.")]},
        {"type": "variable_button", "label": "Reset", "variable": "name", "value": ""},
    ])
}

impl Form {
    pub(in crate::api) async fn new(client: &Client) -> Self {
        Self::with(client, json!({})).await
    }

    async fn with(client: &Client, more: Value) -> Self {
        let page = json!({"name": "Ask", "kind": "studio", "blocks": blocks(&more)});
        let experience = client.experience(page).await;
        let variables = json!({"name": "", "email": "", "agreed": "false"});
        let tag = json!({"name": "Bottle 41", "experience_id": experience, "variables": variables});
        Self {
            tag: client.tag(tag).await,
            experience,
        }
    }
}

/// The key in a page.
pub(in crate::api) fn key(page: &str) -> &str {
    let (_, rest) = page
        .split_once(r#"name="rolling_key" value=""#)
        .expect("the page has a form");
    rest.split_once('"').expect("a value").0
}

/// The request that a browser sends for the form with this number.
async fn post(client: &Client, tag: &TestTag, form: &str, fields: &[(&str, &str)]) -> Answer {
    let page = client.tap(&tag.path()).await.answer.body;
    let mut all = vec![("rolling_key", key(&page)), ("form", form)];
    all.extend(fields);
    client.post_form(&tag.path(), &all).answer().await
}

/// Sends the English form of a page that is already open, without a consent.
pub(in crate::api) async fn post_to(
    client: &Client,
    tag: &TestTag,
    page: &str,
    fields: &[(&str, &str)],
) -> Answer {
    let mut all = vec![("rolling_key", key(page)), ("form", "2")];
    all.extend(fields);
    all.push(("tag:variable:agreed", "false"));
    client.post_form(&tag.path(), &all).answer().await
}

fn fields<'a>(name: &'a str, email: &'a str, agreed: bool) -> Vec<(&'static str, &'a str)> {
    let mut fields = vec![
        ("tag:variable:name", name),
        ("tag:variable:email", email),
        ("tag:variable:agreed", "false"),
    ];
    if agreed {
        fields.push(("tag:variable:agreed", "true"));
    }
    fields
}

/// Taps a tag, and sends its English form.
pub(in crate::api) async fn send(
    client: &Client,
    tag: &TestTag,
    name: &str,
    email: &str,
    agreed: bool,
) {
    let answer = post(client, tag, "2", &fields(name, email, agreed)).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
}

async fn list(client: &Client, query: &str) -> Vec<Value> {
    let page = client.admin_get(&format!("/submissions?{query}")).await;
    page["items"].as_array().expect("items").clone()
}

#[tokio::test]
async fn a_form_leaves_a_record_that_later_ones_do_not_overwrite() {
    let service = TestService::start().await;
    let form = Form::new(&service).await;
    send(&service, &form.tag, "Ada", "ada@example.com", true).await;
    let first = service.last_interaction().await;
    service.advance(60_000);
    send(&service, &form.tag, "Grace", "grace@example.com", false).await;
    let listed = list(&service, "").await;
    assert_eq!(listed.len(), 2);
    let expected = json!({
        "id": listed[1]["id"], "at": "2026-01-01T12:00:00Z", "interaction_id": first,
        "tag_id": form.tag.id, "slug": form.tag.slug, "tag_name": "Bottle 41",
        "experience_id": form.experience, "experience_version": 1, "tag_verified": null,
        "fields": [
            {"label": "Your name", "variable": "name", "kind": "text", "value": "Ada"},
            {"label": "E-mail", "variable": "email", "kind": "email", "value": "ada@example.com"},
            {"label": "I agree that you write to me.", "variable": "agreed", "kind": "consent", "value": "true"},
        ],
        "consent": {"text": "I agree that you write to me.", "version": 1},
        "simulated": false, "not_saved": null,
    });
    assert_eq!(listed[1], expected);
    assert_eq!(
        listed[0]["consent"],
        Value::Null,
        "who does not agree has not agreed"
    );
    let path = format!("/submissions/{}", listed[1]["id"]);
    assert_eq!(service.admin_get(&path).await, expected);
    // The variables have the values that were sent last.
    assert_eq!(
        service.variable(&form.tag, "name").await.as_deref(),
        Some("Grace")
    );
}

#[tokio::test]
async fn the_consent_is_the_text_that_was_shown_in_its_version() {
    let service = TestService::start().await;
    let form = Form::new(&service).await;
    let german = fields("Ada", "", true);
    assert_eq!(post(&service, &form.tag, "1", &german).await.status, 200);
    // The page of a tap keeps its version, even if another one is published.
    let page = service.tap(&form.tag.path()).await.answer.body;
    let mut changed = blocks(&json!({}));
    changed[0]["otherwise"][0]["fields"][2]["label"] = "I agree to everything.".into();
    let path = format!("/experiences/{}?publish=true", form.experience);
    service.admin_patch(&path, json!({"blocks": changed})).await;
    let mut late = vec![("rolling_key", key(&page)), ("form", "2")];
    late.extend(fields("Grace", "", true));
    service.post_form(&form.tag.path(), &late).answer().await;
    send(&service, &form.tag, "Joan", "", true).await;
    let consents: Vec<_> = list(&service, "")
        .await
        .into_iter()
        .map(|one| one["consent"].clone())
        .collect();
    assert_eq!(
        consents,
        [
            json!({"text": "I agree to everything.", "version": 2}),
            json!({"text": "I agree that you write to me.", "version": 1}),
            json!({"text": "Ich stimme zu.", "version": 1}),
        ]
    );
}

#[tokio::test]
async fn a_consent_is_kept_as_it_was_shown_so_it_has_no_macros() {
    let service = TestService::start().await;
    let page = |fields: Value| {
        json!({"name": "Ask", "kind": "studio", "blocks": [
            {"type": "form", "submit_label": "Send", "fields": fields},
        ]})
    };
    let consent = |label: &str, variable: &str| json!({"label": label, "kind": "consent", "variable": variable});
    for (fields, why) in [
        (json!([consent("I agree, {{tag:name}}.", "a")]), "no macros"),
        (
            json!([consent("I agree.", "a"), consent("To all.", "b")]),
            "one consent",
        ),
    ] {
        let answer = service
            .admin(Method::POST, "/experiences", page(fields))
            .await;
        let problem = answer.expect(422);
        assert!(problem.to_string().contains(why), "{problem}");
    }
}

#[tokio::test]
async fn the_update_operation_with_the_variables_of_a_form_is_that_form_and_a_button_is_none() {
    let service = TestService::start().await;
    let form = Form::new(&service).await;
    let tapped = service.tap(&form.tag.path()).await.answer.body;
    let record = json!({"rolling_key": key(&tapped), "data": {"name": "Ada", "email": "", "agreed": "true"}});
    let request = service
        .post("/v2/interactions/data")
        .header("idempotency-key", "page")
        .json(&record);
    let again = request.try_clone().expect("it can be sent again");
    request.answer().await.expect(200);
    again.answer().await.expect(200);
    assert_eq!(
        list(&service, "").await.len(),
        1,
        "sent twice, it is one submission"
    );
    let button = [("tag:variable:name", "")];
    let answer = post(&service, &form.tag, "", &button).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    // A redirect has no forms, even if a page of the experience has one.
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.tap(&tag.path()).await;
    service
        .update(tap.key(), json!({"registered": "true"}))
        .await
        .expect(200);
    assert_eq!(list(&service, "").await.len(), 1);
}

#[tokio::test]
async fn a_form_for_once_per_tag_is_taken_once_whoever_sends_it_and_however() {
    let service = TestService::start().await;
    let form = Form::with(&service, json!({"once": true})).await;
    let other = json!({"name": "Other", "experience_id": form.experience, "variables": {"name": "", "email": "", "agreed": ""}});
    let other = service.tag(other).await;
    // Two visitors with their own keys send at the same time.
    let mut sent = Vec::new();
    for name in ["Ada", "Grace"] {
        let page = service.tap(&form.tag.path()).await.answer.body;
        let key = key(&page).to_owned();
        sent.push((key, name));
        service.advance(301_000 / 100);
    }
    let client: Client = (*service).clone();
    let path = form.tag.path();
    let answers = at_once(2, |place| {
        let (key, name) = sent[place].clone();
        let mut all = vec![("rolling_key", key.as_str()), ("form", "2")];
        all.extend(fields(name, "", true));
        let request = client.post_form(&path, &all);
        async move { request.answer().await }
    })
    .await;
    let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 400]);
    let refused = answers
        .iter()
        .find(|answer| answer.status == 400)
        .expect("one");
    assert!(
        refused.body.contains("This form was sent already."),
        "{}",
        refused.body
    );
    // The next visitor sees no form in either language; the other tag still has its form.
    let page = service.tap(&form.tag.path()).await.answer.body;
    assert!(
        page.contains("This form was sent already.") && !page.contains("Your name"),
        "{page}"
    );
    let german = post(&service, &form.tag, "1", &fields("Eve", "", true)).await;
    assert_eq!(german.status, 400);
    let record =
        json!({"rolling_key": key(&page), "data": {"name": "Eve", "email": "", "agreed": "true"}});
    service
        .post("/v2/interactions/data")
        .json(&record)
        .answer()
        .await
        .expect(400);
    send(&service, &other, "Joan", "", true).await;
    let names: Vec<_> = list(&service, &format!("tag_id={}", form.tag.id)).await;
    assert_eq!(names.len(), 1);
    // After an erasure the form can be sent again.
    let path = format!("/submissions/{}", names[0]["id"]);
    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(204);
    send(&service, &form.tag, "Eve", "", true).await;
}

#[tokio::test]
async fn submissions_are_found_by_what_they_are_and_what_was_entered() {
    let service = TestService::start().await;
    let form = Form::new(&service).await;
    let other = Form::new(&service).await;
    send(&service, &form.tag, "Ada", "ada@example.com", true).await;
    service.advance(1_000);
    send(
        &service,
        &form.tag,
        "ADA 100% \\ Ärger",
        "a_b@example.com",
        false,
    )
    .await;
    service.advance(1_000);
    send(&service, &other.tag, "Grace", "grace@example.com", true).await;
    for (query, count) in [
        (String::new(), 3),
        (format!("tag_id={}", form.tag.id), 2),
        (format!("experience_id={}", other.experience), 1),
        ("consent=true".to_owned(), 2),
        ("consent=false".to_owned(), 1),
        ("verification=not_checked".to_owned(), 3),
        ("verification=verified".to_owned(), 0),
        ("q=ada".to_owned(), 2),
        ("q=%C3%A4RGER".to_owned(), 1),
        ("q=100%25".to_owned(), 1),
        ("q=a_b".to_owned(), 1),
        ("q=%25".to_owned(), 1),
        ("q=%5C".to_owned(), 1),
        ("value=ADA".to_owned(), 1),
        ("value=example.com".to_owned(), 0),
        ("since=2026-01-01T12:00:01Z".to_owned(), 2),
        ("until=2026-01-01T12:00:01Z".to_owned(), 1),
        ("simulated=true".to_owned(), 0),
        ("simulated=all".to_owned(), 3),
    ] {
        let page = service
            .admin_get(&format!("/submissions?count=true&{query}"))
            .await;
        assert_eq!(
            page["items"].as_array().expect("items").len(),
            count,
            "{query}"
        );
        assert_eq!(page["count"], count, "{query}");
    }
    let first = service.admin_get("/submissions?limit=2").await;
    let next = first["next"].as_str().expect("more");
    let rest = list(&service, &format!("limit=2&after={next}")).await;
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0]["fields"][0]["value"], "Ada");
    let long = format!("/submissions?q={}", "x".repeat(4_097));
    service
        .admin(Method::GET, &long, Value::Null)
        .await
        .expect(422);
}

#[tokio::test]
async fn submissions_are_kept_as_long_as_the_setting_says() {
    let service = TestService::start().await;
    service
        .admin_patch("/settings", json!({"submission_months": 1}))
        .await;
    let form = Form::new(&service).await;
    send(&service, &form.tag, "Ada", "", true).await;
    service.advance(40 * 24 * 3_600_000);
    send(&service, &form.tag, "Grace", "", true).await;
    tapdesk_service::housekeeping::sweep(service.service())
        .await
        .expect("it is swept");
    let left = list(&service, "").await;
    assert_eq!(left.len(), 1);
    assert_eq!(left[0]["fields"][0]["value"], "Grace");
}
