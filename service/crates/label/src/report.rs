//! A report as PDF: a title, facts about the whole, and a table that continues over pages.
//!
//! Pages are set first and drawn afterwards, because each says how many there are.

mod page;

use crate::drawing::PlacedLine;
use crate::lettering::{Lettering, Line};
use crate::print_error::PrintError;
use page::{MARGIN_MM, PAGE_MM, Page, draw};

/// Size of the text. Nine columns fit on a page with it, and paper shows it well.
const TEXT_MM: f32 = 2.5;
/// Distance of two lines.
const LINE_MM: f32 = 3.6;
const TITLE_MM: f32 = 5.0;
/// Distance from the top of a line to its baseline, by its size.
const BASELINE: f32 = 0.92;
/// Room between a column's text and the next column.
const GAP_MM: f32 = 2.0;
/// Room above and below the text of a row.
const PADDING_MM: f32 = 0.8;
/// The end of the table on a page: below it is the page's number.
const BOTTOM_MM: f32 = PAGE_MM[1] - MARGIN_MM - 6.0;

/// A column of a report.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Heading of the column, which every page repeats.
    pub heading: &'static str,
    /// Width of the column in millimetres. All columns together have 273.
    pub width_mm: f32,
}

/// The content of a report.
#[derive(Clone, Debug)]
pub struct Report {
    /// Title of the report, also at the end of every page.
    pub title: String,
    /// Lines below the title.
    pub facts: Vec<String>,
    /// The columns of the table.
    pub columns: &'static [Column],
    /// The cells of each row, one for each column. Long texts continue on further lines.
    pub rows: Vec<Vec<String>>,
}

impl Report {
    /// The report as PDF.
    pub fn pdf(&self, lettering: &mut Lettering) -> Result<Vec<u8>, PrintError> {
        let mut setter = Setter {
            lettering: &mut *lettering,
            columns: self.columns,
            pages: vec![Page::default()],
            y: MARGIN_MM,
        };
        setter.paragraph(&self.title, TITLE_MM);
        for fact in &self.facts {
            setter.paragraph(fact, TEXT_MM);
        }
        setter.y += LINE_MM;
        setter.head();
        for row in &self.rows {
            setter.row(row);
        }
        let pages = setter.numbered(&self.title);
        draw(&self.title, &pages, lettering)
    }
}

/// Sets lines on pages, from the top to the bottom.
struct Setter<'a> {
    lettering: &'a mut Lettering,
    columns: &'static [Column],
    pages: Vec<Page>,
    /// Where the next line begins, in millimetres from the top.
    y: f32,
}

impl Setter<'_> {
    fn paragraph(&mut self, text: &str, size_mm: f32) {
        let width = PAGE_MM[0] - 2.0 * MARGIN_MM;
        for line in wrapped(self.lettering, text, width / size_mm) {
            self.place(line, MARGIN_MM, size_mm);
            self.y += LINE_MM / TEXT_MM * size_mm;
        }
    }

    /// The headings of the columns.
    fn head(&mut self) {
        let mut x = MARGIN_MM;
        for column in self.columns {
            let line = self.lettering.shape(column.heading);
            self.place(line, x, TEXT_MM);
            x += column.width_mm;
        }
        self.y += LINE_MM + PADDING_MM;
        self.rule();
    }

    /// A row that begins on another page if it does not fit on this one, and continues there if no
    /// page can hold it.
    fn row(&mut self, cells: &[String]) {
        let columns = self.columns;
        let cells: Vec<Vec<Line>> = columns
            .iter()
            .zip(cells)
            .map(|(column, cell)| {
                let width = (column.width_mm - GAP_MM) / TEXT_MM;
                wrapped(self.lettering, cell, width)
            })
            .collect();
        let lines = cells.iter().map(Vec::len).max().unwrap_or_default();
        // A sum, because a number of lines is not converted to f32 without a cast that may lose.
        let height = (0..lines).fold(2.0 * PADDING_MM, |height, _| height + LINE_MM);
        if self.y + height > BOTTOM_MM {
            self.next_page();
        }
        self.y += PADDING_MM;
        let mut cells: Vec<_> = cells.into_iter().map(Vec::into_iter).collect();
        for _ in 0..lines {
            if self.y + LINE_MM > BOTTOM_MM {
                self.next_page();
            }
            let mut x = MARGIN_MM;
            for (column, cell) in columns.iter().zip(&mut cells) {
                if let Some(line) = cell.next() {
                    self.place(line, x, TEXT_MM);
                }
                x += column.width_mm;
            }
            self.y += LINE_MM;
        }
        self.y += PADDING_MM;
        self.rule();
    }

    fn next_page(&mut self) {
        self.pages.push(Page::default());
        self.y = MARGIN_MM;
        self.head();
    }

    fn place(&mut self, line: Line, x: f32, size_mm: f32) {
        let at_mm = [x, self.y + BASELINE * size_mm];
        let placed = PlacedLine {
            line,
            size_mm,
            at_mm,
        };
        if let Some(page) = self.pages.last_mut() {
            page.lines.push(placed);
        }
    }

    fn rule(&mut self) {
        let y = self.y;
        if let Some(page) = self.pages.last_mut() {
            page.rules_mm.push(y);
        }
    }

    /// The pages, each with its number and the title at its end.
    fn numbered(mut self, title: &str) -> Vec<Page> {
        let total = self.pages.len();
        let mut pages = std::mem::take(&mut self.pages);
        let room = (PAGE_MM[0] - 2.0 * MARGIN_MM) / TEXT_MM;
        for (number, page) in pages.iter_mut().enumerate() {
            let text = format!("Page {} of {total} · {title}", number + 1);
            page.lines.push(PlacedLine {
                line: self.lettering.shape_within(&text, room),
                size_mm: TEXT_MM,
                at_mm: [MARGIN_MM, PAGE_MM[1] - MARGIN_MM],
            });
        }
        pages
    }
}

/// The lines of a text that are at most `width` wide, in sizes of the font. Words that are longer
/// continue on the next line. There is at least one line.
fn wrapped(lettering: &mut Lettering, text: &str, width: f32) -> Vec<Line> {
    // Finds fonts for all characters. One that no font has is a box, which hides no other text.
    lettering.missing(text);
    let whole = lettering.shape(text);
    if whole.width <= width {
        return vec![whole];
    }
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let longer = format!("{line} {word}");
        let longer = longer.trim_start();
        if lettering.shape(longer).width <= width {
            longer.clone_into(&mut line);
            continue;
        }
        if !line.is_empty() {
            lines.push(lettering.shape(&line));
        }
        word.clone_into(&mut line);
        while lettering.shape(&line).width > width {
            let rest = line.split_off(fitting(lettering, &line, width));
            lines.push(lettering.shape(&line));
            line = rest;
        }
    }
    lines.push(lettering.shape(&line));
    lines
}

/// The length in bytes of the longest start of a word that is at most `width` wide: at least one
/// character, because a narrow column must have an end, too.
fn fitting(lettering: &mut Lettering, word: &str, width: f32) -> usize {
    let ends = word.char_indices().map(|(at, c)| at + c.len_utf8());
    let ends: Vec<usize> = ends.collect();
    let fits = ends.partition_point(|end| lettering.shape(&word[..*end]).width <= width);
    let end = ends.get(fits.saturating_sub(1)).copied();
    end.unwrap_or(word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, width: f32) -> Vec<String> {
        let lines = wrapped(&mut Lettering::default(), text, width);
        lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn a_text_continues_on_further_lines_without_loss() {
        assert_eq!(texts("short", 100.0), ["short"]);
        assert_eq!(texts("", 1.0), [""]);
        let long = "Its code was not accepted: the counter 61 was used before, at 12:04.";
        let lines = texts(long, 12.0);
        assert!(lines.len() > 2, "{lines:?}");
        assert_eq!(lines.join(" "), long);
        let word = "https://tags.example.com/t/k3v9qa?uid=EDCCF0A405A81B3863494F2D43CCB855";
        let lines = texts(word, 8.0);
        assert!(lines.len() > 3, "{lines:?}");
        assert_eq!(lines.concat(), word);
        // Narrower than any character.
        assert_eq!(texts("abc", 0.1).concat(), "abc");
    }

    #[test]
    fn a_report_has_as_many_pages_as_its_rows_need() {
        const COLUMNS: &[Column] = &[Column {
            heading: "No.",
            width_mm: 273.0,
        }];
        let report = |rows: usize| Report {
            title: "Delivery".to_owned(),
            facts: vec!["Not signed off".to_owned()],
            columns: COLUMNS,
            rows: (0..rows).map(|row| vec![row.to_string()]).collect(),
        };
        let pages = |rows: usize| {
            let pdf = report(rows).pdf(&mut Lettering::default()).unwrap();
            assert!(pdf.starts_with(b"%PDF-"));
            pdf.len()
        };
        assert!(pages(0) < pages(60) && pages(60) < pages(600));
    }
}
