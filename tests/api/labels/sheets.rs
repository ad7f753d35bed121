//! Whole sheets, read by a decoder that finds many codes at once: zbar misses some of a page with many,
//! and finds each of them by itself.

use serde_json::{Value, json};

use super::{decode, printed, read_csv, tags};

/// The sheets that the screen offers.
const SHEETS: &str = include_str!("../../../ui/src/lib/labels/sheets.json");

#[tokio::test]
async fn every_code_of_a_whole_sheet_is_found_on_its_page() {
    let sheets: Vec<Value> = serde_json::from_str(SHEETS).unwrap();
    let count = |sheet: &Value| {
        let [columns, rows] = ["columns", "rows"].map(|name| sheet["sheet"][name].as_u64());
        usize::try_from(columns.unwrap() * rows.unwrap()).unwrap()
    };
    let most = sheets.iter().map(count).max().unwrap();
    let (service, _) = tags(most).await;
    for sheet in &sheets {
        let labels = count(sheet);
        // Without text, a code takes the whole label, so its neighbours are nearest.
        let request = |format: &str, paper: &Value| {
            json!({
                "select": {"ids": [[1, labels]]}, "format": format, "label_mm": sheet["mm"],
                "sheet": paper,
            })
        };
        let pages = decode::pages(&printed(&service, request("pdf", &sheet["sheet"])).await);
        assert_eq!(pages.len(), 1, "{sheet}");
        let table = printed(&service, request("csv", &Value::Null)).await;
        let rows = read_csv(&String::from_utf8(table).unwrap());
        let urls = rows
            .iter()
            .map(|row| row["url"].as_str().unwrap().to_owned());
        let mut urls: Vec<_> = urls.collect();
        urls.sort_unstable();
        assert_eq!(decode::whole(&pages[0]), urls, "{sheet}");
    }
}
