//! `token`.

use reqwest::Method;
use serde_json::Value;
use tapdesk_tests::Client;

use super::{launch, run, run_at, run_with};

#[tokio::test]
async fn a_token_is_made_listed_and_revoked() {
    let service = launch().start().await;
    let token = run_at(&service, &["token", "create", "Script"])
        .await
        .good();
    let script = Client::new(service.base(), token.trim());
    script.admin_get("/tags").await;
    let list = run_at(&service, &["token", "list"]).await.good();
    assert!(
        list.contains("Script") && !list.contains(token.trim()),
        "{list}"
    );
    let id = list.split_whitespace().next().unwrap();
    run_at(&service, &["token", "revoke", id]).await.good();
    script
        .admin(Method::GET, "/tags", Value::Null)
        .await
        .expect(401);
    let said = run_at(&service, &["token", "revoke", id]).await.refused();
    assert_eq!(said, "There is no such token.");
}

#[tokio::test]
async fn the_token_is_found_beside_the_database() {
    let mut launch = launch();
    launch.token_in_environment = false;
    let service = launch.start().await;
    let url = [("TAPDESK_URL", service.base())];
    let database = launch.database();
    run_with(&database, &url, &["token", "list"]).await.good();
    let elsewhere = launch.folder.path().join("elsewhere/tapdesk.db");
    let said = run_with(&elsewhere, &url, &["token", "list"])
        .await
        .refused();
    assert!(said.contains("no admin token in"), "{said}");
}

#[tokio::test]
async fn a_service_that_cannot_be_spoken_to_is_said_in_words() {
    let launch = launch();
    let service = launch.start().await;
    let database = launch.database();
    let base = service.base().to_owned();
    let token = (
        "TAPDESK_ADMIN_TOKEN",
        "a token that is long enough and wrong",
    );
    let said_of = async |url: &str| {
        let environment = [("TAPDESK_URL", url), token];
        run_with(&database, &environment, &["token", "list"])
            .await
            .refused()
    };
    let said = said_of(&base).await;
    assert!(
        said.contains("does not accept the admin token from TAPDESK_ADMIN_TOKEN"),
        "{said}"
    );
    service.terminate().await;
    let said = said_of(&base).await;
    assert!(said.contains("No service answers at"), "{said}");
    let said = said_of("http://tags.example").await;
    assert!(said.contains("https"), "{said}");
    let said = run(&database, &["token", "list", "--url", "nonsense"])
        .await
        .refused();
    assert!(said.contains("no http or https URL"), "{said}");
}
