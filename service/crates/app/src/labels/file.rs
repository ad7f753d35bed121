//! A file of labels, written piece by piece.

use std::collections::VecDeque;
use std::sync::Arc;

use super::bench::Bench;
use super::content::Content;
use super::selected::Selected;
use super::{AT_ONCE, LabelError};
use crate::csv_file::{BOM, line, text_cell};
use crate::service::Service;
use label::{Format, Label, Lettering, Ready};

/// Number of labels in a piece, so that a piece of large images is a few megabytes.
const IN_PIECE: usize = 20;

/// A file of labels. Every piece is made when it is asked for.
pub struct LabelFile {
    service: Arc<Service>,
    content: Content,
    selected: Selected,
    ready: Ready,
    /// How many tags were read.
    read: usize,
    labels: VecDeque<Label>,
    /// Number of PDFs, if that is the format.
    files: u64,
    writer: Writer,
}

enum Writer {
    /// CSV, whose header is not written yet.
    Csv { has_header: bool },
    /// A format that the label crate prints.
    Printer(Bench),
    /// The last piece has been taken.
    Ended,
}

impl LabelFile {
    pub(super) fn new(
        service: Arc<Service>,
        content: Content,
        selected: Selected,
        ready: Ready,
        lettering: Lettering,
    ) -> Self {
        let files = ready.files(selected.len().try_into().unwrap_or(u64::MAX));
        let writer = match ready.format {
            Format::Csv => Writer::Csv { has_header: false },
            _ => Writer::Printer(Bench::new(ready.clone(), lettering, files)),
        };
        Self {
            service,
            content,
            selected,
            ready,
            read: 0,
            labels: VecDeque::new(),
            files,
            writer,
        }
    }

    /// Number of selected tags when the file was begun.
    pub fn total(&self) -> usize {
        self.selected.len()
    }

    /// Whether the labels are files in a ZIP: images, or more than one PDF.
    pub const fn is_zip(&self) -> bool {
        self.files > 1 || matches!(self.ready.format, Format::Png | Format::Svg)
    }

    /// The next piece of the file, which can be empty; `None` after the last one.
    ///
    /// # Errors
    ///
    /// Those of [`begin`](super::begin), if a tag was changed meanwhile.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, LabelError> {
        if self.labels.is_empty() {
            self.read_more().await?;
        }
        let size = self.labels.len().min(IN_PIECE);
        let labels: Vec<_> = self.labels.drain(..size).collect();
        match std::mem::replace(&mut self.writer, Writer::Ended) {
            Writer::Ended => Ok(None),
            Writer::Csv { has_header } => {
                let mut piece = Vec::new();
                if !has_header {
                    piece.extend(BOM.as_bytes());
                    piece.extend(self.header());
                }
                for label in &labels {
                    piece.extend(row(label));
                }
                if !labels.is_empty() {
                    self.writer = Writer::Csv { has_header: true };
                }
                Ok(Some(piece))
            }
            Writer::Printer(mut bench) if labels.is_empty() => Ok(Some(bench.finish().await?)),
            Writer::Printer(mut bench) => {
                let piece = bench.print(labels).await?;
                self.writer = Writer::Printer(bench);
                Ok(Some(piece))
            }
        }
    }

    /// Reads tags until there is a label, or no tag is left.
    async fn read_more(&mut self) -> Result<(), LabelError> {
        while self.labels.is_empty() {
            let tags = self.selected.piece(self.read, AT_ONCE);
            if tags.is_empty() {
                return Ok(());
            }
            self.read += tags.len();
            let labels = self.content.labels(&self.service, tags, &self.ready);
            self.labels = labels.await?.into();
        }
        Ok(())
    }

    fn header(&self) -> Vec<u8> {
        let texts = (1..=self.ready.texts.len()).map(|number| format!("text {number}").into());
        line(["slug".into(), "url".into()].into_iter().chain(texts))
    }
}

fn row(label: &Label) -> Vec<u8> {
    let texts = label.texts.iter();
    let cells = [&label.slug, &label.url].into_iter().chain(texts);
    line(cells.map(|cell| text_cell(cell)))
}
