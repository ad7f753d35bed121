//! Erased personal data is nowhere: in no table of either database, and in nothing that is sent
//! afterwards. All ways of erasing are tested, with every kind of data that can contain a value.

mod clients;
mod sent;
mod tables;

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::fixtures::TestInlay;
use tapdesk_tests::{Answering as _, Client, TapResult, TestService, TestTag};

use super::submissions::{Form, key, post_to};
use tables::holding;

/// A text that is in all values of the person.
const SENTINEL: &str = "sentinel";
const NAME: &str = "Sentinel Lovelace";
const MAIL: &str = "sentinel@example.com";

/// The ways to erase data.
const WAYS: [&str; 4] = ["submission", "person", "visitor", "traces"];

/// A tag with a form, and the taps of the person there.
struct Place {
    tag: TestTag,
    inlay: TestInlay,
    /// The id of the person's tap.
    tap: i64,
}

async fn start() -> TestService {
    TestService::start_with(|options| options.settings.private_webhooks = true).await
}

/// Opens a URL. All visitors have the same phone, and are in the same network.
async fn open(client: &Client, url: &str) -> TapResult {
    let request = client.get(url).header("user-agent", "The same phone");
    TapResult::of(request.answer().await)
}

async fn send(client: &Client, tag: &TestTag, page: &str, (name, mail): (&str, &str)) {
    let fields = [("tag:variable:name", name), ("tag:variable:email", mail)];
    let sent = post_to(client, tag, page, &fields).await;
    assert_eq!(sent.status, 200, "{}", sent.body);
}

impl Place {
    async fn new(client: &Client) -> Self {
        let tag = Form::new(client).await.tag;
        let inlay = client.rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None);
        let inlay = inlay.await;
        Self { tag, inlay, tap: 0 }
    }

    async fn open(&mut self, client: &Client) -> String {
        let page = open(client, &self.inlay.url(&self.tag)).await;
        page.answer.body
    }

    /// The person taps, sends an update that is refused, and then sends the form.
    async fn enter(&mut self, client: &Client) {
        let page = self.open(client).await;
        self.tap = client.last_interaction().await;
        // The key in the form that requests use.
        let unknown = json!({"rolling_key": key(&page), "data": {"sentinel_key": "x"}});
        client.update_record(&unknown).await.expect(400);
        client.payload_answer(key(&page)).await.expect(200);
        send(client, &self.tag, &page, (NAME, MAIL)).await;
    }

    /// The next visitor taps and sends the form. Returns the id of that tap.
    async fn next(&mut self, client: &Client) -> i64 {
        let page = self.open(client).await;
        let tap = client.last_interaction().await;
        let values = ("Grace", "grace@example.com");
        send(client, &self.tag, &page, values).await;
        tap
    }

    async fn put(&self, client: &Client, variable: &str, value: &str) {
        let path = format!("{}/variables/{variable}", self.tag.admin_path());
        let put = client.admin(Method::PUT, &path, json!({"value": value}));
        assert!(put.await.status < 300);
    }

    async fn erase(&self, client: &Client, way: &str, empty: bool) {
        let (method, path, body) = match way {
            "submission" => {
                let of_tag = format!("/submissions?tag_id={}", self.tag.id);
                let listed = client.admin_get(&of_tag).await;
                let listed = listed["items"].as_array().expect("items").clone();
                let theirs = |one: &&Value| one["interaction_id"] == self.tap;
                let id = listed.iter().find(theirs).expect("the submission")["id"].clone();
                let path = format!("/submissions/{id}?empty_variables={empty}");
                (Method::DELETE, path, Value::Null)
            }
            "person" => {
                let person = json!({"value": MAIL, "empty_variables": empty});
                (Method::POST, "/submissions/erase".to_owned(), person)
            }
            "visitor" => {
                let path = format!("/interactions/{}/visitor?empty_variables={empty}", self.tap);
                (Method::DELETE, path, Value::Null)
            }
            _ => {
                let path = format!("{}/traces", self.tag.admin_path());
                (Method::DELETE, path, Value::Null)
            }
        };
        let erased = client.admin(method, &path, body).await;
        assert!(erased.status < 300, "{way}: {}", erased.body);
    }
}

/// The change of a variable in a trace.
fn change(traced: &Value, key: &str) -> Value {
    let changes = traced["update"]["changes"].as_array().expect("changes");
    let found = changes.iter().find(|change| change["key"] == key);
    found.expect("the change").clone()
}

async fn names(service: &TestService) -> BTreeSet<String> {
    holding(service, SENTINEL).await
}

#[tokio::test]
async fn no_table_holds_a_value_that_others_replaced() {
    for way in WAYS {
        let service = start().await;
        let mut place = Place::new(&service).await;
        place.enter(&service).await;
        // An administrator searches for a value and corrects one; the next visitor changes the
        // other.
        let search = format!("/submissions?q={MAIL}");
        service.admin_get(&search).await;
        let export = format!("/submissions/export?format=jsonl&value={MAIL}");
        let export = service.admin(Method::GET, &export, Value::Null).await;
        assert!(export.body.contains(MAIL), "{}", export.body);
        place.put(&service, "name", "The owner's").await;
        let next = place.next(&service).await;
        tapdesk_service::housekeeping::sweep(service.service())
            .await
            .expect("house is kept");
        let before = names(&service).await;
        for table in ["audit", "updates", "submissions", "refused_updates"] {
            assert!(before.contains(table), "{before:?}");
        }
        place.erase(&service, way, false).await;
        assert_eq!(names(&service).await, BTreeSet::new(), "{way}");

        // The next visitor's record shows that there was a value before, and contains only their
        // own.
        let traced = service.admin_get(&format!("/interactions/{next}")).await;
        if way == "traces" {
            assert_eq!(traced["update"]["changes"], json!([]));
            continue;
        }
        let mail = json!({"key": "email", "old": null, "new": "grace@example.com"});
        assert_eq!(change(&traced, "email"), mail, "{way}");
        assert_eq!(change(&traced, "name")["old"], "The owner's");
        assert!(traced.to_string().contains("email: (erased) → grace@"));
        assert_eq!(
            service.variable(&place.tag, "name").await.as_deref(),
            Some("Grace")
        );
    }
}

#[tokio::test]
async fn a_value_that_the_owner_keeps_comes_into_no_later_record() {
    for way in WAYS {
        let service = start().await;
        let mut place = Place::new(&service).await;
        place.enter(&service).await;
        place.erase(&service, way, false).await;
        let kept = names(&service).await;
        assert_eq!(kept, BTreeSet::from(["properties".to_owned()]), "{way}");
        assert_eq!(
            service.variable(&place.tag, "email").await.as_deref(),
            Some(MAIL)
        );
        let next = place.next(&service).await;
        assert_eq!(names(&service).await, BTreeSet::new(), "{way}");
        let traced = service.admin_get(&format!("/interactions/{next}")).await;
        assert_eq!(change(&traced, "name")["old"], Value::Null);
        // Only the first record after the erasure has no old value.
        let after = place.next(&service).await;
        let traced = service.admin_get(&format!("/interactions/{after}")).await;
        assert_eq!(change(&traced, "name")["old"], "Grace");
    }
}

#[tokio::test]
async fn the_owners_changes_after_an_erasure_record_no_erased_value() {
    for change in ["set", "delete", "patch", "delete_tag"] {
        let service = start().await;
        // A webhook receives the events.
        let hook = json!({"url": "http://127.0.0.1:9/", "events": ["tag.updated"], "include": ["variables"]});
        service.admin_create("/webhooks", hook).await;
        let mut place = Place::new(&service).await;
        place.enter(&service).await;
        place.erase(&service, "submission", false).await;
        let path = place.tag.admin_path();
        match change {
            "set" => {
                place.put(&service, "name", "x").await;
                place.put(&service, "email", "x").await;
            }
            "delete" => {
                for variable in ["name", "email"] {
                    let path = format!("{path}/variables/{variable}");
                    let deleted = service.admin(Method::DELETE, &path, Value::Null).await;
                    assert_eq!(deleted.status, 204);
                }
            }
            "patch" => {
                // A variable that this change leaves out stays marked.
                let one = json!({"variables": {"agreed": "x"}});
                service.admin_patch(&path, one).await;
                let kept = names(&service).await;
                assert_eq!(kept, BTreeSet::from(["properties".to_owned()]));
                let both = json!({"variables": {"name": "x", "email": "x"}});
                service.admin_patch(&path, both).await;
            }
            _ => {
                let deleted = service.admin(Method::DELETE, &path, Value::Null).await;
                assert_eq!(deleted.status, 204);
                let kept = names(&service).await;
                assert_eq!(kept, BTreeSet::from(["properties".to_owned()]));
                continue;
            }
        }
        assert_eq!(names(&service).await, BTreeSet::new(), "{change}");
        let check = service.admin_get("/audit/check").await;
        assert_eq!(check["problem"], Value::Null);
    }
}

#[tokio::test]
async fn variables_that_are_emptied_leave_nothing() {
    for way in ["submission", "person", "visitor"] {
        let service = start().await;
        let mut place = Place::new(&service).await;
        place.enter(&service).await;
        place.erase(&service, way, true).await;
        assert_eq!(names(&service).await, BTreeSet::new(), "{way}");
        let email = service.variable(&place.tag, "email").await;
        assert_eq!(email.as_deref(), Some(""));
    }
}

#[tokio::test]
async fn what_came_without_a_form_is_found_by_its_text() {
    let service = start().await;
    let (tag, mut inlay) = service.bottle().await;
    let (other, _) = service.bottle().await;
    let tapped = open(&service, &inlay.url(&tag)).await;
    let mail = json!({"registered": "SENTINEL@example.com"});
    service.update(tapped.key(), mail).await.expect(200);
    let tapped = open(&service, &inlay.url(&tag)).await;
    let mail = json!({"registered": "grace@example.com"});
    service.update(tapped.key(), mail).await.expect(200);
    let tap = service.last_interaction().await;

    let erase = async |body: Value| {
        let erased = service
            .admin(Method::POST, "/submissions/erase", body)
            .await;
        erased.expect(200)["erased"].clone()
    };
    let elsewhere = json!({"value": MAIL, "tag_id": other.id});
    assert_eq!(erase(elsewhere).await, 0);
    assert_eq!(erase(json!({"value": "sentinel"})).await, 0, "a part");
    assert_eq!(erase(json!({"value": MAIL})).await, 1);
    assert_eq!(names(&service).await, BTreeSet::new());
    let traced = service.admin_get(&format!("/interactions/{tap}")).await;
    let change = json!({"key": "registered", "old": null, "new": "grace@example.com"});
    assert_eq!(traced["update"]["changes"], json!([change]));
    assert_eq!(erase(json!({"value": MAIL})).await, 0);
}
