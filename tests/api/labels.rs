//! `POST /admin/v1/labels`, read by programs that know nothing of it: poppler and rsvg render the
//! files, zbar decodes the codes, and a visitor opens their URLs.

mod decode;
mod refused;
mod sheets;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use reqwest::Method;
use serde_json::{Value, json};
use std::fmt::Write as _;

use tapdesk_tests::{TestService, length};

use super::exports::read_csv;
use decode::Page;

/// A service with this many tags, each of which redirects to a URL with its slug.
async fn tags(count: usize) -> (TestService, Vec<String>) {
    let service = TestService::start().await;
    let redirect = json!({"name": "Shop", "kind": "redirect", "target_url": "https://shop.example/{{tag:slug}}"});
    let experience = service.admin_create("/experiences", redirect).await;
    let slugs: Vec<_> = (0..count)
        .map(|number| match number % 4 {
            0 => format!("bottle-{number:05}"),
            1 => format!("K3v9{number:04}qa"),
            2 => format!("77{number:06}x"),
            _ => format!("lot_7.{number}~{}", "x".repeat(number % 40)),
        })
        .collect();
    let mut table = "slug,name,experience_id,attribute:sku\n".to_owned();
    for (number, slug) in slugs.iter().enumerate() {
        let experience = &experience["id"];
        writeln!(
            table,
            "{slug},Grüner Veltliner {number},{experience},A-{number}"
        )
        .expect("a string takes every text");
    }
    let import = service.admin_request(Method::POST, "/tags/import");
    let import = import.header("content-type", "text/csv").body(table);
    assert_eq!(import.send().await.unwrap().status(), 200);
    (service, slugs)
}

/// The file for a request that is accepted.
async fn printed(service: &TestService, mut request: Value) -> Vec<u8> {
    request["allow_unproved_address"] = true.into();
    let asked = service
        .admin_request(Method::POST, "/labels")
        .json(&request);
    let answer = asked.send().await.unwrap();
    let status = answer.status();
    let bytes = answer.bytes().await.unwrap().to_vec();
    assert_eq!(
        status,
        200,
        "{request}: {}",
        String::from_utf8_lossy(&bytes)
    );
    bytes
}

/// Opens what was read from a code, and checks that it is this tag's.
async fn leads_to(service: &TestService, url: &str, slug: &str) {
    let url: reqwest::Url = url.parse().unwrap();
    let answer = service.get(url.path()).send().await.unwrap();
    let location = answer.headers()["location"].to_str().unwrap();
    assert!(
        location.starts_with(&format!("https://shop.example/{slug}?")),
        "{url} leads to {location} and not to {slug}"
    );
}

/// Designs that people choose, with the sheets that hold their labels.
fn designs() -> impl Strategy<Value = (Value, [f64; 2], u32, u32)> {
    let level = prop_oneof![Just("L"), Just("M"), Just("Q"), Just("H")];
    let colour = prop_oneof![Just("#000000"), Just("#7a1f2b"), Just("#0b3d91")];
    let text = prop_oneof![
        Just(json!([])),
        Just(json!(["{{tag:name}}"])),
        Just(json!([
            "{{tag:name}}",
            "{{tag:attribute:sku}} · {{label:number}}"
        ])),
    ];
    let sheet = (any::<bool>(), 2u32..6, 3u32..5, any::<u32>());
    (level, colour, text, sheet, 32u32..70, 32u32..60, any::<[bool; 3]>()).prop_map(
        |(level, colour, text, (letter, columns, rows, skip), w, h, [capitals, logo, paged])| {
            let label = [f64::from(w), f64::from(h)];
            let level = if logo && matches!(level, "L" | "M") { "Q" } else { level };
            let logo = logo.then(|| json!({"image": decode::logo()}));
            let columns = columns.min(200 / w);
            let skip = skip % (columns * rows);
            let sheet = json!({
                "page": if letter { "letter" } else { "a4" }, "columns": columns, "rows": rows,
                "margin_mm": [3.5, 7], "gap_mm": [1, 0.5], "skip": skip,
            });
            let design = json!({
                "label_mm": label, "text": text, "sheet": if paged { sheet } else { Value::Null },
                "qr": {"level": level, "colour": colour, "capitals": capitals, "logo": logo},
            });
            (design, label, columns, skip)
        },
    )
}

#[tokio::test]
async fn every_code_of_random_labels_is_decoded_from_the_page_and_leads_to_its_tag() {
    const AT_ONCE: usize = 40;
    let (service, slugs) = tags(length(240, 10_000)).await;
    let mut runner = TestRunner::deterministic();
    let strategy = designs();
    let mut first = 1;
    for slugs in slugs.chunks(AT_ONCE) {
        let (mut request, label, columns, skip) = strategy.new_tree(&mut runner).unwrap().current();
        request["format"] = "pdf".into();
        request["select"] = json!({"ids": [[first, first + slugs.len() - 1]]});
        first += slugs.len();
        let pages = decode::pages(&printed(&service, request.clone()).await);
        let rows = request["sheet"]["rows"].as_u64();
        let rows = rows.map(|rows| u32::try_from(rows).unwrap());
        let image = |number: u32| {
            let Some(rows) = rows else {
                return pages[number as usize].clone();
            };
            let place = number + skip;
            let (page, place) = (place / (columns * rows), place % (columns * rows));
            let (column, row) = (place % columns, place / columns);
            let x = 3.5 + f64::from(column) * (label[0] + 1.0);
            let y = 7.0 + f64::from(row) * (label[1] + 0.5);
            decode::cut(&pages[page as usize], [x, y], label)
        };
        let images: Vec<_> = (0..).take(slugs.len()).map(image).collect();
        for (url, slug) in decode::codes(&images).iter().zip(slugs) {
            assert_eq!(url.len(), 1, "{slug}: {request}");
            leads_to(&service, &url[0], slug).await;
        }
    }
}

#[tokio::test]
async fn codes_of_images_and_label_printers_are_decoded_too() {
    let (service, slugs) = tags(length(40, 400)).await;
    for (number, (format, dpi)) in [
        ("png", 203),
        ("png", 600),
        ("svg", 0),
        ("zpl", 203),
        ("zpl", 300),
    ]
    .into_iter()
    .enumerate()
    {
        let logo = (number % 2 == 1).then(|| json!({"image": decode::logo()}));
        let request = json!({
            "select": {"filter": {}}, "format": format, "label_mm": [62, 40],
            "dpi": if dpi == 0 { Value::Null } else { dpi.into() },
            "qr": {"logo": logo}, "text": ["{{tag:name}}", "{{tag:slug}}"],
        });
        let file = printed(&service, request).await;
        let images: Vec<Page> = match format {
            "zpl" => decode::zpl(&String::from_utf8(file).unwrap()),
            "svg" => decode::zip(&file)
                .iter()
                .map(|(_, svg)| decode::svg(svg))
                .collect(),
            _ => decode::zip(&file)
                .iter()
                .map(|(_, png)| decode::png(png))
                .collect(),
        };
        assert_eq!(images.len(), slugs.len());
        for (url, slug) in decode::codes(&images).iter().zip(&slugs) {
            assert_eq!(url.len(), 1, "{slug} as {format}");
            leads_to(&service, &url[0], slug).await;
        }
    }
}

#[tokio::test]
async fn a_zip_names_each_tag_and_a_table_has_urls_and_texts() {
    let (service, slugs) = tags(8).await;
    let request = |format: &str| {
        json!({
            "select": {"ids": [[1, 8], 999]}, "format": format, "label_mm": [50, 30],
            "text": ["{{tag:name}}", "{{tag:attribute:none}}", "{{label:number}}"],
        })
    };
    let names: Vec<_> = decode::zip(&printed(&service, request("svg")).await)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let expected: Vec<_> = (1..)
        .zip(&slugs)
        .map(|(number, slug)| format!("{number:05}-{slug}.svg"))
        .collect();
    assert_eq!(names, expected);
    let table = String::from_utf8(printed(&service, request("csv")).await).unwrap();
    let rows = read_csv(&table);
    assert_eq!(rows.len(), 8);
    assert_eq!(rows[1]["slug"], slugs[1].as_str());
    assert_eq!(rows[1]["text 1"], "Grüner Veltliner 1");
    assert_eq!(rows[1]["text 2"], "");
    let url = rows[1]["url"].as_str().unwrap();
    leads_to(&service, url, &slugs[1]).await;
}

#[tokio::test]
async fn a_preview_shows_the_first_label_and_counts_all() {
    let (service, slugs) = tags(30).await;
    let request = json!({
        "select": {"filter": {}}, "format": "pdf", "label_mm": [60, 30], "text": ["{{tag:name}}"],
        "sheet": {"page": "a4", "columns": 3, "rows": 8, "margin_mm": [10, 8], "gap_mm": [2, 0], "skip": 20},
    });
    let preview = service
        .admin(Method::POST, "/labels/preview", request.clone())
        .await
        .expect(200);
    assert_eq!(preview["labels"], 30);
    assert_eq!(preview["pages"], 3, "4 labels, then 24, then 2");
    assert!(preview["module_mm"].as_f64().unwrap() >= 0.33);
    assert_eq!(
        preview["warnings"].as_array().unwrap().len(),
        1,
        "the address is not proved"
    );
    let svg = preview["svg"].as_str().unwrap();
    let code = decode::codes(&[decode::svg(svg.as_bytes())]).remove(0);
    assert_eq!(code, [preview["url"].as_str().unwrap()]);
    leads_to(&service, &code[0], &slugs[0]).await;
    let none = json!({"select": {"ids": []}, "format": "pdf", "label_mm": [60, 30]});
    let empty = service
        .admin(Method::POST, "/labels/preview", none.clone())
        .await
        .expect(200);
    assert_eq!((&empty["labels"], &empty["svg"]), (&json!(0), &Value::Null));
    let refused = service
        .admin(Method::POST, "/labels", none)
        .await
        .expect(422);
    assert!(
        refused["detail"]
            .as_str()
            .unwrap()
            .contains("nothing to print")
    );
}

#[tokio::test]
async fn capitals_are_printed_only_where_they_lead_to_their_tag() {
    let (service, _) = tags(1).await;
    for slug in ["Twin-0001", "twin-0001"] {
        service
            .admin_create("/tags", json!({"name": slug, "slug": slug}))
            .await;
    }
    let request = |ids: Value| json!({"select": {"ids": ids}, "format": "pdf", "label_mm": [30, 30], "qr": {"capitals": true}});
    printed(&service, request(json!([1]))).await;
    let refused = service
        .admin(Method::POST, "/labels", request(json!([2])))
        .await
        .expect(422);
    assert_eq!(refused["errors"][0]["field"], "qr.capitals");
    let base = service.base().replace("127.0.0.1", "localhost");
    for (tag_url, status) in [(format!("{base}/tags/t"), 422), (format!("{base}/t"), 200)] {
        service
            .admin_patch("/settings", json!({"tag_url": tag_url}))
            .await;
        let answer = service
            .admin_request(Method::POST, "/labels/preview")
            .json(&request(json!([1])));
        assert_eq!(answer.send().await.unwrap().status(), status, "{tag_url}");
    }
}

#[tokio::test]
async fn who_prints_needs_the_right_to_export_and_is_in_the_audit_log() {
    let (service, _) = tags(3).await;
    let request = json!({"select": {"filter": {}}, "format": "csv", "label_mm": [50, 30]});
    let unproved = service
        .admin_request(Method::POST, "/labels")
        .json(&request)
        .send()
        .await
        .unwrap();
    assert_eq!(unproved.status(), 409);
    let problem: Value = unproved.json().await.unwrap();
    assert_eq!(problem["code"], "address_not_proved");
    printed(&service, request).await;
    let log = service.admin_get("/audit").await;
    let row = &log["items"][0];
    assert_eq!(row["action"], "labels", "{row}");
    assert!(row.to_string().contains("\"labels\":3"), "{row}");
}
