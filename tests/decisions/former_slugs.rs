//! A tag gets another slug: chips and prints with the former one still work.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answering as _, TestInlay, TestService, TestTag};

const NEW: &str = "bottle-two-thousand";

/// A bottle whose slug was changed; `tag` has the former one.
async fn renamed(service: &TestService) -> (TestTag, TestInlay) {
    let (tag, inlay) = service.bottle().await;
    service
        .admin_patch(&tag.admin_path(), json!({"slug": NEW}))
        .await;
    (tag, inlay)
}

#[tokio::test]
async fn a_former_slug_answers_as_the_tag_itself_without_a_hop() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    // Caches its slug before the change.
    assert_eq!(service.tap(&inlay.url(&tag)).await.status, 302);
    service
        .admin_patch(&tag.admin_path(), json!({"slug": NEW}))
        .await;

    let url = inlay.url(&tag);
    let tap = service.tap(&url).await;
    assert_eq!(tap.status, 302);
    let payload = service.payload(tap.key()).await;
    assert_eq!(payload["tag_verified"], json!(true));
    assert_eq!(payload["metadata"]["tag_id"], tag.id);
    assert_eq!(
        payload["metadata"]["url"],
        format!("{}/t/{NEW}", service.base()),
        "the URL as it is now"
    );
    assert_eq!(
        service
            .update(tap.key(), json!({"registered": "true"}))
            .await
            .status,
        200
    );

    // A reload counts as one: the cookie is valid for the path that was requested.
    let cookie = tap.answer.header("set-cookie").unwrap();
    assert!(
        cookie.contains(&format!("Path=/t/{};", tag.slug)),
        "{cookie}"
    );
    let again = service.tap_with_cookie(&url, &tap.cookie.unwrap()).await;
    let cookie = again.answer.header("set-cookie").unwrap();
    assert!(
        cookie.contains(&format!("Path=/t/{};", tag.slug)),
        "{cookie}"
    );
    assert_eq!(again.location, tap.location);

    // The code is spent for both URLs.
    let copy = url.replace(&tag.slug, NEW);
    let copy = service.payload(service.tap(&copy).await.key()).await;
    assert_eq!(copy["tag_verified"], json!(false));
    let fresh = inlay.url(&tag).replace(&tag.slug, NEW);
    let fresh = service.payload(service.tap(&fresh).await.key()).await;
    assert_eq!(fresh["tag_verified"], json!(true));
    assert_eq!(service.scan_count(&tag).await, 4);

    let checked = json!({"url": format!("{}{}", service.base(), inlay.url(&tag))});
    let checked = service.admin(Method::POST, "/verification", checked).await;
    assert_eq!(checked.expect(200)["tag_verified"], json!(true));
    let head = service.head(&tag.path()).answer().await;
    assert_eq!(head.status, 302);
}

#[tokio::test]
async fn a_new_slug_is_saved_with_a_warning_that_says_what_will_break() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let changes = json!({"slug": NEW});
    let answer = service
        .admin(Method::PATCH, &tag.admin_path(), changes)
        .await;
    answer.expect(200);
    let warning = answer.header("tapdesk-warning").unwrap();
    for part in [tag.slug.as_str(), NEW, "released"] {
        assert!(warning.contains(part), "{warning}");
    }
}

#[tokio::test]
async fn former_slugs_are_listed_on_the_tag_the_last_one_first() {
    let service = TestService::start().await;
    let (tag, _) = renamed(&service).await;
    let path = tag.admin_path();
    service.advance(1);
    let third = service
        .admin_patch(&path, json!({"slug": "bottle-3000"}))
        .await;
    assert_eq!(third["former_slugs"], json!([NEW, tag.slug]));
    // The former slug is the present one again, and no longer a former one.
    service.advance(1);
    let back = service.admin_patch(&path, json!({"slug": tag.slug})).await;
    assert_eq!(back["slug"], json!(tag.slug));
    assert_eq!(back["former_slugs"], json!(["bottle-3000", NEW]));
    assert_eq!(service.admin_get(&path).await, back);
    let list = service.admin_get("/tags").await;
    assert_eq!(list["items"][0]["former_slugs"], back["former_slugs"]);
    let unchanged = service
        .admin_patch(&path, json!({"name": "Same URL"}))
        .await;
    assert_eq!(unchanged["former_slugs"], back["former_slugs"]);
}

#[tokio::test]
async fn a_former_slug_stays_reserved_until_it_is_released() {
    let service = TestService::start().await;
    let (tag, _) = renamed(&service).await;
    let other = service.tag(json!({"name": "Other"})).await;
    let create = json!({"name": "Third", "slug": tag.slug});
    let patch = json!({"slug": tag.slug});
    for (method, path, body) in [
        (Method::POST, "/tags".to_owned(), create.clone()),
        (Method::PATCH, other.admin_path(), patch),
    ] {
        let refused = service.admin(method, &path, body).await.expect(409);
        let detail = refused["detail"].as_str().unwrap();
        assert!(
            detail.contains(&format!("former slug of the tag {}", tag.id)),
            "{detail}"
        );
    }

    let release = format!("{}/former-slugs/{}", tag.admin_path(), tag.slug);
    let not_its_own = format!("{}/former-slugs/{}", other.admin_path(), tag.slug);
    let not_former = format!("{}/former-slugs/{NEW}", tag.admin_path());
    for path in [&not_its_own, &not_former] {
        let answer = service.admin(Method::DELETE, path, Value::Null).await;
        assert_eq!(answer.status, 404, "{path}");
    }
    assert_eq!(service.tap(&tag.path()).await.status, 302);
    for status in [204, 404] {
        let answer = service.admin(Method::DELETE, &release, Value::Null).await;
        assert_eq!(answer.status, status);
    }
    assert_eq!(service.tap(&tag.path()).await.status, 404);
    let left = service.admin_get(&tag.admin_path()).await;
    assert_eq!(left["former_slugs"], json!([]));
    let third = service.tag(create).await;
    assert_ne!(third.id, tag.id);
}

#[tokio::test]
async fn a_search_finds_a_tag_by_a_former_slug() {
    let service = TestService::start().await;
    let tag = service
        .tag(json!({"name": "Bottle", "slug": "first-zq"}))
        .await;
    // A slug of its own: a random one may contain the words.
    service.tag(json!({"name": "Other", "slug": "other"})).await;
    let found = async |q: &str| {
        let mut all = Vec::new();
        for sort in ["created", "name", "-scans"] {
            let page = service
                .admin_get(&format!("/tags?q={q}&sort={sort}&count=true"))
                .await;
            let ids = page["items"].as_array().unwrap();
            assert_eq!(page["count"], ids.len());
            all.push(
                ids.iter()
                    .map(|tag| tag["id"].as_i64().unwrap())
                    .collect::<Vec<_>>(),
            );
        }
        assert!(all.iter().all(|ids| *ids == all[0]), "{all:?}");
        all.remove(0)
    };
    assert_eq!(found("FIRST-ZQ").await, [tag.id]);
    let path = tag.admin_path();
    service
        .admin_patch(&path, json!({"slug": "second-zq"}))
        .await;
    service
        .admin_patch(&path, json!({"slug": "third-slug"}))
        .await;
    service.admin_patch(&path, json!({"title": "Wine"})).await;
    for q in ["first-zq", "SECOND", "t-zq", "zq", "third", "wine"] {
        assert_eq!(found(q).await, [tag.id], "{q}");
    }
    let release = format!("{path}/former-slugs/first-zq");
    service
        .admin(Method::DELETE, &release, Value::Null)
        .await
        .expect(204);
    for (q, ids) in [
        ("first", vec![]),
        ("second", vec![tag.id]),
        ("wine", vec![tag.id]),
    ] {
        assert_eq!(found(q).await, ids, "{q}");
    }
}

#[tokio::test]
async fn a_row_of_a_table_with_a_former_slug_means_the_tag_and_keeps_its_slug() {
    let service = TestService::start().await;
    let (tag, _) = renamed(&service).await;
    let csv = format!("slug,name\n{},From an old list\n", tag.slug);
    let import = async |mode: &str| {
        service
            .admin_request(Method::POST, &format!("/tags/import?mode={mode}"))
            .header("content-type", "text/csv")
            .body(csv.clone())
            .answer()
            .await
            .expect(200)
    };
    let refused = import("insert").await;
    assert!(refused.to_string().contains("former slug"), "{refused}");
    import("upsert").await;
    let after = service.admin_get(&tag.admin_path()).await;
    assert_eq!(after["name"], "From an old list");
    assert_eq!(after["slug"], NEW);
    assert_eq!(after["former_slugs"], json!([tag.slug]));
}

#[tokio::test]
async fn the_slugs_of_a_deleted_tag_stay_reserved_and_come_back_with_it() {
    let service = TestService::start().await;
    let (tag, _) = renamed(&service).await;
    let path = tag.admin_path();
    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(204);
    assert_eq!(service.tap(&tag.path()).await.status, 404);
    let release = format!("{path}/former-slugs/{}", tag.slug);
    let answer = service.admin(Method::DELETE, &release, Value::Null).await;
    assert_eq!(answer.status, 404);
    let taken = json!({"name": "Another", "slug": tag.slug});
    service
        .admin(Method::POST, "/tags", taken)
        .await
        .expect(409);
    let restore = json!({"action": "restore", "select": {"ids": [tag.id]}});
    service
        .admin(Method::POST, "/tags/bulk", restore)
        .await
        .expect(200);
    assert_eq!(service.tap(&tag.path()).await.status, 302);
}

#[tokio::test]
async fn a_tag_has_at_most_100_former_slugs_and_one_that_is_released_makes_room() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let rename = async |number: i32| {
        let slug = json!({"slug": format!("bottle-{number:05}")});
        service.admin(Method::PATCH, &tag.admin_path(), slug).await
    };
    for number in 1..=100 {
        rename(number).await.expect(200);
    }
    let refused = rename(101).await.expect(409);
    let detail = refused["detail"].as_str().unwrap();
    assert!(
        detail.contains("100") && detail.contains("Release"),
        "{detail}"
    );
    let unchanged = service.admin_get(&tag.admin_path()).await;
    assert_eq!(unchanged["slug"], "bottle-00100");
    // Returning to one of its former slugs does not add one.
    rename(50).await.expect(200);
    rename(101).await.expect(409);
    let release = format!("{}/former-slugs/{}", tag.admin_path(), tag.slug);
    let released = service.admin(Method::DELETE, &release, Value::Null).await;
    released.expect(204);
    rename(101).await.expect(200);
}
