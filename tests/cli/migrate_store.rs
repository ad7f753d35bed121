//! `migrate-store`: a database moves from SQLite to PostgreSQL, and back.

mod content;
mod refusals;
mod unfolded;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use tapdesk_service::clock::{Clock as _, SystemClock};
use tapdesk_service::storage::catalogue::moved;
use tapdesk_tests::length::length;
use tapdesk_tests::{ServiceProcess, TestDatabase, within_attempts};
use tokio::process::{Child, Command};

use super::{BINARY, Ran, launch};
use content::{assert_same, content, counts, fill};

/// Starts a move in a process of its own.
fn start(from: &str, to: &str) -> Child {
    Command::new(BINARY)
        .args(["migrate-store", "--from", from, "--to", to])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

/// Time limit of a move.
fn patience() -> Duration {
    length(Duration::from_mins(3), Duration::from_mins(90))
}

/// Runs a move to its end, from the beginning or from the last mark.
async fn migrate(from: &str, to: &str) -> Ran {
    let output = tokio::time::timeout(patience(), start(from, to).wait_with_output());
    let output = output.await.expect("the move ends in time").unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn sqlite(path: &Path) -> String {
    format!("sqlite:{}", path.display())
}

/// A database that a service created and no longer uses.
async fn made() -> tapdesk_tests::process::Launch {
    let launch = launch();
    launch.start().await.terminate().await;
    launch
}

/// The mark of a move in the database at `path`.
fn mark_in_file(path: &Path) -> Option<String> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let database = Connection::open_with_flags(path, flags).ok()?;
    let mark = "SELECT value FROM settings WHERE name = 'move'";
    database.query_row(mark, [], |row| row.get(0)).ok()
}

async fn mark_in(database: &tokio_postgres::Client) -> Option<String> {
    let mark = "SELECT value FROM settings WHERE name = 'move'";
    let row = database.query_opt(mark, &[]).await.ok()??;
    Some(row.get(0))
}

/// Whether a third of the interactions has been copied, and everything before them.
fn is_half_way(mark: Option<String>, interactions: u32) -> bool {
    let mark = mark.unwrap_or_default();
    let mark: serde_json::Value = serde_json::from_str(&mark).unwrap_or_default();
    let progress = &mark["progress"]["copying"];
    let after = progress["after"].as_str().unwrap_or_default();
    progress["table"] == "interactions" && after.parse().is_ok_and(|id: u32| id > interactions / 3)
}

/// Kills a move as soon as its mark has got `far` enough. Returns `false` if the move came to its
/// end before.
async fn kill_when<F: Future<Output = bool>>(
    mut moving: Child,
    mut far: impl FnMut() -> F,
) -> bool {
    let reached = async {
        while moving.try_wait().unwrap().is_none() && !far().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let reached = tokio::time::timeout(patience(), reached).await;
    reached.expect("the move comes half way in time");
    let _ = moving.start_kill();
    let ended = moving.wait().await.unwrap();
    ended.code().is_none() && far().await
}

#[tokio::test]
async fn a_move_that_is_killed_half_way_goes_on_and_what_comes_back_is_what_went() {
    // On a busy machine, one of the moves may end before it is killed.
    within_attempts(5, there_and_back_killed_half_way).await;
}

/// Moves a database there and back, and kills each move half way. `Err` is the move that came to its
/// end before.
async fn there_and_back_killed_half_way() -> Result<(), &'static str> {
    let launch = made().await;
    let (tags, interactions) = (length(10_000, 1_000_000), length(50_000, 5_000_000));
    let now = SystemClock::start().now().millis();
    fill(&launch.database(), tags, interactions, now);
    let before = counts(&launch.database());
    for table in moved() {
        assert!(before[table.name] > 0, "{} has no rows to move", table.name);
    }
    let from = sqlite(&launch.database());
    let database = TestDatabase::create().await;

    let looking = database.look_into().await;
    let killed = kill_when(start(&from, &database.url()), || async {
        is_half_way(mark_in(&looking).await, interactions)
    });
    if !killed.await {
        return Err("there");
    }
    let part = launch.clone().on(&database);
    let (status, said) = part.start_in_vain().await;
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("is on the move"), "{said}");
    let said = migrate(&from, &database.url()).await.good();
    assert!(said.contains("copying continues: "), "{said}");
    assert!(said.contains("rows/s"), "{said}");
    let rows: u64 = moved().map(|table| before[table.name]).sum();
    assert!(said.contains(&format!("Moved {rows} rows.")), "{said}");
    assert!(said.contains("--key-file"), "{said}");
    for table in moved().filter(|table| table.merged.is_none()) {
        let here = format!("SELECT count(*) FROM {}", table.name);
        let here: i64 = looking.query_one(&here, &[]).await.unwrap().get(0);
        // The mark of the move, and its row in the audit log.
        let more = i64::from(["settings", "audit"].contains(&table.name));
        let there = i64::try_from(before[table.name]).unwrap();
        assert_eq!(here - more, there, "{}", table.name);
    }
    let said = migrate(&from, &database.url()).await.good();
    assert!(said.contains("was completed at"), "{said}");

    let back = launch.folder.path().join("back.db");
    let killed = kill_when(start(&database.url(), &sqlite(&back)), || async {
        is_half_way(mark_in_file(&back), interactions)
    });
    if !killed.await {
        return Err("back");
    }
    let said = super::run(&back, &["serve", "--listen", "127.0.0.1:0"])
        .await
        .refused();
    assert!(said.contains("was not finished"), "{said}");
    let said = migrate(&database.url(), &sqlite(&back)).await.good();
    let rows = rows + 1;
    assert!(said.contains(&format!("Moved {rows} rows.")), "{said}");
    assert_same(&launch.database(), &back);
    Ok(())
}

#[tokio::test]
async fn a_move_may_be_killed_anywhere_and_often() {
    let launch = made().await;
    let now = SystemClock::start().now().millis();
    fill(&launch.database(), 500, 6_000, now);
    let before = content(&launch.database());
    let database = TestDatabase::create().await;
    let back = launch.folder.path().join("back.db");
    for (from, to) in [
        (sqlite(&launch.database()), database.url()),
        (database.url(), sqlite(&back)),
    ] {
        let mut lifetime = Duration::ZERO;
        loop {
            let mut moving = start(&from, &to);
            if tokio::time::timeout(lifetime, moving.wait()).await.is_ok() {
                let ended = moving.wait_with_output().await.unwrap();
                assert!(ended.status.success(), "{ended:?}");
                break;
            }
            moving.kill().await.unwrap();
            lifetime += length(Duration::from_millis(60), Duration::from_millis(10));
        }
    }
    assert_eq!(content(&launch.database()), before, "it is only read");
    assert_eq!(content(&back), before);
}

#[tokio::test]
async fn a_service_goes_on_where_the_other_one_ended() {
    let service = launch().start().await;
    let launch = service.launch().clone();
    let (tag, mut inlay) = service.bottle().await;
    let accepted = inlay.url(&tag);
    let first = service.tap(&accepted).await;
    let other = service.tap(&inlay.url(&tag)).await;
    assert_eq!(service.payload(first.key()).await["tag_verified"], true);
    let newest = service.admin_get("/interactions?limit=1").await["items"][0]["id"].clone();
    let set = service.admin_patch("/settings", json!({"app_id": 7})).await;
    assert_eq!(set["app_id"]["value"], 7);
    service.terminate().await;
    let database = TestDatabase::create().await;
    migrate(&sqlite(&launch.database()), &database.url())
        .await
        .good();

    // The key file next to the old database is the right one.
    let key = launch.folder.path().join("inlay.key");
    let node = launch.clone().on(&database);
    let node = node.env("TAPDESK_KEY_FILE", key.to_str().unwrap());
    let service = node.start().await;
    says_that_it_was_moved(&service, 1).await;
    let updated = service
        .update(first.key(), json!({"registered": "moved"}))
        .await;
    assert_eq!(updated.status, 200, "{}", updated.body);
    assert_eq!(
        service.variable(&tag, "registered").await.as_deref(),
        Some("moved")
    );
    assert_eq!(service.payload(other.key()).await["app_id"], 7);
    let replayed = service.tap(&accepted).await;
    let payload = service.payload(replayed.key()).await;
    assert_eq!(payload["tag_verified"], false, "{payload}");
    let next = service.tap(&inlay.url(&tag)).await;
    assert_eq!(service.payload(next.key()).await["tag_verified"], true);
    let found = service.admin_get("/tags?q=ottle").await;
    assert_eq!(found["items"].as_array().unwrap().len(), 1, "{found}");
    // The history is complete: a period contains the moved interactions.
    for filter in [
        "",
        "&since=2020-01-01T00:00:00Z",
        &format!("&tag_id={}", tag.id),
    ] {
        let history = service
            .admin_get(&format!("/interactions?limit=10{filter}"))
            .await;
        let items = history["items"].as_array().unwrap();
        assert_eq!(items.len(), 4, "{filter}: {history}");
        assert_eq!(items[2]["id"], newest, "{filter}");
    }
    let second = service.redirecting_tag(json!({"name": "Second"})).await;
    assert_eq!(second.id, tag.id + 1);
    let taken = service.tap(&second.path()).await;
    service.terminate().await;

    let home = super::launch();
    migrate(&database.url(), &sqlite(&home.database()))
        .await
        .good();
    std::fs::copy(&key, home.folder.path().join("inlay.key")).unwrap();
    let service = home.start().await;
    says_that_it_was_moved(&service, 2).await;
    let updated = service
        .update(taken.key(), json!({"registered": "back"}))
        .await;
    assert_eq!(updated.status, 200, "{}", updated.body);
    let again = service
        .update(first.key(), json!({"registered": "again"}))
        .await;
    assert_eq!(again.status, 400, "it is consumed: {}", again.body);
    let replayed = service.tap(&accepted).await;
    assert_eq!(service.payload(replayed.key()).await["tag_verified"], false);
    let next = service.tap(&inlay.url(&tag)).await;
    assert_eq!(service.payload(next.key()).await["tag_verified"], true);
    let found = service.admin_get("/tags?q=second").await;
    assert_eq!(found["items"].as_array().unwrap().len(), 1, "{found}");
    service.terminate().await;

    // SQLite's ids continue on PostgreSQL once more.
    let database = TestDatabase::create().await;
    migrate(&sqlite(&home.database()), &database.url())
        .await
        .good();
    let node = home.clone().on(&database);
    let service = node.env("TAPDESK_KEY_FILE", key.to_str().unwrap());
    let service = service.start().await;
    let next = service.tap(&inlay.url(&tag)).await;
    assert_eq!(service.payload(next.key()).await["tag_verified"], true);
    let history = service
        .admin_get("/interactions?limit=10&since=2020-01-01T00:00:00Z")
        .await;
    let count = history["items"].as_array().unwrap().len();
    assert_eq!(count, 8, "{history}");
}

/// The newest row of the audit log is the move, the log has `times` such rows, and it is intact.
async fn says_that_it_was_moved(service: &ServiceProcess, times: usize) {
    let log = service.admin_get("/audit?action=database.move").await;
    let moves = log["items"].as_array().unwrap();
    assert_eq!(moves.len(), times, "{log}");
    let newest = service.admin_get("/audit?limit=1").await["items"][0].clone();
    assert_eq!(newest, moves[0]);
    assert_eq!(newest["actor"]["kind"], "command_line", "{newest}");
    for member in ["from", "to"] {
        assert!(newest["after"][member].is_string(), "{newest}");
    }
    assert!(newest["after"]["rows"].as_u64() > Some(0), "{newest}");
    let check = service.admin_get("/audit/check").await;
    assert_eq!(check["problem"], Value::Null, "{check}");
}

/// Two services on one history would each accept codes that the other has accepted.
#[tokio::test]
async fn what_was_moved_is_marked_and_served_no_more() {
    let launch = made().await;
    let from = sqlite(&launch.database());
    let database = TestDatabase::create().await;
    migrate(&from, &database.url()).await.good();

    let (status, said) = launch.start_in_vain().await;
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("was moved to"), "{said}");
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let said = super::run(&launch.database(), &serve).await.refused();
    assert!(said.contains("restore"), "the way back: {said}");
    let other = TestDatabase::create().await;
    let said = migrate(&from, &other.url()).await.refused();
    assert!(said.contains("was moved to"), "{said}");
    let said = migrate(&from, &database.url()).await.good();
    assert!(said.contains("was completed at"), "{said}");

    // This is true of a PostgreSQL database, too; a database that is moved back is served.
    let back = launch.folder.path().join("back.db");
    migrate(&database.url(), &sqlite(&back)).await.good();
    let (status, said) = launch.clone().on(&database).start_in_vain().await;
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("was moved to"), "{said}");
    let said = migrate(&database.url(), &from).await.refused();
    assert!(said.contains("is not empty"), "{said}");
    let home = super::launch();
    std::fs::copy(&back, home.database()).unwrap();
    home.start().await.terminate().await;

    // To use the old state anyway, restore it from a backup.
    let old = super::launch();
    let restore = ["restore", launch.database().to_str().unwrap()].map(str::to_owned);
    let restore = [restore[0].as_str(), restore[1].as_str()];
    super::run(&old.database(), &restore).await.good();
    old.start().await;
}

fn file(launch: &tapdesk_tests::process::Launch, name: &str) -> PathBuf {
    launch.folder.path().join(name)
}
