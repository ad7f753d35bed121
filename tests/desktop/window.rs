//! The real window: the built program on a separate display, driven over `WebDriver`.

mod desk;
mod effort;
mod hands;
mod keys;
mod process;

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use fantoccini::elements::Element;
use fantoccini::{Client, Locator};
use serde_json::{Value, json};
use tapdesk_tests::{PATIENCE, eventually};

pub(crate) use desk::Desk;
use effort::Effort;
pub(crate) use hands::Hands;
use process::{Killed, is_over};

/// The program under test: the one that cargo builds, or an installed one.
pub(crate) const PROGRAM: &str = match option_env!("TAPDESK_PROGRAM") {
    Some(installed) => installed,
    None => env!("CARGO_BIN_EXE_tapdesk"),
};

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

    /// Chooses a file in the file field, as soon as there is one.
    pub(crate) async fn choose_file(&self, path: &Path) {
        // The button covers the field, so it is not visible.
        let field = self
            .wait_for("//input[@type='file']", async |field| Some(field))
            .await;
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
