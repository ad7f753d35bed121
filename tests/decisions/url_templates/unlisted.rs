//! Chips that are not listed: their answers, their counters, and their way into the inventory.

mod keys;

use tapdesk_service::id::UrlTemplateId;
use tapdesk_service::inlay::MacFrom;
use tapdesk_service::inlay::derivation::{Derivation, MasterSecret};
use tapdesk_service::inlay::technology::Mode;
use tapdesk_tests::{Receiver, at_once};

use super::*;

const MASTER: &str = "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";
/// UID and counter in clear.
const IN_CLEAR: &str = "https://tags.example/u?uid={uid}&ctr={counter}&cmac={mac}";
/// The page of the experience.
const TARGET: &str = "https://shop.example/?name={{tag:name}}&rk={{interaction:rk}}";

fn scheme(diversify_meta: bool) -> Value {
    json!({"scheme": "an10922", "input": "01{uid}", "diversify_meta": diversify_meta})
}

async fn master(service: &TestService, derivation: &Value) -> Value {
    let body = json!({"name": "Batch", "key": MASTER, "derivation": derivation});
    service.admin_create("/master-keys", body).await["id"].clone()
}

/// A chip whose keys come from the master key.
fn derived(template: &str, derivation: &Value) -> Chip {
    let scheme: Derivation = serde_json::from_value(derivation.clone()).unwrap();
    let secret = MasterSecret::from_hex(MASTER).unwrap();
    let mut chip = Chip::new(settings(template), InlayKeys::None);
    chip.keys = InlayKeys::Aes(scheme.keys(&secret, chip.uid).unwrap());
    chip
}

/// A template that answers unlisted chips like this. Returns its id and the experience of its tags.
async fn answering(service: &TestService, template: &str, more: Value) -> (i64, i64) {
    let experience = service.redirect(TARGET).await;
    let mut body = template_json(&settings(template), &[]);
    body["experience_id"] = json!(experience);
    let (Some(body_members), Value::Object(more)) = (body.as_object_mut(), more) else {
        panic!("both are objects");
    };
    body_members.extend(more);
    let created = service.admin_create("/url-templates", body).await;
    (created["id"].as_i64().unwrap(), experience)
}

async fn chips(service: &TestService) -> Value {
    service.admin_get("/unlisted-chips?count=true").await
}

async fn count(service: &TestService, list: &str) -> u64 {
    let page = service
        .admin_get(&format!("/{list}?count=true&limit=1"))
        .await;
    page["count"].as_u64().unwrap()
}

async fn metric(service: &TestService, outcome: &str) -> u64 {
    let name = format!("tapdesk_unlisted_taps_total{{outcome=\"{outcome}\"}} ");
    let metrics = service.metrics().await;
    let line = metrics.lines().find_map(|line| line.strip_prefix(&name));
    line.map_or(0, |count| count.parse().unwrap())
}

#[tokio::test]
async fn an_unlisted_chip_is_refused_and_kept_with_its_counter() {
    let service = TestService::start().await;
    let by_meta = scheme(false);
    let key = master(&service, &by_meta).await;
    let (template, experience) =
        answering(&service, ONE_ADDRESS, json!({"master_key_ids": [key]})).await;
    let mut chip = derived(ONE_ADDRESS, &by_meta);
    let nobody = open(
        &service,
        "/v?picc_data=00112233445566778899AABBCCDDEEFF&cmac=0011223344556677",
    )
    .await;
    assert_eq!(nobody.status, 404);
    assert_eq!(
        chips(&service).await["count"],
        0,
        "a wrong code leaves nothing"
    );
    chip.counter = 40;
    let first = chip.url(None);
    for url in [first.clone(), chip.url(None), first.clone()] {
        let answer = open(&service, &url).await;
        assert_eq!((answer.status, &answer.body), (404, &nobody.body));
    }
    let listed = &chips(&service).await["items"];
    let expected = json!({
        "uid": chip.uid.to_string(), "url_template_id": template, "technology": "ntag424dna",
        "last_counter": 42, "taps": 3,
    });
    for (member, value) in expected.as_object().unwrap() {
        assert_eq!(&listed[0][member], value, "{member}: {listed}");
    }
    assert_eq!(service.admin_get("/interactions").await["items"], json!([]));
    assert_eq!(count(&service, "inlays").await, 0);
    assert_eq!(metric(&service, "refused").await, 3);

    let path = format!("/unlisted-chips/{}/enrol", chip.uid);
    let inlay = service
        .admin(Method::POST, &path, json!({}))
        .await
        .expect(201);
    assert_eq!(inlay["last_counter"], 42);
    assert_eq!(inlay["key_source"], "master_key");
    let tag = service
        .admin_get(&format!("/tags/{}", inlay["tag_id"]))
        .await;
    assert_eq!(tag["name"], chip.uid.to_string());
    assert_eq!(tag["experience_id"], experience);
    assert_eq!(chips(&service).await["count"], 0);
    let again = service.admin(Method::POST, &path, json!({})).await;
    assert_eq!(again.status, 404, "{}", again.body);

    // No code that came before is ever accepted.
    for url in [&first, &chip.url_at(42, None)] {
        tap(&service, url).await;
        assert_eq!(last(&service).await.0, json!(false));
    }
    let tapped = tap(&service, &chip.url(None)).await;
    assert_eq!(tapped.status, 302);
    assert_eq!(last(&service).await, (json!(true), json!("verified")));
}

#[tokio::test]
async fn an_unlisted_chip_gets_the_page_and_is_recorded_without_a_tag() {
    let service = TestService::start().await;
    let each = scheme(true);
    let key = master(&service, &each).await;
    let rule = json!({"master_key_ids": [key], "unlisted": "page"});
    answering(&service, IN_CLEAR, rule).await;
    let mut chip = derived(IN_CLEAR, &each);
    let url = chip.url(None);
    let page = open(&service, &url).await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("Not set up yet"), "{}", page.body);
    let tap = newest(&service).await;
    assert_eq!(tap["tag_id"], Value::Null);
    assert_eq!(tap["reason"], "unknown_inlay");
    let trace = service
        .admin_get(&format!("/interactions/{}", tap["id"]))
        .await;
    assert!(trace.to_string().contains(&chip.uid.to_string()), "{trace}");
    // A preview and HEAD leave nothing.
    let head = send(&service, Method::HEAD, &chip.url_at(9, None), &[]).await;
    assert_eq!(head.status, 200);
    let preview = [("user-agent", "WhatsApp/2.24.8 A")];
    let previewed = send(&service, Method::GET, &chip.url_at(9, None), &preview).await;
    assert_eq!((previewed.status, &previewed.body), (200, &page.body));
    let forged = chip.url_at(9, None).replace("ctr=00", "ctr=01");
    let unknown = send(&service, Method::GET, &forged, &preview).await;
    assert_eq!(unknown.status, 404);
    assert_eq!(chips(&service).await["items"][0]["last_counter"], 1);

    let wrong = url.replace(&url[url.len() - 4..], "0000");
    let nobody = open(&service, &wrong).await;
    assert_eq!(nobody.status, 404);
    let other = derived(IN_CLEAR, &each)
        .url_at(7, None)
        .replace("cmac=", "cmac=00");
    assert_eq!(
        open(&service, &other[..other.len() - 2]).await.body,
        nobody.body
    );
    assert_eq!(chips(&service).await["count"], 1);

    let tag = service.redirecting_tag(Value::Null).await;
    let path = format!("/unlisted-chips/{}/enrol", chip.uid);
    let inlay = service
        .admin(Method::POST, &path, json!({"tag_id": tag.id}))
        .await
        .expect(201);
    assert_eq!(inlay["tag_id"], tag.id);
    tap_is(&service, &url, false).await;
    tap_is(&service, &chip.url(None), true).await;
}

async fn tap_is(service: &TestService, url: &str, verified: bool) {
    tap(service, url).await;
    assert_eq!(last(service).await.0, json!(verified));
}

#[tokio::test]
async fn the_first_tap_creates_the_tag_and_is_a_tap_of_it() {
    let service = TestService::start().await;
    for (text, rule, keys) in [
        (
            ONE_ADDRESS,
            json!({"meta_keys": ["11".repeat(16)]}),
            Some(("11", "22")),
        ),
        (IN_CLEAR, json!({}), Some(("11", "22"))),
        (ONE_ADDRESS, json!({}), None),
    ] {
        let mut rule = rule;
        rule["unlisted"] = json!("create");
        let mut chip = if let Some((meta, file)) = keys {
            rule["shared_file_key"] = json!(file.repeat(16));
            Chip::new(settings(text), aes(meta, file))
        } else {
            rule["master_key_ids"] = json!([master(&service, &scheme(false)).await]);
            derived(text, &scheme(false))
        };
        let (template, experience) = answering(&service, text, rule).await;
        chip.counter = 6;
        let url = chip.url(None);
        let first = tap(&service, &url).await;
        assert_eq!(first.status, 302, "{}", first.answer.body);
        let name = format!("name={}&", chip.uid);
        assert!(
            first.location.as_ref().is_some_and(|at| at.contains(&name)),
            "{first:?}"
        );
        let payload = service.payload(first.key()).await;
        assert_eq!(payload["tag_verified"], true);
        let tapped = newest(&service).await;
        assert_eq!(
            (&tapped["reason"], &tapped["counter"]),
            (&json!("verified"), &json!(7))
        );
        let tag = service
            .admin_get(&format!("/tags/{}", tapped["tag_id"]))
            .await;
        assert_eq!(tag["name"], chip.uid.to_string());
        assert_eq!(
            (&tag["status"], &tag["experience_id"]),
            (&json!("active"), &json!(experience))
        );
        assert_eq!(tag["scan_count"], 1);
        let inlays = service
            .admin_get(&format!("/inlays?uid={}", chip.uid))
            .await;
        assert_eq!(inlays["items"][0]["last_counter"], 7);
        assert_eq!(inlays["items"][0]["url_template_id"], template);
        assert_eq!(chips(&service).await["count"], 0);
        // A reload repeats the answer, and a second tap is an ordinary one.
        let cookie = first.cookie.as_deref().unwrap();
        let repeated = send(&service, Method::GET, &url, &[("cookie", cookie)]).await;
        assert_eq!(TapResult::of(repeated).location, first.location);
        tap_is(&service, &url, false).await;
        let second = tap(&service, &chip.url(None)).await;
        assert_eq!(service.payload(second.key()).await["tag_verified"], true);
        assert_eq!(newest(&service).await["tag_id"], tapped["tag_id"]);
        let path = format!("/url-templates/{template}");
        let seen = service.admin_get(&path).await;
        assert!(seen["first_tap_at"].is_string(), "{seen}");
        let off = json!({"unlisted": "refuse"});
        service.admin_patch(&path, off).await;
        let delete = format!("/inlays/{}", inlays["items"][0]["id"]);
        service.admin(Method::DELETE, &delete, Value::Null).await;
        service.admin(Method::DELETE, &path, Value::Null).await;
    }
}

#[tokio::test]
async fn a_code_from_before_creates_no_tag() {
    let service = TestService::start().await;
    let rule = json!({"shared_file_key": "22".repeat(16)});
    let (template, _) = answering(&service, IN_CLEAR, rule).await;
    let mut chip = Chip::new(settings(IN_CLEAR), aes("11", "22"));
    let used = chip.url(None);
    assert_eq!(open(&service, &used).await.status, 404);
    let path = format!("/url-templates/{template}");
    service
        .admin_patch(&path, json!({"unlisted": "create"}))
        .await;
    let replayed = open(&service, &used).await;
    assert_eq!(replayed.status, 200);
    assert!(
        replayed.body.contains("Not set up yet"),
        "{}",
        replayed.body
    );
    assert_eq!(count(&service, "tags").await, 0);
    assert_eq!(tap(&service, &chip.url(None)).await.status, 302);

    // The counter outlives the inlay, too.
    let later = chip.url(None);
    tap_is(&service, &later, true).await;
    let inlay = service.admin_get("/inlays").await["items"][0]["id"].clone();
    service
        .admin(Method::DELETE, &format!("/inlays/{inlay}"), Value::Null)
        .await;
    assert_eq!(open(&service, &later).await.status, 200);
    assert_eq!(count(&service, "inlays").await, 0);
    assert_eq!(chips(&service).await["items"][0]["last_counter"], 3);

    // It is the same for an inlay that its owner creates with the same key.
    let mut body = inlay_json(&chip, template, None);
    body["last_counter"] = json!(1);
    let made = service.admin_create("/inlays", body).await;
    assert_eq!(made["last_counter"], 3);
    assert_eq!(chips(&service).await["count"], 0);
}

#[tokio::test]
async fn beyond_the_limit_of_a_day_chips_are_only_kept_and_the_owner_is_told() {
    let service = TestService::start_with(|options| options.settings.private_webhooks = true).await;
    let receiver = Receiver::start().await;
    let alerts = json!({"url": receiver.url(), "events": ["alert.unlisted_limit"]});
    service.admin_create("/webhooks", alerts).await;
    let rule = json!({
        "shared_file_key": "22".repeat(16), "unlisted": "create", "create_limit": 2,
    });
    let (template, _) = answering(&service, IN_CLEAR, rule).await;
    let chip = || Chip::new(settings(IN_CLEAR), aes("11", "22"));
    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(open(&service, &chip().url_at(5, None)).await.status);
    }
    assert_eq!(statuses, [302, 302, 200, 200]);
    assert_eq!(count(&service, "tags").await, 2);
    assert_eq!(chips(&service).await["count"], 2);
    assert_eq!(
        (
            metric(&service, "created").await,
            metric(&service, "limited").await
        ),
        (2, 2)
    );
    let path = format!("/url-templates/{template}");
    assert!(service.admin_get(&path).await["limited_at"].is_string());
    let _house = service.keep_house();
    let arrived = receiver.wait_for(1).await;
    assert_eq!(arrived[0].json()["data"]["url_template_id"], template);
    assert_eq!(arrived[0].json()["data"]["create_limit"], 2);

    if service.postgres().is_none() {
        service.advance(24 * 60 * 60 * 1000);
        assert_eq!(open(&service, &chip().url_at(5, None)).await.status, 302);
    }
}

#[tokio::test]
async fn what_taps_created_is_undone_in_one_action() {
    let service = TestService::start().await;
    let rule = json!({"shared_file_key": "22".repeat(16), "unlisted": "create"});
    let (template, _) = answering(&service, IN_CLEAR, rule).await;
    let mut forged: Vec<_> = (0..3)
        .map(|_| Chip::new(settings(IN_CLEAR), aes("11", "22")))
        .collect();
    for chip in &mut forged {
        assert_eq!(open(&service, &chip.url(None)).await.status, 302);
    }
    // An inlay that its owner moved to another tag is the owner's.
    let own = service.redirecting_tag(Value::Null).await;
    let uid = forged[2].uid;
    let kept = service.admin_get(&format!("/inlays?uid={uid}")).await["items"][0]["id"].clone();
    service
        .admin_patch(&format!("/inlays/{kept}"), json!({"tag_id": own.id}))
        .await;
    let path = format!("/url-templates/{template}/unlisted/revert");
    let revert = async |more: Value| {
        let mut body = json!({"since": "2020-01-01T00:00:00Z"});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        service.admin(Method::POST, &path, body).await
    };
    let two = json!({"inlays": 2, "tags": 2});
    assert_eq!(revert(json!({"dry_run": true})).await.expect(200), two);
    let other = revert(json!({"expected_count": 3})).await.expect(409);
    assert_eq!(other["code"], "count_changed");
    let later = service.admin(
        Method::POST,
        &path,
        json!({"since": "2100-01-01T00:00:00Z", "dry_run": true}),
    );
    assert_eq!(later.await.expect(200), json!({"inlays": 0, "tags": 0}));
    assert_eq!(count(&service, "inlays").await, 3);
    assert_eq!(revert(json!({"expected_count": 2})).await.expect(200), two);
    assert_eq!(count(&service, "inlays").await, 1);
    let seen = service
        .admin_get(&format!("/url-templates/{template}"))
        .await;
    assert_eq!(seen["unlisted"], "refuse");
    let audit = service.admin_get("/audit?limit=1").await["items"][0].clone();
    assert!(audit.to_string().contains("unlisted"), "{audit}");
    // The chips are unlisted again, and their codes stay used.
    let used = forged[0].url_at(1, None);
    assert_eq!(open(&service, &used).await.status, 404);
    assert_eq!(chips(&service).await["items"][0]["last_counter"], 1);
    assert_eq!(
        revert(json!({})).await.expect(200),
        json!({"inlays": 0, "tags": 0})
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_first_taps_at_once_create_one_tag() {
    let service = TestService::start().await;
    let rule = json!({"shared_file_key": "22".repeat(16), "unlisted": "create"});
    answering(&service, IN_CLEAR, rule).await;
    let chip = Chip::new(settings(IN_CLEAR), aes("11", "22"));
    let urls: Vec<_> = (1..=20).map(|counter| chip.url_at(counter, None)).collect();
    let client = service.another();
    let answers = at_once(40, |i| {
        let (client, url) = (client.clone(), urls[i % 20].clone());
        async move { client.get(&url).header("host", HOST).answer().await.status }
    })
    .await;
    assert!(answers.iter().all(|status| *status == 302), "{answers:?}");
    assert_eq!(
        (
            count(&service, "tags").await,
            count(&service, "inlays").await
        ),
        (1, 1)
    );
    let tag = service.admin_get("/tags").await["items"][0].clone();
    assert_eq!(tag["scan_count"], 40);
}
