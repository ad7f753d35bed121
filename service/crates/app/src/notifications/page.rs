//! The content of a message, as plain text and as HTML.

use askama::Template;

use super::chart::Chart;
use super::one_line::one_line;
use domain::notification::Message;

/// The content of a message.
pub(super) struct Page {
    pub(super) subject: String,
    pub(super) title: String,
    pub(super) lines: Vec<String>,
    pub(super) chart: Option<Chart>,
    pub(super) tables: Vec<PageTable>,
    pub(super) foot: String,
}

/// A table of a message. Its first column names the rows.
pub(super) struct PageTable {
    pub(super) title: &'static str,
    pub(super) head: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
}

#[derive(Template)]
#[template(path = "mail.html")]
struct Html<'a> {
    page: &'a Page,
    /// The chart in words.
    alt: Option<&'a str>,
}

impl Page {
    /// The message for mail, or for a chat, which gets only text.
    pub(super) fn message(self, is_mail: bool) -> Result<Message, askama::Error> {
        self.in_lines().written(is_mail)
    }

    /// The same page, each text in one line: the name of a tag could add lines that look like
    /// others of the report.
    fn in_lines(mut self) -> Self {
        for table in &mut self.tables {
            let cells = table.rows.iter_mut().flatten();
            cells.for_each(|cell| *cell = one_line(cell));
        }
        Self {
            subject: one_line(&self.subject),
            title: one_line(&self.title),
            lines: self.lines.iter().map(|line| one_line(line)).collect(),
            foot: one_line(&self.foot),
            ..self
        }
    }

    fn written(self, is_mail: bool) -> Result<Message, askama::Error> {
        let html = if is_mail {
            let alt = self.chart.as_ref().map(|chart| chart.alt.as_str());
            Html { page: &self, alt }.render()?
        } else {
            String::new()
        };
        Ok(Message {
            text: self.text(),
            subject: self.subject,
            html,
            chart: self.chart.filter(|_| is_mail).map(|chart| chart.png),
        })
    }

    fn text(&self) -> String {
        let mut text = format!("{}\n\n", self.title);
        for line in &self.lines {
            text += line;
            text.push('\n');
        }
        for table in &self.tables {
            text.push('\n');
            text += table.title;
            text.push('\n');
            for row in &table.rows {
                text += &table.row(row);
                text.push('\n');
            }
        }
        text + "\n" + &self.foot + "\n"
    }
}

impl PageTable {
    /// A row in words: `2026-03-29: taps 12, updates 3`.
    fn row(&self, row: &[String]) -> String {
        let Some((name, cells)) = row.split_first() else {
            return String::new();
        };
        let named = self.head.iter().skip(1).zip(cells);
        let named: Vec<String> = named
            .map(|(head, cell)| format!("{} {cell}", head.to_lowercase()))
            .collect();
        format!("{name}: {}", named.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_owners_are_no_markup_in_both_forms() {
        let page = || Page {
            subject: "Alert\r\nBcc: all@example.com".to_owned(),
            title: "<b>Title</b>".to_owned(),
            lines: vec!["A & B".to_owned()],
            chart: None,
            tables: vec![PageTable {
                title: "Tags",
                head: vec!["Tag", "Taps"],
                rows: vec![vec![
                    "<script>alert(1)</script>".to_owned(),
                    "12".to_owned(),
                ]],
            }],
            foot: "Sent by Tapdesk.".to_owned(),
        };
        let mail = page().message(true).unwrap();
        assert!(!mail.html.contains("<script>") && !mail.html.contains("<b>"));
        assert!(mail.html.contains("A &#38; B") || mail.html.contains("A &amp; B"));
        assert_eq!(mail.subject, "Alert  Bcc: all@example.com");
        let chat = page().message(false).unwrap();
        assert_eq!((chat.html.as_str(), chat.chart), ("", None));
        assert_eq!(
            chat.text,
            "<b>Title</b>\n\nA & B\n\nTags\n<script>alert(1)</script>: taps 12\n\nSent by Tapdesk.\n"
        );
    }

    #[test]
    fn a_name_adds_no_line_and_turns_no_text() {
        let name = "Wine\nTaps: 1000000\u{2028}\u{202e}x\u{2066}\u{200f}";
        let page = || Page {
            subject: format!("3 taps of {name}"),
            title: format!("Report of {name}"),
            lines: vec![name.to_owned()],
            chart: None,
            tables: vec![PageTable {
                title: "Tags",
                head: vec!["Tag", "Taps"],
                rows: vec![vec![name.to_owned(), "12".to_owned()]],
            }],
            foot: "Sent by Tapdesk.".to_owned(),
        };
        let line = "Wine Taps: 1000000  x  ";
        for is_mail in [true, false] {
            let message = page().message(is_mail).unwrap();
            assert_eq!(message.subject, format!("3 taps of {line}"));
            assert_eq!(
                message.text,
                format!(
                    "Report of {line}\n\n{line}\n\nTags\n{line}: taps 12\n\nSent by Tapdesk.\n"
                )
            );
            assert!(!message.html.contains("\nTaps") && !message.html.contains('\u{202e}'));
        }
    }
}
