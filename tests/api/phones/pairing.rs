//! Phones are created, paired, listed and ended.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::fixtures::on_templates;
use tapdesk_tests::{Answering as _, Client, TestService};

use super::{create, origin, path_of, phone, phone_with, press};
use crate::api::events::Listener;

#[tokio::test]
async fn a_phone_is_paired_by_a_button_and_its_url_is_good_once() {
    let service = TestService::start().await;
    let created = create(&service, &["read"], Value::Null).await;
    assert_eq!(created["state"], "unpaired");
    let path = path_of(&created);
    // A link preview opens the address, too.
    for _ in 0..2 {
        let page = service.get(&path).answer().await;
        assert_eq!(page.status, 200, "{}", page.body);
        assert!(page.body.contains("Pair this phone"), "{}", page.body);
        assert_eq!(page.header("cache-control"), Some("no-store"));
        assert_eq!(page.header("set-cookie"), None);
    }
    let paired = press(&service, &path).await;
    assert_eq!(paired.status, 200, "{}", paired.body);
    let cookie = paired.header("set-cookie").expect("a cookie").to_owned();
    for part in ["; Path=/;", "; HttpOnly", "; SameSite=Lax"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Domain"), "{cookie}");
    assert_eq!(cookie.contains("; Secure"), on_templates(), "{cookie}");
    assert_eq!(press(&service, &path).await.status, 404);
    assert_eq!(service.get(&path).answer().await.status, 404);

    let listed = service.admin(Method::GET, "/phones", Value::Null).await;
    let secret = cookie.split(['=', ';']).nth(1).expect("a value");
    let code = path.rsplit('/').next().expect("a code");
    assert!(!listed.body.contains(secret) && !listed.body.contains(code));
    let expected = json!({"items": [{
        "id": created["id"], "name": "Bench", "scopes": ["read"], "group_ids": null,
        "created_at": "2026-01-01T12:00:00Z", "paired_at": "2026-01-01T12:00:00Z",
        "last_used_at": null, "expires_at": null, "state": "active",
    }], "next": null});
    let mut listed = listed.expect(200);
    let phone = listed["items"][0].as_object_mut().expect("a phone");
    let hosts = phone.remove("paired_hosts").expect("hosts");
    assert_eq!(hosts.as_array().map(Vec::len), Some(1), "{hosts}");
    phone.remove("unpaired_hosts").expect("other hosts");
    assert_eq!(listed, expected);
}

#[tokio::test]
async fn a_pair_url_is_good_for_ten_minutes_and_not_after_its_phone_was_ended() {
    let service = TestService::start().await;
    let late = path_of(&create(&service, &["read"], Value::Null).await);
    service.advance(9 * 60_000);
    assert_eq!(service.get(&late).answer().await.status, 200);
    service.advance(60_000);
    assert_eq!(service.get(&late).answer().await.status, 404);
    assert_eq!(press(&service, &late).await.status, 404);

    let ended = create(&service, &["read"], Value::Null).await;
    let path = format!("/phones/{}", ended["id"]);
    let deleted = service.admin(Method::DELETE, &path, Value::Null).await;
    deleted.expect(204);
    assert_eq!(press(&service, &path_of(&ended)).await.status, 404);
    let again = service.admin(Method::DELETE, &path, Value::Null).await;
    again.expect(404);
}

#[tokio::test]
async fn of_two_phones_with_one_pair_url_one_is_paired() {
    let service = TestService::start().await;
    let path = path_of(&create(&service, &["read"], Value::Null).await);
    let (one, other) = tokio::join!(press(&service, &path), press(&service, &path));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 404]);
}

/// The browser keeps only the answer to the second press. If that were a refusal, the phone would
/// have no cookie, and the desk would see it as paired.
#[tokio::test]
async fn a_button_that_is_pressed_twice_pairs_the_phone_once_with_one_cookie() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let path = path_of(&create(&service, &["read"], Value::Null).await);
    let page_of = async || {
        let page = service.get(&path).answer().await.body;
        let (_, rest) = page
            .split_once(r#"name="page" value=""#)
            .expect("a text of the page");
        rest.split('"').next().expect("a value").to_owned()
    };
    let (page, other_page) = (page_of().await, page_of().await);
    assert_ne!(page, other_page);
    let press_at = async |page: &str| {
        let form = service.post_form(&path, &[("page", page)]);
        form.header("origin", origin(&service)).answer().await
    };
    let (one, other) = tokio::join!(press_at(&page), press_at(&page));
    let later = press_at(&page).await;
    let cookie = one.header("set-cookie").expect("a cookie").to_owned();
    for answer in [&one, &other, &later] {
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert!(answer.body.contains("This phone is paired"));
        assert_eq!(answer.header("set-cookie"), Some(&*cookie));
    }
    let value = cookie.split(['=', ';']).nth(1).expect("a value");
    assert!(!one.body.contains(value) && !value.contains(&page));
    let rows = service.admin_get("/audit?limit=2").await;
    assert_ne!(rows["items"][1]["action"], "phones.pair", "{rows}");

    // The page of another phone, which read the same code.
    let answer = press_at(&other_page).await;
    assert_eq!((answer.status, answer.header("set-cookie")), (404, None));
    // A press of the same page, from another site.
    let foreign = service.post_form(&path, &[("page", &*page)]);
    let foreign = foreign.header("origin", "https://evil.example");
    let answer = foreign.answer().await;
    assert_eq!((answer.status, answer.header("set-cookie")), (404, None));

    let pair = cookie.split(';').next().expect("a pair");
    let tap = service.tap_with_cookie(&inlay.url(&tag), pair).await;
    assert_eq!(tap.status, 303);
    // The code's ten minutes are over.
    service.advance(10 * 60_000);
    assert_eq!(press_at(&page).await.status, 404);
}

/// A person opens the link again, or reloads the page after the pairing.
#[tokio::test]
async fn a_used_pair_url_says_to_its_phone_that_it_is_paired() {
    let service = TestService::start().await;
    let created = create(&service, &["read"], Value::Null).await;
    let path = path_of(&created);
    let paired = press(&service, &path).await;
    let cookie = paired.header("set-cookie").expect("a cookie");
    let cookie = cookie.split(';').next().expect("a pair").to_owned();
    let opened = async || {
        let again = service.get(&path).header("cookie", &cookie);
        again.answer().await
    };
    let again = opened().await;
    assert_eq!(again.status, 200, "{}", again.body);
    assert!(again.body.contains("This phone is paired already"));
    assert!(again.body.contains("Bench"), "{}", again.body);
    assert_eq!(service.get(&path).answer().await.status, 404);
    let phone = format!("/phones/{}", created["id"]);
    service
        .admin(Method::DELETE, &phone, Value::Null)
        .await
        .expect(204);
    assert_eq!(opened().await.status, 404);
}

/// Another site could give a visitor's phone the cookie of its own phone.
#[tokio::test]
async fn only_the_page_of_a_pair_url_pairs_a_phone() {
    let service = TestService::start().await;
    let path = path_of(&create(&service, &["read"], Value::Null).await);
    for origin in [None, Some("null"), Some("https://evil.example")] {
        let mut request = service.post(&path);
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        let answer = request.answer().await;
        assert_eq!(answer.status, 403, "{origin:?}");
        assert_eq!(answer.header("set-cookie"), None);
    }
    assert_eq!(press(&service, &path).await.status, 200);
}

#[tokio::test]
async fn a_pairing_is_told_and_recorded_with_the_phone_as_its_actor() {
    let service = TestService::start().await;
    let mut listener = Listener::at(&service, "").await;
    let phone = phone(&service, &["read"]).await;
    // The creation, and the pairing.
    for _ in 0..2 {
        let change = listener.next_change().await;
        assert_eq!(change, ("phones".to_owned(), json!(phone.id)));
    }
    let rows = service.admin_get("/audit?limit=1").await;
    let row = &rows["items"][0];
    let actor = json!({"kind": "phone", "id": phone.id, "name": "Bench"});
    assert_eq!(row["actor"], actor);
    assert_eq!(row["action"], "phones.pair");
    assert_eq!(row["object"], format!("phones/{}", phone.id));
    phone.end(&service).await;
    let change = listener.next_change().await;
    assert_eq!(change, ("phones".to_owned(), json!(phone.id)));
}

#[tokio::test]
async fn a_phone_has_no_right_that_its_maker_lacks() {
    let service = TestService::start().await;
    let end = "2026-01-02T12:00:00Z";
    let token = json!({"name": "Desk", "scopes": ["admin"], "expires_at": end});
    let token = service.admin_create("/tokens", token).await;
    let desk = Client::new(service.base(), token["token"].as_str().expect("a token"));
    let reader = json!({"name": "Reader", "scopes": ["read", "encode", "tags"]});
    let reader = service.admin_create("/tokens", reader).await;
    let reader = Client::new(service.base(), reader["token"].as_str().expect("a token"));
    let of_group = json!({"name": "Shop", "scopes": ["admin"], "group_ids": []});
    let of_group = service.admin_create("/tokens", of_group).await;
    let of_group = Client::new(service.base(), of_group["token"].as_str().expect("a token"));
    let phone = json!({"name": "Phone", "scopes": ["read"]});
    for (maker, status) in [(&desk, 422), (&reader, 403), (&of_group, 404)] {
        let answer = maker.admin(Method::POST, "/phones", phone.clone()).await;
        answer.expect(status);
    }
    let mut phone = phone;
    phone["expires_at"] = json!(end);
    desk.admin_create("/phones", phone).await;
}

#[tokio::test]
async fn a_phone_needs_a_name_scopes_of_its_work_and_an_end_in_the_future() {
    let service = TestService::start().await;
    for phone in [
        json!({"scopes": ["read"]}),
        json!({"name": "", "scopes": ["read"]}),
        json!({"name": "Bench"}),
        json!({"name": "Bench", "scopes": []}),
        json!({"name": "Bench", "scopes": ["admin"]}),
        json!({"name": "Bench", "scopes": ["read", "other"]}),
        json!({"name": "Bench", "scopes": ["read"], "expires_at": "2026-01-01T12:00:00Z"}),
        json!({"name": "Bench", "scopes": ["read"], "pair_url": "mine"}),
    ] {
        let answer = service.admin(Method::POST, "/phones", phone).await;
        answer.expect(422);
    }
    let nowhere = json!({"name": "Bench", "scopes": ["read"], "group_ids": [7]});
    let answer = service.admin(Method::POST, "/phones", nowhere).await;
    assert_eq!(answer.expect(409)["errors"][0]["field"], "group_ids");
    assert_eq!(service.admin_get("/phones").await["items"], json!([]));
}

/// A cookie is of one host, so a phone is paired at each host of tags.
#[tokio::test]
async fn a_phone_is_paired_at_each_host_of_tags() {
    let service = TestService::start().await;
    for (name, host) in [("Old", "old.example"), ("Older", "older.example")] {
        let template = json!({
            "name": name, "technology": "ntag424dna", "mac_from": "none",
            "template": format!("https://{host}/{{slug}}?uid={{picc}}&token={{mac}}"),
        });
        service.admin_create("/url-templates", template).await;
    }
    let created = create(&service, &["read"], Value::Null).await;
    let listed = async |member: &str| {
        let phones = service.admin_get("/phones").await;
        phones["items"][0][member].clone()
    };
    assert_eq!(listed("paired_hosts").await, json!([]));
    let at = async |host: &str, origin: &str, path: &str| {
        let request = service.post(path).header("host", host);
        request.header("origin", origin).answer().await
    };
    let own = service.authority();
    let first = at(own, service.base(), &path_of(&created)).await;
    assert_eq!(first.status, 200, "{}", first.body);
    assert!(
        first
            .header("set-cookie")
            .expect("a cookie")
            .starts_with("tapdesk_staff=")
    );
    let others = json!(["old.example", "older.example"]);
    assert_eq!(listed("unpaired_hosts").await, others);
    let (_, rest) = first
        .body
        .split_once("https://old.example")
        .expect("a link to the other host");
    let next = rest.split('"').next().expect("a path").to_owned();
    assert!(
        first.body.contains("https://older.example"),
        "{}",
        first.body
    );

    let second = at("old.example", "https://old.example", &next).await;
    assert_eq!(second.status, 200, "{}", second.body);
    let cookie = second.header("set-cookie").expect("a cookie");
    assert!(cookie.starts_with("__Host-tapdesk_staff="), "{cookie}");
    assert!(cookie.ends_with("; Secure"), "{cookie}");
    // The code of the first page is used up; the second page has one for the last host.
    let again = at("older.example", "https://older.example", &next).await;
    assert_eq!(again.status, 404);
    assert!(
        !second.body.contains("https://old.example"),
        "{}",
        second.body
    );
    let (_, rest) = second
        .body
        .split_once("https://older.example")
        .expect("a link to the last host");
    let last = rest.split('"').next().expect("a path");
    let third = at("older.example", "https://older.example", last).await;
    assert_eq!(third.status, 200, "{}", third.body);
    assert!(!third.body.contains("/staff/pair/"), "{}", third.body);
    assert_eq!(listed("unpaired_hosts").await, json!([]));
    let paired = listed("paired_hosts").await;
    assert_eq!(paired.as_array().map(Vec::len), Some(3), "{paired}");

    // A host that is added later: the desk learns that the phone is a visitor's there.
    let template = json!({
        "name": "New", "technology": "ntag424dna", "mac_from": "none",
        "template": "https://new.example/{slug}?uid={picc}&token={mac}",
    });
    service.admin_create("/url-templates", template).await;
    assert_eq!(listed("unpaired_hosts").await, json!(["new.example"]));
    assert_eq!(listed("state").await, "active");
}

#[tokio::test]
async fn the_state_of_a_phone_follows_its_end() {
    let service = TestService::start().await;
    let end = json!({"expires_at": "2026-01-01T13:00:00Z"});
    let phone = phone_with(&service, &["read"], end).await;
    let state = async || service.admin_get("/phones").await["items"][0]["state"].clone();
    assert_eq!(state().await, "active");
    service.advance(60 * 60_000);
    assert_eq!(state().await, "expired");
    phone.end(&service).await;
    assert_eq!(service.admin_get("/phones").await["items"], json!([]));
}
