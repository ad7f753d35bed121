//! Commands with a bucket that ask a person at a terminal.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use tapdesk_tests::moto::variables;
use tapdesk_tests::{Moto, PATIENCE};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use super::{PASSPHRASE, launch_at, left_in, run, set};
use crate::cli::BINARY;

/// Runs a command for the database `of` at a terminal, where a person types `typed`. Returns all that
/// the terminal shows.
async fn at_terminal(
    of: &Path,
    port: u16,
    more: &[(&str, &str)],
    arguments: &str,
    typed: &str,
) -> String {
    let mut command = Command::new("script");
    command
        .args(["--quiet", "--return", "--command"])
        .arg(format!("'{BINARY}' {arguments}"))
        .arg("/dev/null")
        .env("TAPDESK_DATABASE", format!("sqlite:{}", of.display()))
        .envs(variables(port))
        .envs(more.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn().expect("script can be started");
    // It stays open until the command has ended.
    let mut keyboard = child.stdin.take().expect("it is piped");
    let keys = keyboard.write_all(typed.as_bytes()).await;
    keys.expect("the terminal reads keys");
    let output = tokio::time::timeout(PATIENCE, child.wait_with_output());
    let output = output.await.expect("the command ends in time");
    let output = output.expect("it is a child of this process");
    drop(keyboard);
    String::from_utf8(output.stdout).expect("it speaks in text")
}

#[tokio::test]
async fn the_drill_asks_for_another_passphrase_and_keeps_the_download() {
    let moto = Moto::start().await;
    let service = launch_at(moto.port).start().await;
    set(&service, "s3://backups/shop").await.expect(200);
    assert_eq!(run(&service).await["last"]["ok"], true);
    let right = service.folder().join("passphrase");
    fs::write(&right, PASSPHRASE).unwrap();
    let wrong = [
        ("TAPDESK_URL", service.base()),
        ("TAPDESK_ADMIN_TOKEN", service.admin_token()),
        ("TAPDESK_PASSPHRASE", "battery horse correct"),
    ];
    let database = service.launch().database();
    let typed = format!("{}\n", right.display());
    let drill = "doctor --restore-drill";
    let shown = at_terminal(&database, moto.port, &wrong, drill, &typed).await;
    for words in [
        "Wrong passphrase for this backup.",
        "The downloaded backup is kept until this command ends.",
        "ok    Restore drill",
        "The passphrase opens its key.",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert_eq!(left_in(service.folder()), Vec::<String>::new());
}
