//! Places where secrets are stored, and places where they must not be.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::Client;

use super::launch;

#[tokio::test]
async fn what_a_first_start_makes_is_for_its_owner_alone() {
    let mut launch = launch();
    launch.token_in_environment = false;
    let service = launch.start().await;
    let mode = |name: &str| {
        let file = service.folder().join(name);
        fs::metadata(file).unwrap().permissions().mode() & 0o777
    };
    for name in ["admin.token", "inlay.key", "tapdesk.db", "tapdesk.db-wal"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
}

#[tokio::test]
async fn a_token_from_the_environment_makes_no_file() {
    let service = launch().start().await;
    assert!(!service.folder().join("admin.token").exists());
    service.admin_get("/tags").await;
}

#[tokio::test]
async fn a_made_token_is_long_stays_the_same_and_alone_opens_the_admin_api() {
    let mut launch = launch();
    launch.token_in_environment = false;
    let service = launch.start().await;
    let token = launch.admin_token();
    assert!(token.len() >= 32, "{token}");
    service.admin_get("/tags").await;
    let stranger = Client::new(service.base(), "0".repeat(43));
    stranger
        .admin(Method::GET, "/tags", Value::Null)
        .await
        .expect(401);
    assert_eq!(service.terminate().await.code(), Some(0));
    let service = launch.start().await;
    assert_eq!(launch.admin_token(), token);
    service.admin_get("/tags").await;
}

#[tokio::test]
async fn a_running_service_shows_no_secret_of_its_files_to_the_system() {
    let mut launch = launch();
    launch.token_in_environment = false;
    let service = launch.start().await;
    let key = fs::read_to_string(service.folder().join("inlay.key")).unwrap();
    let pid = service.pid();
    for place in ["cmdline", "environ"] {
        let shown = fs::read(format!("/proc/{pid}/{place}")).unwrap();
        let shown = String::from_utf8_lossy(&shown);
        assert!(shown.contains("tapdesk"), "{place} is readable");
        for secret in [launch.admin_token().as_str(), key.trim()] {
            assert!(!shown.contains(secret), "{place}");
        }
    }
}

#[tokio::test]
async fn nothing_but_the_ready_line_is_on_stdout_and_no_secret_is_in_the_log() {
    let mut launch = launch().env("TAPDESK_LOG", "trace");
    launch.token_in_environment = false;
    let service = launch.start().await;
    let (tag, mut inlay) = service.bottle().await;
    let tap = service.tap(&inlay.url(&tag)).await;
    service.payload(tap.key()).await;
    let key = fs::read_to_string(service.folder().join("inlay.key")).unwrap();
    let rolling_key = tap.key().to_owned();
    // The test process itself discards every line of stdout but the first.
    assert_eq!(service.terminate().await.code(), Some(0));
    let log = launch.log();
    assert!(log.contains("/t/{slug}"), "requests are in the log: {log}");
    for secret in [launch.admin_token().as_str(), key.trim(), &rolling_key] {
        assert!(!log.contains(secret));
    }
}

#[tokio::test]
async fn without_the_right_inlay_key_nothing_is_stored_under_a_wrong_one() {
    let launch = launch();
    let service = launch.start().await;
    let (tag, _) = service.bottle().await;
    service.terminate().await;
    let file = launch.folder.path().join("inlay.key");
    let right = fs::read(&file).unwrap();
    for wrong in [Some("ab".repeat(32)), None] {
        match &wrong {
            Some(key) => fs::write(&file, key).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        let service = launch.start().await;
        let inlay = json!({
            "uid": "04112233445566", "technology": "ntag424dna", "mirror": "plain",
            "file_key": "00112233445566778899AABBCCDDEEFF",
        });
        let refused = service.admin(Method::POST, "/inlays", inlay).await;
        let detail = refused.expect(409)["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("Inlay keys are locked"), "{detail}");
        service.admin_get(&tag.admin_path()).await;
        assert!(launch.log().contains("inlay keys are locked"));
        service.terminate().await;
        assert_eq!(file.exists(), wrong.is_some(), "no new key is made");
    }
    fs::write(&file, right).unwrap();
    launch.start().await.bottle().await;
}
