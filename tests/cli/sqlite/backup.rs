//! `backup` and `restore`.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tapdesk_service::inlay::Uid;
use tapdesk_tests::process::Launch;
use tapdesk_tests::relay::lay;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::{Client, ServiceProcess};

use super::{launch, run, run_at, run_with};

/// Length of a backup's trailer, after its SQLite file.
const END: usize = 89;

const PASSPHRASE: (&str, &str) = ("TAPDESK_PASSPHRASE", "correct horse battery");

/// A service with a tag, an inlay and a variable whose value is `before`.
async fn service() -> (
    ServiceProcess,
    tapdesk_tests::TestTag,
    tapdesk_tests::TestInlay,
) {
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
async fn what_is_no_sound_backup_is_refused_and_nothing_changes() {
    let (service, _, _) = service().await;
    let whole = fs::read(backup(&service, "backup.db", false).await).unwrap();
    let other = launch();
    let source = file(&other, "source.db");
    let mut damaged = whole.clone();
    damaged[5 * 4096..6 * 4096].fill(0xff);
    let more = [&whole[..], b"more"].concat();
    let page = [&whole[..], &[0; 4096 - END]].concat();
    let (cut, without_end) = (&whole[..whole.len() - 1], &whole[..whole.len() - END]);
    for (content, word) in [
        (&b""[..], "is empty"),
        (b"no database", "is not a Tapdesk database"),
        (&whole[..whole.len() / 2], "bytes are missing"),
        (cut, "its last byte is missing"),
        (without_end, "its last 89 bytes are missing"),
        (&more, "4 bytes were added to it"),
        (&page, "4007 bytes were added to it"),
        (&damaged, "its checksum is not the one of its content"),
    ] {
        fs::write(&source, content).unwrap();
        let said = run(&other.database(), &["restore", source.to_str().unwrap()])
            .await
            .refused();
        assert!(said.contains(word) && said.contains("source.db"), "{said}");
        assert!(!other.database().exists());
        assert_eq!(fs::read(&source).unwrap(), content);
    }
}

/// The passphrase protects the key, but does not show whether the rest was forged. So it also seals
/// the rest.
#[tokio::test]
async fn a_sealed_backup_cannot_be_replaced_by_whoever_has_no_passphrase() {
    let (service, _, _) = service().await;
    let sealed = fs::read(backup(&service, "sealed.db", true).await).unwrap();
    let plain = fs::read(backup(&service, "plain.db", false).await).unwrap();
    let other = launch();
    let source = file(&other, "source.db");
    let restore = ["restore", source.to_str().unwrap()];
    let said_of = async |content: &[u8]| {
        fs::write(&source, content).unwrap();
        let said = run_with(&other.database(), &[PASSPHRASE], &restore).await;
        assert!(!other.database().exists());
        said.refused()
    };
    // Replaced by a backup without a seal.
    let said = said_of(&plain).await;
    assert!(said.contains("is not sealed with a passphrase"), "{said}");
    // The same with the sealed key in it, and a checksum that anyone can compute.
    let forged = {
        let forged = file(&other, "forged.db");
        fs::write(&forged, &sealed[..sealed.len() - END]).unwrap();
        let change = "UPDATE tags SET name = 'Forged'";
        let connection = rusqlite::Connection::open(&forged).unwrap();
        connection.execute_batch(change).unwrap();
        connection.close().unwrap();
        let content = fs::read(&forged).unwrap();
        let mut head = sealed[sealed.len() - END..sealed.len() - 32].to_vec();
        head[16..24].copy_from_slice(&(content.len() as u64).to_be_bytes());
        let sum = Sha256::digest([&Sha256::digest(&content)[..], &head].concat());
        [&content[..], &head, &sum[..]].concat()
    };
    let said = said_of(&forged).await;
    assert!(said.contains("its seal does not fit its content"), "{said}");
    // Without the passphrase only the checksum is verified, and the output says so.
    fs::write(&source, &sealed).unwrap();
    let without = [&restore[..], &["--without-key"]].concat();
    let said = run(&other.database(), &without).await.good();
    assert!(said.contains("Its seal was not checked"), "{said}");
}

/// A unit test flips every bit; this test runs the complete restore for some of them.
#[tokio::test]
async fn a_backup_with_a_flipped_bit_is_not_restored() {
    let (service, _, _) = service().await;
    for passphrase in [true, false] {
        let name = format!("backup-{passphrase}.db");
        let whole = fs::read(backup(&service, &name, passphrase).await).unwrap();
        let other = launch();
        let source = file(&other, "source.db");
        let bits = whole.len() * 8;
        for bit in (0..8)
            .map(|n| (bits / 8 * n + 4_321 * n) % bits)
            .chain(bits - 4..bits)
        {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            fs::write(&source, flipped).unwrap();
            let restore = ["restore", source.to_str().unwrap()];
            let said = run_with(&other.database(), &[PASSPHRASE], &restore).await;
            let said = said.refused();
            assert!(said.contains("is damaged"), "bit {bit} of {bits}: {said}");
            assert!(!other.database().exists());
        }
    }
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

#[tokio::test]
async fn a_row_that_cannot_be_read_is_named_by_restore_and_doctor() {
    let (service, tag, _) = service().await;
    service.tap(&tag.path()).await;
    let launch = service.launch().clone();
    service.terminate().await;
    let whole = fs::read(launch.database()).unwrap();
    let environment = [("TAPDESK_LISTEN", "127.0.0.1:0")];
    let experiences =
        "INSERT INTO experiences (id, name, folded, kind, draft, created_at, updated_at)
         VALUES (7, 'x', 'x', 'redirect', '{', 0, 0)";
    let id = tag.id;
    let settings = "INSERT INTO settings (name, value) VALUES ('operator', '{\"app_id\": \"x\"}')
         ON CONFLICT DO UPDATE SET value = excluded.value";
    for (change, row, column) in [
        (
            "UPDATE tags SET widget_settings = '{'",
            format!("row {id} of the table tags"),
            "widget_settings",
        ),
        (
            "UPDATE tags SET status = 'activ'",
            format!("row {id} of the table tags"),
            "status",
        ),
        (
            "UPDATE tags SET name = CAST(x'ff' AS TEXT)",
            format!("row {id} of the table tags"),
            "name",
        ),
        (
            experiences,
            "row 7 of the table experiences".to_owned(),
            "draft",
        ),
        (
            "UPDATE interactions SET reason = 'verifie'",
            " of the table interactions".to_owned(),
            "reason",
        ),
        (
            settings,
            "row operator of the table settings".to_owned(),
            "value",
        ),
    ] {
        fs::write(launch.database(), &whole).unwrap();
        let connection = rusqlite::Connection::open(launch.database()).unwrap();
        connection.execute_batch(change).unwrap();
        connection.close().unwrap();
        let report = run_with(&launch.database(), &environment, &["doctor"]).await;
        let other = self::launch();
        let damaged = launch.database();
        let restore = ["restore", damaged.to_str().unwrap()];
        let said = run(&other.database(), &restore).await.refused();
        for said in [&report.stdout, &said] {
            assert!(
                said.contains(&row) && said.contains(column),
                "{change}: {said}"
            );
        }
        assert!(
            report.stdout.contains("FAIL  Database"),
            "{}",
            report.stdout
        );
        assert!(!other.database().exists());
    }
}

#[tokio::test]
async fn a_backup_overwrites_nothing_and_leaves_nothing_of_a_failure() {
    let (service, _, _) = service().await;
    let path = file(service.launch(), "there.db");
    fs::write(&path, "mine").unwrap();
    let said = run_at(&service, &["backup", path.to_str().unwrap()])
        .await
        .refused();
    assert!(said.contains("exists already"), "{said}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    let nowhere = file(service.launch(), "no/such/folder.db");
    let said = run_at(&service, &["backup", nowhere.to_str().unwrap()])
        .await
        .refused();
    assert!(said.contains("cannot be written"), "{said}");
}

/// The files in a folder with this prefix.
fn named(launch: &Launch, beginning: &str) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(launch.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with(beginning)
        })
        .collect();
    files.sort();
    files
}

#[tokio::test]
async fn whatever_a_restore_replaces_is_kept_however_soon_the_next_one_comes() {
    const KEYS: usize = 4;
    let (service, _, _) = service().await;
    let launch = service.launch().clone();
    let path = backup(&service, "backup.db", true).await;
    service.terminate().await;
    let replace = ["restore", path.to_str().unwrap(), "--replace"];
    for number in 0..KEYS {
        fs::write(launch.database(), format!("database {number}")).unwrap();
        fs::write(file(&launch, "inlay.key"), format!("0{number}").repeat(32)).unwrap();
        run_with(&launch.database(), &[PASSPHRASE], &replace)
            .await
            .good();
    }
    for (beginning, expected) in [
        (
            "tapdesk.db.replaced-at-",
            (0..KEYS)
                .map(|n| format!("database {n}"))
                .collect::<Vec<_>>(),
        ),
        (
            "inlay.key.replaced-at-",
            (0..KEYS).map(|n| format!("0{n}").repeat(32)).collect(),
        ),
    ] {
        let mut kept: Vec<_> = named(&launch, beginning)
            .iter()
            .map(|path| fs::read_to_string(path).unwrap())
            .collect();
        kept.sort();
        assert_eq!(kept, expected, "{beginning}");
    }
}

#[tokio::test]
async fn what_an_ended_download_left_is_replaced_and_what_a_live_one_writes_is_not() {
    let (service, _, _) = service().await;
    for command in ["backup", "export"] {
        let path = file(service.launch(), &format!("shop.{command}"));
        let part = file(service.launch(), &format!("shop.{command}.part"));
        fs::write(&part, "half of it").unwrap();
        run_at(&service, &[command, path.to_str().unwrap()])
            .await
            .good();
        assert!(!part.exists());
        let whole = fs::read(&path).unwrap();
        assert!(!whole.starts_with(b"half of it"));

        let other = file(service.launch(), &format!("other.{command}"));
        let part = file(service.launch(), &format!("other.{command}.part"));
        fs::write(&part, "half of it").unwrap();
        let live = fs::File::open(&part).unwrap();
        live.lock().unwrap();
        let said = run_at(&service, &[command, other.to_str().unwrap()])
            .await
            .refused();
        assert!(said.contains("being written"), "{said}");
        assert_eq!(fs::read_to_string(&part).unwrap(), "half of it");
        assert!(!other.exists());
    }
}

#[tokio::test]
async fn a_backup_that_brings_more_than_our_schema_is_refused() {
    let (service, _, _) = service().await;
    let here = service.launch().clone();
    service.terminate().await;
    let whole = fs::read(here.database()).unwrap();
    let other = launch();
    let source = file(&other, "source.db");
    for (change, word) in [
        (
            "CREATE TRIGGER surprise AFTER DELETE ON settings BEGIN UPDATE tags SET name = 'Surprise'; END",
            "the trigger surprise",
        ),
        (
            "CREATE VIEW surprise AS SELECT * FROM tags",
            "the view surprise",
        ),
        ("CREATE TABLE surprise (x)", "the table surprise"),
        ("DROP INDEX tags_by_name", "the index tags_by_name"),
        (
            "ALTER TABLE tags ADD COLUMN surprise TEXT GENERATED ALWAYS AS (name)",
            "the table tags",
        ),
    ] {
        fs::write(&source, &whole).unwrap();
        rusqlite::Connection::open(&source)
            .unwrap()
            .execute_batch(change)
            .unwrap();
        let said = run(&other.database(), &["restore", source.to_str().unwrap()])
            .await
            .refused();
        assert!(said.contains(word) && said.contains("source.db"), "{said}");
        assert!(!other.database().exists());
    }
    fs::write(&source, &whole).unwrap();
    // Tables that SQLite itself adds when it analyzes its indexes.
    rusqlite::Connection::open(&source)
        .unwrap()
        .execute_batch("ANALYZE")
        .unwrap();
    run(&other.database(), &["restore", source.to_str().unwrap()])
        .await
        .good();
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
