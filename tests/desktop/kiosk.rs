//! The kiosk as visitors use it, and as they try to leave it.

mod exhibit;
mod owner;
mod quiet;
mod screen_saver;
mod soak;
mod unruly;

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::eventually;
use tapdesk_tests::fixtures::{chip, chip_json};
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::virtual_card::type2::{Type2Chip, VirtualType2};

use crate::window::{Desk, PROGRAM, Window};
use exhibit::Exhibit;
use screen_saver::ScreenSaver;

pub(crate) const PIN: &str = "258025";
pub(crate) const ATTRACT: &str = "//h1[normalize-space()='Place your tag here']";
pub(crate) const DONE: &str = "//button[normalize-space()='Done']";

/// The display's usual key code of the Escape key.
const ESCAPE: u8 = 9;

/// The colour of the exhibit.
const VASE: [u8; 3] = [205, 133, 63];

/// A session with a reader, an owner's page, and a kiosk that leads to it.
struct Hall {
    desk: Desk,
    exhibit: Exhibit,
    /// The address of the service.
    service: String,
}

fn invoke(command: &str, arguments: &Value) -> String {
    format!("window.__TAURI_INTERNALS__.invoke('{command}', {arguments})")
}

async fn made(window: &Window, path: &str, body: Value) -> Value {
    let (status, made) = window
        .call("POST", &format!("/admin/v1{path}"), &body)
        .await;
    assert_eq!(status, 201, "{made}");
    made
}

impl Hall {
    /// Sets the kiosk up in the owner's window, with a tag that opens the exhibit.
    async fn set_up(idle_seconds: u16) -> (Self, VirtualNtag424) {
        Self::set_up_with(idle_seconds, false).await
    }

    /// The same. With `of_group` the kiosk shows only the tags of a group; that of the exhibit is in
    /// a group below it, and the tag `lamp-01` is in none.
    async fn set_up_with(idle_seconds: u16, of_group: bool) -> (Self, VirtualNtag424) {
        let mut desk = Desk::new();
        desk.plug_readers_in();
        let exhibit = Exhibit::open().await;
        let window = desk.open_ready().await;
        let address = window.find_text("//header//code").await;
        let target = format!("{}/landing?rk={{{{ interaction:rk }}}}", exhibit.base());
        let experience = json!({"name": "Exhibit", "kind": "redirect", "target_url": target});
        let experience = made(&window, "/experiences", experience).await["id"].clone();
        let mut group = Value::Null;
        let mut tag = json!({"name": "Vase", "slug": "vase-01", "experience_id": experience,
                             "variables": {"registered": "false"}});
        if of_group {
            let vases = json!({"kind": "product", "name": "Vases"});
            group = made(&window, "/groups", vases).await["id"].clone();
            let lot = json!({"kind": "batch", "name": "L03", "parent_id": group});
            tag["group_id"] = made(&window, "/groups", lot).await["id"].clone();
            let lamp = json!({"name": "Lamp", "slug": "lamp-01", "experience_id": experience});
            made(&window, "/tags", lamp).await;
        }
        let tag = made(&window, "/tags", tag).await["id"].clone();
        let inlay = chip(Mirror::Plain, MacFrom::None);
        let mut body = chip_json(&inlay);
        body["tag_id"] = tag;
        made(&window, "/inlays", body).await;
        let set = window
            .value_of(&invoke("kiosk_set_pin", &json!({"pin": PIN})))
            .await;
        assert_eq!(set, Value::Null);
        let settings = window.value_of(&invoke("kiosk_settings", &json!({}))).await;
        let mut chosen = settings["chosen"].clone();
        chosen["idle_seconds"] = idle_seconds.into();
        chosen["hosts"] = json!([exhibit.host()]);
        chosen["group_id"] = group;
        // The owner's window opens after the PIN, to see that it works.
        chosen["leaves_to"] = "window".into();
        let kept = window
            .value_of(&invoke("kiosk_choose", &json!({"chosen": chosen})))
            .await;
        assert_eq!(kept["hosts"], json!([exhibit.host()]));
        window.quit().await;
        let service = format!("http://{address}");
        let card = VirtualNtag424::encoded(&inlay, &format!("{service}/t/vase-01"));
        let hall = Self {
            desk,
            exhibit,
            service,
        };
        (hall, card)
    }

    /// Saves a screenshot after everything is drawn.
    async fn leave_picture(&self, window: &Window, name: &str) {
        window.drawn().await;
        self.desk.hands().leave_picture(name);
    }

    async fn open(&self) -> Window {
        let window = self.desk.open_with(&["--kiosk"]).await;
        window.see(ATTRACT).await;
        // A tag that is placed before the readers are found would not count as a tap.
        window
            .see("//main[not(contains(., 'not available'))]")
            .await;
        window
    }
}

#[tokio::test]
async fn a_tag_opens_its_experience_until_the_visitor_is_idle_and_nothing_stays() {
    // A busy machine takes some seconds to show the page.
    let (hall, mut card) = Hall::set_up(20).await;
    let window = hall.open().await;
    hall.leave_picture(&window, "kiosk-attract").await;
    for visit in 1..=3 {
        let laid = hall.desk.readers().lay_down(card);
        let found = hall.exhibit.next_visit().await;
        card = laid.take_away();
        assert_eq!(card.counter(), visit, "one tap for each insertion");
        // The page writes all of these, and would find them in the next visit.
        let nothing = json!({"cookie": "", "local": null, "session": null, "database": 0,
                             "caches": 0, "history": 1, "referrer": "", "name": ""});
        assert_eq!(found, nothing, "visit {visit}");
        assert_eq!(hall.exhibit.pictures(), visit, "no cache outlives a visit");
        window.see(DONE).await;
        eventually("the vase is shown", async || {
            hall.desk.hands().see_colour(VASE).then_some(())
        })
        .await;
        // The page has no background of its own, and black text.
        eventually("the page is white, as in every browser", async || {
            (hall.desk.hands().colour_at(20, 20) == [255; 3]).then_some(())
        })
        .await;
        if visit == 1 {
            hall.leave_picture(&window, "kiosk-visit").await;
        }
        if visit == 2 {
            window.press(DONE).await;
        }
        window.see(ATTRACT).await;
        eventually("nothing of the page is shown", async || {
            (!hall.desk.hands().see_colour(VASE)).then_some(())
        })
        .await;
    }
    assert_eq!(
        hall.exhibit.verified(&hall.service).await,
        3,
        "each is a verified tap"
    );
    let today = fs::read_to_string(hall.desk.database().with_file_name("kiosk/today.json"));
    let today: Value = serde_json::from_str(&today.unwrap()).unwrap();
    assert_eq!((&today["visits"], &today["done"]), (&json!(3), &json!(1)));
    window.quit().await;
}

#[tokio::test]
async fn visitors_are_told_in_words_why_a_tag_opens_nothing() {
    let (hall, _) = Hall::set_up(60).await;
    let window = hall.open().await;
    let tag = |serial: u8, url: &str| {
        VirtualType2::with_url(Type2Chip::Ntag215, [4, 1, 2, 3, 4, 5, serial], url)
    };
    let readers = hall.desk.readers();
    let laid = readers.lay_down(tag(1, "https://elsewhere.example/a"));
    window
        .see("//*[@role='status'][contains(., 'another site')]")
        .await;
    hall.leave_picture(&window, "kiosk-other-host").await;
    laid.take_away();
    // A code on a chip that cannot generate codes.
    let code = chip(Mirror::Plain, MacFrom::None).code_at(1, [0; 5]);
    let url = code.url(&format!("{}/t", hall.service), "vase-01");
    let laid = readers.lay_down(tag(3, &url));
    window
        .see("//*[@role='status'][contains(., 'copied from another tag')]")
        .await;
    laid.take_away();
    // A host that is allowed, but does not respond.
    let gone = hall.exhibit.close().await;
    let laid = readers.lay_down(tag(2, &format!("{gone}/landing")));
    window
        .see("//*[@role='status'][contains(., 'cannot be reached')]")
        .await;
    laid.take_away();
    let words = window.value_of("document.body.innerText").await;
    let words = words.as_str().unwrap();
    for code in ["404", "502", "refused", "error", "Error"] {
        assert!(!words.contains(code), "{words}");
    }
    window.quit().await;
}

#[tokio::test]
async fn the_page_of_a_visit_opens_in_the_language_that_the_visitor_chose() {
    let (hall, card) = Hall::set_up(60).await;
    let window = hall.open().await;
    window.press("//header//button[@aria-expanded]").await;
    window
        .press("//header//button[normalize-space()='Deutsch']")
        .await;
    window.see("//main[@lang='de']").await;
    let laid = hall.desk.readers().lay_down(card);
    let language = hall.exhibit.next_language().await;
    assert!(language.starts_with("de"), "{language}");
    window.see("//button[normalize-space()='Fertig']").await;
    laid.take_away();
    window.quit().await;
}

#[tokio::test]
async fn a_kiosk_of_a_group_opens_only_the_tags_below_it() {
    let (hall, card) = Hall::set_up_with(60, true).await;
    let window = hall.open().await;
    let readers = hall.desk.readers();
    let lamp = format!("{}/t/lamp-01", hall.service);
    let lamp = VirtualType2::with_url(Type2Chip::Ntag215, [4, 1, 2, 3, 4, 5, 7], &lamp);
    let laid = readers.lay_down(lamp);
    window
        .see("//*[@role='status'][contains(., 'belongs to another reader')]")
        .await;
    hall.leave_picture(&window, "kiosk-other-group").await;
    laid.take_away();
    let laid = readers.lay_down(card);
    hall.exhibit.next_visit().await;
    window.see(DONE).await;
    laid.take_away();
    let today = fs::read_to_string(hall.desk.database().with_file_name("kiosk/today.json"));
    let today: Value = serde_json::from_str(&today.unwrap()).unwrap();
    assert_eq!(
        (&today["other_group"], &today["visits"]),
        (&json!(1), &json!(1))
    );
    window.quit().await;
}

#[tokio::test]
async fn a_lost_reader_and_broken_pages_recover() {
    let (mut hall, card) = Hall::set_up(60).await;
    let window = hall.open().await;
    hall.desk.readers_mut().kill();
    window.see("//*[contains(., 'not available')]").await;
    hall.leave_picture(&window, "kiosk-no-reader").await;
    hall.desk.readers_mut().restart(true);
    window
        .see("//main[not(contains(., 'not available'))]")
        .await;

    let before = pages(window.process);
    let laid = hall.desk.readers().lay_down(card);
    hall.exhibit.next_visit().await;
    let card = laid.take_away();
    let of_visit = pages(window.process)
        .into_iter()
        .find(|page| !before.contains(page));
    crash(of_visit.expect("a visit has a process of its own"));
    window
        .see("//*[@role='status'][contains(., 'stopped working')]")
        .await;

    crash(before[0]);
    eventually("the welcome page is loaded again", async || {
        hall.desk.log().contains("loaded again").then_some(())
    })
    .await;
    let laid = hall.desk.readers().lay_down(card);
    hall.exhibit.next_visit().await;
    laid.take_away();
    window.quit().await;
}

#[tokio::test]
async fn the_kiosks_window_has_no_command_of_the_administration_and_leads_nowhere() {
    let (hall, _) = Hall::set_up(60).await;
    let window = hall.open().await;
    for command in [
        "shell_state",
        "live_events",
        "start_afresh",
        "restore_backup",
        "bucket_backups",
        "restore_from_bucket",
        "fix_port",
        "allow_phones",
        "connect",
        "open_external",
        "save_file",
        "watch_readers",
        "send_tap",
        "kiosk_settings",
        "kiosk_choose",
        "kiosk_set_pin",
        "kiosk_start",
        "plugin:dialog|open",
        "plugin:window|close",
        "plugin:webview|create_webview_window",
        "plugin:event|listen",
    ] {
        let answer = window.value_of(&invoke(command, &json!({}))).await;
        let refused = answer["failed"].as_str().unwrap_or_default();
        assert!(refused.contains("not allowed"), "{command}: {answer}");
    }
    for path in ["/admin/v1/tags", "/admin/v1/tokens", "/health"] {
        let call =
            format!("fetch('tapdesk://localhost/embedded{path}').then(answer => answer.status)");
        let answer = window.value_of(&call).await;
        assert!(answer.get("failed").is_some(), "{path}: {answer}");
    }
    let before = window.current_url().await.unwrap();
    for away in [
        "void (location.href = 'index.html')",
        "void (location.href = 'tauri://localhost/')",
        "void (location.href = 'https://example.com/')",
        "void window.open('index.html')",
    ] {
        window.value_of(away).await;
        assert_eq!(window.current_url().await.unwrap(), before, "{away}");
    }
    assert_eq!(hall.desk.hands().windows().len(), 1);
    window.quit().await;
}

#[tokio::test]
async fn only_the_pin_leads_out_of_the_kiosk() {
    let (mut hall, _) = Hall::set_up(60).await;
    hall.desk.start_bus();
    let window = hall.open().await;
    let hands = hall.desk.hands();
    let shown = hands.windows();
    assert_eq!(shown.len(), 1);
    assert_eq!(hands.place(shown[0]), (0, 0, hands.size.0, hands.size.1));
    assert_eq!(hall.desk.close("Tapdesk kiosk"), 1, "it is asked to close");
    let second = hall.desk.command(PROGRAM).output().unwrap();
    assert!(second.status.success(), "a second start ends: {second:?}");
    window.see(ATTRACT).await;
    assert_eq!(hands.windows(), shown, "no other window opens");

    let try_pin = async |pin: &str| {
        window
            .value_of(&invoke("kiosk_unlock", &json!({"pin": pin})))
            .await
    };
    for pin in ["", "258026"] {
        assert_eq!(try_pin(pin).await, json!({"outcome": "wrong"}));
    }
    assert_eq!(
        try_pin("000000").await,
        json!({"outcome": "wait", "seconds": 5})
    );
    // The second wait is long enough for the next try, even on a busy machine.
    for seconds in [10, 20] {
        eventually("the wait is over", async || {
            (try_pin("1").await["seconds"] == seconds).then_some(())
        })
        .await;
    }
    let waiting = try_pin(PIN).await;
    assert_eq!(waiting["outcome"], "wait", "even the PIN waits: {waiting}");
    hall.leave_picture(&window, "kiosk-waiting").await;
    assert!(!hall.desk.log().contains("the kiosk was left"));
    window.quit().await;
}

#[tokio::test]
async fn the_owner_leaves_the_kiosk_with_the_pin_and_finds_the_own_window() {
    let (mut hall, _) = Hall::set_up(60).await;
    hall.desk.start_bus();
    let screen_saver = ScreenSaver::on(&hall.desk.bus_address()).await;
    let window = hall.open().await;
    eventually("the screen stays on", async || {
        (screen_saver.waits() == 1).then_some(())
    })
    .await;
    window.hold_escape().await;
    window.see("//*[@role='dialog']").await;
    hall.leave_picture(&window, "kiosk-pin").await;
    for digit in PIN.chars() {
        window
            .press(&format!(
                "//*[@role='dialog']//button[normalize-space()='{digit}']"
            ))
            .await;
    }
    window
        .press("//*[@role='dialog']//button[normalize-space()='OK']")
        .await;
    eventually("the kiosk is left", async || {
        hall.desk.log().contains("the kiosk was left").then_some(())
    })
    .await;
    eventually("the kiosk's window is gone", async || {
        (hall.desk.close("Tapdesk kiosk") == 0).then_some(())
    })
    .await;
    eventually("the screen saver is let go", async || {
        (screen_saver.waits() == 0).then_some(())
    })
    .await;
    eventually("the owner's window is there", async || {
        (hall.desk.close("Tapdesk") == 1).then_some(())
    })
    .await;
    eventually("it closes as ever", async || {
        (hall.desk.close("Tapdesk") == 0).then_some(())
    })
    .await;
    window.gone().await;
}

#[tokio::test]
async fn the_escape_key_held_in_a_visit_leads_to_the_pin() {
    let (hall, card) = Hall::set_up(60).await;
    let window = hall.open().await;
    let laid = hall.desk.readers().lay_down(card);
    hall.exhibit.next_visit().await;
    window.see(DONE).await;
    eventually("the vase is shown", async || {
        hall.desk.hands().see_colour(VASE).then_some(())
    })
    .await;
    let hands = hall.desk.hands();
    hands.focus();
    hands.hold(ESCAPE);
    window.see("//*[@role='dialog']").await;
    hands.release(ESCAPE);
    hall.leave_picture(&window, "kiosk-escape-in-a-visit").await;
    eventually("nothing of the page is shown", async || {
        (!hands.see_colour(VASE)).then_some(())
    })
    .await;
    assert!(!hall.desk.log().contains("the kiosk was left"));
    laid.take_away();
    window.quit().await;
}

/// The web content processes of the program.
fn pages(program: u32) -> Vec<u32> {
    let list = Command::new("ps")
        .args(["-eo", "pid=,ppid=,comm="])
        .output()
        .unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    let rows = list.lines().filter_map(|row| {
        let mut parts = row.split_whitespace();
        let pid: u32 = parts.next()?.parse().ok()?;
        let parent: u32 = parts.next()?.parse().ok()?;
        (parent == program && parts.next()?.starts_with("WebKitWebProces")).then_some(pid)
    });
    rows.collect()
}

fn crash(process: u32) {
    let killed = Command::new("kill")
        .args(["-9", &process.to_string()])
        .status();
    assert!(killed.unwrap().success());
}
