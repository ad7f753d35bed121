//! A webhook sends at most the data that its token may read, and only of the token's experiences.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::clock::Millis;
use tapdesk_service::id::WebhookId;
use tapdesk_service::revision::{Precondition, Revised as _};
use tapdesk_service::storage::{Conflict, StorageError};
use tapdesk_service::webhook::Happening;
use tapdesk_tests::{Answer, Answering as _, Client, Receiver, TestService, eventually};

use super::{service, token};

fn of_taps(url: &str) -> Value {
    json!({"url": url, "events": ["tap.not_checked", "tag.updated"]})
}

fn needs_read(answer: &Answer) {
    let problem = answer.expect(403);
    let refusal = (&problem["code"], &problem["scope"]);
    assert_eq!(refusal, (&json!("scope"), &json!("read")));
}

/// The status of each request about a webhook.
async fn each(client: &Client, webhook: &Value) -> Vec<Answer> {
    let path = format!("/webhooks/{}", webhook["id"]);
    let since = json!({"since": "2026-01-01T00:00:00Z"});
    let mut answers = Vec::new();
    for (method, path, body) in [
        (Method::GET, format!("{path}/attempts"), Value::Null),
        (Method::POST, format!("{path}/resend"), since),
        (Method::POST, format!("{path}/secrets"), json!({})),
    ] {
        answers.push(client.admin(method, &path, body).await);
    }
    answers
}

#[tokio::test]
async fn what_was_sent_and_what_is_sent_again_needs_read() {
    let service = service().await;
    let scopes = |scopes: Value| json!({"name": "Script", "scopes": scopes});
    let deaf = token(&service, scopes(json!(["webhooks"]))).await;
    let both = token(&service, scopes(json!(["webhooks", "read"]))).await;
    let url = "http://127.0.0.1:9/";
    let taps = service.admin_create("/webhooks", of_taps(url)).await;
    each(&deaf, &taps).await.iter().for_each(needs_read);
    for answer in each(&both, &taps).await {
        assert!(answer.status < 300, "{}", answer.body);
    }
    // A webhook of alerts may have sent taps before; its present signing secret is its own.
    let alerts = json!({"url": url, "events": ["alert.disk_low"]});
    let alerts = deaf.admin_create("/webhooks", alerts).await;
    let [log, resend, secret] = &each(&deaf, &alerts).await[..] else {
        panic!("three answers");
    };
    needs_read(log);
    needs_read(resend);
    secret.expect(201);
    // A webhook that does not exist is answered with 404, whatever the token's rights.
    let nobody = json!({"id": 999_999});
    let answers = each(&deaf, &nobody).await;
    assert!(answers.iter().all(|answer| answer.status == 404));
}

#[tokio::test]
async fn what_waits_of_types_that_are_taken_away_is_sent_nowhere() {
    let service = service().await;
    let deaf = json!({"name": "Deaf", "scopes": ["webhooks"]});
    let deaf = token(&service, deaf).await;
    let down = Receiver::start().await;
    down.react(tapdesk_tests::Reaction::status(500));
    let webhook = service
        .admin_create("/webhooks", of_taps(&down.url()))
        .await;
    let path = format!("/webhooks/{}", webhook["id"]);
    let tag = service.redirecting_tag(Value::Null).await;
    let house = service.keep_house();
    service.tap(&tag.path()).await;
    eventually("the failure is stored", async || {
        let log = service.admin_get(&format!("{path}/attempts")).await;
        (!log["items"].as_array()?.is_empty()).then_some(())
    })
    .await;
    assert_eq!(service.admin_get(&path).await["waiting"], 1);
    service
        .admin_patch(&path, json!({"events": ["alert.copied_url"]}))
        .await;
    assert_eq!(service.admin_get(&path).await["waiting"], 0);
    let elsewhere = Receiver::start().await;
    deaf.admin_patch(&path, json!({"url": elsewhere.url()}))
        .await;
    service.advance(3_600_000);
    let test = format!("{path}/test");
    let tested = deaf.admin(Method::POST, &test, Value::Null).await;
    tested.expect(200);
    // An event of another webhook shows that due deliveries were processed.
    let other = Receiver::start().await;
    service
        .admin_create("/webhooks", of_taps(&other.url()))
        .await;
    service.tap(&tag.path()).await;
    other.wait_for(1).await;
    let arrived = elsewhere.received();
    assert_eq!(arrived.len(), 1, "{arrived:?}");
    assert_eq!(arrived[0].json()["type"], "webhook.test");
    drop(house);
}

async fn limited(service: &TestService, experiences: &[i64]) -> Client {
    let limited = json!({
        "name": "Shop", "scopes": ["read", "webhooks"], "experience_ids": experiences,
    });
    token(service, limited).await
}

#[tokio::test]
async fn a_webhook_gets_the_events_that_its_maker_may_see() {
    let service = service().await;
    let _house = service.keep_house();
    let redirect = async |name: &str| {
        let target = "https://owner.example/";
        let new = json!({"name": name, "kind": "redirect", "target_url": target});
        service.experience(new).await
    };
    let (own, other) = (redirect("Own").await, redirect("Other").await);
    let tag = async |experience: i64| {
        let variables = json!({"owner": "Ada"});
        let new = json!({"name": "T", "experience_id": experience, "variables": variables});
        service.tag(new).await
    };
    let (inside, outside) = (tag(own).await, tag(other).await);
    let client = limited(&service, &[own]).await;
    let receiver = Receiver::start().await;
    let mut fields = of_taps(&receiver.url());
    fields["include"] = json!(["variables"]);
    let webhook = client.admin_create("/webhooks", fields).await;
    assert_eq!(webhook["experience_ids"], json!([own]));
    let all = Receiver::start().await;
    service.admin_create("/webhooks", of_taps(&all.url())).await;

    let rename = |name: &str| json!({"name": name});
    for tag in [&outside, &inside] {
        service.tap(&tag.path()).await;
        service
            .admin_patch(&tag.admin_path(), rename("Renamed"))
            .await;
    }
    all.wait_for(4).await;
    let arrived = receiver.wait_for(2).await;
    assert!(
        arrived
            .iter()
            .all(|one| one.json()["data"]["tag_id"] == inside.id)
    );
    let data = &arrived[0].json()["data"];
    assert_eq!(data["variables"], json!({"owner": "Ada"}));

    // An edit by another token gives the webhook no more data.
    let path = format!("/webhooks/{}", webhook["id"]);
    service
        .admin_patch(&path, json!({"filter": {"world": "all"}}))
        .await;
    service.tap(&outside.path()).await;
    // Of a tag that has another destination by now, its past taps are sent, without its present
    // values.
    service.tap(&inside.path()).await;
    let away = json!({"experience_id": other});
    service.admin_patch(&inside.admin_path(), away).await;
    let since = json!({"since": "2026-01-01T00:00:00Z"});
    let resend = format!("{path}/resend");
    client.admin(Method::POST, &resend, since).await.expect(202);
    service.tap(&inside.path()).await;
    all.wait_for(8).await;
    service
        .admin_patch(&inside.admin_path(), json!({"experience_id": own}))
        .await;
    service.tap(&inside.path()).await;
    let arrived = eventually("the last tap", async || {
        let arrived = receiver.received();
        let last = service.last_interaction().await;
        let is_told = arrived.iter().any(|one| one.json()["data"]["id"] == last);
        is_told.then_some(arrived)
    })
    .await;
    let ids: Vec<_> = arrived
        .iter()
        .map(|one| one.json()["data"].clone())
        .collect();
    let experiences = ids.iter().filter_map(|data| data.get("experience_id"));
    assert!(experiences.clone().count() >= 3);
    for experience in experiences {
        assert_eq!(*experience, own);
    }
}

#[tokio::test]
async fn a_limited_token_has_its_own_webhooks_and_no_alerts() {
    let service = service().await;
    let redirect = async || service.redirect("https://owner.example/").await;
    let (first, second) = (redirect().await, redirect().await);
    let url = "http://127.0.0.1:9/";
    let narrow = limited(&service, &[first]).await;
    let other = limited(&service, &[second]).await;
    let wide = limited(&service, &[first, second]).await;
    let own = narrow.admin_create("/webhooks", of_taps(url)).await;
    let both = wide.admin_create("/webhooks", of_taps(url)).await;
    let all = service.admin_create("/webhooks", of_taps(url)).await;
    assert_eq!(all["experience_ids"], Value::Null);
    for (client, seen) in [
        (&narrow, vec![&own]),
        (&other, vec![]),
        (&wide, vec![&own, &both]),
        (&*service, vec![&own, &both, &all]),
    ] {
        let list = client.admin_get("/webhooks").await;
        let ids = list["items"].as_array().unwrap().iter();
        let ids: Vec<_> = ids.map(|one| &one["id"]).collect();
        assert_eq!(ids, seen.iter().map(|one| &one["id"]).collect::<Vec<_>>());
    }
    // A page has the requested length, however many items are left out.
    let page = narrow.admin_get("/webhooks?limit=1").await;
    assert_eq!(
        (&page["items"][0]["id"], &page["next"]),
        (&own["id"], &Value::Null)
    );
    for events in [
        json!(["alert.disk_low"]),
        json!(["tap.verified", "alert.copied_url"]),
    ] {
        let alerts = json!({"url": url, "events": events});
        let refused = narrow.admin(Method::POST, "/webhooks", alerts).await;
        assert_eq!(refused.expect(422)["errors"][0]["field"], "events");
        let path = format!("/webhooks/{}", own["id"]);
        let change = json!({"events": events});
        service
            .admin(Method::PATCH, &path, change)
            .await
            .expect(422);
    }
}

/// A token without read access can delete and test no more webhooks than it can create.
#[tokio::test]
async fn what_tells_of_tags_is_deleted_and_tested_by_who_may_read() {
    let service = service().await;
    let scopes = |scopes: Value| json!({"name": "Script", "scopes": scopes});
    let deaf = token(&service, scopes(json!(["webhooks"]))).await;
    let both = token(&service, scopes(json!(["webhooks", "read"]))).await;
    let url = "http://127.0.0.1:9/";
    let with_uids = json!({"url": url, "events": ["alert.inlay_guessed"], "include": ["uid"]});
    let mixed = json!({"url": url, "events": ["alert.disk_low", "inlay.encoded"]});
    for fields in [of_taps(url), with_uids, mixed] {
        let webhook = service.admin_create("/webhooks", fields).await;
        let path = format!("/webhooks/{}", webhook["id"]);
        let test = format!("{path}/test");
        needs_read(&deaf.admin(Method::POST, &test, Value::Null).await);
        needs_read(&deaf.admin(Method::DELETE, &path, Value::Null).await);
        assert_eq!(service.admin_get(&path).await["id"], webhook["id"]);
        both.admin(Method::POST, &test, Value::Null)
            .await
            .expect(200);
        both.admin(Method::DELETE, &path, Value::Null)
            .await
            .expect(204);
    }
    let alerts = json!({"url": url, "events": ["alert.disk_low"]});
    let alerts = service.admin_create("/webhooks", alerts).await;
    let path = format!("/webhooks/{}", alerts["id"]);
    let test = format!("{path}/test");
    let tested = deaf.admin(Method::POST, &test, Value::Null).await;
    tested.expect(200);
    deaf.admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(204);
    deaf.admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(404);
}

/// Each operation on a webhook of tags, from the document. A token without read access may call
/// none of them, except to see the configuration.
#[tokio::test]
async fn no_operation_on_a_webhook_of_tags_is_open_without_read() {
    let service = service().await;
    let deaf = json!({"name": "Deaf", "scopes": ["webhooks"]});
    let deaf = token(&service, deaf).await;
    let webhook = service
        .admin_create("/webhooks", of_taps("http://127.0.0.1:9/"))
        .await;
    let mut seen = 0;
    for operation in super::operations() {
        let is_of_one = operation.path.starts_with("/admin/v1/webhooks/{id}");
        if !is_of_one || operation.id == "get_webhooks_id" {
            continue;
        }
        seen += 1;
        let request = super::call(&deaf, &operation, webhook["id"].as_i64().unwrap());
        let body = match operation.id.as_str() {
            "patch_webhooks_id" => json!({"enabled": false}),
            "post_webhooks_id_resend" => json!({"since": "2026-01-01T00:00:00Z"}),
            _ => Value::Null,
        };
        let request = if body.is_null() {
            request
        } else {
            request.json(&body)
        };
        needs_read(&request.answer().await);
    }
    assert!(seen >= 6, "{seen}");
}

/// The permission and the new secret belong together: no tag event is added between them. Each
/// round lets both requests race, and the audit log has them in the order of their commits.
#[tokio::test]
async fn a_secret_is_not_rotated_while_a_webhook_gets_tag_events() {
    let service = service().await;
    let deaf = json!({"name": "Deaf", "scopes": ["webhooks"]});
    let deaf = token(&service, deaf).await;
    let alerts = json!({"events": ["alert.disk_low"]});
    let taps = json!({"events": ["tap.not_checked"]});
    let mut new = alerts.clone();
    new["url"] = "http://127.0.0.1:9/".into();
    let id = service.admin_create("/webhooks", new).await["id"].clone();
    let path = format!("/webhooks/{id}");
    let secrets = format!("{path}/secrets");
    for _ in 0..20 {
        let (rotated, changed) = tokio::join!(
            deaf.admin(Method::POST, &secrets, Value::Null),
            service.admin(Method::PATCH, &path, taps.clone()),
        );
        assert!([201, 403].contains(&rotated.status), "{}", rotated.body);
        changed.expect(200);
        service.admin_patch(&path, alerts.clone()).await;
    }
    let log = service
        .admin_get(&format!("/audit?object=webhooks/{id}&limit=100"))
        .await;
    let mut of_tags = false;
    for row in log["items"].as_array().unwrap().iter().rev() {
        if row["action"] == "webhooks.secrets.create" {
            assert!(!of_tags, "{row}");
        } else if let Some(events) = row["after"]["events"].as_array() {
            of_tags = events.contains(&json!("tap.not_checked"));
        }
    }
}

/// A webhook that gets tag events between the check and the rotation keeps its secret.
#[tokio::test]
async fn a_secret_is_rotated_only_for_the_state_that_was_checked() {
    let service = service().await;
    let alerts = json!({"url": "http://127.0.0.1:9/", "events": ["alert.disk_low"]});
    let id = service.admin_create("/webhooks", alerts).await["id"].clone();
    let storage = &service.service().storage;
    let id = WebhookId::new(id.as_i64().unwrap());
    let seen = storage.webhook(id).await.unwrap().unwrap();
    let expected = || Precondition::OneOf(vec![seen.revision()]);
    let rotate = async |secret: u8, expected| {
        let keep = Millis::seconds(60);
        storage
            .rotate_webhook_secret(id, vec![secret], keep, expected)
            .await
    };
    assert!(rotate(1, expected()).await.unwrap().is_some());
    let taps = json!({"events": ["tap.not_checked"]});
    service.admin_patch(&format!("/webhooks/{id}"), taps).await;
    let refused = rotate(2, expected()).await;
    let changed = matches!(refused, Err(StorageError::Conflict(Conflict::Changed(_))));
    assert!(changed, "{refused:?}");
    assert!(rotate(3, Precondition::Exists).await.unwrap().is_some());
}

/// A token without read access sends no test to a webhook that got tag events after the check.
#[tokio::test]
async fn a_test_is_sent_only_in_the_state_that_was_checked() {
    let service = service().await;
    let alerts = json!({"url": "http://127.0.0.1:9/", "events": ["alert.disk_low"]});
    let id = service.admin_create("/webhooks", alerts).await["id"].clone();
    let storage = &service.service().storage;
    let id = WebhookId::new(id.as_i64().unwrap());
    let seen = storage.webhook(id).await.unwrap().unwrap();
    let expected = || Precondition::OneOf(vec![seen.revision()]);
    let claim = async |number: u64, expected| {
        let event = Happening::test(storage.now().await.unwrap(), number);
        storage.claim_test(id, event, expected).await
    };
    assert!(claim(1, expected()).await.unwrap().is_some());
    let taps = json!({"events": ["tap.not_checked"]});
    service.admin_patch(&format!("/webhooks/{id}"), taps).await;
    let refused = claim(2, expected()).await;
    let changed = matches!(refused, Err(StorageError::Conflict(Conflict::Changed(_))));
    assert!(changed, "a test was claimed for another state");
    assert!(claim(3, Precondition::Exists).await.unwrap().is_some());
}

/// The permission and the test belong together: each round lets a test and a change race, and the
/// audit log has them in the order of their commits.
#[tokio::test]
async fn no_test_is_sent_without_read_while_a_webhook_gets_tag_events() {
    let service = service().await;
    let deaf = json!({"name": "Deaf", "scopes": ["webhooks"]});
    let deaf = token(&service, deaf).await;
    let alerts = json!({"events": ["alert.disk_low"]});
    let taps = json!({"events": ["tap.not_checked"]});
    let mut new = alerts.clone();
    new["url"] = "http://127.0.0.1:9/".into();
    let id = service.admin_create("/webhooks", new).await["id"].clone();
    let path = format!("/webhooks/{id}");
    let test = format!("{path}/test");
    let mut sent = 0;
    for _ in 0..20 {
        let (tested, changed) = tokio::join!(
            deaf.admin(Method::POST, &test, Value::Null),
            service.admin(Method::PATCH, &path, taps.clone()),
        );
        assert!([200, 403].contains(&tested.status), "{}", tested.body);
        sent += usize::from(tested.status == 200);
        changed.expect(200);
        service.admin_patch(&path, alerts.clone()).await;
    }
    let log = service
        .admin_get(&format!("/audit?object=webhooks/{id}&limit=100"))
        .await;
    let mut of_tags = false;
    for row in log["items"].as_array().unwrap().iter().rev() {
        if row["action"]
            .as_str()
            .is_some_and(|action| action.contains("test"))
        {
            assert!(!of_tags, "{row}");
            sent -= 1;
        } else if let Some(events) = row["after"]["events"].as_array() {
            of_tags = events.contains(&json!("tap.not_checked"));
        }
    }
    assert_eq!(sent, 0, "the log has each test that was sent");
}
