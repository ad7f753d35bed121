//! Images of products: uploads, answers and limits.

use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tapdesk_tests::fixtures::hex;
use tapdesk_tests::{Answer, Answering as _, Client, TestService};

use super::{delete, group, patch};

/// A picture of 3 x 2 pixels.
fn png(red: u8) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let picture = image::RgbImage::from_pixel(3, 2, image::Rgb([red, 40, 40]));
    let written = picture.write_to(&mut bytes, image::ImageFormat::Png);
    written.expect("a picture can be written");
    bytes.into_inner()
}

fn path(group: i64) -> String {
    format!("/groups/{group}/image")
}

async fn put(client: &Client, group: i64, bytes: Vec<u8>) -> Answer {
    let request = client.admin_request(Method::PUT, &path(group));
    let request = request.header("content-type", "image/png").body(bytes);
    request.answer().await
}

async fn get(client: &Client, group: i64) -> reqwest::Response {
    let request = client.admin_request(Method::GET, &path(group));
    request.send().await.expect("the service answers")
}

async fn remove(client: &Client, group: i64) -> u16 {
    let path = path(group);
    let answer = client.admin(Method::DELETE, &path, Value::Null).await;
    answer.status
}

/// The image in the answer of a group.
async fn shown(client: &Client, group: i64) -> Value {
    client.admin_get(&format!("/groups/{group}")).await["image"].clone()
}

/// The newest row of the audit log.
async fn newest_row(service: &TestService) -> Value {
    service.admin_get("/audit?limit=1").await["items"][0].clone()
}

#[tokio::test]
async fn an_image_of_a_product_is_written_again_from_its_pixels_and_named_by_its_digest() {
    let service = TestService::start().await;
    let product = group(&service, "product", None, Value::Null).await;
    assert_eq!(shown(&service, product).await, Value::Null);
    service.advance(60_000);
    let mut sent = png(200);
    sent.extend(b"what an editor wrote behind the pixels");
    let saved = put(&service, product, sent.clone()).await.expect(200);
    assert_eq!(saved["updated_at"], "2026-01-01T12:01:00Z");

    let answer = get(&service, product).await;
    let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(answer.status(), 200);
    assert_eq!(header("content-type"), "image/png");
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert_eq!(
        header("content-security-policy"),
        "default-src 'none'; sandbox"
    );
    let etag = header("etag");
    let kept = answer.bytes().await.expect("a body");
    assert!(!kept.windows(6).any(|window| window == b"editor"));
    let picture = image::load_from_memory(&kept).expect("a picture");
    assert_eq!((picture.width(), picture.height()), (3, 2));
    let digest = hex(&Sha256::digest(&kept)).to_lowercase();
    assert_eq!(etag, format!("\"{digest}\""));
    let expected = json!({"group_id": product, "type": "image/png", "digest": digest});
    assert_eq!(saved["image"], expected);
    let listed = service.admin_get("/groups").await;
    assert_eq!(listed["items"][0]["image"], expected);

    // The same image again is no change.
    let (before, row) = (shown(&service, product).await, newest_row(&service).await);
    service.advance(60_000);
    let again = put(&service, product, sent).await.expect(200);
    assert_eq!(again, saved);
    assert_eq!(newest_row(&service).await, row);
    let replaced = put(&service, product, png(10)).await.expect(200);
    assert_ne!(replaced["image"], before);
    assert_eq!(replaced["updated_at"], "2026-01-01T12:02:00Z");
    let row = newest_row(&service).await;
    assert_eq!(row["before"], json!({"digest": digest}));
    assert_eq!(
        row["after"],
        json!({"digest": replaced["image"]["digest"].clone()})
    );

    assert_eq!(remove(&service, product).await, 204);
    assert_eq!(shown(&service, product).await, Value::Null);
    assert_eq!(get(&service, product).await.status(), 404);
    assert_eq!(remove(&service, product).await, 404);
}

#[tokio::test]
async fn only_a_product_has_an_image_and_keeps_its_kind_while_it_has() {
    let service = TestService::start().await;
    let only = "Only a product has an image.";
    for kind in ["folder", "batch"] {
        let other = group(&service, kind, None, Value::Null).await;
        let refused = put(&service, other, png(1)).await.expect(422);
        assert_eq!(refused["detail"], only, "{kind}");
    }
    let product = group(&service, "product", None, Value::Null).await;
    put(&service, product, png(1)).await.expect(200);
    for kind in ["folder", "batch"] {
        let change = json!({"kind": kind});
        let refused = patch(&service, product, change).await.expect(422);
        assert_eq!(refused["errors"][0]["field"], "kind");
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.starts_with(only), "{detail}");
    }
    patch(&service, product, json!({"name": "Renamed"}))
        .await
        .expect(200);
    assert_eq!(remove(&service, product).await, 204);
    patch(&service, product, json!({"kind": "folder"}))
        .await
        .expect(200);
}

#[tokio::test]
async fn what_is_no_picture_is_refused_and_the_image_stays() {
    let service = TestService::start().await;
    let product = group(&service, "product", None, Value::Null).await;
    put(&service, product, png(1)).await.expect(200);
    let before = shown(&service, product).await;
    for (bytes, status) in [
        (b"<svg onload='x'/>".to_vec(), 415),
        (Vec::new(), 415),
        (b"\x89PNG\r\n\x1a\n and more".to_vec(), 422),
        (vec![0; 16 * 1024 * 1024 + 1], 413),
    ] {
        put(&service, product, bytes).await.expect(status);
    }
    put(&service, 999, png(1)).await.expect(404);
    assert_eq!(shown(&service, product).await, before);
    // The member of the group is only read.
    let change = json!({"image": before});
    patch(&service, product, change).await.expect(422);
    assert_eq!(shown(&service, product).await, before);
}

#[tokio::test]
async fn groups_have_the_image_of_the_nearest_product() {
    let service = TestService::start().await;
    let wines = group(&service, "folder", None, Value::Null).await;
    let outer = group(&service, "product", Some(wines), Value::Null).await;
    let inner = group(&service, "product", Some(outer), Value::Null).await;
    let batch = group(&service, "batch", Some(inner), Value::Null).await;
    let of_outer = put(&service, outer, png(1)).await.expect(200)["image"].clone();
    for below in [inner, batch] {
        assert_eq!(shown(&service, below).await, of_outer, "{below}");
    }
    assert_eq!(shown(&service, wines).await, Value::Null);
    let of_inner = put(&service, inner, png(2)).await.expect(200)["image"].clone();
    assert_eq!(of_inner["group_id"], inner);
    assert_eq!(shown(&service, batch).await, of_inner);
    let listed = service.admin_get("/groups").await;
    let listed = listed["items"].as_array().unwrap().iter();
    let listed: Vec<_> = listed.map(|group| group["image"].clone()).collect();
    let expected = [Value::Null, of_outer.clone(), of_inner.clone(), of_inner];
    assert_eq!(listed, expected);

    let inherited = get(&service, batch).await.bytes().await.unwrap();
    assert_eq!(inherited, get(&service, inner).await.bytes().await.unwrap());
    // A batch has none of its own that could be deleted.
    assert_eq!(remove(&service, batch).await, 404);
    assert_eq!(remove(&service, inner).await, 204);
    patch(&service, batch, json!({"parent_id": wines}))
        .await
        .expect(200);
    assert_eq!(get(&service, batch).await.status(), 404);
}

#[tokio::test]
async fn an_image_is_deleted_with_its_group() {
    let service = TestService::start().await;
    let product = group(&service, "product", None, Value::Null).await;
    put(&service, product, png(1)).await.expect(200);
    let count = "SELECT count(*) FROM group_images";
    let stored = async || -> i64 {
        if let Some(database) = service.postgres() {
            let client = database.look_into().await;
            return client.query_one(count, &[]).await.unwrap().get(0);
        }
        let file = rusqlite::Connection::open(service.folder().join("tapdesk.db")).unwrap();
        file.query_row(count, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(stored().await, 1);
    delete(&service, product).await.expect(204);
    assert_eq!(stored().await, 0);
    assert_eq!(get(&service, product).await.status(), 404);
}

#[tokio::test]
async fn images_need_the_scopes_of_groups_and_are_limited_with_them() {
    let service = TestService::start().await;
    let product = group(&service, "product", None, Value::Null).await;
    let batch = group(&service, "batch", Some(product), Value::Null).await;
    let other = group(&service, "product", None, Value::Null).await;
    for product in [product, other] {
        put(&service, product, png(1)).await.expect(200);
    }
    let token = async |scopes: Value, groups: Value| {
        let token = json!({"name": "A token", "scopes": scopes, "group_ids": groups});
        let created = service.admin_create("/tokens", token).await;
        Client::new(service.base(), created["token"].as_str().unwrap())
    };
    let reader = token(json!(["read"]), Value::Null).await;
    let writer = token(json!(["tags"]), Value::Null).await;
    let of_product = token(json!(["read", "tags"]), json!([product])).await;
    let of_batch = token(json!(["read", "tags"]), json!([batch])).await;
    for (name, client, group, reads, writes) in [
        ("reader", &reader, product, 200, 403),
        ("writer", &writer, product, 403, 200),
        ("of the product", &of_product, product, 200, 200),
        ("of the product", &of_product, other, 404, 404),
        ("of the batch", &of_batch, product, 404, 404),
        // A value from above is seen below, as at a tag.
        ("of the batch", &of_batch, batch, 200, 422),
    ] {
        assert_eq!(get(client, group).await.status(), reads, "{name}: {group}");
        let written = put(client, group, png(2)).await.status;
        assert_eq!(written, writes, "{name}: {group}");
    }
    for (client, group, expected) in [
        (&reader, product, 403),
        (&of_batch, product, 404),
        (&of_product, other, 404),
        (&of_product, product, 204),
    ] {
        assert_eq!(remove(client, group).await, expected);
    }
}
