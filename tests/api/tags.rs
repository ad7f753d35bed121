//! `/admin/v1/tags`.

mod list;
mod properties;
mod save;

use serde_json::{Value, json};
use tapdesk_tests::TestService;

/// All items of a list, page by page.
async fn all(service: &TestService, path: &str, limit: usize) -> Vec<Value> {
    let separator = if path.contains('?') { '&' } else { '?' };
    let mut items = Vec::new();
    let mut after = String::new();
    loop {
        let page = service
            .admin_get(&format!("{path}{separator}limit={limit}{after}"))
            .await;
        let page_items = page["items"].as_array().unwrap();
        assert!(page_items.len() <= limit);
        items.extend(page_items.iter().cloned());
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return items,
        }
    }
}

fn names(tags: &[Value]) -> Vec<&str> {
    tags.iter()
        .map(|tag| tag["name"].as_str().unwrap())
        .collect()
}

async fn tags_named(service: &TestService, names: &[&str]) {
    for name in names {
        service.tag(json!({"name": name})).await;
    }
}
