//! The settings, and bad ones.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{MailServer, TestService};

use super::{notification, put, send_by};

#[tokio::test]
async fn a_password_is_never_shown_and_stays_only_with_its_server_and_user() {
    let service = TestService::start().await;
    assert_eq!(service.admin_get("/mail").await, Value::Null);
    let login = json!({"user": "anna", "password": "correct horse"});
    let set = put(&service, login).await;
    assert!(!set.body.contains("horse"), "{}", set.body);
    assert_eq!(set.expect(200)["has_password"], true);
    let shown = service.admin_get("/mail").await;
    assert_eq!(shown["user"], "anna");
    assert!(shown.get("password").is_none(), "{shown}");
    // Another sender keeps it, another server or user does not.
    let from = json!({"user": "anna", "from": "other@example.com"});
    assert_eq!(put(&service, from).await.expect(200)["has_password"], true);
    for more in [
        json!({"user": "anna", "host": "127.0.0.2"}),
        json!({"user": "anna", "port": 26}),
        json!({"user": "ben"}),
    ] {
        let refused = put(&service, more).await.expect(422);
        assert_eq!(refused["errors"][0]["field"], "password", "{refused}");
    }
    let gone = put(&service, json!({"password": null})).await.expect(200);
    assert_eq!(gone["has_password"], false);
    let audit = service.admin_get("/audit").await.to_string();
    assert!(!audit.contains("horse"), "{audit}");
    service
        .admin(Method::DELETE, "/mail", Value::Null)
        .await
        .expect(204);
    service
        .admin(Method::DELETE, "/mail", Value::Null)
        .await
        .expect(404);
}

#[tokio::test]
async fn bad_settings_of_a_mail_server_are_refused_in_words() {
    let service = TestService::start().await;
    for (more, field) in [
        (
            json!({"from": "anna@example.com\r\nBcc: all@example.com"}),
            "from",
        ),
        (json!({"from": "Anna <anna@example.com>"}), "from"),
        (json!({"host": "mail.example.com\r\nQUIT"}), "host"),
        (json!({"host": "smtp://mail.example.com"}), "host"),
        (json!({"port": 0}), "port"),
        (json!({"port": 65_536}), "port"),
        (json!({"security": "ssl"}), "security"),
        (json!({"user": "anna"}), "password"),
        (json!({"password": "horse"}), "user"),
        (json!({"user": "anna", "password": "a\0b"}), "password"),
        (
            json!({"host": "mail.example.com", "user": "anna", "password": "horse"}),
            "security",
        ),
    ] {
        let refused = put(&service, more.clone()).await.expect(422);
        assert_eq!(refused["errors"][0]["field"], field, "{more}: {refused}");
        assert!(!refused.to_string().contains("horse"), "{refused}");
    }
    assert_eq!(service.admin_get("/mail").await, Value::Null);
}

#[tokio::test]
async fn bad_notifications_are_refused_in_words() {
    let service = TestService::start().await;
    let many: Vec<String> = (0..21).map(|n| format!("a{n}@example.com")).collect();
    for (more, field) in [
        (json!({"events": []}), "events"),
        (json!({"events": ["tap.verified"]}), "events"),
        (json!({"events": ["webhook.test"]}), "events"),
        (json!({"kind": "report", "every": "day"}), "events"),
        (json!({"kind": "report", "events": []}), "every"),
        (json!({"time_zone": "Mars/Olympus"}), "time_zone"),
        (
            json!({"events": ["alert.disk_low"], "group_id": 1}),
            "events",
        ),
        (json!({"channel": {"mail": []}}), "channel.mail"),
        (json!({"channel": {"mail": many}}), "channel.mail"),
        (
            json!({"channel": {"chat": "http://chat.example/x"}}),
            "channel.chat",
        ),
        (
            json!({"channel": {"chat": "https://127.0.0.1/x"}}),
            "channel.chat",
        ),
    ] {
        let mut fields = json!({
            "kind": "alert", "events": ["alert.copied_url"], "channel": {"mail": ["anna@example.com"]},
        });
        let members = more.as_object().expect("members").clone();
        fields.as_object_mut().expect("members").extend(members);
        let refused = service.admin(Method::POST, "/notifications", fields).await;
        let refused = refused.expect(422);
        assert_eq!(refused["errors"][0]["field"], field, "{more}: {refused}");
    }
    // An address is named by its place, in a new notification and in a change.
    let bad = json!({"mail": ["anna@example.com", "ben@example.com\r\nBcc: all@example.com"]});
    let path = notification(&service, Value::Null).await;
    let fields = json!({"kind": "alert", "events": ["alert.copied_url"], "channel": bad});
    for refused in [
        service.admin(Method::POST, "/notifications", fields).await,
        service
            .admin(Method::PATCH, &path, json!({"channel": bad}))
            .await,
    ] {
        let error = refused.expect(422)["errors"][0].clone();
        assert_eq!(error["field"], "channel.mail[1]");
        let message = error["message"].as_str().expect("a sentence");
        assert!(
            message.starts_with("This is not a mail address.") && message.ends_with("form."),
            "{message}"
        );
    }
    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(204);
    // A group that there is not.
    let fields = json!({
        "kind": "alert", "events": ["alert.copied_url"], "group_id": 7,
        "channel": {"mail": ["anna@example.com"]},
    });
    let refused = service.admin(Method::POST, "/notifications", fields).await;
    assert_eq!(refused.expect(409)["code"], "missing");
    assert_eq!(
        service.admin_get("/notifications").await["items"],
        json!([])
    );
}

#[tokio::test]
async fn a_change_of_another_revision_is_refused_and_the_channel_is_replaced_as_a_whole() {
    let service = TestService::start().await;
    let path = notification(&service, Value::Null).await;
    let request = service.admin_request(Method::GET, &path);
    let answer = tapdesk_tests::Answering::answer(request).await;
    let etag = answer.header("etag").expect("a revision").to_owned();
    let chat = json!({"channel": {"chat": "https://chat.example/hook/x"}});
    let changed = service.admin_patch(&path, chat.clone()).await;
    assert_eq!(changed["channel"], chat["channel"]);
    let request = service.admin_request(Method::PATCH, &path);
    let request = request
        .header("if-match", &etag)
        .json(&json!({"enabled": false}));
    let refused = tapdesk_tests::Answering::answer(request).await;
    assert_eq!(refused.status, 412, "{}", refused.body);
    for bad in [json!({"channel": null}), json!({"kind": "report"})] {
        service.admin(Method::PATCH, &path, bad).await.expect(422);
    }
    let unchanged = service.admin_get(&path).await;
    assert_eq!(unchanged["channel"], chat["channel"]);
    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(204);
    service
        .admin(Method::GET, &path, Value::Null)
        .await
        .expect(404);
}

#[tokio::test]
async fn another_password_and_another_url_of_a_chat_are_changes_in_the_audit_log() {
    let service = TestService::start().await;
    let changed = async || service.admin_get("/audit").await["items"][0]["after"].clone();
    let with = |password: &str| json!({"user": "anna", "password": password});
    put(&service, with("correct horse")).await.expect(200);
    put(&service, with("battery staple")).await.expect(200);
    assert_eq!(changed().await, json!({"password": "changed"}));
    let chat = |path: &str| json!({"channel": {"chat": format!("https://chat.example/{path}")}});
    let path = notification(&service, chat("one")).await;
    service.admin_patch(&path, chat("two")).await;
    assert_eq!(changed().await, json!({"chat": "changed"}));
}

#[tokio::test]
async fn an_address_in_another_case_is_the_same_recipient() {
    let service = TestService::start().await;
    let both = json!({"channel": {"mail": ["Anna@example.com", "anna@Example.com"]}});
    let path = notification(&service, both).await;
    let shown = service.admin_get(&path).await;
    assert_eq!(shown["channel"], json!({"mail": ["Anna@example.com"]}));
}

#[tokio::test]
async fn a_test_says_in_words_which_step_failed() {
    let service = TestService::start().await;
    let to = json!({"to": "anna@example.com"});
    let test = async || {
        let tested = service.admin(Method::POST, "/mail/test", to.clone()).await;
        tested.expect(200)
    };
    let none = test().await;
    assert_eq!(
        (&none["delivered"], &none["step"]),
        (&json!(false), &json!("settings"))
    );
    let mut server = MailServer::start();
    send_by(&service, &server).await;
    assert_eq!(
        test().await,
        json!({"delivered": true, "step": null, "error": null})
    );
    assert_eq!(server.taken()[0].header("Subject"), "Tapdesk: test");
    server.refuse("anna@example.com", "550 5.1.1 No such user");
    let refused = test().await;
    assert_eq!(refused["step"], "recipient");
    server.demand_login("anna", "horse");
    let refused = test().await;
    assert_eq!(refused["step"], "sender");
    let login = json!({"port": server.port(), "user": "anna", "password": "wrong-password"});
    put(&service, login).await.expect(200);
    let refused = test().await;
    assert_eq!(refused["step"], "login");
    // The server repeats what it got, and Tapdesk does not.
    let expected = "The mail server refused the user name or the password (535).";
    assert_eq!(refused["error"], expected);
    let starttls = json!({
        "port": server.port(), "security": "starttls", "user": "anna", "password": "horse",
    });
    put(&service, starttls).await.expect(200);
    assert_eq!(test().await["step"], "encrypt");
    let right = json!({"port": server.port(), "user": "anna", "password": "horse"});
    put(&service, right).await.expect(200);
    server.refuse("anna@example.com", "250 2.1.5 Ok");
    assert_eq!(test().await["delivered"], true);
    assert_eq!(server.taken()[1].user.as_deref(), Some("anna"));
    server.go_down();
    assert_eq!(test().await["step"], "connect");
}

#[tokio::test]
async fn mail_and_notifications_need_the_scope_admin() {
    let service = TestService::start().await;
    let scopes = json!([
        "read",
        "tags",
        "experiences",
        "publish",
        "encode",
        "keys",
        "webhooks",
        "export"
    ]);
    let token = json!({"name": "All but admin", "scopes": scopes});
    let token = service.admin_create("/tokens", token).await["token"].clone();
    let client = tapdesk_tests::Client::new(service.base(), token.as_str().expect("a token"));
    let path = notification(&service, Value::Null).await;
    let test = format!("{path}/test");
    for (method, path) in [
        (Method::GET, "/mail"),
        (Method::PUT, "/mail"),
        (Method::DELETE, "/mail"),
        (Method::POST, "/mail/test"),
        (Method::GET, "/notifications"),
        (Method::POST, "/notifications"),
        (Method::GET, path.as_str()),
        (Method::PATCH, path.as_str()),
        (Method::DELETE, path.as_str()),
        (Method::POST, test.as_str()),
    ] {
        let refused = client.admin(method.clone(), path, json!({})).await;
        assert_eq!(refused.expect(403)["code"], "scope", "{method} {path}");
    }
    service.admin_get(&path).await;
}
