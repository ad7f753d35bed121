//! Reads a file: maps its header to Tapdesk's columns, and its rows to cells.

use std::borrow::Cow;
use std::io::Read;
use std::sync::Arc;

use super::chip::technology;
use super::column::{Column, TECHNOLOGY, TEMPLATE, TEMPLATE_ID, UID};
use super::headings::{Headings, shown};
use super::layout::{Layout, Origin, Plan};
use super::preset::Form;
use domain::field_error::FieldError;
use domain::table::counter::{self, Counter, Digits};
use domain::table::{Encoding, Format, Problem, Sheet, TableFile, damage, protection};
use domain::tag::TagColumn;
use domain::tag::cell::Cell;
use inlay::template::Template;

/// A file after its header was read.
pub(super) struct Table<R> {
    columns: Arc<[Column]>,
    plan: Plan,
    /// Whether another service wrote the file. If so, cells are trimmed.
    is_foreign: bool,
    counter: Option<CounterCells>,
    /// The URL template of all rows.
    template: Option<Template>,
    sheet: Sheet<R>,
}

/// The number format of counters.
#[derive(Clone, Copy)]
struct CounterCells {
    index: usize,
    said: Option<Digits>,
    /// Whether the heading says that plain digits are decimal.
    decimal: bool,
}

/// The cells of a row, one for each column. The field of an error is the name of a column.
pub(super) type Cells = Result<Vec<Cell>, FieldError>;

/// A row of the file.
pub(super) struct Row {
    /// Row number in a spreadsheet: the header is row 1, and empty rows count.
    pub(super) number: u32,
    /// The cells of the row, or an error.
    pub(super) cells: Cells,
}

/// Facts about a file that was read to its end.
pub(super) struct Survey {
    /// Number of rows, without the header and empty rows.
    pub(super) rows: usize,
    /// Number of rows after the given row.
    pub(super) rows_after: usize,
    /// The kind of the file.
    pub(super) format: Format,
    /// The character encoding of a text.
    pub(super) encoding: Option<Encoding>,
    /// The character between cells of a text.
    pub(super) separator: Option<char>,
    /// Headings of columns that are ignored.
    pub(super) ignored: Vec<String>,
    /// Further notes about the file, for people.
    pub(super) notes: Vec<String>,
    /// Why counters cannot be read without a number format, for people.
    pub(super) unclear: Option<String>,
    /// The number of the first row with a UID, if no row with a UID names a chip or a URL template.
    pub(super) without_chip: Option<u32>,
}

impl<R: Read + Clone> Table<R> {
    /// Reads the header. The error is a sentence for people.
    pub(super) fn open(file: TableFile<R>, layout: &Layout) -> Result<Self, String> {
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
            template: layout.template.clone(),
            sheet,
        })
    }
}

impl<R: Read> Table<R> {
    /// The columns, in the order of the cells.
    pub(super) fn columns(&self) -> &Arc<[Column]> {
        &self.columns
    }

    /// Whether a new tag without a name gets its slug or its UID as its name.
    pub(super) fn fills_names(&self) -> bool {
        self.plan.fills_names
    }

    /// The headings of the columns.
    pub(super) fn headings(&self) -> Headings {
        let header = self.sheet.header();
        let columns = self.plan.columns.iter();
        Headings::new(columns.filter_map(|(column, origin)| match origin {
            Origin::Cell(index) | Origin::Formed(index, _) => Some((column, &*header[*index])),
            Origin::Fixed(_) => None,
        }))
    }

    /// Reads the file to its end, and counts the rows after row number `after`.
    pub(super) fn survey(mut self, after: u32) -> Survey {
        let (mut rows, mut rows_after) = (0, 0);
        let (mut hexadecimal, mut unclear) = (None, None);
        let (mut with_uid, mut with_chip) = (None, false);
        let uid = self.index_of(UID);
        let chips = [TECHNOLOGY, TEMPLATE, TEMPLATE_ID].map(|name| self.index_of(name));
        let (mtag, mut converted) = (self.mtag(), None);
        while let Some(line) = self.sheet.next() {
            let number = line.number;
            rows += 1;
            rows_after += usize::from(number > after);
            let Ok(cells) = line.cells() else {
                continue;
            };
            let has = |index: Option<usize>| index.is_some_and(|at| !cells[at].trim().is_empty());
            if has(uid) {
                with_uid.get_or_insert(number);
                with_chip |= chips.into_iter().any(has);
            }
            if let (Some(index), None) = (mtag, &converted) {
                converted = self.conversion(index, cells[index].trim(), number);
            }
            let Some(of) = self.counter else {
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
        let notes = self.sheet.notes().iter().cloned();
        let notes = notes.chain(hexadecimal).chain(converted).collect();
        Survey {
            rows,
            rows_after,
            format: self.sheet.format(),
            encoding: self.sheet.encoding(),
            separator: self.sheet.separator(),
            ignored: self.plan.ignored,
            notes,
            unclear,
            without_chip: with_uid.filter(|_| !with_chip),
        }
    }

    /// The index of the cell of a member of a new inlay.
    fn index_of(&self, member: &'static str) -> Option<usize> {
        let mut columns = self.plan.columns.iter();
        columns.find_map(|(column, origin)| match origin {
            Origin::Cell(index) if *column == Column::Inlay(member) => Some(*index),
            _ => None,
        })
    }

    /// The index of the cell with the decimal id of a Blue Bite mTAG.
    fn mtag(&self) -> Option<usize> {
        let mut columns = self.plan.columns.iter();
        columns.find_map(|(_, origin)| match origin {
            Origin::Formed(index, Form::MtagId) => Some(*index),
            _ => None,
        })
    }

    /// A note for people, if the id in a cell becomes another text as a slug.
    fn conversion(&self, index: usize, cell: &str, row: u32) -> Option<String> {
        let slug = Form::MtagId.read(cell, None);
        let heading = &self.sheet.header()[index];
        (slug != cell).then(|| format!(
            "Decimal numbers in the column \"{heading}\" are read as Blue Bite's ids, which its URLs have in base 36 after \"n\": \"{cell}\" in row {row} is the slug \"{slug}\". To keep the numbers as slugs, import with preset=csv and map={heading}:slug."
        ))
    }

    /// At most `rows` rows after row number `after`.
    pub(super) fn part(self, after: u32, rows: usize) -> impl Iterator<Item = Row> {
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

    /// The error of a row that the sheet refuses. It names the column of a cell.
    fn refused(&self, problem: Problem) -> FieldError {
        let (index, why) = match problem {
            Problem::Row(why) => return FieldError::whole(why),
            Problem::Cell(index, why) => (index, why),
        };
        let mut columns = self.plan.columns.iter();
        let column = columns.find_map(|(column, origin)| match origin {
            Origin::Cell(at) | Origin::Formed(at, _) if *at == index => Some(column.name()),
            _ => None,
        });
        if let Some(name) = column {
            let why = format!("{name} {why}");
            FieldError::of(name, why)
        } else {
            let heading = shown(&self.sheet.header()[index]);
            FieldError::whole(format!("The column \"{heading}\" {why}"))
        }
    }

    fn cells(&self, texts: &[String]) -> Cells {
        let mut empty = self.plan.empty.clone();
        if let Some(at) = empty.find(|at| !texts[*at].trim().is_empty()) {
            let number = at + 1;
            return Err(FieldError::whole(format!(
                "The row has a value in column {number}, which has no heading."
            )));
        }
        let mut cells = Vec::with_capacity(self.columns.len());
        for (column, origin) in &self.plan.columns {
            let text = match origin {
                Origin::Cell(index) if self.is_foreign => texts[*index].trim().into(),
                Origin::Cell(index) => texts[*index].as_str().into(),
                Origin::Formed(index, form) => {
                    let cell = texts[*index].trim();
                    Cow::from(form.read(cell, self.template.as_ref()))
                }
                Origin::Fixed(text) => text.as_str().into(),
            };
            let cell = self.cell(column, &text);
            cells.push(cell.map_err(|why| FieldError::of(column.name(), why))?);
        }
        Ok(cells)
    }

    /// The cell of a column with this text. The error is a sentence for people.
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
            Column::Inlay(UID) => match damage::of_uid(plain) {
                Some(damage) => Err(damage::words(&name, damage)),
                None => Ok(Cell::Text(damage::without_marks(plain))),
            },
            Column::Inlay(TECHNOLOGY) => match technology(plain) {
                Some(chip) => Ok(Cell::Text(chip.as_str().to_owned())),
                None => Err(format!(
                    "{name} is no chip that Tapdesk knows: \"{plain}\"."
                )),
            },
            Column::Inlay("mode") => Ok(Cell::Text(plain.to_ascii_lowercase())),
            Column::Inlay("meta_key" | "file_key" | "key_0" | "key_3" | "key_4") => {
                match damage::of_key(plain) {
                    Some(damage) => Err(damage::words(&name, damage)),
                    None => Ok(Cell::Text(damage::without_marks(plain))),
                }
            }
            Column::Inlay("last_counter") => match self.counter.map(|of| of.read(plain)) {
                Some(Ok(Some(Counter::Is(is) | Counter::Hexadecimal(is)))) => {
                    Ok(Cell::Text(is.to_string()))
                }
                Some(Err(why)) => Err(why),
                _ => Ok(cell),
            },
            Column::Tag(TagColumn::Slug) => {
                // An apostrophe marks a text that is not a number, as an export writes it.
                let meant = protection::protected(plain);
                let plain = protection::visible(plain);
                if let (None, Some(damage)) = (meant, damage::of_slug(plain)) {
                    let why = damage::words(&name, damage);
                    return Err(format!(
                        "{why} If this is the slug, write an apostrophe before it."
                    ));
                }
                Ok(Cell::Text(meant.unwrap_or(plain).to_owned()))
            }
            _ => Ok(cell),
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

impl<R: Read> Iterator for Table<R> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        let line = self.sheet.next()?;
        let number = line.number;
        let cells = line.cells().map_err(|problem| self.refused(problem));
        let cells = cells.and_then(|texts| self.cells(&texts));
        Some(Row { number, cells })
    }
}

#[cfg(test)]
mod tests;
