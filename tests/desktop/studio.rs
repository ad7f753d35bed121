//! A new page, from the first block to the visitor's update, in the real window.

use serde_json::Value;
use tapdesk_tests::client::base64;
use tapdesk_tests::{Answering as _, Client};

use crate::window::{Desk, Window};

/// Creates a page with a button until the tag is registered, and a message after that.
async fn build_the_page(window: &Window) {
    window
        .press("//nav//a[normalize-space()='Experiences']")
        .await;
    window.click_named("New experience").await;
    window
        .press("//label[normalize-space()='Page served by Tapdesk']/input")
        .await;
    window.fill("Name", "Registered or not").await;
    window.click_named("Create").await;
    add(window, "page", "Condition").await;
    add(window, "then", "Notice").await;
    window.fill("Title", "Registered").await;
    add(window, "otherwise", "Variable button").await;
    window
        .write(
            "//*[@aria-label='Blocks: otherwise']//*[@id=//label[normalize-space()='Label']/@for]",
            "Register it",
        )
        .await;
    window.click_named("Publish…").await;
    window
        .press("//*[@role='dialog']//button[normalize-space()='Publish']")
        .await;
    window
        .see("//*[@role='status']//*[starts-with(., 'Published.')]")
        .await;
}

/// Adds a block to the list of this name.
async fn add(window: &Window, list: &str, block: &str) {
    window
        .press(&format!("//button[@aria-label='Add block: {list}']"))
        .await;
    window
        .press(&format!(
            "//*[@role='menuitem'][normalize-space()='{block}']"
        ))
        .await;
}

/// Assigns the page to the demo bottle.
async fn assign_it(window: &Window) {
    window.press("//nav//a[normalize-space()='Tags']").await;
    window
        .press("//header//button[@role='switch'][contains(., 'Demo world')]")
        .await;
    window
        .press("//main//a[contains(., 'Bottle (demo)')]")
        .await;
    window.click_named("Details").await;
    window
        .press("//*[@id=//label[normalize-space()='Experience']/@for]/option[normalize-space()='Registered or not']")
        .await;
    window.click_named("Save").await;
    window
        .see("//*[@role='status']//*[normalize-space()='Saved.']")
        .await;
}

#[tokio::test]
async fn a_page_is_built_assigned_tapped_and_its_update_seen_in_the_inspector() {
    let desk = Desk::new();
    let window = desk.open_ready().await;
    window.click_named("Add demo data").await;
    window
        .see("//button[normalize-space()='Open simulator']")
        .await;
    build_the_page(&window).await;
    window.leave_picture("window-studio").await;
    assign_it(&window).await;

    window
        .press("//nav//a[normalize-space()='Simulator']")
        .await;
    window
        .press("//main//*[@role='row'][contains(., 'demo-bottle')]")
        .await;
    window.click_named("Tap").await;
    window
        .see("//li[contains(., 'Tap')]//*[normalize-space()='verified']")
        .await;
    let rk = window
        .find_text("//code[string-length(normalize-space()) = 44]")
        .await;

    // The visitor presses the page's button without JavaScript.
    let address = window.find_text("//header//code").await;
    let visitor = Client::new(format!("http://{address}"), "");
    let fields = [
        ("rolling_key", &*base64(&rk)),
        ("tag:variable:registered", "true"),
    ];
    let page = visitor.post_form("/t/demo-bottle", &fields).answer().await;
    assert_eq!(page.status, 200, "{}", page.body);
    assert!(
        page.body.contains("<strong>Registered</strong>"),
        "{}",
        page.body
    );
    assert!(!page.body.contains("Register it"), "{}", page.body);

    window.click_named("Inspect").await;
    window
        .see("//*[contains(text(), 'registered: false → true')]")
        .await;
    let (_, tags) = window
        .call(
            "GET",
            "/admin/v1/tags?simulated=true&q=demo-bottle",
            &Value::Null,
        )
        .await;
    assert_eq!(
        tags["items"][0]["variables"]["registered"], "true",
        "{tags}"
    );
    window.leave_picture("window-studio-update").await;
    window.quit().await;
}
