//! Operations on experiences leave audit rows.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::Answering as _;

use super::Driver;

pub(super) async fn experiences(driver: &mut Driver) {
    let page = |text: &str| {
        json!({"name": "Ask", "kind": "studio", "blocks": [
            {"type": "heading", "text": text},
            {"type": "variable_button", "label": "Mine", "variable": "claimed", "value": "true"},
        ]})
    };
    let id = driver.service.experience(page("One")).await;
    driver
        .service
        .tag(json!({"name": "Lacks it", "experience_id": id, "add_variables": false}))
        .await;
    driver
        .service
        .admin_patch(
            &format!("/experiences/{id}"),
            json!({"blocks": page("Two")["blocks"]}),
        )
        .await;
    driver.look().await;
    let object = format!("experiences/{id}");
    for (name, body) in [
        ("publish", Value::Null),
        ("rollback", json!({"version": 1})),
        ("missing-variables", Value::Null),
    ] {
        let object = format!("{object}/{name}");
        let answer = driver.send(Method::POST, &format!("/{object}"), body).await;
        let operation = format!("post_experiences_id_{}", name.replace('-', "_"));
        driver
            .left(&operation, answer, &format!("experiences.{name}"), &object)
            .await;
    }
    let images = format!("/{object}/images");
    let request = driver.service.admin_request(Method::POST, &images);
    let answer = request
        .header("content-type", "image/png")
        .body(png())
        .answer()
        .await;
    let image = format!("{object}/images/{}", answer.json()["id"]);
    driver
        .left(
            "post_experiences_id_images",
            answer,
            "experiences.images.create",
            &image,
        )
        .await;
    let answer = driver
        .send(Method::DELETE, &format!("/{image}"), Value::Null)
        .await;
    driver
        .left(
            "delete_experiences_id_images_image_id",
            answer,
            "experiences.images.delete",
            &image,
        )
        .await;
    let row = driver.newest().await;
    assert_eq!(row["before"]["media_type"], "image/png", "{row}");
    let file = driver.service.admin_get(&format!("/{object}/file")).await;
    let answer = driver.send(Method::POST, "/experiences/import", file).await;
    let created = format!("experiences/{}", answer.json()["id"]);
    driver
        .left(
            "post_experiences_import",
            answer,
            "experiences.import",
            &created,
        )
        .await;
}

fn png() -> Vec<u8> {
    let mut png = std::io::Cursor::new(Vec::new());
    let image = image::RgbaImage::from_pixel(2, 2, image::Rgba([200, 0, 0, 255]));
    image.write_to(&mut png, image::ImageFormat::Png).unwrap();
    png.into_inner()
}
