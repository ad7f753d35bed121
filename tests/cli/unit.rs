//! The systemd unit for operators.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use tapdesk_tests::Launch;

use super::BINARY;

const UNIT: &str = include_str!("../../service/deploy/tapdesk-service.service");

/// The values of a setting, in order.
fn values(setting: &str) -> Vec<&'static str> {
    let lines = UNIT.lines().map(|line| line.split_once('='));
    let found = lines.filter_map(|line| line.filter(|(name, _)| *name == setting));
    found.map(|(_, value)| value).collect()
}

#[test]
fn the_unit_has_a_folder_for_a_sqlite_database_and_time_to_end() {
    assert_eq!(values("StateDirectory"), ["tapdesk"]);
    assert_eq!(values("StateDirectoryMode"), ["0700"]);
    assert_eq!(
        values("ProtectSystem"),
        ["strict"],
        "nothing else is written"
    );
    let own = values("Environment");
    let settings = values("EnvironmentFile");
    assert!(own.contains(&"TAPDESK_DATABASE=sqlite:%S/tapdesk/tapdesk.db"));
    assert_eq!(settings.len(), 1, "it may name another database");
    let stops: u32 = values("TimeoutStopSec")[0].parse().unwrap();
    assert!(stops > 3 + 10, "the delay, and open requests");
}

/// `%S` and `%d` are folders that systemd creates; the service uses no others.
#[tokio::test]
async fn the_service_starts_on_sqlite_with_what_the_unit_sets() {
    let mut launch = Launch::on_sqlite(BINARY);
    let [state, credentials] = ["state", "credentials"].map(|name| launch.folder.path().join(name));
    for folder in [&state.join("tapdesk"), &credentials] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let key = credentials.join("inlay.key");
    std::fs::write(&key, "5a".repeat(32)).unwrap();
    std::fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    let set: BTreeMap<_, _> = values("Environment")
        .into_iter()
        .map(|set| {
            let set = set.replace("%S", &state.to_string_lossy());
            let set = set.replace("%d", &credentials.to_string_lossy());
            let (name, value) = set.split_once('=').expect("a variable");
            (name.to_owned(), value.to_owned())
        })
        .collect();
    let database = set["TAPDESK_DATABASE"].strip_prefix("sqlite:");
    launch.sqlite = Some(database.expect("a SQLite file").into());
    launch.environment.extend(set);
    let service = launch.start().await;
    let tag = service.redirecting_tag(serde_json::Value::Null).await;
    assert_eq!(service.tap(&tag.path()).await.status, 302);
    assert!(state.join("tapdesk/tapdesk.db").exists());
}

#[test]
fn systemd_finds_nothing_wrong_with_the_unit() {
    let folder = tempfile::tempdir().unwrap();
    let unit = folder.path().join("tapdesk-service.service");
    // Its program and its settings are not installed on this machine.
    let here = UNIT
        .replace("/usr/local/bin/tapdesk-service", BINARY)
        .replace("/etc/tapdesk/", &format!("{}/", folder.path().display()));
    std::fs::write(&unit, here).unwrap();
    std::fs::write(folder.path().join("tapdesk-service.env"), "").unwrap();
    let verified = Command::new("systemd-analyze")
        .arg("verify")
        .arg(&unit)
        .output();
    let Ok(verified) = verified else {
        return tapdesk_tests::skip("systemd is not installed");
    };
    let said = String::from_utf8_lossy(&verified.stderr);
    let about_it: Vec<_> = said
        .lines()
        .filter(|line| line.contains("tapdesk"))
        .collect();
    assert!(about_it.is_empty(), "{said}");
}
