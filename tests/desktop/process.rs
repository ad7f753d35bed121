//! The program on a machine without a display.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use tapdesk_tests::virtual_reader::SOCKET;
use tapdesk_tests::{Client, Pcscd, base_port};
use tempfile::TempDir;

/// The program with a home folder, and nothing else of a session.
fn program(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tapdesk"));
    command.env_clear().env("HOME", home);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A home folder whose preferences have a free port as the last one.
fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join(".config/tapdesk");
    std::fs::create_dir_all(&config).unwrap();
    let preferences = json!({"last_port": base_port()}).to_string();
    std::fs::write(config.join("desktop.json"), preferences).unwrap();
    home
}

/// The output up to the line with the address, and the address.
pub(crate) fn address(child: &mut Child) -> (String, String) {
    let mut said = String::new();
    for line in BufReader::new(child.stdout.as_mut().unwrap()).lines() {
        let line = line.unwrap();
        if let Some(address) = line.strip_prefix("listening on ") {
            return (said, address.to_owned());
        }
        said += &line;
    }
    let mut why = String::new();
    child
        .stderr
        .as_mut()
        .unwrap()
        .read_to_string(&mut why)
        .unwrap();
    panic!("it did not start: {why}");
}

pub(crate) fn end(mut child: Child) {
    let signal = Command::new("kill").arg(child.id().to_string()).status();
    assert!(signal.unwrap().success());
    assert!(child.wait().unwrap().success(), "SIGTERM is a good end");
}

#[tokio::test]
async fn without_a_display_it_says_so_and_serves_the_same_data() {
    let home = home();
    let mut child = program(home.path()).spawn().unwrap();
    let (said, address) = address(&mut child);
    let database = home.path().join(".local/share/tapdesk/tapdesk.db");
    assert!(said.contains("no display"), "{said}");
    assert!(said.contains(&database.display().to_string()), "{said}");
    let token = std::fs::read_to_string(database.with_file_name("admin.token")).unwrap();
    let client = Client::new(address, token.trim());
    assert_eq!(
        client.admin_get("/tags").await["items"],
        serde_json::json!([])
    );
    end(child);
    assert!(
        !database.with_file_name("tapdesk.db-wal").exists(),
        "closed well"
    );
}

#[test]
fn a_display_that_cannot_be_reached_is_none() {
    let home = home();
    let mut command = program(home.path());
    let mut child = command.env("DISPLAY", ":4095").spawn().unwrap();
    let (said, _) = address(&mut child);
    assert!(said.contains("no display"), "{said}");
    end(child);
}

#[test]
fn a_kiosk_without_a_display_ends_so_that_it_can_be_started_again() {
    let home = home();
    let ended = program(home.path()).arg("--kiosk").output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.contains("no display"), "{said}");
}

#[test]
fn what_keeps_it_from_starting_is_one_sentence() {
    let home = home();
    let mut owner = program(home.path()).spawn().unwrap();
    address(&mut owner);
    let second = program(home.path()).output().unwrap();
    assert!(!second.status.success());
    let said = String::from_utf8(second.stderr).unwrap();
    assert_eq!(
        said,
        "tapdesk: The database is in use by another Tapdesk. Close it, then try again.\n"
    );
    end(owner);
}

#[tokio::test]
async fn a_port_that_chips_lead_to_is_not_left_for_another() {
    let home = home();
    let mut child = program(home.path()).spawn().unwrap();
    let (_, first) = address(&mut child);
    let data = home.path().join(".local/share/tapdesk");
    let token = std::fs::read_to_string(data.join("admin.token")).unwrap();
    let client = Client::new(first.clone(), token.trim());
    let tag = client
        .admin_create("/tags", json!({"name": "Bottle 41"}))
        .await;
    let chip = json!({"uid": "04A1B2C3D4E580", "technology": "ntag213", "tag_id": tag["id"]});
    end(child);

    // Nothing leads to this port yet.
    let (_, port) = first.rsplit_once(':').unwrap();
    let other = TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    let mut child = program(home.path()).spawn().unwrap();
    let (_, second) = address(&mut child);
    assert_ne!(first, second);
    let client = Client::new(second.clone(), token.trim());
    client.admin_create("/inlays", chip).await;
    end(child);
    drop(other);

    let (_, port) = second.rsplit_once(':').unwrap();
    let _other = TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    let refused = program(home.path()).output().unwrap();
    assert!(!refused.status.success());
    let said = String::from_utf8(refused.stderr).unwrap();
    let words = format!(
        "tapdesk: Port {port} is used by another program. 1 chip leads to port {port}. \
         Close the other program and try again.\n"
    );
    assert_eq!(said, words);
}

#[test]
fn a_session_bus_that_never_answers_does_not_keep_it_from_starting() {
    let home = home();
    let socket = home.path().join("bus");
    let _silent = UnixListener::bind(&socket).unwrap();
    let bus = format!("unix:path={}", socket.display());
    let mut command = program(home.path());
    let mut child = command
        .env("DBUS_SESSION_BUS_ADDRESS", bus)
        .spawn()
        .unwrap();
    address(&mut child);
    let key = home.path().join(".local/share/tapdesk/inlay.key");
    assert!(key.exists(), "the key is in a file");
    end(child);
}

#[test]
fn what_only_asks_starts_no_service_on_the_users_data() {
    for (argument, status, words) in [
        ("--help", Some(0), "--kiosk"),
        ("-h", Some(0), "TAPDESK_DATABASE"),
        ("--version", Some(0), env!("CARGO_PKG_VERSION")),
        ("--kisok", Some(2), "--kisok"),
        ("serve", Some(2), "serve"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let output = program(home.path()).arg(argument).output().unwrap();
        assert_eq!(output.status.code(), status, "{argument}");
        let said = [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap());
        assert!(said.concat().contains(words), "{argument}: {said:?}");
        let left = std::fs::read_dir(home.path()).unwrap().count();
        assert_eq!(left, 0, "{argument} made something");
    }
}

#[tokio::test]
async fn it_listens_where_the_environment_says_and_keeps_the_port_for_no_other_start() {
    let home = home();
    let preferences = home.path().join(".config/tapdesk/desktop.json");
    let before = std::fs::read_to_string(&preferences).unwrap();
    let mut command = program(home.path());
    let mut child = command
        .env("TAPDESK_LISTEN", "127.0.0.2:0")
        .spawn()
        .unwrap();
    let (_, address) = address(&mut child);
    assert!(address.starts_with("http://127.0.0.2:"), "{address}");
    let client = Client::new(address, "");
    let health = client.get("/health").send().await.unwrap();
    assert!(health.status().is_success());
    end(child);
    let kept = std::fs::read_to_string(&preferences).unwrap();
    assert_eq!(kept, before, "its choices are as they were");
}

#[test]
fn an_address_of_the_environment_that_is_none_or_taken_is_said() {
    let home = home();
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().to_string();
    for (listen, words) in [
        ("somewhere", "TAPDESK_LISTEN"),
        (taken.as_str(), "Name another one there"),
    ] {
        let mut command = program(home.path());
        let output = command.env("TAPDESK_LISTEN", listen).output().unwrap();
        assert!(!output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        let said = said.replace("--listen", "TAPDESK_LISTEN");
        assert!(said.contains(words), "{said}");
    }
}

/// The output of `tapdesk --doctor`, and whether it found no problem.
fn doctor(socket: &Path) -> (String, bool) {
    let home = home();
    let mut command = program(home.path());
    command.arg("--doctor").env(SOCKET, socket);
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    (said, output.status.success())
}

#[test]
fn the_doctor_names_what_is_missing_and_what_to_paste() {
    let nowhere = tempfile::tempdir().unwrap();
    let (said, content) = doctor(&nowhere.path().join("pcscd.sock"));
    assert!(!content);
    assert!(said.contains("smart card service is not running"), "{said}");
    assert!(said.contains("sudo "), "{said}");

    let mut pcscd = Pcscd::start();
    let (said, content) = doctor(&pcscd.socket());
    assert!(
        content && said.contains("Virtual reader 00 00 is ready."),
        "{said}"
    );

    pcscd.restart(false);
    let (said, content) = doctor(&pcscd.socket());
    assert!(!content);
    assert!(said.contains("reader"), "{said}");
}

#[test]
fn the_doctor_names_the_package_of_a_font_that_the_kiosk_lacks() {
    let home = home();
    let kiosk = home.path().join(".local/share/tapdesk/kiosk");
    std::fs::create_dir_all(&kiosk).unwrap();
    let settings = json!({"pin": {"salt": "", "hash": ""}, "languages": ["en", "ja"]});
    std::fs::write(kiosk.join("kiosk.json"), settings.to_string()).unwrap();
    // A machine without fonts.
    let fonts = home.path().join("fonts.conf");
    std::fs::write(&fonts, "<fontconfig/>").unwrap();
    let mut command = program(home.path());
    command.arg("--doctor").env("FONTCONFIG_FILE", &fonts);
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(!output.status.success());
    assert!(
        said.contains("✗ The kiosk has no font for Japanese."),
        "{said}"
    );
    assert!(said.contains("fonts-noto-cjk"), "{said}");
}
