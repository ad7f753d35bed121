//! Typical tasks of people, from the first start to the result.

mod bottles;
mod day;
mod exhibition;
mod field_staff;
mod first_chip;
mod mistakes;
mod moving;
mod three_products;
mod without_mouse;

use std::fmt::Write as _;
use std::fs;

use fantoccini::key::Key;
use serde_json::{Value, json};
use tapdesk_tests::Client;

use crate::window::{Desk, Window};

/// The tag of the first demo inlay, as the service returns it.
async fn demo_bottle(window: &Window) -> Value {
    let (_, tags) = window
        .call(
            "GET",
            "/admin/v1/tags?simulated=true&q=demo-bottle",
            &Value::Null,
        )
        .await;
    tags["items"][0].clone()
}

/// The simulator's step after a variable was updated.
const UPDATED: &str = "//li[contains(., 'Update a variable')]//pre[starts-with(., '200')]";

#[tokio::test]
async fn from_the_first_start_to_an_updated_variable_by_mouse() {
    let desk = Desk::new();
    let window = desk.open_ready().await;
    window.click_named("Add demo data").await;
    window.click_named("Open simulator").await;
    window
        .press("//main//*[@role='row'][contains(., 'demo-bottle')]")
        .await;
    window.click_named("Tap").await;
    window
        .see("//li[contains(., 'Tap')]//*[normalize-space()='verified']")
        .await;
    window.click_named("Read the payload").await;
    window
        .see("//li//pre[contains(., '\"tag_verified\": true')]")
        .await;
    window.click_named("Register").await;
    window.see(UPDATED).await;
    let bottle = demo_bottle(&window).await;
    assert_eq!(bottle["variables"]["registered"], "true", "{bottle}");

    window.press("//nav//a[normalize-space()='Overview']").await;
    window.click_named("Remove demo data").await;
    window
        .see("//button[normalize-space()='Add demo data']")
        .await;
    assert_eq!(demo_bottle(&window).await, Value::Null);
    window.quit().await;
}

#[tokio::test]
async fn from_the_first_start_to_an_updated_variable_by_keyboard_alone() {
    let desk = Desk::new();
    let window = desk.open_ready().await;
    window
        .tab_to("//button[normalize-space()='Add demo data']")
        .await;
    window.key(Key::Enter).await;
    window
        .tab_to("//button[normalize-space()='Open simulator']")
        .await;
    window.key(Key::Enter).await;
    window
        .tab_to("//main//*[@role='row'][contains(., 'demo-bottle')]")
        .await;
    window.key(Key::Enter).await;
    window.tab_to("//button[normalize-space()='Tap']").await;
    window.key(Key::Enter).await;
    window
        .see("//li[contains(., 'Tap')]//*[normalize-space()='verified']")
        .await;
    window.tab_to("//input[@aria-label='New value']").await;
    window.keys(" by hand").await;
    // A key works once: only the button uses it, never Enter in a field.
    window
        .tab_to("//button[normalize-space()='Register']")
        .await;
    window.key(Key::Enter).await;
    window.see(UPDATED).await;
    let bottle = demo_bottle(&window).await;
    let registered = bottle["variables"]["registered"].as_str().unwrap();
    assert!(registered.contains("by hand"), "{bottle}");
    window.quit().await;
}

#[tokio::test]
async fn a_tag_of_ones_own_is_made_tapped_and_seen_in_the_feed() {
    let desk = Desk::new();
    let window = desk.open_ready().await;
    window
        .press("//nav//a[normalize-space()='Experiences']")
        .await;
    window.click_named("New experience").await;
    window.fill("Name", "Register").await;
    window
        .fill("Destination URL", "https://example.com/register")
        .await;
    window.click_named("Create").await;
    window.see("//main//*[normalize-space()='Register']").await;

    window.press("//nav//a[normalize-space()='Tags']").await;
    window.click_named("Create the first tag").await;
    window.fill("Name", "Bottle 41").await;
    window.fill("Slug", "bottle-41").await;
    window.click_named("Create").await;
    window.click_named("Properties").await;
    let variables = "//section[h3[starts-with(., 'Variables')]]";
    window
        .write(
            &format!("{variables}//input[@aria-label='New key']"),
            "registered",
        )
        .await;
    window
        .write(
            &format!("{variables}//input[@aria-label='Default value']"),
            "false",
        )
        .await;
    window
        .press(&format!("{variables}//button[normalize-space()='Add']"))
        .await;
    window
        .see(&format!(
            "{variables}//input[@aria-label='Value of registered']"
        ))
        .await;
    window.click_named("Save properties").await;
    window
        .see("//*[@role='status']//*[normalize-space()='Properties saved.']")
        .await;
    window.click_named("Details").await;
    window.choose("Experience", "Register").await;
    window.click_named("Save").await;
    window
        .see("//*[@role='status']//*[normalize-space()='Saved.']")
        .await;

    window
        .press("//nav//a[normalize-space()='Interactions']")
        .await;
    window.see("//*[normalize-space()='No taps yet']").await;
    let address = window.find_text("//header//code").await;
    let visitor = Client::new(format!("http://{address}"), "");
    let tap = visitor.tap("/t/bottle-41").await;
    window
        .see("//main//*[@role='row'][@data-row='1'][contains(., 'not checked')]")
        .await;
    let registered = json!({"registered": "true"});
    visitor.update(tap.key(), registered).await.expect(200);
    let (_, tag) = window.call("GET", "/admin/v1/tags/1", &Value::Null).await;
    assert_eq!(tag["variables"]["registered"], "true", "{tag}");
    window.quit().await;
}

#[tokio::test]
async fn ten_thousand_rows_are_imported_but_for_three_which_are_named() {
    const BAD: [usize; 3] = [18, 5_000, 10_001];
    let mut csv = "name,slug,variable:registered\n".to_owned();
    for row in 2..=10_001 {
        let name = if BAD.contains(&row) {
            String::new()
        } else {
            format!("Bottle {row}")
        };
        writeln!(csv, "{name},bottle-{row:06},false").unwrap();
    }
    let desk = Desk::new();
    let file = desk.path("bottles.csv");
    fs::write(&file, csv).unwrap();
    let window = desk.open_ready().await;
    window.press("//nav//a[normalize-space()='Tags']").await;
    window.click_named("Import…").await;
    window.choose_file(&file).await;
    window.see("//p[contains(., '10,000 rows')]").await;
    window.click_named("Check").await;
    window
        .see("//*[@role='status'][contains(., '9,997 rows can be imported, 3 rows cannot')]")
        .await;
    window
        .see("//*[normalize-space()='Rows 18, 5000 and 10001']")
        .await;
    window.click_named("Import").await;
    window
        .see("//*[@role='status'][contains(., '9,997 rows imported')]")
        .await;
    window.click_named("Done").await;
    window
        .see("//h1[normalize-space()='Tags']/following-sibling::*[normalize-space()='9,997']")
        .await;
    window.quit().await;
}
