//! Requests that are refused in words.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{TestService, length};

use super::{decode, printed, tags};
use crate::api::database::insert_tags;

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ (0xEDB8_8320 & (sum & 1).wrapping_neg())
        })
    })
}

/// A PNG whose head declares this size, and which has no pixels.
fn promising(width: u32, height: u32) -> String {
    let mut head = b"IHDR".to_vec();
    head.extend(width.to_be_bytes());
    head.extend(height.to_be_bytes());
    head.extend([8, 2, 0, 0, 0]);
    let sum = crc32(&head);
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0d".to_vec();
    png.extend(head);
    png.extend(sum.to_be_bytes());
    png.extend(b"\0\0\0\0IDAT\x35\xaf\x06\x1e");
    BASE64_STANDARD.encode(png)
}

/// Entities that are ten of each other.
const SVG_BOMB: &str = r#"<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b
    "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>
    <svg xmlns="http://www.w3.org/2000/svg" width="99999" height="99999"><text>&c;</text></svg>"#;

/// A PNG of 16 bits a channel, all black: some kilobytes, and 240 MB of pixels.
fn bomb(width: u32, height: u32) -> String {
    let png = BASE64_STANDARD.decode(promising(width, height)).unwrap();
    let mut head = png[12..29].to_vec();
    // 16 bits for each of red, green, blue and alpha.
    (head[12], head[13]) = (16, 6);
    let sum = crc32(&head).to_be_bytes();
    BASE64_STANDARD.encode([&png[..12], &head, &sum, &png[33..]].concat())
}

/// An animated GIF of so many frames, whose first one is black and whose others are white.
fn animated(frames: usize) -> String {
    let mut gif = b"GIF89a\x08\0\x08\0\x80\0\0\0\0\0\xff\xff\xff".to_vec();
    for number in 0..frames {
        gif.extend(b"\x2c\0\0\0\0\x08\0\x08\0\0\x02");
        // LZW of 2 bits that clears its table before each pixel: 4 and the pixel, in codes of three
        // bits, and 5 at the end.
        let pixel = usize::from(number > 0);
        let codes = (0..64).flat_map(|_| [4, pixel]).chain([5]);
        let (mut bytes, mut bits, mut count) = (Vec::new(), 0usize, 0);
        for code in codes {
            bits |= code << count;
            count += 3;
            while count >= 8 {
                bytes.push(u8::try_from(bits & 0xff).unwrap());
                bits >>= 8;
                count -= 8;
            }
        }
        bytes.push(u8::try_from(bits & 0xff).unwrap());
        gif.push(u8::try_from(bytes.len()).unwrap());
        gif.extend(bytes);
        gif.push(0);
    }
    gif.push(b';');
    BASE64_STANDARD.encode(gif)
}

/// A frame takes some bytes, so a file could have hundreds of thousands.
#[tokio::test]
async fn of_an_animated_logo_the_first_frame_is_printed() {
    let (service, _) = tags(1).await;
    let with = |frames: usize| {
        json!({
            "select": {"ids": [1]}, "format": "svg", "label_mm": [50, 50],
            "qr": {"logo": {"image": animated(frames)}},
        })
    };
    let still = decode::zip(&printed(&service, with(1)).await);
    let moving = decode::zip(&printed(&service, with(20_000)).await);
    assert_eq!(still, moving);
    let code = decode::codes(&[decode::svg(&moving[0].1)]).remove(0);
    assert_eq!(code.len(), 1);
}

/// Sends a request with a changed design, and demands that the field is refused with these words.
async fn refuse(service: &TestService, change: Value, field: &str, words: &str) {
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
        // An SVG can ask for any amount of memory.
        (
            json!({"qr": {"logo": {"image": BASE64_STANDARD.encode(SVG_BOMB)}}}),
            "qr.logo.image",
            "PNG",
        ),
        (
            json!({"qr": {"logo": {"image": bomb(6_000, 5_000)}}}),
            "qr.logo.image",
            "memory",
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
    ] {
        refuse(&service, change, field, words).await;
    }
}

#[tokio::test]
async fn sheets_that_cannot_be_printed_are_refused_in_words() {
    let (service, _) = tags(2).await;
    for (change, field, words) in [
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
            json!({"sheet": {"page": "a4", "columns": 3, "rows": 8, "gap_mm": [2, -1]}}),
            "sheet.gap_mm",
            "cannot overlap",
        ),
        (
            json!({"sheet": {"page": "a4", "columns": 3, "rows": 8, "margin_mm": [-1, 0]}}),
            "sheet.margin_mm",
            "0 to 300 mm",
        ),
        (
            json!({"sheet": {"page": "letter", "columns": 1, "rows": 1, "margin_mm": [200, 0]}}),
            "sheet.columns",
            "Letter is 215.9 mm wide",
        ),
        (
            json!({"label_mm": [1, 1], "sheet": {"page": "a4", "columns": 50, "rows": 50}}),
            "label_mm",
            "smallest label",
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
        refuse(&service, change, field, words).await;
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
