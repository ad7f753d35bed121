//! A person's session, in which windows open.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::rc::Rc;

use fantoccini::ClientBuilder;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tapdesk_tests::virtual_reader::SOCKET;
use tapdesk_tests::{PATIENCE, Pcscd, base_port, eventually, free_port};
use tempfile::TempDir;

use super::effort::{Effort, Way};
use super::process::{Display, Killed, first_line, program_of};
use super::{Hands, PROGRAM, Window};

/// A bus that allows every message, and starts none of the machine's services.
const BUS: &str = r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"#;

/// A person's session: a home folder and a display, without a session bus unless one is started. It
/// survives the windows that are opened in it.
pub(crate) struct Desk {
    home: TempDir,
    display: Display,
    bus: Option<Killed>,
    readers: Option<Pcscd>,
    /// Additional variables of this session.
    environment: Vec<(&'static str, &'static str)>,
    effort: Rc<Effort>,
}

impl Desk {
    /// A new session with an empty home. Each start listens on the same free port, which the system
    /// gives no other program during a restart.
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        let desk = Self {
            home,
            display: Display::new(),
            bus: None,
            readers: None,
            environment: Vec::new(),
            effort: Rc::default(),
        };
        fs::create_dir(desk.path("run")).expect("the home can be written");
        desk.prefer(&json!({"last_port": base_port()}));
        desk
    }

    /// The path of a file or folder in the home folder.
    pub(crate) fn path(&self, part: &str) -> PathBuf {
        self.home.path().join(part)
    }

    /// The file of the database.
    pub(crate) fn database(&self) -> PathBuf {
        self.path(".local/share/tapdesk/tapdesk.db")
    }

    /// The stderr output of all windows.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("stderr.log")).unwrap_or_default()
    }

    /// Stores choices before a start, like an earlier run.
    pub(crate) fn prefer(&self, preferences: &Value) {
        let file = self.path(".config/tapdesk/desktop.json");
        fs::create_dir_all(file.parent().expect("it has a folder"))
            .and_then(|()| fs::write(file, preferences.to_string()))
            .expect("the home can be written");
    }

    /// Sets a variable for programs that start later.
    pub(crate) fn set(&mut self, name: &'static str, value: &'static str) {
        self.environment.push((name, value));
    }

    /// Begins to count the clicks and keys of a task, in all windows of the session.
    pub(crate) fn begin(&self, name: &'static str) -> Way<'_> {
        self.effort.begin(name)
    }

    /// Connects two virtual readers, for windows that open later.
    pub(crate) fn plug_readers_in(&mut self) {
        self.readers = Some(Pcscd::start());
    }

    /// The connected readers, to disconnect them.
    pub(crate) fn readers_mut(&mut self) -> &mut Pcscd {
        self.readers.as_mut().expect("readers were plugged in")
    }

    /// The readers of this session.
    pub(crate) fn readers(&self) -> &Pcscd {
        self.readers.as_ref().expect("readers were plugged in")
    }

    /// Starts a session bus. Windows that open later know each other.
    pub(crate) fn start_bus(&mut self) {
        let config = self.path("bus.conf");
        fs::write(&config, BUS).expect("the home can be written");
        let bus = Command::new("dbus-daemon")
            .args(["--nofork", "--print-address=1"])
            .arg(format!("--config-file={}", config.display()))
            .arg(format!("--address={}", self.bus_address()))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("dbus-daemon is installed");
        let mut bus = Killed(bus);
        first_line(&mut bus.0);
        self.bus = Some(bus);
    }

    /// The address of the session bus; empty if none was started.
    pub(crate) fn bus_address(&self) -> String {
        format!("unix:path={}", self.path("run/bus").display())
    }

    /// A command to run a program in this session. It starts in the home folder, where a dialog of
    /// the system then saves files.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.home.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.path())
            .env("XDG_RUNTIME_DIR", self.path("run"))
            .env("DISPLAY", &self.display.name)
            .env("GDK_BACKEND", "x11")
            .env("NO_AT_BRIDGE", "1")
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            .envs(self.environment.iter().copied());
        // Without virtual readers there are none: the machine's own are not used.
        let socket = self.readers.as_ref().map(Pcscd::socket);
        command.env(
            SOCKET,
            socket.unwrap_or_else(|| self.path("run/no-readers")),
        );
        if self.bus.is_some() {
            command.env("DBUS_SESSION_BUS_ADDRESS", self.bus_address());
        }
        command
    }

    /// Asks every window with this title to close, like its own button. Returns their number.
    pub(crate) fn close(&self, title: &str) -> usize {
        self.hands().close(title)
    }

    /// Input to the display, and screenshots of it.
    pub(crate) fn hands(&self) -> Hands {
        Hands::on(&self.display.name)
    }

    /// Opens the window, and waits until its page is loaded.
    pub(crate) async fn open(&self) -> Window {
        self.open_with(&[]).await
    }

    /// The same with arguments.
    pub(crate) async fn open_with(&self, arguments: &[&str]) -> Window {
        self.open_program(PROGRAM, arguments).await
    }

    /// The same with another program.
    pub(crate) async fn open_program(&self, program: &str, arguments: &[&str]) -> Window {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.path("stderr.log"))
            .expect("the home can be written");
        let port = free_port();
        let driver = self
            .command("WebKitWebDriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("WebKitWebDriver is installed");
        let driver = Killed(driver);
        let options = json!({"binary": program, "args": arguments});
        let capabilities =
            serde_json::Map::from_iter([("webkitgtk:browserOptions".to_owned(), options)]);
        let address = format!("http://127.0.0.1:{port}");
        eventually("the driver listens", async || {
            tokio::net::TcpStream::connect(("127.0.0.1", port))
                .await
                .ok()
        })
        .await;
        let mut builder = ClientBuilder::new(HttpConnector::new());
        let connecting = builder.capabilities(capabilities).connect(&address);
        let connected = tokio::time::timeout(PATIENCE, connecting).await;
        let Ok(Ok(client)) = connected else {
            panic!("the window does not open: {}", self.log());
        };
        let window = Window {
            client,
            process: program_of(&driver),
            display: self.display.name.clone(),
            log: self.path("stderr.log"),
            effort: Rc::clone(&self.effort),
            _driver: driver,
        };
        window.find_text("//*[@id='app']/*").await;
        window
    }

    /// Opens the window, and waits until the service runs.
    pub(crate) async fn open_ready(&self) -> Window {
        let window = self.open().await;
        window.see("//nav[@aria-label='Screens']").await;
        window
    }
}
