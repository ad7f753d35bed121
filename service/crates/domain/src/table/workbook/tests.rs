//! Workbooks that people have, and files that only look like them.

mod bombs;

use std::io::Write as _;

use proptest::prelude::*;
use rust_xlsxwriter::{ExcelDateTime, Format as Style, Formula, Workbook as Writer, Worksheet};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::limits;
use crate::table::Format;
use crate::table::tests::{row as ok, rows, sheet as open};

fn refused(file: &[u8]) -> String {
    open(file).err().expect("the file is refused")
}

/// A workbook with one sheet.
fn xlsx(fill: impl FnOnce(&mut Worksheet)) -> Vec<u8> {
    let mut book = Writer::new();
    fill(book.add_worksheet());
    book.save_to_buffer().unwrap()
}

/// A ZIP file with these parts.
fn zipped(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        writer
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

const RELATIONSHIPS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// A workbook whose sheet and shared texts are this XML.
fn raw_xlsx(sheet: &str, strings: &str) -> Vec<u8> {
    let root = format!(
        r#"<Relationships><Relationship Id="r1" Type="{RELATIONSHIPS}/officeDocument" Target="xl/workbook.xml"/></Relationships>"#
    );
    let book =
        r#"<workbook><sheets><sheet name="Tags" sheetId="1" r:id="r1"/></sheets></workbook>"#;
    let sheets = format!(
        r#"<Relationships><Relationship Id="r1" Type="{RELATIONSHIPS}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#
    );
    zipped(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("_rels/.rels", root.as_bytes()),
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/_rels/workbook.xml.rels", sheets.as_bytes()),
        ("xl/sharedStrings.xml", strings.as_bytes()),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
    ])
}

fn sheet_of(rows: &str) -> String {
    format!("<worksheet><sheetData>{rows}</sheetData></worksheet>")
}

const ODS: &[u8] = b"application/vnd.oasis.opendocument.spreadsheet";

/// An OpenDocument file with these tables.
fn ods(tables: &str) -> Vec<u8> {
    let styles = r#"<office:automatic-styles><style:style style:name="hidden" style:family="table"><style:table-properties table:display="false"/></style:style></office:automatic-styles>"#;
    let content = format!(
        "<office:document-content>{styles}<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"
    );
    zipped(&[
        ("mimetype", ODS),
        ("META-INF/manifest.xml", b"<manifest:manifest/>"),
        ("content.xml", content.as_bytes()),
    ])
}

/// A row of texts in an OpenDocument file.
fn ods_row(texts: &[&str]) -> String {
    let cell = |text: &&str| {
        format!(
            r#"<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>"#
        )
    };
    let cells: String = texts.iter().map(cell).collect();
    format!("<table:table-row>{cells}</table:table-row>")
}

fn ods_table(name: &str, rows: &str) -> String {
    format!(r#"<table:table table:name="{name}">{rows}</table:table>"#)
}

#[test]
fn a_number_with_leading_zeros_by_its_format_is_the_text_that_a_person_sees() {
    let file = xlsx(|sheet| {
        for (column, heading) in (0..).zip(["name", "slug", "uid"]) {
            sheet.write_string(0, column, heading).unwrap();
        }
        let slugs = Style::new().set_num_format("00000");
        let uids = Style::new().set_num_format("00000000000000");
        let serials = Style::new().set_num_format("\"SN-\"0000");
        sheet.write_string(1, 0, "A").unwrap();
        sheet.write_number_with_format(1, 1, 42.0, &slugs).unwrap();
        sheet
            .write_number_with_format(1, 2, 4_112_233_445_566.0, &uids)
            .unwrap();
        sheet.write_string_with_format(2, 0, "B", &slugs).unwrap();
        sheet.write_number(2, 1, 42.0).unwrap();
        sheet.write_string(3, 0, "C").unwrap();
        sheet
            .write_number_with_format(3, 1, 42.0, &serials)
            .unwrap();
    });
    assert_eq!(
        rows(&file),
        [
            ok(2, &["A", "00042", "04112233445566"]),
            ok(3, &["B", "42", ""]),
            ok(4, &["C", "SN-0042", ""]),
        ]
    );
}

#[test]
fn a_workbook_of_excel_is_read_as_a_person_sees_it() {
    let file = xlsx(|sheet| {
        let date = Style::new().set_num_format("dd.mm.yyyy");
        for (column, heading) in (0..).zip([
            " name ",
            "slug",
            "last_counter",
            "attribute:day",
            "verifier_enabled",
        ]) {
            sheet.write_string(0, column, heading).unwrap();
        }
        sheet
            .write_string(1, 0, "Käse \"1\", gut\nund alt")
            .unwrap();
        sheet.write_string(1, 1, "0041").unwrap();
        sheet.write_number(1, 2, 33).unwrap();
        let day = ExcelDateTime::from_ymd(2023, 11, 4).unwrap();
        sheet.write_datetime_with_format(1, 3, &day, &date).unwrap();
        sheet.write_boolean(1, 4, true).unwrap();
        // A row with formats only is empty, and counts.
        sheet.write_blank(2, 0, &date).unwrap();
        let formula = Formula::new("=A2&\" 2\"").set_result("Käse 2");
        sheet.write_formula(3, 0, formula).unwrap();
        sheet.write_number(3, 3, 12.5).unwrap();
    });
    let sheet = open(&file).unwrap();
    assert_eq!(
        (sheet.format(), sheet.encoding(), sheet.separator()),
        (Format::Xlsx, None, None)
    );
    let header = [
        "name",
        "slug",
        "last_counter",
        "attribute:day",
        "verifier_enabled",
    ];
    assert_eq!(sheet.header(), header);
    assert!(sheet.notes().is_empty());
    let expected = [
        ok(
            2,
            &[
                "Käse \"1\", gut\nund alt",
                "0041",
                "33",
                "2023-11-04",
                "true",
            ],
        ),
        ok(4, &["Käse 2", "", "", "12.5", ""]),
    ];
    assert_eq!(rows(&file), expected);
}

#[test]
fn an_open_document_is_read_as_a_person_sees_it() {
    let rest = r#"<table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>
<table:table-row><table:table-cell office:value-type="float" office:value="41"/><table:table-cell office:value-type="date" office:date-value="2023-11-04"/></table:table-row>
<table:table-row><table:table-cell office:value-type="string" table:formula="of:=1"><text:p>a<text:s text:c="2"/>b</text:p><text:p>c</text:p></table:table-cell><table:table-cell office:value-type="boolean" office:boolean-value="true"/></table:table-row>
<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384" table:style-name="x"/></table:table-row>"#;
    let rest = rest.replace('\n', "");
    let file = ods(&ods_table(
        "Tags",
        &format!("{}{rest}", ods_row(&["name", "title"])),
    ));
    let expected = [ok(4, &["41", "2023-11-04"]), ok(5, &["a  b\nc", "true"])];
    assert_eq!(rows(&file), expected);
    assert_eq!(open(&file).unwrap().format(), Format::Ods);
}

#[test]
fn the_first_visible_sheet_is_read_and_said() {
    let mut book = Writer::new();
    book.add_worksheet()
        .set_name("Old")
        .unwrap()
        .set_hidden(true)
        .write_string(0, 0, "secret")
        .unwrap();
    let shown = book.add_worksheet().set_name("Tags").unwrap();
    shown.write_string(0, 0, "name").unwrap();
    shown.write_string(1, 0, "a").unwrap();
    shown.set_active(true);
    book.add_worksheet().set_name("Notes").unwrap();
    let file = book.save_to_buffer().unwrap();
    assert_eq!(rows(&file), [ok(2, &["a"])]);
    let notes = open(&file).unwrap().notes().join(" ");
    assert!(
        notes.contains("\"Tags\"") && notes.contains("2 other sheets"),
        "{notes}"
    );

    let hidden = r#"<table:table table:name="Old" table:style-name="hidden"><table:table-row><table:table-cell office:value-type="string"><text:p>secret</text:p></table:table-cell></table:table-row></table:table>"#;
    let shown = ods_table("Tags", &(ods_row(&["name"]) + &ods_row(&["a"])));
    assert_eq!(rows(ods(&(hidden.to_owned() + &shown))), [ok(2, &["a"])]);
    assert!(refused(&ods(hidden)).contains("no visible sheet"));
}

#[test]
fn merged_cells_refuse_their_rows_and_a_merged_header_the_file() {
    let write = |sheet: &mut Worksheet| {
        for (row, texts) in (0..).zip([["name", "title"], ["a", "1"], ["", "2"], ["c", "3"]]) {
            for (column, text) in (0..).zip(texts) {
                sheet.write_string(row, column, text).unwrap();
            }
        }
    };
    let file = xlsx(|sheet| {
        write(sheet);
        sheet.merge_range(1, 0, 2, 0, "a", &Style::new()).unwrap();
        // Beside the table.
        sheet.merge_range(3, 5, 4, 6, "", &Style::new()).unwrap();
    });
    let read = rows(&file);
    for at in [0, 1] {
        let why = read[at].1.as_ref().unwrap_err();
        assert!(why.contains("A2 to A3 are merged"), "{why}");
    }
    assert_eq!(read[2], ok(4, &["c", "3"]));
    let header = xlsx(|sheet| {
        write(sheet);
        sheet
            .merge_range(0, 0, 0, 1, "name", &Style::new())
            .unwrap();
    });
    assert!(refused(&header).contains("A1 to B1 are merged"));

    let spanned = r#"<table:table-row><table:table-cell office:value-type="string" table:number-columns-spanned="2" table:number-rows-spanned="1"><text:p>a</text:p></table:table-cell><table:covered-table-cell/></table:table-row>"#;
    let file = ods(&ods_table("Tags", &(ods_row(&["name", "title"]) + spanned)));
    let why = rows(&file)[0].1.clone().unwrap_err();
    assert!(why.contains("A2 to B2 are merged"), "{why}");
}

#[test]
fn a_cell_that_cannot_be_used_refuses_its_row_by_name() {
    let rows_of = |sheet: &str| rows(raw_xlsx(&sheet_of(sheet), "<sst/>"));
    let header = r#"<row r="1"><c r="B1" t="inlineStr"><is><t>name</t></is></c><c r="C1" t="str"><v>title</v></c></row>"#;
    for (row, part) in [
        (
            r#"<row r="5"><c r="B5"><f>A1&amp;A2</f></c></row>"#,
            "Cell B5 is a formula without a value",
        ),
        (
            r#"<row r="5"><c r="C5" t="e"><f>1/0</f><v>#DIV/0!</v></c></row>"#,
            "Cell C5 is the error #DIV/0!",
        ),
        (
            r#"<row r="5"><c r="B5"><v>1</v></c><c r="E5"><v>2</v></c></row>"#,
            "cell E5, where the header has none",
        ),
        (
            r#"<row r="5"><c r="A5"><v>1</v></c></row>"#,
            "cell A5, where the header has none",
        ),
        (
            r#"<row r="5"><c r="B5" t="str"><v>a_x0000_b</v></c></row>"#,
            "Cell B5 has a NUL character",
        ),
    ] {
        let read = rows_of(&format!(
            "{header}{row}<row r=\"6\"><c r=\"B6\"><v>7</v></c></row>"
        ));
        assert_eq!(read[0].0, 5, "{row}");
        let why = read[0].1.as_ref().unwrap_err();
        assert!(why.contains(part), "{why}");
        assert_eq!(read[1], ok(6, &["7", ""]), "{row}");
    }
    let without =
        r#"<table:table-row><table:table-cell table:formula="of:=A1"/></table:table-row>"#;
    let file = ods(&ods_table("Tags", &(ods_row(&["name"]) + without)));
    let why = rows(&file)[0].1.clone().unwrap_err();
    assert!(
        why.contains("Cell A2 is a formula without a value"),
        "{why}"
    );
    let header = raw_xlsx(
        &sheet_of(r#"<row r="1"><c r="A1" t="e"><v>#REF!</v></c></row>"#),
        "<sst/>",
    );
    assert!(refused(&header).contains("The header cannot be read. Cell A1 is the error #REF!"));
}

#[test]
fn another_file_is_refused_with_the_way_out() {
    let mut encrypted = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    let old = encrypted.clone();
    encrypted.extend("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes));
    let manifest = b"<manifest:manifest><manifest:file-entry><manifest:encryption-data/></manifest:file-entry></manifest:manifest>";
    let secret = zipped(&[
        ("mimetype", ODS),
        ("content.xml", b"\x01\x02"),
        ("META-INF/manifest.xml", manifest),
    ]);
    for (file, part) in [
        (old, "old workbook (.xls)"),
        (encrypted, "protected by a password"),
        (secret, "protected by a password"),
        (zipped(&[("xl/workbook.bin", b"")]), "save it as .xlsx"),
        (zipped(&[("letter.txt", b"hello")]), "no workbook"),
        (zipped(&[]), "no workbook"),
        (b"PK\x03\x04rest".to_vec(), "cannot be read"),
        (
            zipped(&[("[Content_Types].xml", b"<Types/>")]),
            "cannot be read",
        ),
        (xlsx(|_| {}), "is empty"),
        (ods(&ods_table("Tags", "")), "is empty"),
        (ods(""), "no visible sheet"),
    ] {
        let why = refused(&file);
        assert!(why.contains(part), "{part}: {why}");
    }
}

#[test]
fn a_sheet_has_at_most_1_000_columns_and_begins_at_its_first_heading() {
    let wide = |columns: u16| {
        xlsx(|sheet| {
            for column in 0..columns {
                sheet.write_string(0, column, "a").unwrap();
            }
            sheet.write_string(1, 0, "b").unwrap();
        })
    };
    assert!(open(&wide(1_000)).is_ok());
    assert_eq!(refused(&wide(1_001)), "A file has at most 1000 columns.");
    let file = xlsx(|sheet| {
        sheet.write_string(3, 2, "name").unwrap();
        sheet.write_string(3, 4, "title").unwrap();
        sheet.write_string(4, 4, "b").unwrap();
    });
    assert_eq!(open(&file).unwrap().header(), ["name", "", "title"]);
    assert_eq!(rows(&file), [ok(5, &["", "", "b"])]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// One changed byte of a workbook, within its parts, is read or refused in words.
    #[test]
    fn a_damaged_workbook_is_read_or_refused(at in any::<prop::sample::Index>(), byte in any::<u8>(), is_ods: bool) {
        let header = r#"<row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="2"><c r="A2" s="1"><f t="shared" si="0" ref="A2:A3">1</f><v>1.5</v></c></row>"#;
        let sheet = format!(r#"<worksheet><dimension ref="A1:A2"/><sheetData>{header}</sheetData><mergeCells><mergeCell ref="A3:B3"/></mergeCells></worksheet>"#);
        let mut sheet = if is_ods { ods_table("Tags", &(ods_row(&["name"]) + &ods_row(&["a"]))) } else { sheet };
        let mut bytes = std::mem::take(&mut sheet).into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let file = if is_ods { ods(&text) } else { raw_xlsx(&text, r#"<sst uniqueCount="1"><si><t>name</t></si></sst>"#) };
        if let Ok(sheet) = open(&file) {
            prop_assert!(sheet.count() <= 1_048_576);
        }
    }

    #[test]
    fn texts_are_read_as_they_were_written(texts in prop::collection::vec("[^\0\r]{1,8}|[ =+'\n]{1,3}", 1..6)) {
        let file = xlsx(|sheet| {
            sheet.write_string(0, 0, "name").unwrap();
            for (row, text) in (1..).zip(&texts) {
                sheet.write_string(row, 0, text).unwrap();
            }
        });
        let read: Vec<_> = open(&file).unwrap().map(|line| line.cells().unwrap().remove(0)).collect();
        prop_assert_eq!(read, texts);
    }
}
