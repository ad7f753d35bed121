//! Requests that are refused in words.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{TestService, length};

use super::{decode, printed, tags};
use crate::api::database::insert_tags;

/// A PNG whose head declares this size, and which has no pixels.
fn promising(width: u32, height: u32) -> String {
    let mut head = b"IHDR".to_vec();
    head.extend(width.to_be_bytes());
    head.extend(height.to_be_bytes());
    head.extend([8, 2, 0, 0, 0]);
    let sum = !head.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ (0xEDB8_8320 & (sum & 1).wrapping_neg())
        })
    });
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0d".to_vec();
    png.extend(head);
    png.extend(sum.to_be_bytes());
    png.extend(b"\0\0\0\0IDAT\x35\xaf\x06\x1e");
    BASE64_STANDARD.encode(png)
}

#[tokio::test]
async fn designs_that_cannot_be_printed_or_read_are_refused_in_words() {
    let (service, _) = tags(2).await;
    service
        .admin_create(
            "/tags",
            json!({"name": "Egg \u{10FFFD}", "slug": "private-use"}),
        )
        .await;
    for (change, field, words) in [
        (json!({"label_mm": [1, 1]}), "label_mm", "smallest label"),
        (json!({"label_mm": [-5, 30]}), "label_mm", "5 to 300 mm"),
        (json!({"label_mm": [50, 1e9]}), "label_mm", "5 to 300 mm"),
        (
            json!({"label_mm": [50, 9]}),
            "label_mm",
            "The smallest label of this shape is",
        ),
        (
            json!({"format": "png", "dpi": 600, "label_mm": [300, 300]}),
            "dpi",
            "million dots",
        ),
        (
            json!({"format": "png", "dpi": 72}),
            "dpi",
            "203, 300 or 600",
        ),
        (json!({"dpi": 300}), "dpi", "Only png and zpl"),
        (
            json!({"qr": {"colour": "#ffff00"}}),
            "qr.colour",
            "too light",
        ),
        (json!({"qr": {"colour": "red"}}), "qr.colour", "#rrggbb"),
        (
            json!({"format": "zpl", "qr": {"colour": "#7a1f2b"}}),
            "qr.colour",
            "print black",
        ),
        (
            json!({"qr": {"level": "M", "logo": {"image": decode::logo()}}}),
            "qr.level",
            "Q or H",
        ),
        (
            json!({"qr": {"logo": {"image": promising(10_000, 9_000)}}}),
            "qr.logo.image",
            "10000 x 9000",
        ),
        (
            json!({"qr": {"logo": {"image": "bm8gcGljdHVyZQ=="}}}),
            "qr.logo.image",
            "PNG",
        ),
        (json!({"text": ["{{tag:nmae}}"]}), "text[0]", "{{tag:name}}"),
        (
            json!({"text": ["", "{{interaction:rk}}"]}),
            "text[1]",
            "nearest",
        ),
        (json!({"text": ["{{tag:name}}"]}), "text", "U+10FFFD"),
        (
            json!({"text": ["a", "b", "c", "d", "e", "f", "g", "h", "i"]}),
            "text",
            "at most 8 lines",
        ),
        (
            json!({"sheet": {"page": "a4", "columns": 5, "rows": 8}}),
            "sheet.columns",
            "250.0 mm",
        ),
        (
            json!({"sheet": {"page": "a4", "columns": 0, "rows": 8}}),
            "sheet.columns",
            "1 to 50",
        ),
        (
            json!({"sheet": {"page": "a4", "columns": 3, "rows": 8, "skip": 24}}),
            "sheet.skip",
            "24 labels",
        ),
        (
            json!({"format": "svg", "sheet": {"page": "a4", "columns": 3, "rows": 8}}),
            "sheet",
            "Only a PDF",
        ),
    ] {
        let mut request = json!({"select": {"filter": {}}, "format": "pdf", "label_mm": [50, 30]});
        for (name, value) in change.as_object().unwrap() {
            request[name] = value.clone();
        }
        let refused = service
            .admin(Method::POST, "/labels", request)
            .await
            .expect(422);
        assert_eq!(refused["errors"][0]["field"], field, "{refused}");
        let said = refused["detail"].as_str().unwrap();
        assert!(said.contains(words), "{said}");
    }
}

/// No label is drawn, because the number of tags is compared first.
#[tokio::test]
async fn more_labels_than_a_request_can_have_are_refused() {
    let service = many(100_001).await;
    for format in ["pdf", "csv"] {
        let request = json!({
            "select": {"filter": {}}, "format": format, "label_mm": [50, 30],
            "allow_unproved_address": true,
        });
        let refused = service.admin(Method::POST, "/labels", request).await;
        let refused = refused.expect(422);
        assert_eq!(refused["errors"][0]["field"], "select", "{refused}");
        let said = refused["detail"].as_str().unwrap();
        let words = "100001 tags are selected, and one request has at most 100000 labels. \
            Select fewer tags at once.";
        assert!(said.contains(words), "{said}");
    }
}

/// A service with so many tags, in a batch.
async fn many(tags: usize) -> TestService {
    let service = TestService::start().await;
    let group = json!({"kind": "batch", "name": "L03"});
    let group = service.admin_create("/groups", group).await["id"].clone();
    insert_tags(&service, group.as_i64().unwrap(), tags).await;
    service
}

/// Drawing them takes half a minute, so a short test reads only the head of the answer.
#[tokio::test]
async fn more_labels_than_a_pdf_can_have_are_a_zip_of_pdfs() {
    let service = many(10_001).await;
    let request = json!({
        "select": {"filter": {}}, "format": "pdf", "label_mm": [63.5, 38.1],
        "sheet": {"page": "a4", "columns": 3, "rows": 7, "margin_mm": [7.2, 15.1], "gap_mm": [2.5, 0]},
        "allow_unproved_address": true,
    });
    let preview = service
        .admin(Method::POST, "/labels/preview", request.clone())
        .await
        .expect(200);
    assert_eq!(
        (&preview["pages"], &preview["files"]),
        (&json!(477), &json!(2))
    );
    let asked = service.admin_request(Method::POST, "/labels");
    let answer = asked.json(&request).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "application/zip");
    assert!(header("content-disposition").contains("labels.zip"));
    assert_eq!(header("tapdesk-total"), "10001");
    if !length(false, true) {
        return;
    }
    let files = decode::zip(&answer.bytes().await.unwrap());
    let pages: Vec<_> = files
        .iter()
        .map(|(name, pdf)| (name.as_str(), decode::page_count(pdf)))
        .collect();
    assert_eq!(pages, [("labels-01.pdf", 476), ("labels-02.pdf", 1)]);
    // 476 sheets of 21 labels have 9,996.
    let last = decode::pages(&files[1].1);
    let codes = decode::whole(&last[0]);
    assert_eq!(codes.len(), 5);
    for (code, number) in codes.iter().zip(["10000", "10001", "9997", "9998", "9999"]) {
        assert!(code.ends_with(&format!("/inserted-{number}")), "{code}");
    }
}

#[tokio::test]
async fn the_smallest_size_that_is_named_can_be_printed_and_read() {
    let (service, _) = tags(1).await;
    for (format, shape, text) in [
        ("pdf", [9, 9], json!([])),
        ("pdf", [16, 8], json!(["{{tag:name}}", "{{tag:slug}}"])),
        ("zpl", [8, 16], json!(["{{tag:name}}"])),
        ("png", [9, 9], json!([])),
    ] {
        let request = |size: Value| json!({"select": {"ids": [1]}, "format": format, "label_mm": size, "text": text});
        let refused = service
            .admin(Method::POST, "/labels", request(json!(shape)))
            .await
            .expect(422);
        let said = refused["detail"].as_str().unwrap();
        let size = said.split("of this shape is ").nth(1).unwrap();
        let size: Vec<f64> = size
            .split(" mm")
            .next()
            .unwrap()
            .split(" x ")
            .map(|side| side.parse().unwrap())
            .collect();
        let file = printed(&service, request(json!(size))).await;
        let images = match format {
            "pdf" => decode::pages(&file),
            "zpl" => decode::zpl(&String::from_utf8(file).unwrap()),
            _ => decode::zip(&file)
                .iter()
                .map(|(_, png)| decode::png(png))
                .collect(),
        };
        assert_eq!(decode::codes(&images)[0].len(), 1, "{said}");
    }
}
