//! Files that `restore` refuses: damaged, forged, or not ours.

use std::fs;

use sha2::{Digest as _, Sha256};

use super::super::{launch, run, run_with};
use super::{PASSPHRASE, backup, file, service};

/// Length of a backup's trailer, after its SQLite file.
const END: usize = 89;

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
