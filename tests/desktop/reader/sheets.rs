//! Test sheets in the real window.

use serde_json::{Value, json};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::fixtures::chip;
use tapdesk_tests::virtual_card::VirtualCard;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::virtual_card::type2::{Type2Chip, VirtualType2};

use super::{Bottle, bottle, counter, go, made, register, static_card, tag_url};
use crate::window::{Desk, Window};

/// The verdicts of a sheet so far, in their order.
async fn verdicts(window: &Window) -> Vec<String> {
    let (_, sheet) = window.call("GET", "/admin/v1/sheets/1", &Value::Null).await;
    let rows = sheet["rows"].as_array().unwrap().iter();
    rows.map(|row| row["verdict"].as_str().unwrap().to_owned())
        .collect()
}

/// Places the chip of this number of the sheet, and returns it with its expected verdict.
async fn numbered(
    window: &Window,
    bottle: &Bottle,
    number: u8,
) -> (Box<dyn VirtualCard>, &'static str) {
    let own = async || register(window, bottle).await;
    match number {
        // An unknown chip: the service does not have the key of its MAC.
        8 => {
            let mut forged = own().await;
            forged.keys.file = chip(Mirror::Plain, MacFrom::None).keys.file;
            (
                Box::new(VirtualNtag424::encoded(&forged, &bottle.url)),
                "not_verified",
            )
        }
        // Encoded for another environment: the last segment of its path is the slug of our tag.
        10 => {
            let staging = "https://staging.example/t/bottle-41";
            (
                Box::new(VirtualNtag424::encoded(&own().await, staging)),
                "wrong_url",
            )
        }
        // A genuine, unused code on a chip that cannot generate codes.
        13 => {
            let inlay = own().await;
            let url = inlay
                .code_at(1, [0; 5])
                .url(&tag_url(window).await, "bottle-41");
            let (card, _) = static_card(13, &url);
            (Box::new(card), "copied_url")
        }
        17 => {
            let card = VirtualNtag424::encoded(&own().await, &bottle.url);
            (Box::new(card.with_random_uid()), "not_comparable")
        }
        12 => {
            let blank = VirtualType2::blank(Type2Chip::Ntag213, [0x04, 1, 2, 3, 4, 5, 12]);
            (Box::new(blank), "unreadable")
        }
        15 => {
            let (card, _) = static_card(15, &format!("{}x", bottle.url));
            (Box::new(card), "wrong_tag")
        }
        19 => {
            let mut read_before = own().await;
            read_before.counter = 3;
            (
                Box::new(VirtualNtag424::encoded(&read_before, &bottle.url)),
                "counter_gap",
            )
        }
        23 => {
            let (card, _) = static_card(23, &bottle.url);
            (Box::new(card.protect_from(4)), "locked")
        }
        _ => (
            Box::new(VirtualNtag424::encoded(&own().await, &bottle.url)),
            "ok",
        ),
    }
}

#[tokio::test]
async fn a_sheet_of_25_tells_its_faults_apart_and_goes_on_after_a_crash() {
    let mut desk = Desk::new();
    desk.plug_readers_in();
    let mut window = desk.open_ready().await;
    let bottle = bottle(&window, "bottle-41").await;

    // With only the keyboard.
    window.keys("gh").await;
    window.see("//h1[normalize-space()='Test sheets']").await;
    window.keys("n").await;
    window
        .tab_to("//input[@placeholder='Delivery of 21 November']")
        .await;
    window.keys("Delivery 12").await;
    // The Enter key in a field creates nothing.
    window
        .tab_to("//*[@role='dialog']//button[normalize-space()='Create sheet']")
        .await;
    window.key(fantoccini::key::Key::Enter).await;
    window
        .see("//p[normalize-space()='Place inlay 1 of 25 on the reader.']")
        .await;

    let mut expected = Vec::new();
    let mut first = None;
    for number in 1..=25 {
        if number == 9 {
            window.leave_picture("sheet-bad").await;
        }
        if number == 11 {
            window.kill().await;
            window = desk.open_ready().await;
            window.value_of("location.hash = '#/sheets/1'").await;
            window
                .see("//p[normalize-space()='Place inlay 11 of 25 on the reader.']")
                .await;
        }
        let row = format!("//tbody/tr[1]/td[1][normalize-space()='{number}']");
        if number == 4 {
            // The first chip again.
            let again: VirtualNtag424 = first.take().unwrap();
            let laid = desk.readers().lay_down(again);
            window.see(&row).await;
            laid.take_away();
            expected.push("duplicate");
        } else if number == 1 {
            let inlay = register(&window, &bottle).await;
            let laid = desk
                .readers()
                .lay_down(VirtualNtag424::encoded(&inlay, &bottle.url));
            window.see(&row).await;
            first = Some(laid.take_away());
            expected.push("ok");
        } else {
            let (card, verdict) = numbered(&window, &bottle, number).await;
            let laid = desk.readers().lay_down(card);
            window.see(&row).await;
            if verdict == "copied_url" {
                window.leave_picture("sheet-copied").await;
            }
            laid.take_away();
            expected.push(verdict);
        }
        window.see("//header//a[contains(., '2 readers')]").await;
        // Between inlays no verdict is shown.
        window
            .see("//section[@aria-label='Verdict'][contains(@class, 'none')]")
            .await;
    }
    assert_eq!(verdicts(&window).await, expected);
    window.see("//p[normalize-space()='All 25 tested.']").await;
    window.leave_picture("sheet").await;
    let (_, tag) = window
        .call(
            "GET",
            &format!("/admin/v1/tags/{}", bottle.id),
            &Value::Null,
        )
        .await;
    assert_eq!(
        tag["scan_count"], 19,
        "faults that a tap cannot show are not tapped"
    );
    window.quit().await;
}

#[tokio::test]
async fn a_gap_that_the_readers_own_reads_made_is_none_on_a_sheet() {
    let mut desk = Desk::new();
    desk.plug_readers_in();
    let mut window = desk.open_ready().await;
    let bottle = bottle(&window, "bottle-41").await;
    let inlay = register(&window, &bottle).await;
    go(&window, "Reader").await;
    let mut card = VirtualNtag424::encoded(&inlay, &bottle.url);
    for number in 1..=2 {
        let laid = desk.readers().lay_down(card);
        window.see(&counter(number)).await;
        card = laid.take_away();
        window.see("//header//a[contains(., '2 readers')]").await;
    }
    window.quit().await;
    window = desk.open_ready().await;
    let sheet = json!({"name": "Delivery 12", "expected": {"tag_verified": true}});
    made(&window, "/sheets", sheet).await;
    window.value_of("location.hash = '#/sheets/1'").await;
    window
        .see("//p[normalize-space()='Place inlay 1 on the reader.']")
        .await;
    let _laid = desk.readers().lay_down(card);
    window
        .see("//section[@aria-label='Verdict'][contains(@class, 'good')]")
        .await;
    window.see("//p[contains(., 'Counter 3 after 2')]").await;
    assert_eq!(verdicts(&window).await, ["ok"]);
    window.quit().await;
}
