//! Reads the report of a bureau: a table in one of several shapes.

use std::io::Read;

use super::Reported;
use domain::table::counter::{self, Counter, Digits};
use domain::table::damage::{self, Damage};
use domain::table::{Problem, Sheet, TableFile};

/// Maximum number of rows: one for each position, and one for each chip that failed.
const ROWS_MAX: usize = 20_000;

/// A column that the import uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Position,
    Slug,
    Url,
    Uid,
    Counter,
    Status,
}

/// A shape of report tables.
#[derive(Debug)]
pub struct Shape {
    /// Name of the shape, for `preset`.
    pub name: &'static str,
    columns: &'static [(&'static str, Column)],
}

/// The known shapes. Titles are compared without case, blanks, hyphens and underscores.
pub static SHAPES: [Shape; 3] = [
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
    // the target of a tap, which is not on the chip.
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
    // No public document lists the columns of an export, so use the common words.
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

/// Values of the status column for a good chip.
const GOOD: [&str; 10] = [
    "", "ok", "good", "pass", "passed", "success", "encoded", "done", "active", "1",
];

/// A row of the file: its number in a spreadsheet, and its content.
pub type Numbered = (u32, Result<Reported, String>);

/// Why a file cannot be read, for people.
#[derive(Debug, PartialEq, Eq)]
pub enum Unread {
    /// The whole file is invalid.
    File(String),
    /// The number format of counters is ambiguous.
    Counter(String),
}

/// Reads a file. `said` is the number format of counters, if the caller knows it.
pub fn read(
    file: impl Read + Clone,
    shape: &Shape,
    said: Option<Digits>,
) -> Result<Vec<Numbered>, Unread> {
    let sheet = TableFile::new(file).and_then(Sheet::open);
    let sheet = sheet.map_err(Unread::File)?;
    let header = sheet.header().to_vec();
    let columns: Vec<Option<Column>> = header.iter().map(|title| shape.column(title)).collect();
    let has = |wanted| columns.contains(&Some(wanted));
    let lacks = |what| Err(Unread::File(format!("The file has no column for {what}.")));
    if !has(Column::Uid) {
        return lacks("the UID of a chip");
    }
    if ![Column::Position, Column::Slug, Column::Url]
        .into_iter()
        .any(has)
    {
        return lacks("a position, a slug or a URL");
    }
    let mut rows = Vec::new();
    for line in sheet {
        if rows.len() == ROWS_MAX {
            let why = format!("A report has at most {ROWS_MAX} rows. Split it.");
            return Err(Unread::File(why));
        }
        let number = line.number;
        let read = match line.cells() {
            Ok(cells) if cells.iter().all(|cell| cell.trim().is_empty()) => continue,
            Ok(cells) => match unclear(&columns, &cells, said) {
                Some(cell) => {
                    return Err(Unread::Counter(format!(
                        "The file does not say how its counters are written: \"{cell}\" in row {number} can be decimal or hexadecimal. Say counter=decimal or counter=hex."
                    )));
                }
                None => row(&columns, &cells, said),
            },
            Err(Problem::Row(why)) => Err(why),
            Err(Problem::Cell(index, why)) => {
                Err(format!("The column \"{}\" {why}", header[index]))
            }
        };
        rows.push((number, read));
    }
    Ok(rows)
}

/// The counter of a row, if it could be decimal or hexadecimal.
fn unclear<'a>(
    columns: &[Option<Column>],
    cells: &'a [String],
    said: Option<Digits>,
) -> Option<&'a str> {
    let mut counters = columns.iter().zip(cells);
    let (_, cell) = counters.find(|(column, _)| **column == Some(Column::Counter))?;
    let cell = cell.trim();
    (counter::read(cell, said, false) == Ok(Counter::Unclear)).then_some(cell)
}

impl Shape {
    fn column(&self, title: &str) -> Option<Column> {
        let title = title.to_lowercase();
        let plain: String = title.chars().filter(char::is_ascii_alphanumeric).collect();
        let known = self.columns.iter().find(|(name, _)| *name == plain);
        known.map(|(_, column)| *column)
    }
}

fn row(
    columns: &[Option<Column>],
    cells: &[String],
    said: Option<Digits>,
) -> Result<Reported, String> {
    let mut row = Reported::default();
    for (column, cell) in columns.iter().zip(cells) {
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
            // Digits that look rounded can be a slug of the order. A rounded slug is not in it.
            Column::Slug => match damage::of_slug(cell).filter(|it| *it != Damage::Rounded) {
                Some(damage) => return Err(damage::words("The slug", damage)),
                None => row.slug = Some(cell.to_owned()),
            },
            Column::Url => row.url = Some(cell.to_owned()),
            Column::Uid => {
                if let Some(damage) = damage::of_uid(cell) {
                    return Err(damage::words("The UID", damage));
                }
                let uid = damage::without_marks(cell).parse();
                row.uid = Some(uid.map_err(|_| format!("\"{cell}\" is no UID of 7 bytes."))?);
            }
            Column::Counter => match counter::read(cell, said, false)? {
                Counter::Is(number) | Counter::Hexadecimal(number) => row.counter = number,
                Counter::Unclear => return Err(format!("\"{cell}\" can be two counters.")),
            },
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
        read(text.as_bytes(), &SHAPES[shape], None).map_err(|why| match why {
            Unread::File(why) | Unread::Counter(why) => why,
        })
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
        let bad = rows(
            0,
            "no.,uid\n1,04DE\nx,04DE5F1EACC040\n3,4.12E+12\n4,04DE5F1EACC040,5\n",
        );
        let bad = bad.unwrap();
        assert!(bad[2].1.as_ref().unwrap_err().contains("spreadsheet"));
        assert!(bad[3].1.as_ref().unwrap_err().contains("3 cells"));
        assert!(bad[0].1.as_ref().unwrap_err().contains("7 bytes"));
        assert!(bad[1].1.as_ref().unwrap_err().contains("position"));
    }

    #[test]
    fn a_cell_that_is_no_text_is_named_by_its_column() {
        let text = b"no,uid,result\n1,04DE5F1EACC040,K\xc3\xa4se\n2,04DE5F1EACC041,K\xe4se\n3,0\x004DE,ok\n";
        let rows = read(&text[..], &SHAPES[0], None).unwrap();
        let why = |row: usize| rows[row].1.as_ref().unwrap_err().as_str();
        let words = "The column \"result\" is not UTF-8 text.";
        assert!(why(1).starts_with(words), "{}", why(1));
        assert_eq!(why(2), "The column \"uid\" has a NUL character.");
    }

    #[test]
    fn a_counter_is_hexadecimal_by_its_zeros_and_else_asked_about() {
        let text = |counter: &str| format!("uid,url,nfc counter\n04DE5F1EACC040,x,{counter}\n");
        let read = rows(2, &text("000021")).unwrap();
        assert_eq!(read[0].1.as_ref().unwrap().counter, 33);
        let asked = rows(2, &text("21")).unwrap_err();
        assert!(
            asked.contains("counter=hex") && asked.contains("row 2"),
            "{asked}"
        );
    }
}
