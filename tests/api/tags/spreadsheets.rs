//! Exports as workbooks, and their way back.

use reqwest::Method;
use reqwest::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use serde_json::{Value, json};
use tapdesk_tests::libre_office::LibreOffice;
use tapdesk_tests::{Answering as _, TestService, skip};

use super::export::decided;
use super::{export, import};

const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// A workbook that the service exports.
pub(super) async fn workbook(service: &TestService, path: &str) -> Vec<u8> {
    let answer = service
        .admin_request(Method::GET, path)
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.status(), 200, "{path}");
    assert_eq!(answer.headers()[CONTENT_TYPE], XLSX, "{path}");
    assert!(!answer.headers().contains_key("tapdesk-cursor"), "{path}");
    answer.bytes().await.expect("a file").to_vec()
}

/// The cells of a table as an import reads them, with its headings.
async fn cells(service: &TestService, file: impl Into<Vec<u8>>) -> (Vec<Value>, Vec<Value>) {
    let request = service.admin_request(Method::POST, "/tags/import/table?rows=2-1000");
    let shown = request.body(file.into()).answer().await.expect(200);
    let of = |list: &str, member: &str| {
        let items = shown[list].as_array().expect("a list").iter();
        items.map(|item| item[member].clone()).collect()
    };
    (of("columns", "heading"), of("rows", "cells"))
}

/// Tags with texts that spreadsheets like to change.
async fn tags(service: &TestService) {
    let redirect =
        json!({"name": "Register", "kind": "redirect", "target_url": "https://owner.example/"});
    service.experience(redirect).await;
    for (slug, name, attributes) in [
        (
            "0041",
            "00123",
            json!({"sku": "1E5", "serial": "12345678901234567890"}),
        ),
        (
            "2023-11-04",
            "=1+1",
            json!({"sku": "04-Nov", "serial": "0"}),
        ),
        (
            "bottle-0003",
            "Käse \"alt\", 🍷",
            json!({"sku": "TRUE", "uid": "04112233445566"}),
        ),
        (
            "bottle-0004",
            "  two\nlines  ",
            json!({"sku": "(none)", "uid": "'"}),
        ),
        ("1.5", "-5 %", json!({"sku": "", "serial": "1,234.50"})),
    ] {
        let tag = json!({
            "slug": slug, "name": name, "attributes": attributes, "experience_id": 1,
            "widget_settings": {"a": {"b": 1}}, "has_qr_code": slug == "0041",
        });
        service.tag(tag).await;
    }
}

#[tokio::test]
async fn tags_are_exported_as_a_workbook_with_the_cells_of_the_csv_file() {
    let service = TestService::start().await;
    tags(&service).await;
    let file = workbook(&service, "/tags/export?format=xlsx&q=").await;
    let csv = export(&service, "").await;
    assert_eq!(cells(&service, file).await, cells(&service, csv).await);

    let answer = service.admin_request(Method::GET, "/tags/export?format=xlsx");
    let answer = answer.send().await.expect("an answer");
    assert_eq!(
        answer.headers()[CONTENT_DISPOSITION],
        "attachment; filename=\"tags.xlsx\""
    );
    assert_eq!(answer.headers()["tapdesk-total"], "5");
    for query in [
        "format=jsonl",
        "format=ods",
        "format=xlsx&simulated=true",
        "format=xlsx&colour=red",
    ] {
        let path = format!("/tags/export?{query}");
        let refused = service.admin_request(Method::GET, &path).answer().await;
        refused.expect(422);
    }
}

/// The exports of an encoding run, a factory order and a test sheet, each with a row.
async fn chip_tables(service: &TestService) -> [String; 3] {
    let run = json!({"name": "Roll", "plan": {"pattern": "Bottle {n}"}});
    let run = service.admin_create("/encoding-runs", run).await["id"].clone();
    // A chip with a random UID is rejected, which is a row.
    let random = json!({"uid": "08A1B2C3", "run_id": run});
    service.admin_create("/encodings", random).await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let order = json!({"name": "Autumn", "tag_ids": [tag.id]});
    let order = service.admin_create("/factory-orders", order).await["id"].clone();
    let sheet = json!({"name": "Delivery", "expected": {"tag_verified": true}});
    let sheet = service.admin_create("/sheets", sheet).await["id"].clone();
    let row = json!({"uid": "04DE5F1EACC040", "verdict": "ok", "reason": "=1+1"});
    let rows = format!("/sheets/{sheet}/rows");
    service.admin_create(&rows, row).await;
    [
        format!("/encoding-runs/{run}/export"),
        format!("/factory-orders/{order}/export"),
        format!("/sheets/{sheet}/export"),
    ]
}

#[tokio::test]
async fn taps_submissions_and_the_audit_log_are_exported_as_workbooks() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    service.tap(&inlay.url(&tag)).await.key();
    let chips = chip_tables(&service).await;
    let mut exports = vec![
        ("/interactions/export", "&columns=uid,id,reason"),
        ("/submissions/export", ""),
        ("/audit/export", "&until=2020-01-01T00:00:00Z"),
        ("/reports/export", "&step=week"),
    ];
    exports.extend(chips.iter().map(|path| (&**path, "")));
    for (path, columns) in exports {
        let path = |format: &str| format!("{path}?format={format}{columns}");
        let csv = service
            .admin_request(Method::GET, &path("csv"))
            .answer()
            .await;
        assert_eq!(csv.status, 200, "{}", csv.body);
        let file = workbook(&service, &path("xlsx")).await;
        if csv.body.lines().count() > 1 {
            assert_eq!(cells(&service, file).await, cells(&service, csv.body).await);
        } else {
            assert!(file.starts_with(b"PK"), "a header only");
        }
    }
    for (path, name) in chips.iter().zip(["encoding-run-1", "order", "sheet-1"]) {
        let request = |format: &str| {
            let path = format!("{path}?format={format}");
            service.admin_request(Method::GET, &path).answer()
        };
        let csv = request("csv").await;
        assert_eq!(csv.body.lines().count(), 2, "{path}: {}", csv.body);
        let expected = format!("attachment; filename=\"{name}.csv\"");
        assert_eq!(csv.header("content-disposition"), Some(&*expected));
        request("jsonl").await.expect(422);
        let file = service.admin_request(Method::GET, &format!("{path}?format=xlsx"));
        let file = file.send().await.expect("an answer");
        let expected = format!("attachment; filename=\"{name}.xlsx\"");
        assert_eq!(file.headers()[CONTENT_DISPOSITION], expected, "{path}");
    }
    let uid = &cells(
        &service,
        workbook(&service, "/interactions/export?format=xlsx&columns=uid").await,
    )
    .await
    .1[0][0];
    assert_eq!(uid.as_str().map(str::len), Some(14), "{uid}");
    let refused = service.admin_request(Method::GET, "/interactions/export?format=xlsx&cursor=7");
    let refused = refused.answer().await.expect(422);
    assert_eq!(refused["errors"][0]["field"], "cursor");
}

/// A person opens the export in LibreOffice, edits two cells, and saves it.
#[tokio::test]
async fn an_export_that_is_edited_in_libreoffice_changes_exactly_the_edited_cells() {
    let Some(office) = LibreOffice::new() else {
        return skip("LibreOffice is missing");
    };
    let service = TestService::start().await;
    tags(&service).await;
    let before = decided(&service).await;
    let file = workbook(&service, "/tags/export?format=xlsx").await;

    // Saved without an edit, in both formats, it changes nothing.
    let flat = office.saved_as(&file, "xlsx", "fods").await;
    for kind in ["xlsx", "ods"] {
        let saved = office.saved_as(&flat, "fods", kind).await;
        let result = import(&service, "?mode=upsert", saved).await;
        assert_eq!(result["format"], kind);
        let unchanged = (&result["updated"], &result["refused"], &result["deleted"]);
        assert_eq!(unchanged, (&json!(5), &json!(0), &json!(0)), "{result}");
        assert_eq!(decided(&service).await, before, "{kind}");
    }

    let flat = String::from_utf8(flat).expect("text");
    for once in ["00123", "04112233445566"] {
        assert_eq!(flat.matches(&format!(">{once}<")).count(), 1, "{once}");
    }
    let edited = flat.replace(">00123<", ">00124<");
    let edited = edited.replace(">04112233445566<", ">04112233445567<");
    let saved = office.saved_as(edited.as_bytes(), "fods", "xlsx").await;
    let result = import(&service, "?mode=upsert", saved).await;
    let changed = result["results"].as_array().expect("results").iter();
    let changed: Vec<_> = changed
        .map(|row| &row["before"])
        .filter(|row| !row.is_null())
        .collect();
    assert_eq!(
        changed,
        [
            &json!({"name": "00123"}),
            &json!({"attribute:uid": "04112233445566"})
        ],
        "{result}"
    );
    let mut expected = before;
    for tag in &mut expected {
        if tag["name"] == "00123" {
            tag["name"] = "00124".into();
        }
        if tag["attributes"]["uid"] == "04112233445566" {
            tag["attributes"]["uid"] = "04112233445567".into();
        }
    }
    assert_eq!(decided(&service).await, expected);
}
