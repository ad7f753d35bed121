//! Files that `backup` and `restore` never overwrite.

use std::fs;
use std::path::PathBuf;

use tapdesk_tests::process::Launch;

use super::super::{run_at, run_with};
use super::{PASSPHRASE, backup, file, service};

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
