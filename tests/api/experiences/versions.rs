//! Drafts and published versions: which one visitors see, and from when.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::TestService;

use super::{destination, page, redirect, roll_back};

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
    let back = roll_back(&service, 1).await.expect(200);
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
    let back = roll_back(&service, 1).await.expect(200);
    assert_eq!(back["target_url"], "https://owner.example/draft");
    assert_eq!(
        (&back["published_version"], &back["draft"]),
        (&json!(3), &json!(true))
    );
    let missing = roll_back(&service, 9).await.expect(409);
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
