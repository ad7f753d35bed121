//! Forms that the service cannot save: they are kept until the owner has removed the cause.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answer, Answering as _, Reaction, Receiver, TestService, TestTag};

use super::{Form, fields, key, list, post, told};

/// A tag that lacks two of the variables of its form.
async fn lacking(service: &TestService, more: Value) -> Form {
    let form = Form::with(service, more).await;
    for key in ["name", "email"] {
        let path = format!("{}/variables/{key}", form.tag.admin_path());
        service
            .admin(Method::DELETE, &path, Value::Null)
            .await
            .expect(204);
    }
    form
}

async fn refused(service: &TestService, tag: &TestTag, name: &str) -> Answer {
    let email = format!("{name}@example.com");
    let answer = post(service, tag, "2", &fields(name, &email, true)).await;
    assert_eq!(answer.status, 400, "{}", answer.body);
    answer
}

async fn save(service: &TestService, submission: &Value) -> Answer {
    let path = format!("/submissions/{}/save", submission["id"]);
    service.admin(Method::POST, &path, Value::Null).await
}

/// The number of submissions in reports.
async fn counted(service: &TestService) -> Value {
    let report = service.admin_get("/reports?step=day").await;
    report["totals"]["submissions"].clone()
}

/// Adds the variables that the tag lacks.
async fn complete(service: &TestService, form: &Form) {
    let path = format!("/experiences/{}/missing-variables", form.experience);
    service
        .admin(Method::POST, &path, Value::Null)
        .await
        .expect(200);
}

#[tokio::test]
async fn a_form_without_its_variables_is_kept_and_saved_once_they_are_there() {
    let service = TestService::start().await;
    let form = lacking(&service, json!({})).await;
    let answer = refused(&service, &form.tag, "Ada").await;
    assert!(
        answer.body.contains("We have received what you entered"),
        "{}",
        answer.body
    );
    let tap = service.last_interaction().await;

    assert!(list(&service, "").await.is_empty(), "it is not saved");
    assert_eq!(counted(&service).await, 0);
    assert!(list(&service, "state=saved").await.is_empty());
    let kept = list(&service, "state=refused").await;
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(kept, list(&service, "state=all").await);
    assert_eq!(
        kept,
        list(&service, &format!("state=all&interaction_id={tap}")).await
    );
    let kept = &kept[0];
    assert_eq!(kept["fields"][0]["value"], "Ada");
    assert_eq!(kept["interaction_id"], tap);
    let why = json!({
        "reason": "unknown_variable", "missing_variables": ["name", "email"],
        "in_the_way": "The tag has no variables name, email. Add them, then save the entry.",
    });
    assert_eq!(kept["not_saved"], why);
    assert!(service.variable(&form.tag, "name").await.is_none());
    let refusal = save(&service, kept).await;
    let refusal = refusal.expect(409);
    assert_eq!(refusal["code"], "not_savable", "{refusal}");
    assert_eq!(refusal["detail"], why["in_the_way"], "{refusal}");

    complete(&service, &form).await;
    let listed = list(&service, "state=refused").await;
    assert_eq!(
        listed[0]["not_saved"]["in_the_way"],
        Value::Null,
        "{listed:?}"
    );
    let saved = save(&service, kept).await.expect(200);
    assert_eq!(saved["id"], kept["id"]);
    assert_eq!(counted(&service).await, 1);
    assert_eq!(saved["not_saved"], Value::Null);
    let value = service.variable(&form.tag, "email").await;
    assert_eq!(value.as_deref(), Some("Ada@example.com"));
    assert_eq!(list(&service, "").await, [saved]);
    assert!(list(&service, "state=refused").await.is_empty());
    let again = save(&service, kept).await.expect(409);
    assert_eq!(again["code"], "saved_already", "{again}");
    let audit = service.admin_get("/audit?limit=1").await;
    let row = &audit["items"][0];
    assert_eq!(row["action"], "submissions.save", "{row}");
    assert!(!row.to_string().contains("Ada"), "{row}");
}

#[tokio::test]
async fn a_key_has_one_and_what_is_sent_again_takes_its_place() {
    let service = TestService::start().await;
    let form = lacking(&service, json!({})).await;
    let page = service.tap(&form.tag.path()).await.answer.body;
    let send = async |name: &str| {
        let mut all = vec![("rolling_key", key(&page)), ("form", "2")];
        all.extend(fields(name, "a@example.com", false));
        service.post_form(&form.tag.path(), &all).answer().await
    };
    assert_eq!(send("Ada").await.status, 400);
    assert_eq!(send("Adelaide").await.status, 400);
    let kept = list(&service, "state=refused").await;
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(kept[0]["fields"][0]["value"], "Adelaide");
    let text = service
        .admin_get("/submissions?state=refused")
        .await
        .to_string();
    assert!(!text.contains(key(&page)), "{text}");

    // The owner saves the form: the key is consumed.
    complete(&service, &form).await;
    save(&service, &kept[0]).await.expect(200);
    assert_eq!(send("Grace").await.status, 400);
    assert_eq!(
        service.variable(&form.tag, "name").await.as_deref(),
        Some("Adelaide")
    );
    assert_eq!(list(&service, "state=all").await.len(), 1);
}

#[tokio::test]
async fn what_a_visitor_sends_again_himself_is_saved_and_no_longer_refused() {
    let service = TestService::start().await;
    let form = lacking(&service, json!({})).await;
    let page = service.tap(&form.tag.path()).await.answer.body;
    let mut all = vec![("rolling_key", key(&page)), ("form", "2")];
    all.extend(fields("Ada", "a@example.com", false));
    let send = async || {
        service
            .post_form(&form.tag.path(), &all)
            .answer()
            .await
            .status
    };
    assert_eq!(send().await, 400);
    complete(&service, &form).await;
    assert_eq!(send().await, 200);
    assert!(list(&service, "state=refused").await.is_empty());
    assert_eq!(list(&service, "").await.len(), 1);
    assert_eq!(counted(&service).await, 1);
}

#[tokio::test]
async fn what_the_visitor_can_put_right_and_buttons_are_not_kept() {
    let service = TestService::start().await;
    let form = lacking(&service, json!({})).await;
    let wrong = fields("Ada", "no address", false);
    let answer = post(&service, &form.tag, "2", &wrong).await;
    assert_eq!(answer.status, 400);
    let page = service.tap(&form.tag.path()).await.answer.body;
    let button = [("rolling_key", key(&page)), ("tag:variable:name", "")];
    let answer = service.post_form(&form.tag.path(), &button).answer().await;
    assert_eq!(answer.status, 400);
    assert!(
        answer.body.contains("not set it up completely"),
        "{}",
        answer.body
    );
    let page = service.tap(&form.tag.path()).await.answer.body;
    let verified = json!({"updates_require_verified": true});
    service.admin_patch(&form.tag.admin_path(), verified).await;
    let data = json!({"name": "Ada", "email": "", "agreed": "false"});
    let record = json!({"rolling_key": key(&page), "data": data});
    service.update_record(&record).await.expect(400);
    assert!(list(&service, "state=all").await.is_empty());
}

#[tokio::test]
async fn a_form_for_once_per_tag_is_saved_once() {
    let service = TestService::start().await;
    let form = lacking(&service, json!({"once": true})).await;
    refused(&service, &form.tag, "Ada").await;
    refused(&service, &form.tag, "Grace").await;
    let kept = list(&service, "state=refused").await;
    assert_eq!(kept.len(), 2, "none of them is sent yet");
    complete(&service, &form).await;
    save(&service, &kept[1]).await.expect(200);
    let second = save(&service, &kept[0]).await.expect(409);
    assert!(
        second["detail"].as_str().unwrap().contains("once per tag"),
        "{second}"
    );
    assert_eq!(
        service.variable(&form.tag, "name").await.as_deref(),
        Some("Ada")
    );
}

#[tokio::test]
async fn a_tag_keeps_a_hundred_and_the_visitor_is_told_which() {
    let service = TestService::start_with(|options| options.settings.rate_limit = None).await;
    let form = lacking(&service, json!({})).await;
    for number in 0..100 {
        let answer = refused(&service, &form.tag, &format!("a{number}")).await;
        assert!(answer.body.contains("We have received"), "{number}");
    }
    let answer = refused(&service, &form.tag, "late").await;
    assert!(
        answer.body.contains("not set it up completely"),
        "{}",
        answer.body
    );
    let counted = service
        .admin_get("/submissions?state=refused&limit=1&count=true")
        .await;
    assert_eq!(counted["count"], 100);
}

#[tokio::test]
async fn a_tag_that_leads_nowhere_any_more_keeps_what_its_page_sent() {
    let service = TestService::start().await;
    let form = Form::new(&service).await;
    let page = service.tap(&form.tag.path()).await;
    let key = key(&page.answer.body).to_owned();
    let away = json!({"experience_id": null});
    service.admin_patch(&form.tag.admin_path(), away).await;
    let data = json!({"name": "Ada", "email": "", "agreed": "false"});
    let record = json!({"rolling_key": key, "data": data});
    service.update_record(&record).await.expect(400);
    let kept = list(&service, "state=refused").await;
    assert_eq!(kept[0]["not_saved"]["reason"], "not_assigned", "{kept:?}");
    let refusal = save(&service, &kept[0]).await.expect(409);
    assert!(
        refusal["detail"].as_str().unwrap().contains("Assign it"),
        "{refusal}"
    );
    let back = json!({"experience_id": form.experience});
    service.admin_patch(&form.tag.admin_path(), back).await;
    save(&service, &kept[0]).await.expect(200);
    assert_eq!(
        service.variable(&form.tag, "name").await.as_deref(),
        Some("Ada")
    );
}

#[tokio::test]
async fn the_words_are_the_visitors_and_a_restart_keeps_what_was_sent() {
    let service = TestService::start().await;
    let form = lacking(&service, json!({})).await;
    let german = |request: reqwest::RequestBuilder| request.header("accept-language", "de");
    let page = german(service.get(&form.tag.path())).answer().await.body;
    let mut all = vec![("rolling_key", key(&page)), ("form", "1")];
    all.extend(fields("Ada", "a@example.com", false));
    let answer = german(service.post_form(&form.tag.path(), &all))
        .answer()
        .await;
    assert!(
        answer.body.contains("Ihre Angaben sind angekommen"),
        "{}",
        answer.body
    );
    let service = service.restart(1_000).await;
    assert_eq!(list(&service, "state=refused").await.len(), 1);
}

#[tokio::test]
async fn what_was_saved_later_is_erased_with_what_webhooks_keep_of_it() {
    let service = told::start().await;
    let _house = service.keep_house();
    let receiver = Receiver::start().await;
    receiver.react(Reaction::status(500));
    let webhook = told::webhook(&service, &receiver, json!(["variables"])).await;
    let form = lacking(&service, json!({})).await;
    refused(&service, &form.tag, "Ada").await;
    complete(&service, &form).await;
    let kept = list(&service, "state=refused").await;
    save(&service, &kept[0]).await.expect(200);
    let sent = receiver.wait_for(1).await;
    let sent = sent[0].json().to_string();
    assert!(sent.contains("Ada@example.com"), "{sent}");
    told::erase_ada_after_an_attempt(&service, webhook).await;
}

#[tokio::test]
async fn erasing_a_person_or_a_tags_traces_erases_what_was_refused() {
    let service = TestService::start().await;
    let form = lacking(&service, json!({})).await;
    refused(&service, &form.tag, "Ada").await;
    refused(&service, &form.tag, "Grace").await;
    let erase = |dry_run: bool| json!({"value": "ada@example.com", "dry_run": dry_run});
    for dry_run in [true, false] {
        let erased = service
            .admin(Method::POST, "/submissions/erase", erase(dry_run))
            .await;
        assert_eq!(erased.expect(200), json!({"erased": 1}));
    }
    let left = list(&service, "state=all").await;
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0]["fields"][0]["value"], "Grace");
    let traces = format!("{}/traces", form.tag.admin_path());
    service
        .admin(Method::DELETE, &traces, Value::Null)
        .await
        .expect(204);
    assert!(list(&service, "state=all").await.is_empty());
}
