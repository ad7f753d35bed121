//! The real binary, run from its command line.

mod api_guide;
mod conformance;
mod copies;
mod demo;
mod dev;
mod export;
mod headless;
mod image;
mod import;
mod listen;
mod migrate_store;
mod moving;
mod one_server;
mod otlp;
mod owner;
mod postgres;
mod rotate_key;
mod settings;
mod shutdown;
mod sqlite;
mod tour;
mod traces;
mod unit;
mod unlisted;

use std::path::Path;
use std::process::Stdio;

use tapdesk_tests::process::Launch;
use tapdesk_tests::{PATIENCE, ServiceProcess};
use tokio::process::Command;

/// The path of the service's binary.
const BINARY: &str = env!("CARGO_BIN_EXE_tapdesk-service");

/// A service in a new folder.
fn launch() -> Launch {
    Launch::new(BINARY)
}

/// The result of a command.
#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ran {
    /// The output of a command that must succeed.
    #[track_caller]
    fn good(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.stdout
    }

    /// The error of a command that must fail: one line for people.
    #[track_caller]
    fn refused(self) -> String {
        assert_eq!(self.code, Some(1), "{self:?}");
        let line = self.stderr.trim_end();
        let sentence = line.strip_prefix("tapdesk-service: ");
        let sentence = sentence.unwrap_or_else(|| panic!("not our words: {line}"));
        assert!(
            !sentence.contains('\n') && sentence.ends_with('.'),
            "not a sentence: {line}"
        );
        assert!(!sentence.contains("Error"), "not for people: {line}");
        sentence.to_owned()
    }
}

/// Runs a command with a database and these variables.
async fn run_with(database: &Path, environment: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let mut command = Command::new(BINARY);
    command
        .args(arguments)
        .env("TAPDESK_DATABASE", format!("sqlite:{}", database.display()))
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, command.output());
    let output = output.await.expect("the command ends in time");
    let output = output.expect("the binary can be started");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it speaks in text");
    Ran {
        code: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// Runs a command that needs no running service.
async fn run(database: &Path, arguments: &[&str]) -> Ran {
    run_with(database, &[], arguments).await
}

/// Runs a command against `service`.
async fn run_at(service: &ServiceProcess, arguments: &[&str]) -> Ran {
    let environment = [
        ("TAPDESK_URL", service.base()),
        ("TAPDESK_ADMIN_TOKEN", service.admin_token()),
    ];
    run_with(&service.launch().database(), &environment, arguments).await
}
