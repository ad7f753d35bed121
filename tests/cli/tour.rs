//! The tours in the documents, run exactly as written.

use tapdesk_tests::service::ADMIN_TOKEN;
use tokio::process::Command;

use super::{BINARY, launch, run_at};

const README: &str = include_str!("../../README.md");
const TOUR: &str = include_str!("../../service/docs/start/tour.md");

/// The first block of shell commands in a document.
fn block(document: &str) -> &str {
    let (_, rest) = document.split_once("```bash\n").expect("a block begins");
    let (block, _) = rest.split_once("```\n").expect("the block ends");
    block
}

/// All blocks of shell commands in a document, one after the other.
pub(super) fn blocks(document: &str) -> String {
    let blocks = document.split("```bash\n").skip(1);
    let blocks = blocks.filter_map(|rest| Some(rest.split_once("```\n")?.0));
    blocks.collect()
}

/// Runs commands of a document in a shell, and expects these outputs in order.
pub(super) async fn take(commands: &str, expected: &[&str]) {
    let service = launch().start().await;
    run_at(&service, &["demo"]).await.good();

    // The files of a clone that the tours use.
    let clone = service.folder();
    let data = clone.join("data");
    std::fs::create_dir_all(clone.join("target/debug")).unwrap();
    std::os::unix::fs::symlink(BINARY, clone.join("target/debug/tapdesk-service")).unwrap();
    std::os::unix::fs::symlink(clone, &data).unwrap();
    std::fs::write(data.join("admin.token"), ADMIN_TOKEN).unwrap();

    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c"])
        .arg(commands.replace("127.0.0.1:8787", service.authority()))
        .env("TAPDESK_URL", service.base())
        .current_dir(clone)
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    assert!(output.status.success(), "{output:?}");

    let mut said = std::str::from_utf8(&output.stdout).unwrap();
    for expected in expected {
        let (_, rest) = said
            .split_once(expected)
            .unwrap_or_else(|| panic!("{expected} does not follow: {output:?}"));
        said = rest;
    }
}

#[tokio::test]
async fn the_tour_in_the_readme_works_when_pasted_into_a_shell() {
    let expected = [
        "/t/demo-bottle?uid=",
        "/stand-in?for=",
        r#""tag_verified":true"#,
        r#"{"success": true, "message": "User Data updated"}"#,
    ];
    take(block(README), &expected).await;
    let lines = block(README).lines().count();
    assert!(lines <= 13, "the tour in the README has {lines} lines");
}

#[tokio::test]
async fn the_five_minute_tour_works_when_pasted_into_a_shell() {
    let expected = [
        "/t/demo-bottle?uid=",
        "/stand-in?for=",
        r#""tag_verified":true"#,
        r#"{"success": true, "message": "User Data updated"}"#,
        r#""tag_verified":false"#,
        r#""reason":"replayed""#,
        r#""slug":"bottle-41""#,
        "https://example.com/register?sn=A-1&rk=",
    ];
    take(block(TOUR), &expected).await;
}
