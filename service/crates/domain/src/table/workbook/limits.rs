//! Limits of a workbook, checked while its parts are unpacked.
//!
//! A few bytes of a ZIP file can unpack to gigabytes, and a few letters of XML can ask its reader for
//! as much memory. This pass keeps almost nothing, and refuses such a file before calamine reads it.
//! It also refuses XML that is not complete: calamine would wait for the rest forever.

mod measured;
mod sheets;

use std::io::{Cursor, Read};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;
use zip::result::ZipError;

use super::{DAMAGED, PASSWORD};
use crate::table::Format;
use measured::Measured;
use sheets::Sheets;
pub(super) use sheets::Table;

/// Most parts of a file: more than any workbook has, and few enough to keep their names.
const PARTS_MAX: usize = 10_000;
/// Most bytes that all parts unpack to. A million rows of 15 columns take 600 MB, and pass in
/// pieces.
const UNPACKED_MAX: u64 = 1024 * 1024 * 1024;
/// Most bytes of texts and names that calamine keeps in memory.
const KEPT_MAX: u64 = 256 * 1024 * 1024;
/// Most texts that the cells of a workbook share. Each takes some 50 bytes beside its letters.
const STRINGS_MAX: u64 = 4_000_000;
/// Most sheets, styles, names and other things that calamine keeps. Excel has at most 65,490
/// formats of cells.
const THINGS_MAX: u32 = 200_000;
/// Most bytes of a cell or of a tag. Excel has at most 32,767 characters in a cell.
const CELL_MAX: u64 = 1024 * 1024;
/// Most rows of a sheet, as in Excel.
const ROWS_MAX: u64 = 1_048_576;
/// Deepest nesting of elements.
const DEPTH_MAX: u32 = 200;

/// A file within the limits.
pub(super) struct Checked {
    pub(super) format: Format,
    /// The sheets of an OpenDocument file.
    pub(super) tables: Vec<Table>,
}

/// Why a file is refused, in words.
const TOO_LARGE: &str = "The workbook unpacks to more than 1 GiB, or to more text than fits into memory. Split it, or save the table as CSV UTF-8.";
const TOO_LONG: &str =
    "A cell of the workbook is longer than 1 MiB. Excel has at most 32,767 characters in a cell.";
const TOO_MANY_ROWS: &str =
    "A sheet of the workbook has more than 1,048,576 rows. Split it into several files.";
const NO_WORKBOOK: &str = "The file is a ZIP file, but no workbook (.xlsx or .ods). Open the table in a spreadsheet program and save it as .xlsx.";
const BINARY: &str =
    "The file is a binary workbook (.xlsb). Open it in a spreadsheet program and save it as .xlsx.";

/// Checks a ZIP file. The error is a sentence for people.
pub(super) fn check(file: &[u8]) -> Result<Checked, String> {
    check_within(file, UNPACKED_MAX)
}

/// Checks a ZIP file whose parts unpack to at most `unpacked_max` bytes.
pub(super) fn check_within(file: &[u8], unpacked_max: u64) -> Result<Checked, String> {
    // The directory of a ZIP file is kept in memory: a few hundred bytes for each part.
    let parts = memchr::memmem::find_iter(file, b"PK\x01\x02").take(PARTS_MAX + 1);
    if parts.count() > PARTS_MAX {
        return Err(format!("The file has more than {PARTS_MAX} parts."));
    }
    let mut archive = ZipArchive::new(Cursor::new(file)).map_err(|_| DAMAGED)?;
    let format = format(&mut archive)?;
    let mut pass = Pass {
        left: unpacked_max,
        ..Pass::default()
    };
    if format == Format::Ods {
        // The other parts of an encrypted file are no XML.
        let manifest = archive.by_name("META-INF/manifest.xml");
        let manifest = manifest.map_err(|error| words(&error))?;
        pass.xml(manifest)?;
    }
    for index in 0..archive.len() {
        let part = archive.by_index(index).map_err(|error| words(&error))?;
        let name = part.name().map_err(|error| words(&error))?;
        let name = name.to_ascii_lowercase();
        let is_xml = [".xml", ".rels"].iter().any(|end| name.ends_with(end));
        if is_xml {
            pass.xml(part)?;
        } else {
            pass.other(part)?;
        }
    }
    Ok(Checked {
        format,
        tables: pass.sheets.tables,
    })
}

fn format(archive: &mut ZipArchive<Cursor<&[u8]>>) -> Result<Format, String> {
    let has = |name: &str| archive.index_for_name(name).is_some();
    if has("xl/workbook.bin") {
        return Err(BINARY.to_owned());
    }
    if has("[Content_Types].xml") {
        return Ok(Format::Xlsx);
    }
    let mut kind = String::new();
    if let Ok(part) = archive.by_name("mimetype") {
        let kind = part.take(100).read_to_string(&mut kind);
        kind.map_err(|_| DAMAGED)?;
    }
    if kind.starts_with("application/vnd.oasis.opendocument.spreadsheet") {
        Ok(Format::Ods)
    } else {
        Err(NO_WORKBOOK.to_owned())
    }
}

fn words(error: &ZipError) -> String {
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => PASSWORD,
        _ => DAMAGED,
    }
    .to_owned()
}

/// Counts of a pass over all parts.
#[derive(Default)]
struct Pass {
    /// Bytes that further parts may unpack to.
    left: u64,
    kept: u64,
    strings: u64,
    things: u32,
    sheets: Sheets,
}

/// The position in a part.
#[derive(Default)]
struct Position {
    depth: u32,
    /// Bytes of the present cell.
    cell: Option<u64>,
    /// The depth of the outermost element whose text is kept.
    kept_from: Option<u32>,
    /// Rows of the part.
    rows: u64,
}

impl Pass {
    /// Counts the bytes of a part that is no XML.
    fn other(&mut self, part: impl Read) -> Result<(), String> {
        let mut rest = part.take(self.left + 1);
        let read = std::io::copy(&mut rest, &mut std::io::sink()).map_err(|_| DAMAGED)?;
        self.count(read)
    }

    fn count(&mut self, bytes: u64) -> Result<(), String> {
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or(TOO_LARGE)?;
        Ok(())
    }

    /// Reads a part to its end.
    fn xml(&mut self, part: impl Read) -> Result<(), String> {
        let mut xml = Reader::from_reader(Measured::new(part, CELL_MAX));
        xml.config_mut().expand_empty_elements = true;
        let mut buffer = Vec::new();
        let mut at = Position::default();
        loop {
            buffer.clear();
            xml.get_mut().begin();
            let event = xml.read_event_into(&mut buffer);
            let is_long = xml.get_ref().is_over();
            let event = match event {
                Ok(event) => event,
                Err(_) if is_long => return Err(TOO_LONG.to_owned()),
                Err(_) => return Err(DAMAGED.to_owned()),
            };
            let bytes = xml.get_ref().bytes();
            self.count(bytes)?;
            self.measure(&mut at, bytes)?;
            match event {
                Event::Start(start) => self.start(&mut at, &start)?,
                Event::End(end) => self.end(&mut at, end.local_name().as_ref())?,
                Event::DocType(_) => return Err(DAMAGED.to_owned()),
                Event::Eof => break,
                _ => {}
            }
        }
        if at.depth > 0 {
            return Err(DAMAGED.to_owned());
        }
        Ok(())
    }

    /// Adds the bytes of an event to the cell, and to the texts that are kept.
    fn measure(&mut self, at: &mut Position, bytes: u64) -> Result<(), String> {
        if let Some(cell) = &mut at.cell {
            *cell += bytes;
            if *cell > CELL_MAX {
                return Err(TOO_LONG.to_owned());
            }
        }
        if at.kept_from.is_some() {
            self.kept += bytes;
        }
        if self.kept + self.sheets.kept() > KEPT_MAX {
            return Err(TOO_LARGE.to_owned());
        }
        Ok(())
    }

    fn start(&mut self, at: &mut Position, start: &BytesStart<'_>) -> Result<(), String> {
        at.depth += 1;
        if at.depth > DEPTH_MAX {
            return Err(DAMAGED.to_owned());
        }
        let name = start.local_name();
        let name = name.as_ref();
        match name {
            "encryption-data" => return Err(PASSWORD.to_owned()),
            "sst" => {
                // calamine reserves memory for this number of texts.
                let count = number(start, "uniqueCount")?.unwrap_or_default();
                if count > STRINGS_MAX {
                    return Err(TOO_LARGE.to_owned());
                }
            }
            "row" => {
                at.rows += 1;
                if at.rows.max(number(start, "r")?.unwrap_or_default()) > ROWS_MAX {
                    return Err(TOO_MANY_ROWS.to_owned());
                }
            }
            "dimension" | "mergeCell" | "f" => is_area(start)?,
            _ => {}
        }
        if is_cell(name) {
            at.cell = Some(0);
        }
        if name == "si" {
            self.strings += 1;
        } else if is_kept(name) {
            self.things += 1;
        } else {
            return self.sheets.start(name, start);
        }
        at.kept_from.get_or_insert(at.depth);
        if self.strings > STRINGS_MAX || self.things > THINGS_MAX {
            return Err(TOO_LARGE.to_owned());
        }
        Ok(())
    }

    fn end(&mut self, at: &mut Position, name: &str) -> Result<(), String> {
        if at.kept_from == Some(at.depth) {
            at.kept_from = None;
        }
        at.depth = at.depth.saturating_sub(1);
        let cell = if is_cell(name) { at.cell.take() } else { None };
        self.sheets.end(name, cell.unwrap_or_default())
    }
}

/// Elements of which calamine reads one at a time.
fn is_cell(name: &str) -> bool {
    matches!(name, "c" | "si" | "table-cell" | "covered-table-cell")
}

/// Elements that calamine keeps, other than cells and their texts.
fn is_kept(name: &str) -> bool {
    matches!(
        name,
        "sheet"
            | "Relationship"
            | "definedName"
            | "mergeCell"
            | "numFmt"
            | "font"
            | "fill"
            | "border"
            | "xf"
            | "dxf"
            | "stop"
            | "rgbColor"
            | "style"
            | "named-range"
            | "named-expression"
    )
}

/// The number in an attribute, if it is there. One that is no number is damage.
fn number(start: &BytesStart<'_>, name: &str) -> Result<Option<u64>, String> {
    let Some(text) = attribute(start, name)? else {
        return Ok(None);
    };
    let number = text.trim().parse();
    number.map(Some).map_err(|_| DAMAGED.to_owned())
}

/// The text of an attribute, if it is there.
fn attribute(start: &BytesStart<'_>, name: &str) -> Result<Option<String>, String> {
    let found = start.try_get_attribute(name).map_err(|_| DAMAGED)?;
    Ok(found.map(|attribute| attribute.value.into_owned()))
}

/// Refuses an area such as `B2:A1`, which calamine subtracts from each other.
fn is_area(start: &BytesStart<'_>) -> Result<(), String> {
    let Some(area) = attribute(start, "ref")? else {
        return Ok(());
    };
    let Some((first, last)) = area.split_once(':') else {
        return Ok(());
    };
    let place = |cell: &str| {
        let digits = cell.find(|c: char| c.is_ascii_digit())?;
        let (column, row) = cell.split_at(digits);
        let column = column.trim_matches('$').to_ascii_uppercase();
        Some((column.len(), column, row.parse::<u64>().ok()?))
    };
    match (place(first), place(last)) {
        (Some(first), Some(last))
            if (first.0, &first.1) <= (last.0, &last.1) && first.2 <= last.2 =>
        {
            Ok(())
        }
        _ => Err(DAMAGED.to_owned()),
    }
}
