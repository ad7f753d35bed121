//! The real window: the built program under a display of its own, driven over `WebDriver`.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::ops::Deref;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fantoccini::elements::Element;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tapdesk_tests::virtual_reader::SOCKET;
use tapdesk_tests::{Pcscd, eventually, free_port};
use tempfile::TempDir;

/// The program under test: the one that cargo builds, or an installed one.
pub(crate) const PROGRAM: &str = match option_env!("TAPDESK_PROGRAM") {
    Some(installed) => installed,
    None => env!("CARGO_BIN_EXE_tapdesk"),
};

mod hands;
mod keys;

pub(crate) use hands::Hands;

/// A bus on which everybody may speak, and which starts no service of the machine.
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

/// How long anything may take before the test gives up.
const PATIENCE: Duration = Duration::from_secs(30);

/// A person's session: a home folder and a display, without a session bus
/// unless one is started. It outlives the windows that are opened in it.
pub(crate) struct Desk {
    home: TempDir,
    display: Display,
    bus: Option<Killed>,
    readers: Option<Pcscd>,
}

/// An open window. Its `WebDriver` client is what it derefs to.
pub(crate) struct Window {
    client: Client,
    /// The program's.
    pub process: u32,
    display: String,
    _driver: Killed,
}

/// A process that ends with its value.
struct Killed(Child);

struct Display {
    name: String,
    _server: Killed,
}

impl Desk {
    /// A new session with an empty home, in which a free port is chosen at the first start.
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        let desk = Self {
            home,
            display: Display::new(),
            bus: None,
            readers: None,
        };
        fs::create_dir(desk.path("run")).expect("the home can be written");
        desk.prefer(&json!({"last_port": 0}));
        desk
    }

    /// A file or folder of the home.
    pub(crate) fn path(&self, part: &str) -> PathBuf {
        self.home.path().join(part)
    }

    /// The database.
    pub(crate) fn database(&self) -> PathBuf {
        self.path(".local/share/tapdesk/tapdesk.db")
    }

    /// What all windows said on stderr.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("stderr.log")).unwrap_or_default()
    }

    /// Makes choices before a start, as an earlier run would have.
    pub(crate) fn prefer(&self, preferences: &Value) {
        let file = self.path(".config/tapdesk/desktop.json");
        fs::create_dir_all(file.parent().expect("it has a folder"))
            .and_then(|()| fs::write(file, preferences.to_string()))
            .expect("the home can be written");
    }

    /// Plugs two virtual readers in, for windows opened after it.
    pub(crate) fn plug_readers_in(&mut self) {
        self.readers = Some(Pcscd::start());
    }

    /// The readers that were plugged in, to be pulled out.
    pub(crate) fn readers_mut(&mut self) -> &mut Pcscd {
        self.readers.as_mut().expect("readers were plugged in")
    }

    /// The readers that were plugged in.
    pub(crate) fn readers(&self) -> &Pcscd {
        self.readers.as_ref().expect("readers were plugged in")
    }

    /// Starts a session bus. Windows opened after it know each other.
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

    /// The session bus, where one was started.
    pub(crate) fn bus_address(&self) -> String {
        format!("unix:path={}", self.path("run/bus").display())
    }

    /// A program in this session.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.path())
            .env("XDG_RUNTIME_DIR", self.path("run"))
            .env("DISPLAY", &self.display.name)
            .env("GDK_BACKEND", "x11")
            .env("NO_AT_BRIDGE", "1")
            .env("TAURI_WEBVIEW_AUTOMATION", "true");
        // Without readers of its own, none: not those of the machine.
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

    /// Asks every window of this title to close, as its own button does; how many there are.
    pub(crate) fn close(&self, title: &str) -> usize {
        self.hands().close(title)
    }

    /// What a person's hands do to the display, and what their eyes see of it.
    pub(crate) fn hands(&self) -> Hands {
        Hands::on(&self.display.name)
    }

    /// Opens the window and waits until its page is there.
    pub(crate) async fn open(&self) -> Window {
        self.open_with(&[]).await
    }

    /// The same with arguments.
    pub(crate) async fn open_with(&self, arguments: &[&str]) -> Window {
        self.open_program(PROGRAM, arguments).await
    }

    /// The same of another program.
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
            _driver: driver,
        };
        window.find_text("//*[@id='app']/*").await;
        window
    }

    /// Opens the window and waits until the service runs.
    pub(crate) async fn open_ready(&self) -> Window {
        let window = self.open().await;
        window.see("//nav[@aria-label='Screens']").await;
        window
    }
}

impl Deref for Window {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Window {
    /// The element at this `XPath`, once it is shown.
    pub(crate) async fn see(&self, xpath: &str) -> Element {
        self.wait_for(xpath, async |element| {
            // The driver's own idea of what is displayed errs on text that may be cut off.
            let shown = "return arguments[0].checkVisibility({visibilityProperty: true})";
            let shown = self.ask(shown, &element).await?;
            (shown == true).then_some(element)
        })
        .await
    }

    /// The text of the element at this `XPath`, once there is some.
    pub(crate) async fn find_text(&self, xpath: &str) -> String {
        self.wait_for(xpath, async |element| {
            let text = self.ask("return arguments[0].innerText", &element).await?;
            let text = text.as_str()?.trim().to_owned();
            (!text.is_empty()).then_some(text)
        })
        .await
    }

    async fn ask(&self, script: &str, element: &Element) -> Option<Value> {
        let element = serde_json::to_value(element).ok()?;
        self.execute(script, vec![element]).await.ok()
    }

    /// Clicks what is at this `XPath`, once it is shown and can be clicked.
    pub(crate) async fn press(&self, xpath: &str) {
        self.wait_for(xpath, async |element| {
            // The driver's click on a button that cannot be pressed yet is done, and nothing happens.
            if !element.is_enabled().await.ok()? {
                return None;
            }
            if element.clone().click().await.is_ok() {
                return Some(());
            }
            // It may lie under what stays in place while the rest scrolls. A person scrolls on.
            let middle = "(arguments[0].closest('select') ?? arguments[0]).scrollIntoView({ block: 'center' })";
            self.ask(middle, &element).await;
            None
        })
        .await;
    }

    /// What `look` makes of the element at this `XPath`, once it makes something of it.
    async fn wait_for<T>(&self, xpath: &str, look: impl AsyncFn(Element) -> Option<T>) -> T {
        let seen = async {
            loop {
                if let Ok(element) = self.find(Locator::XPath(xpath)).await
                    && let Some(seen) = look(element).await
                {
                    return seen;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        if let Ok(seen) = tokio::time::timeout(PATIENCE, seen).await {
            return seen;
        }
        let shown = self.value_of("document.body.innerText").await;
        self.leave_picture("waited-in-vain").await;
        panic!("waited in vain for {xpath}; target/screenshots/waited-in-vain.png shows {shown:#}")
    }

    /// Clicks the button or link of this name.
    pub(crate) async fn click_named(&self, name: &str) {
        self.press(&format!(
            "//*[self::button or self::a][normalize-space()='{name}' or @aria-label='{name}']"
        ))
        .await;
    }

    /// Writes into the field with this label.
    pub(crate) async fn fill(&self, label: &str, text: &str) {
        let field = format!("//*[@id=//label[normalize-space()='{label}']/@for]");
        self.write(&field, text).await;
    }

    /// Writes into the field at this `XPath`.
    pub(crate) async fn write(&self, xpath: &str, text: &str) {
        // What stands above it may still take its room: a notice that comes or goes.
        let field = eventually("the field can be written", || async {
            let field = self.see(xpath).await;
            field.clear().await.ok().map(|()| field)
        });
        let field = field.await;
        field
            .send_keys(text)
            .await
            .expect("the field can be written");
    }

    /// The value of this JavaScript expression, which may be a promise.
    pub(crate) async fn value_of(&self, expression: &str) -> Value {
        let script = format!(
            "const done = arguments[0]; \
             (async () => ({expression}))().then(done, error => done({{failed: String(error)}}));"
        );
        self.execute_async(&script, Vec::new())
            .await
            .expect("the script runs")
    }

    /// A call of this computer's service by the page: status and body.
    pub(crate) async fn call(&self, method: &str, path: &str, body: &Value) -> (u64, Value) {
        let init = if body.is_null() {
            json!({"method": method})
        } else {
            let headers = json!({"content-type": "application/json"});
            json!({"method": method, "headers": headers, "body": body.to_string()})
        };
        let call = format!(
            "fetch('tapdesk://localhost/embedded{path}', {init}) \
             .then(async answer => [answer.status, await answer.json().catch(() => null)])"
        );
        let answer = self.value_of(&call).await;
        let status = answer[0].as_u64().unwrap_or_else(|| panic!("{answer}"));
        (status, answer[1].clone())
    }

    /// Waits until the last changes of the page are drawn.
    pub(crate) async fn drawn(&self) {
        let drawn = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))";
        self.value_of(drawn).await;
    }

    /// Leaves a picture of all that is shown in `target/screenshots`, to be looked at. `WebDriver` has
    /// none of a window without OpenGL.
    pub(crate) async fn leave_picture(&self, name: &str) {
        self.drawn().await;
        Hands::on(&self.display).leave_picture(name);
    }

    /// Asks the program to end, as a logout does, and waits until it has.
    pub(crate) async fn quit(self) {
        let process = self.process.to_string();
        let asked = Command::new("kill").arg(process).status();
        assert!(asked.expect("a signal can be sent").success());
        self.gone().await;
    }

    /// Ends the program as a crash does.
    pub(crate) async fn kill(self) {
        let process = self.process.to_string();
        let killed = Command::new("kill").args(["-9", &process]).status();
        assert!(killed.expect("a signal can be sent").success());
        self.gone().await;
    }

    /// Waits until the program has ended.
    pub(crate) async fn gone(self) {
        eventually("the program ends", async || {
            is_over(self.process).then_some(())
        })
        .await;
    }
}

/// The program that a driver started.
fn program_of(driver: &Killed) -> u32 {
    let driver = driver.0.id();
    let children = fs::read_to_string(format!("/proc/{driver}/task/{driver}/children"));
    let children = children.expect("the system tells a process' children");
    let first = children
        .split_whitespace()
        .next()
        .expect("the program runs");
    first.parse().expect("a process id is a number")
}

/// Whether a process has ended, whether or not its parent has noticed. What it
/// had locked is free with its last thread, which may go after the first one.
fn is_over(process: u32) -> bool {
    let state = match fs::read_to_string(format!("/proc/{process}/stat")) {
        // It stands after the name, which is in brackets.
        Ok(stat) => stat.rsplit(')').next().unwrap_or_default().to_owned(),
        Err(_) => return true,
    };
    let threads = fs::read_dir(format!("/proc/{process}/task")).map_or(0, Iterator::count);
    state.trim().starts_with('Z') && threads <= 1
}

impl Display {
    fn new() -> Self {
        let server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x800x24"])
            // A server that resets when its last client goes refuses the next one meanwhile.
            .args(["-nolisten", "tcp", "-noreset"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb is installed");
        let mut server = Killed(server);
        let name = format!(":{}", first_line(&mut server.0).trim());
        Self {
            name,
            _server: server,
        }
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    let stdout = child.stdout.as_mut().expect("stdout is a pipe");
    BufReader::new(stdout)
        .read_line(&mut line)
        .expect("stdout is text");
    line
}
