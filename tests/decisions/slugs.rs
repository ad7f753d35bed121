//! Slugs (decisions, "The tap"): which texts they are, and which tag a path names.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answering as _, TestService, TestTag};

async fn create(service: &TestService, slug: &str) -> tapdesk_tests::client::Answer {
    let tag = json!({"name": "Bottle", "slug": slug});
    service.admin(Method::POST, "/tags", tag).await
}

async fn tag(service: &TestService, slug: &str) -> TestTag {
    service.redirecting_tag(json!({"slug": slug})).await
}

/// The tag that a path leads to; `None` for the page of an unknown tag.
async fn found(service: &TestService, path: &str) -> Option<Value> {
    let answer = service.tap(path).await;
    match answer.status {
        302 => Some(service.payload(answer.key()).await["metadata"]["tag_id"].clone()),
        404 => None,
        status => panic!("{path}: {status}"),
    }
}

#[tokio::test]
async fn ids_that_are_printed_already_can_be_slugs_and_are_kept_as_given() {
    let service = TestService::start().await;
    let longest = "Z".repeat(64);
    for slug in [
        "1042", "eeeee", "AbC123xy", "abc_123", "a.b~c-d", "7", "...", &longest,
    ] {
        let created = create(&service, slug).await.expect(201);
        assert_eq!(created["slug"], slug);
        let path = format!("/tags/{}", created["id"]);
        assert_eq!(service.admin_get(&path).await["slug"], slug);
        let url = service.admin_get(&path).await["url"].clone();
        assert!(
            url.as_str().unwrap().ends_with(&format!("/{slug}")),
            "{url}"
        );
    }
    let generated = service
        .admin_create("/tags", json!({"name": "Bottle"}))
        .await;
    let generated = generated["slug"].as_str().unwrap();
    let is_base36 = |b: u8| b.is_ascii_digit() || b.is_ascii_lowercase();
    assert!(
        generated.len() == 10 && generated.bytes().all(is_base36),
        "{generated}"
    );
}

#[tokio::test]
async fn what_is_no_slug_is_refused_in_words() {
    let service = TestService::start().await;
    let own = service.tag(json!({"name": "Own"})).await;
    let long = "z".repeat(65);
    for (slug, says) in [
        (".", "A-Z, a-z, 0-9"),
        ("..", "A-Z, a-z, 0-9"),
        (&*long, "1 to 64"),
        ("a/b", "A-Z, a-z, 0-9"),
        ("a b", "A-Z, a-z, 0-9"),
        ("a%41", "A-Z, a-z, 0-9"),
        // A Cyrillic a, which looks like the Latin one.
        ("b\u{430}ttle-41", "A-Z, a-z, 0-9"),
        ("admin", "belongs to the service"),
        ("Admin", "belongs to the service"),
        ("T", "belongs to the service"),
        ("stand-in", "belongs to the service"),
        (".well-known", "belongs to the service"),
        ("robots.txt", "belongs to the service"),
    ] {
        for answer in [
            create(&service, slug).await,
            service
                .admin(Method::PATCH, &own.admin_path(), json!({"slug": slug}))
                .await,
        ] {
            let problem = answer.expect(422);
            let detail = problem["detail"].as_str().unwrap();
            assert!(detail.contains(says), "{slug}: {detail}");
        }
        let table = format!("name,slug\nBottle,{slug}\n");
        let request = service
            .admin_request(Method::POST, "/tags/import")
            .header("content-type", "text/csv");
        let result = request.body(table).answer().await.expect(200);
        assert_eq!(
            result["results"][0]["outcome"], "refused",
            "{slug}: {result}"
        );
        let reason = result["results"][0]["reason"].as_str().unwrap();
        assert!(reason.contains(says), "{slug}: {reason}");
    }
}

#[tokio::test]
async fn a_slug_below_eight_characters_has_a_warning() {
    let service = TestService::start().await;
    for (slug, warned) in [("1042", true), ("1234567", true), ("12345678", false)] {
        let answer = create(&service, slug).await;
        answer.expect(201);
        let warning = answer.header("tapdesk-warning").unwrap_or_default();
        assert_eq!(warning.contains("guessed"), warned, "{slug}: {warning}");
    }
}

#[tokio::test]
async fn a_slug_is_found_in_another_case_if_it_is_the_only_one() {
    let service = TestService::start().await;
    let tag = tag(&service, "AbC123xy").await;
    let id = Some(json!(tag.id));
    for path in ["/t/AbC123xy", "/t/ABC123XY", "/t/abc123xy", "/t/aBc123xy"] {
        assert_eq!(found(&service, path).await, id, "{path}");
    }
    // A generated slug in a QR code in capitals.
    let generated = service.redirecting_tag(Value::Null).await;
    let capitals = format!("/t/{}", generated.slug.to_uppercase());
    assert_eq!(found(&service, &capitals).await, Some(json!(generated.id)));
    assert_eq!(service.head(&capitals).answer().await.status, 302);
    assert_eq!(found(&service, "/t/abc123x").await, None);
    assert_eq!(found(&service, "/t/abc_123xy").await, None);
    assert_eq!(found(&service, "/t/%41bC123xy").await, None, "escaped");
}

#[tokio::test]
async fn slugs_that_differ_only_in_case_both_work_when_written_exactly() {
    let service = TestService::start().await;
    let (one, other) = (
        tag(&service, "Wine-001").await,
        tag(&service, "wine-001").await,
    );
    for _ in 0..2 {
        assert_eq!(found(&service, "/t/Wine-001").await, Some(json!(one.id)));
        assert_eq!(found(&service, "/t/wine-001").await, Some(json!(other.id)));
        assert_eq!(found(&service, "/t/WINE-001").await, None, "it is either's");
    }
    // The slug of a deleted tag leads to no other tag.
    let deleted = service
        .admin(Method::DELETE, &one.admin_path(), Value::Null)
        .await;
    assert_eq!(deleted.status, 204);
    assert_eq!(found(&service, "/t/Wine-001").await, None);
    assert_eq!(found(&service, "/t/WINE-001").await, None);
    assert_eq!(found(&service, "/t/wine-001").await, Some(json!(other.id)));
    let twin = create(&service, "wine-001").await;
    assert_eq!(twin.expect(409)["code"], "slug_taken");
}

#[tokio::test]
async fn a_slug_that_was_tapped_in_another_case_names_nobody_once_another_tag_has_it() {
    let service = TestService::start().await;
    for (slug, twin) in [
        ("Cask-0001", "cask-0001"),
        ("cask-0002", "Cask-0002"),
        ("Cask-0003", "cASK-0003"),
    ] {
        let tag = tag(&service, slug).await;
        let id = Some(json!(tag.id));
        let capitals = format!("/t/{}", slug.to_uppercase());
        let exact = format!("/t/{slug}");
        for path in [&exact, &capitals, &capitals] {
            assert_eq!(found(&service, path).await, id, "{path}");
        }
        // A tag that is renamed gets it first, then one that is created has it.
        let renamed = service.redirecting_tag(Value::Null).await;
        let path = renamed.admin_path();
        service.admin_patch(&path, json!({"slug": twin})).await;
        let renamed_id = Some(json!(renamed.id));
        assert_eq!(found(&service, &capitals).await, None, "{twin}");
        assert_eq!(found(&service, &exact).await, id, "{twin}");
        let other = format!("/t/{twin}");
        assert_eq!(found(&service, &other).await, renamed_id, "{twin}");
        // The former slug of a tag is as good as a present one, until it is released.
        service
            .admin_patch(&path, json!({"slug": renamed.slug}))
            .await;
        assert_eq!(found(&service, &capitals).await, None, "former {twin}");
        let former = format!("{path}/former-slugs/{twin}");
        let released = service.admin(Method::DELETE, &former, Value::Null).await;
        assert_eq!(released.status, 204);
        // A change of the tag, after which it is the only one again.
        let path = tag.admin_path();
        service.admin_patch(&path, json!({"name": "Cask"})).await;
        for path in [&exact, &capitals, &capitals, &other] {
            assert_eq!(found(&service, path).await, id, "{path} after {twin}");
        }
        let created = self::tag(&service, twin).await;
        assert_eq!(found(&service, &capitals).await, None, "new {twin}");
        assert_eq!(found(&service, &exact).await, id, "new {twin}");
        assert_eq!(found(&service, &other).await, Some(json!(created.id)));
    }
}

#[tokio::test]
async fn a_slug_that_was_tapped_in_another_case_names_nobody_once_an_import_has_it() {
    let service = TestService::start().await;
    let tag = tag(&service, "keg-000001").await;
    let id = Some(json!(tag.id));
    for path in ["/t/keg-000001", "/t/KEG-000001", "/t/Keg-000001"] {
        assert_eq!(found(&service, path).await, id, "{path}");
    }
    let request = service
        .admin_request(Method::POST, "/tags/import")
        .header("content-type", "text/csv");
    let table = "name,slug\nKeg,Keg-000001\nKeg,keg-000002\n";
    request.body(table).answer().await.expect(200);
    assert_eq!(found(&service, "/t/KEG-000001").await, None);
    assert_eq!(found(&service, "/t/keg-000001").await, id);
}

#[tokio::test]
async fn former_slugs_are_found_in_the_same_way() {
    let service = TestService::start().await;
    let renamed = tag(&service, "Bottle-1907").await;
    let id = Some(json!(renamed.id));
    let path = renamed.admin_path();
    service
        .admin_patch(&path, json!({"slug": "cask-1907-x"}))
        .await;
    for path in [
        "/t/Bottle-1907",
        "/t/BOTTLE-1907",
        "/t/bottle-1907/",
        "/t/CASK-1907-X&a=1",
    ] {
        assert_eq!(found(&service, path).await, id, "{path}");
    }
    // Another tag has the former slug in another case: exact texts lead on.
    let other = tag(&service, "bottle-1907").await;
    assert_eq!(found(&service, "/t/Bottle-1907").await, id);
    assert_eq!(
        found(&service, "/t/bottle-1907").await,
        Some(json!(other.id))
    );
    assert_eq!(found(&service, "/t/BOTTLE-1907").await, None);
    // Present and former slug of one tag name one tag.
    let only = tag(&service, "Keg-000001").await;
    service
        .admin_patch(&only.admin_path(), json!({"slug": "keg-000001"}))
        .await;
    for path in ["/t/Keg-000001", "/t/keg-000001", "/t/KEG-000001"] {
        assert_eq!(found(&service, path).await, Some(json!(only.id)), "{path}");
    }
    let released = format!("{}/former-slugs/Keg-000001", only.admin_path());
    let released = service.admin(Method::DELETE, &released, Value::Null).await;
    assert_eq!(released.status, 204);
    assert_eq!(found(&service, "/t/Keg-000001").await, Some(json!(only.id)));
}

#[tokio::test]
async fn what_phones_and_apps_append_is_forgiven() {
    let service = TestService::start().await;
    let tag = tag(&service, "AbC123xy").await;
    for path in [
        "/t/AbC123xy/",
        "/t/AbC123xy&brid=abc",
        "/t/AbC123xy&utm_source=poster",
        "/t/AbC123xy?&brid=abc",
        "/t/AbC123xy&brid=x?y=1",
        "/t/AbC123xy&brid=x/",
        "/t/AbC123xy/&brid=x",
        "/t/AbC123xy&&&",
        "/t/abc123xy/&brid=x",
        "/t/AbC123xy&%26=%26",
    ] {
        assert_eq!(found(&service, path).await, Some(json!(tag.id)), "{path}");
        let last = service.admin_get("/interactions?limit=1").await["items"][0].clone();
        assert_eq!(last["tag_verified"], Value::Null, "{path}: {last}");
    }
    for path in [
        "/t/AbC123xy//",
        "/t/AbC123xy//&brid=x",
        "/t/AbC123xy%26brid=x",
        "/t/AbC123xy%2F",
    ] {
        assert_eq!(found(&service, path).await, None, "{path}");
    }
}

#[tokio::test]
async fn a_code_verifies_in_the_url_that_a_phone_changed() {
    let service = TestService::start().await;
    let tag = tag(&service, "AbC123xy").await;
    let mut inlay = service
        .rolling_inlay(
            &tag,
            tapdesk_service::inlay::Mirror::Plain,
            tapdesk_service::inlay::MacFrom::Uid,
        )
        .await;
    for change in [
        (|path: &str| path.to_lowercase()) as fn(&str) -> String,
        |path| path.replacen('?', "/?", 1),
        |path| path.replacen('?', "&", 1),
        |path| path.to_lowercase().replacen('?', "/&", 1) + "&brid=x",
    ] {
        let code = inlay.code();
        let url = format!("/t/{}?uid={}&token={}", tag.slug, code.uid, code.token);
        let url = change(&url);
        let tap = service.tap(&url).await;
        assert_eq!(tap.status, 302, "{url}");
        let payload = service.payload(tap.key()).await;
        assert_eq!(payload["tag_verified"], json!(true), "{url}");
        // A reload of the same URL repeats the answer.
        let again = service
            .tap_with_cookie(&url, &tap.cookie.clone().unwrap())
            .await;
        assert_eq!(again.location, tap.location, "{url}");
        let text = json!({"url": format!("{}{}", service.base(), url)});
        let checked = service.admin(Method::POST, "/verification", text).await;
        assert_eq!(checked.expect(200)["tag_id"], json!(tag.id), "{url}");
    }
}

/// The former rule: a text of 6 to 32 of `a-z 0-9 -`, at exactly its path.
fn was_a_slug(text: &str) -> bool {
    let legal = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (6..=32).contains(&text.len()) && text.bytes().all(legal)
}

/// Each URL that led to a tag before slugs could have other characters still leads to it, whatever
/// slugs are near it now.
#[tokio::test]
async fn every_url_that_worked_before_leads_to_the_same_tag() {
    use tapdesk_service::entropy::{SeededEntropy, bytes};

    let service = TestService::start().await;
    let entropy = SeededEntropy::new(32);
    let mut tags = Vec::new();
    for _ in 0..tapdesk_tests::cases(20) {
        let [length, picks @ ..] = bytes::<33>(&entropy);
        let length = 6 + usize::from(length) % 27;
        let alphabet = b"abcdefxyz0123456789-";
        let slug = picks[..length]
            .iter()
            .map(|pick| char::from(alphabet[usize::from(*pick) % alphabet.len()]));
        let slug: String = slug.collect();
        assert!(was_a_slug(&slug));
        let made = tag(&service, &slug).await;
        // A neighbour that no former rule would have allowed.
        let near = create(&service, &slug.to_uppercase()).await;
        assert!([201, 409].contains(&near.status), "{}", near.body);
        tags.push(made);
    }
    for tag in &tags {
        let slug = &tag.slug;
        for path in [
            format!("/t/{slug}"),
            format!("/t/{slug}/"),
            format!("/t/{slug}&utm_source=poster"),
            format!("/t/{slug}?utm_source=poster"),
        ] {
            assert_eq!(found(&service, &path).await, Some(json!(tag.id)), "{path}");
        }
    }
}
