//! `doctor`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::storage::catalogue::{Backend, tables};

use super::{launch, run_at, run_with};

#[tokio::test]
async fn a_running_service_is_found_in_order() {
    let mut launch = launch();
    launch.token_in_environment = false;
    let service = launch.start().await;
    let report = run_with(
        &launch.database(),
        &[("TAPDESK_URL", service.base())],
        &["doctor"],
    )
    .await;
    let report = report.good();
    for line in [
        "ok    SQLite",
        "ok    Clock",
        "ok    Database",
        "ok    Audit log",
        "ok    Backups",
        "ok    Notifications",
        "ok    Admin token",
        "ok    Inlay key",
        "ok    Service",
        " MiB are free beside the database",
    ] {
        assert!(report.contains(line), "{line}: {report}");
    }
    assert!(
        report.contains("warn  Public base URL") && report.contains("works only on this machine"),
        "{report}"
    );
}

#[tokio::test]
async fn the_disk_is_low_by_the_setting_of_the_service() {
    let launch = launch();
    let service = launch.start().await;
    // More than any disk has: 16 TiB.
    let much = json!({"disk_low_mebibytes": 16_777_216});
    let set = service.admin(Method::PATCH, "/settings", much);
    set.await.expect(200);
    let report = run_at(&service, &["doctor"]).await.stdout;
    assert!(report.contains("warn  Disk"), "{report}");
    let base = service.base().to_owned();
    service.terminate().await;
    let environment = [
        ("TAPDESK_URL", base.as_str()),
        ("TAPDESK_LISTEN", "127.0.0.1:0"),
    ];
    let report = run_with(&launch.database(), &environment, &["doctor"]).await;
    let report = report.stdout;
    assert!(report.contains("warn  Disk"), "{report}");
}

#[tokio::test]
async fn what_is_in_the_way_is_named_with_its_way_out() {
    let mut launch = launch();
    launch.token_in_environment = false;
    let service = launch.start().await;
    let base = service.base().to_owned();
    service.terminate().await;
    let open = |name: &str| {
        let file = launch.folder.path().join(name);
        fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
    };
    open("admin.token");
    open("inlay.key");
    let environment = [
        ("TAPDESK_URL", base.as_str()),
        ("TAPDESK_LISTEN", "127.0.0.1:0"),
    ];
    let report = run_with(&launch.database(), &environment, &["doctor"]).await;
    assert_eq!(report.code, Some(1));
    for line in [
        "FAIL  Admin token",
        "FAIL  Inlay key",
        "FAIL  Service",
        "ok    Port",
    ] {
        assert!(report.stdout.contains(line), "{line}: {}", report.stdout);
    }
    assert_eq!(
        report.stdout.matches("chmod 600").count(),
        2,
        "{}",
        report.stdout
    );
    assert_eq!(report.stderr, "tapdesk-service: 3 problems found.\n");
}

#[tokio::test]
async fn a_service_without_an_admin_api_is_named_and_no_other_program_on_its_port() {
    let mut launch = launch();
    launch.listen = "0.0.0.0:0".to_owned();
    let service = launch.start().await;
    let (_, port) = service.base().rsplit_once(':').expect("a port");
    let base = format!("http://127.0.0.1:{port}");
    let listen = format!("0.0.0.0:{port}");
    let environment = [
        ("TAPDESK_URL", &*base),
        ("TAPDESK_LISTEN", &*listen),
        ("TAPDESK_ADMIN_TOKEN", service.admin_token()),
    ];
    let report = run_with(&launch.database(), &environment, &["doctor"]).await;
    assert_eq!(report.code, Some(1), "{report:?}");
    assert!(report.stdout.contains("--expose-admin"), "{report:?}");
    assert!(!report.stdout.contains("another program"), "{report:?}");
    let demo = run_with(&launch.database(), &environment, &["demo"]).await;
    assert!(demo.stderr.contains("--expose-admin"), "{demo:?}");
}

#[tokio::test]
async fn the_port_of_the_service_is_not_used_by_another_program_if_its_token_is_wrong() {
    let launch = launch();
    let service = launch.start().await;
    let listen = service.base().trim_start_matches("http://");
    let wrong = "x".repeat(40);
    let environment = [("TAPDESK_LISTEN", listen), ("TAPDESK_ADMIN_TOKEN", &*wrong)];
    let report = run_with(&launch.database(), &environment, &["doctor"]).await;
    assert_eq!(report.code, Some(1), "{report:?}");
    let line = format!("ok    Port         a Tapdesk service listens on {listen}");
    assert!(report.stdout.contains(&line), "{report:?}");
}

#[tokio::test]
async fn a_missing_inlay_key_is_bad_once_an_inlay_needs_it() {
    let service = launch().start().await;
    let key = service.folder().join("inlay.key");
    fs::remove_file(&key).unwrap();
    let report = run_at(&service, &["doctor"]).await.good();
    assert!(report.contains("ok    Inlay key"), "{report}");
    service.bottle().await;
    let report = run_at(&service, &["doctor"]).await;
    assert!(report.stdout.contains("is missing"), "{}", report.stdout);
    fs::write(&key, "ab".repeat(32)).unwrap();
    let report = run_at(&service, &["doctor"]).await;
    assert!(
        report.stdout.contains("is not the key of"),
        "{}",
        report.stdout
    );
}

#[tokio::test]
async fn notifications_without_a_mail_server_are_named() {
    let service = launch().start().await;
    let fields = json!({
        "kind": "alert", "events": ["alert.disk_low"],
        "channel": {"mail": ["anna@example.com"]},
    });
    service.admin_create("/notifications", fields).await;
    let report = run_at(&service, &["doctor"]).await.good();
    let line = "warn  Notifications There is no mail server";
    assert!(report.contains(line), "{report}");
}

#[tokio::test]
async fn a_mail_server_that_does_not_answer_is_named() {
    let service = launch().start().await;
    let report = run_at(&service, &["doctor"]).await.good();
    assert!(!report.contains(" Mail "), "{report}");
    let port = tapdesk_tests::free_port();
    let settings = json!({
        "host": "127.0.0.1", "port": port, "security": "none", "from": "tapdesk@example.com",
    });
    let set = service.admin(Method::PUT, "/mail", settings);
    set.await.expect(200);
    let report = run_at(&service, &["doctor"]).await.good();
    let line = format!("warn  Mail         127.0.0.1 cannot be reached at port {port}");
    assert!(report.contains(&line), "{report}");
}

#[tokio::test]
async fn a_damaged_database_is_found() {
    let launch = launch();
    launch.start().await.terminate().await;
    fs::write(launch.database(), b"").unwrap();
    let report = run_with(
        &launch.database(),
        &[("TAPDESK_LISTEN", "127.0.0.1:0")],
        &["doctor"],
    )
    .await;
    assert!(
        report.stdout.contains("FAIL  Database"),
        "{}",
        report.stdout
    );
    assert!(report.stdout.contains("is empty"), "{}", report.stdout);
}

#[tokio::test]
async fn one_flipped_byte_of_the_audit_log_is_named_by_its_row() {
    let launch = launch();
    let service = launch.start().await;
    for name in ["a", "b", "c"] {
        service.tag(json!({"name": name})).await;
    }
    service.terminate().await;
    let connection = rusqlite::Connection::open(launch.database()).unwrap();
    connection
        .execute_batch("UPDATE audit SET object = 'tags/9' WHERE id = 2")
        .unwrap();
    connection.close().unwrap();
    let environment = [("TAPDESK_LISTEN", "127.0.0.1:0")];
    let report = run_with(&launch.database(), &environment, &["doctor"]).await;
    assert!(
        report
            .stdout
            .contains("FAIL  Audit log    Row 2 of the audit log was changed"),
        "{}",
        report.stdout
    );
}

#[tokio::test]
async fn a_damaged_backup_of_the_schedule_is_named() {
    let launch = launch();
    let service = launch.start().await;
    let folder = service.folder().join("backups");
    let schedule = json!({"destination": folder, "every_hours": 24, "keep": 3});
    let set = service.admin(Method::PUT, "/backup/schedule", schedule);
    set.await.expect(200);
    let run = service.admin(Method::POST, "/backup/schedule/run", Value::Null);
    let made = run.await.expect(200)["files"].clone();
    service.terminate().await;
    let files: Vec<String> = serde_json::from_value(made).unwrap();
    let file = folder.join(&files[0]);
    let environment = [("TAPDESK_LISTEN", "127.0.0.1:0")];
    let doctor = async || {
        let report = run_with(&launch.database(), &environment, &["doctor"]).await;
        report.stdout
    };
    assert!(doctor().await.contains("ok    Backups"));
    let mut content = fs::read(&file).unwrap();
    let middle = content.len() / 2;
    content[middle] ^= 1;
    fs::write(&file, &content).unwrap();
    let report = doctor().await;
    let named = format!("FAIL  Backups      {} is damaged", file.display());
    assert!(report.contains(&named), "{report}");
    fs::remove_file(&file).unwrap();
    assert!(doctor().await.contains("FAIL  Backups"));
}

#[tokio::test]
async fn the_drill_restores_the_newest_backup_and_compares_it_with_the_database() {
    let launch = launch();
    let service = launch.start().await;
    service.tag(json!({"name": "Bottle"})).await;
    let drill = async |base: &str| {
        let environment = [("TAPDESK_URL", base), ("TAPDESK_LISTEN", "127.0.0.1:0")];
        let arguments = ["doctor", "--restore-drill"];
        let report = run_with(&launch.database(), &environment, &arguments).await;
        let lines = report.stdout.lines();
        let mut lines = lines.filter(|line| line.contains("Restore drill"));
        lines.next().expect("a line").to_owned()
    };
    let line = drill(service.base()).await;
    let none = "warn  Restore drill The schedule has made no backup yet.";
    assert!(line.starts_with(none), "{line}");
    let folder = service.folder().join("backups");
    let schedule = json!({"destination": folder, "every_hours": 24, "keep": 3});
    let set = service.admin(Method::PUT, "/backup/schedule", schedule);
    set.await.expect(200);
    let run = service.admin(Method::POST, "/backup/schedule/run", Value::Null);
    assert_eq!(run.await.expect(200)["last"]["ok"], true);
    service.tag(json!({"name": "Second"})).await;
    let base = service.base().to_owned();
    let line = drill(&base).await;
    assert!(line.starts_with("ok    Restore drill in "), "{line}");
    for words in [
        "was restored with 1 tag and 0 interactions. The database has 2 tags and 0 interactions now",
        "It does not contain the key that unlocks inlay keys",
    ] {
        assert!(line.contains(words), "{words}: {line}");
    }
    service.terminate().await;
    // Another log than that of the backup.
    let connection = rusqlite::Connection::open(launch.database()).unwrap();
    connection
        .execute_batch("UPDATE audit SET hash = zeroblob(32)")
        .unwrap();
    connection.close().unwrap();
    let line = drill(&base).await;
    assert!(line.starts_with("FAIL  Restore drill"), "{line}");
    assert!(
        line.contains("in its audit log than the database"),
        "{line}"
    );
}

#[tokio::test]
async fn a_table_that_is_missing_is_named() {
    let launch = launch();
    launch.start().await.terminate().await;
    let whole = fs::read(launch.database()).unwrap();
    for table in tables().filter(|table| table.is_in(Backend::Sqlite)) {
        let table = table.name;
        fs::write(launch.database(), &whole).unwrap();
        let connection = rusqlite::Connection::open(launch.database()).unwrap();
        connection
            .execute_batch(&format!("DROP TABLE {table}"))
            .unwrap();
        connection.close().unwrap();
        let environment = [("TAPDESK_LISTEN", "127.0.0.1:0")];
        let report = run_with(&launch.database(), &environment, &["doctor"]).await;
        let database = report.stdout.lines().find(|line| line.contains("Database"));
        let named = database
            .is_some_and(|line| line.starts_with("FAIL") && line.contains(&format!(" {table}")));
        assert!(named, "{table}: {}", report.stdout);
    }
}
