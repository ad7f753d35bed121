//! Reads a file: maps its header to Tapdesk's columns, and its rows to cells.

use std::sync::Arc;

use super::column::Column;
use super::layout::{Layout, Origin, Plan};
use crate::body::Chunks;
use domain::table::counter::{self, Counter, Digits};
use domain::table::{Encoding, Sheet, damage};
use domain::tag::TagColumn;
use domain::tag::cell::Cell;

/// A file after its header was read.
pub(in super::super) struct Table {
    columns: Arc<[Column]>,
    plan: Plan,
    /// Whether another service wrote the file. If so, cells are trimmed, and a tag without a name
    /// gets one.
    is_foreign: bool,
    counter: Option<CounterCells>,
    sheet: Sheet<Chunks>,
}

/// The number format of counters.
#[derive(Clone, Copy)]
struct CounterCells {
    index: usize,
    said: Option<Digits>,
    /// Whether the heading says that plain digits are decimal.
    decimal: bool,
}

/// The cells of a row, one for each column. The error is a sentence for people.
pub(in super::super) type Cells = Result<Vec<Cell>, String>;

/// A row of the file.
pub(in super::super) struct Row {
    /// Row number in a spreadsheet: the header is row 1, and empty rows count.
    pub(in super::super) number: u32,
    /// The cells of the row, or an error.
    pub(in super::super) cells: Cells,
}

/// Facts about a file that was read to its end.
pub(in super::super) struct Survey {
    /// Number of rows, without the header and empty rows.
    pub(in super::super) rows: usize,
    /// Number of rows after the given row.
    pub(in super::super) rows_after: usize,
    /// The character encoding of the file.
    pub(in super::super) encoding: Encoding,
    /// The character between cells.
    pub(in super::super) separator: char,
    /// Headings of columns that are ignored.
    pub(in super::super) ignored: Vec<String>,
    /// Further notes about the file, for people.
    pub(in super::super) notes: Vec<String>,
    /// Why counters cannot be read without a number format, for people.
    pub(in super::super) unclear: Option<String>,
}

impl Table {
    /// Reads the header. The error is a sentence for people.
    pub(in super::super) fn open(file: Chunks, layout: &Layout) -> Result<Self, String> {
        let sheet = Sheet::open(file)?;
        let plan = layout.plan(sheet.header())?;
        let is_counter = |column: &Column| *column == Column::Inlay("last_counter");
        let counter = plan
            .columns
            .iter()
            .find_map(|(column, origin)| match origin {
                Origin::Cell(index) if is_counter(column) => Some(CounterCells {
                    index: *index,
                    said: layout.counter,
                    decimal: counter::is_decimal(&sheet.header()[*index]),
                }),
                _ => None,
            });
        Ok(Self {
            columns: plan
                .columns
                .iter()
                .map(|(column, _)| column.clone())
                .collect(),
            plan,
            is_foreign: layout.preset.is_some(),
            counter,
            sheet,
        })
    }

    /// The columns, in the order of the cells.
    pub(in super::super) fn columns(&self) -> &Arc<[Column]> {
        &self.columns
    }

    /// Reads the file to its end, and counts the rows after row number `after`.
    pub(in super::super) fn survey(mut self, after: u32) -> Survey {
        let (mut rows, mut rows_after) = (0, 0);
        let (mut hexadecimal, mut unclear) = (None, None);
        while let Some(line) = self.sheet.next() {
            let number = line.number;
            rows += 1;
            rows_after += usize::from(number > after);
            let (Some(of), Ok(cells)) = (self.counter, line.cells()) else {
                continue;
            };
            let cell = cells[of.index].trim();
            match of.read(cell) {
                Ok(Some(Counter::Unclear)) if unclear.is_none() => {
                    unclear = Some(self.question(of, cell, number));
                }
                Ok(Some(Counter::Hexadecimal(is))) if hexadecimal.is_none() => {
                    hexadecimal = Some(format!(
                        "Counters with leading zeros or letters are read as hexadecimal: \"{cell}\" in row {number} is {is}."
                    ));
                }
                _ => {}
            }
        }
        let encoding = self.sheet.encoding();
        let western = (encoding == Encoding::Windows1252).then(|| {
            "The file is not UTF-8, and was read as Windows-1252. Check texts with accents; if they are wrong, save the table as CSV UTF-8."
                .to_owned()
        });
        let notes = western
            .into_iter()
            .chain(self.plan.notes)
            .chain(hexadecimal);
        Survey {
            rows,
            rows_after,
            encoding,
            separator: self.sheet.separator(),
            ignored: self.plan.ignored,
            notes: notes.collect(),
            unclear,
        }
    }

    /// At most `rows` rows after row number `after`.
    pub(in super::super) fn part(
        self,
        after: u32,
        rows: usize,
    ) -> impl Iterator<Item = Row> + Send {
        let later = self.skip_while(move |row| row.number <= after);
        later.take(rows)
    }

    fn question(&self, of: CounterCells, cell: &str, row: u32) -> String {
        let heading = &self.sheet.header()[of.index];
        let as_hex =
            u32::from_str_radix(cell, 16).map_or_else(|_| "more".to_owned(), |is| is.to_string());
        format!(
            "The column \"{heading}\" does not say how its counters are written: \"{cell}\" in row {row} is {cell} as a decimal number, and {as_hex} as a hexadecimal one. Say counter=decimal or counter=hex."
        )
    }

    fn cells(&self, texts: &[String]) -> Cells {
        let mut cells = Vec::with_capacity(self.columns.len());
        let has_uid = self.plan.columns.iter().any(|(column, origin)| {
            let is_uid = *column == Column::Inlay("uid");
            is_uid && matches!(origin, Origin::Cell(index) if !texts[*index].trim().is_empty())
        });
        for (column, origin) in &self.plan.columns {
            let text = match origin {
                Origin::Cell(index) if self.is_foreign => texts[*index].trim(),
                Origin::Cell(index) => texts[*index].as_str(),
                Origin::Fixed(text) => text.as_str(),
                Origin::OfInlay(text) if has_uid => text.as_str(),
                Origin::OfInlay(_) => "",
            };
            cells.push(self.cell(column, text)?);
        }
        if self.is_foreign {
            self.name(&mut cells);
        }
        Ok(cells)
    }

    fn cell(&self, column: &Column, text: &str) -> Result<Cell, String> {
        let cell = Cell::decode(text);
        let Some(said) = cell.text() else {
            return Ok(cell);
        };
        let plain = said.trim();
        if plain.is_empty() {
            return Ok(cell);
        }
        let name = column.name();
        match column {
            Column::Inlay("uid") => match damage::of_uid(plain) {
                Some(damage) => Err(damage::words(&name, damage)),
                None => Ok(Cell::Text(damage::without_marks(plain))),
            },
            Column::Inlay("meta_key" | "file_key") => match damage::of_key(plain) {
                Some(damage) => Err(damage::words(&name, damage)),
                None => Ok(cell),
            },
            Column::Inlay("last_counter") => match self.counter.map(|of| of.read(plain)) {
                Some(Ok(Some(Counter::Is(is) | Counter::Hexadecimal(is)))) => {
                    Ok(Cell::Text(is.to_string()))
                }
                Some(Err(why)) => Err(why),
                _ => Ok(cell),
            },
            Column::Tag(TagColumn::Slug) => {
                // An apostrophe marks a text that is not a number, as an export writes it.
                let meant = plain.strip_prefix('\'');
                if let (None, Some(damage)) = (meant, damage::of_slug(plain)) {
                    return Err(damage::words(&name, damage));
                }
                let slug = meant.unwrap_or(plain);
                Ok(Cell::Text(if self.is_foreign {
                    slug.to_ascii_lowercase()
                } else {
                    slug.to_owned()
                }))
            }
            _ => Ok(cell),
        }
    }

    /// Fills the name: a tag needs one, but tables of other services may have none.
    fn name(&self, cells: &mut [Cell]) {
        let at = |name: &str| self.columns.iter().position(|column| column.name() == name);
        let Some(name) = at("name").filter(|at| cells[*at] == Cell::Empty) else {
            return;
        };
        let mut others = [at("slug"), at("uid")].into_iter().flatten();
        let other = others.find(|at| cells[*at] != Cell::Empty);
        if let Some(at) = other {
            cells[name] = cells[at].clone();
        }
    }
}

impl CounterCells {
    /// The counter in a cell; `None` if the cell is empty.
    fn read(self, cell: &str) -> Result<Option<Counter>, String> {
        if cell.is_empty() {
            return Ok(None);
        }
        counter::read(cell, self.said, self.decimal).map(Some)
    }
}

impl Iterator for Table {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        let line = self.sheet.next()?;
        let number = line.number;
        let cells = line.cells().and_then(|texts| self.cells(&texts));
        Some(Row { number, cells })
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Bytes;

    use super::*;
    use crate::admin::tags::preset::named;

    fn table(file: &str, layout: &Layout) -> Table {
        Table::open(Bytes::from(file.to_owned()).into(), layout).unwrap()
    }

    fn rows(file: &str, layout: &Layout) -> Vec<Result<Vec<String>, String>> {
        let text = |cell: &Cell| cell.text().unwrap_or_default().to_owned();
        let texts = |cells: Vec<Cell>| cells.iter().map(text).collect();
        table(file, layout)
            .map(|row| row.cells.map(texts))
            .collect()
    }

    fn of(preset: &str) -> Layout {
        Layout {
            preset: Some(named(preset).unwrap()),
            ..Layout::default()
        }
    }

    #[test]
    fn columns_of_ixkio() {
        let file = "XUID,UID,CUID,TAGNAME,NFTCHAIN\r\nGTS5ch6k,04:AA:BB:CC:11:22:33,12345,,x\r\nh7dvbz6k,,,My Tag,\r\n";
        let layout = Layout {
            of_inlays: vec![
                ("url_template_id", "3".to_owned()),
                ("technology", "ntag424dna".to_owned()),
            ],
            ..of("ixkio")
        };
        let names = table(file, &layout);
        let names: Vec<_> = names.columns().iter().map(Column::name).collect();
        assert_eq!(
            names,
            [
                "slug",
                "uid",
                "data:cuid",
                "name",
                "url_template_id",
                "technology"
            ]
        );
        let cells = rows(file, &layout);
        let expected = [
            "gts5ch6k",
            "04AABBCC112233",
            "12345",
            "gts5ch6k",
            "3",
            "ntag424dna",
        ];
        assert_eq!(cells[0].as_ref().unwrap()[..], expected);
        assert_eq!(
            cells[1].as_ref().unwrap()[..],
            ["h7dvbz6k", "", "", "My Tag", "", ""]
        );
        assert_eq!(table(file, &layout).survey(0).ignored, ["NFTCHAIN"]);
    }

    #[test]
    fn columns_of_boltcard() {
        let file = "Card name;uid;k1;k2_cmac_key;LAST-COUNTER value;pin\nOne;04AABBCC112233;00;11;17;1234\n";
        let cells = rows(file, &of("boltcard"));
        let expected = ["One", "04AABBCC112233", "00", "11", "17", "ntag424dna"];
        // Keys of one repeated byte look like numbers that lost their zeros.
        assert!(cells[0].as_ref().unwrap_err().contains("spreadsheet"));
        let key = |byte: &str| byte.repeat(16);
        let file = file
            .replace(";00;", &format!(";{};", key("00")))
            .replace(";11;", &format!(";{};", key("11")));
        let cells = rows(&file, &of("boltcard"));
        let cells = cells[0].as_ref().unwrap();
        assert_eq!(cells.len(), expected.len());
        assert_eq!((&*cells[4], &*cells[5]), ("17", "ntag424dna"));
    }

    #[test]
    fn a_uid_names_a_tag_that_has_no_other_name() {
        let file = "Uid,Colour\n04AABBCC112233,red\n";
        assert_eq!(
            rows(file, &of("gototags")),
            [Ok(vec![
                "04AABBCC112233".to_owned(),
                "04AABBCC112233".to_owned()
            ])]
        );
    }

    #[test]
    fn a_counter_is_asked_about_if_nothing_says_how_it_is_written() {
        let file = |heading: &str, counter: &str| {
            format!("name,uid,{heading}\nA,04AABBCC112233,{counter}\n")
        };
        let with = |counter| Layout {
            counter,
            ..of("csv")
        };
        for (heading, cell, counter, expected) in [
            ("read counter", "000021", None, "33"),
            ("read counter", "00001E", None, "30"),
            ("read counter", "21", Some(Digits::Hex), "33"),
            ("read counter", "21", Some(Digits::Decimal), "21"),
            ("last_counter", "21", None, "21"),
            ("last_counter", "000021", None, "33"),
            ("read counter", "", None, ""),
        ] {
            let file = file(heading, cell);
            let layout = with(counter);
            assert_eq!(rows(&file, &layout)[0].as_ref().unwrap()[2], expected);
            assert_eq!(table(&file, &layout).survey(0).unclear, None);
        }
        let unclear = table(&file("read counter", "21"), &with(None))
            .survey(0)
            .unclear;
        let unclear = unclear.unwrap();
        for part in ["\"read counter\"", "row 2", "33", "counter=hex"] {
            assert!(unclear.contains(part), "{unclear}");
        }
        let notes = table(&file("counter", "000021"), &with(None))
            .survey(0)
            .notes;
        assert!(notes[0].contains("\"000021\" in row 2 is 33"), "{notes:?}");
    }

    #[test]
    fn a_slug_with_an_apostrophe_is_no_date() {
        let layout = Layout::default();
        let cells = rows(
            "name,slug\na,2023-11-04\nb,'2023-11-04\nc,bottle-41\n",
            &layout,
        );
        assert!(cells[0].as_ref().unwrap_err().contains("a date"));
        assert_eq!(cells[1].as_ref().unwrap()[1], "2023-11-04");
        assert_eq!(cells[2].as_ref().unwrap()[1], "bottle-41");
    }
}
