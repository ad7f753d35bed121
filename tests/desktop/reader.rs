//! Field staff and tag owners: inlays on a reader, in the real window.

pub(crate) mod encode;
mod sheets;

use serde_json::{Value, json};
use tapdesk_service::inlay::virtual_inlay::VirtualInlay;
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::fixtures::{chip, chip_json};
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::virtual_card::type2::{Type2Chip, VirtualType2};
use tapdesk_tests::virtual_card::{TornOut, VirtualCard};
use tapdesk_tests::{eventually, length};

use crate::window::{Desk, Window};

/// The button that sends a tap, after the dry run.
const SEND: &str =
    "//button[(normalize-space()='Send tap' or normalize-space()='Send again') and not(@disabled)]";
/// No reader has an inlay: the next inlay on a reader is then a new insertion.
pub(crate) const EMPTY: &str = "//ul[@aria-label='Readers'][not(.//li[contains(@class, 'inlay')])]";
/// The most prominent verdict.
pub(crate) const COPIED: &str =
    "//*[@role='alert'][strong or .//strong[normalize-space()='Copied URL']]";

/// A tag that redirects, as the service returns it, and the URL that is encoded.
pub(crate) struct Bottle {
    pub(crate) id: i64,
    pub(crate) url: String,
}

pub(crate) async fn made(window: &Window, path: &str, body: Value) -> i64 {
    let path = format!("/admin/v1{path}");
    let (status, made) = window.call("POST", &path, &body).await;
    assert_eq!(status, 201, "{made}");
    made["id"].as_i64().unwrap()
}

async fn tag_url(window: &Window) -> String {
    let address = window.find_text("//header//code").await;
    format!("http://{address}/t")
}

pub(crate) async fn bottle(window: &Window, slug: &str) -> Bottle {
    let redirect = json!({"name": "Register", "kind": "redirect", "target_url": "https://owner.example/landing"});
    let experience = made(window, "/experiences", redirect).await;
    let tag = json!({"name": "Bottle 41", "slug": slug, "experience_id": experience, "variables": {"registered": "false"}});
    let id = made(window, "/tags", tag).await;
    let url = format!("{}/{slug}", tag_url(window).await);
    Bottle { id, url }
}

/// Registers a chip with the plain mirror for the bottle.
pub(crate) async fn register(window: &Window, bottle: &Bottle) -> VirtualInlay {
    let inlay = chip(Mirror::Plain, MacFrom::None);
    let mut body = chip_json(&inlay);
    body["tag_id"] = bottle.id.into();
    made(window, "/inlays", body).await;
    inlay
}

pub(crate) async fn go(window: &Window, screen: &str) {
    window
        .press(&format!("//nav//a[normalize-space()='{screen}']"))
        .await;
    window
        .see(&format!("//h1[normalize-space()='{screen}']"))
        .await;
}

/// Places a chip on the reader, sends its tap, and waits for the state.
async fn send_tap<C: VirtualCard + 'static>(
    desk: &Desk,
    window: &Window,
    card: C,
    wait: &str,
    state: &str,
) -> C {
    let laid = desk.readers().lay_down(card);
    window.see(wait).await;
    window.press(SEND).await;
    let result = format!("//section[@aria-label='Result'][.//span[normalize-space()='{state}']]");
    window.see(&result).await;
    let card = laid.take_away();
    window.see(EMPTY).await;
    card
}

pub(crate) fn counter(counter: u32) -> String {
    format!(
        "//li[span[normalize-space()='Counter']]/span[starts-with(translate(normalize-space(), ',', ' '), '{counter} ')]"
    )
}

pub(crate) fn static_card(serial: u8, url: &str) -> (VirtualType2, String) {
    let uid = [0x04, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, serial];
    let shown = format!(
        "//section[@aria-label='Inlay']//code[normalize-space()='04AABBCCDDEE{serial:02X}']"
    );
    (VirtualType2::with_url(Type2Chip::Ntag215, uid, url), shown)
}

#[tokio::test]
async fn an_inlay_is_read_its_tap_is_sent_and_every_verdict_is_distinct() {
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
    // The diagnosis is shown first, and uses up nothing.
    window
        .see(
            "//section[h3[starts-with(normalize-space(), 'Dry run')]]//*[normalize-space()='Code']",
        )
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
    window.see(EMPTY).await;
    // The tap of the last inlay can still be sent.
    window.press(SEND).await;
    window
        .see("//section[@aria-label='Result'][.//span[normalize-space()='verified']]")
        .await;
    window
        .see("//pre[contains(., '\"tag_verified\": true')]/parent::details")
        .await;
    window.click_named("Update").await;
    window
        .see("//p[contains(., 'registered is now “true”.')]")
        .await;

    let card = send_tap(&desk, &window, card, &counter(2), "verified").await;
    assert_eq!(card.counter(), 2, "one read, one tap");
    window.leave_picture("reader").await;

    // A code counts once, and the screen says so before it is sent again.
    window
        .see("//p[@role='status'][contains(., 'This code was already sent')]")
        .await;
    window.see("//button[normalize-space()='Send again']").await;

    let (copy, shown) = static_card(1, &first);
    send_tap(&desk, &window, copy, &shown, "not verified").await;
    window.see("//li[contains(., 'replayed')]").await;
    window.see(COPIED).await;
    window.leave_picture("reader-copied").await;
    let last = if first.ends_with('0') { "1" } else { "0" };
    let tampered = format!("{}{last}", &first[..first.len() - 1]);
    let (tampered, shown) = static_card(2, &tampered);
    send_tap(&desk, &window, tampered, &shown, "not verified").await;
    window.see("//li[contains(., 'wrong code')]").await;

    made(
        &window,
        "/tags",
        json!({"name": "Poster", "slug": "poster"}),
    )
    .await;
    let (printed, shown) = static_card(3, &format!("{}/poster", tag_url(&window).await));
    send_tap(&desk, &window, printed, &shown, "not checked").await;
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
    let insertions = length(10, 300);
    let mut card = VirtualNtag424::encoded(&inlay, &bottle.url);
    for number in 1..=insertions {
        let laid = desk.readers().lay_down(card);
        window
            .see(&format!("//h2[starts-with(normalize-space(), 'Sent taps')]/span[normalize-space()='{number}']"))
            .await;
        card = laid.take_away();
        // The PC/SC service looks for cards every 400 ms, so it does not notice a swap in between.
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

    // A genuine, unused code on another chip than the one that generated it.
    let stolen = inlay.code_at(insertions + 1, [0; 5]);
    let stolen = stolen.url(&tag_url(&window).await, "bottle-41");
    let (copy, shown) = static_card(6, &stolen);
    let laid = desk.readers().lay_down(copy);
    window.see(&shown).await;
    window.see(COPIED).await;
    window
        .see("//*[@role='alert'][contains(., 'Send the tap yourself to allow it.')]")
        .await;
    laid.take_away();
    window.see("//header//a[contains(., '2 readers')]").await;
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
    // The inlay was there before the window opened.
    let _laid = desk.readers().lay_down(card);
    go(&window, "Reader").await;
    window.see("//button[normalize-space()='Create tag']").await;
    window.leave_picture("reader-unknown").await;
    window.click_named("Create tag").await;
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
    // One tag already has an inlay, and is left out.
    let equipped = json!({"uid": "04AABBCCDDEE30", "technology": "ntag213", "tag_id": tags[1]});
    made(&window, "/inlays", equipped).await;
    go(&window, "Reader").await;
    window.click_named("Batch assignment").await;
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
    let next = window
        .find_text("//p[starts-with(., 'Place the inlay of')]")
        .await;
    let (first, second) = if next.contains("lamp-01") {
        ("lamp-01", "lamp-03")
    } else {
        ("lamp-03", "lamp-01")
    };
    lay(31, &format!("04AABBCCDDEE1F assigned to Lamp {first}.")).await;
    lay(31, "This inlay was just assigned.").await;
    lay(32, &format!("04AABBCCDDEE20 assigned to Lamp {second}.")).await;
    window
        .see("//p[normalize-space()='Every tag has an inlay.']")
        .await;
    for tag in tags {
        let path = format!("/admin/v1/inlays?tag_id={tag}");
        let (_, inlays) = window.call("GET", &path, &Value::Null).await;
        let bound = inlays["items"].as_array().map(Vec::len);
        assert_eq!(bound, Some(1), "{inlays}");
    }
    window.quit().await;
}

/// The number of tags.
async fn tags(window: &Window) -> usize {
    let (_, page) = window.call("GET", "/admin/v1/tags", &Value::Null).await;
    page["items"].as_array().unwrap().len()
}

#[tokio::test]
async fn a_424_that_nobody_knows_fills_its_form_and_leaves_no_tag_where_it_is_refused() {
    let mut desk = Desk::new();
    desk.plug_readers_in();
    let window = desk.open_ready().await;
    let base = tag_url(&window).await;
    go(&window, "Reader").await;

    // Its settings fill in the form: the plain mirror, the MAC over the URL from `uid` on.
    let inlay = chip(Mirror::Plain, MacFrom::Uid);
    let card = VirtualNtag424::encoded(&inlay, &format!("{base}/bottle-88"));
    let laid = desk.readers().lay_down(card);
    window
        .see("//dd[contains(., 'UID and counter in clear; MAC input: URL from uid on; file key in slot 2')]")
        .await;
    // The form appears a moment later, because the service is first asked whether it knows the
    // inlay.
    let chosen =
        "[...document.querySelectorAll('form select')].map((one) => one.value).slice(0, 2).join()";
    eventually("the form is filled by the chip's settings", async || {
        (window.value_of(chosen).await == "plain,uid").then_some(())
    })
    .await;
    window.fill("File key", "00").await;
    window.click_named("Create tag").await;
    window.see("//form//p[@role='alert']").await;
    assert_eq!(tags(&window).await, 0, "no orphan");
    let key = chip_json(&inlay)["file_key"].as_str().unwrap().to_owned();
    window.fill("File key", &key).await;
    window.click_named("Create tag").await;
    window
        .see("//h2/a[normalize-space()='Tag bottle-88']")
        .await;
    window.see("//section[h3[starts-with(normalize-space(), 'Dry run')]]//*[contains(., 'authentic (MAC input: from uid)')]").await;
    laid.take_away();
    window.see("//header//a[contains(., '2 readers')]").await;

    // A blank chip needs no keys, and neither does a known one without a tag.
    let blank = VirtualNtag424::new(chip(Mirror::Plain, MacFrom::None).uid);
    let laid = desk.readers().lay_down(blank);
    window
        .see("//dd[contains(., 'none that prove a tap')]")
        .await;
    window.click_named("Create tag").await;
    window.see("//h2/a[contains(., 'Tag of inlay')]").await;
    laid.take_away();
    window.see("//header//a[contains(., '2 readers')]").await;
    let unbound = json!({"uid": "04AABBCCDDEE07", "technology": "ntag215"});
    made(&window, "/inlays", unbound).await;
    let (card, shown) = static_card(7, &format!("{base}/bottle-88"));
    let _laid = desk.readers().lay_down(card);
    window.see(&shown).await;
    window.click_named("Assign to this tag").await;
    window
        .see("//div[contains(@class, 'panel')][h2/a[normalize-space()='Tag bottle-88']][not(.//h3[normalize-space()='This inlay has no tag yet'])]")
        .await;
    let (_, inlays) = window
        .call("GET", "/admin/v1/inlays?unbound=true", &Value::Null)
        .await;
    assert_eq!(inlays["items"], json!([]));
    assert_eq!(tags(&window).await, 2);
    window.quit().await;
}

#[tokio::test]
async fn a_failed_read_shows_what_was_asked_and_answered() {
    let mut desk = Desk::new();
    desk.plug_readers_in();
    let window = desk.open_ready().await;
    go(&window, "Reader").await;
    let card = VirtualNtag424::encoded(
        &chip(Mirror::Plain, MacFrom::None),
        "https://example.com/t/bottle-41",
    );
    let _laid = desk.readers().lay_down(TornOut::after(3, card));
    window
        .see("//p[@role='alert'][contains(., 'removed too early')]")
        .await;
    window
        .press("//summary[contains(., '4 commands to the card')]")
        .await;
    window.see("//li/code[contains(., '> FFCA000000')]").await;
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
        .see("//h3[contains(., 'reader')]/following-sibling::figure/pre")
        .await;
    window.leave_picture("doctor").await;
    desk.readers_mut().restart(true);
    window
        .see("//h3[contains(., 'Virtual reader 00 00 is ready')]")
        .await;
    window.quit().await;
}
