//! Erased data is in no file of the SQLite database: neither in free space nor in its log. The
//! files of PostgreSQL belong to its server, so they are not tested.

use reqwest::Method;
use rusqlite::Connection;
use serde_json::{Value, json};
use tapdesk_tests::{Client, TestService, eventually, files_containing};

use super::submissions::{Form, send};

/// Number of people who send a form: enough to fill pages, and to free some completely.
const PEOPLE: usize = 39;

async fn service() -> TestService {
    TestService::on_sqlite().await
}

/// A text that is only in one person's submission. Lengths vary so that pages are filled unevenly;
/// a form takes at most 1,000 characters.
fn text(way: &str, person: usize) -> String {
    let length = [1, 40, 400, 970][person % 4];
    format!("{way}-{person:03}-sentinel-{}", "x".repeat(length))
}

fn mail(way: &str, person: usize) -> String {
    format!("{way}-{person:03}-sentinel@example.com")
}

fn sentinel(way: &str, person: usize) -> String {
    format!("{way}-{person:03}-sentinel")
}

/// People who each send the form of a separate tag.
async fn people(service: &TestService, way: &str) -> Vec<Form> {
    let mut forms = Vec::new();
    for person in 0..PEOPLE {
        let form = Form::new(service).await;
        send(
            service,
            &form.tag,
            &text(way, person),
            &mail(way, person),
            true,
        )
        .await;
        forms.push(form);
    }
    forms
}

fn left(service: &TestService, text: &str) -> Vec<std::path::PathBuf> {
    files_containing(service.folder(), text.as_bytes())
}

fn assert_nothing_is_left(service: &TestService, way: &str) {
    for person in 0..PEOPLE {
        let text = sentinel(way, person);
        let left = left(service, &text);
        assert!(left.is_empty(), "{text} is in {left:?}");
    }
}

/// The submission of a form's tag.
async fn submission(client: &Client, form: &Form) -> i64 {
    let path = format!("/submissions?tag_id={}", form.tag.id);
    let page = client.admin_get(&path).await;
    page["items"][0]["id"].as_i64().expect("a submission")
}

/// Replaces the values that a person entered, as an owner does who keeps the tag: the variables are
/// no longer the person's, and the audit log has the values before.
async fn empty_variables(client: &Client, form: &Form) {
    let empty = json!({"variables": {"name": "", "email": ""}});
    client.admin_patch(&form.tag.admin_path(), empty).await;
}

#[tokio::test]
async fn an_erased_submission_is_in_no_file() {
    let service = service().await;
    let forms = people(&service, "one").await;
    assert!(!left(&service, &sentinel("one", 7)).is_empty());
    for form in &forms {
        let id = submission(&service, form).await;
        let path = format!("/submissions/{id}?empty_variables=true");
        let erased = service.admin(Method::DELETE, &path, Value::Null).await;
        assert_eq!(erased.status, 204, "{}", erased.body);
    }
    assert_nothing_is_left(&service, "one");
}

#[tokio::test]
async fn an_erased_person_is_in_no_file_and_others_are_as_they_were() {
    let service = service().await;
    let (forms, others) = (
        people(&service, "person").await,
        people(&service, "other").await,
    );
    for person in 0..forms.len() {
        let body = json!({"value": mail("person", person), "empty_variables": true});
        let erased = service
            .admin(Method::POST, "/submissions/erase", body)
            .await;
        assert_eq!(erased.expect(200)["erased"], 1);
    }
    assert_nothing_is_left(&service, "person");
    for (person, form) in others.iter().enumerate() {
        let kept = service.variable(&form.tag, "name").await;
        assert_eq!(kept, Some(text("other", person)));
    }
}

#[tokio::test]
async fn erased_traces_of_a_tag_are_in_no_file() {
    let service = service().await;
    let forms = people(&service, "traces").await;
    for form in &forms {
        empty_variables(&service, form).await;
    }
    assert!(!left(&service, &sentinel("traces", 7)).is_empty());
    for form in &forms {
        let path = format!("{}/traces", form.tag.admin_path());
        let erased = service.admin(Method::DELETE, &path, Value::Null).await;
        assert_eq!(erased.status, 204, "{}", erased.body);
    }
    assert_nothing_is_left(&service, "traces");
}

#[tokio::test]
async fn an_erased_visitor_is_in_no_file() {
    let service = service().await;
    let (tag, mut inlay) = service.bottle().await;
    let mut taps = Vec::new();
    for value in 0..PEOPLE {
        let tapped = service.tap(&inlay.url(&tag)).await;
        let update = json!({"registered": text("visitor", value)});
        service.update(tapped.key(), update).await.expect(200);
        taps.push(service.last_interaction().await);
    }
    assert!(!left(&service, &sentinel("visitor", 7)).is_empty());
    // Each tap proves only itself: nothing else shows that it was the same person.
    for tap in taps {
        let path = format!("/interactions/{tap}/visitor?empty_variables=true");
        let erased = service.admin(Method::DELETE, &path, Value::Null).await;
        assert_eq!(erased.expect(200)["interactions"], 1);
    }
    assert_nothing_is_left(&service, "visitor");
}

/// Data that housekeeping deletes is overwritten in the same commit. The log is emptied after some
/// minutes, or when the service stops.
#[tokio::test]
async fn what_housekeeping_removed_is_in_no_file_after_a_restart() {
    const TWO_MONTHS: i64 = 62 * 24 * 60 * 60 * 1000;
    let service = service().await;
    let settings = json!({"submission_months": 1, "retention_months": 1, "audit_months": 1});
    service.admin_patch("/settings", settings).await;
    for form in people(&service, "old").await {
        empty_variables(&service, &form).await;
    }
    service.advance(TWO_MONTHS);
    tapdesk_service::housekeeping::sweep(service.service())
        .await
        .expect("it is swept");
    let taps = service.admin_get("/interactions").await;
    assert_eq!(taps["items"], json!([]));
    let service = service.restart(0).await;
    assert_nothing_is_left(&service, "old");
}

/// A reader sees the database as it was when it began, so the log has to stay until the reader
/// ends.
#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_waits_for_a_reader_to_end() {
    let service = service().await;
    let form = Form::new(&service).await;
    send(&service, &form.tag, "Ada", &mail("reader", 0), true).await;
    let reader = Connection::open(service.folder().join("tapdesk.db")).unwrap();
    let count = |reader: &Connection| -> i64 {
        let count = "SELECT count(*) FROM submissions";
        reader.query_row(count, [], |row| row.get(0)).unwrap()
    };
    reader.execute_batch("BEGIN").unwrap();
    assert_eq!(count(&reader), 1);
    let client = service.another();
    let erasing = tokio::spawn(async move {
        let body = json!({"value": mail("reader", 0), "empty_variables": true});
        let path = "/submissions/erase";
        client.admin(Method::POST, path, body).await.expect(200)
    });
    eventually("the submission is gone", async || {
        let page = service.admin_get("/submissions").await;
        (page["items"] == json!([])).then_some(())
    })
    .await;
    assert_eq!(count(&reader), 1, "it sees what was there");
    assert!(!left(&service, &mail("reader", 0)).is_empty());
    // Taps are still recorded in the meantime.
    service.tap(&form.tag.path()).await;
    reader.execute_batch("COMMIT").unwrap();
    assert_eq!(erasing.await.unwrap(), json!({"erased": 1}));
    let left = left(&service, &mail("reader", 0));
    assert!(left.is_empty(), "{left:?}");
}
