//! The systemd unit for operators, and its settings.

use std::process::{Command, Output};

use tapdesk_tests::Launch;

use super::BINARY;

const UNIT: &str = include_str!("../../service/deploy/tapdesk-service.service");
const SETTINGS: &str = include_str!("../../service/deploy/tapdesk-service.env");
const USERS: &str = include_str!("../../service/deploy/package/sysusers.conf");
const OPTIONS: &str = include_str!("../../service/docs/reference/options.md");

/// The values of a setting, in order.
fn values(setting: &str) -> Vec<&'static str> {
    let lines = UNIT.lines().map(|line| line.split_once('='));
    let found = lines.filter_map(|line| line.filter(|(name, _)| *name == setting));
    found.map(|(_, value)| value).collect()
}

/// The variables that the settings set, without those in comments.
fn variables() -> Vec<(&'static str, &'static str)> {
    let set = SETTINGS.lines().filter(|line| !line.starts_with('#'));
    set.filter_map(|line| line.split_once('=')).collect()
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
    let database = ("TAPDESK_DATABASE", "sqlite:/var/lib/tapdesk/tapdesk.db");
    assert_eq!(variables(), [database]);
    assert_eq!(
        values("EnvironmentFile"),
        ["/etc/tapdesk/tapdesk-service.env"]
    );
    let stops: u32 = values("TimeoutStopSec")[0].parse().unwrap();
    assert!(stops > 3 + 10, "the delay, and open requests");
}

#[test]
fn the_user_of_the_unit_is_the_one_that_packages_create() {
    let [user] = values("User")[..] else {
        panic!("one user");
    };
    assert!(USERS.contains(&format!("\nu {user} ")), "{USERS}");
}

#[test]
fn each_variable_in_the_settings_is_an_option_of_the_service() {
    let names = SETTINGS.split(['#', '=', '\n']);
    let names: Vec<_> = names.filter(|name| name.starts_with("TAPDESK_")).collect();
    assert!(names.len() > 5, "{names:?}");
    for name in names {
        assert!(OPTIONS.contains(&format!("`{name}`")), "{name}");
    }
}

/// systemd creates `/var/lib/tapdesk`; the service uses no other folder.
#[tokio::test]
async fn the_service_starts_on_sqlite_with_what_the_settings_set() {
    let mut launch = Launch::on_sqlite(BINARY);
    let state = launch.folder.path().join("state");
    std::fs::create_dir_all(&state).unwrap();
    let database = state.join("tapdesk.db");
    for (name, value) in variables() {
        let here = value.replace("/var/lib/tapdesk", &state.to_string_lossy());
        launch.environment.push((name.to_owned(), here));
    }
    launch.sqlite = Some(database.clone());
    let service = launch.start().await;
    let tag = service.redirecting_tag(serde_json::Value::Null).await;
    assert_eq!(service.tap(&tag.path()).await.status, 302);
    assert!(database.exists());
}

/// Output of `systemd-analyze` about the unit with a program and settings of this machine.
fn analyzed(arguments: &[&str]) -> Option<Output> {
    let folder = tempfile::tempdir().unwrap();
    let unit = folder.path().join("tapdesk-service.service");
    let here = UNIT
        .replace("/usr/bin/tapdesk-service", BINARY)
        .replace("/etc/tapdesk/", &format!("{}/", folder.path().display()));
    std::fs::write(&unit, here).unwrap();
    std::fs::write(folder.path().join("tapdesk-service.env"), SETTINGS).unwrap();
    let output = Command::new("systemd-analyze")
        .args(arguments)
        .arg(&unit)
        .output();
    output.ok()
}

#[test]
fn systemd_finds_nothing_wrong_with_the_unit() {
    let Some(verified) = analyzed(&["verify"]) else {
        return tapdesk_tests::skip("systemd is not installed");
    };
    let said = String::from_utf8_lossy(&verified.stderr);
    let about_it: Vec<_> = said
        .lines()
        .filter(|line| line.contains("tapdesk"))
        .collect();
    assert!(about_it.is_empty(), "{said}");
}

/// The exposure that systemd computes is below 2.0 of 10, which it calls "OK".
#[test]
fn the_unit_gives_the_service_little_room() {
    let Some(rated) = analyzed(&["security", "--offline=true", "--threshold=20", "--no-pager"])
    else {
        return tapdesk_tests::skip("systemd is not installed");
    };
    let said = String::from_utf8_lossy(&rated.stdout);
    assert!(said.contains("Overall exposure level"), "{said}");
    assert!(rated.status.success(), "{said}");
}
