//! Workbooks, made by a library of their own kind or part by part.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use rust_xlsxwriter::{Workbook, Worksheet};
use serde_json::Value;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The first bytes of an OpenDocument spreadsheet's type.
const ODS: &[u8] = b"application/vnd.oasis.opendocument.spreadsheet";

/// A workbook with one sheet.
pub fn xlsx(fill: impl FnOnce(&mut Worksheet)) -> Vec<u8> {
    let mut book = Workbook::new();
    fill(book.add_worksheet());
    book.save_to_buffer().expect("a workbook")
}

/// A workbook with one sheet of these rows: texts as texts, numbers as numbers.
pub fn xlsx_of(rows: &Value) -> Vec<u8> {
    xlsx(|sheet| write(sheet, rows))
}

/// Writes rows to a sheet, from its first cell.
pub fn write(sheet: &mut Worksheet, rows: &Value) {
    for (row, cells) in (0..).zip(rows.as_array().expect("rows")) {
        for (column, cell) in (0..).zip(cells.as_array().expect("cells")) {
            match cell {
                Value::String(text) => sheet.write_string(row, column, text),
                Value::Number(number) => {
                    sheet.write_number(row, column, number.as_f64().expect("a number"))
                }
                Value::Bool(is) => sheet.write_boolean(row, column, *is),
                _ => continue,
            }
            .expect("a cell");
        }
    }
}

/// An OpenDocument spreadsheet with one sheet of these texts.
pub fn ods_of(rows: &[&[&str]]) -> Vec<u8> {
    let mut table = String::new();
    for cells in rows {
        table.push_str("<table:table-row>");
        for text in *cells {
            let _ = write!(
                table,
                r#"<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>"#
            );
        }
        table.push_str("</table:table-row>");
    }
    let content = format!(
        r#"<office:document-content><office:body><office:spreadsheet><table:table table:name="Tags">{table}</table:table></office:spreadsheet></office:body></office:document-content>"#
    );
    zipped(&[
        ("mimetype", ODS),
        ("META-INF/manifest.xml", b"<manifest:manifest/>"),
        ("content.xml", content.as_bytes()),
    ])
}

/// A workbook of Excel whose sheet has these rows of XML.
pub fn raw_xlsx(rows: &str) -> Vec<u8> {
    const KIND: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let relationship = |kind: &str, target: &str| {
        format!(
            r#"<Relationships><Relationship Id="r1" Type="{KIND}/{kind}" Target="{target}"/></Relationships>"#
        )
    };
    let book =
        r#"<workbook><sheets><sheet name="Tags" sheetId="1" r:id="r1"/></sheets></workbook>"#;
    let sheet = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
    let (root, sheets) = (
        relationship("officeDocument", "xl/workbook.xml"),
        relationship("worksheet", "worksheets/sheet1.xml"),
    );
    zipped(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("_rels/.rels", root.as_bytes()),
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/_rels/workbook.xml.rels", sheets.as_bytes()),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
    ])
}

/// A ZIP file with these parts.
pub fn zipped(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        let options = SimpleFileOptions::default();
        writer.start_file(*name, options).expect("a part");
        writer.write_all(bytes).expect("its bytes");
    }
    writer.finish().expect("a file").into_inner()
}
