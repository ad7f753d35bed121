//! A cellar of 5,000 bottles: imported from a file, searched, and undone.

use std::fmt::Write as _;
use std::fs;

use fantoccini::key::Key;
use serde_json::Value;

use crate::window::{Desk, Window};

const BOTTLES: u32 = 5_000;
/// Number of bottles that already have a chip. The undo deletes one after the other.
const CHIPS: u32 = 500;

/// Searches in the palette, and opens the first result when it is the expected one.
pub(super) async fn find(window: &Window, part: &str, found: &str) {
    window.command('k').await;
    window.see("//input[@aria-controls='palette-list']").await;
    window.keys(part).await;
    window
        .see(&format!(
            "(//*[contains(@class, 'palette-item')])[1][.//*[normalize-space()='{found}']]"
        ))
        .await;
    window.key(Key::Enter).await;
    window
        .see(&format!("//main//h2[contains(., '{found}')]"))
        .await;
}

#[tokio::test]
async fn an_owner_of_5000_bottles_imports_them_finds_one_and_takes_the_import_back() {
    let mut csv = "Name,Serial number,UID,Technology\n".to_owned();
    for number in 1..=BOTTLES {
        let serial = 700_000 + number;
        let chip = if number <= CHIPS {
            format!("04B07C{number:06X}80,ntag215")
        } else {
            ",".to_owned()
        };
        writeln!(csv, "Bottle {number},LH-{serial},{chip}").unwrap();
    }
    let desk = Desk::new();
    let file = desk.path("bottles.csv");
    fs::write(&file, csv).unwrap();
    let window = desk.open_ready().await;

    let way = desk.begin("5,000 bottles: import");
    window.press("//nav//a[normalize-space()='Tags']").await;
    window.click_named("Import…").await;
    window.choose_file(&file).await;
    window.see("//p[contains(., '5,000 rows')]").await;
    window.click_named("Check").await;
    window
        .see("//*[@role='status'][contains(., '5,000 rows can be imported')]")
        .await;
    window.click_named("Import").await;
    window
        .see("//*[@role='status'][contains(., '5,000 rows imported')]")
        .await;
    window.click_named("Done").await;
    way.done(7, 0);

    // The oldest bottles are found like the newest.
    let way = desk.begin("5,000 bottles: find one by its serial number, one by its UID");
    find(&window, "00012", "Bottle 12").await;
    // The last digits of a UID find the tag that has the inlay before the inlay.
    find(&window, "00000B80", "Bottle 11").await;
    way.done(0, 6);

    let way = desk.begin("5,000 bottles: undo the import");
    window.click_named("Recent changes").await;
    window
        .press("//button[starts-with(@aria-label, 'Undo: Import of bottles.csv')]")
        .await;
    window
        .see("//*[@role='status']//*[normalize-space()='Undone.']")
        .await;
    way.done(2, 0);
    for list in ["tags", "inlays"] {
        let path = format!("/admin/v1/{list}?limit=1&count=true");
        let (_, page) = window.call("GET", &path, &Value::Null).await;
        assert_eq!(page["count"], 0, "{list}");
    }
    window.quit().await;
}
