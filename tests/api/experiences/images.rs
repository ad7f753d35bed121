//! Images of an experience.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answer, Answering as _, TestService};

use super::{page, refused, roll_back};

/// A picture of 3 x 2 pixels.
fn png() -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let picture = image::RgbImage::from_pixel(3, 2, image::Rgb([200, 40, 40]));
    let written = picture.write_to(&mut bytes, image::ImageFormat::Png);
    written.expect("a picture can be written");
    bytes.into_inner()
}

async fn upload(service: &TestService, path: &str, bytes: &[u8]) -> Answer {
    let request = service.admin_request(Method::POST, path);
    request.body(bytes.to_vec()).answer().await
}

#[tokio::test]
async fn images_are_told_by_their_bytes_and_written_anew_from_their_pixels() {
    let service = TestService::start().await;
    service.experience(page("Hello")).await;
    let images = "/experiences/1/images";
    let mut large = png();
    large.extend(b"what an editor wrote behind the pixels");
    let created = upload(&service, images, &large).await.expect(201);
    let request = service.admin_request(Method::GET, "/experiences/1/images/1");
    let answer = request.send().await.expect("the service answers");
    assert_eq!(answer.headers()["content-type"], "image/png");
    assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
    let kept = answer.bytes().await.expect("a body");
    assert!(!kept.windows(6).any(|window| window == b"editor"));
    let picture = image::load_from_memory(&kept).expect("a picture");
    assert_eq!((picture.width(), picture.height()), (3, 2));
    let expected = json!({
        "id": 1, "media_type": "image/png", "size": kept.len(), "created_at": "2026-01-01T12:00:00Z",
    });
    assert_eq!(created, expected);
    assert_eq!(
        service.admin_get(images).await,
        json!({"items": [expected], "next": null})
    );

    upload(&service, images, b"<svg onload='x'/>")
        .await
        .expect(415);
    upload(&service, images, b"").await.expect(415);
    let refused = upload(&service, images, b"\x89PNG\r\n\x1a\n and more").await;
    let refused = refused.expect(422);
    let words = refused["detail"].as_str().expect("a sentence");
    assert!(words.starts_with("The picture cannot be read"), "{words}");
    large.resize(16 * 1024 * 1024, 0);
    upload(&service, images, &large).await.expect(201);
    large.push(0);
    upload(&service, images, &large).await.expect(413);
    upload(&service, "/experiences/9/images", &png())
        .await
        .expect(404);
}

#[tokio::test]
async fn an_image_of_more_than_40_million_pixels_is_refused_in_words() {
    let service = TestService::start().await;
    let studio = json!({"name": "Story", "kind": "studio", "blocks": []});
    service.experience(studio).await;
    // The header of this GIF claims 10,000 x 9,000 pixels: 360 MB of memory for 35 bytes.
    let mut bomb = b"GIF89a\x10\x27\x28\x23\x80\0\0\xff\xff\xff\0\0\0".to_vec();
    bomb.extend(b",\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;");
    let path = "/experiences/1/images";
    let refused = upload(&service, path, &bomb).await.expect(422);
    let said = "This picture has 10000 x 9000 pixels. A picture can have at most 40 million pixels \
                in all, and 12000 on a side. Make it smaller, and add it again.";
    assert_eq!(refused["detail"], said);
    assert_eq!(service.admin_get(path).await["items"], json!([]));

    // The same in an imported experience file.
    upload(&service, path, &png()).await.expect(201);
    let shows = json!({"blocks": [{"type": "image", "image_id": 1, "alt": ""}]});
    service.admin_patch("/experiences/1", shows).await;
    let mut file = service.admin_get("/experiences/1/file").await;
    file["images"][0]["data"] = json!(STANDARD.encode(&bomb));
    let answer = service
        .admin(Method::POST, "/experiences/import", file)
        .await;
    assert_eq!(answer.expect(422)["detail"], said);
}

#[tokio::test]
async fn an_image_that_is_shown_is_not_deleted_and_one_that_is_deleted_is_not_shown() {
    let service = TestService::start().await;
    let shows = |image: i64| json!({"blocks": [{"type": "image", "image_id": image, "alt": ""}]});
    service.experience(page("Hello")).await;
    service.experience(page("Other")).await;
    upload(&service, "/experiences/1/images", &png())
        .await
        .expect(201);
    let patch = |path: &'static str, image| service.admin(Method::PATCH, path, shows(image));
    let missing = patch("/experiences/1", 7).await.expect(409);
    assert_eq!(missing["detail"], "There is no image 7.");
    patch("/experiences/2", 1).await.expect(409);
    patch("/experiences/1?publish=true", 1).await.expect(200);

    let delete = || service.admin(Method::DELETE, "/experiences/1/images/1", Value::Null);
    delete().await.expect(409);
    service
        .admin_patch("/experiences/1", json!({"blocks": []}))
        .await;
    delete().await.expect(409);
    service
        .admin(Method::POST, "/experiences/1/publish", Value::Null)
        .await
        .expect(200);
    assert_eq!(delete().await.status, 204);
    delete().await.expect(404);
    let back = roll_back(&service, 2).await;
    assert_eq!(back.expect(409)["detail"], "There is no image 1.");
}

#[tokio::test]
async fn an_experience_is_carried_to_another_service_in_one_file_with_its_images() {
    let service = TestService::start().await;
    service.experience(page("Other")).await;
    service.experience(page("Hello")).await;
    for _ in 0..2 {
        upload(&service, "/experiences/2/images", &png())
            .await
            .expect(201);
    }
    let shows = json!({
        "blocks": [
            {"type": "image", "image_id": 2, "alt": "A bottle"},
            {"type": "condition", "when": {"type": "scan_count", "at_least": 1},
             "blocks": [{"type": "image", "image_id": 2, "alt": ""}]},
        ],
        "theme": {"logo": 1, "accent": "#aa3300"},
    });
    service.admin_patch("/experiences/2", shows).await;
    let file = service.admin_get("/experiences/2/file").await;
    assert_eq!(file["tapdesk_experience"], 1);
    assert_eq!(file["images"].as_array().map(Vec::len), Some(2));

    let other = TestService::start().await;
    let imported = other
        .admin_create("/experiences/import", file.clone())
        .await;
    assert_eq!(imported["name"], "Welcome");
    assert_eq!(
        (&imported["published_version"], &imported["draft"]),
        (&Value::Null, &json!(true))
    );
    let images = other.admin_get("/experiences/1/images").await;
    assert_eq!(images["items"].as_array().map(Vec::len), Some(2));
    let renamed = imported["blocks"][0]["image_id"].clone();
    assert_eq!(imported["blocks"][1]["blocks"][0]["image_id"], renamed);
    assert_ne!(imported["theme"]["logo"], renamed);
    let again = other.admin_get("/experiences/1/file").await;
    assert_eq!(again["content"]["theme"]["accent"], "#aa3300");

    for (member, value, words) in [
        ("tapdesk_experience", json!(2), "version 2 of its format"),
        ("name", json!(""), "needs a name"),
        ("images", json!([]), "does not have it"),
        (
            "images",
            json!([{"id": 1, "data": "%"}, {"id": 2, "data": "%"}]),
            "is not Base64",
        ),
        (
            "images",
            json!([{"id": 1, "data": "PHN2Zy8+"}, {"id": 2, "data": "PHN2Zy8+"}]),
            "is no PNG",
        ),
        ("content", json!({"kind": "studio"}), "needs blocks"),
        ("script", json!("x"), "unknown field `script`"),
    ] {
        let mut broken = file.clone();
        broken[member] = value;
        let refusal = refused(&other, Method::POST, "/experiences/import", broken).await;
        assert!(refusal.contains(words), "{refusal}");
    }
    let left = other.admin_get("/experiences").await;
    assert_eq!(
        left["items"].as_array().map(Vec::len),
        Some(1),
        "nothing is left behind"
    );

    let redirect = json!({
        "tapdesk_experience": 1, "name": "R",
        "content": {"kind": "redirect", "target_url": "https://owner.example/", "rules": [
            {"when": [{"type": "scan_count", "at_least": 2}], "target_url": "https://owner.example/2"},
        ]},
    });
    let redirect = other.admin_create("/experiences/import", redirect).await;
    assert_eq!(redirect["rules"].as_array().map(Vec::len), Some(1));
}
