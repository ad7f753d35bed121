//! Automatic backups: verified, limited to the requested number, and reported if they fail. A
//! backup is a copy of the SQLite file, so PostgreSQL has none.

use std::fs;
use std::path::{Path, PathBuf};

use reqwest::Method;
use rusqlite::Connection;
use serde_json::{Value, json};
use tapdesk_service::keyring::Passphrase;
use tapdesk_service::storage::BackupNote;
use tapdesk_service::storage::sqlite::{OpenKeyError, Restore};
use tapdesk_tests::{Receiver, TestService, eventually};

use crate::api::events::Listener;

const PASSPHRASE: &str = "correct horse battery";

async fn service() -> TestService {
    TestService::start_with(|options| {
        "sqlite".clone_into(&mut options.database);
        options.settings.private_webhooks = true;
    })
    .await
}

fn folder(service: &TestService) -> PathBuf {
    service.folder().join("backups")
}

async fn set(service: &TestService, more: Value) -> Value {
    let mut schedule = json!({"destination": folder(service), "every_hours": 24, "keep": 2});
    let members = schedule.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    let set = service.admin(Method::PUT, "/backup/schedule", schedule);
    set.await.expect(200)
}

async fn run(service: &TestService) -> Value {
    let run = service.admin(Method::POST, "/backup/schedule/run", Value::Null);
    run.await.expect(200)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_scheduled_backup_is_sealed_checked_and_can_be_restored() {
    let service = service().await;
    service.bottle().await;
    let none = service.admin_get("/backup/schedule").await;
    assert_eq!(
        (&none["enabled"], &none["last"]),
        (&json!(false), &Value::Null)
    );
    let schedule = set(&service, json!({"passphrase": PASSPHRASE})).await;
    assert_eq!(
        (&schedule["enabled"], &schedule["sealed"], &schedule["last"]),
        (&json!(true), &json!(true), &Value::Null)
    );
    let schedule = run(&service).await;
    assert_eq!(schedule["last"]["ok"], true, "{schedule}");
    assert_eq!(
        names(&folder(&service)),
        ["tapdesk-20260101T120000Z.backup"]
    );
    assert_eq!(schedule["files"], json!(names(&folder(&service))));
    assert_eq!(schedule["next_at"], "2026-01-02T12:00:00Z");
    let path = folder(&service).join("tapdesk-20260101T120000Z.backup");
    assert_eq!(
        schedule["last"]["bytes"],
        fs::metadata(&path).unwrap().len()
    );

    let copy = Connection::open(&path).unwrap();
    let stored = "SELECT value FROM settings WHERE name = 'backup'";
    let stored: String = copy.query_row(stored, [], |row| row.get(0)).unwrap();
    let stored: BackupNote = serde_json::from_str(&stored).unwrap();
    let key = stored.inlay_key.unwrap();
    let opened = key.open(&Passphrase::parse(PASSPHRASE).unwrap()).unwrap();
    let file = service.folder().join("inlay.key");
    let present = tapdesk_service::keyring::file::read(&file).unwrap();
    assert_eq!(Some(opened), present);
    // No file contains the passphrase.
    assert!(tapdesk_tests::files_containing(service.folder(), PASSPHRASE.as_bytes()).is_empty());
    let metrics = service.metrics().await;
    assert!(metrics.contains("\ntapdesk_backup_good 1\n"), "{metrics}");
    assert!(
        metrics.contains("\ntapdesk_backup_last_seconds 1767268800\n"),
        "{metrics}"
    );
}

#[tokio::test]
async fn as_many_are_kept_as_asked_for_and_nothing_else_is_removed() {
    let service = service().await;
    set(&service, json!({})).await;
    let other = folder(&service).join("tapdesk-20200101T120000Z.backup");
    fs::write(&other, "of another program").unwrap();
    for _ in 0..4 {
        assert_eq!(run(&service).await["last"]["ok"], true);
        service.advance(3_600_000);
    }
    assert_eq!(
        names(&folder(&service)),
        [
            "tapdesk-20200101T120000Z.backup",
            "tapdesk-20260101T140000Z.backup",
            "tapdesk-20260101T150000Z.backup"
        ]
    );
    let ended = service.admin(Method::DELETE, "/backup/schedule", Value::Null);
    assert_eq!(ended.await.status, 204);
    assert_eq!(names(&folder(&service)).len(), 3);
    let none = service.admin(Method::POST, "/backup/schedule/run", Value::Null);
    assert_eq!(none.await.status, 404);
}

#[tokio::test]
async fn backups_are_made_when_they_are_due() {
    let service = service().await;
    set(&service, json!({"every_hours": 2})).await;
    let _house = service.keep_house();
    let made = async |count: usize| {
        eventually("a scheduled backup", async || {
            let names = names(&folder(&service));
            let made = names.iter().filter(|name| name.starts_with("tapdesk-"));
            (made.count() == count).then_some(())
        })
        .await;
    };
    made(1).await;
    service.advance(2 * 3_600_000);
    made(2).await;
}

#[tokio::test]
async fn a_backup_that_fails_is_told_once_and_made_again_within_an_hour() {
    let service = service().await;
    let receiver = Receiver::start().await;
    let hook = json!({"url": receiver.url(), "events": ["alert.backup_failed"]});
    service.admin_create("/webhooks", hook).await;
    let _house = service.keep_house();
    let mut listener = Listener::at(&service, "").await;
    set(&service, json!({})).await;
    assert_eq!(run(&service).await["last"]["ok"], true);
    // The folder was deleted, and a file has its name.
    fs::remove_dir_all(folder(&service)).unwrap();
    fs::write(folder(&service), "a file").unwrap();
    service.advance(1_000);
    for _ in 0..2 {
        let failed = run(&service).await;
        assert_eq!(failed["last"]["ok"], false);
        let why = failed["last"]["error"].as_str().unwrap();
        assert!(why.contains("backups"), "{why}");
    }
    let arrived = receiver.wait_for(1).await[0].json();
    assert_eq!(arrived["type"], "alert.backup_failed");
    let (name, event) = listener.next().await.expect("an event");
    assert_eq!(
        (name.as_str(), &event["alert"]),
        ("alert", &arrived["type"])
    );
    let metrics = service.metrics().await;
    assert!(metrics.contains("\ntapdesk_backup_good 0\n"), "{metrics}");
    assert!(
        metrics.contains("\ntapdesk_backup_failures_total 2\n"),
        "{metrics}"
    );
    fs::remove_file(folder(&service)).unwrap();
    assert_eq!(run(&service).await["last"]["ok"], true);
    assert_eq!(receiver.received().len(), 1);
}

#[tokio::test]
async fn what_cannot_be_is_refused_at_its_member() {
    let service = service().await;
    fs::write(service.folder().join("file"), "x").unwrap();
    for (wrong, member) in [
        (json!({"destination": "relative"}), "destination"),
        (json!({"destination": "s3://Backups"}), "destination"),
        (json!({"destination": "s3://backups"}), "destination"),
        (
            json!({"destination": service.folder().join("file")}),
            "destination",
        ),
        (json!({"every_hours": 0}), "every_hours"),
        (json!({"keep": 1001}), "keep"),
        (json!({"passphrase": "short"}), "passphrase"),
    ] {
        let mut schedule = json!({"destination": folder(&service), "every_hours": 24, "keep": 2});
        let members = schedule.as_object_mut().unwrap();
        members.extend(wrong.as_object().unwrap().clone());
        let refused = service
            .admin(Method::PUT, "/backup/schedule", schedule)
            .await;
        let problem = refused.expect(422);
        assert_eq!(problem["errors"][0]["field"], member, "{problem}");
    }
    assert_eq!(
        service.admin_get("/backup/schedule").await["enabled"],
        false
    );
}

#[tokio::test]
async fn a_passphrase_that_is_not_sent_again_stays_and_null_takes_it_away() {
    let service = service().await;
    assert_eq!(
        set(&service, json!({"passphrase": PASSPHRASE})).await["sealed"],
        true
    );
    assert_eq!(set(&service, json!({"keep": 5})).await["sealed"], true);
    assert_eq!(run(&service).await["last"]["ok"], true);
    assert_eq!(
        set(&service, json!({"passphrase": null, "keep": 5})).await["sealed"],
        false
    );
    let audit = service.admin_get("/audit?limit=1").await;
    assert_eq!(
        audit["items"][0]["after"],
        json!({"sealed": false}),
        "{audit}"
    );
}

/// The service may run as root, and it writes and deletes files in these folders for years.
#[tokio::test]
async fn folders_of_the_system_and_links_are_refused() {
    let service = service().await;
    let link = service.folder().join("link");
    let real = service.folder().join("real");
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let around = service.folder().join("real/../backups");
    for (folder, word) in [
        (Path::new("/"), "belongs to the system"),
        (Path::new("/etc/tapdesk"), "belongs to the system"),
        (Path::new("/usr/local/backups"), "belongs to the system"),
        (Path::new("/proc/self/cwd"), "belongs to the system"),
        (&link, "is a symbolic link"),
        (&around, "Name the folder itself"),
    ] {
        let schedule = json!({"destination": folder, "every_hours": 24, "keep": 2});
        let set = service.admin(Method::PUT, "/backup/schedule", schedule);
        let problem = set.await.expect(422);
        let said = problem.to_string();
        assert!(said.contains(word), "{}: {said}", folder.display());
    }
    assert_eq!(names(&real), Vec::<String>::new(), "nothing was written");
    let none = service.admin_get("/backup/schedule").await;
    assert_eq!(none["enabled"], false);
}

#[tokio::test]
async fn a_folder_that_became_a_link_gets_no_backup_and_the_result_says_why() {
    let service = service().await;
    set(&service, json!({})).await;
    assert_eq!(run(&service).await["last"]["ok"], true);
    let other = service.folder().join("other");
    fs::rename(folder(&service), &other).unwrap();
    std::os::unix::fs::symlink(&other, folder(&service)).unwrap();
    service.advance(3_600_000);
    let last = run(&service).await["last"].clone();
    assert_eq!(last["ok"], false, "{last}");
    let why = last["error"].as_str().expect("a reason");
    assert!(why.contains("is a symbolic link"), "{why}");
    assert_eq!(names(&other).len(), 1, "the one of before");
}

#[tokio::test]
async fn a_scheduled_backup_is_sealed_by_its_passphrase() {
    let service = service().await;
    set(&service, json!({"passphrase": PASSPHRASE})).await;
    run(&service).await;
    let path = folder(&service).join("tapdesk-20260101T120000Z.backup");
    let place = tempfile::tempdir().unwrap();
    let prepare = || Restore::prepare(&path, &place.path().join("tapdesk.db"));
    let passphrase = |text: &str| Passphrase::parse(text).unwrap();
    {
        let restore = prepare().unwrap();
        let opened = restore.open_key(Some(&passphrase(PASSPHRASE)));
        assert!(opened.unwrap().is_some());
        let wrong = restore.open_key(Some(&passphrase("battery horse correct")));
        assert_eq!(wrong.unwrap_err(), OpenKeyError::WrongPassphrase);
        let none = restore.open_key(None);
        assert_eq!(none.unwrap_err(), OpenKeyError::NoPassphrase);
    }
    // A backup without a passphrase is not mistaken for one that was made with it.
    set(&service, json!({"passphrase": null})).await;
    service.advance(1_000);
    run(&service).await;
    let path = folder(&service).join("tapdesk-20260101T120001Z.backup");
    let restore = Restore::prepare(&path, &place.path().join("tapdesk.db")).unwrap();
    assert!(restore.open_key(None).unwrap().is_none());
    let refused = restore.open_key(Some(&passphrase(PASSPHRASE)));
    assert_eq!(refused.unwrap_err(), OpenKeyError::NotSealed);
}
