//! Creating, changing and deleting one tag.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::TestService;

use super::all;

#[tokio::test]
async fn a_deleted_tag_is_gone_everywhere_and_its_slug_stays_its_own() {
    let service = TestService::start().await;
    let tag = service
        .redirecting_tag(json!({"slug": "cellar-door"}))
        .await;
    let path = tag.admin_path();
    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(204);
    for (method, path, body) in [
        (Method::GET, path.clone(), Value::Null),
        (Method::PATCH, path.clone(), json!({"name": "x"})),
        (Method::DELETE, path.clone(), Value::Null),
        (Method::PUT, format!("{path}/data/k"), json!({"value": "v"})),
        (
            Method::DELETE,
            format!("{path}/variables/registered"),
            Value::Null,
        ),
    ] {
        let answer = service.admin(method.clone(), &path, body).await;
        assert_eq!(answer.status, 404, "{method} {path}");
    }
    assert_eq!(service.tap(&tag.path()).await.status, 404);
    assert!(all(&service, "/tags?simulated=all", 50).await.is_empty());
    assert_eq!(all(&service, "/tags?deleted=true", 50).await.len(), 1);
    let again = json!({"name": "Another", "slug": "cellar-door"});
    let refused = service
        .admin(Method::POST, "/tags", again)
        .await
        .expect(409);
    assert!(
        refused["detail"].as_str().unwrap().contains("cellar-door"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_slug_that_can_be_guessed_is_saved_with_a_warning() {
    let service = TestService::start().await;
    let warning = "tapdesk-warning";
    let short = json!({"name": "Bottle", "slug": "k3v9qa"});
    let created = service.admin(Method::POST, "/tags", short).await;
    created.expect(201);
    assert!(created.header(warning).unwrap().contains("guessed"));
    let path = format!("/tags/{}", created.json()["id"]);
    for (changes, warned) in [
        (json!({"title": "A bottle"}), false),
        (json!({"slug": "k3v9qa-longer"}), false),
        (json!({"slug": "k3v9qb"}), true),
        (json!({"slug": null}), false),
    ] {
        let answer = service.admin(Method::PATCH, &path, changes.clone()).await;
        answer.expect(200);
        assert_eq!(answer.header(warning).is_some(), warned, "{changes}");
    }
    let made_up = service.admin_get(&path).await;
    assert_eq!(made_up["slug"].as_str().unwrap().len(), 10);
    let generated = service
        .admin(Method::POST, "/tags", json!({"name": "Bottle"}))
        .await;
    assert_eq!(generated.header(warning), None);
}
