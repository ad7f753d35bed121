//! The real window: the built program on a separate display, driven over `WebDriver`.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use fantoccini::elements::Element;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tapdesk_tests::virtual_reader::SOCKET;
use tapdesk_tests::{PATIENCE, Pcscd, eventually, free_port};
use tempfile::TempDir;

/// The program under test: the one that cargo builds, or an installed one.
pub(crate) const PROGRAM: &str = match option_env!("TAPDESK_PROGRAM") {
    Some(installed) => installed,
    None => env!("CARGO_BIN_EXE_tapdesk"),
};

mod effort;
mod hands;
mod keys;

use effort::{Effort, Way};
pub(crate) use hands::Hands;

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

/// An open window. It dereferences to its `WebDriver` client.
pub(crate) struct Window {
    client: Client,
    /// The id of the program's process.
    pub process: u32,
    display: String,
    /// The file with the stderr output of the program and of the driver.
    log: PathBuf,
    effort: Rc<Effort>,
    _driver: Killed,
}

/// A process that is killed when this is dropped.
struct Killed(Child);

struct Display {
    name: String,
    _server: Killed,
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
        desk.prefer(&json!({"last_port": free_port()}));
        desk
    }

    /// The path of a file or folder in the home folder.
    pub(crate) fn path(&self, part: &str) -> PathBuf {
        self.home.path().join(part)
    }

    /// The database.
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

    /// The connected readers.
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

    /// A command to run a program in this session.
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

impl Deref for Window {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Window {
    /// The element at this `XPath`, as soon as it is visible.
    pub(crate) async fn see(&self, xpath: &str) -> Element {
        self.wait_for(xpath, async |element| {
            // The driver's own visibility check is wrong for text that may be cut off.
            let shown = "return arguments[0].checkVisibility({visibilityProperty: true})";
            let shown = self.ask(shown, &element).await?;
            (shown == true).then_some(element)
        })
        .await
    }

    /// The text of the element at this `XPath`, as soon as it is not empty.
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

    /// Whether an element has the same place in two frames.
    async fn rests(&self, element: &Element) -> Option<bool> {
        let script = "const [element, done] = arguments; \
             const place = () => JSON.stringify(element.getBoundingClientRect()); \
             requestAnimationFrame(() => { \
                 const before = place(); \
                 requestAnimationFrame(() => done(before === place())); \
             });";
        let element = serde_json::to_value(element).ok()?;
        let rests = self.execute_async(script, vec![element]).await.ok()?;
        rests.as_bool()
    }

    /// Clicks the element at this `XPath`, as soon as it is visible, rests and can be clicked.
    pub(crate) async fn press(&self, xpath: &str) {
        self.wait_for(xpath, async |element| {
            // A click by the driver on a disabled button succeeds without an effect.
            if !element.is_enabled().await.ok()? {
                return None;
            }
            // The driver computes where to click, and clicks later. What moves in between is missed,
            // and a click beside a dialog closes it.
            if !self.rests(&element).await? {
                return None;
            }
            // The driver may report a failure although the click arrived, for example if the
            // element left the page at once. A second click would press what took its place.
            let watch = "delete window.arrived; arguments[0].addEventListener('click', () => (window.arrived = true), { capture: true, once: true })";
            self.ask(watch, &element).await;
            if element.clone().click().await.is_ok() {
                return Some(());
            }
            let arrived = self.execute("return window.arrived === true", vec![]).await;
            if arrived.is_ok_and(|arrived| arrived == true) {
                return Some(());
            }
            // It may be under an element that stays in place while the rest scrolls. A person would
            // scroll.
            let middle = "(arguments[0].closest('select') ?? arguments[0]).scrollIntoView({ block: 'center' })";
            self.ask(middle, &element).await;
            None
        })
        .await;
        self.effort.clicked(1);
    }

    /// Chooses an option in the list with this label.
    pub(crate) async fn choose(&self, label: &str, option: &str) {
        let list = format!("//*[@id=//label[normalize-space()='{label}']/@for]");
        self.press(&format!("{list}/option[normalize-space()='{option}']"))
            .await;
        // Opening the list takes another click.
        self.effort.clicked(1);
    }

    /// Chooses a file in the file field.
    pub(crate) async fn choose_file(&self, path: &Path) {
        let field = Locator::XPath("//input[@type='file']");
        let field = self.find(field).await.expect("a file is asked for");
        let path = path.to_str().expect("the path is text");
        field.send_keys(path).await.expect("a file can be chosen");
        // One click on the button, and one on the file in the system's dialog.
        self.effort.clicked(2);
    }

    /// Waits until `look` returns a value for the element at this `XPath`.
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
        Hands::on(&self.display).leave_picture("waited-in-vain");
        let shown = self.shown().await;
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let newest: Vec<&str> = log.lines().rev().take(20).collect();
        panic!(
            "waited in vain for {xpath}; target/screenshots/waited-in-vain.png shows {shown}; \
             the log, newest first: {newest:#?}"
        )
    }

    /// The part of the page that a person looks at, or why it cannot be read.
    async fn shown(&self) -> String {
        let script = "return [...document.querySelectorAll('[role=dialog], [role=alert], [role=status]'), \
             document.querySelector('main') ?? document.body].map(part => part.innerText)";
        match self.execute(script, Vec::new()).await {
            Ok(shown) => shown.to_string(),
            Err(error) => error.to_string(),
        }
    }

    /// Clicks the button or link with this name.
    pub(crate) async fn click_named(&self, name: &str) {
        self.press(&format!(
            "//*[self::button or self::a][normalize-space()='{name}' or @aria-label='{name}']"
        ))
        .await;
    }

    /// Clicks the button with this name, which closes the window: the window may be gone before the
    /// driver answers.
    pub(crate) async fn click_last(&self, name: &str) {
        self.see(&format!(
            "//button[normalize-space()='{name}' and not(@disabled)]"
        ))
        .await;
        let click = "[...document.querySelectorAll('button')] \
             .find(button => button.textContent.trim() === arguments[0]).click()";
        let _ = self.execute(click, vec![json!(name)]).await;
        self.effort.clicked(1);
    }

    /// Types into the field with this label.
    pub(crate) async fn fill(&self, label: &str, text: &str) {
        let field = format!("//*[@id=//label[normalize-space()='{label}']/@for]");
        self.write(&field, text).await;
    }

    /// Types into the field at this `XPath`.
    pub(crate) async fn write(&self, xpath: &str, text: &str) {
        // A notice above it that appears or disappears may still move it.
        let field = eventually("the field can be written", || async {
            let field = self.see(xpath).await;
            field.clear().await.ok().map(|()| field)
        });
        let field = field.await;
        field
            .send_keys(text)
            .await
            .expect("the field can be written");
        self.effort.clicked(1);
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

    /// Calls this computer's service from the page. Returns status and body.
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

    /// Saves a screenshot of the display in `target/screenshots` for review. `WebDriver` cannot
    /// take one of a window without OpenGL.
    pub(crate) async fn leave_picture(&self, name: &str) {
        self.drawn().await;
        Hands::on(&self.display).leave_picture(name);
    }

    /// Asks the program to end, like a logout, and waits for its end.
    pub(crate) async fn quit(self) {
        let process = self.process.to_string();
        let asked = Command::new("kill").arg(process).status();
        assert!(asked.expect("a signal can be sent").success());
        self.gone().await;
    }

    /// Ends the program like a crash.
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

/// Whether a process has ended, even if its parent has not noticed. Its locks are released with its
/// last thread, which may end after the first one.
fn is_over(process: u32) -> bool {
    let state = match fs::read_to_string(format!("/proc/{process}/stat")) {
        // The state follows the name, which is in brackets.
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
            // A server that resets after its last client refuses the next client in the meantime.
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
