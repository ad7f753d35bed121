//! Workbooks: the first visible sheet of an `.xlsx` or `.ods` file as rows of text.
//!
//! | Module | Subject |
//! |---|---|
//! | `limits` | what a file unpacks to, checked before it is read |
//! | `excel`, `open_document` | the two kinds of files, read by calamine |
//! | `cell` | numbers, dates and other values as text |
//! | `padded` | numbers that a format shows with leading zeros or other text |
//! | `rows` | the rows of a sheet in little memory |

mod cell;
mod excel;
mod limits;
mod open_document;
mod padded;
mod rows;

use std::panic::{AssertUnwindSafe, catch_unwind};

use calamine::{Sheet, SheetType, SheetVisible};

pub(super) use rows::{Rows, Stored};

use super::Format;
use crate::plural::counted;

/// A sheet that was read to its end.
pub(super) struct Workbook {
    pub(super) format: Format,
    pub(super) rows: Rows,
    /// Information for people: which of several sheets was read.
    pub(super) notes: Vec<String>,
}

/// The first bytes of a ZIP file; the second form is an empty one.
const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
/// The first bytes of a compound file: an old workbook, or an encrypted one.
const COMPOUND: &[u8] = b"\xd0\xcf\x11\xe0";
/// The name of the stream of a compound file that contains an encrypted workbook, in UTF-16.
const ENCRYPTED: &[u8] = b"E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0";

/// Refuses a workbook that needs a password.
const PASSWORD: &str =
    "The workbook is protected by a password. Save it without a password, and import it again.";
/// Refuses a file that is damaged, or made by a program that deviates from the standards. Errors of
/// the readers are not shown, because they can contain cells.
const DAMAGED: &str = "The workbook cannot be read: it is damaged, or not written by a spreadsheet program. Open it in one and save it as .xlsx, or as CSV UTF-8.";

/// Continues a sentence about a formula that no spreadsheet program has computed yet.
const NO_VALUE: &str = "is a formula without a value. Open the workbook in a spreadsheet program, save it, and import it again";

/// Whether a file that begins with these bytes is a workbook, or another file that only a
/// spreadsheet program can read.
pub(super) fn is_workbook(head: &[u8]) -> bool {
    ZIP.iter().any(|zip| head.starts_with(zip)) || head.starts_with(COMPOUND)
}

/// Reads the first visible sheet of a workbook. The error is a sentence for people.
pub(super) fn read(file: &[u8]) -> Result<Workbook, String> {
    if file.starts_with(COMPOUND) {
        let is_encrypted = memchr::memmem::find(file, ENCRYPTED).is_some();
        let old = "The file is an old workbook (.xls). Open it in a spreadsheet program and save it as .xlsx.";
        return Err(if is_encrypted { PASSWORD } else { old }.to_owned());
    }
    // A file that confuses its reader must not end the request without words.
    let read = catch_unwind(AssertUnwindSafe(|| {
        let checked = limits::check(file)?;
        match checked.format {
            Format::Ods => open_document::read(file, &checked.tables),
            _ => excel::read(file),
        }
    }));
    read.unwrap_or_else(|_| Err(DAMAGED.to_owned()))
}

/// The first visible sheet with cells, and notes about the others.
fn first_visible(sheets: &[Sheet]) -> Result<(String, Vec<String>), String> {
    let is_shown = |sheet: &&Sheet| {
        sheet.visible == SheetVisible::Visible && sheet.typ == SheetType::WorkSheet
    };
    let Some(first) = sheets.iter().find(is_shown) else {
        return Err("The workbook has no visible sheet.".to_owned());
    };
    let name = first.name.clone();
    let others = sheets.len() - 1;
    let notes = (others > 0).then(|| {
        let others = counted(others as u64, "other sheet");
        format!("Only the first visible sheet, \"{name}\", is read. The workbook has {others}.")
    });
    Ok((name, notes.into_iter().collect()))
}

#[cfg(test)]
mod tests;
