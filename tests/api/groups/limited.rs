//! Tokens that are limited to groups: for them, nothing outside exists.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answering as _, Client, TestService, TestTag};

use super::{group, patch};

struct Shop {
    colleague: Client,
    product: i64,
    batch: i64,
    other: i64,
    mine: TestTag,
    theirs: TestTag,
    service: TestService,
}

async fn shop() -> Shop {
    let service = TestService::start().await;
    let experience = service.redirect("https://owner.example/").await;
    let led = json!({"experience_id": experience});
    let product = group(&service, "product", None, led.clone()).await;
    let batch = group(&service, "batch", Some(product), Value::Null).await;
    let other = group(&service, "product", None, led).await;
    let tag = |name: &str, group: i64| json!({"name": name, "group_id": group, "variables": {"registered": "no"}});
    let mine = service.tag(tag("mine", batch)).await;
    let theirs = service.tag(tag("theirs", other)).await;
    for tag in [&mine, &theirs] {
        let key = service.tap(&tag.path()).await.key().to_owned();
        let updated = service.update(&key, json!({"registered": "yes"})).await;
        assert_eq!(updated.status, 200, "{}", updated.body);
    }
    service.advance(1);
    let token = json!({
        "name": "A colleague", "scopes": ["read", "tags", "export", "webhooks"], "group_ids": [product],
    });
    let token = service.admin_create("/tokens", token).await;
    assert_eq!(token["group_ids"], json!([product]));
    let colleague = Client::new(service.base(), token["token"].as_str().unwrap());
    Shop {
        colleague,
        product,
        batch,
        other,
        mine,
        theirs,
        service,
    }
}

async fn status(client: &Client, method: Method, path: &str, body: Value) -> u16 {
    client.admin(method, path, body).await.status
}

#[tokio::test]
async fn a_token_of_a_group_sees_its_tags_taps_and_groups_and_no_others() {
    let shop = shop().await;
    let colleague = &shop.colleague;
    let ids = async |path: &str, member: &str| {
        let page = colleague.admin_get(path).await;
        let items = page["items"].as_array().unwrap().iter();
        items
            .map(|item| item[member].as_i64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids("/groups", "id").await, [shop.product, shop.batch]);
    assert_eq!(ids("/tags", "id").await, [shop.mine.id]);
    assert_eq!(ids("/interactions", "tag_id").await, [shop.mine.id]);
    assert_eq!(
        ids(&format!("/interactions?group_id={}", shop.other), "tag_id").await,
        [0_i64; 0]
    );
    assert_eq!(ids("/experiences", "id").await, [0_i64; 0]);
    assert_eq!(ids("/webhooks", "id").await, [0_i64; 0]);
    assert_eq!(colleague.admin_get("/reports").await["totals"]["taps"], 1);
    let of_other = format!("/reports?group_id={}", shop.other);
    assert_eq!(colleague.admin_get(&of_other).await["totals"]["taps"], 0);
    while shop.service.service().storage.fold_reports().await.unwrap() {}
    assert_eq!(colleague.admin_get("/reports").await["totals"]["taps"], 1);
    assert_eq!(colleague.admin_get(&of_other).await["totals"]["taps"], 0);
    let exported = colleague
        .admin_request(Method::GET, "/tags/export")
        .answer()
        .await
        .body;
    assert!(
        exported.contains("mine") && !exported.contains("theirs"),
        "{exported}"
    );
    let exported = colleague
        .admin_request(Method::GET, "/interactions/export")
        .answer()
        .await
        .body;
    assert!(
        exported.contains("mine") && !exported.contains("theirs"),
        "{exported}"
    );
    let taps = shop.service.admin_get("/interactions").await;
    let taps = taps["items"].as_array().unwrap().iter();
    for tap in taps {
        let expected = if tap["tag_id"] == shop.mine.id {
            200
        } else {
            404
        };
        let path = format!("/interactions/{}", tap["id"]);
        assert_eq!(
            status(colleague, Method::GET, &path, Value::Null).await,
            expected
        );
    }
    for path in [
        format!("/groups/{}", shop.other),
        shop.theirs.admin_path(),
        format!("{}/effective", shop.theirs.admin_path()),
        format!("{}/variables", shop.theirs.admin_path()),
    ] {
        assert_eq!(
            status(colleague, Method::GET, &path, Value::Null).await,
            404,
            "{path}"
        );
    }
    let current = colleague.admin_get("/tokens/current").await;
    assert_eq!(current["group_ids"], json!([shop.product]));
}

#[tokio::test]
#[expect(
    clippy::too_many_lines,
    reason = "each kind of change, one after the other"
)]
async fn a_token_of_a_group_changes_what_is_below_and_takes_nothing_out() {
    let shop = shop().await;
    let colleague = &shop.colleague;
    let mine = shop.mine.admin_path();
    for (method, path, body, expected) in [
        (Method::PATCH, mine.clone(), json!({"title": "Mine"}), 200),
        (
            Method::PATCH,
            mine.clone(),
            json!({"group_id": shop.product}),
            200,
        ),
        (
            Method::PATCH,
            mine.clone(),
            json!({"group_id": shop.other}),
            409,
        ),
        (Method::PATCH, mine.clone(), json!({"group_id": null}), 422),
        (
            Method::PATCH,
            shop.theirs.admin_path(),
            json!({"title": "Mine"}),
            404,
        ),
        (
            Method::POST,
            "/tags".to_owned(),
            json!({"name": "New"}),
            422,
        ),
        (
            Method::POST,
            "/tags".to_owned(),
            json!({"name": "New", "group_id": shop.batch}),
            201,
        ),
        (
            Method::POST,
            "/tags".to_owned(),
            json!({"name": "New", "group_id": shop.other}),
            409,
        ),
        (
            Method::PATCH,
            format!("/groups/{}", shop.batch),
            json!({"status": "recalled"}),
            200,
        ),
        (
            Method::PATCH,
            format!("/groups/{}", shop.product),
            json!({"title": "New"}),
            200,
        ),
        (
            Method::PATCH,
            format!("/groups/{}", shop.batch),
            json!({"parent_id": null}),
            422,
        ),
        (
            Method::PATCH,
            format!("/groups/{}", shop.batch),
            json!({"parent_id": shop.other}),
            409,
        ),
        (
            Method::PATCH,
            format!("/groups/{}", shop.other),
            json!({"name": "x"}),
            404,
        ),
        (
            Method::POST,
            "/groups".to_owned(),
            json!({"kind": "batch", "name": "x"}),
            422,
        ),
        (
            Method::POST,
            "/groups".to_owned(),
            json!({"kind": "batch", "name": "x", "parent_id": shop.product}),
            201,
        ),
        (
            Method::POST,
            "/webhooks".to_owned(),
            json!({"url": "https://example.com/", "events": ["tap.verified"]}),
            422,
        ),
    ] {
        let answer = colleague.admin(method.clone(), &path, body.clone()).await;
        assert_eq!(
            answer.status, expected,
            "{method} {path} {body}: {}",
            answer.body
        );
    }
    for (action, expected) in [
        (json!({"action": "group", "group_id": shop.batch}), 0),
        (json!({"action": "status", "status": "archived"}), 0),
        (json!({"action": "delete"}), 0),
    ] {
        let mut request = action;
        request["select"] = json!({"ids": [shop.theirs.id]});
        let answer = colleague.admin(Method::POST, "/tags/bulk", request).await;
        assert_eq!(answer.expect(200)["selected"], expected);
    }
    // An experience of the tag's own, which the colleague does not see, stays.
    let own = shop.service.redirect("https://owner.example/own").await;
    shop.service
        .admin_patch(&mine, json!({"experience_id": own}))
        .await;
    let renamed = colleague
        .admin_patch(&mine, json!({"name": "Renamed"}))
        .await;
    assert_eq!(renamed["experience_id"], own);
    // A tag that moves out of the group is out of reach.
    patch(&shop.service, shop.batch, json!({"parent_id": shop.other}))
        .await
        .expect(200);
    shop.service
        .admin_patch(&mine, json!({"group_id": shop.batch}))
        .await;
    assert_eq!(
        status(colleague, Method::GET, &mine, Value::Null).await,
        404
    );
}

#[tokio::test]
async fn a_token_is_limited_to_groups_that_exist_and_not_to_experiences_as_well() {
    let service = TestService::start().await;
    let id = group(&service, "product", None, Value::Null).await;
    for (limits, expected) in [
        (json!({"group_ids": [id]}), 201),
        (json!({"group_ids": [id, 999]}), 409),
        (json!({"group_ids": [id], "experience_ids": []}), 422),
        (json!({"group_ids": [0]}), 422),
    ] {
        let mut token = json!({"name": "Shop", "scopes": ["read"]});
        token
            .as_object_mut()
            .unwrap()
            .extend(limits.as_object().unwrap().clone());
        let answer = service.admin(Method::POST, "/tokens", token).await;
        assert_eq!(answer.status, expected, "{limits}: {}", answer.body);
    }
}
