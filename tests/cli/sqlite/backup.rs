//! `backup` and `restore`.

mod kept;
mod keys;
mod refused;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tapdesk_tests::process::Launch;
use tapdesk_tests::{ServiceProcess, TestInlay, TestTag};

use super::{launch, run, run_with};

const PASSPHRASE: (&str, &str) = ("TAPDESK_PASSPHRASE", "correct horse battery");

/// A service with a tag, an inlay and a variable whose value is `before`.
async fn service() -> (ServiceProcess, TestTag, TestInlay) {
    let service = launch().start().await;
    let (tag, inlay) = service.bottle().await;
    (service, tag, inlay)
}

fn file(launch: &Launch, name: &str) -> PathBuf {
    launch.folder.path().join(name)
}

async fn backup(service: &ServiceProcess, name: &str, passphrase: bool) -> PathBuf {
    let path = file(service.launch(), name);
    let environment: Vec<_> = [
        ("TAPDESK_URL", service.base()),
        ("TAPDESK_ADMIN_TOKEN", service.admin_token()),
    ]
    .into_iter()
    .chain(passphrase.then_some(PASSPHRASE))
    .collect();
    let arguments = ["backup", path.to_str().unwrap()];
    let said = run_with(&service.launch().database(), &environment, &arguments)
        .await
        .good();
    assert_eq!(said.contains("It contains the key"), passphrase, "{said}");
    path
}

#[tokio::test]
async fn a_backup_made_under_load_restores_what_was_there() {
    let (service, tag, mut inlay) = service().await;
    let stop = Arc::new(AtomicBool::new(false));
    let load: Vec<_> = (0..4)
        .map(|_| {
            let (visitor, path, stop) = (service.another(), tag.path(), Arc::clone(&stop));
            tokio::spawn(async move {
                let mut taps = 0_u64;
                while !stop.load(Ordering::SeqCst) {
                    visitor.tap(&path).await;
                    taps += 1;
                }
                taps
            })
        })
        .collect();
    service.tap(&inlay.url(&tag)).await;
    let before = service.scan_count(&tag).await;
    let path = backup(&service, "under-load.db", true).await;
    let after = service.scan_count(&tag).await;
    stop.store(true, Ordering::SeqCst);
    for visitor in load {
        visitor.await.unwrap();
    }
    let tag_then = service.admin_get(&tag.admin_path()).await;

    let other = launch();
    let restore = ["restore", path.to_str().unwrap()];
    let said = run_with(&other.database(), &[PASSPHRASE], &restore)
        .await
        .good();
    assert!(said.contains(": 1 tag, "), "{said}");
    let restored = other.start().await;
    let tag_now = restored.admin_get(&tag.admin_path()).await;
    let scans = tag_now["scan_count"].as_u64().unwrap();
    assert!(
        (before..=after).contains(&scans),
        "{before} {scans} {after}"
    );
    // The other service listens on another port.
    let without_scans = |mut tag: Value| {
        for member in ["scan_count", "last_scan_at", "url"] {
            tag[member] = Value::Null;
        }
        tag
    };
    assert_eq!(without_scans(tag_now), without_scans(tag_then));
    // The inlay continues where it was: its next code verifies, and its last one does not.
    let replayed = restored.tap(&tag.with(&inlay.code_at(1))).await;
    assert_eq!(
        restored.payload(replayed.key()).await["tag_verified"],
        false
    );
    let next = restored.tap(&inlay.url(&tag)).await;
    assert_eq!(restored.payload(next.key()).await["tag_verified"], true);
}

#[tokio::test]
async fn a_restore_replaces_only_when_asked_and_moves_the_old_aside() {
    let (service, tag, _) = service().await;
    let launch = service.launch().clone();
    let path = backup(&service, "backup.db", false).await;
    service
        .admin_patch(&tag.admin_path(), json!({"name": "Later"}))
        .await;
    let restore = ["restore", path.to_str().unwrap()];
    let replace = ["restore", path.to_str().unwrap(), "--replace"];

    let said = run(&launch.database(), &replace).await.refused();
    assert!(said.contains("in use by another Tapdesk"), "{said}");
    service.terminate().await;
    let before = fs::read(launch.database()).unwrap();
    let said = run(&launch.database(), &restore).await.refused();
    assert!(said.contains("--replace"), "{said}");
    assert_eq!(fs::read(launch.database()).unwrap(), before);

    let said = run(&launch.database(), &replace).await.good();
    let aside = said
        .lines()
        .next()
        .unwrap()
        .rsplit(' ')
        .next()
        .unwrap()
        .trim_end_matches('.');
    assert_eq!(fs::read(aside).unwrap(), before, "the old one is whole");
    let service = launch.start().await;
    // The audit log records the restore, and the last row of the replaced log.
    let row = service.admin_get("/audit?limit=1").await["items"][0].clone();
    assert_eq!(row["action"], "backup.restore", "{row}");
    assert_eq!(row["actor"]["kind"], "command_line", "{row}");
    assert!(row["after"]["made_at"].is_string(), "{row}");
    let end = |log: &str| row["after"][log]["row"].as_i64().expect("a row");
    assert_eq!(row["id"], end("log") + 1);
    assert!(end("replaced_log") > end("log"), "{row}");
    let check = service.admin_get("/audit/check").await;
    assert_eq!(check["problem"], Value::Null);
    assert_eq!(
        service.admin_get(&tag.admin_path()).await["name"],
        "Bottle 41"
    );
}

#[tokio::test]
async fn a_copy_of_a_database_is_restored_and_said_to_be_none() {
    let (service, _, _) = service().await;
    let here = service.launch().clone();
    let copy = here.database();
    service.terminate().await;
    let other = launch();
    let restore = ["restore", copy.to_str().unwrap()];
    let said = run(&other.database(), &restore).await.good();
    assert!(said.contains("no backup: it has no checksum"), "{said}");
}
