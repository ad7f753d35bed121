//! A person who makes mistakes: a form that is closed too early, and an unintended change.

use fantoccini::key::Key;
use serde_json::{Value, json};

use crate::reader::made;
use crate::window::Desk;

#[tokio::test]
async fn a_form_that_is_left_by_escape_keeps_its_text_and_a_change_is_undone_after_its_notice() {
    let desk = Desk::new();
    let window = desk.open_ready().await;
    made(
        &window,
        "/tags",
        json!({"name": "Bottle 41", "slug": "bottle-41"}),
    )
    .await;

    let way = desk.begin("mistakes: Escape in a form, and back");
    window
        .press("//nav//a[normalize-space()='Experiences']")
        .await;
    window.click_named("New experience").await;
    window.fill("Name", "Register").await;
    window.key(Key::Escape).await;
    window
        .see("//body[not(.//*[@role='dialog'])]//button[normalize-space()='New experience']")
        .await;
    window.click_named("New experience").await;
    let name = "document.querySelector('[role=dialog] input[required]').value";
    window.see("//*[@role='dialog']").await;
    assert_eq!(window.value_of(name).await, "Register");
    window
        .fill("Destination URL", "https://example.com/register")
        .await;
    window.click_named("Create").await;
    window.see("//main//*[normalize-space()='Register']").await;
    way.done(6, 1);

    let way = desk.begin("mistakes: a change undone after its notice");
    window.press("//nav//a[normalize-space()='Tags']").await;
    window
        .press("//main//*[@role='row'][contains(., 'bottle-41')]")
        .await;
    window.click_named("Details").await;
    window.choose("Experience", "Register").await;
    window.click_named("Save").await;
    window
        .press("//button[starts-with(@aria-label, 'Close:') and contains(@aria-label, 'Saved.')]")
        .await;
    window
        .see("//body[not(.//*[@role='status']//*[normalize-space()='Saved.'])]")
        .await;
    let tag = || window.call("GET", "/admin/v1/tags/1", &Value::Null);
    assert_eq!(tag().await.1["experience_id"], 1);
    window.click_named("Recent changes").await;
    window
        .press("//button[starts-with(@aria-label, 'Undo: Bottle 41')]")
        .await;
    window
        .see("//*[@role='status']//*[normalize-space()='Undone.']")
        .await;
    way.done(9, 0);
    assert_eq!(tag().await.1["experience_id"], Value::Null);
    window.quit().await;
}
