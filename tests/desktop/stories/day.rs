//! A day of an owner of 5,000 bottles whose service runs on a server: from the spreadsheet to the
//! report, and a colleague who sees one product.

use std::fs;
use std::time::Duration;

use serde_json::json;
use tapdesk_service::clock::Timestamp;
use tapdesk_tests::{Answering as _, TestService, eventually, tables};

use super::bottles::find;
use crate::reader::encode::FOR_TRYING;
use crate::reader::go;
use crate::window::{Desk, Window};

/// The title of the system's dialog that asks where to save a file.
const SAVE: &str = "Save File";
const PANE: &str = "//*[@aria-label='Selected group']";

/// Adds a connection to the service, and shows it.
pub(super) async fn connect(window: &Window, shop: &TestService, name: &str, token: &str) {
    go(window, "Settings").await;
    window.click_named("Connections").await;
    window.fill("Name", name).await;
    window.fill("Server URL", shop.base()).await;
    window.fill("Token", token).await;
    window.click_named("Add connection").await;
    window
        .press(&format!(
            "//*[@role='row'][contains(., '{name}')]//button[normalize-space()='Connect']"
        ))
        .await;
    window
        .see(&format!("//header[contains(., '{name}')]"))
        .await;
}

async fn import(desk: &Desk, window: &Window) {
    let file = desk.path("Flaschen.csv");
    fs::write(&file, tables::german_bottles()).unwrap();
    go(window, "Tags").await;
    window.click_named("Import…").await;
    window.choose_file(&file).await;
    window
        .see("//p[contains(., 'was read as Windows-1252')]")
        .await;
    // The other columns have headings that are known.
    window
        .press("//select[@aria-label='Import Charge as']//option[@value='group']")
        .await;
    window
        .press("//label[contains(., 'If a group does not exist')]//option[normalize-space()='create it']")
        .await;
    window.click_named("Check").await;
    window
        .see("//*[@role='status'][contains(., '5,000 rows can be imported')]")
        .await;
    window.click_named("Import").await;
    window.click_named("Allow changes").await;
    window
        .see("//*[@role='status'][contains(., '5,000 rows imported')]")
        .await;
    window.click_named("Done").await;
}

/// Makes a redirect with a rule for a country, and gives it to a product.
async fn lead(window: &Window) {
    go(window, "Experiences").await;
    window.click_named("New experience").await;
    window.fill("Name", "Rotwein").await;
    window
        .fill("Destination URL", "https://owner.example/en")
        .await;
    window.click_named("Create").await;
    window.click_named("Add rule").await;
    window
        .press("//select[@aria-label='Condition']//option[normalize-space()='the country is']")
        .await;
    window
        .write("//input[starts-with(@aria-label, 'Countries')]", "DE")
        .await;
    window
        .fill("Destination URL of rule 1", "https://owner.example/de")
        .await;
    window.click_named("Publish…").await;
    window
        .press("//*[@role='dialog']//button[normalize-space()='Publish']")
        .await;
    window
        .see("//*[@role='status']//*[contains(., 'Published.')]")
        .await;

    go(window, "Tags").await;
    let row = "//li[@role='treeitem']";
    window
        .press(&format!(
            "{row}[contains(., 'Weine')]//*[contains(@class, 'twist')]"
        ))
        .await;
    window
        .press(&format!(
            "{row}[contains(., 'Château Rouge')]//*[contains(@class, 'label')]"
        ))
        .await;
    window.click_named("Open product").await;
    window.choose("Experience", "Rotwein").await;
    window
        .press(&format!(
            "{PANE}//form[.//h3[normalize-space()='For its tags']]//button[normalize-space()='Save']"
        ))
        .await;
    window
        .see("//*[@role='status']//*[normalize-space()='Saved.']")
        .await;
}

/// Saves a file with the name that the system's dialog proposes, and returns its content.
async fn save(desk: &Desk, window: &Window, name: &str, notice: &str) -> Vec<u8> {
    let open = || desk.hands().titled(SAVE) > 0;
    eventually("the dialog is shown", async || open().then_some(())).await;
    // A dialog that is not ready takes no key. A second Enter behind one that has just closed would press
    // the button of the window that has the focus again.
    eventually("the dialog is closed", async || {
        desk.hands().enter(SAVE);
        let closed = async {
            while open() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let closed = tokio::time::timeout(Duration::from_secs(2), closed);
        closed.await.ok()
    })
    .await;
    window
        .see(&format!("//*[@role='status']//*[contains(., '{notice}')]"))
        .await;
    fs::read(desk.path(name)).expect("the file is in the home folder")
}

/// Opens a tag's URL from a country. Returns the destination on the owner's site.
async fn tap(shop: &TestService, path: &str, country: &str) -> String {
    let request = shop.get(path).header("user-agent", "A phone");
    let answer = request.header("cf-ipcountry", country).answer().await;
    let target = answer.header("location").expect("a redirect");
    let target = target.strip_prefix("https://owner.example/").unwrap();
    target.split_once('?').unwrap().0.to_owned()
}

fn advance_to(shop: &TestService, at: &str) {
    let at: Timestamp = serde_json::from_value(json!(at)).unwrap();
    shop.advance(at.millis() - shop.now());
}

async fn print_labels(desk: &Desk, window: &Window) {
    let way = desk.begin("a day: the labels of a batch");
    window
        .press(&format!("{PANE}//a[normalize-space()='L03']"))
        .await;
    window
        .press("//input[@aria-label='Select Flasche 3998']")
        .await;
    window.click_named("Select all 500").await;
    window.click_named("Print labels…").await;
    window
        .see("//*[@role='dialog']//*[@role='status'][contains(., '500 labels on 24 pages')]")
        .await;
    window.click_named("Save labels…").await;
    window.press(FOR_TRYING).await;
    let labels = save(desk, window, "labels.pdf", "500 labels saved.").await;
    assert!(labels.starts_with(b"%PDF-"));
    way.done(6, 0);
}

/// Recalls the batch in the pane, and ends the recall. A tap of `bottle` leads to the page of the
/// recall meanwhile.
async fn recall(desk: &Desk, window: &Window, shop: &TestService, bottle: &str) {
    let way = desk.begin("a day: a recall, and its end");
    window
        .press(&format!(
            "{PANE}//button[@aria-label='More actions for L03']"
        ))
        .await;
    window
        .press("//*[@role='menuitem'][contains(., 'Recall…')]")
        .await;
    window.choose("Page of the recall", "Redirect").await;
    window.click_named("Recall 500 tags").await;
    window
        .see(&format!(
            "{PANE}//*[contains(., 'Taps of 500 tags lead to')]"
        ))
        .await;
    assert_eq!(tap(shop, bottle, "DE").await, "recall");
    window.click_named("End recall…").await;
    window.click_named("End recall of 500 tags").await;
    window
        .see(&format!("{PANE}[not(contains(., 'Recalled.'))]"))
        .await;
    assert_eq!(tap(shop, bottle, "FR").await, "en");
    way.done(7, 0);
}

/// Looks at the report of the month before, and exports it as CSV.
async fn report(desk: &Desk, window: &Window) -> String {
    let way = desk.begin("a day: the report for March");
    go(window, "Overview").await;
    // An answer of the service says which day it is.
    let breakdown = "//section[@aria-labelledby='breakdown']";
    window.see(breakdown).await;
    window.click_named("Dates").await;
    window.click_named("Last month").await;
    window
        .see(&format!(
            "{breakdown}//p[starts-with(normalize-space(), '5 taps')]"
        ))
        .await;
    window.click_named("Export report").await;
    window
        .press("//*[@role='menuitem'][normalize-space()='CSV…']")
        .await;
    let report = save(desk, window, "report.csv", "Report exported.").await;
    way.done(5, 0);
    String::from_utf8(report).expect("CSV is text")
}

/// Makes a token for one product. Returns it.
async fn limited_token(window: &Window) -> String {
    go(window, "Settings").await;
    window.click_named("Tokens").await;
    window.click_named("New token…").await;
    window.fill("Name", "Colleague").await;
    window
        .press("//label[contains(., 'Only these groups')]/input")
        .await;
    window.click_named("Add a group…").await;
    window
        .write("//input[@aria-label='Find a group']", "Rouge")
        .await;
    window
        .press("//*[@role='dialog']//li[@role='treeitem'][contains(., 'Château Rouge')]")
        .await;
    window.click_named("Add").await;
    window
        .see("//*[@role='dialog']//*[normalize-space()='Weine / Château Rouge']")
        .await;
    window.click_named("Create token").await;
    let token = window.find_text("//*[@role='dialog']//code").await;
    window.click_named("Close").await;
    token
}

#[tokio::test]
async fn an_owner_of_5000_bottles_prints_recalls_reports_and_lets_a_colleague_see_one_product() {
    let shop = TestService::start().await;
    let countries = json!({"country_header": "CF-IPCountry", "trusted_proxies": ["127.0.0.1"]});
    shop.admin_patch("/settings", countries).await;
    shop.redirect("https://owner.example/recall").await;
    let mut desk = Desk::new();
    desk.set("TZ", "Europe/Berlin");
    let window = desk.open_ready().await;
    connect(&window, &shop, "Shop", shop.admin_token()).await;

    let way = desk.begin("a day: a spreadsheet made by Excel");
    import(&desk, &window).await;
    way.done(10, 0);
    lead(&window).await;
    print_labels(&desk, &window).await;

    advance_to(&shop, "2026-03-02T08:00:00Z");
    let bottle = shop.admin_get("/tags?q=SN-003014").await["items"][0].clone();
    let bottle = format!("/t/{}", bottle["slug"].as_str().unwrap());
    assert_eq!(tap(&shop, &bottle, "DE").await, "de");
    assert_eq!(tap(&shop, &bottle, "FR").await, "en");
    recall(&desk, &window, &shop, &bottle).await;

    let way = desk.begin("a day: a customer calls with a serial number");
    find(&window, "sn-003014", "Flasche 3014").await;
    way.done(0, 3);

    // The last half hour of March in Berlin, and the first of April, which is in March elsewhere.
    for at in ["2026-03-31T21:30:00Z", "2026-03-31T22:00:00Z"] {
        advance_to(&shop, at);
        tap(&shop, &bottle, "FR").await;
    }
    advance_to(&shop, "2026-04-01T08:00:00Z");
    let report = report(&desk, &window).await;
    for row in [
        "\ntotal,,,5,",
        "\nday,2026-03-02T00:00:00+01:00,2026-03-02,4,",
        "\nday,2026-03-31T00:00:00+02:00,2026-03-31,1,",
        "\ncountry,DE,,2,",
        "\ncountry,FR,,3,",
    ] {
        assert!(report.contains(row), "{row}: {report}");
    }

    let token = limited_token(&window).await;
    connect(&window, &shop, "Colleague", &token).await;
    go(&window, "Tags").await;
    window
        .see("//h1[normalize-space()='Tags']/following-sibling::*[normalize-space()='2,500']")
        .await;
    window
        .see("//li[@role='treeitem'][contains(., 'Château Rouge')]")
        .await;
    let page = window.value_of("document.body.innerText").await;
    assert!(!page.as_str().unwrap().contains("Riesling"), "{page}");
    window.quit().await;
}
