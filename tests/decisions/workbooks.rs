//! Workbooks (decisions, "Tables"): they are read like any other table.

use reqwest::Method;
use rust_xlsxwriter::{ExcelDateTime, Format, Formula, Workbook};
use serde_json::{Value, json};
use tapdesk_tests::TestService;
use tapdesk_tests::client::{Answer, Answering as _};
use tapdesk_tests::workbooks::{ods_of, write, xlsx, xlsx_of};

async fn post(service: &TestService, path: &str, file: &[u8]) -> Answer {
    let request = service.admin_request(Method::POST, path);
    request.body(file.to_vec()).answer().await
}

async fn import(service: &TestService, query: &str, file: &[u8]) -> Value {
    let path = format!("/tags/import{query}");
    post(service, &path, file).await.expect(200)
}

/// The reasons of refused rows.
fn refused(result: &Value) -> Vec<(u64, String)> {
    let results = result["results"].as_array().expect("results").iter();
    let refused = results.filter(|row| row["outcome"] == "refused");
    let reason = |row: &Value| row["reason"].as_str().expect("a reason").to_owned();
    refused
        .map(|row| (row["row"].as_u64().expect("a number"), reason(row)))
        .collect()
}

/// The sheet of an owner: German headings, a serial number as a number, a date, a formula.
fn bottles() -> Vec<u8> {
    xlsx(|sheet| {
        let rows = json!([
            [
                "Bezeichnung",
                "Kurzlink",
                "Seriennummer",
                "Abgefüllt",
                "Notiz"
            ],
            ["Käse", "bottle-0001", 4_711, null, "intern"],
            [],
            ["Brot", "bottle-0002", 4_712],
        ]);
        write(sheet, &rows);
        let day = ExcelDateTime::from_ymd(2023, 11, 4).expect("a day");
        let format = Format::new().set_num_format("dd.mm.yyyy");
        sheet
            .write_datetime_with_format(1, 3, &day, &format)
            .expect("a cell");
    })
}

const OWN: &str = "?map=Bezeichnung:name&map=Kurzlink:slug&map=Seriennummer:attribute:serial&map=Abgef%C3%BCllt:attribute:filled";

#[tokio::test]
async fn a_workbook_is_shown_and_imported_like_any_table() {
    let service = TestService::start().await;
    let file = bottles();
    let shown = post(&service, "/tags/import/table?rows=2-4", &file).await;
    let shown = shown.expect(200);
    assert_eq!(
        (&shown["format"], &shown["encoding"], &shown["separator"]),
        (&json!("xlsx"), &Value::Null, &Value::Null)
    );
    assert_eq!(shown["row_count"], 2);
    assert_eq!(
        shown["rows"],
        json!([
            {"row": 2, "cells": ["Käse", "bottle-0001", "4711", "2023-11-04", "intern"]},
            {"row": 4, "cells": ["Brot", "bottle-0002", "4712", "", ""]},
        ])
    );
    let rehearsed = import(&service, &format!("{OWN}&dry_run=true"), &file).await;
    let result = import(&service, OWN, &file).await;
    for member in [
        "format",
        "encoding",
        "separator",
        "ignored_columns",
        "notes",
    ] {
        assert_eq!(rehearsed[member], result[member], "{member}");
    }
    assert_eq!(result["created"], 2, "{result}");
    assert_eq!(result["ignored_columns"], json!(["Notiz"]));
    let tags = service.admin_get("/tags?q=bottle-0001").await;
    let attributes = &tags["items"][0]["attributes"];
    assert_eq!(
        (&attributes["serial"], &attributes["filled"]),
        (&json!("4711"), &json!("2023-11-04"))
    );

    let file = ods_of(&[&["name", "slug"], &["Wein", "bottle-0003"]]);
    let result = import(&service, "", &file).await;
    assert_eq!(
        (&result["format"], &result["created"]),
        (&json!("ods"), &json!(1))
    );
}

#[tokio::test]
async fn the_bytes_decide_whether_a_table_is_a_workbook() {
    let service = TestService::start().await;
    let sheet = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
    let text = b"name\nA\n".to_vec();
    for (file, kind, format) in [
        (bottles(), "text/csv", "xlsx"),
        (bottles(), "application/octet-stream", "xlsx"),
        (text.clone(), sheet, "csv"),
        (text.clone(), "application/x-www-form-urlencoded", "csv"),
        (bottles(), "application/x-zip-compressed", "xlsx"),
        (
            text,
            "application/vnd.oasis.opendocument.spreadsheet",
            "csv",
        ),
    ] {
        let request = service.admin_request(Method::POST, "/tags/import/table");
        let shown = request.header("content-type", kind).body(file);
        assert_eq!(shown.answer().await.expect(200)["format"], format, "{kind}");
    }
    for kind in ["application/json", "multipart/form-data; boundary=x"] {
        let request = service.admin_request(Method::POST, "/tags/import/table");
        let request = request.header("content-type", kind).body("{}");
        request.answer().await.expect(415);
    }
}

/// A spreadsheet keeps 15 digits of a number, and no leading zeros.
#[tokio::test]
async fn a_uid_a_key_and_a_slug_that_became_a_number_are_refused_in_words() {
    let service = TestService::start().await;
    let file = xlsx(|sheet| {
        let rows = json!([
            ["name", "slug", "uid", "technology", "file_key"],
            ["A", "a-0000001", 4_112_233_445_566_u64, "ntag213"],
            ["B", "b-0000001", 4.52123e20, "ntag213"],
            ["C", 1.234_567_890_123_45e18, null],
            [
                "D",
                "d-0000001",
                "04A1B2C3D4E580",
                "ntag424dna",
                1.111_111_111_111_11e31
            ],
            ["E", 1_042, "04A1B2C3D4E581", "ntag213"],
            ["F", null],
        ]);
        write(sheet, &rows);
        let day = ExcelDateTime::from_ymd(2023, 11, 4).expect("a day");
        let format = Format::new().set_num_format("dd-mmm");
        sheet
            .write_datetime_with_format(6, 1, &day, &format)
            .expect("a cell");
    });
    let result = import(&service, "", &file).await;
    let refused = refused(&result);
    let rows: Vec<_> = refused.iter().map(|(row, _)| *row).collect();
    assert_eq!(rows, [2, 3, 4, 5, 7], "{refused:?}");
    for ((_, reason), column) in refused
        .iter()
        .zip(["uid", "uid", "slug", "file_key", "slug"])
    {
        assert!(
            reason.starts_with(column) && reason.contains("spreadsheet"),
            "{reason}"
        );
    }
    assert_eq!(result["created"], 1, "{result}");
    let slug = &service.admin_get("/tags").await["items"][0]["slug"];
    assert_eq!(slug, "1042", "digits can be a slug");
}

#[tokio::test]
async fn a_counter_of_a_workbook_is_asked_about_as_in_any_table() {
    let service = TestService::start().await;
    let file = xlsx_of(&json!([
        ["name", "uid", "technology", "read counter"],
        ["A", "04A1B2C3D4E580", "ntag213", 21],
    ]));
    let asked = post(
        &service,
        "/tags/import?map=read%20counter:last_counter",
        &file,
    )
    .await;
    let asked = asked.expect(422);
    assert_eq!(asked["errors"][0]["field"], "counter", "{asked}");
}

#[tokio::test]
async fn formulas_merged_cells_and_errors_are_read_or_refused_by_their_row() {
    let service = TestService::start().await;
    let file = xlsx(|sheet| {
        let rows = json!([
            ["name", "slug", "title"],
            [null, "bottle-0001", "Käse"],
            ["Brot", "bottle-0002", "Brot"],
            ["Wein", "bottle-0003", "Wein"],
            ["Rest", "bottle-0004", "Rest"],
        ]);
        write(sheet, &rows);
        let value = Formula::new("=C2&\" 1\"").set_result("Käse 1");
        sheet.write_formula(1, 0, value).expect("a formula");
        let error = Formula::new("=1/0").set_result("#DIV/0!");
        sheet.write_formula(2, 2, error).expect("a formula");
        let merged = Format::new();
        sheet
            .merge_range(3, 2, 4, 2, "Wein", &merged)
            .expect("cells");
    });
    let result = import(&service, "", &file).await;
    let refused = refused(&result);
    for (row, part) in [
        (3, "Cell C3 is the error #DIV/0!"),
        (4, "C4 to C5 are merged"),
        (5, "C4 to C5 are merged"),
    ] {
        let found = refused.iter().find(|(number, _)| *number == row);
        let (_, reason) = found.unwrap_or_else(|| panic!("row {row}: {result}"));
        assert!(reason.contains(part), "{reason}");
    }
    let tags = service.admin_get("/tags").await;
    assert_eq!(tags["items"][0]["name"], "Käse 1");
    assert_eq!(result["created"], 1, "{result}");
}

#[tokio::test]
async fn the_first_visible_sheet_is_read_and_the_result_says_so() {
    let service = TestService::start().await;
    let mut book = Workbook::new();
    let hidden = book.add_worksheet().set_hidden(true);
    write(hidden, &json!([["name"], ["Secret"]]));
    let shown = book.add_worksheet().set_name("Flaschen").expect("a name");
    shown.set_active(true);
    write(shown, &json!([["name"], ["Shown"]]));
    book.add_worksheet();
    let file = book.save_to_buffer().expect("a workbook");
    let result = import(&service, "", &file).await;
    let note = result["notes"][0].as_str().expect("a note");
    assert!(
        note.contains("\"Flaschen\"") && note.contains("2 other sheets"),
        "{note}"
    );
    let tags = service.admin_get("/tags").await;
    let names: Vec<_> = tags["items"]
        .as_array()
        .expect("tags")
        .iter()
        .map(|tag| &tag["name"])
        .collect();
    assert_eq!(names, ["Shown"]);
}
