//! Databases of every earlier release, as `.make/earlier-database.mjs` made them with that release.

use std::fs;
use std::path::{Path, PathBuf};

use reqwest::Method;
use serde_json::{Value, json};

use super::{launch, run_with};

/// The backups in the folder, one of each release.
fn backups() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/databases");
    let files = fs::read_dir(folder).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let mut backups: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|kind| kind == "backup"))
        .collect();
    backups.sort();
    backups
}

/// Whether `found` has everything that `expected` has. A later version may add members and rows.
fn includes(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => expected
            .iter()
            .all(|(name, value)| found.get(name).is_some_and(|found| includes(found, value))),
        (Value::Array(found), Value::Array(expected)) => expected
            .iter()
            .all(|value| found.iter().any(|found| includes(found, value))),
        _ => found == expected,
    }
}

/// If this fails because the first version of the schema was changed before the first release, make
/// the file again: `node .make/earlier-database.mjs target/debug/tapdesk-service`.
#[tokio::test]
async fn every_earlier_database_opens_and_shows_the_same() {
    let backups = backups();
    assert!(!backups.is_empty());
    for backup in backups {
        let recorded = fs::read_to_string(backup.with_extension("json")).unwrap();
        let recorded: Value = serde_json::from_str(&recorded).unwrap();
        let launch = launch();
        let passphrase = recorded["passphrase"].as_str().unwrap();
        let environment = [("TAPDESK_PASSPHRASE", passphrase)];
        let restore = ["restore", backup.to_str().unwrap()];
        run_with(&launch.database(), &environment, &restore)
            .await
            .good();
        let service = launch.start().await;
        for (path, expected) in recorded["answers"].as_object().unwrap() {
            let found = service.admin_get(path).await;
            assert!(
                includes(&found, expected),
                "{}: {path} shows {found}, and showed {expected}",
                backup.display()
            );
        }
        // The keys of its inlays can be opened.
        let url = json!({"url": recorded["unused"]});
        let verdict = service.admin(Method::POST, "/verification", url).await;
        assert_eq!(verdict.json()["tag_verified"], true, "{}", verdict.body);
    }
}

#[test]
fn a_lost_row_or_another_value_is_noticed() {
    let shown = json!({"items": [{"id": 1, "name": "a", "new": 5}, {"id": 2, "name": "b"}]});
    for (expected, same) in [
        (json!({"items": [{"id": 2, "name": "b"}]}), true),
        (json!({"items": [{"id": 1, "name": "a"}, {"id": 3}]}), false),
        (json!({"items": [{"id": 1, "name": "b"}]}), false),
        (json!({"total": 1}), false),
    ] {
        assert_eq!(includes(&shown, &expected), same, "{expected}");
    }
}
