//! Operations on the installation leave audit rows.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::Answering as _;

use super::Driver;

#[expect(
    clippy::too_many_lines,
    reason = "a request of each kind, one after the other"
)]
pub(super) async fn others(driver: &mut Driver) {
    let answer = driver
        .send(
            Method::POST,
            "/sheets",
            json!({"name": "Delivery", "expected": {"tag_verified": true}, "planned": 25}),
        )
        .await;
    let sheet = format!("sheets/{}", answer.json()["id"]);
    driver
        .left("post_sheets", answer, "sheets.create", &sheet)
        .await;
    let rows = format!("{sheet}/rows");
    let answer = driver
        .send(
            Method::POST,
            &format!("/{rows}"),
            json!({"verdict": "unreadable"}),
        )
        .await;
    driver
        .left("post_sheets_id_rows", answer, "sheets.rows.create", &rows)
        .await;
    let answer = driver
        .send(Method::PATCH, &format!("/{sheet}"), json!({"closed": true}))
        .await;
    driver
        .left("patch_sheets_id", answer, "sheets.update", &sheet)
        .await;
    let sign_off = format!("{sheet}/sign-off");
    let answer = driver
        .send(
            Method::POST,
            &format!("/{sign_off}"),
            json!({"signer": "Anna Berg", "row_count": 1}),
        )
        .await;
    driver
        .left(
            "post_sheets_id_sign_off",
            answer,
            "sheets.sign-off",
            &sign_off,
        )
        .await;

    let labels = json!({
        "select": {"filter": {}}, "format": "csv", "label_mm": [50, 30], "allow_unproved_address": true,
    });
    let answer = driver.send(Method::POST, "/labels", labels).await;
    driver.left("post_labels", answer, "labels", "labels").await;

    let answer = driver
        .send(
            Method::POST,
            "/tokens",
            json!({"name": "Script", "scopes": ["admin"]}),
        )
        .await;
    let token = format!("tokens/{}", answer.json()["id"]);
    driver
        .left("post_tokens", answer, "tokens.create", &token)
        .await;
    let answer = driver
        .send(Method::DELETE, &format!("/{token}"), Value::Null)
        .await;
    driver
        .left("delete_tokens_id", answer, "tokens.delete", &token)
        .await;
    let phone = json!({"name": "Bench", "scopes": ["read"]});
    let answer = driver.send(Method::POST, "/phones", phone).await;
    let phone = format!("phones/{}", answer.json()["id"]);
    driver
        .left("post_phones", answer, "phones.create", &phone)
        .await;
    let path = format!("/{phone}");
    let answer = driver.send(Method::DELETE, &path, Value::Null).await;
    driver
        .left("delete_phones_id", answer, "phones.delete", &phone)
        .await;

    let answer = driver
        .send(Method::PATCH, "/settings", json!({"app_id": 7}))
        .await;
    driver
        .left("patch_settings", answer, "settings.update", "settings")
        .await;
    let answer = driver.send(Method::POST, "/tag-url/check", json!({})).await;
    driver
        .left(
            "post_tag_url_check",
            answer,
            "tag-url.check",
            "tag-url/check",
        )
        .await;
    let answer = driver.send(Method::POST, "/backup", json!({})).await;
    if answer.status == 409 {
        // Not supported on PostgreSQL, which has its own backup tools.
        driver.done.insert("post_backup".to_owned());
        driver.look().await;
    } else {
        driver.left("post_backup", answer, "backup", "backup").await;
    }
    scheduled_backups(driver).await;
    mail(driver).await;
    logo(driver).await;
    let answer = driver
        .send(
            Method::POST,
            "/simulator/inlays",
            json!({"name": "Virtual"}),
        )
        .await;
    let inlay = format!("simulator/inlays/{}", answer.json()["id"]);
    driver
        .left(
            "post_simulator_inlays",
            answer,
            "simulator.inlays.create",
            &inlay,
        )
        .await;
    let answer = driver
        .send(Method::DELETE, &format!("/{inlay}"), Value::Null)
        .await;
    driver
        .left(
            "delete_simulator_inlays_id",
            answer,
            "simulator.inlays.delete",
            &inlay,
        )
        .await;
    let ahead = json!({"advance_ms": 1_000});
    let answer = driver
        .send(Method::POST, "/simulator/clock", ahead.clone())
        .await;
    driver
        .left(
            "post_simulator_clock",
            answer,
            "simulator.clock",
            "simulator/clock",
        )
        .await;
    let sample = json!({"type": "alert.disk_low"});
    let answer = driver.send(Method::POST, "/simulator/events", sample).await;
    driver
        .left(
            "post_simulator_events",
            answer,
            "simulator.events",
            "simulator/events",
        )
        .await;
    let answer = driver.send(Method::POST, "/clock", ahead).await;
    driver.left("post_clock", answer, "clock", "clock").await;
    let answer = driver.send(Method::POST, "/demo", Value::Null).await;
    driver.left("post_demo", answer, "demo", "demo").await;
    let answer = driver.send(Method::DELETE, "/demo", Value::Null).await;
    driver
        .left("delete_demo", answer, "demo.delete", "demo")
        .await;
}

async fn scheduled_backups(driver: &mut Driver) {
    const OPERATIONS: [(&str, Method, &str, &str); 3] = [
        (
            "put_backup_schedule",
            Method::PUT,
            "backup/schedule",
            "backup.schedule.set",
        ),
        (
            "post_backup_schedule_run",
            Method::POST,
            "backup/schedule/run",
            "backup.schedule.run",
        ),
        (
            "delete_backup_schedule",
            Method::DELETE,
            "backup/schedule",
            "backup.schedule.delete",
        ),
    ];
    let folder = driver.service.folder().join("backups");
    let schedule = json!({"destination": folder, "every_hours": 24, "keep": 2});
    for (operation, method, path, action) in OPERATIONS {
        let body = if method == Method::PUT {
            schedule.clone()
        } else {
            Value::Null
        };
        let answer = driver.send(method, &format!("/{path}"), body).await;
        // Not supported on PostgreSQL, which has its own backup tools: there is no schedule to end.
        if tapdesk_tests::service::default_database() == "postgres" {
            driver.done.insert(operation.to_owned());
            driver.look().await;
        } else {
            driver.left(operation, answer, action, path).await;
        }
    }
}

async fn logo(driver: &mut Driver) {
    let path = "/settings/logo";
    let picture = include_bytes!("../../../src-tauri/icons/32x32.png").to_vec();
    let request = driver.service.admin_request(Method::PUT, path);
    let answer = request.body(picture).answer().await;
    driver
        .left(
            "put_settings_logo",
            answer,
            "settings.logo.set",
            "settings/logo",
        )
        .await;
    let answer = driver.send(Method::DELETE, path, Value::Null).await;
    driver
        .left(
            "delete_settings_logo",
            answer,
            "settings.logo.delete",
            "settings/logo",
        )
        .await;
}

async fn mail(driver: &mut Driver) {
    let server = json!({
        "host": "127.0.0.1", "port": 9, "security": "none", "from": "tapdesk@example.com",
    });
    let answer = driver.send(Method::PUT, "/mail", server).await;
    driver.left("put_mail", answer, "mail.set", "mail").await;
    // Nothing listens there, and the answer says so.
    let to = json!({"to": "anna@example.com"});
    let answer = driver.send(Method::POST, "/mail/test", to).await;
    driver
        .left("post_mail_test", answer, "mail.test", "mail/test")
        .await;
    let alert = json!({
        "kind": "alert", "events": ["alert.disk_low"], "channel": {"mail": ["anna@example.com"]},
    });
    let created = driver.service.admin_create("/notifications", alert).await;
    driver.look().await;
    let path = format!("notifications/{}/test", created["id"]);
    let answer = driver
        .send(Method::POST, &format!("/{path}"), Value::Null)
        .await;
    driver
        .left(
            "post_notifications_id_test",
            answer,
            "notifications.test",
            &path,
        )
        .await;
    let answer = driver.send(Method::DELETE, "/mail", Value::Null).await;
    driver
        .left("delete_mail", answer, "mail.delete", "mail")
        .await;
}
