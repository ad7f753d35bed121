//! A form that can be sent once per tag: neither another route nor another set of variables gets
//! around that.

use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tapdesk_tests::{Answer, Answering as _, Client, TestService, TestTag, at_once};

use super::{Form, list, post, send};

/// A once-per-tag form, on a tag that has one more variable.
async fn form(service: &TestService) -> Form {
    let form = Form::with(service, json!({"once": true})).await;
    let path = format!("{}/variables/colour", form.tag.admin_path());
    let put = service.admin(reqwest::Method::PUT, &path, json!({"value": "blue"}));
    assert!(put.await.status < 300);
    form
}

/// The rolling key of a new tap.
async fn key(client: &Client, tag: &TestTag) -> String {
    let cookie = client.tap(&tag.path()).await.cookie.expect("a key");
    let (_, key) = cookie.split_once('=').expect("a cookie");
    key.to_owned()
}

/// Sends an update with the key of a new tap.
async fn update(service: &TestService, tag: &TestTag, data: Value) -> Answer {
    let key = key(service, tag).await;
    service.update(&key, data).await
}

async fn variables(service: &TestService, tag: &TestTag) -> Value {
    service.admin_get(&tag.admin_path()).await["variables"].clone()
}

#[tokio::test]
async fn after_it_was_sent_no_update_writes_one_of_its_variables() {
    let service = TestService::start().await;
    let form = form(&service).await;
    send(&service, &form.tag, "Ada", "ada@example.com", true).await;
    let before = variables(&service, &form.tag).await;
    for data in [
        json!({"name": "Eve"}),
        json!({"email": "eve@example.com"}),
        json!({"agreed": "false"}),
        json!({"tag:variable:name": "Eve"}),
        json!({"name": "Eve", "email": ""}),
        json!({"name": "Eve", "email": "eve@example.com", "agreed": "true"}),
        json!({"name": "Eve", "email": "eve@example.com", "agreed": "true", "colour": "red"}),
        json!({"name": "Eve", "colour": "red"}),
        json!({"colour": "red", "email": ""}),
    ] {
        let answer = update(&service, &form.tag, data.clone()).await;
        assert_eq!(
            answer.expect(400)["message"],
            "Invalid rolling key",
            "{data}"
        );
        assert_eq!(variables(&service, &form.tag).await, before, "{data}");
    }
    // Sending the form without JavaScript does not get around the limit.
    for fields in [
        &[("tag:variable:name", "Eve")][..],
        &[("tag:variable:name", "Eve"), ("tag:variable:colour", "red")],
    ] {
        for number in ["1", "2", "", "9"] {
            let answer = post(&service, &form.tag, number, fields).await;
            assert_eq!(answer.status, 400, "{fields:?} {number}");
        }
    }
    assert_eq!(variables(&service, &form.tag).await, before);
    assert_eq!(list(&service, "").await.len(), 1);
    // Updates of other variables are still allowed; the page has a button for this one.
    for data in [json!({"colour": "red"}), json!({"name": ""})] {
        update(&service, &form.tag, data).await.expect(200);
    }
}

#[tokio::test]
async fn a_part_of_it_or_more_than_it_is_its_sending() {
    let service = TestService::start().await;
    for data in [
        json!({"name": "Ada"}),
        json!({"name": "Ada", "email": "ada@example.com", "agreed": "true", "colour": "red"}),
    ] {
        let form = form(&service).await;
        update(&service, &form.tag, data.clone()).await.expect(200);
        let sent = list(&service, &format!("tag_id={}", form.tag.id)).await;
        assert_eq!(sent.len(), 1, "{data}");
        let fields = sent[0]["fields"].as_array().unwrap();
        let of_form = |key: &&String| *key != "colour";
        let members = data.as_object().unwrap();
        assert_eq!(fields.len(), members.keys().filter(of_form).count());
        assert!(
            fields
                .iter()
                .all(|field| field["value"] == data[field["variable"].as_str().unwrap()])
        );
        assert_eq!(sent[0]["consent"].is_null(), data.get("agreed").is_none());
        for again in [
            json!({"email": "eve@example.com"}),
            json!({"name": "Eve", "email": "", "agreed": "true"}),
        ] {
            update(&service, &form.tag, again).await.expect(400);
        }
        let page = service.tap(&form.tag.path()).await.answer.body;
        assert!(page.contains("This form was sent already."), "{page}");
    }
}

#[tokio::test]
async fn of_updates_with_different_parts_of_it_at_once_one_is_taken() {
    let service = TestService::start().await;
    for _ in 0..5 {
        let form = form(&service).await;
        let mut requests: Vec<RequestBuilder> = Vec::new();
        for (name, value) in [
            ("name", "Ada"),
            ("email", "eve@example.com"),
            ("agreed", "true"),
        ] {
            let key = key(&service, &form.tag).await;
            requests.push(service.update_request(&key, &json!({name: value})));
        }
        let answers = at_once(requests.len(), |place| {
            let request = requests[place].try_clone().expect("it can be cloned");
            async move { request.answer().await.status }
        });
        let mut statuses = answers.await;
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 400, 400]);
        assert_eq!(
            list(&service, &format!("tag_id={}", form.tag.id))
                .await
                .len(),
            1
        );
    }
}

/// A tag whose page has two once-per-tag forms, of `name` and of `colour`.
async fn two_forms(service: &TestService) -> TestTag {
    let block = |variable: &str| {
        json!({"type": "form", "submit_label": "Send", "once": true, "fields": [
            {"label": variable, "kind": "text", "variable": variable},
        ]})
    };
    let page = json!({"name": "Two", "kind": "studio", "blocks": [block("name"), block("colour")]});
    let experience = service.experience(page).await;
    let tag = json!({
        "name": "T", "experience_id": experience, "variables": {"name": "", "colour": "", "note": ""},
    });
    service.tag(tag).await
}

#[tokio::test]
async fn who_has_no_live_key_does_not_learn_that_an_update_is_of_two_such_forms() {
    let service = TestService::start().await;
    let tag = two_forms(&service).await;
    let reason = async |key: &str| {
        let both = json!({"name": "Ada", "colour": "red"});
        let answer = service.update(key, both).await;
        answer.expect(400);
        answer.header("tapdesk-reason").map(str::to_owned)
    };
    let (used, late) = (key(&service, &tag).await, key(&service, &tag).await);
    assert_eq!(reason(&used).await.as_deref(), Some("unknown_variable"));
    let note = service.update(&used, json!({"note": "x"})).await;
    note.expect(200);
    assert_eq!(reason(&used).await.as_deref(), Some("used"));
    service.advance(300_000);
    assert_eq!(reason(&late).await.as_deref(), Some("expired"));
    assert_eq!(reason(&used).await.as_deref(), Some("expired"));
}

#[tokio::test]
async fn an_update_of_two_such_forms_is_neither() {
    let service = TestService::start().await;
    let tag = two_forms(&service).await;
    let both = json!({"name": "Ada", "colour": "red"});
    update(&service, &tag, both.clone()).await.expect(400);
    assert_eq!(list(&service, "").await.len(), 0);
    for (data, status) in [
        (json!({"name": "Ada", "note": "x"}), 200),
        (json!({"name": "Eve"}), 400),
        (json!({"colour": "red"}), 200),
        (json!({"colour": "blue", "note": "y"}), 400),
        (both, 400),
        (json!({"note": "z"}), 200),
    ] {
        let answer = update(&service, &tag, data.clone()).await;
        assert_eq!(answer.status, status, "{data}");
    }
    let expected = json!({"name": "Ada", "colour": "red", "note": "z"});
    assert_eq!(variables(&service, &tag).await, expected);
}

/// The owner sets the limit in one language; in another language it is the same form.
#[tokio::test]
async fn the_same_form_in_another_language_is_sent_once_as_well() {
    let service = TestService::start().await;
    let block = |once: bool| {
        json!({"type": "form", "submit_label": "Send", "once": once, "fields": [
            {"label": "Name", "kind": "text", "variable": "name"},
        ]})
    };
    let page = json!({"name": "Ask", "kind": "studio", "blocks": [
        {"type": "condition", "when": {"type": "language", "any_of": ["de"]},
         "blocks": [block(true)], "otherwise": [block(false)]},
    ]});
    let experience = service.experience(page).await;
    let tag = json!({"name": "T", "experience_id": experience, "variables": {"name": ""}});
    let tag = service.tag(tag).await;
    let answer = post(&service, &tag, "2", &[("tag:variable:name", "Ada")]).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    update(&service, &tag, json!({"name": "Eve"}))
        .await
        .expect(400);
    assert_eq!(variables(&service, &tag).await, json!({"name": "Ada"}));
}

#[tokio::test]
async fn a_form_for_many_times_takes_parts_of_it_as_ever() {
    let service = TestService::start().await;
    let form = Form::new(&service).await;
    send(&service, &form.tag, "Ada", "", false).await;
    for data in [
        json!({"email": "a@example.com"}),
        json!({"email": "b@example.com"}),
    ] {
        update(&service, &form.tag, data).await.expect(200);
    }
    assert_eq!(list(&service, "").await.len(), 1);
}
