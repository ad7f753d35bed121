//! `token`.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::Client;

use super::{launch, run, run_at, run_with};

#[tokio::test]
async fn a_token_is_made_listed_and_revoked() {
    let service = launch().start().await;
    let token = run_at(
        &service,
        &["token", "create", "Script", "--scopes", "admin"],
    )
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
async fn a_token_may_do_what_it_is_made_for() {
    let service = launch().start().await;
    let experience = service.redirect("https://owner.example/").await;
    let limit = experience.to_string();
    let create = ["token", "create", "Shop", "--scopes", "read,tags"];
    let create = [
        &create[..],
        &[
            "--experience",
            &limit,
            "--expires-at",
            "2199-01-01T00:00:00Z",
        ],
    ];
    let token = run_at(&service, &create.concat()).await.good();
    let shop = Client::new(service.base(), token.trim());
    let may = shop.admin_get("/tokens/current").await;
    assert_eq!(may["scopes"], json!(["read", "tags"]));
    assert_eq!(may["experience_ids"], json!([experience]));
    assert_eq!(may["expires_at"], "2199-01-01T00:00:00Z");
    let list = run_at(&service, &["token", "list"]).await.good();
    assert!(list.contains("read,tags"), "{list}");
    let newest = service.admin_get("/audit?limit=1").await["items"][0].clone();
    assert_eq!(newest["actor"]["kind"], "command_line");
}

#[tokio::test]
async fn a_token_is_not_made_without_its_scopes() {
    let service = launch().start().await;
    let said = run_at(&service, &["token", "create", "prometheus"]).await;
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("--scopes"), "{}", said.stderr);
    assert_eq!(service.admin_get("/tokens").await["items"], json!([]));
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
