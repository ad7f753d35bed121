//! Backups through the shell: the database, and its key.

use std::fs;
use std::path::PathBuf;

use axum::http::{Method, Request};
use serde_json::{Value, json};
use tapdesk::shell::Shell;
use tapdesk::state::ProblemKind;
use zeroize::Zeroizing;

use crate::installation::{Installation, call, make_tag, problem, tag_names};

const PASSPHRASE: &str = "correct horse battery";

fn passphrase(text: &str) -> Zeroizing<String> {
    Zeroizing::new(text.to_owned())
}

/// Saves a backup like the settings screen.
async fn back_up(shell: &Shell, installation: &Installation, options: Value) -> PathBuf {
    let backend = shell.backend().await.unwrap();
    let request = Request::post("tapdesk://localhost/admin/v1/backup")
        .header("content-type", "application/json")
        .body(options.to_string().into_bytes())
        .unwrap();
    let response = backend.request(request).await;
    assert_eq!(response.status(), 200);
    let file = installation.folder().join("shop.backup");
    fs::write(&file, response.body()).unwrap();
    file
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_takes_the_place_of_the_present_database_which_is_kept() {
    let installation = Installation::new();
    let shell = installation.ready().await;
    make_tag(&shell, "Before").await;
    let backup = back_up(&shell, &installation, json!({})).await;
    make_tag(&shell, "After").await;

    let name = shell.restore(backup, passphrase("")).await.unwrap();
    assert_eq!(name, "shop.backup");
    assert_eq!(tag_names(&shell).await, ["Before"]);
    // Its log is included, if something still read the file when it was closed.
    let is_aside = |name: &str| {
        let moment = name.strip_prefix("tapdesk.db.replaced-at-");
        moment.is_some_and(|moment| moment.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let files = fs::read_dir(installation.folder()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| is_aside(name)).count(), 1);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_installation_is_restored_from_a_backup_with_its_inlays_key() {
    let shop = Installation::new();
    let shell = shop.ready().await;
    let id = make_tag(&shell, "Bottle 41").await;
    let inlay = json!({
        "uid": "04DE5F1EACC040", "technology": "ntag424dna", "mirror": "plain",
        "mac_from": "none", "file_key": "00112233445566778899AABBCCDDEEFF", "tag_id": id,
    });
    let (status, _) = call(&shell, Method::POST, "/admin/v1/inlays", inlay).await;
    assert_eq!(status, 201);
    let backup = back_up(&shell, &shop, json!({"passphrase": PASSPHRASE})).await;
    shell.stop().await;

    let elsewhere = Installation::new();
    fs::write(elsewhere.folders().database, b"").unwrap();
    let shell = elsewhere.start().await;
    assert_eq!(problem(&shell).kind, ProblemKind::Damaged);
    for wrong in ["", "battery staple horse"] {
        let refused = shell.restore(backup.clone(), passphrase(wrong)).await;
        assert!(refused.unwrap_err().contains("passphrase"));
        assert_eq!(
            problem(&shell).kind,
            ProblemKind::Damaged,
            "nothing was changed"
        );
    }
    shell.restore(backup, passphrase(PASSPHRASE)).await.unwrap();
    assert_eq!(tag_names(&shell).await, ["Bottle 41"]);
    let key = |installation: &Installation| fs::read(installation.folders().key_file()).unwrap();
    assert_eq!(key(&elsewhere), key(&shop));
    let (_, inlays) = call(&shell, Method::GET, "/admin/v1/inlays", Value::Null).await;
    assert_eq!(inlays["items"][0]["uid"], "04DE5F1EACC040");
    assert!(inlays["items"][0]["file_key_check"].is_string(), "{inlays}");
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_backup_changes_nothing() {
    let installation = Installation::new();
    let shell = installation.ready().await;
    make_tag(&shell, "Bottle 41").await;
    let file = installation.folder().join("holiday.jpg");
    fs::write(&file, "no backup").unwrap();
    let refused = shell.restore(file, passphrase("")).await.unwrap_err();
    assert!(refused.contains("holiday.jpg"), "{refused}");
    assert_eq!(tag_names(&shell).await, ["Bottle 41"]);
    shell.stop().await;
}
