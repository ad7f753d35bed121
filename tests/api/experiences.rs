//! `/admin/v1/experiences`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answer, Answering as _, TestService};

fn redirect(name: &str, target: &str) -> Value {
    json!({"name": name, "kind": "redirect", "target_url": target})
}

fn page(text: &str) -> Value {
    json!({"name": "Welcome", "kind": "studio", "blocks": [{"type": "heading", "text": text}]})
}

/// Where a tap of the tag leads, without the rolling key.
async fn destination(service: &TestService, path: &str) -> String {
    let tap = service.tap(path).await;
    let location = tap.location.expect("the tag redirects");
    location
        .split(['?', '&'])
        .next()
        .unwrap_or_default()
        .to_owned()
}

async fn refused(service: &TestService, method: Method, path: &str, body: Value) -> String {
    let problem = service.admin(method, path, body).await.expect(422);
    problem["detail"].as_str().expect("a sentence").to_owned()
}

#[tokio::test]
async fn a_new_experience_is_version_1_and_shown_with_all_its_members() {
    let service = TestService::start().await;
    let created = service
        .admin_create(
            "/experiences",
            redirect("Register", "https://owner.example/a"),
        )
        .await;
    let expected = json!({
        "id": 1, "name": "Register", "kind": "redirect", "target_url": "https://owner.example/a",
        "published_version": 1, "draft": false, "tags": 0,
        "created_at": "2026-01-01T12:00:00Z", "updated_at": "2026-01-01T12:00:00Z",
    });
    assert_eq!(created, expected);
    assert_eq!(service.admin_get("/experiences/1").await, expected);
}

#[tokio::test]
async fn a_new_draft_is_published_only_when_it_is_asked_to_be() {
    let service = TestService::start().await;
    let mut draft = redirect("Register", "https://owner.example/a");
    draft["draft"] = true.into();
    let id = service.experience(draft).await;
    let tag = service
        .tag(json!({"name": "Bottle", "experience_id": id}))
        .await;
    assert_eq!(service.tap(&tag.path()).await.status, 200, "not set up yet");
    let experience = service.admin_get(&format!("/experiences/{id}")).await;
    assert_eq!(experience["published_version"], Value::Null);
    assert_eq!(experience["draft"], true);

    let path = format!("/experiences/{id}/publish");
    let published = service.admin(Method::POST, &path, Value::Null).await;
    let published = published.expect(200);
    assert_eq!(published["published_version"], 1);
    assert_eq!(published["draft"], false);
    assert_eq!(
        destination(&service, &tag.path()).await,
        "https://owner.example/a"
    );
}

#[tokio::test]
async fn a_change_goes_to_the_draft_and_to_visitors_once_it_is_published() {
    let service = TestService::start().await;
    let tag = service.tag_to("https://owner.example/a", Value::Null).await;
    let changed = service
        .admin_patch(
            "/experiences/1",
            json!({"target_url": "https://owner.example/b"}),
        )
        .await;
    assert_eq!(changed["target_url"], "https://owner.example/b");
    assert_eq!(
        (&changed["published_version"], &changed["draft"]),
        (&json!(1), &json!(true))
    );
    assert_eq!(
        destination(&service, &tag.path()).await,
        "https://owner.example/a"
    );

    let published = service
        .admin(Method::POST, "/experiences/1/publish", Value::Null)
        .await
        .expect(200);
    assert_eq!(
        (&published["published_version"], &published["draft"]),
        (&json!(2), &json!(false))
    );
    assert_eq!(
        destination(&service, &tag.path()).await,
        "https://owner.example/b"
    );

    let third = json!({"target_url": "https://owner.example/c", "name": "Third"});
    let both = service
        .admin_patch("/experiences/1?publish=true", third)
        .await;
    assert_eq!(
        (&both["published_version"], &both["name"]),
        (&json!(3), &json!("Third"))
    );
    assert_eq!(
        destination(&service, &tag.path()).await,
        "https://owner.example/c"
    );
}

#[tokio::test]
async fn what_is_published_already_is_not_published_again() {
    let service = TestService::start().await;
    service.redirect("https://owner.example/a").await;
    for path in ["/experiences/1/publish", "/experiences/1/publish"] {
        let published = service.admin(Method::POST, path, Value::Null).await;
        assert_eq!(published.expect(200)["published_version"], 1);
    }
    service
        .admin_patch("/experiences/1?publish=true", json!({"name": "Other"}))
        .await;
    let versions = service.admin_get("/experiences/1/versions").await;
    assert_eq!(versions["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn versions_never_change_and_each_can_be_published_again() {
    let service = TestService::start().await;
    let tag = service.tag_to("https://owner.example/1", Value::Null).await;
    for n in 2..=3 {
        service.advance(1_000);
        let target = json!({"target_url": format!("https://owner.example/{n}")});
        service
            .admin_patch("/experiences/1?publish=true", target)
            .await;
    }
    let back = service
        .admin(
            Method::POST,
            "/experiences/1/rollback",
            json!({"version": 1}),
        )
        .await
        .expect(200);
    assert_eq!(
        (&back["published_version"], &back["draft"]),
        (&json!(4), &json!(false))
    );
    assert_eq!(
        back["target_url"], "https://owner.example/1",
        "the draft follows"
    );
    assert_eq!(
        destination(&service, &tag.path()).await,
        "https://owner.example/1"
    );

    let version = |version: i64, target: i64, at: &str| {
        json!({
            "version": version, "name": "Redirect", "kind": "redirect",
            "target_url": format!("https://owner.example/{target}"), "published_at": at,
        })
    };
    let first = service.admin_get("/experiences/1/versions?limit=2").await;
    assert_eq!(
        first["items"],
        json!([
            version(4, 1, "2026-01-01T12:00:02Z"),
            version(3, 3, "2026-01-01T12:00:02Z")
        ])
    );
    let next = first["next"].as_str().expect("there are more");
    let second = service
        .admin_get(&format!("/experiences/1/versions?limit=2&after={next}"))
        .await;
    assert_eq!(
        second,
        json!({
            "items": [version(2, 2, "2026-01-01T12:00:01Z"), version(1, 1, "2026-01-01T12:00:00Z")],
            "next": null,
        })
    );
}

#[tokio::test]
async fn going_back_keeps_changes_that_were_never_published() {
    let service = TestService::start().await;
    service.redirect("https://owner.example/1").await;
    let to = |target: &str| json!({"target_url": target});
    service
        .admin_patch("/experiences/1?publish=true", to("https://owner.example/2"))
        .await;
    service
        .admin_patch("/experiences/1", to("https://owner.example/draft"))
        .await;
    let back = service
        .admin(
            Method::POST,
            "/experiences/1/rollback",
            json!({"version": 1}),
        )
        .await
        .expect(200);
    assert_eq!(back["target_url"], "https://owner.example/draft");
    assert_eq!(
        (&back["published_version"], &back["draft"]),
        (&json!(3), &json!(true))
    );
    let missing = service
        .admin(
            Method::POST,
            "/experiences/1/rollback",
            json!({"version": 9}),
        )
        .await
        .expect(409);
    assert_eq!(missing["detail"], "There is no version 9.");
}

#[tokio::test]
async fn a_repeated_answer_is_made_from_the_version_of_its_tap() {
    let service = TestService::start().await;
    let tag = service.tag_to("https://owner.example/1", Value::Null).await;
    let first = service.tap(&tag.path()).await;
    let to = json!({"target_url": "https://owner.example/2"});
    service.admin_patch("/experiences/1?publish=true", to).await;
    let cookie = first.cookie.as_deref().expect("a key to hold");
    let again = service.tap_with_cookie(&tag.path(), cookie).await;
    assert_eq!(again.location, first.location);
}

#[tokio::test]
async fn a_redirect_leads_to_http_or_https_and_nowhere_else() {
    let service = TestService::start().await;
    service.redirect("https://owner.example/").await;
    for target in [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "//owner.example/",
        "owner.example",
        "https://{{tag:data:host}}/",
        "https://owner.example@evil.example/",
        "{{tag:variable:url}}",
        "https://owner.example/\r\nx: y",
        "",
    ] {
        let words = refused(
            &service,
            Method::POST,
            "/experiences",
            redirect("R", target),
        )
        .await;
        assert!(words.contains("target URL"), "{target}: {words}");
        let patch = json!({"target_url": target});
        let words = refused(&service, Method::PATCH, "/experiences/1", patch).await;
        assert!(words.contains("target URL"), "{target}: {words}");
    }
    let experience = service.admin_get("/experiences/1").await;
    assert_eq!(experience["target_url"], "https://owner.example/");
}

#[tokio::test]
async fn what_an_experience_cannot_be_is_refused_in_words() {
    let service = TestService::start().await;
    let target = "https://owner.example/";
    let deep = (0..5).fold(json!({"type": "divider"}), |inner, _| {
        json!({"type": "condition", "when": {"type": "scan_count", "at_least": 1}, "blocks": [inner]})
    });
    for (experience, words) in [
        (
            json!({"name": "R", "kind": "redirect"}),
            "needs a target_url",
        ),
        (json!({"name": "S", "kind": "studio"}), "needs blocks"),
        (
            json!({"name": "R", "target_url": target}),
            "missing field `kind`",
        ),
        (
            json!({"kind": "redirect", "target_url": target}),
            "missing field `name`",
        ),
        (redirect("", target), "needs a name of 1 to 200 characters"),
        (
            redirect("a\u{0}b", target),
            "needs a name of 1 to 200 characters",
        ),
        (
            redirect(&"a".repeat(201), target),
            "needs a name of 1 to 200 characters",
        ),
        (
            json!({"name": "R", "kind": "video", "target_url": target}),
            "unknown variant `video`",
        ),
        (
            json!({"name": "R", "kind": "redirect", "target_url": target, "blocks": []}),
            "no blocks",
        ),
        (
            json!({"name": "R", "kind": "redirect", "target": target}),
            "unknown field `target`",
        ),
        (
            json!({"name": "S", "kind": "studio", "blocks": [{"type": "sound"}]}),
            "Block 1 (sound)",
        ),
        (
            json!({"name": "S", "kind": "studio", "blocks": [deep]}),
            "at most 4 deep",
        ),
        (
            json!({"name": "S", "kind": "studio", "blocks": [{"type": "button", "label": "x", "url": "javascript:x"}]}),
            "A link begins with http://, https://, mailto: or tel:",
        ),
    ] {
        let refusal = refused(&service, Method::POST, "/experiences", experience).await;
        assert!(refusal.contains(words), "{refusal}");
    }
    assert_eq!(
        service.admin_get("/experiences").await,
        json!({"items": [], "next": null})
    );

    service.redirect(target).await;
    for (patch, words) in [
        (
            json!({"kind": "studio", "target_url": null, "blocks": []}),
            "does not change",
        ),
        (json!({"target_url": null}), "needs a target_url"),
        (json!({"name": null}), "missing field `name`"),
        (json!({"id": 2}), "unknown field `id`"),
    ] {
        let refusal = refused(&service, Method::PATCH, "/experiences/1", patch).await;
        assert!(refusal.contains(words), "{refusal}");
    }
}

#[tokio::test]
async fn experiences_are_searched_by_name_and_kind_and_tell_where_they_are_used() {
    let service = TestService::start().await;
    for (name, target) in [("Register", "a"), ("50% off", "b"), ("register_all", "c")] {
        let target = format!("https://owner.example/{target}");
        service.experience(redirect(name, &target)).await;
    }
    service.experience(page("Hello")).await;
    service
        .tag(json!({"name": "One", "experience_id": 1}))
        .await;
    service
        .tag(json!({"name": "Two", "experience_id": 1}))
        .await;

    for (query, ids) in [
        ("", json!([1, 2, 3, 4])),
        ("?q=REG", json!([1, 3])),
        ("?q=%25", json!([2])),
        ("?q=_", json!([3])),
        ("?kind=studio", json!([4])),
        ("?q=reg&kind=studio", json!([])),
    ] {
        let list = service.admin_get(&format!("/experiences{query}")).await;
        let items = list["items"].as_array().expect("a list");
        let found: Vec<_> = items.iter().map(|item| item["id"].clone()).collect();
        assert_eq!(json!(found), ids, "{query}");
    }
    let first = service.admin_get("/experiences?limit=1&count=true").await;
    assert_eq!(
        (&first["items"][0]["tags"], &first["count"]),
        (&json!(2), &json!(4))
    );
    let next = first["next"].as_str().expect("there are more");
    let second = service
        .admin_get(&format!("/experiences?limit=1&after={next}"))
        .await;
    assert_eq!(second["items"][0]["id"], 2);
    assert_eq!(second["items"][0]["tags"], 0);
}

#[tokio::test]
async fn an_experience_is_deleted_once_no_tag_leads_to_it() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let delete = || service.admin(Method::DELETE, "/experiences/1", Value::Null);
    let one = delete().await.expect(409);
    assert_eq!(
        one["detail"],
        "One tag leads to this experience. Assign it another one first."
    );
    let other = service
        .tag(json!({"name": "Two", "experience_id": 1}))
        .await;
    let two = delete().await.expect(409);
    assert_eq!(
        two["detail"],
        "2 tags lead to this experience. Assign them another one first."
    );
    for tag in [tag, other] {
        service
            .admin_patch(&tag.admin_path(), json!({"experience_id": null}))
            .await;
    }
    assert_eq!(delete().await.status, 204);
    delete().await.expect(404);
    for path in ["", "/versions", "/images"] {
        let path = format!("/experiences/1{path}");
        service
            .admin(Method::GET, &path, Value::Null)
            .await
            .expect(404);
    }
    let listed = service.admin_get("/experiences").await;
    assert_eq!(listed["items"], json!([]));
}

#[tokio::test]
async fn a_preview_shows_where_a_tap_would_lead_and_records_nothing() {
    let service = TestService::start().await;
    let target =
        "https://owner.example/{{tag:attribute:sku}}?v={{interaction:verification:result}}";
    service.redirect("https://owner.example/published").await;
    service
        .admin_patch("/experiences/1", json!({"target_url": target}))
        .await;
    let tag = service
        .tag(json!({"name": "Bottle", "attributes": {"sku": "A/1"}, "experience_id": 1}))
        .await;
    for (verification, result) in [
        ("verified", "true"),
        ("not_verified", "false"),
        ("not_checked", ""),
    ] {
        let tap = json!({"tag_id": tag.id, "verification": verification});
        let preview = service
            .admin(Method::POST, "/experiences/1/preview", tap)
            .await
            .expect(200);
        let location = format!("https://owner.example/A%2F1?v={result}&rk=ROLLING_KEY");
        assert_eq!(preview, json!({"kind": "redirect", "location": location}));
    }
    assert_eq!(service.scan_count(&tag).await, 0);

    service.experience(page("Hello {{tag:name}}")).await;
    let tap = json!({"tag_id": tag.id, "verification": "verified"});
    let preview = service
        .admin(Method::POST, "/experiences/2/preview", tap)
        .await
        .expect(200);
    assert_eq!(preview["kind"], "studio");
    let html = preview["html"].as_str().expect("a page");
    assert!(html.contains(">Hello Bottle</h1>"), "{html}");
    let other = json!({
        "tag_id": tag.id, "verification": "verified",
        "content": {"kind": "studio", "blocks": [{"type": "heading", "text": "Unsaved"}]},
    });
    let preview = service
        .admin(Method::POST, "/experiences/2/preview", other)
        .await
        .expect(200);
    let html = preview["html"].as_str().expect("a page");
    assert!(html.contains(">Unsaved</h1>"), "{html}");

    let nobody = json!({"tag_id": 99, "verification": "verified"});
    let refused = service
        .admin(Method::POST, "/experiences/1/preview", nobody)
        .await
        .expect(409);
    assert_eq!(refused["detail"], "There is no tag 99.");
}

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
    // A GIF whose head promises 10,000 x 9,000 pixels: 360 MB of memory for 35 bytes.
    let mut bomb = b"GIF89a\x10\x27\x28\x23\x80\0\0\xff\xff\xff\0\0\0".to_vec();
    bomb.extend(b",\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;");
    let path = "/experiences/1/images";
    let refused = upload(&service, path, &bomb).await.expect(422);
    let said = "This picture has 10000 x 9000 pixels. A picture can have at most 40 million pixels \
                in all, and 12000 on a side. Make it smaller, and add it again.";
    assert_eq!(refused["detail"], said);
    assert_eq!(service.admin_get(path).await["items"], json!([]));

    // In a file of an experience as well.
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
    let back = service.admin(
        Method::POST,
        "/experiences/1/rollback",
        json!({"version": 2}),
    );
    assert_eq!(back.await.expect(409)["detail"], "There is no image 1.");
}

#[tokio::test]
async fn versions_are_compared_line_by_line() {
    let service = TestService::start().await;
    service.experience(page("One")).await;
    let heading =
        |text: &str| json!({"blocks": [{"type": "heading", "text": text}, {"type": "divider"}]});
    service
        .admin_patch("/experiences/1?publish=true", heading("Two"))
        .await;
    let line = |change: &str, what: &str, text: &str| json!({"change": change, "depth": 0, "what": what, "text": text});

    let same = service.admin_get("/experiences/1/difference").await;
    assert_eq!(same["differs"], false);
    assert_eq!(
        same["lines"],
        json!([line("same", "heading", "Two"), line("same", "divider", "")])
    );
    service
        .admin_patch("/experiences/1", heading("Three"))
        .await;
    let draft = service.admin_get("/experiences/1/difference").await;
    assert_eq!(
        draft,
        json!({"from": 2, "to": null, "differs": true, "lines": [
            line("removed", "heading", "Two"), line("added", "heading", "Three"), line("same", "divider", ""),
        ]})
    );
    let older = service
        .admin_get("/experiences/1/difference?from=2&to=1")
        .await;
    assert_eq!(
        older["lines"],
        json!([
            line("removed", "heading", "Two"),
            line("removed", "divider", ""),
            line("added", "heading", "One")
        ])
    );
    let missing = "/experiences/1/difference?from=9";
    let missing = service.admin(Method::GET, missing, Value::Null).await;
    assert_eq!(missing.expect(409)["detail"], "There is no version 9.");
    let mut draft = page("Never published");
    draft["draft"] = true.into();
    service.experience(draft).await;
    let first = service.admin_get("/experiences/2/difference").await;
    assert_eq!(
        first["lines"],
        json!([line("added", "heading", "Never published")])
    );
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

#[tokio::test]
async fn every_template_is_an_experience_to_begin_with() {
    let service = TestService::start().await;
    let light = service
        .admin_get("/experiences/templates?scheme=light")
        .await;
    let items = light["items"].as_array().expect("templates");
    assert_eq!(items.len(), 10);
    for template in items {
        let html = template["html"].as_str().expect("a page");
        assert!(
            html.contains("<h1") && !html.contains("prefers-color-scheme:dark"),
            "{html}"
        );
        let experience = template["experience"].clone();
        let id = service.experience(experience).await;
        let tag = service
            .tag(json!({"name": "Bottle", "experience_id": id, "variables": template["variables"]}))
            .await;
        let tap = service.tap(&tag.path()).await;
        assert_eq!(tap.status, 200);
        assert!(tap.answer.body.len() < 30 * 1024);
    }
}

/// A page that asks for a name, and lets the visitor claim the thing under a condition.
fn asking() -> Value {
    json!({"name": "Ask", "kind": "studio", "blocks": [
        {"type": "form", "submit_label": "Send",
         "fields": [{"label": "Name", "kind": "text", "variable": "owner"}]},
        {"type": "condition", "when": {"type": "variable_empty", "variable": "read_only"},
         "blocks": [{"type": "variable_button", "label": "Mine", "variable": "claimed", "value": "true"}]},
    ]})
}

#[tokio::test]
async fn tags_that_lack_what_a_page_writes_are_named_and_get_it() {
    let service = TestService::start().await;
    let id = service.experience(asking()).await;
    let path = format!("/experiences/{id}/missing-variables");
    let lacking = async || service.admin_get(&path).await;
    let expected = |variables: Value, tags: u64| json!({"experience_id": id, "experience_name": "Ask", "variables": variables, "tags": tags});
    assert_eq!(lacking().await, expected(json!([]), 0));

    let with =
        |variables: Value| json!({"name": "Bottle", "experience_id": id, "variables": variables});
    let one = service.tag(with(json!({}))).await;
    let other = service.tag(with(json!({"owner": "Anna"}))).await;
    let whole = service
        .tag(with(json!({"owner": "", "claimed": "false"})))
        .await;
    let archived = service.tag(with(json!({}))).await;
    let archived_path = format!("/tags/{}", archived.id);
    service
        .admin_patch(&archived_path, json!({"status": "archived"}))
        .await;
    let both = expected(json!(["claimed", "owner"]), 2);
    assert_eq!(lacking().await, both);
    assert_eq!(
        service.admin_get("/experiences/missing-variables").await,
        json!({"items": [both]})
    );
    let asked = format!("{path}?tag_id={}", whole.id);
    assert_eq!(
        service.admin_get(&asked).await,
        expected(json!([]), 0),
        "before it is assigned"
    );

    let added = service.admin(Method::POST, &path, Value::Null).await;
    assert_eq!(added.expect(200), json!({"tags": 2, "more": false}));
    assert_eq!(lacking().await, expected(json!([]), 0));
    let variables = async |tag: i64| {
        let tag = service.admin_get(&format!("/tags/{tag}")).await;
        tag["variables"].clone()
    };
    assert_eq!(variables(one.id).await, json!({"claimed": "", "owner": ""}));
    assert_eq!(
        variables(other.id).await,
        json!({"claimed": "", "owner": "Anna"}),
        "what is there stays"
    );
    assert_eq!(variables(archived.id).await, json!({}));
    service
        .admin(
            Method::POST,
            "/experiences/999/missing-variables",
            Value::Null,
        )
        .await
        .expect(404);
}

#[tokio::test]
async fn what_a_draft_would_write_is_missing_only_once_it_is_published() {
    let service = TestService::start().await;
    let id = service.experience(page("Welcome")).await;
    service
        .tag(json!({"name": "Bottle", "experience_id": id}))
        .await;
    let path = format!("/experiences/{id}");
    let blocks = json!({"blocks": asking()["blocks"]});
    service
        .admin_patch(&format!("{path}?publish=false"), blocks.clone())
        .await;
    let missing = format!("{path}/missing-variables");
    assert_eq!(service.admin_get(&missing).await["tags"], 0);
    let published = format!("{path}/publish");
    service
        .admin(Method::POST, &published, Value::Null)
        .await
        .expect(200);
    assert_eq!(service.admin_get(&missing).await["tags"], 1);
}
