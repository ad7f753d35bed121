//! The first chip: from an empty database to a verified tap at a proved address.

use tapdesk_tests::{Answering as _, Client, network_address};

use crate::reader::encode::{FOR_TRYING, blank, lay};
use crate::window::{Desk, Window};

/// Chooses the address for chips in the screen's question: the network's address, which proves
/// itself, or, on a machine without a network, this computer's.
pub(super) async fn choose_address(window: &Window) {
    if network_address().is_some() {
        window.click_named("Use this network").await;
    } else {
        window.press(FOR_TRYING).await;
    }
}

/// The address of a URL, and its path with the query.
pub(super) fn split(url: &str) -> (&str, &str) {
    let host = url.find("://").map_or(0, |at| at + 3);
    let path = url[host..].find('/').expect("the URL has a path");
    url.split_at(host + path)
}

#[tokio::test]
async fn an_owner_taps_a_first_chip_that_is_verified_from_an_empty_database() {
    let mut desk = Desk::new();
    desk.plug_readers_in();
    let window = desk.open_ready().await;
    let way = desk.begin("first verified tap");
    let proved = network_address().is_some();
    if proved {
        choose_address(&window).await;
        window.click_named("Create experience").await;
    } else {
        window
            .press("//nav//a[normalize-space()='Experiences']")
            .await;
        window.click_named("New experience").await;
    }
    window.fill("Name", "Register").await;
    window
        .fill("Destination URL", "https://example.com/register")
        .await;
    window.click_named("Create").await;
    window.see("//main//*[normalize-space()='Register']").await;
    if proved {
        window.press("//nav//a[normalize-space()='Overview']").await;
        window.click_named("Create run").await;
    } else {
        window.press("//nav//a[normalize-space()='Encode']").await;
        window.click_named("New run").await;
        choose_address(&window).await;
    }
    window
        .press("//*[@role='dialog']//button[normalize-space()='Create run of 50 inlays']")
        .await;
    window
        .see("//p[normalize-space()='Place inlay 1 of 50 on the reader.']")
        .await;
    let mut chip = lay(&desk, &window, blank(1), "good", "Encoded").await;

    // A phone reads the chip, and opens its URL.
    let url = chip.read_url();
    let (address, path) = split(&url);
    assert_eq!(address.contains("127.0.0.1"), !proved, "{url}");
    let phone = Client::new(address, "");
    assert_eq!(phone.get(path).answer().await.status, 302);
    window
        .press("//nav//a[normalize-space()='Interactions']")
        .await;
    window
        .see("//main//*[@role='row'][@data-row='1'][contains(., 'verified')][not(contains(., 'not verified'))]")
        .await;
    // The limit is a goal: owners who need more steps give up.
    way.done(20, 0);
    window.quit().await;
}
