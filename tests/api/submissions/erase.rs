//! Erasing submissions: one, all of a person, or all of a tag.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::TestService;

use super::{Form, list, send};

async fn names(service: &TestService) -> Vec<Value> {
    let listed = list(service, "simulated=all").await;
    listed
        .into_iter()
        .map(|one| one["fields"][0]["value"].clone())
        .collect()
}

#[tokio::test]
async fn one_goes_with_what_the_trace_says_and_the_tap_stays() {
    let service = TestService::start().await;
    let form = Form::new(&service).await;
    send(&service, &form.tag, "Ada", "ada@example.com", true).await;
    let tap = service.last_interaction().await;
    send(&service, &form.tag, "Grace", "grace@example.com", true).await;
    let listed = list(&service, "").await;
    let path = format!("/submissions/{}", listed[1]["id"]);
    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(204);
    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(404);
    assert_eq!(names(&service).await, ["Grace"]);
    let trace = service.admin_get(&format!("/interactions/{tap}")).await;
    assert!(!trace.to_string().contains("ada@example.com"), "{trace}");
    assert_eq!(trace["key"]["state"], "consumed", "{trace}");
    let taps = service.admin_get("/interactions").await;
    assert_eq!(taps["items"].as_array().expect("taps").len(), 2);
}

#[tokio::test]
async fn all_of_a_person_go_and_nobody_elses() {
    let service = TestService::start().await;
    let form = Form::new(&service).await;
    // More submissions than one step erases.
    for number in 0..120 {
        send(
            &service,
            &form.tag,
            &format!("Ada {number}"),
            "Ada@Example.com",
            true,
        )
        .await;
        service.advance(1_000);
    }
    send(&service, &form.tag, "Grace", "not.ada@example.com", true).await;
    send(
        &service,
        &form.tag,
        "lines ada@example.com more",
        "joan@example.com",
        true,
    )
    .await;
    // The preview shows exactly the submissions that are erased.
    let asked = "/submissions?value=ada%40example.com&simulated=all&limit=1&count=true";
    assert_eq!(service.admin_get(asked).await["count"], 120);
    let of_lines = "/submissions?q=lines%20ada&count=true";
    assert_eq!(service.admin_get(of_lines).await["count"], 1);
    let erase = json!({"value": "ada@example.com"});
    let erased = service
        .admin(Method::POST, "/submissions/erase", erase.clone())
        .await;
    assert_eq!(erased.expect(200), json!({"erased": 120}));
    assert_eq!(
        names(&service).await,
        ["lines ada@example.com more", "Grace"]
    );
    let erased = service
        .admin(Method::POST, "/submissions/erase", erase)
        .await;
    assert_eq!(erased.expect(200), json!({"erased": 0}));
    for refused in [json!({}), json!({"value": ""}), json!({"value": " "})] {
        service
            .admin(Method::POST, "/submissions/erase", refused)
            .await
            .expect(422);
    }
}

#[tokio::test]
async fn variables_stay_unless_they_are_to_go_and_were_not_changed_since() {
    let service = TestService::start().await;
    let form = Form::new(&service).await;
    let erase = |more: Value| {
        let mut body = json!({"value": "ada@example.com"});
        if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
            body.extend(more);
        }
        body
    };
    send(&service, &form.tag, "Ada", "ada@example.com", true).await;
    service
        .admin(Method::POST, "/submissions/erase", erase(json!({})))
        .await
        .expect(200);
    assert_eq!(
        service.variable(&form.tag, "email").await.as_deref(),
        Some("ada@example.com")
    );
    send(&service, &form.tag, "Ada", "ada@example.com", true).await;
    let path = format!("{}/variables/name", form.tag.admin_path());
    service
        .admin(Method::PUT, &path, json!({"value": "The owner's"}))
        .await
        .expect(200);
    let body = erase(json!({"empty_variables": true}));
    service
        .admin(Method::POST, "/submissions/erase", body)
        .await
        .expect(200);
    assert_eq!(
        service.variable(&form.tag, "email").await.as_deref(),
        Some("")
    );
    assert_eq!(
        service.variable(&form.tag, "name").await.as_deref(),
        Some("The owner's")
    );
}

#[tokio::test]
async fn erasing_a_tags_traces_erases_what_its_visitors_sent() {
    let service = TestService::start().await;
    let (form, other) = (Form::new(&service).await, Form::new(&service).await);
    send(&service, &form.tag, "Ada", "", true).await;
    send(&service, &other.tag, "Grace", "", true).await;
    let path = format!("{}/traces", form.tag.admin_path());
    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(204);
    assert_eq!(names(&service).await, ["Grace"]);
}

#[tokio::test]
async fn the_audit_log_forgets_what_was_entered_and_keeps_who_changed_it() {
    let service = TestService::start().await;
    for erase in ["one", "person"] {
        let (form, other) = (Form::new(&service).await, Form::new(&service).await);
        for form in [&form, &other] {
            send(&service, &form.tag, "Ada", "ada@example.com", true).await;
            // The owner corrects a value, then changes all values through the tag, and something
            // else.
            let path = form.tag.admin_path();
            for (property, value) in [("variables/name", "Ada Lovelace"), ("data/note", "a note")] {
                let path = format!("{path}/{property}");
                let answer = service
                    .admin(Method::PUT, &path, json!({"value": value}))
                    .await;
                assert!(answer.status < 300, "{}", answer.body);
            }
            let variables = json!({"variables": {"email": "", "name": ""}});
            service.admin_patch(&path, variables).await;
        }
        let log = async |tag: &tapdesk_tests::TestTag| {
            let path = format!("/audit?object=tags/{}", tag.id);
            let page = service.admin_get(&path).await;
            page["items"].as_array().expect("rows").clone()
        };
        let before = log(&form.tag).await;
        let shown = json!(before).to_string();
        assert!(shown.contains("Ada") && shown.contains("ada@example.com"));
        let answer = if erase == "one" {
            let sent = list(&service, &format!("tag_id={}", form.tag.id)).await;
            let path = format!("/submissions/{}", sent[0]["id"]);
            service.admin(Method::DELETE, &path, Value::Null).await
        } else {
            let person = json!({"value": "ada@example.com", "tag_id": form.tag.id});
            service
                .admin(Method::POST, "/submissions/erase", person)
                .await
        };
        assert!(answer.status < 300, "{}", answer.body);
        let after = log(&form.tag).await;
        let shown = json!(after).to_string();
        assert!(!shown.contains("Ada") && !shown.contains("ada@"), "{shown}");
        let hashes = |rows: &[Value]| {
            rows.iter()
                .map(|row| row["hash"].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(hashes(&after), hashes(&before), "who, when and from where");
        assert!(shown.contains("a note"), "{shown}");
        let shown = json!(log(&other.tag).await).to_string();
        assert!(shown.contains("Ada Lovelace"), "another tag: {shown}");
    }
    let check = service.admin_get("/audit/check").await;
    assert_eq!(check["problem"], Value::Null);
}
