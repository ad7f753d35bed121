//! Backups in a bucket: `backup`, the schedule, `restore` and the drill of `doctor`.

#[cfg(target_os = "linux")]
mod terminal;

use std::fs;
use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::moto::{SECRET, line, variables, with_buckets};
use tapdesk_tests::process::Launch;
use tapdesk_tests::{Moto, Receiver, ServiceProcess, free_port};

use super::{launch, run_with};
use crate::cli::Ran;

const PASSPHRASE: &str = "correct horse battery";

/// A launch in test mode, whose buckets are on the server at `port`.
fn launch_at(port: u16) -> Launch {
    let launch = launch().env("TAPDESK_TEST_CLOCK", "1");
    with_buckets(launch.env("TAPDESK_PRIVATE_WEBHOOKS", "1"), port)
}

async fn set(service: &ServiceProcess, destination: &str) -> tapdesk_tests::Answer {
    let schedule = json!({
        "destination": destination, "every_hours": 8760, "keep": 2, "passphrase": PASSPHRASE,
    });
    let set = service.admin(Method::PUT, "/backup/schedule", schedule);
    set.await
}

/// Makes the scheduled backup, a second after the last.
async fn run(service: &ServiceProcess) -> Value {
    let second = json!({"advance_ms": 1_000});
    let advanced = service.admin(Method::POST, "/clock", second);
    advanced.await.expect(200);
    let run = service.admin(Method::POST, "/backup/schedule/run", Value::Null);
    run.await.expect(200)
}

/// Runs a command for the database `of`, with buckets on the server at `port`.
async fn command(of: &Path, port: u16, more: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let variables = variables(port);
    let own = variables.iter().map(|(name, value)| (&**name, &**value));
    let environment: Vec<_> = own.chain(more.iter().copied()).collect();
    run_with(of, &environment, arguments).await
}

/// Files of checks and drills that were left in a folder.
fn left_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(".tapdesk")).collect()
}

#[tokio::test]
async fn a_backup_in_a_bucket_is_kept_drilled_and_restored() {
    let moto = Moto::start().await;
    moto.write("backups/shop/notes.txt", b"of another program".to_vec())
        .await;
    let service = launch_at(moto.port).start().await;
    let (tag, _) = service.bottle().await;
    set(&service, "s3://backups/shop").await.expect(200);
    let mut made = Vec::new();
    for _ in 0..3 {
        let schedule = run(&service).await;
        assert_eq!(schedule["last"]["ok"], true, "{schedule}");
        let file = schedule["last"]["file"].as_str().unwrap();
        made.push(format!("shop/{file}"));
    }
    let kept = [made[1].as_str(), made[2].as_str()];
    assert_eq!(
        moto.names().await,
        ["shop/notes.txt", kept[0], kept[1]],
        "the oldest was removed, and nothing else"
    );
    let stored = moto.read(&format!("backups/{}", kept[1])).await;
    assert!(stored.starts_with(b"SQLite format 3"));
    // The key that wraps inlay keys leaves the machine only sealed.
    let file = service.folder().join("inlay.key");
    let key = tapdesk_service::keyring::file::read(&file)
        .unwrap()
        .unwrap();
    let as_text = tapdesk_tests::fixtures::hex(&*key);
    for secret in [
        &key[..],
        as_text.as_bytes(),
        as_text.to_lowercase().as_bytes(),
    ] {
        assert!(!stored.windows(secret.len()).any(|bytes| bytes == secret));
    }

    // The drill does not change the database, which the service still uses.
    let database = service.launch().database();
    let more = [
        ("TAPDESK_URL", service.base()),
        ("TAPDESK_ADMIN_TOKEN", service.admin_token()),
        ("TAPDESK_PASSPHRASE", PASSPHRASE),
    ];
    let doctor = ["doctor", "--restore-drill"];
    let report = command(&database, moto.port, &more, &doctor).await.good();
    assert!(
        report.contains("2 objects in s3://backups/shop"),
        "{report}"
    );
    for words in [
        "ok    Restore drill",
        "1 tag and 0 interactions. The database has 1 tag and 0 interactions now",
        "The audit log of the backup is whole",
        "The passphrase opens its key.",
    ] {
        assert!(report.contains(words), "{words}: {report}");
    }
    let other = [
        &more[..2],
        &[("TAPDESK_PASSPHRASE", "battery horse correct")],
    ]
    .concat();
    let report = command(&database, moto.port, &other, &doctor).await;
    assert!(
        report
            .stdout
            .contains("FAIL  Restore drill Wrong passphrase"),
        "{report:?}"
    );
    // A backup by hand has its own place, and no schedule removes it.
    let by_hand = ["backup", "s3://backups/hand"];
    let said = command(&database, moto.port, &more, &by_hand).await.good();
    assert!(said.starts_with("s3://backups/hand/tapdesk-"), "{said}");
    assert!(said.contains("It contains the key"), "{said}");
    assert_eq!(left_in(service.folder()), Vec::<String>::new());
    assert!(!service.launch().log().contains(SECRET));

    let other = launch();
    let list = ["restore", "s3://backups/shop", "--list"];
    let said = command(&other.database(), moto.port, &[], &list).await;
    let lines: Vec<String> = said.good().lines().map(ToOwned::to_owned).collect();
    let begins =
        |line: usize, name: &str| lines[line].starts_with(&format!("s3://backups/{name} "));
    assert!(
        lines.len() == 2 && begins(0, kept[1]) && begins(1, kept[0]),
        "{lines:?}"
    );
    let restore = ["restore", "s3://backups/shop"];
    let passphrase = [("TAPDESK_PASSPHRASE", PASSPHRASE)];
    let said = command(&other.database(), moto.port, &passphrase, &restore).await;
    assert!(said.good().contains(": 1 tag, "));
    assert_eq!(left_in(other.folder.path()), Vec::<String>::new());
    let restored = other.start().await;
    let name = restored.admin_get(&tag.admin_path()).await["name"].clone();
    assert_eq!(name, "Bottle 41");
}

#[tokio::test]
async fn a_damaged_or_missing_object_is_named_and_not_restored() {
    let moto = Moto::start().await;
    let service = launch_at(moto.port).start().await;
    set(&service, "s3://backups").await.expect(200);
    let first = run(&service).await["last"]["file"].clone();
    let second = run(&service).await["last"]["file"].clone();
    let (first, second) = (first.as_str().unwrap(), second.as_str().unwrap());
    let path = format!("backups/{second}");
    let whole = moto.read(&path).await;
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    let database = service.launch().database();
    let more = [
        ("TAPDESK_URL", service.base()),
        ("TAPDESK_ADMIN_TOKEN", service.admin_token()),
    ];
    let doctor = ["doctor", "--restore-drill"];
    for wrong in [whole[..whole.len() - 5].to_vec(), flipped] {
        moto.write(&path, wrong).await;
        let report = command(&database, moto.port, &more, &doctor).await;
        let drill = report.stdout.lines().find(|line| line.contains("drill"));
        assert!(
            report.stdout.contains("FAIL  Restore drill") && report.stdout.contains("is damaged"),
            "{drill:?}"
        );
        let other = launch();
        let one = format!("s3://{path}");
        let restore = ["restore", &*one, "--without-key"];
        let said = command(&other.database(), moto.port, &[], &restore).await;
        assert!(said.refused().contains("is damaged"));
        assert!(!other.database().exists());
        // The one before it is not affected.
        let one = format!("s3://backups/{first}");
        let restore = ["restore", &*one, "--without-key"];
        command(&other.database(), moto.port, &[], &restore)
            .await
            .good();
    }
    moto.request(Method::DELETE, &path).send().await.unwrap();
    let report = command(&database, moto.port, &more, &doctor).await;
    let lacks = format!("s3://backups lacks {second}");
    assert!(report.stdout.contains(&lacks), "{report:?}");
}

#[tokio::test]
async fn an_upload_that_is_cut_leaves_no_object_and_the_next_one_is_good() {
    let moto = Moto::start().await;
    let port = free_port();
    let cut = line(port, moto.port, 100_000).await;
    let service = launch_at(port).start().await;
    let receiver = Receiver::start().await;
    let hook = json!({"url": receiver.url(), "events": ["alert.backup_failed"]});
    service.admin_create("/webhooks", hook).await;
    set(&service, "s3://backups/shop").await.expect(200);
    let failed = run(&service).await;
    cut.await.unwrap();
    assert_eq!(failed["last"]["ok"], false, "{failed}");
    let why = failed["last"]["error"].as_str().unwrap();
    assert!(
        why.starts_with("127.0.0.1 cannot be used for s3://backups/shop: "),
        "{why}"
    );
    assert_eq!(moto.names().await, Vec::<String>::new());
    let raised = receiver.wait_for(1).await[0].json();
    assert_eq!(raised["type"], "alert.backup_failed");
    let metrics = service.metrics().await;
    assert!(metrics.contains("\ntapdesk_backup_good 0\n"), "{metrics}");

    // The server is there again.
    let again = line(port, moto.port, usize::MAX).await;
    let made = run(&service).await;
    assert_eq!(made["last"]["ok"], true, "{made}");
    assert_eq!(moto.names().await.len(), 1);
    assert_eq!(left_in(service.folder()), Vec::<String>::new());
    again.abort();
}

#[tokio::test]
async fn a_bucket_that_cannot_be_used_is_refused_with_the_way_out() {
    let moto = Moto::start().await;
    let service = launch_at(moto.port).start().await;
    let refused = async |destination: &str| {
        let problem = set(&service, destination).await.expect(422);
        assert_eq!(problem["errors"][0]["field"], "destination", "{problem}");
        problem["errors"][0]["message"]
            .as_str()
            .expect("a message")
            .to_owned()
    };
    let why = refused("s3://missing/shop").await;
    assert!(why.contains("has no bucket missing. Create it"), "{why}");
    assert!(
        refused("s3://backups/../shop")
            .await
            .contains("A path in a bucket")
    );
    let database = service.launch().database();
    let restore = ["restore", "s3://backups", "--replace"];
    let said = command(&database, moto.port, &[], &restore).await.refused();
    assert_eq!(said, "There is no backup in s3://backups.");
    moto.refuse_keys().await;
    let why = refused("s3://backups/shop").await;
    assert!(
        why.contains("refuses the access key") && why.contains("AWS_SECRET_ACCESS_KEY"),
        "{why}"
    );
    assert!(!why.contains("AKIATAPDESK"), "{why}");
    let list = ["restore", "s3://backups", "--list"];
    let said = command(&database, moto.port, &[], &list).await.refused();
    assert!(said.contains("refuses the access key"), "{said}");
    // Data of visitors go to no other machine in clear.
    let clear = [("AWS_ENDPOINT_URL", "http://192.0.2.1:9000")];
    let said = command(&database, moto.port, &clear, &list).await.refused();
    assert!(said.contains("do not go to 192.0.2.1 in clear"), "{said}");
    let none = [("AWS_SECRET_ACCESS_KEY", "")];
    let said = command(&database, moto.port, &none, &list).await.refused();
    assert!(
        said.contains("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
        "{said}"
    );
}
