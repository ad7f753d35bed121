//! Files that look like workbooks: bombs, locked ones, old ones, broken ones.

use reqwest::Method;
use tapdesk_tests::Answering as _;
use tapdesk_tests::workbooks::{ods_of, raw_xlsx, xlsx, zipped};

use crate::bad_input::unchanged::Unchanged;

/// The first row of a sheet.
const HEADER: &str = r#"<row r="1"><c r="A1" t="inlineStr"><is><t>name</t></is></c></row>"#;

#[tokio::test]
async fn a_workbook_that_cannot_be_read_is_refused_with_the_way_out() {
    let service = Unchanged::start().await;
    let old = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    let mut encrypted = old.clone();
    encrypted.extend("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes));
    let long = format!(
        r#"<row r="2"><c r="A2" t="str"><v>{}</v></c></row>"#,
        "x".repeat(40_000_000)
    );
    let good = ods_of(&[&["name"], &["A"]]);
    for (name, file, part) in [
        ("an old workbook", old, "save it as .xlsx"),
        (
            "an encrypted workbook",
            encrypted,
            "protected by a password",
        ),
        (
            "a binary workbook",
            zipped(&[("xl/workbook.bin", b"")]),
            "save it as .xlsx",
        ),
        (
            "another ZIP file",
            zipped(&[("letter.txt", b"Hello")]),
            "no workbook",
        ),
        (
            "a half file",
            good[..good.len() / 2].to_vec(),
            "cannot be read",
        ),
        (
            "2,000,000 rows",
            raw_xlsx(&format!("{HEADER}{}", "<row/>".repeat(2_000_000))),
            "more than 1,048,576 rows",
        ),
        (
            "a bomb in a cell",
            raw_xlsx(&format!("{HEADER}{long}")),
            "longer than 1 MiB",
        ),
        ("an empty workbook", xlsx(|_| {}), "is empty"),
        ("a header only", raw_xlsx(HEADER), "has no rows"),
        (
            "a sheet that ends within a row",
            raw_xlsx("<row><c>"),
            "cannot be read",
        ),
    ] {
        for path in ["/tags/import", "/tags/import/table"] {
            // An import of no rows imports nothing.
            if part == "has no rows" && path == "/tags/import" {
                continue;
            }
            let request = service.admin_request(Method::POST, path);
            let refused = request.body(file.clone()).answer().await.expect(422);
            let detail = refused["detail"].as_str().expect("words");
            assert!(detail.contains(part), "{name}: {detail}");
        }
    }
    service.assert_unchanged().await;
}
