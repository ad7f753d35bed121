//! Moving from another service: from its export and its URLs to a verified tap at the old address.

mod published;
mod wizard;

use std::fs;

use serde_json::json;
use tapdesk_service::inlay::derivation::{Derivation, MasterSecret};
use tapdesk_service::inlay::virtual_inlay::VirtualInlay;
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::fixtures::{chip, hex};
use tapdesk_tests::{Answering as _, Client, TestService};

use super::day::connect;
use crate::window::Desk;
use published::moves;
use wizard::Wizard;

/// The host of the other service.
const OLD: &str = "old.example";

#[tokio::test]
async fn a_stranger_s_file_and_three_urls_lead_to_a_verified_tap_on_the_old_address() {
    let inlay = chip(Mirror::Plain, MacFrom::None);
    let path = |counter| {
        let code = inlay.code_at(counter, [0; 5]);
        format!("/v?uid={}&token={}", code.uid, code.token)
    };
    let urls = [1, 2, 3].map(|counter| format!("https://{OLD}{}", path(counter)));
    let key = hex(inlay.keys.file.expose());
    let desk = Desk::new();
    let file = desk.path("cards.csv");
    let header = "card_name,uid,k2_cmac_key,last_counter_value";
    fs::write(
        &file,
        format!("{header}\nAnna's card,{},{key},3\n", inlay.uid),
    )
    .unwrap();

    let window = desk.open_ready().await;
    window.press("//nav//a[normalize-space()='Tags']").await;
    window.click_named("Move in").await;
    window
        .press("//button[.//strong[normalize-space()='Bolt Card, LNbits']]")
        .await;
    window.fill("URLs", &urls.join(" ")).await;
    window.fill("Keys", &key).await;
    window.click_named("Find the format").await;
    window.see("//h2[normalize-space()='Proved']").await;
    window.click_named("Use this template…").await;
    window.click_named("Create and continue").await;
    window
        .see("//article[contains(., '{picc}') or contains(., '{uid}')]")
        .await;
    window.click_named("Continue").await;

    window.choose_file(&file).await;
    window.click_named("Check").await;
    window
        .see("//*[@role='status'][contains(., '1 row can be imported')]")
        .await;
    window.click_named("Import").await;
    window
        .see("//*[@role='status'][contains(., '1 row imported')]")
        .await;
    window.click_named("Continue").await;
    window
        .see("//*[normalize-space()='When an unlisted chip is tapped']")
        .await;
    window.click_named("Continue").await;
    window
        .see("//strong[contains(., 'waiting for the first tap')]")
        .await;

    let address = window.find_text("//header//code").await;
    let visitor = Client::new(format!("http://{address}"), "");
    let tap = visitor.get(&path(4)).header("host", OLD);
    assert_eq!(tap.answer().await.status, 200);
    window
        .see("//h2[normalize-space()='You have moved in']")
        .await;
    // The import contains the other service's last counter, so its codes are spent.
    visitor.get(&path(3)).header("host", OLD).answer().await;
    window
        .press("//section//a[normalize-space()=\"Anna's card\"]")
        .await;
    window.see("//main//*[normalize-space()='verified']").await;
    window.quit().await;
}

/// sdm-backend has one master key and no list: the first tap of each chip creates its tag.
#[tokio::test]
async fn a_master_key_without_a_list_leads_to_a_tag_at_the_first_tap() {
    const MASTER: &str = "A55AA55AA55AA55AA55AA55AA55AA55A";
    let scheme = json!({"scheme": "sdm_backend", "version": 2});
    let derivation: Derivation = serde_json::from_value(scheme).unwrap();
    let secret = MasterSecret::from_hex(MASTER).unwrap();
    let [known, stranger] = [(); 2].map(|()| {
        let mut inlay = chip(Mirror::Encrypted, MacFrom::None);
        inlay.keys = derivation.keys(&secret, inlay.uid).unwrap();
        inlay
    });
    let path = |inlay: &VirtualInlay, counter| {
        let code = inlay.code_at(counter, [0; 5]);
        format!("/tag?picc_data={}&cmac={}", code.uid, code.token)
    };
    let urls = [1, 2].map(|counter| format!("https://{OLD}{}", path(&known, counter)));

    let desk = Desk::new();
    let window = desk.open_ready().await;
    window.press("//nav//a[normalize-space()='Tags']").await;
    window.click_named("Move in").await;
    window
        .press("//button[.//strong[normalize-space()='sdm-backend']]")
        .await;
    window.fill("URLs", &urls.join(" ")).await;
    window.fill("Master keys", MASTER).await;
    window.click_named("Find the format").await;
    window.see("//h2[normalize-space()='Proved']").await;
    window.click_named("Use this template…").await;
    window.click_named("Create and continue").await;
    window.see("//article[contains(., '{picc}')]").await;
    window.click_named("Continue").await;
    window.click_named("Continue without a table").await;
    window.press("//label[contains(., 'Create a tag')]").await;
    window.click_named("Continue").await;
    window
        .see("//strong[contains(., 'waiting for the first tap')]")
        .await;

    let address = window.find_text("//header//code").await;
    let visitor = Client::new(format!("http://{address}"), "");
    let tap = visitor.get(&path(&stranger, 1)).header("host", OLD);
    assert_eq!(tap.answer().await.status, 200);
    window
        .see("//h2[normalize-space()='You have moved in']")
        .await;
    let link = format!("//section//a[normalize-space()='{}']", stranger.uid);
    window.press(&link).await;
    window.see("//main//*[normalize-space()='verified']").await;
    window.quit().await;
}

/// The number of windows that share the published forms.
const WINDOWS: usize = 3;

/// Moves in with every third of the published forms, in one window.
async fn published_forms_end_with_their_verdicts(first: usize) {
    let desk = Desk::new();
    let window = desk.open_ready().await;
    let address = window.find_text("//header//code").await;
    let token = fs::read_to_string(desk.database().with_file_name("admin.token")).unwrap();
    let service = Client::new(format!("http://{address}"), token.trim());
    let wizard = Wizard::new(&desk, &window, &service, false);
    for one in moves().iter().skip(first).step_by(WINDOWS) {
        wizard.move_in(one).await;
    }
    window.quit().await;
}

#[tokio::test]
async fn each_published_form_ends_with_its_verdict_at_the_old_address_in_the_first_window() {
    published_forms_end_with_their_verdicts(0).await;
}

#[tokio::test]
async fn each_published_form_ends_with_its_verdict_at_the_old_address_in_the_second_window() {
    published_forms_end_with_their_verdicts(1).await;
}

#[tokio::test]
async fn each_published_form_ends_with_its_verdict_at_the_old_address_in_the_third_window() {
    published_forms_end_with_their_verdicts(2).await;
}

/// One of each kind: short links, several reels at one address, and chips without a code.
const ON_POSTGRES: [&str; 4] = [
    "Blue Bite: UID and token",
    "sdm-backend: four forms at one address",
    "sdm-backend: a master key and no list",
    "GoToTags: a mirrored UID without a code",
];

#[tokio::test]
async fn a_window_on_a_service_with_postgresql_moves_in_there() {
    let postgres = TestService::start_with(|options| "postgres".clone_into(&mut options.database));
    let shop = postgres.await;
    assert!(shop.postgres().is_some(), "its database is PostgreSQL");
    let desk = Desk::new();
    let window = desk.open_ready().await;
    connect(&window, &shop, "Shop", shop.admin_token()).await;
    let wizard = Wizard::new(&desk, &window, &shop, true);
    let mut all = moves();
    all.retain(|one| ON_POSTGRES.contains(&one.name.as_str()));
    assert_eq!(all.len(), ON_POSTGRES.len());
    for one in all {
        wizard.move_in(&one).await;
    }
    window.quit().await;
}
