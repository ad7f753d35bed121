//! What a bureau sends back: a table, in one of several shapes.

use csv::{ReaderBuilder, StringRecord};

use crate::encode::Reported;
use crate::http::admin::tags::separator;
use crate::http::body::Chunks;

/// Most rows of a report: a position has one, and a chip that failed another.
const ROWS_MAX: usize = 20_000;

/// A column that means something here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Position,
    Slug,
    Url,
    Uid,
    Counter,
    Status,
}

/// A shape of such tables.
#[derive(Debug)]
pub(super) struct Shape {
    /// Its name, for `preset`.
    pub(super) name: &'static str,
    columns: &'static [(&'static str, Column)],
}

/// The shapes. Titles are compared without case, blanks, hyphens and underscores.
pub(super) static SHAPES: [Shape; 3] = [
    Shape {
        name: "csv",
        columns: &[
            ("position", Column::Position),
            ("no", Column::Position),
            ("number", Column::Position),
            ("slug", Column::Slug),
            ("code", Column::Slug),
            ("tag", Column::Slug),
            ("url", Column::Url),
            ("sample", Column::Url),
            ("uid", Column::Uid),
            ("chipuid", Column::Uid),
            ("taguid", Column::Uid),
            ("serial", Column::Uid),
            ("serialnumber", Column::Uid),
            ("counter", Column::Counter),
            ("readcounter", Column::Counter),
            ("status", Column::Status),
            ("result", Column::Status),
        ],
    },
    // "Associate Data" and "get Encoding Data": XUID,UID,CUID,TAGNAME,RESPONSE,STATUS. RESPONSE is
    // where a tap leads, which is nothing that a chip has.
    Shape {
        name: "ixkio",
        columns: &[
            ("xuid", Column::Slug),
            ("tagcode", Column::Slug),
            ("uid", Column::Uid),
            ("taguid", Column::Uid),
            ("counter", Column::Counter),
            ("status", Column::Status),
        ],
    },
    // No public document names the columns of an export: the usual words.
    Shape {
        name: "gototags",
        columns: &[
            ("uid", Column::Uid),
            ("nfcuid", Column::Uid),
            ("nfctaguid", Column::Uid),
            ("taguid", Column::Uid),
            ("chipuid", Column::Uid),
            ("uri", Column::Url),
            ("url", Column::Url),
            ("website", Column::Url),
            ("link", Column::Url),
            ("nfccounter", Column::Counter),
            ("readcounter", Column::Counter),
            ("counter", Column::Counter),
            ("status", Column::Status),
            ("result", Column::Status),
        ],
    },
];

/// Words for a good chip.
const GOOD: [&str; 10] = [
    "", "ok", "good", "pass", "passed", "success", "encoded", "done", "active", "1",
];

/// A row of the file: its number, as a spreadsheet shows it, and what it says.
pub(super) type Numbered = (u32, Result<Reported, String>);

/// Reads a file. A mistake in it as a whole is a sentence for people.
pub(super) fn read(file: Chunks, shape: &Shape) -> Result<Vec<Numbered>, String> {
    let separator = separator(&file);
    let mut reader = ReaderBuilder::new()
        .delimiter(separator)
        .flexible(true)
        .from_reader(file);
    let header = reader
        .headers()
        .map_err(|_| "The file is not UTF-8 text.")?;
    let columns: Vec<Option<Column>> = header.iter().map(|title| shape.column(title)).collect();
    let has = |wanted| columns.contains(&Some(wanted));
    if !has(Column::Uid) {
        return Err("The file has no column for the UID of a chip.".to_owned());
    }
    if ![Column::Position, Column::Slug, Column::Url]
        .into_iter()
        .any(has)
    {
        return Err("The file has no column for a position, a slug or a URL.".to_owned());
    }
    let mut rows = Vec::new();
    for (record, number) in reader.records().zip(2..) {
        if rows.len() == ROWS_MAX {
            return Err(format!("A report has at most {ROWS_MAX} rows. Split it."));
        }
        let read = match record {
            Ok(record) if record.iter().all(|cell| cell.trim().is_empty()) => continue,
            Ok(record) => row(&columns, &record),
            Err(_) => Err("The row is not UTF-8 text.".to_owned()),
        };
        rows.push((number, read));
    }
    Ok(rows)
}

impl Shape {
    fn column(&self, title: &str) -> Option<Column> {
        let title = title.trim_start_matches('\u{feff}').to_lowercase();
        let plain: String = title.chars().filter(char::is_ascii_alphanumeric).collect();
        let known = self.columns.iter().find(|(name, _)| *name == plain);
        known.map(|(_, column)| *column)
    }
}

fn row(columns: &[Option<Column>], record: &StringRecord) -> Result<Reported, String> {
    let mut row = Reported::default();
    for (column, cell) in columns.iter().zip(record) {
        let cell = cell.trim();
        let (Some(column), false) = (column, cell.is_empty()) else {
            continue;
        };
        match column {
            Column::Position => {
                let number = cell
                    .parse()
                    .map_err(|_| format!("\"{cell}\" is no position."));
                row.position = Some(number?);
            }
            Column::Slug => row.slug = Some(cell.to_owned()),
            Column::Url => row.url = Some(cell.to_owned()),
            Column::Uid => {
                let digits: String = cell
                    .chars()
                    .filter(|c| !matches!(c, ':' | '-' | ' '))
                    .collect();
                let uid = digits.parse();
                row.uid = Some(uid.map_err(|_| format!("\"{cell}\" is no UID of 7 bytes."))?);
            }
            Column::Counter => {
                let number = cell
                    .parse()
                    .map_err(|_| format!("\"{cell}\" is no counter."));
                row.counter = number?;
            }
            Column::Status if GOOD.contains(&&*cell.to_lowercase()) => {}
            Column::Status => return Err(format!("The bureau says of this chip: {cell}.")),
        }
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(shape: usize, text: &str) -> Result<Vec<Numbered>, String> {
        let bytes = axum::body::Bytes::from(text.to_owned());
        read(bytes.into(), &SHAPES[shape])
    }

    #[test]
    fn the_shape_of_ixkio_names_the_slug_and_the_status() {
        let text = "XUID,UID,CUID,TAGNAME,RESPONSE,STATUS\r\nk3v9qa,04DE5F1EACC040,,A,https://a.example/,Active\r\nk3v9qb,,,B,,Failed\r\n";
        let rows = rows(1, text).unwrap();
        let first = rows[0].1.as_ref().unwrap();
        assert_eq!(first.slug.as_deref(), Some("k3v9qa"));
        assert_eq!(first.uid.unwrap().to_string(), "04DE5F1EACC040");
        assert_eq!((first.url.as_deref(), rows[0].0), (None, 2));
        assert_eq!(
            rows[1].1.as_ref().unwrap_err(),
            "The bureau says of this chip: Failed."
        );
    }

    #[test]
    fn the_shape_of_gototags_names_the_url_and_the_counter() {
        let text = "\u{feff}UID;URL;NFC Counter\n04:DE:5F:1E:AC:C0:40;https://tags.example/t/a;3\n";
        let rows = rows(2, text).unwrap();
        let row = rows[0].1.as_ref().unwrap();
        assert_eq!(
            (row.counter, row.url.as_deref()),
            (3, Some("https://tags.example/t/a"))
        );
        assert_eq!(row.uid.unwrap().to_string(), "04DE5F1EACC040");
    }

    #[test]
    fn a_file_without_chips_or_positions_is_refused() {
        assert!(rows(0, "position\n1\n").unwrap_err().contains("UID"));
        assert!(
            rows(0, "uid\n04DE5F1EACC040\n")
                .unwrap_err()
                .contains("position")
        );
        let bad = rows(0, "no.,uid\n1,04DE\nx,04DE5F1EACC040\n").unwrap();
        assert!(bad[0].1.as_ref().unwrap_err().contains("7 bytes"));
        assert!(bad[1].1.as_ref().unwrap_err().contains("position"));
    }
}
