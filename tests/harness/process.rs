//! The real binary in its own process, for tests that need a process: killing it, starting it
//! twice, or examining its disk writes and its log.
//!
//! Tests that use it are targets of the crate `tapdesk-service`, so that cargo
//! builds the binary first and passes its path:
//! `ServiceProcess::start(env!("CARGO_BIN_EXE_tapdesk-service"))`.

use std::fs::Permissions;
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::OnceCell;

use crate::PATIENCE;
use crate::client::Client;
use crate::postgres::TestDatabase;
use crate::service::{ADMIN_TOKEN, default_database};

/// The settings with which a process is started.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The binary, after a wrapper if there is one (`strace -f ...`).
    pub command: Vec<String>,
    /// The address that it listens on.
    pub listen: String,
    /// Options of `serve` in addition to database and address.
    pub arguments: Vec<String>,
    /// Environment variables in addition to the admin token.
    pub environment: Vec<(String, String)>,
    /// The PostgreSQL database, which the first start creates; `None` for the SQLite file in the
    /// folder.
    pub postgres: Option<Arc<OnceCell<TestDatabase>>>,
    /// The SQLite file, if it is another one than `tapdesk.db` in the folder.
    pub sqlite: Option<PathBuf>,
    /// Whether the admin token comes from the environment, instead of the file that the service
    /// creates.
    pub token_in_environment: bool,
    /// The folder of its database, key file and log.
    pub folder: Arc<TempDir>,
}

impl Launch {
    /// The binary at `path` in a new folder, on the tests' default kind of database. On PostgreSQL
    /// it gets a key, because it creates none itself.
    pub fn new(path: &str) -> Self {
        let launch = Self::on_sqlite(path);
        if default_database() != "postgres" {
            return launch;
        }
        let mut launch = launch.with_wrapping_key();
        launch.postgres = Some(Arc::default());
        launch
    }

    /// The binary at `path` in a new folder, on a SQLite file there, whatever the default is.
    pub fn on_sqlite(path: &str) -> Self {
        Self {
            command: vec![path.to_owned()],
            listen: "127.0.0.1:0".to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
            postgres: None,
            sqlite: None,
            token_in_environment: true,
            folder: Arc::new(tempfile::tempdir().expect("a temporary folder can be made")),
        }
    }

    /// Adds an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Uses the key that all nodes of a database share in tests.
    ///
    /// # Panics
    /// When its file cannot be written.
    #[must_use]
    pub fn with_wrapping_key(self) -> Self {
        let key = self.folder.path().join("inlay.key");
        std::fs::write(&key, "5a".repeat(32)).expect("the key file can be written");
        std::fs::set_permissions(&key, Permissions::from_mode(0o600)).expect("it is ours");
        self.env("TAPDESK_KEY_FILE", &key.to_string_lossy())
    }

    /// Uses a PostgreSQL database.
    #[must_use]
    pub fn on(mut self, database: &TestDatabase) -> Self {
        self.postgres = Some(Arc::new(OnceCell::new_with(Some(database.clone()))));
        self
    }

    /// The path of its SQLite file.
    pub fn database(&self) -> PathBuf {
        let usual = || self.folder.path().join("tapdesk.db");
        self.sqlite.clone().unwrap_or_else(usual)
    }

    /// The token that its service accepts.
    ///
    /// # Panics
    /// When it comes from the file, and the file does not exist yet.
    pub fn admin_token(&self) -> String {
        if self.token_in_environment {
            return ADMIN_TOKEN.to_owned();
        }
        let file = self.folder.path().join("admin.token");
        let token = std::fs::read_to_string(file).expect("the service makes its token's file");
        token.trim().to_owned()
    }

    /// The log of all processes that were started in the folder.
    pub fn log_path(&self) -> PathBuf {
        self.folder.path().join("stderr.log")
    }

    /// The database in the form of the service's option.
    pub async fn database_url(&self) -> String {
        match &self.postgres {
            Some(database) => database
                .get_or_init(TestDatabase::create_migrated)
                .await
                .url(),
            None => format!("sqlite:{}", self.database().display()),
        }
    }

    async fn spawn(&self) -> Child {
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.log_path())
            .expect("the log can be written");
        let mut command = Command::new(&self.command[0]);
        command
            .args(&self.command[1..])
            .arg("serve")
            .arg("--database")
            .arg(self.database_url().await)
            .args(["--listen", &self.listen])
            .args(&self.arguments)
            // There is no load balancer in front, unless the test sets one up.
            .env("TAPDESK_SHUTDOWN_DELAY", "0")
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true);
        if self.token_in_environment {
            command.env("TAPDESK_ADMIN_TOKEN", ADMIN_TOKEN);
        }
        command.spawn().expect("the binary can be started")
    }

    /// Starts the process and waits until it listens.
    ///
    /// # Panics
    /// When it ends instead.
    pub async fn start(&self) -> ServiceProcess {
        let started = self.try_start().await;
        started.unwrap_or_else(|| panic!("the service did not start: {}", self.log()))
    }

    /// The same; `None` if it ends instead.
    pub async fn try_start(&self) -> Option<ServiceProcess> {
        let mut child = self.spawn().await;
        let stdout = child.stdout.take().expect("stdout is a pipe");
        let mut lines = BufReader::new(stdout).lines();
        let line = tokio::time::timeout(PATIENCE, lines.next_line())
            .await
            .expect("the service starts in time")
            .expect("stdout is text");
        let Some(line) = line else {
            // After this wait, its files and its lock are released.
            let _ = child.wait().await;
            return None;
        };
        let base = line
            .strip_prefix("listening on ")
            .unwrap_or_else(|| panic!("the ready line is another one: {line}"));
        Some(ServiceProcess {
            client: Client::new(base, self.admin_token()),
            child,
            lines,
            launch: self.clone(),
        })
    }

    /// Starts a process that must refuse to start. Returns its status and its output.
    pub async fn start_in_vain(&self) -> (ExitStatus, String) {
        let output = tokio::time::timeout(PATIENCE, async {
            let before = self.log().len();
            let status = self
                .spawn()
                .await
                .wait()
                .await
                .expect("a child can be waited for");
            (status, self.log().split_off(before))
        });
        output.await.expect("the service ends in time")
    }

    /// The log so far.
    pub fn log(&self) -> String {
        let bytes = std::fs::read(self.log_path()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// A running process. Calls go to its [`Client`]. Dropping it kills the process.
#[derive(Debug)]
pub struct ServiceProcess {
    client: Client,
    child: Child,
    /// Kept open, so that the process can continue to write.
    lines: Lines<BufReader<ChildStdout>>,
    launch: Launch,
}

impl Deref for ServiceProcess {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl ServiceProcess {
    /// Starts the binary at `path` in a new folder, and waits until it listens.
    pub async fn start(path: &str) -> Self {
        Launch::new(path).start().await
    }

    /// The settings with which it was started, to start it again.
    pub fn launch(&self) -> &Launch {
        &self.launch
    }

    /// The folder of its files.
    pub fn folder(&self) -> &Path {
        self.launch.folder.path()
    }

    /// Its process id, or that of its wrapper.
    ///
    /// # Panics
    /// When it has ended.
    pub fn pid(&self) -> u32 {
        self.child.id().expect("the process runs")
    }

    /// Kills it with SIGKILL.
    pub async fn kill(mut self) -> Launch {
        self.child.kill().await.expect("a child can be killed");
        self.launch.clone()
    }

    /// Ends it with SIGTERM, and returns its exit status.
    pub async fn terminate(mut self) -> ExitStatus {
        self.send_sigterm();
        self.ended().await
    }

    /// Sends SIGTERM and returns at once.
    pub fn send_sigterm(&self) {
        self.send("TERM");
    }

    /// Sends the signal of this name (`TERM`) and returns at once.
    ///
    /// # Panics
    /// When there is no such process.
    pub fn send(&self, signal: &str) {
        let sent = std::process::Command::new("kill")
            .args(["-s", signal, &self.pid().to_string()])
            .status();
        assert!(sent.is_ok_and(|status| status.success()), "kill works");
    }

    /// Waits for its end, without a signal.
    pub async fn ended(&mut self) -> ExitStatus {
        let output = async {
            while let Ok(Some(_)) = self.lines.next_line().await {}
            self.child.wait().await.expect("a child can be waited for")
        };
        tokio::time::timeout(PATIENCE, output)
            .await
            .expect("the service ends in time")
    }
}
