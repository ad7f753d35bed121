//! The end of a sheet: its signature, and its PDF as poppler reads it.

use std::fs;
use std::io::Cursor;
use std::process::Command;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answering as _, Client, TestService};

use super::super::phones::phone;
use super::{by, row, sheet};

/// Verdicts with their titles in the PDF: good rows, and eight kinds of trouble.
const VERDICTS: [(&str, &str); 9] = [
    ("ok", "Good"),
    ("duplicate", "Duplicate"),
    ("unreadable", "Unreadable"),
    ("wrong_url", "Wrong URL"),
    ("wrong_tag", "Wrong tag"),
    ("wrong_chip", "Wrong chip"),
    ("not_verified", "Not verified"),
    ("counter_gap", "Counter gap"),
    ("copied_url", "Copied URL"),
];

/// Who fills the sheet: a reader at the desk, and two phones.
const READERS: [&str; 3] = ["Desk reader", "Phone of Anna", "Phone of Jan"];

/// The PDF of the sheet, as the service sends it.
async fn pdf(service: &TestService, sheet: &str) -> Vec<u8> {
    let request = service.admin_request(Method::GET, &format!("{sheet}/report.pdf"));
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "application/pdf");
    answer.bytes().await.unwrap().to_vec()
}

/// The lines that a program of poppler prints about a PDF, with one blank between two words.
fn read_by(program: &str, options: &[&str], pdf: &[u8]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sheet.pdf");
    fs::write(&file, pdf).unwrap();
    let mut command = Command::new(program);
    let (before, behind) = options.split_at(1);
    let output = command.args(before).arg(&file).args(behind).output();
    let output = output.expect("poppler is installed");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(words).collect()
}

/// The lines of the sheet's PDF.
async fn lines(service: &TestService, sheet: &str) -> Vec<String> {
    let pdf = pdf(service, sheet).await;
    read_by("pdftotext", &["-layout", "-"], &pdf)
}

/// A row as a line of the PDF.
fn line(row: &Value) -> String {
    let verdict = row["verdict"].as_str().unwrap();
    let titled = VERDICTS.iter().find(|(name, _)| *name == verdict);
    let text = |member: &str| match &row[member] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let cells = [
        text("position"),
        text("at"),
        titled.map_or("Bad", |titled| titled.1).to_owned(),
        text("uid"),
        text("tag_id"),
        text("counter"),
        text("reason"),
        row["by"]["name"].as_str().unwrap_or("Program").to_owned(),
        text("reader"),
        row["photo"]
            .as_object()
            .map_or_else(String::new, |_| "Yes".to_owned()),
    ];
    let cells = cells.into_iter().filter(|cell| !cell.is_empty());
    cells.collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn the_pdf_of_a_sheet_has_the_rows_of_the_api() {
    let service = TestService::start().await;
    let sheet = sheet(&service).await;
    for number in 0..60 {
        let (verdict, title) = VERDICTS[if number % 5 == 0 { number / 5 % 9 } else { 0 }];
        let mut row = json!({
            "verdict": verdict, "reason": format!("{title} because of {number}"), "reader": READERS[number % 3],
        });
        if verdict != "unreadable" {
            row["uid"] = format!("04DE5F1EAC{number:04X}").into();
            row["tag_id"] = (number + 100).into();
            row["counter"] = (number + 1000).into();
        }
        service.admin_create(&format!("{sheet}/rows"), row).await;
        service.advance(1_000);
    }
    let whole = service.admin_get(&sheet).await;
    let expected: Vec<_> = whole["rows"].as_array().unwrap().iter().map(line).collect();
    assert_eq!(expected.len(), 60);
    let found = lines(&service, &sheet).await;
    assert_eq!(found[0], "Delivery 12");
    assert!(found.contains(&"Not signed off.".to_owned()), "{found:?}");
    let begin = "60 rows of 25 planned. Good: ";
    assert!(
        found.iter().any(|line| line.starts_with(begin)),
        "{found:?}"
    );
    let is_row = |line: &&String| line.contains("2026-01-01T12:0") && line.contains("because of");
    let rows: Vec<_> = found.iter().filter(is_row).cloned().collect();
    assert_eq!(rows, expected);
    // Each page repeats the headings.
    let heads = found.iter().filter(|line| line.starts_with("No. Time"));
    assert!(heads.count() > 1);
}

/// A photo of this width and height. Each number has another colour.
fn photo(number: u8, width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let colour = image::Rgb([number, 100, 200 - number]);
    let photo = image::RgbImage::from_pixel(width, height, colour);
    photo
        .write_to(&mut bytes, image::ImageFormat::Jpeg)
        .unwrap();
    bytes.into_inner()
}

#[tokio::test]
async fn the_photos_of_rows_are_below_the_table_of_the_pdf() {
    let service = TestService::start().await;
    let sheet = sheet(&service).await;
    let id = sheet.rsplit('/').next().unwrap();
    let (tag, mut inlay) = service.bottle().await;
    let staff = phone(&service, &["encode"]).await;
    for number in 0..60_u8 {
        let reason = format!("seen because of {number}");
        if number % 3 == 0 {
            let path = staff.staff_tap(&inlay.url(&tag)).await;
            let token = staff.token(&path).await;
            let fields = [
                ("token", &*token),
                ("sheet", id),
                ("note", &*reason),
                ("action", "bad"),
            ];
            let photo = photo(number, 1_200, 900);
            let sent = staff.form_with_photo(&path, &fields, &photo).await;
            assert_eq!(sent.status, 303, "{}", sent.body);
        } else {
            let row = json!({"verdict": "ok", "reason": reason, "reader": READERS[0]});
            service.admin_create(&format!("{sheet}/rows"), row).await;
        }
        service.advance(1_000);
    }
    let whole = service.admin_get(&sheet).await;
    let rows = whole["rows"].as_array().unwrap();
    let pdf = pdf(&service, &sheet).await;
    let found = read_by("pdftotext", &["-layout", "-"], &pdf);
    let is_row = |line: &&String| line.contains("2026-01-01T12:0") && line.contains("because of");
    let shown: Vec<_> = found.iter().filter(is_row).cloned().collect();
    assert_eq!(shown, rows.iter().map(line).collect::<Vec<_>>());
    let fact = "The photos of 20 rows are below the table.".to_owned();
    assert!(found.contains(&fact), "{found:?}");
    let text = found.join("\n");
    let marked = rows.iter().filter(|row| row["photo"].is_object());
    assert_eq!(marked.clone().count(), 20);
    for row in marked {
        let caption = format!("Row {} \u{b7} Bad", row["position"]);
        assert_eq!(text.matches(&caption).count(), 1, "{caption}: {text}");
        let taken = format!("{} \u{b7} Bench", row["at"].as_str().unwrap());
        assert_eq!(text.matches(&taken).count(), 1, "{taken}: {text}");
    }
    // Each photo is there once, with no more pixels than its place shows.
    let images = read_by("pdfimages", &["-list"], &pdf);
    let images: Vec<Vec<&str>> = images
        .iter()
        .map(|line| line.split(' ').collect())
        .collect();
    let images: Vec<_> = images
        .iter()
        .filter(|cells| cells[0].parse::<u8>().is_ok())
        .collect();
    assert_eq!(images.len(), 20, "{images:?}");
    let is_small = |cells: &&Vec<&str>| (cells[3], cells[4]) == ("600", "450");
    assert!(images.iter().all(is_small), "{images:?}");
    assert!(pdf.len() < 1024 * 1024, "{}", pdf.len());

    let csv = service.admin_request(Method::GET, &format!("{sheet}/export"));
    let csv = csv.answer().await.body;
    let marks: Vec<_> = csv
        .lines()
        .skip(1)
        .map(|line| line.ends_with(",true"))
        .collect();
    let expected = rows.iter().map(|row| row["photo"].is_object());
    assert_eq!(marks, expected.collect::<Vec<_>>());
}

#[tokio::test]
async fn a_long_reason_is_whole_in_the_pdf() {
    let service = TestService::start().await;
    let sheet = sheet(&service).await;
    let reason = (0..120).map(|word| format!("word{word}"));
    let reason = reason.collect::<Vec<_>>();
    let mut row = row("04DE5F1EACC040", "not_verified");
    row["reason"] = reason.join(" ").into();
    service.admin_create(&format!("{sheet}/rows"), row).await;
    let found = lines(&service, &sheet).await.join(" ");
    let found: Vec<_> = found
        .split(' ')
        .filter(|word| word.starts_with("word"))
        .collect();
    assert_eq!(found, reason);
}

#[tokio::test]
async fn a_reason_from_right_to_left_is_readable_in_the_pdf() {
    let service = TestService::start().await;
    let sheet = sheet(&service).await;
    for word in [
        "\u{645}\u{631}\u{62d}\u{628}\u{627}",
        "\u{5e9}\u{5dc}\u{5d5}\u{5dd}",
    ] {
        let mut row = row("04DE5F1EACC040", "not_verified");
        row["reason"] = word.into();
        service.admin_create(&format!("{sheet}/rows"), row).await;
        let found = lines(&service, &sheet).await.join(" ");
        assert!(found.contains(word), "{word}: {found}");
    }
}

#[tokio::test]
async fn a_sheet_that_is_signed_off_never_changes_again() {
    let service = TestService::start().await;
    let sheet = sheet(&service).await;
    let rows = format!("{sheet}/rows");
    let sign_off = format!("{sheet}/sign-off");
    let good = row("04DE5F1EACC040", "ok");
    service.admin_create(&rows, good.clone()).await;
    // The signer saw one row, and a phone added another one meanwhile.
    service.admin_create(&rows, good.clone()).await;
    let seen = json!({"signer": "Anna Berg", "row_count": 1});
    let refused = service.admin(Method::POST, &sign_off, seen).await;
    assert_eq!(refused.expect(409)["code"], "count_changed");
    assert_eq!(service.admin_get(&sheet).await["signed_off"], Value::Null);

    let seen = json!({"signer": " Anna Berg ", "row_count": 2});
    let signed = service.admin(Method::POST, &sign_off, seen.clone()).await;
    let signed = signed.expect(200);
    let expected = json!({"signer": "Anna Berg", "by": by(), "at": "2026-01-01T12:00:00Z"});
    assert_eq!(signed["signed_off"], expected);
    assert_eq!(signed["closed"], true);
    assert_eq!(signed["closed_at"], "2026-01-01T12:00:00Z");

    let reopen = json!({"closed": false});
    for (method, path, body) in [
        (Method::POST, &rows, good),
        (Method::POST, &sign_off, seen),
        (Method::PATCH, &sheet, reopen),
        (Method::PATCH, &sheet, json!({"name": "Another"})),
    ] {
        let refused = service.admin(method, path, body).await.expect(409);
        assert_eq!(refused["code"], "sheet_signed_off", "{path}: {refused}");
    }
    let service = service.restart(0).await;
    let whole = service.admin_get(&sheet).await;
    assert_eq!(whole["signed_off"], expected);
    assert_eq!(whole["rows"].as_array().map(Vec::len), Some(2));
    let found = lines(&service, &sheet).await;
    let signature = "Signed off by Anna Berg at 2026-01-01T12:00:00Z, from Program.";
    assert!(found.contains(&signature.to_owned()), "{found:?}");
}

#[tokio::test]
async fn each_file_of_a_sheet_needs_the_scope_export() {
    let service = TestService::start().await;
    let sheet = sheet(&service).await;
    for (scopes, status) in [(json!(["read"]), 403), (json!(["export"]), 200)] {
        let token = json!({"name": "Desk", "scopes": scopes});
        let token = service.admin_create("/tokens", token).await;
        let client = Client::new(service.base(), token["token"].as_str().unwrap());
        for file in ["export", "export?format=xlsx", "report.pdf"] {
            let request = client.admin_request(Method::GET, &format!("{sheet}/{file}"));
            let answer = request.send().await.unwrap();
            assert_eq!(answer.status(), status, "{file}");
        }
    }
}

#[tokio::test]
async fn a_row_names_the_token_that_sent_it() {
    let service = TestService::start().await;
    let sheet = sheet(&service).await;
    let token = json!({"name": "Goods-in", "scopes": ["read", "encode"]});
    let token = service.admin_create("/tokens", token).await;
    let rows = format!("/admin/v1{sheet}/rows");
    let answer = service
        .request(Method::POST, &rows)
        .bearer_auth(token["token"].as_str().unwrap())
        .json(&row("04DE5F1EACC040", "ok"))
        .answer()
        .await;
    let by = json!({"kind": "token", "id": token["id"], "name": "Goods-in"});
    assert_eq!(answer.expect(201)["by"], by);
    // The name stays when the token is deleted.
    let token = format!("/tokens/{}", token["id"]);
    service
        .admin(Method::DELETE, &token, Value::Null)
        .await
        .expect(204);
    assert_eq!(service.admin_get(&sheet).await["rows"][0]["by"], by);
}
