//! Taps of staff phones: their page, their record, and everybody else's taps.

use reqwest::Method;
use serde_json::{Map, Value, json};
use tapdesk_tests::fixtures::{TEMPLATE_HOST, unlisted_template, unlisted_uid, unlisted_url};
use tapdesk_tests::{Answer, Answering as _, Receiver, TestService};

use super::{Phone, phone, phone_with, sheet};

/// A tap at the host of a URL template, which phones open by https.
async fn tap_at(service: &TestService, staff: &Phone, host: &str, path: &str) -> Answer {
    let (_, secret) = staff.cookie.split_once('=').expect("a pair");
    let cookie = format!("__Host-tapdesk_staff={secret}");
    let request = service.get(&format!("{}{path}", service.base()));
    let request = request.header("host", host).header("cookie", cookie);
    request.answer().await
}

#[tokio::test]
async fn a_tap_of_staff_shows_its_page_and_is_recorded_without_a_key() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let staff = phone(&service, &["read"]).await;
    let url = inlay.url(&tag);
    let tap = staff.tap(&url).await;
    assert_eq!((tap.status, &tap.rk, &tap.cookie), (303, &None, &None));
    assert_eq!(tap.answer.header("cache-control"), Some("no-store"));
    assert_eq!(tap.answer.header("vary"), Some("Cookie"));
    let id = service.last_interaction().await;
    let path = format!("/staff/taps/{id}");
    assert_eq!(tap.location.as_deref(), Some(&*path));

    // A reload shows the same verdict, because it does not send the code again.
    for _ in 0..2 {
        let page = staff.open(&path).await;
        assert_eq!(page.status, 200, "{}", page.body);
        assert!(
            page.body.contains("<strong>Verified</strong>"),
            "{}",
            page.body
        );
        assert!(page.body.contains("Bottle 41"), "{}", page.body);
        assert_eq!(page.header("cache-control"), Some("no-store"));
        assert_eq!(page.header("vary"), Some("Cookie"));
        // With `no-referrer`, browsers would not name the origin of its forms.
        assert_eq!(page.header("referrer-policy"), Some("same-origin"));
    }
    let newest = async || service.admin_get("/interactions?limit=1").await["items"][0].clone();
    let recorded = newest().await;
    assert_eq!(recorded["id"], id);
    assert_eq!(recorded["staff"], true, "{recorded}");
    assert_eq!(recorded["origin"], "staff");
    assert_eq!(recorded["key_issued"], false);
    assert_eq!(recorded["reason"], "verified");

    // It moved the counter like any tap, so its URL is used up.
    service.tap(&url).await;
    let replayed = newest().await;
    assert_eq!(replayed["reason"], "replayed");
    assert_eq!(replayed["staff"], false);
    let page = staff.open(&staff.staff_tap(&url).await).await;
    assert!(
        page.body.contains("<strong>Not verified</strong>"),
        "{}",
        page.body
    );
    assert!(page.body.contains("used before"), "{}", page.body);
    let listed = service.admin_get("/phones").await;
    assert_eq!(listed["items"][0]["last_used_at"], "2026-01-01T12:00:00Z");
}

/// It is the owner's own record of all taps.
#[tokio::test]
async fn a_webhook_gets_taps_of_staff_with_their_mark() {
    let service = TestService::start_with(|options| options.settings.private_webhooks = true).await;
    let _house = service.keep_house();
    let receiver = Receiver::start().await;
    let webhook = json!({"url": receiver.url(), "events": ["tap.verified"]});
    service.admin_create("/webhooks", webhook).await;
    let (tag, mut inlay) = service.bottle().await;
    let staff = phone(&service, &["read"]).await;
    staff.staff_tap(&inlay.url(&tag)).await;
    let event = receiver.wait_for(1).await[0].json();
    let of = |member: &str| event["data"][member].clone();
    assert_eq!(
        ["staff", "origin", "key_issued"].map(of),
        [json!(true), json!("staff"), json!(false)]
    );
}

/// Behind one router, phones of one model look alike.
#[tokio::test]
async fn a_visitor_is_new_although_a_phone_of_staff_with_its_address_was_there() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let staff = phone(&service, &["read"]).await;
    for is_known in [false, true] {
        staff.staff_tap(&inlay.url(&tag)).await;
        let tap = service.tap(&inlay.url(&tag)).await;
        let payload = service.payload(tap.key()).await;
        assert_eq!(payload["device"]["r"], is_known, "{payload}");
    }
}

/// The template decides which taps of its unlisted chips are recorded.
#[tokio::test]
async fn a_tap_of_an_unlisted_chip_is_one_of_staff_if_it_is_recorded() {
    let (uid, url) = (unlisted_uid(7).to_string(), unlisted_url(7, 1));
    for unlisted in ["refuse", "page", "create"] {
        let service = TestService::start().await;
        let template = unlisted_template(&json!({"unlisted": unlisted}));
        service.admin_create("/url-templates", template).await;
        let sheet = sheet(&service, "Delivery").await;
        let staff = phone(&service, &["read", "encode"]).await;
        let tap = tap_at(&service, &staff, TEMPLATE_HOST, &url).await;
        if unlisted == "refuse" {
            assert_eq!(tap.status, 404, "{}", tap.body);
            continue;
        }
        assert_eq!(tap.status, 303, "{unlisted}: {}", tap.body);
        let path = tap.header("location").expect("a page");
        let id = service.last_interaction().await;
        let recorded = service.admin_get(&format!("/interactions/{id}")).await;
        assert_eq!(
            (&recorded["staff"], &recorded["key_issued"]),
            (&json!(true), &json!(false)),
            "{recorded}"
        );
        assert_eq!(recorded["tag_id"].is_null(), unlisted == "page");
        let page = staff.open(path).await;
        assert!(page.body.contains(&uid), "{unlisted}: {}", page.body);
        let good = [("action", "good"), ("sheet", &*sheet), ("note", "")];
        let saved = staff.send(path, &good).await;
        assert_eq!(saved.status, 303, "{unlisted}: {}", saved.body);
        let stored = service.admin_get(&format!("/sheets/{sheet}")).await;
        assert_eq!(stored["rows"][0]["uid"], uid, "{stored}");
    }
}

/// A good code is not all that counts.
#[tokio::test]
async fn a_page_says_that_goods_are_recalled_or_a_tag_is_archived() {
    let service = TestService::start().await;
    let staff = phone(&service, &["encode"]).await;
    let group = json!({"kind": "product", "name": "Wine"});
    let group = service.admin_create("/groups", group).await["id"].clone();
    let tag = service.redirecting_tag(json!({"group_id": group})).await;
    let page = async || {
        let path = staff.staff_tap(&tag.path()).await;
        staff.open(&path).await.body
    };
    let said = |page: &str| ["Archived: ", "Recalled: "].map(|text| page.contains(text));
    assert_eq!(said(&page().await), [false, false]);
    let archived = json!({"status": "archived"});
    service.admin_patch(&tag.admin_path(), archived).await;
    assert_eq!(said(&page().await), [true, false]);
    // Visitors get the page of the recall also at an archived tag.
    let recalled = json!({"status": "recalled"});
    service
        .admin_patch(&format!("/groups/{group}"), recalled)
        .await;
    assert_eq!(said(&page().await), [false, true]);
}

#[tokio::test]
async fn a_page_says_that_the_seal_is_broken() {
    let service = TestService::start().await;
    let template = json!({
        "name": "Sealed bottles", "technology": "ntag424dna_tt", "mac_from": "uid",
        "template": "https://sealed.example/v?u={uid}&n={counter}&t={tamper}&c={mac}",
    });
    let template = service.admin_create("/url-templates", template).await;
    let inlay = json!({"name": "Bottle", "url_template_id": template["id"]});
    let inlay = service.admin_create("/simulator/inlays", inlay).await;
    let staff = phone(&service, &["read"]).await;
    for (seal, is_broken) in [("sealed", false), ("open", true), ("reclosed", true)] {
        let path = format!("/simulator/inlays/{}/tap", inlay["id"]);
        let read = service.admin(Method::POST, &path, json!({"seal": seal}));
        let read = read.await.expect(200);
        let url = read["url"].as_str().expect("a URL");
        let path = url
            .strip_prefix("https://sealed.example")
            .expect("the host");
        let tap = tap_at(&service, &staff, "sealed.example", path).await;
        assert_eq!(tap.status, 303, "{}", tap.body);
        let page = staff.open(tap.header("location").expect("a page")).await;
        let said = page.body.contains("The seal is broken");
        assert_eq!(said, is_broken, "{seal}: {}", page.body);
        assert!(page.body.contains("<strong>Verified</strong>"));
    }
}

/// Both taps are made at one time, of one tag.
#[tokio::test]
async fn a_visitor_sees_nothing_of_staff_in_the_same_second() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let staff = phone(&service, &["read", "tags"]).await;
    let before = service.tap(&inlay.url(&tag)).await;
    let path = staff.staff_tap(&inlay.url(&tag)).await;
    let after = service.tap(&inlay.url(&tag)).await;
    for tap in [before, after] {
        assert_eq!(tap.status, 302);
        let payload = service.payload(tap.key()).await;
        assert_eq!(payload["tag_verified"], true);
    }
    let page = service.get(&path).answer().await;
    let nothing = service.get("/staff/taps/999").answer().await;
    assert_eq!((page.status, &page.body), (404, &nothing.body));
    // The cookie of the visitor's key opens nothing either.
    let visitor = service.tap(&inlay.url(&tag)).await;
    if let Some(cookie) = visitor.cookie {
        let request = service.get(&path).header("cookie", cookie);
        assert_eq!(request.answer().await.status, 404);
    }
    // Nor is the tap of a visitor a page of staff.
    let of_visitor = format!("/staff/taps/{}", service.last_interaction().await);
    assert_eq!(staff.open(&of_visitor).await.status, 404);
}

#[tokio::test]
async fn a_phone_that_was_ended_gets_the_visitors_page_at_once() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let staff = phone(&service, &["read", "tags"]).await;
    let path = staff.staff_tap(&inlay.url(&tag)).await;
    let token = staff.token(&path).await;
    staff.end(&service).await;
    let tap = staff.tap(&inlay.url(&tag)).await;
    assert_eq!(tap.status, 302);
    tap.key();
    assert_eq!(staff.open(&path).await.status, 404);
    let fields = [
        ("token", &*token),
        ("action", "experience"),
        ("experience_id", ""),
    ];
    assert_eq!(staff.form(&path, &fields).answer().await.status, 404);
}

#[tokio::test]
async fn a_phone_that_expired_gets_the_visitors_page() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let end = json!({"expires_at": "2026-01-01T12:30:00Z"});
    let staff = phone_with(&service, &["read"], end).await;
    let path = staff.staff_tap(&inlay.url(&tag)).await;
    service.advance(30 * 60_000 - 1);
    staff.staff_tap(&inlay.url(&tag)).await;
    service.advance(1);
    let tap = staff.tap(&inlay.url(&tag)).await;
    assert_eq!(tap.status, 302);
    tap.key();
    assert_eq!(staff.open(&path).await.status, 404);
}

#[tokio::test]
async fn the_cookie_of_a_phone_means_nothing_to_another_service() {
    let (service, other) = (TestService::start().await, TestService::start().await);
    let staff = phone(&service, &["read"]).await;
    let (tag, mut inlay) = other.bottle().await;
    let tap = other.tap_with_cookie(&inlay.url(&tag), &staff.cookie).await;
    assert_eq!(tap.status, 302);
    tap.key();
}

/// A page on the same host could read the answer to its own request, or show it in a frame.
#[tokio::test]
async fn a_script_or_a_frame_gets_the_visitors_answer() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let staff = phone(&service, &["read"]).await;
    let path = staff.staff_tap(&inlay.url(&tag)).await;
    for into in ["empty", "iframe", "image"] {
        let sent = |path: &str| {
            let request = staff.client.get(path).header("cookie", &staff.cookie);
            request.header("sec-fetch-dest", into)
        };
        let tap = sent(&inlay.url(&tag)).answer().await;
        assert_eq!(tap.status, 302, "{into}");
        assert_eq!(sent(&path).answer().await.status, 404, "{into}");
    }
    let page = staff.open(&path).await;
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    // A window that a page of the same host opened is not for that page.
    let opener = page.header("cross-origin-opener-policy");
    assert_eq!(opener, Some("same-origin"));
}

#[tokio::test]
async fn a_phone_of_a_group_sees_the_tags_of_its_group() {
    let service = TestService::start().await;
    let group = json!({"kind": "product", "name": "Wine"});
    let group = service.admin_create("/groups", group).await["id"].clone();
    let inside = service
        .redirecting_tag(json!({"name": "Inside", "group_id": group}))
        .await;
    let outside = service.redirecting_tag(json!({"name": "Outside"})).await;
    let limit = json!({"group_ids": [group]});
    let staff = phone_with(&service, &["read", "tags"], limit).await;
    let page = staff.open(&staff.staff_tap(&inside.path()).await).await;
    assert!(
        page.body.contains("Inside") && page.body.contains("Wine"),
        "{}",
        page.body
    );
    let path = staff.staff_tap(&outside.path()).await;
    let page = staff.open(&path).await;
    assert_eq!(page.status, 200);
    assert!(
        page.body.contains("Not in the groups of this phone"),
        "{}",
        page.body
    );
    assert!(!page.body.contains("Outside"), "{}", page.body);
    let fields = [
        ("token", "1.x"),
        ("action", "experience"),
        ("experience_id", ""),
    ];
    let answer = staff.form(&path, &fields).answer().await;
    assert_eq!(answer.status, 403);
    assert!(
        answer.body.contains("Not in the groups of this phone")
            && answer.body.contains("left the groups of this phone"),
        "{}",
        answer.body
    );
    let tag = service.admin_get(&outside.admin_path()).await;
    assert_ne!(tag["experience_id"], Value::Null);
}

#[tokio::test]
async fn a_page_shows_no_more_than_the_scopes_of_its_phone() {
    let service = TestService::start().await;
    let more = json!({"variables": {"owner": "Ada"}, "attributes": {"lot": "L03"}});
    let tag = service.redirecting_tag(more).await;
    service
        .admin_create("/sheets", json!({"name": "Delivery", "planned": 60}))
        .await;
    let page = async |scopes: &[&str]| {
        let staff = phone(&service, scopes).await;
        let path = staff.staff_tap(&tag.path()).await;
        staff.open(&path).await.body
    };
    let read = page(&["read"]).await;
    assert!(read.contains("L03") && read.contains("Ada"), "{read}");
    assert!(!read.contains("<form"), "{read}");
    let encode = page(&["encode"]).await;
    assert!(encode.contains("Delivery · row 1 of 60"), "{encode}");
    assert!(
        !encode.contains("L03") && !encode.contains("Ada"),
        "{encode}"
    );
    let tags = page(&["tags"]).await;
    assert!(
        tags.contains("Ada") && tags.contains("experience_id"),
        "{tags}"
    );
    assert!(
        !tags.contains("Delivery") && !tags.contains("Last taps"),
        "{tags}"
    );
}

/// Browsers keep no cookie for more than 400 days, and a phone may be used for longer.
#[tokio::test]
async fn a_staff_page_sets_the_cookie_of_its_phone_again() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(json!({})).await;
    let staff = phone(&service, &["read"]).await;
    let path = staff.staff_tap(&tag.path()).await;
    let page = staff.open(&path).await;
    let cookie = page.header("set-cookie").expect("the cookie of the phone");
    assert!(cookie.starts_with(&*staff.cookie), "{cookie}");
    assert!(cookie.contains("; Max-Age=34560000; HttpOnly"), "{cookie}");
    staff.end(&service).await;
    let gone = staff.open(&path).await;
    assert_eq!((gone.status, gone.header("set-cookie")), (404, None));
}

/// A page has forms for 30 variables, and a phone that may change them sees no fewer than another.
#[tokio::test]
async fn a_page_shows_each_variable_of_a_tag_also_those_without_a_form() {
    let service = TestService::start().await;
    let variables: Map<String, Value> = (10..50)
        .map(|number| (format!("part_{number}"), json!(format!("value {number}"))))
        .collect();
    let tag = service
        .redirecting_tag(json!({"variables": variables}))
        .await;
    for scopes in [&["read"][..], &["read", "tags"]] {
        let staff = phone(&service, scopes).await;
        let page = staff.open(&staff.staff_tap(&tag.path()).await).await;
        for number in 10..50 {
            let value = format!("value {number}");
            assert_eq!(page.body.matches(&value).count(), 1, "{scopes:?}: {value}");
        }
    }
}

/// Texts of strangers are text.
#[tokio::test]
async fn values_of_a_tag_are_no_markup_of_the_page() {
    let service = TestService::start().await;
    let text = "\"><script>alert(1)</script>";
    let more = json!({"name": text, "variables": {"owner": text}, "attributes": {"lot": text}});
    let tag = service.redirecting_tag(more).await;
    let staff = phone(&service, &["read", "tags", "encode", "keys"]).await;
    let page = staff.open(&staff.staff_tap(&tag.path()).await).await;
    assert!(!page.body.contains("<script>"), "{}", page.body);
    assert_eq!(page.body.matches("<script").count(), 1, "{}", page.body);
}

/// Only a browser that opens a page taps: other methods have the answers of a visitor.
#[tokio::test]
async fn a_cookie_of_staff_changes_nothing_but_taps() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let staff = phone(&service, &["read"]).await;
    let url = inlay.url(&tag);
    let taps = async || {
        let page = service.admin_get("/interactions").await;
        page["items"].as_array().expect("a list").len()
    };
    let head = staff.client.request(Method::HEAD, &url);
    let head = head.header("cookie", &staff.cookie).answer().await;
    assert_eq!(head.status, 302);
    let prefetch = staff.client.get(&url).header("cookie", &staff.cookie);
    let prefetch = prefetch.header("sec-purpose", "prefetch").answer().await;
    assert_eq!(prefetch.status, 503);
    assert_eq!(taps().await, 0);
    staff.staff_tap(&url).await;
    assert_eq!(taps().await, 1);
}
