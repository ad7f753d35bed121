//! Files that would take memory or time without end.

use super::*;

/// Each of these files is small, and would cost gigabytes or wait forever.
#[test]
fn a_bomb_is_refused_before_it_costs_memory() {
    let text = |length: usize| "x".repeat(length);
    let one = r#"<row r="1"><c r="A1" t="inlineStr"><is><t>name</t></is></c></row>"#;
    let long = format!(
        r#"{one}<row r="2"><c r="A2" t="inlineStr"><is><t>{}</t></is></c></row>"#,
        text(2_000_000)
    );
    let pieces = format!(
        r#"{one}<row r="2"><c r="A2" t="inlineStr"><is>{}</is></c></row>"#,
        format!("<r><t>{}</t></r>", text(100_000)).repeat(20)
    );
    let comment = format!("{one}<!-- {} -->", "<c> ".repeat(500_000));
    let rows = format!("{one}{}", "<row/>".repeat(2_000_000));
    let deep = "<a>".repeat(1_000) + &"</a>".repeat(1_000);
    let sst = |count: &str| raw_xlsx(&sheet_of(one), &format!(r#"<sst uniqueCount="{count}"/>"#));
    let sheet = |rows: &str| raw_xlsx(&sheet_of(rows), "<sst/>");
    let cell = |attributes: &str, text: &str| {
        format!(
            r#"<table:table-row><table:table-cell office:value-type="string" {attributes}><text:p>{text}</text:p></table:table-cell></table:table-row>"#
        )
    };
    let table = |rows: &str| ods(&ods_table("Tags", &(ods_row(&["name"]) + rows)));
    let repeated = r#"<table:table-row table:number-rows-repeated="1000000"><table:table-cell office:value-type="float" office:value="1" table:number-columns-repeated="1000"/></table:table-row>"#;
    let open_end = zipped(&[
        ("mimetype", ODS),
        ("META-INF/manifest.xml", b"<manifest:manifest/>"),
        (
            "content.xml",
            br#"<office:document-content><table:table table:name="a"><table:table-row>"#,
        ),
    ]);
    for (name, file, part) in [
        ("a long cell", sheet(&long), "longer than 1 MiB"),
        ("a cell of many pieces", sheet(&pieces), "longer than 1 MiB"),
        ("a long comment", sheet(&comment), "longer than 1 MiB"),
        ("2,000,000 rows", sheet(&rows), "more than 1,048,576 rows"),
        (
            "a row far down",
            sheet(r#"<row r="4294967295"><c/></row>"#),
            "more than 1,048,576 rows",
        ),
        (
            "a promise of texts",
            sst("99999999999"),
            "more text than fits",
        ),
        ("deep elements", sheet(&deep), "cannot be read"),
        (
            "many styles",
            raw_xlsx(
                &sheet_of(one),
                &format!("<sst>{}</sst>", "<xf/>".repeat(300_000)),
            ),
            "more text than fits",
        ),
        (
            "many spaces",
            table(&cell("", r#"<text:s text:c="99999999999"/>"#)),
            "longer than 1 MiB",
        ),
        (
            "repeated cells",
            table(repeated),
            "more than 2,000,000 cells",
        ),
        (
            "a long repeated cell",
            table(&cell(
                r#"table:number-columns-repeated="16000""#,
                &text(100_000),
            )),
            "more text than fits",
        ),
        ("a part without an end", open_end, "cannot be read"),
    ] {
        assert!(file.len() < 3_000_000, "{name} is {} bytes", file.len());
        let why = refused(&file);
        assert!(why.contains(part), "{name}: {why}");
    }
    let typed = raw_xlsx(
        &format!("<!DOCTYPE x [<!ENTITY a \"b\">]>{}", sheet_of(one)),
        "<sst/>",
    );
    assert!(refused(&typed).contains("cannot be read"));
    let area =
        format!(r#"<worksheet><dimension ref="B2:A1"/><sheetData>{one}</sheetData></worksheet>"#);
    assert!(refused(&raw_xlsx(&area, "<sst/>")).contains("cannot be read"));
}

/// Zeros that unpack to a thousand times their size, whatever the file says, and many parts.
#[test]
fn a_zip_bomb_is_refused() {
    const MOST: usize = 16 * 1024 * 1024;
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    writer.start_file("[Content_Types].xml", options).unwrap();
    writer.write_all(b"<Types/>").unwrap();
    writer.start_file("xl/media/image1.png", options).unwrap();
    writer.write_all(&vec![0; MOST]).unwrap();
    let mut file = writer.finish().unwrap().into_inner();
    assert!(file.len() < MOST / 500, "{}", file.len());
    let check = |file: &[u8]| limits::check_within(file, MOST as u64).err();
    let why = check(&file).expect("the parts are too large");
    assert!(why.contains("more than 1 GiB"), "{why}");
    // A smaller size in the directory changes nothing.
    let directory = memchr::memmem::rfind(&file, b"PK\x01\x02").unwrap();
    file[directory + 24..directory + 28].copy_from_slice(&10_u32.to_le_bytes());
    assert!(check(&file).is_some());

    let names: Vec<_> = (0..10_001).map(|number| format!("{number}.xml")).collect();
    let parts: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), &b"<a/>"[..]))
        .collect();
    assert!(refused(&zipped(&parts)).contains("more than 10000 parts"));
}
