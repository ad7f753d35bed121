//! Moving from another service: from its export and three URLs to a verified tap at the old
//! address.

use std::fs;

use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::fixtures::{chip, hex};
use tapdesk_tests::{Answering as _, Client};

use crate::window::Desk;

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
    window.press("//nav//a[normalize-space()='Inlays']").await;
    window.click_named("Bring your inlays").await;
    window.fill("URLs", &urls.join(" ")).await;
    window.fill("Keys", &key).await;
    window.click_named("Find the format").await;
    window.see("//h2[normalize-space()='Proved']").await;
    window.click_named("Use this template…").await;
    window.click_named("Create and continue").await;

    window.choose("Exported by", "boltcard").await;
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
    window.see("//pre[contains(., 'reverse_proxy')]").await;
    window.click_named("Continue").await;
    window
        .see("//h2[normalize-space()='Waiting for the first tap']")
        .await;

    let address = window.find_text("//header//code").await;
    let visitor = Client::new(format!("http://{address}"), "");
    let tap = visitor.get(&path(4)).header("host", OLD);
    assert_eq!(tap.answer().await.status, 200);
    window
        .see("//h2[normalize-space()='The first verified tap has arrived']")
        .await;
    // The import contains the other service's last counter, so its codes are spent.
    visitor.get(&path(3)).header("host", OLD).answer().await;
    window
        .press("//section//a[normalize-space()=\"Anna's card\"]")
        .await;
    window.see("//main//*[normalize-space()='verified']").await;
    window.quit().await;
}
