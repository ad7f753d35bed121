//! Field staff and tag owners: inlays on a reader, in the real window.

use serde_json::{Value, json};
use tapdesk_service::inlay::virtual_inlay::VirtualInlay;
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::fixtures::{chip, chip_json};
use tapdesk_tests::length;
use tapdesk_tests::virtual_card::VirtualCard;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::virtual_card::type2::{Type2Chip, VirtualType2};

use crate::window::{Desk, Window};

/// Once the dry run is done.
const EXERCISE: &str = "//button[normalize-space()='Exercise' and not(@disabled)]";

/// A tag that redirects, as the service has it, and the URL that is encoded.
struct Bottle {
    id: i64,
    url: String,
}

async fn made(window: &Window, path: &str, body: Value) -> i64 {
    let path = format!("/admin/v1{path}");
    let (status, made) = window.call("POST", &path, &body).await;
    assert_eq!(status, 201, "{made}");
    made["id"].as_i64().unwrap()
}

async fn tag_url(window: &Window) -> String {
    let address = window.find_text("//header//code").await;
    format!("http://{address}/t")
}

async fn bottle(window: &Window, slug: &str) -> Bottle {
    let redirect = json!({"name": "Register", "kind": "redirect", "target_url": "https://owner.example/landing"});
    let experience = made(window, "/experiences", redirect).await;
    let tag = json!({"name": "Bottle 41", "slug": slug, "experience_id": experience, "variables": {"registered": "false"}});
    let id = made(window, "/tags", tag).await;
    let url = format!("{}/{slug}", tag_url(window).await);
    Bottle { id, url }
}

/// A chip of the plain mirror that the service knows as the bottle's.
async fn register(window: &Window, bottle: &Bottle) -> VirtualInlay {
    let inlay = chip(Mirror::Plain, MacFrom::None);
    let mut body = chip_json(&inlay);
    body["tag_id"] = bottle.id.into();
    made(window, "/inlays", body).await;
    inlay
}

async fn go(window: &Window, screen: &str) {
    window
        .press(&format!("//nav//a[normalize-space()='{screen}']"))
        .await;
    window
        .see(&format!("//h1[normalize-space()='{screen}']"))
        .await;
}

/// Lays a chip down, exercises it, and waits for the state.
async fn exercise<C: VirtualCard + 'static>(
    desk: &Desk,
    window: &Window,
    card: C,
    wait: &str,
    state: &str,
) -> C {
    let laid = desk.readers().lay_down(card);
    window.see(wait).await;
    window.press(EXERCISE).await;
    let result = format!("//section[@aria-label='Result'][.//span[normalize-space()='{state}']]");
    window.see(&result).await;
    let card = laid.take_away();
    window
        .see("//ul[@aria-label='Readers'][not(.//li[contains(@class, 'inlay')])]")
        .await;
    card
}

fn counter(counter: u32) -> String {
    format!("//dl[dt='Counter']/dd[normalize-space()='{counter}']")
}

fn static_card(serial: u8, url: &str) -> (VirtualType2, String) {
    let uid = [0x04, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, serial];
    let shown = format!(
        "//section[@aria-label='Inlay']//code[normalize-space()='04AABBCCDDEE{serial:02X}']"
    );
    (VirtualType2::with_url(Type2Chip::Ntag215, uid, url), shown)
}

#[tokio::test]
async fn an_inlay_is_read_and_exercised_and_every_verdict_is_told_apart() {
    let mut desk = Desk::new();
    desk.plug_readers_in();
    let window = desk.open_ready().await;
    let bottle = bottle(&window, "bottle-41").await;
    let inlay = register(&window, &bottle).await;
    let path = format!("/admin/v1/tags/{}", bottle.id);
    go(&window, "Reader").await;

    let card = VirtualNtag424::encoded(&inlay, &bottle.url);
    let laid = desk.readers().lay_down(card);
    window.see(&counter(1)).await;
    let first = window.find_text("//code[contains(@class, 'whole')]").await;
    // The diagnosis comes first, and consumes nothing.
    window
        .see("//section[h3[starts-with(normalize-space(), 'Dry run')]]//*[normalize-space()='MAC']")
        .await;
    window
        .press("//summary[contains(., 'commands to the card')]")
        .await;
    window
        .see("//li[span[normalize-space()='Ask the reader for the UID']]/code[contains(., '> FFCA000000')]")
        .await;
    window
        .press("//summary[contains(., 'commands to the card')]")
        .await;
    let read_only = window.call("GET", &path, &Value::Null).await.1;
    assert_eq!(read_only["scan_count"], 0, "{read_only}");
    let card = laid.take_away();
    // The one that lay there last can still be exercised.
    window.press(EXERCISE).await;
    window
        .see("//section[@aria-label='Result'][.//span[normalize-space()='verified']]")
        .await;
    window
        .see("//pre[contains(., '\"tag_verified\": true')]/parent::details")
        .await;
    window.click_named("Update").await;
    window
        .see("//p[contains(., 'registered is “true” now.')]")
        .await;

    let card = exercise(&desk, &window, card, &counter(2), "verified").await;
    assert_eq!(card.counter(), 2, "one read, one tap");
    window.leave_picture("reader").await;

    let (copy, shown) = static_card(1, &first);
    exercise(&desk, &window, copy, &shown, "not verified").await;
    window.see("//li[contains(., 'replayed')]").await;
    let last = if first.ends_with('0') { "1" } else { "0" };
    let tampered = format!("{}{last}", &first[..first.len() - 1]);
    let (tampered, shown) = static_card(2, &tampered);
    exercise(&desk, &window, tampered, &shown, "not verified").await;
    window.see("//li[contains(., 'wrong MAC')]").await;

    made(
        &window,
        "/tags",
        json!({"name": "Poster", "slug": "poster"}),
    )
    .await;
    let (printed, shown) = static_card(3, &format!("{}/poster", tag_url(&window).await));
    exercise(&desk, &window, printed, &shown, "not checked").await;
    window.quit().await;
}

#[tokio::test]
async fn automatic_mode_misses_no_inlay_counts_none_twice_and_sends_nothing_elsewhere() {
    let mut desk = Desk::new();
    desk.plug_readers_in();
    let window = desk.open_ready().await;
    let bottle = bottle(&window, "bottle-41").await;
    let inlay = register(&window, &bottle).await;
    go(&window, "Reader").await;
    window.press("//input[@role='switch']").await;
    let insertions = length(30, 300);
    let mut card = VirtualNtag424::encoded(&inlay, &bottle.url);
    for number in 1..=insertions {
        let laid = desk.readers().lay_down(card);
        window
            .see(&format!("//h2[starts-with(normalize-space(), 'Sent from here')]/span[normalize-space()='{number}']"))
            .await;
        card = laid.take_away();
        // The service looks for cards every 400 ms: a swap in between is none to it.
        window.see("//header//a[contains(., '2 readers')]").await;
    }
    assert_eq!(card.counter(), insertions);
    let taps = format!(
        "/admin/v1/interactions?tag_id={}&verification=verified&limit=500",
        bottle.id
    );
    let (_, page) = window.call("GET", &taps, &Value::Null).await;
    let verified = page["items"].as_array().map(Vec::len);
    assert_eq!(verified, usize::try_from(insertions).ok(), "{page}");
    let all = format!("/admin/v1/tags/{}", bottle.id);
    let (_, tag) = window.call("GET", &all, &Value::Null).await;
    assert_eq!(tag["scan_count"], insertions);

    let (elsewhere, shown) = static_card(4, "https://example.com/t/bottle-41");
    let _laid = desk.readers().lay_down(elsewhere);
    window.see(&shown).await;
    window
        .see("//*[@role='alert'][contains(., 'example.com, which is not this service')]")
        .await;
    let (_, tag) = window.call("GET", &all, &Value::Null).await;
    assert_eq!(tag["scan_count"], insertions);
    window.quit().await;
}

#[tokio::test]
async fn an_unknown_inlay_gets_its_tag_by_one_click() {
    let mut desk = Desk::new();
    desk.plug_readers_in();
    let window = desk.open_ready().await;
    let (card, _) = static_card(5, &format!("{}/bottle-77", tag_url(&window).await));
    // It lay there before anybody looked.
    let _laid = desk.readers().lay_down(card);
    go(&window, "Reader").await;
    window
        .see("//button[normalize-space()='Make its tag']")
        .await;
    window.leave_picture("reader-unknown").await;
    window.click_named("Make its tag").await;
    window
        .see("//h2/a[normalize-space()='Tag bottle-77']")
        .await;
    let (_, inlays) = window
        .call("GET", "/admin/v1/inlays?uid=04AABBCCDDEE05", &Value::Null)
        .await;
    assert_eq!(inlays["items"][0]["technology"], "ntag215", "{inlays}");
    window.quit().await;
}

#[tokio::test]
async fn inlays_get_the_tags_of_a_list_in_series() {
    let mut desk = Desk::new();
    desk.plug_readers_in();
    let window = desk.open_ready().await;
    let mut tags = Vec::new();
    for slug in ["lamp-01", "lamp-02", "lamp-03"] {
        let tag = json!({"name": format!("Lamp {slug}"), "slug": slug});
        tags.push(made(&window, "/tags", tag).await);
    }
    // One has its inlay already, and is left out.
    let equipped = json!({"uid": "04AABBCCDDEE30", "technology": "ntag213", "tag_id": tags[1]});
    made(&window, "/inlays", equipped).await;
    go(&window, "Reader").await;
    window.click_named("Assign in series").await;
    window.fill("Tags", "Lamp").await;
    window.click_named("Find tags").await;
    window.click_named("Start with 2 tags").await;

    let lay = async |serial: u8, says: &str| {
        let (card, _) = static_card(serial, "https://example.com/blank");
        let laid = desk.readers().lay_down(card);
        window
            .see(&format!("//p[normalize-space()=\"{says}\"]"))
            .await;
        laid.take_away();
        window.see("//header//a[contains(., '2 readers')]").await;
    };
    let next = window.find_text("//p[starts-with(., 'Lay down')]").await;
    let (first, second) = if next.contains("lamp-01") {
        ("lamp-01", "lamp-03")
    } else {
        ("lamp-03", "lamp-01")
    };
    lay(31, &format!("04AABBCCDDEE1F is Lamp {first}'s.")).await;
    lay(31, "This inlay was assigned a moment ago.").await;
    lay(32, &format!("04AABBCCDDEE20 is Lamp {second}'s.")).await;
    window
        .see("//p[normalize-space()='Every tag has its inlay.']")
        .await;
    for tag in tags {
        let path = format!("/admin/v1/inlays?tag_id={tag}");
        let (_, inlays) = window.call("GET", &path, &Value::Null).await;
        let bound = inlays["items"].as_array().map(Vec::len);
        assert_eq!(bound, Some(1), "{inlays}");
    }
    window.quit().await;
}

/// The verdicts of a sheet so far, in their order.
async fn verdicts(window: &Window) -> Vec<String> {
    let (_, sheet) = window.call("GET", "/admin/v1/sheets/1", &Value::Null).await;
    let rows = sheet["rows"].as_array().unwrap().iter();
    rows.map(|row| row["verdict"].as_str().unwrap().to_owned())
        .collect()
}

/// What is laid down as this number of the sheet, and its verdict.
async fn numbered(
    window: &Window,
    bottle: &Bottle,
    number: u8,
) -> (Box<dyn VirtualCard>, &'static str) {
    let own = async || register(window, bottle).await;
    match number {
        // Known to nobody: its MAC is of a key that the service does not have.
        8 => {
            let mut forged = own().await;
            forged.keys.file = chip(Mirror::Plain, MacFrom::None).keys.file;
            (
                Box::new(VirtualNtag424::encoded(&forged, &bottle.url)),
                "not_verified",
            )
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

    // By keyboard alone.
    window.keys("gh").await;
    window.see("//h1[normalize-space()='Test sheets']").await;
    window.keys("n").await;
    window
        .tab_to("//input[@placeholder='Delivery of 21 November']")
        .await;
    window.keys("Delivery 12").await;
    window.key(fantoccini::key::Key::Enter).await;
    window
        .see("//p[normalize-space()='Lay down number 1 of 25.']")
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
                .see("//p[normalize-space()='Lay down number 11 of 25.']")
                .await;
        }
        let row = format!("//tbody/tr[1]/td[1][normalize-space()='{number}']");
        if number == 4 {
            // The first one once more.
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
            laid.take_away();
            expected.push(verdict);
        }
        window.see("//header//a[contains(., '2 readers')]").await;
    }
    assert_eq!(verdicts(&window).await, expected);
    window
        .see("//p[normalize-space()='All 25 are tested.']")
        .await;
    window.leave_picture("sheet").await;
    let (_, tag) = window
        .call(
            "GET",
            &format!("/admin/v1/tags/{}", bottle.id),
            &Value::Null,
        )
        .await;
    assert_eq!(
        tag["scan_count"], 21,
        "faults that a tap cannot show are not tapped"
    );
    window.quit().await;
}

#[tokio::test]
async fn the_doctor_says_what_is_missing_until_it_is_there() {
    let mut desk = Desk::new();
    desk.plug_readers_in();
    desk.readers_mut().restart(false);
    let window = desk.open_ready().await;
    window
        .press("//header//a[normalize-space()='no reader']")
        .await;
    window
        .see("//h3[contains(., 'reader')]/following-sibling::pre")
        .await;
    window.leave_picture("doctor").await;
    desk.readers_mut().restart(true);
    window
        .see("//h3[contains(., 'Virtual reader 00 00 is ready')]")
        .await;
    window.quit().await;
}
