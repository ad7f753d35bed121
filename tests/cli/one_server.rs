//! The way from the README to one public server, by the commands of the guides: from an unpacked
//! service to a verified tap by https, with a certificate of Pebble. The server is a copy of this
//! machine with a network of its own, so that ports 80 and 443 are free. Needs root.

use std::path::Path;
use std::process::Stdio;

use tapdesk_tests::{PATIENCE, skip};
use tokio::process::Command;

use super::BINARY;

const README: &str = include_str!("../../README.md");
const PACKAGES: &str = include_str!("../../service/docs/guides/packages.md");
const GUIDE: &str = include_str!("../../service/docs/guides/one-server.md");
const MACHINE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/cli/one_server/machine.sh"
);

/// The namespaces of the server.
const APART: [&str; 7] = [
    "--net",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
    "--propagation",
    "private",
];

/// The blocks of commands in a chapter of a guide.
fn blocks(guide: &'static str, chapter: &str) -> Vec<&'static str> {
    let (_, rest) = guide
        .split_once(&format!("\n## {chapter}\n"))
        .unwrap_or_else(|| panic!("there is no chapter \"{chapter}\""));
    let chapter = rest.split("\n## ").next().unwrap_or(rest);
    let blocks = chapter.split("```sh\n").skip(1);
    let blocks: Vec<_> = blocks
        .filter_map(|rest| Some(rest.split_once("```\n")?.0))
        .collect();
    assert!(!blocks.is_empty(), "{chapter}");
    blocks
}

/// Whether this machine allows a server in namespaces of its own, tried in `folder`.
async fn is_possible(folder: &Path) -> bool {
    const TRY: &str = r#"ip link set lo up && mount -t tmpfs try "$0" && cd "$0" && mkdir changes work root &&
        mount -t overlay -o lowerdir=/,upperdir=changes,workdir=work try root"#;
    let tried = Command::new("unshare")
        .args(APART)
        .args(["sh", "-c", TRY])
        .arg(folder)
        .output()
        .await;
    tried.is_ok_and(|tried| tried.status.success())
}

/// Runs all steps, and returns their output. `None` if this machine does not allow it.
async fn run_guides() -> Option<String> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    if !is_possible(folder.path()).await {
        skip("only root can have a server of its own, with mounts and a network");
        return None;
    }
    // The demo data stays for the visitor.
    let install = blocks(PACKAGES, "Without a package manager")[0].to_owned();
    let [resolve, serve, doctor, ..] = blocks(GUIDE, "2. With its own certificate")[..] else {
        panic!("the guide names the domain, starts the service, and asks the doctor");
    };
    let prove = blocks(GUIDE, "4. Prove the address")[0].to_owned();
    let (demo, removal) = blocks(PACKAGES, "Try it")[0]
        .trim_end()
        .rsplit_once('\n')
        .expect("several lines");
    assert!(removal.ends_with("demo --remove"), "{removal}");
    let steps = [
        ("install", install),
        ("serve", [resolve, serve, doctor].concat()),
        ("prove", prove),
        ("try", format!("{demo}\n")),
    ];
    for (name, commands) in steps {
        std::fs::write(folder.path().join(name), commands).expect("it can be written");
    }
    let mut run = Command::new("unshare");
    run.args(APART)
        .args(["bash", MACHINE])
        .arg(folder.path())
        .arg(BINARY)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    // A person has ten minutes for it.
    let run = tokio::time::timeout(PATIENCE, run.output()).await;
    let run = run.expect("it ends in time").expect("unshare is installed");
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    let complaints = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}\n{complaints}");
    Some(said)
}

#[test]
fn the_readme_leads_to_the_guide_for_one_server_and_this_one_to_the_packages() {
    assert!(README.contains("](service/docs/guides/one-server.md)"));
    assert!(GUIDE.contains("](packages.md#install)"));
}

#[tokio::test]
async fn the_guides_lead_from_an_unpacked_service_to_a_verified_tap_by_https() {
    let Some(said) = run_guides().await else {
        return;
    };
    let line = |begin: &str| {
        let mut lines = said.lines();
        let found = lines.find_map(|line| line.strip_prefix(begin));
        found.unwrap_or_else(|| panic!("no line begins with \"{begin}\": {said}"))
    };
    // curl of the guide saw a certificate of an authority that it trusts, and so does the doctor.
    assert!(said.contains(r#"{"status":"ready"}"#), "{said}");
    assert!(
        line("ok    Certificate  ").starts_with("the one for tags.example.com is valid until ")
    );
    // The disk of the server is memory, of which little may be free.
    let is_wrong = |line: &&str| line.starts_with("FAIL ") || line.starts_with("warn ");
    let mut wrong = said.lines().filter(is_wrong);
    assert!(wrong.all(|line| line[6..].starts_with("Disk")), "{said}");
    assert!(said.contains(r#""state":"proved""#), "{said}");
    assert!(
        said.contains("\n302 https://tags.example.com/stand-in?"),
        "{said}"
    );

    let url = line("URL ");
    assert!(
        url.starts_with("https://tags.example.com/t/demo-bottle?"),
        "{url}"
    );
    let tap = line("tap ");
    assert!(tap.starts_with("302 max-age=31536000 https://"), "{tap}");
    let payload = line("payload ");
    assert!(payload.contains(r#""tag_verified":true"#), "{payload}");
    let redirect = "308 https://tags.example.com/t/demo-bottle?a=1";
    assert_eq!(line("http "), redirect);
    assert_eq!(line("admin "), "404");
    // A user of its own, who may open ports below 1024 and nothing else.
    let process = line("process ");
    assert!(!process.contains("Uid: 0 "), "{process}");
    assert!(process.contains("CapEff: 0000000000000400"), "{process}");
}
