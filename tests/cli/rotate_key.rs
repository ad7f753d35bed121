//! `rotate-key`: everything works as before with the new key, even if the rotation was killed.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use reqwest::Method;
use rusqlite::Connection;
use serde_json::{Value, json};
use tapdesk_service::inlay::Uid;
use tapdesk_service::keyring::{Keyring, file};
use tapdesk_tests::relay::lay;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::{Launch, PATIENCE, files_containing, within_attempts};
use tokio::process::{Child, Command};

use super::{BINARY, Ran, launch};

/// Starts a rotation in a process of its own.
async fn start(launch: &Launch) -> Child {
    Command::new(BINARY)
        .args(["rotate-key", "--key-file"])
        .arg(key_file(launch))
        .env("TAPDESK_DATABASE", launch.database_url().await)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

async fn rotate(launch: &Launch) -> Ran {
    let output = start(launch).await.wait_with_output();
    let output = tokio::time::timeout(PATIENCE, output).await;
    let output = output.expect("the rotation ends in time").unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn key_file(launch: &Launch) -> PathBuf {
    launch.folder.path().join("inlay.key")
}

fn key(path: &Path) -> Vec<u8> {
    file::read(path).unwrap().unwrap().to_vec()
}

/// The former key files, which were renamed.
fn aside(launch: &Launch) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(launch.folder.path()).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_aside = |path: &PathBuf| path.to_string_lossy().contains("inlay.key.replaced-at-");
    paths.filter(is_aside).collect()
}

#[tokio::test]
async fn everything_works_as_before_under_the_new_key() {
    let launch = launch();
    let service = launch.start().await;
    let (tag, mut inlay) = service.bottle().await;
    let chip_tag = service.tag(json!({"name": "Chip"})).await;
    let uid = Uid::from_bytes([4, 1, 2, 3, 4, 5, 6]);
    let mut chip = VirtualNtag424::new(uid);
    let mut wish = json!({"uid": uid.to_string(), "tag_id": chip_tag.id, "own_keys": true});
    assert_eq!(lay(&service, &mut chip, &wish).await["state"], "verified");
    // An encoding in progress: its turn contains session keys.
    let open = json!({"uid": "04AABBCCDDEE01", "tag_id": tag.id, "additional": true});
    let open = service.admin_create("/encodings", open).await;
    let hook = json!({"url": "https://hooks.example/", "events": ["tap.verified"]});
    let hook = service.admin_create("/webhooks", hook).await;
    // A rotation needs a stopped service.
    let refused = rotate(&launch).await;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("in use"), "{refused:?}");
    service.terminate().await;

    let former = key(&key_file(&launch));
    let said = rotate(&launch).await.good();
    let [kept] = &aside(&launch)[..] else {
        panic!("the former key is kept once")
    };
    assert!(said.contains(&kept.display().to_string()), "{said}");
    assert_eq!(key(kept), former);
    assert_ne!(key(&key_file(&launch)), former);

    let service = launch.start().await;
    let tap = service.tap(&inlay.url(&tag)).await;
    assert_eq!(service.payload(tap.key()).await["tag_verified"], true);
    wish["replace"] = true.into();
    let turn = lay(&service, &mut chip, &wish).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    assert_eq!(chip.tally().refusals, 0);
    let path = format!("/encodings/{}/answers", open["id"]);
    let gone = json!({"seq": open["seq"], "answers": [], "fault": "removed"});
    let turn = service.admin(Method::POST, &path, gone).await.expect(200);
    assert_eq!(turn["state"], "interrupted", "{turn}");
    let rotated = format!("/webhooks/{}/secrets", hook["id"]);
    let rotated = service.admin(Method::POST, &rotated, Value::Null).await;
    assert!(rotated.status < 300, "{}", rotated.body);
    let audit = service.admin_get("/audit?action=keyring.rotate").await;
    assert_eq!(
        audit["items"][0]["actor"]["kind"], "command_line",
        "{audit}"
    );
    let checked = service.admin_get("/audit/check").await;
    assert_eq!(checked, json!({"problem": null}));
    service.terminate().await;

    // The former key no longer opens anything.
    let former = launch
        .clone()
        .env("TAPDESK_KEY_FILE", &kept.to_string_lossy());
    let service = former.start().await;
    assert!(service.launch().log().contains("inlay keys are locked"));
}

/// All secrets in a database file, as they are stored.
fn wrapped(launch: &Launch) -> Vec<Vec<u8>> {
    let database = Connection::open(launch.folder.path().join("tapdesk.db")).unwrap();
    let mut all = database
        .prepare("SELECT secret FROM webhooks UNION ALL SELECT file_key FROM inlays WHERE file_key IS NOT NULL")
        .unwrap();
    let all = all.query_map([], |row| row.get(0)).unwrap();
    all.map(Result::unwrap).collect()
}

#[tokio::test]
async fn no_page_of_a_file_keeps_what_the_former_key_wrapped() {
    let launch = launch();
    if launch.postgres.is_some() {
        // PostgreSQL manages its free space itself: VACUUM gives it to other rows.
        return;
    }
    let service = launch.start().await;
    service.bottle().await;
    let mut hooks = Vec::new();
    for number in 0..40 {
        let url = format!("https://hooks.example/{number}");
        let hook = json!({"url": url, "events": ["tap.verified"]});
        hooks.push(service.admin_create("/webhooks", hook).await["id"].clone());
    }
    let before = wrapped(&launch);
    assert!(before.len() > 40, "{}", before.len());
    for hook in &hooks[1..] {
        let path = format!("/webhooks/{hook}");
        let deleted = service.admin(Method::DELETE, &path, Value::Null).await;
        assert_eq!(deleted.status, 204, "{}", deleted.body);
    }
    service.terminate().await;
    let folder = launch.folder.path();
    let kept = |secret: &Vec<u8>| !files_containing(folder, secret).is_empty();
    // Deleted secrets are overwritten: only those of the remaining webhook and inlay are left.
    let left = before.iter().filter(|secret| kept(secret)).count();
    assert_eq!(left, 2);
    rotate(&launch).await.good();
    let left = before.iter().filter(|secret| kept(secret)).count();
    assert_eq!(left, 0);
    let service = launch.start().await;
    let found = service.admin_get("/webhooks").await;
    assert_eq!(found["items"].as_array().unwrap().len(), 1);
    service.terminate().await;
}

/// Number of inlays, so that a rotation takes long enough to be killed in the middle.
const INLAYS: u32 = 10_000;

/// Replaces all inlays of a database. The keys of the new ones are all stored as the same bytes.
async fn fill(launch: &Launch, wrapped: &[u8]) {
    let columns = "uid, technology, mac_from, meta_key, file_key, meta_key_print, file_key_print,
        factory_keys, simulated, created_at, updated_at";
    if let Some(database) = &launch.postgres {
        let sql = format!(
            "INSERT INTO inlays ({columns})
             SELECT decode(lpad(to_hex(n), 14, '0'), 'hex'), 'ntag424dna', 'none', $1, $1, '\\x00', '\\x00', FALSE, FALSE, 5, 5
             FROM generate_series(1, {INLAYS}) n"
        );
        let client = database.get().unwrap().look_into().await;
        client.batch_execute("DELETE FROM inlays").await.unwrap();
        client.execute(&sql, &[&wrapped]).await.unwrap();
    } else {
        let sql = format!(
            "INSERT INTO inlays ({columns})
             SELECT unhex(printf('%014X', value)), 'ntag424dna', 'none', ?1, ?1, x'00', x'00', 0, 0, 5, 5
             FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < {INLAYS})
                   SELECT value FROM n)"
        );
        let database = Connection::open(launch.database()).unwrap();
        database.execute_batch("DELETE FROM inlays").unwrap();
        database.execute(&sql, [wrapped]).unwrap();
    }
}

/// All keys of inlays, as they are stored.
async fn stored(launch: &Launch) -> Vec<Vec<u8>> {
    let sql = "SELECT meta_key FROM inlays UNION ALL SELECT file_key FROM inlays";
    if let Some(database) = &launch.postgres {
        let client = database.get().unwrap().look_into().await;
        let rows = client.query(sql, &[]).await.unwrap();
        return rows.iter().map(|row| row.get(0)).collect();
    }
    let database = Connection::open(launch.database()).unwrap();
    let mut rows = database.prepare(sql).unwrap();
    let rows = rows.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Begins a rotation of many inlays, and kills it as soon as a quarter has the new key. Returns
/// whether some inlays still have the former one.
async fn is_killed_in_the_middle(launch: &Launch) -> bool {
    let former = Keyring::open(&key(&key_file(launch)).try_into().unwrap());
    let wrapped = former.wrap(&[7; 16], &tapdesk_service::entropy::OsEntropy);
    let wrapped = wrapped.unwrap();
    fill(launch, &wrapped).await;
    let mut rotating = start(launch).await;
    let a_quarter = async {
        while rotating.try_wait().unwrap().is_none() {
            let done = stored(launch).await;
            let done = done.iter().filter(|key| **key != wrapped).count();
            if done > INLAYS as usize / 4 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let a_quarter = tokio::time::timeout(PATIENCE, a_quarter).await;
    a_quarter.expect("the rotation comes to a quarter in time");
    // It may have ended already.
    let _ = rotating.start_kill();
    rotating.wait().await.unwrap();
    stored(launch).await.contains(&wrapped)
}

#[tokio::test]
async fn a_rotation_that_is_killed_goes_on_and_no_service_starts_before() {
    let launch = launch();
    launch.start().await.terminate().await;
    if launch.postgres.is_none() {
        // The first inlay's key creates the key file.
        assert!(key_file(&launch).exists());
    }
    within_attempts(5, async || {
        if is_killed_in_the_middle(&launch).await {
            return Ok(());
        }
        // On a busy machine, it came to its end first, or another one brings it there.
        rotate(&launch).await.good();
        Err("not killed in the middle")
    })
    .await;
    let (status, said) = launch.start_in_vain().await;
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("rotate-key"), "{said}");
    let said = rotate(&launch).await.good();
    assert!(said.contains("goes on"), "{said}");
    let new = Keyring::open(&key(&key_file(&launch)).try_into().unwrap());
    let all = stored(&launch).await;
    assert_eq!(all.len(), 2 * INLAYS as usize);
    assert!(all.iter().all(|key| new.unwrap(key).is_ok()));
    launch.start().await.terminate().await;
}
