//! A copy of the database: the original may still send.

use serde_json::{Value, json};
use tapdesk_service::keyring::Passphrase;
use tapdesk_tests::{MailServer, TestService};

use super::{HOUR, alert, notification, put, raise, sent};

const PASSPHRASE: &str = "correct horse battery";

#[tokio::test]
async fn sqlite_a_restored_copy_sends_nothing_until_its_notifications_are_switched_on() {
    let service = TestService::on_sqlite().await;
    let server = MailServer::start();
    server.demand_login("anna", "horse");
    let login = json!({"port": server.port(), "user": "anna", "password": "horse"});
    put(&service, login).await.expect(200);
    let path = notification(&service, Value::Null).await;
    // No message is made before the backup.
    alert(&service, None).await;
    let file = service.backed_up(PASSPHRASE).await;
    let folder = service.folder().join("backups");
    assert!(
        tapdesk_tests::files_containing(&folder, b"horse").is_empty(),
        "the password is sealed in backups, too"
    );

    let passphrase = Passphrase::parse(PASSPHRASE).unwrap();
    let copy = TestService::restored(&file, &passphrase).await;
    let shown = copy.admin_get(&path).await;
    let state = (&shown["enabled"], &shown["disabled"]);
    assert_eq!(state, (&json!(false), &json!("restored")));
    let overview = copy.admin_get("/stats").await;
    assert_eq!(overview["attention"]["failing_notifications"], 1);
    // Another change leaves it as it is.
    let shown = copy.admin_patch(&path, json!({"every": "day"})).await;
    assert_eq!(shown["disabled"], "restored");
    let shown = copy.admin_patch(&path, json!({"every": null})).await;
    let state = (&shown["enabled"], &shown["disabled"]);
    assert_eq!(state, (&json!(false), &json!("restored")));
    raise(&copy, None).await;
    copy.advance(2 * HOUR);
    sent(&copy, &server, 0).await;
    let shown = copy.admin_patch(&path, json!({"enabled": true})).await;
    assert_eq!(shown["disabled"], Value::Null);
    let tag = alert(&copy, None).await;
    let mails = sent(&copy, &server, 1).await;
    assert!(
        mails[0].readable().contains(&format!("Tag {tag}.")),
        "{mails:?}"
    );
    assert_eq!(mails[0].user.as_deref(), Some("anna"));
}
