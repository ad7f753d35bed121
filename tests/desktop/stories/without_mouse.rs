//! A person without a mouse: from an empty database to an encoded chip.

use fantoccini::key::Key;
use tapdesk_tests::network_address;

use crate::reader::encode::{FOR_TRYING, blank, lay};
use crate::window::{Desk, Window};

/// Moves to a button with the Tab key, and presses it with the Enter key.
async fn enter(window: &Window, button: &str) {
    window.tab_to(button).await;
    window.key(Key::Enter).await;
}

#[tokio::test]
async fn somebody_without_a_mouse_encodes_a_first_chip_from_an_empty_database() {
    let mut desk = Desk::new();
    desk.plug_readers_in();
    let window = desk.open_ready().await;
    let way = desk.begin("first chip only by keyboard");
    let proved = network_address().is_some();
    if proved {
        enter(&window, "//button[normalize-space()='Use this network']").await;
        window
            .see("//a[normalize-space()='Create experience']")
            .await;
    }
    window.keys("ge").await;
    window.see("//h1[normalize-space()='Experiences']").await;
    window.keys("n").await;
    let field = |label: &str| format!("//*[@id=//label[normalize-space()='{label}']/@for]");
    window.tab_to(&field("Name")).await;
    window.keys("Register").await;
    window.tab_to(&field("Destination URL")).await;
    window.keys("https://example.com/register").await;
    enter(
        &window,
        "//*[@role='dialog']//button[normalize-space()='Create']",
    )
    .await;
    window.see("//main//h2[contains(., 'Register')]").await;

    window.keys("gn").await;
    window.see("//h1[normalize-space()='Encode']").await;
    window.keys("n").await;
    if !proved {
        enter(&window, FOR_TRYING).await;
    }
    enter(
        &window,
        "//*[@role='dialog']//button[normalize-space()='Create run of 50 inlays']",
    )
    .await;
    window
        .see("//p[normalize-space()='Place inlay 1 of 50 on the reader.']")
        .await;
    lay(&desk, &window, blank(1), "good", "Encoded").await;
    way.done(0, 80);
    window.quit().await;
}
