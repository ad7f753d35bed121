//! Arguments, environment, stored settings and defaults of the real binary.

use serde_json::{Value, json};
use tapdesk_tests::process::Launch;

use super::{launch, run};

fn with_argument(mut launch: Launch, argument: &str) -> Launch {
    launch.arguments.push(argument.to_owned());
    launch
}

#[tokio::test]
async fn an_argument_goes_before_the_environment_before_a_stored_setting_before_the_default() {
    let launch = launch();
    let app_id = |value: i64, source: &str, read_only: bool| json!({"value": value, "source": source, "read_only": read_only});
    let service = launch.start().await;
    let settings = service.admin_get("/settings").await;
    assert_eq!(settings["app_id"], app_id(1, "default", false));
    service.admin_patch("/settings", json!({"app_id": 2})).await;
    service.terminate().await;

    let service = launch.start().await;
    let settings = service.admin_get("/settings").await;
    assert_eq!(settings["app_id"], app_id(2, "stored", false));
    service.terminate().await;

    let launch = launch.env("TAPDESK_APP_ID", "3");
    let service = launch.start().await;
    let settings = service.admin_get("/settings").await;
    assert_eq!(settings["app_id"], app_id(3, "environment", true));
    service.terminate().await;

    let service = with_argument(launch, "--app-id=4").start().await;
    let settings = service.admin_get("/settings").await;
    assert_eq!(settings["app_id"], app_id(4, "argument", true));
}

#[tokio::test]
async fn a_variable_that_is_empty_counts_as_not_set() {
    let mut launch = launch();
    for name in [
        "TAPDESK_TAG_URL",
        "TAPDESK_ACME",
        "TAPDESK_COUNTRY_FILE",
        "TAPDESK_EXPOSE_ADMIN",
        "TAPDESK_RATE_LIMIT",
    ] {
        launch = launch.env(name, "");
    }
    let service = launch.start().await;
    let settings = service.admin_get("/settings").await;
    for name in ["tag_url", "rate_limit"] {
        assert_eq!(settings[name]["source"], "default", "{settings}");
    }
}

#[tokio::test]
async fn every_setting_has_a_variable() {
    let service = launch()
        .env("TAPDESK_TAG_URL", "https://tags.example/t/")
        .env("TAPDESK_APP_ID", "7")
        .env("TAPDESK_DEFAULT_COUNTRY", "de")
        .env("TAPDESK_COUNTRY_HEADER", "CF-IPCountry")
        .env("TAPDESK_TRUSTED_PROXIES", "10.0.0.0/8,192.0.2.1")
        .env("TAPDESK_RETENTION_MONTHS", "24")
        .env("TAPDESK_SIMULATED_TARGETS", "real")
        .env("TAPDESK_RATE_LIMIT", "off")
        .env("TAPDESK_HOSTS", "admin.example,other.example")
        .start()
        .await;
    let settings = service.admin_get("/settings").await;
    let fixed = |value| json!({"value": value, "source": "environment", "read_only": true});
    let mut expected = json!({
        "tag_url": fixed(json!("https://tags.example/t")),
        "app_id": fixed(json!(7)),
        "default_country": fixed(json!("DE")),
        "country_header": fixed(json!("cf-ipcountry")),
        "trusted_proxies": fixed(json!(["10.0.0.0/8", "192.0.2.1/32"])),
        "retention_months": fixed(json!(24)),
        "audit_months": {"value": 24, "source": "default", "read_only": false},
        "submission_months": {"value": 120, "source": "default", "read_only": false},
        "disk_low_mebibytes": {"value": 1024, "source": "default", "read_only": false},
        "simulated_targets": fixed(json!("real")),
        "rate_limit": fixed(json!("off")),
        "hosts": fixed(json!(["admin.example", "other.example"])),
        "app_links": {"value": [], "source": "default", "read_only": false},
        "pages": {"value": {}, "source": "default", "read_only": false, "logo": null},
    });
    // The address has not been checked yet.
    expected["tag_url"]["check"] = Value::Null;
    assert_eq!(settings, expected);
}

#[tokio::test]
async fn the_tag_url_is_where_the_service_listens_unless_it_is_told_otherwise() {
    let service = launch().start().await;
    let settings = service.admin_get("/settings").await;
    assert_eq!(
        settings["tag_url"]["value"],
        format!("{}/t", service.base())
    );
}

#[tokio::test]
async fn a_listener_that_is_no_loopback_serves_the_admin_api_only_when_asked() {
    let everywhere = |launch: Launch| Launch {
        listen: "0.0.0.0:0".to_owned(),
        ..launch
    };
    let status = |launch: Launch| async move {
        let service = launch.start().await;
        let port = service.base().rsplit(':').next().unwrap().to_owned();
        let local =
            tapdesk_tests::Client::new(format!("http://127.0.0.1:{port}"), launch.admin_token());
        let admin = local
            .admin(reqwest::Method::GET, "/tags", serde_json::Value::Null)
            .await;
        let health = tapdesk_tests::Answering::answer(local.get("/health")).await;
        (health.status, admin.status)
    };
    assert_eq!(status(everywhere(launch())).await, (200, 404));
    let exposed = launch().env("TAPDESK_EXPOSE_ADMIN", "1");
    assert_eq!(status(everywhere(exposed)).await, (200, 200));
}

#[tokio::test]
async fn time_is_moved_in_test_mode_alone() {
    let service = launch().start().await;
    let get = |service: &tapdesk_tests::ServiceProcess| {
        service.admin_request(reqwest::Method::GET, "/clock")
    };
    assert_eq!(
        tapdesk_tests::Answering::answer(get(&service)).await.status,
        404
    );
    let service = launch().env("TAPDESK_TEST_CLOCK", "1").start().await;
    let before = service.admin_get("/clock").await;
    let moved = service
        .admin(
            reqwest::Method::POST,
            "/clock",
            json!({"advance_ms": 86_400_000}),
        )
        .await
        .expect(200);
    assert!(moved["now"].as_str() > before["now"].as_str());
    assert_ne!(
        &moved["now"].as_str().unwrap()[..10],
        &before["now"].as_str().unwrap()[..10]
    );
}

#[tokio::test]
async fn the_help_of_serve_names_the_variable_of_the_admin_token() {
    let folder = tempfile::tempdir().unwrap();
    let help = run(&folder.path().join("tapdesk.db"), &["serve", "--help"]).await;
    assert!(help.good().contains("TAPDESK_ADMIN_TOKEN"));
}
