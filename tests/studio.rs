//! Studio experiences: pages that the service itself serves.

mod conditions;
mod dom;
mod entries;
mod form;
mod injection;
mod page;
mod rules;

use serde_json::{Value, json};
use tapdesk_tests::{TestService, TestTag};

/// A tag whose experience is a page with these blocks, and with the variables `registered`
/// (`false`) and `note` (empty).
async fn tag(service: &TestService, blocks: Value) -> TestTag {
    tag_with(service, json!({"blocks": blocks}), json!({})).await
}

/// The same with further members of the experience and of the tag.
async fn tag_with(service: &TestService, experience: Value, more: Value) -> TestTag {
    let mut page = json!({"name": "Page", "kind": "studio", "blocks": []});
    extend(&mut page, experience);
    let mut tag = json!({
        "name": "Bottle 41", "experience_id": service.experience(page).await,
        "variables": {"registered": "false", "note": ""},
    });
    extend(&mut tag, more);
    service.tag(tag).await
}

fn extend(object: &mut Value, more: Value) {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
}
