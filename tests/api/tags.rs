//! `/admin/v1/tags`.

mod all_or_none;
mod bulk;
mod cells;
mod encoding_sheet;
mod export;
mod filters;
mod form_variables;
mod import;
mod kept_inlays;
mod list;
mod properties;
mod round_trip;
mod save;
mod search;
mod spreadsheets;
mod url;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answer, Answering as _, Client, TestService};

/// All items of a list, page by page.
pub(super) async fn all(service: &Client, path: &str, limit: usize) -> Vec<Value> {
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

/// The response to an import; `query` begins with `?` or is empty.
async fn import_answer(service: &TestService, query: &str, file: impl Into<Vec<u8>>) -> Answer {
    service
        .admin_request(Method::POST, &format!("/tags/import{query}"))
        .header("content-type", "text/csv")
        .body(file.into())
        .answer()
        .await
}

/// The result of an import that could be parsed.
async fn import(service: &TestService, query: &str, file: impl Into<Vec<u8>>) -> Value {
    import_answer(service, query, file).await.expect(200)
}

/// Columns of a file of tags with their inlays.
const INLAY_COLUMNS: &str = "uid,technology,mirror,mac_from,meta_key,file_key";

/// The cells of an inlay in these columns.
fn inlay_cells(inlay: &Value, columns: &str) -> String {
    let cells = columns.split(',').map(|column| inlay[column].as_str());
    cells
        .map(Option::unwrap_or_default)
        .collect::<Vec<_>>()
        .join(",")
}

async fn export(service: &TestService, query: &str) -> String {
    let request = service.admin_request(Method::GET, &format!("/tags/export{query}"));
    let answer = request.answer().await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body
}
