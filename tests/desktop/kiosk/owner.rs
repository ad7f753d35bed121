//! Starts without an exhibit, and actions that only the owner can do.

use std::fs;
use std::net::TcpListener;

use fantoccini::Locator;
use fantoccini::key::Key;
use serde_json::{Value, json};
use tapdesk_tests::eventually;

use super::{ATTRACT, Hall, PIN, invoke};
use crate::window::{Desk, Window};

#[tokio::test]
async fn without_a_pin_the_exhibits_screen_says_so_and_shows_no_administration() {
    let desk = Desk::new();
    let window = desk.open_with(&["--kiosk"]).await;
    window
        .see("//h1[normalize-space()='This kiosk has no PIN yet.']")
        .await;
    desk.hands().leave_picture("kiosk-no-pin");
    assert_eq!(desk.close("Tapdesk"), 0, "the owner's window is not there");
    assert_eq!(desk.hands().windows().len(), 1);
    for command in ["shell_state", "start_afresh", "kiosk_set_pin"] {
        let answer = window.value_of(&invoke(command, &json!({}))).await;
        let refused = answer["failed"].as_str().unwrap_or_default();
        assert!(refused.contains("not allowed"), "{command}: {answer}");
    }
    // If no PIN is set, no PIN is right.
    let unlocked = invoke("kiosk_unlock", &json!({"pin": ""}));
    assert_eq!(window.value_of(&unlocked).await["outcome"], "wrong");
    window.click_last("Close Tapdesk").await;
    window.gone().await;
}

#[tokio::test]
async fn a_kiosk_whose_service_cannot_start_shows_no_administration() {
    let (hall, _) = Hall::set_up(60).await;
    fs::write(hall.desk.database(), "a letter to grandmother").unwrap();
    let window = hall.desk.open_with(&["--kiosk"]).await;
    window
        .see("//h1[normalize-space()='The file is not a Tapdesk database.']")
        .await;
    assert_eq!(
        hall.desk.close("Tapdesk"),
        0,
        "the owner's window is not there"
    );
    assert_eq!(
        window.find_all(Locator::Css("button")).await.unwrap().len(),
        0
    );
    // The ways out are behind the PIN.
    window.hold_escape().await;
    window.see("//*[@role='dialog']").await;
    window.keys(PIN).await;
    window.key(Key::Enter).await;
    eventually("the owner's window is there", async || {
        (hall.desk.hands().titled("Tapdesk") == 1).then_some(())
    })
    .await;
    window.quit().await;
}

#[tokio::test]
async fn a_kiosk_whose_port_is_used_asks_visitors_to_wait_and_starts_by_itself() {
    let (hall, card) = Hall::set_up(60).await;
    // The chip of the exhibit leads to this port, so the service takes no other one.
    let other = TcpListener::bind(hall.service.trim_start_matches("http://")).unwrap();
    let window = hall.desk.open_with(&["--kiosk"]).await;
    window
        .see("//h1[normalize-space()='One moment, please.']")
        .await;
    // The reason is there for staff.
    window
        .see("//main//*[contains(., 'is used by another program')]")
        .await;
    hall.leave_picture(&window, "kiosk-waits").await;
    assert_eq!(
        hall.desk.close("Tapdesk"),
        0,
        "the owner's window is not there"
    );
    drop(other);
    window.see(ATTRACT).await;
    assert_eq!(hall.desk.hands().windows().len(), 1, "the same window");
    let laid = hall.desk.readers().lay_down(card);
    hall.exhibit.next_visit().await;
    laid.take_away();
    window.quit().await;
}

#[tokio::test]
async fn wrong_pins_are_counted_over_a_restart() {
    let (hall, _) = Hall::set_up(60).await;
    let window = hall.open().await;
    let try_pin = async |window: &Window, pin: &str| {
        let unlock = invoke("kiosk_unlock", &json!({"pin": pin}));
        window.value_of(&unlock).await["outcome"].clone()
    };
    for outcome in ["wrong", "wrong", "wait"] {
        assert_eq!(try_pin(&window, "000000").await, outcome);
    }
    window.kill().await;
    let window = hall.open().await;
    // However long the start took, the next wrong PIN causes a longer wait than the first ones.
    eventually("the wait is over", async || {
        let unlock = invoke("kiosk_unlock", &json!({"pin": "1"}));
        (window.value_of(&unlock).await["seconds"] == 10).then_some(())
    })
    .await;
    window.quit().await;
}

#[tokio::test]
async fn the_owner_sets_the_kiosk_up_and_starts_it_in_the_own_window() {
    let desk = Desk::new();
    let window = desk.open_ready().await;
    window.press("//nav//a[normalize-space()='Settings']").await;
    window.click_named("Kiosk").await;
    window
        .see("//button[normalize-space()='Start kiosk' and @disabled]")
        .await;
    window.fill("PIN", PIN).await;
    window.fill("Repeat PIN", PIN).await;
    window.click_named("Set PIN").await;
    window.fill("Heading", "Welcome").await;
    window.click_named("Save").await;
    window
        .see("//button[normalize-space()='Start kiosk' and not(@disabled)]")
        .await;
    window.leave_picture("settings-kiosk").await;
    window.click_last("Start kiosk").await;
    eventually("the kiosk is shown", async || {
        desk.log().contains("the kiosk is shown").then_some(())
    })
    .await;
    eventually("the owner's window is gone", async || {
        (desk.close("Tapdesk") == 0).then_some(())
    })
    .await;
    assert_eq!(desk.hands().windows().len(), 1);
    let kept = fs::read_to_string(desk.database().with_file_name("kiosk/kiosk.json")).unwrap();
    assert!(kept.contains("Welcome") && !kept.contains(PIN), "{kept}");
    window.quit().await;
}

#[tokio::test]
async fn the_kiosk_discards_unsaved_forms_only_if_the_owner_says_so() {
    let desk = Desk::new();
    let window = desk.open_ready().await;
    let set = invoke("kiosk_set_pin", &json!({"pin": PIN}));
    assert_eq!(window.value_of(&set).await, Value::Null);
    window.press("//nav//a[normalize-space()='Settings']").await;
    window.click_named("Kiosk").await;
    window.fill("Heading", "Half-typed").await;
    let start = invoke("kiosk_start", &json!({"discard": false}));
    let answer = window.value_of(&start).await;
    let refused = answer["failed"].as_str().unwrap_or_default();
    assert!(refused.contains("unsaved changes"), "{answer}");

    window.click_named("Start kiosk").await;
    window
        .see("//*[@role='dialog']//li[normalize-space()='Kiosk']")
        .await;
    window.click_named("Cancel").await;
    assert_eq!(desk.hands().titled("Tapdesk"), 1, "the window stays");
    assert!(!desk.log().contains("the kiosk is shown"));
    window.click_named("Start kiosk").await;
    window.click_last("Start and discard").await;
    eventually("the kiosk is shown", async || {
        desk.log().contains("the kiosk is shown").then_some(())
    })
    .await;
    window.quit().await;
}
