//! The data of one visitor: shown, exported and erased for a person who taps the tag again.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::fixtures::TestInlay;
use tapdesk_tests::{
    Answer, Answering as _, Client, Reaction, Receiver, TapResult, TestService, TestTag, eventually,
};

use tapdesk_service::inlay::{MacFrom, Mirror};

use super::submissions::Form;

const ADA: &str = "Ada's browser";
const GRACE: &str = "Grace's browser";
/// Many people have the same phone model, and share a network.
const PHONE: &str = "The phone of everybody";

/// A service that knows a visitor's country, and delivers webhooks to this machine.
async fn start() -> TestService {
    TestService::start_with(|options| {
        options.settings.default_country = "DE".into();
        options.settings.private_webhooks = true;
    })
    .await
}

/// Opens a URL with a browser.
async fn open(client: &Client, url: &str, browser: &str) -> TapResult {
    TapResult::of(client.get(url).header("user-agent", browser).answer().await)
}

/// Opens a URL with a browser that has the cookie of an earlier tap.
async fn open_again(client: &Client, url: &str, earlier: &TapResult) -> TapResult {
    let cookie = earlier.cookie.as_deref().expect("a cookie");
    let request = client.get(url).header("user-agent", PHONE);
    TapResult::of(request.header("cookie", cookie).answer().await)
}

/// A verified tap, and its number.
async fn tap(
    client: &Client,
    (tag, inlay): (&TestTag, &mut TestInlay),
    browser: &str,
) -> (TapResult, i64) {
    let tapped = open(client, &inlay.url(tag), browser).await;
    (tapped, client.last_interaction().await)
}

fn path(tap: i64) -> String {
    format!("/interactions/{tap}/visitor")
}

async fn erase(client: &Client, tap: i64) -> Answer {
    client.admin(Method::DELETE, &path(tap), Value::Null).await
}

async fn export(client: &Client, tap: i64) -> Answer {
    let path = format!("{}/export", path(tap));
    client.admin(Method::GET, &path, Value::Null).await
}

#[tokio::test]
async fn who_taps_a_tag_gets_and_has_erased_what_is_kept_of_them_and_of_nobody_else() {
    let service = start().await;
    let (tag, mut inlay) = service.bottle().await;
    let other = service.redirecting_tag(Value::Null).await;
    open(&service, &other.path(), PHONE).await;
    let away = service.last_interaction().await;
    let (first, ada) = tap(&service, (&tag, &mut inlay), PHONE).await;
    let update = json!({"registered": "by Ada"});
    service.update(first.key(), update).await.expect(200);
    // Grace has the same phone model, and is in the same network.
    let (tapped, grace) = tap(&service, (&tag, &mut inlay), PHONE).await;
    let update = json!({"registered": "by Grace"});
    service.update(tapped.key(), update).await.expect(200);
    service.advance(60_000);
    // Ada's browser sends the cookie of her first tap.
    let page = open_again(&service, &inlay.url(&tag), &first).await;
    let held = service.last_interaction().await;
    let (key, path_of_held) = (page.key().to_owned(), path(held));
    service.payload(&key).await;

    let told = service.admin_get(&path_of_held).await;
    assert_eq!(told["proof"], "valid");
    assert_eq!(told["interactions"], 2);
    assert_eq!(told["oldest_at"], "2026-01-01T12:00:00Z");
    let kept = told["kept"].as_array().expect("what is kept");
    let has = |member: &str, value: Value, erased: bool| {
        let mut all = kept.iter();
        all.any(|kept| kept[member] == value && kept["erased"] == erased)
    };
    assert!(has("months", json!(13), true) && has("days", json!(30), true));
    assert!(has("months", Value::Null, false));

    let document = export(&service, held).await;
    assert_eq!(
        document.header("content-disposition"),
        Some(&*format!(
            "attachment; filename=\"visitor-of-tap-{held}.json\""
        ))
    );
    let document = document.expect(200);
    let taps = document["interactions"].as_array().expect("taps");
    let numbers: Vec<_> = taps.iter().map(|tap| &tap["id"]).collect();
    assert_eq!(numbers, [&json!(held), &json!(ada)]);
    assert_eq!(taps[1]["update"]["changes"][0]["new"], "by Ada");
    assert_eq!(document["tag"]["slug"], tag.slug.as_str());
    assert_eq!(document["kept"], told["kept"]);
    assert!(!document.to_string().contains("Grace"), "{document}");

    let erasures = async || {
        let storage = &service.service().storage;
        storage.erasures().await.expect("a number")
    };
    let erased = erasures().await;
    assert_eq!(
        erase(&service, held).await.expect(200),
        json!({"interactions": 2})
    );
    // Pending deliveries that contain the data are refused.
    assert!(erasures().await > erased);
    for (number, country) in [(ada, ""), (held, ""), (grace, "DE"), (away, "DE")] {
        let traced = service.admin_get(&format!("/interactions/{number}")).await;
        assert_eq!(traced["country"], country, "{traced}");
        assert!(!traced.to_string().contains("Ada"), "{traced}");
    }
    let traced = service.admin_get(&format!("/interactions/{grace}")).await;
    assert_eq!(traced["update"]["changes"][0]["new"], "by Grace");
    let traced = service.admin_get(&format!("/interactions/{ada}")).await;
    assert_eq!(traced["reason"], "verified");
    assert_eq!(traced["update"]["changes"], json!([]));
    assert_eq!(service.scan_count(&tag).await, 3);
    let now = service.variable(&tag, "registered").await;
    assert_eq!(now.as_deref(), Some("by Grace"), "it is the tag's");

    // After the erasure, the tap proves nothing any more, and its key opens nothing.
    erase(&service, held).await.expect(409);
    assert_eq!(service.admin_get(&path(ada)).await["interactions"], 0);
}

#[tokio::test]
async fn two_people_with_one_phone_model_behind_one_network_are_two() {
    let service = start().await;
    let form = Form::new(&service).await;
    let tag = &form.tag;
    let mut inlay = service
        .rolling_inlay(tag, Mirror::Encrypted, MacFrom::None)
        .await;
    let page = open(&service, &inlay.url(tag), PHONE).await.answer.body;
    let sent = [
        ("tag:variable:name", "Grace"),
        ("tag:variable:email", "grace@example.com"),
    ];
    let sent = super::submissions::post_to(&service, tag, &page, &sent).await;
    assert_eq!(sent.status, 200, "{}", sent.body);
    let (_, held) = tap(&service, (tag, &mut inlay), PHONE).await;
    let told = service.admin_get(&path(held)).await;
    assert_eq!(
        (&told["interactions"], &told["submissions"]),
        (&json!(1), &json!(0))
    );
    let document = export(&service, held).await.expect(200);
    assert!(
        !document.to_string().contains("grace@example.com"),
        "{document}"
    );
    let erased = format!("{}?empty_variables=true", path(held));
    let erased = service.admin(Method::DELETE, &erased, Value::Null).await;
    assert_eq!(erased.expect(200), json!({"interactions": 1}));
    let left = service.admin_get("/submissions").await;
    assert_eq!(left["items"][0]["fields"][1]["value"], "grace@example.com");
    let email = service.variable(tag, "email").await;
    assert_eq!(email.as_deref(), Some("grace@example.com"));

    // The document of a later person does not contain the value before their update.
    let page = open(&service, &inlay.url(tag), PHONE).await.answer.body;
    let sent = [
        ("tag:variable:name", "Ada"),
        ("tag:variable:email", "ada@example.com"),
    ];
    super::submissions::post_to(&service, tag, &page, &sent).await;
    let last = service.last_interaction().await;
    let document = export(&service, last).await.expect(200).to_string();
    assert!(
        document.contains("ada@example.com") && !document.contains("grace@"),
        "{document}"
    );
}

#[tokio::test]
async fn only_a_verified_tap_whose_key_lives_proves_that_a_person_holds_the_tag() {
    let service = start().await;
    let (tag, mut inlay) = service.bottle().await;
    let url = inlay.url(&tag);
    let tapped = open(&service, &url, ADA).await;
    let verified = service.last_interaction().await;
    // One other person opens the copied URL, and another one the bare URL.
    open(&service, &url, GRACE).await;
    let copied = service.last_interaction().await;
    open(&service, &tag.path(), ADA).await;
    let bare = service.last_interaction().await;
    for (number, proof) in [
        (verified, "valid"),
        (copied, "not_verified"),
        (bare, "not_verified"),
    ] {
        let told = service.admin_get(&path(number)).await;
        assert_eq!(told["proof"], proof, "{number}");
        if proof == "valid" {
            continue;
        }
        for refused in [
            erase(&service, number).await,
            export(&service, number).await,
        ] {
            let problem = refused.expect(409);
            assert_eq!(problem["code"], "not_proved");
        }
    }
    // A used key proves the tap as well as an unused one.
    service
        .update(tapped.key(), json!({"registered": "x"}))
        .await
        .expect(200);
    export(&service, verified).await.expect(200);
    service.advance(299_999);
    export(&service, verified).await.expect(200);
    service.advance(1);
    let problem = erase(&service, verified).await.expect(409);
    let detail = problem["detail"].as_str().expect("words");
    assert!(detail.contains("tap the tag again"), "{detail}");
    assert_eq!(service.admin_get(&path(verified)).await["proof"], "expired");
    for refused in [erase(&service, 999).await, export(&service, 999).await] {
        refused.expect(404);
    }
}

#[tokio::test]
async fn what_a_visitor_sent_goes_and_variables_are_emptied_if_it_is_asked_for() {
    let service = start().await;
    let form = Form::new(&service).await;
    let tag = &form.tag;
    let mut inlay = service
        .rolling_inlay(tag, Mirror::Encrypted, MacFrom::None)
        .await;
    let mut earlier = None;
    for (name, email) in [("Grace", "grace@example.com"), ("Ada", "ada@example.com")] {
        let opened = open(&service, &inlay.url(tag), PHONE).await;
        let page = opened.answer.body.clone();
        earlier = Some(opened);
        let sent = [("tag:variable:name", name), ("tag:variable:email", email)];
        let sent = super::submissions::post_to(&service, tag, &page, &sent).await;
        assert_eq!(sent.status, 200, "{}", sent.body);
    }
    // The owner corrects one of the values.
    let variable = format!("{}/variables/name", tag.admin_path());
    let owners = json!({"value": "The owner's"});
    service
        .admin(Method::PUT, &variable, owners)
        .await
        .expect(200);
    open_again(&service, &inlay.url(tag), &earlier.expect("a tap")).await;
    let held = service.last_interaction().await;
    assert_eq!(service.admin_get(&path(held)).await["submissions"], 1);
    let document = export(&service, held).await.expect(200);
    let sent = &document["interactions"][1]["submission"];
    assert_eq!(sent["fields"][1]["value"], "ada@example.com");

    let path = format!("{}?empty_variables=true", path(held));
    let erased = service.admin(Method::DELETE, &path, Value::Null).await;
    assert_eq!(erased.expect(200), json!({"interactions": 2}));
    let left = service.admin_get("/submissions").await;
    assert!(!left.to_string().contains("ada@example.com"), "{left}");
    assert_eq!(left["items"][0]["fields"][0]["value"], "Grace");
    for (key, value) in [("email", ""), ("name", "The owner's")] {
        let now = service.variable(tag, key).await;
        assert_eq!(now.as_deref(), Some(value));
    }
    let log = service.admin_get("/audit").await;
    let row = &log["items"][0];
    assert_eq!(row["action"], "interactions.visitor.delete");
    assert_eq!(row["after"], json!({"empty_variables": true}));
    // The owner's correction contains the person's value as the value before.
    let mut rows = log["items"].as_array().expect("rows").iter();
    let correction = rows.find(|row| row["action"] == "tags.variables.set");
    let correction = correction.expect("the row stays");
    assert_eq!(
        (&correction["before"], &correction["after"]),
        (&Value::Null, &Value::Null)
    );
}

#[tokio::test]
async fn what_webhooks_keep_of_a_visitor_goes_and_what_they_keep_of_others_stays() {
    let service = start().await;
    let _house = service.keep_house();
    let receiver = Receiver::start().await;
    receiver.react(Reaction::status(500));
    let (tag, mut inlay) = service.bottle().await;
    let hook = json!({"url": receiver.url(), "events": ["tap.verified", "tag.updated"], "include": ["variables"]});
    let hook = service.admin_create("/webhooks", hook).await;
    let attempts = format!("/webhooks/{}/attempts", hook["id"]);
    let mut taps = Vec::new();
    for browser in [ADA, GRACE] {
        let (tapped, number) = tap(&service, (&tag, &mut inlay), browser).await;
        let update = json!({"registered": browser});
        service.update(tapped.key(), update).await.expect(200);
        taps.push(number);
        service.advance(1_000);
    }
    let told = async |events: usize| {
        eventually("the attempts in the log", async || {
            let log = service.admin_get(&attempts).await;
            let items = log["items"].as_array()?.clone();
            let mut seen: Vec<_> = items
                .iter()
                .map(|one| one["event_id"].to_string())
                .collect();
            seen.sort();
            seen.dedup();
            (seen.len() == events).then_some(seen)
        })
        .await
    };
    let before = told(4).await;
    erase(&service, taps[0]).await.expect(200);
    let after = told(2).await;
    assert!(after.iter().all(|event| before.contains(event)));
    let of_grace = format!("tap_{}_", taps[1]);
    assert!(
        after.iter().any(|event| event.contains(&of_grace)),
        "{after:?}"
    );
}

#[tokio::test]
async fn taps_that_cookies_connect_are_exported_and_erased_step_by_step() {
    let service = start().await;
    let (tag, mut inlay) = service.bottle().await;
    let mut last = open(&service, &inlay.url(&tag), PHONE).await;
    let first = service.last_interaction().await;
    // More taps than one step erases. The owner opens one in the middle.
    let mut held = 0;
    for number in 0..110 {
        open(&service, &tag.path(), PHONE).await;
        last = open_again(&service, &inlay.url(&tag), &last).await;
        if number == 60 {
            held = service.last_interaction().await;
        }
    }
    let document = export(&service, held).await.expect(200);
    let taps = document["interactions"].as_array().expect("taps");
    assert_eq!(taps.len(), 111);
    assert_eq!(taps[110]["id"], first);
    assert_eq!(
        erase(&service, held).await.expect(200),
        json!({"interactions": 111})
    );
    let all = service.admin_get("/interactions?limit=500").await;
    let items = all["items"].as_array().expect("taps");
    let erased = items.iter().filter(|tap| tap["country"] == "").count();
    assert_eq!((erased, items.len()), (111, 221));
}
