//! An operator's kiosk: configured, started, used by a visitor, closed with the PIN, and visible in
//! the statistics.

use fantoccini::key::Key;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use tapdesk_tests::eventually;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;

use crate::kiosk::{ATTRACT, DONE, PIN};
use crate::reader::{Bottle, made, register};
use crate::window::{Desk, Window};

/// A tag that shows a page of the service, and its URL.
async fn vase(window: &Window) -> Bottle {
    let blocks = json!([{"type": "heading", "text": "A vase of 1920"}]);
    let page = json!({"name": "Vase", "kind": "studio", "blocks": blocks});
    let page = made(window, "/experiences", page).await;
    let tag = json!({"name": "Vase", "slug": "vase-01", "experience_id": page});
    let id = made(window, "/tags", tag).await;
    let address = window.find_text("//header//code").await;
    let url = format!("http://{address}/t/vase-01");
    Bottle { id, url }
}

#[tokio::test]
async fn an_operator_sets_the_kiosk_up_leaves_it_with_the_pin_and_finds_its_taps_apart() {
    let mut desk = Desk::new();
    desk.plug_readers_in();
    let window = desk.open_ready().await;
    let vase = vase(&window).await;
    let inlay = register(&window, &vase).await;
    let card = VirtualNtag424::encoded(&inlay, &vase.url);

    let way = desk.begin("kiosk: set up, visit, leave, look at the numbers");
    window.press("//nav//a[normalize-space()='Kiosk']").await;
    window.fill("PIN", PIN).await;
    window.fill("Repeat PIN", PIN).await;
    window.click_named("Set PIN").await;
    window.click_last("Start kiosk").await;
    eventually("the kiosk is shown", async || {
        desk.log().contains("the kiosk is shown").then_some(())
    })
    .await;
    window.quit().await;

    // The driver cannot follow into the kiosk's window, so the kiosk is started like its autostart
    // does.
    let window = desk.open_with(&["--kiosk"]).await;
    window.see(ATTRACT).await;
    window
        .see("//main[not(contains(., 'not available'))]")
        .await;
    let placed = desk.readers().lay_down(card);
    window.see(DONE).await;
    placed.take_away();
    // The button is there before the page is. A visitor who leaves before the page has asked for
    // anything makes no tap.
    let database = Connection::open_with_flags(desk.database(), OpenFlags::SQLITE_OPEN_READ_ONLY)
        .expect("the database can be read");
    eventually("the tap is recorded", async || {
        let count = "SELECT count(*) FROM interactions";
        let taps: i64 = database.query_row(count, [], |row| row.get(0)).ok()?;
        (taps > 0).then_some(())
    })
    .await;
    drop(database);
    window.press(DONE).await;
    window.see(ATTRACT).await;
    window.hold_escape().await;
    window.see("//*[@role='dialog']").await;
    window.keys(PIN).await;
    window.key(Key::Enter).await;
    // An exhibit's computer ends the program, and shows no administration.
    window.gone().await;
    assert_eq!(desk.hands().titled("Tapdesk"), 0);

    let window = desk.open_ready().await;
    window
        .see("//p[normalize-space()='Not counted here: 1 tap at a kiosk, made by this application.']")
        .await;
    way.done(6, 3);
    let (_, stats) = window.call("GET", "/admin/v1/stats", &Value::Null).await;
    assert_eq!(stats["test_taps"], json!({"reader": 0, "kiosk": 1}));
    assert_eq!(stats["totals"]["verified"], 0, "{stats}");
    window.quit().await;
}
