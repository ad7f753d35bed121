//! The keys in a backup: the one that unlocks inlay keys, and those of chips.

use std::fs;

use serde_json::{Value, json};
use tapdesk_service::inlay::Uid;
use tapdesk_tests::Client;
use tapdesk_tests::relay::lay;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;

use super::super::{launch, run, run_with};
use super::{PASSPHRASE, backup, file, service};

#[tokio::test]
async fn the_key_of_the_inlays_comes_back_with_its_passphrase_alone() {
    let (service, _, _) = service().await;
    let key = fs::read(service.folder().join("inlay.key")).unwrap();
    let path = backup(&service, "backup.db", true).await;
    let restore = ["restore", path.to_str().unwrap()];
    let other = launch();

    let said = run(&other.database(), &restore).await.refused();
    assert!(said.contains("TAPDESK_PASSPHRASE"), "{said}");
    let wrong = [("TAPDESK_PASSPHRASE", "battery horse correct")];
    let said = run_with(&other.database(), &wrong, &restore)
        .await
        .refused();
    assert!(said.contains("Wrong passphrase"), "{said}");
    let names: Vec<_> = fs::read_dir(other.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(
        names,
        ["tapdesk.db.lock"],
        "nothing else is left of a refusal"
    );

    let passphrase = file(&other, "passphrase");
    fs::write(&passphrase, format!("{}\n", PASSPHRASE.1)).unwrap();
    let from_file = [
        &restore[..],
        &["--passphrase-file", passphrase.to_str().unwrap()],
    ]
    .concat();
    run(&other.database(), &from_file).await.good();
    assert_eq!(fs::read(file(&other, "inlay.key")).unwrap(), key);
}

#[tokio::test]
async fn no_database_is_restored_whose_key_cannot_be_written() {
    let (service, ..) = service().await;
    let made = backup(&service, "sealed.backup", true).await;
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("tapdesk.db");
    let key = folder.path().join("none/inlay.key");
    let environment = [PASSPHRASE, ("TAPDESK_KEY_FILE", key.to_str().unwrap())];
    let arguments = ["restore", made.to_str().unwrap()];
    let ran = run_with(&database, &environment, &arguments).await;
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(!database.exists(), "{ran:?}");
    fs::create_dir(folder.path().join("none")).unwrap();
    run_with(&database, &environment, &arguments).await.good();
    assert!(key.exists());
}

#[tokio::test]
async fn another_key_that_is_there_is_kept_unless_it_may_be_replaced() {
    let (service, _, _) = service().await;
    let path = backup(&service, "backup.db", true).await;
    let other = launch();
    fs::write(file(&other, "inlay.key"), "ab".repeat(32)).unwrap();
    let restore = ["restore", path.to_str().unwrap()];
    let said = run_with(&other.database(), &[PASSPHRASE], &restore)
        .await
        .refused();
    assert!(said.contains("another key"), "{said}");
    assert!(!other.database().exists());
    let without = [&restore[..], &["--without-key"]].concat();
    let said = run(&other.database(), &without).await.good();
    assert!(said.contains("does not contain the key"), "{said}");
    assert_eq!(
        fs::read_to_string(file(&other, "inlay.key")).unwrap(),
        "ab".repeat(32)
    );
}

#[tokio::test]
async fn a_restore_that_was_killed_before_its_key_took_its_place_is_finished_by_the_next_start() {
    let (service, tag, mut inlay) = service().await;
    let path = backup(&service, "backup.db", true).await;
    let other = launch();
    let restore = ["restore", path.to_str().unwrap()];
    run_with(&other.database(), &[PASSPHRASE], &restore)
        .await
        .good();
    let [present, restoring] = ["inlay.key", "inlay.key.restoring"].map(|name| file(&other, name));
    let key = fs::read(&present).unwrap();
    fs::rename(&present, &restoring).unwrap();
    fs::write(&present, "ab".repeat(32)).unwrap();
    let report = run(&other.database(), &["doctor"]).await.stdout;
    assert!(report.contains("warn  Inlay key"), "{report}");

    let restored = other.start().await;
    let tap = restored.tap(&inlay.url(&tag)).await;
    assert_eq!(restored.payload(tap.key()).await["tag_verified"], true);
    assert_eq!(fs::read(&present).unwrap(), key);
    assert!(!restoring.exists());
}

#[tokio::test]
async fn the_key_of_a_backup_is_on_disk_before_its_database_takes_its_place() {
    let (service, ..) = service().await;
    let key = fs::read(service.folder().join("inlay.key")).unwrap();
    let path = backup(&service, "backup.db", true).await;
    let other = launch();
    let [present, restoring, log] =
        ["inlay.key", "inlay.key.restoring", "tapdesk.db-wal"].map(|name| file(&other, name));
    fs::write(&present, "ab".repeat(32)).unwrap();
    // This log cannot be moved aside, so the restore ends at the database.
    fs::write(other.database(), "former").unwrap();
    fs::create_dir(&log).unwrap();
    let restore = ["restore", path.to_str().unwrap(), "--replace"];
    let ran = run_with(&other.database(), &[PASSPHRASE], &restore).await;
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(fs::read(&restoring).unwrap(), key);
    assert_eq!(fs::read_to_string(&present).unwrap(), "ab".repeat(32));

    fs::remove_dir(&log).unwrap();
    run_with(&other.database(), &[PASSPHRASE], &restore)
        .await
        .good();
    assert_eq!(fs::read(&present).unwrap(), key);
    assert!(!restoring.exists());
}

/// Encodes a chip for a tag through a relay. Returns the result, and the version of the chip's
/// keys.
async fn encode(
    client: &Client,
    chip: &mut VirtualNtag424,
    tag: i64,
    replace: bool,
) -> (Value, u64) {
    let wish = json!({"uid": chip.uid().to_string(), "tag_id": tag, "replace": replace});
    let turn = lay(client, chip, &wish).await;
    let whole = client
        .admin_get(&format!("/encodings/{}", turn["id"]))
        .await;
    let word = if turn["reason"].is_null() {
        turn["state"].clone()
    } else {
        turn["reason"].clone()
    };
    (word, whole["generation"].as_u64().unwrap_or(0))
}

#[tokio::test]
async fn a_restored_database_opens_chips_that_it_never_knew_and_repeats_no_generation() {
    let verified = json!("verified");
    let service = launch().start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await.id;
    let uid = |number| Uid::from_bytes([0x04, 0xD0, 0, 0, 0, number, 0x80]);
    let (mut known, mut new) = (VirtualNtag424::new(uid(1)), VirtualNtag424::new(uid(2)));
    assert_eq!(
        encode(&service, &mut known, tag, false).await,
        (verified.clone(), 1)
    );
    let path = backup(&service, "before-the-run.db", true).await;
    // Changes that the backup lacks: a new chip, and new keys of a chip that it has.
    let second = service.tag(json!({"name": "Second"})).await.id;
    assert_eq!(
        encode(&service, &mut new, second, false).await,
        (verified.clone(), 1)
    );
    assert_eq!(
        encode(&service, &mut known, tag, true).await,
        (verified.clone(), 2)
    );
    let keys =
        |chip: &VirtualNtag424| -> Vec<_> { (0..5).map(|slot| chip.key(slot).clone()).collect() };
    let before = [keys(&known), keys(&new)].concat();

    let other = launch();
    let restore = ["restore", path.to_str().unwrap()];
    run_with(&other.database(), &[PASSPHRASE], &restore)
        .await
        .good();
    let restored = other.start().await;
    let root = restored.admin_get("/encoding-root").await;
    assert_eq!(
        (&root["created_at"], &root["retired"]),
        (&Value::Null, &json!(1))
    );
    let tags = restored.tag(json!({"name": "Third"})).await.id;
    let refusals = [known.tally().refusals, new.tally().refusals];
    // The restored service never knew this chip: it opens it with the former root, and writes keys
    // of a new one.
    let (state, generation) = encode(&restored, &mut new, tags, false).await;
    assert_eq!(state, verified);
    assert!(generation > 1, "{generation}");
    let (state, generation) = encode(&restored, &mut known, tag, true).await;
    assert_eq!(state, verified);
    assert!(generation > 2, "{generation}");
    let after = [keys(&known), keys(&new)].concat();
    assert!(after.iter().all(|key| !before.contains(key)));
    let asked = [known.tally().refusals, new.tally().refusals];
    assert_eq!(asked, refusals, "each opened at the first key");
    let root = restored.admin_get("/encoding-root").await;
    assert!(root["created_at"].is_string(), "{root}");
    assert_eq!(root["retired"], 1);
}
