//! Field staff who check inlays one after the other, before visitors tap them.

use serde_json::Value;
use tapdesk_service::inlay::Uid;
use tapdesk_tests::virtual_card::VirtualCard;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::{Answering as _, Client};

use super::first_chip::split;
use crate::reader::{COPIED, EMPTY, bottle, counter, go, register, static_card};
use crate::window::{Desk, Window};

/// Places a chip on the reader, waits for everything that is shown about it, and removes it.
async fn look<C: VirtualCard + 'static>(
    desk: &Desk,
    window: &Window,
    card: C,
    verdict: &[&str],
) -> C {
    let placed = desk.readers().lay_down(card);
    for part in verdict {
        window.see(part).await;
    }
    let card = placed.take_away();
    window.see(EMPTY).await;
    card
}

#[tokio::test]
async fn field_staff_tell_good_strange_and_copied_inlays_apart_and_visitors_find_no_gap() {
    let mut desk = Desk::new();
    desk.plug_readers_in();
    let window = desk.open_ready().await;
    let bottle = bottle(&window, "bottle-41").await;
    let inlay = register(&window, &bottle).await;
    let own = "//section[@aria-label='About this chip']//p[normalize-space()='An inlay of this service, encoded by another program.']";
    let authentic =
        "//section[h3[starts-with(normalize-space(), 'Dry run')]]//*[contains(., 'authentic')]";

    let way = desk.begin("field staff: five inlays");
    go(&window, "Reader").await;
    let mut good = VirtualNtag424::encoded(&inlay, &bottle.url);
    for number in 1..=3 {
        let counter = counter(number);
        good = look(&desk, &window, good, &[&counter, own, authentic]).await;
    }
    // Factory keys, and another person's URL.
    let uid = Uid::from_bytes([0x04, 0xE0, 0x00, 0x00, 0x00, 0x77, 0x80]);
    let mut strange = VirtualNtag424::new(uid);
    strange.set_url("https://somebody.example/a");
    let strange_verdict = [
        "//p[normalize-space()='This service does not know this chip.']",
        "//h2[normalize-space()='This inlay has no tag yet']",
        "//p[normalize-space()='Its URL leads to no tag of this service.']",
        "//dd[contains(., 'none that prove a tap')]",
    ];
    look(&desk, &window, strange, &strange_verdict).await;
    // A different chip, with a URL that a good chip generated.
    let url = inlay.code_at(9, [0; 5]);
    let (base, _) = bottle.url.rsplit_once('/').unwrap();
    let (copy, shown) = static_card(1, &url.url(base, "bottle-41"));
    look(&desk, &window, copy, &[&shown, COPIED]).await;
    way.done(1, 0);

    // The visitor's tap is the fourth read: the staff's reads do not count as missing.
    let url = good.read_url();
    let (address, path) = split(&url);
    let visitor = Client::new(address, "");
    assert_eq!(visitor.get(path).answer().await.status, 302);
    go(&window, "Interactions").await;
    window
        .press("//main//*[@role='row'][@data-row='1'][contains(., 'verified')]")
        .await;
    window
        .see("//li[contains(., 'Counter')][not(contains(., 'never reached'))]")
        .await;
    let (_, taps) = window
        .call("GET", "/admin/v1/interactions", &Value::Null)
        .await;
    let taps = taps["items"].as_array().unwrap();
    assert_eq!(taps.len(), 1, "only the visitor's tap is one: {taps:?}");
    assert_eq!(taps[0]["counter"], 4);
    assert_eq!(taps[0]["missed_reads"], 0, "{taps:?}");
    window.quit().await;
}
