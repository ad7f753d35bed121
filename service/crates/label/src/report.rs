//! A report as PDF: a title, facts about the whole, a table that continues over pages, and figures below
//! it.
//!
//! Pages are set first and drawn afterwards, because each says how many there are.

mod figure;
mod page;

use std::collections::BTreeSet;

use crate::drawing::PlacedLine;
use crate::lettering::{Lettering, Line};
use crate::print_error::PrintError;
pub use figure::Figure;
use page::{MARGIN_MM, PAGE_MM, Page, draw};

/// Size of the text. Ten columns fit on a page with it, and paper shows it well.
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
    /// Heading of the figures, which is left out without figures.
    pub figures_heading: &'static str,
    /// The figures below the table, in rows.
    pub figures: Vec<Figure>,
}

impl Report {
    /// The report as PDF.
    ///
    /// # Errors
    ///
    /// [`PrintError::Failed`] if the file cannot be written.
    pub fn pdf(self, lettering: &mut Lettering) -> Result<Vec<u8>, PrintError> {
        let note = self.without_font(lettering);
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
        if let Some(note) = &note {
            setter.paragraph(note, TEXT_MM);
        }
        setter.y += LINE_MM;
        setter.head();
        for row in &self.rows {
            setter.row(row);
        }
        setter.figures(self.figures_heading, self.figures);
        let pages = setter.numbered(&self.title);
        draw(&self.title, &pages, lettering)
    }

    /// The note about characters that no font has; `None` if each has one. They are boxes, which
    /// hide no other text. Finds the fonts for all characters.
    fn without_font(&self, lettering: &mut Lettering) -> Option<String> {
        let cells = self.rows.iter().flatten();
        let captions = self.figures.iter().flat_map(|figure| &figure.caption);
        let texts = [&self.title].into_iter().chain(&self.facts);
        let texts = texts.chain(cells).chain(captions);
        let characters: BTreeSet<char> = texts.flat_map(|text| text.chars()).collect();
        let characters: String = characters.into_iter().collect();
        let missing = lettering.missing(&in_one_line(&characters));
        if missing.is_empty() {
            return None;
        }
        Some(format!(
            "Characters without a font on the computer of the service: {}. They show as boxes. Install fonts there, such as Noto Sans CJK, and save the PDF again.",
            missing.len()
        ))
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

    /// Begins a page of the table.
    fn next_page(&mut self) {
        self.begin_page();
        self.head();
    }

    fn begin_page(&mut self) {
        self.pages.push(Page::default());
        self.y = MARGIN_MM;
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
                line: self.lettering.shape_within(&in_one_line(&text), room),
                size_mm: TEXT_MM,
                at_mm: [MARGIN_MM, PAGE_MM[1] - MARGIN_MM],
            });
        }
        pages
    }
}

/// The text without characters that could hide or reorder the rest of its line: marks of direction
/// that reach beyond a word, and ends of paragraphs. A name must not change its sentence.
fn in_one_line(text: &str) -> String {
    let shown = text
        .chars()
        .filter(|c| !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'));
    let ends = |c| matches!(c, '\u{2028}' | '\u{2029}') || char::is_control(c);
    shown.map(|c| if ends(c) { ' ' } else { c }).collect()
}

/// The lines of a text that are at most `width` wide, in sizes of the font. Words that are longer
/// continue on the next line. There is at least one line.
fn wrapped(lettering: &mut Lettering, text: &str, width: f32) -> Vec<Line> {
    let text = in_one_line(text);
    let text = text.as_str();
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
        loop {
            let rest = line.split_off(fitting(lettering, &line, width));
            if rest.is_empty() {
                break;
            }
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
    let mut fits = |end: usize| lettering.shape(&word[..end]).width <= width;
    // Starts that double in length come first: a word of thousands of characters is never set as a
    // whole for each of its lines.
    let mut most = 1;
    while most < ends.len() && fits(ends[most - 1]) {
        most *= 2;
    }
    let tried = &ends[..most.min(ends.len())];
    let fitting = tried.partition_point(|end| fits(*end));
    let end = tried.get(fitting.saturating_sub(1)).copied();
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
    fn no_character_of_a_name_hides_or_turns_round_the_words_after_it() {
        let signed = "Signed off by Eve\u{202e}\u{2029}\u{2067} at 12:04, from Program.";
        assert_eq!(
            texts(signed, 100.0),
            ["Signed off by Eve  at 12:04, from Program."]
        );
        // A name in such a script stays as it is.
        let arabic = "\u{623}\u{62d}\u{645}\u{62f}";
        assert_eq!(texts(arabic, 100.0), [arabic]);
    }

    #[test]
    fn a_text_is_set_a_few_characters_at_a_time_however_long_its_words_are() {
        let mut lettering = Lettering::default();
        let word = "W".repeat(2_000);
        let lines = wrapped(&mut lettering, &word, 27.0);
        assert_eq!(
            lines.iter().map(|line| line.text.len()).sum::<usize>(),
            2_000
        );
        // Each line is full.
        let full = lines[0].text.len();
        assert!(full > 20 && lines[1].text.len() == full, "{full}");
        // Without a limit, each of these lines would be measured by all characters that follow it.
        let before = lettering.shaped;
        let set = wrapped(&mut lettering, &word, 27.0).len();
        let characters = lettering.shaped - before;
        assert!(
            characters < set * full * 20,
            "{characters} characters for {set} lines"
        );
    }

    #[test]
    fn characters_that_no_font_has_are_counted_below_the_facts() {
        let report = |name: &str| Report {
            title: name.to_owned(),
            facts: Vec::new(),
            columns: &[],
            rows: Vec::new(),
            figures_heading: "Photos",
            figures: Vec::new(),
        };
        let mut lettering = Lettering::default();
        assert_eq!(report("Lieferung № 5").without_font(&mut lettering), None);
        let note = report("Wein\u{2029}\u{10FFFD} \u{10FFFD}").without_font(&mut lettering);
        let begin = "Characters without a font on the computer of the service: 1.";
        assert!(
            note.as_ref().is_some_and(|note| note.starts_with(begin)),
            "{note:?}"
        );
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
            figures_heading: "Photos",
            figures: Vec::new(),
        };
        let pages = |rows: usize| {
            let pdf = report(rows).pdf(&mut Lettering::default()).unwrap();
            assert!(pdf.starts_with(b"%PDF-"));
            pdf.len()
        };
        assert!(pages(0) < pages(60) && pages(60) < pages(600));
    }
}
