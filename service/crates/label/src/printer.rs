//! Prints labels to a file, piece by piece.

use std::collections::BTreeMap;

use zip::CompressionMethod;

use crate::archive::Archive;
use crate::design::{Format, Label, Ready, too_small};
use crate::drawing::Drawing;
use crate::face;
use crate::lettering::Lettering;
use crate::pdf::Pdf;
use crate::print_error::PrintError;
use crate::raster;
use crate::svg::svg;
use crate::zpl::zpl;
use domain::field_error::FieldError;

/// Most missing characters that a message names.
const NAMED_MAX: usize = 8;

/// Finds labels that cannot be printed before the first one is.
#[derive(Debug, Default)]
pub struct Survey {
    modules: u32,
    /// Missing characters, each with the number of its labels and the slug of the first.
    missing: BTreeMap<char, (u64, String)>,
}

impl Survey {
    /// Looks at a label.
    pub fn add(
        &mut self,
        ready: &Ready,
        lettering: &mut Lettering,
        label: &Label,
    ) -> Result<(), FieldError> {
        self.modules = self.modules.max(ready.modules(label)?);
        if ready.format == Format::Csv {
            return Ok(());
        }
        for text in &label.texts {
            for c in lettering.missing(text) {
                let first = || (0, label.slug.clone());
                self.missing.entry(c).or_insert_with(first).0 += 1;
            }
        }
        Ok(())
    }

    /// Refuses the labels if one of them cannot be printed or read.
    pub fn check(self, ready: &Ready) -> Result<(), FieldError> {
        if ready.format == Format::Csv {
            return Ok(());
        }
        let (lines, dot_mm) = (ready.texts.len(), ready.dot_mm());
        if face::face(ready.label_mm, lines, self.modules, dot_mm).is_none() {
            return Err(too_small(ready, self.modules));
        }
        if self.missing.is_empty() {
            return Ok(());
        }
        let named = self
            .missing
            .iter()
            .take(NAMED_MAX)
            .map(|(c, (labels, slug))| {
                let labels = match labels {
                    1 => format!("on the label of {slug}"),
                    _ => format!("on {labels} labels, first of {slug}"),
                };
                format!("\u{2068}{c}\u{2069} (U+{:04X}) {labels}", u32::from(*c))
            });
        let named: Vec<_> = named.collect();
        let more = self.missing.len().saturating_sub(NAMED_MAX);
        let more = if more > 0 {
            format!(", and {more} more")
        } else {
            String::new()
        };
        let why = format!(
            "No font here can print {}{more}. Remove them, or install a font that has them where \
             the service runs.",
            named.join(", ")
        );
        Err(FieldError::of("text", why))
    }
}

/// A file of labels that is being written.
pub struct Printer {
    ready: Ready,
    lettering: Lettering,
    sink: Sink,
    number: u64,
}

enum Sink {
    Pdf(Box<Pdf>),
    /// The PDF that is being written, if it has a label, and those before it.
    Pdfs(Option<Box<Pdf>>, Box<Archive>),
    Zip(Box<Archive>),
    Zpl,
}

impl Printer {
    /// Begins a file, or with several `files`, as [`Ready::files`] counts them, a ZIP of PDFs. CSV has
    /// none: other programs make it.
    pub fn new(ready: Ready, lettering: Lettering, files: u64) -> Self {
        let sink = match ready.format {
            Format::Pdf if files > 1 => Sink::Pdfs(None, Box::new(Archive::new())),
            Format::Pdf => Sink::Pdf(Box::new(Pdf::new(&ready, 0))),
            Format::Zpl | Format::Csv => Sink::Zpl,
            Format::Png | Format::Svg => Sink::Zip(Box::new(Archive::new())),
        };
        Self {
            ready,
            lettering,
            sink,
            number: 0,
        }
    }

    /// Adds labels, and returns the next piece of the file, which may be empty.
    pub fn print(&mut self, labels: &[Label]) -> Result<Vec<u8>, PrintError> {
        let mut piece = Vec::new();
        for label in labels {
            self.number += 1;
            let drawing = Drawing::new(&self.ready, &mut self.lettering, label)?;
            match &mut self.sink {
                Sink::Pdf(pdf) => pdf.add(&self.ready, &mut self.lettering, drawing)?,
                Sink::Pdfs(open, archive) => {
                    let (ready, at) = (&self.ready, self.number - 1);
                    let mut pdf = open.take().unwrap_or_else(|| Box::new(Pdf::new(ready, at)));
                    pdf.add(ready, &mut self.lettering, drawing)?;
                    if ready.file_of(at + 1) > ready.file_of(at) {
                        let bytes = pdf.finish(ready, &mut self.lettering)?;
                        add_pdf(archive, ready.file_of(at), &bytes)?;
                    } else {
                        *open = Some(pdf);
                    }
                }
                Sink::Zpl => {
                    let dots = self.ready.dots_per_mm.unwrap_or(8.0);
                    let pixels = raster::pixels(&self.ready, &mut self.lettering, &drawing, dots)?;
                    piece.extend(zpl(&pixels).into_bytes());
                }
                Sink::Zip(archive) => {
                    let (ending, method, bytes) = if let Some(dots) = self.ready.dots_per_mm {
                        let pixels =
                            raster::pixels(&self.ready, &mut self.lettering, &drawing, dots)?;
                        let png = raster::png(&pixels, dots)?;
                        ("png", CompressionMethod::Stored, png)
                    } else {
                        let svg = svg(&self.ready, &mut self.lettering, label, &drawing);
                        ("svg", CompressionMethod::Deflated, svg.into_bytes())
                    };
                    // The number keeps the order, and makes slugs that differ in case two files.
                    let name = format!("{:05}-{}.{ending}", self.number, label.slug);
                    archive.add(name, method, &bytes)?;
                }
            }
        }
        if let Sink::Zip(archive) | Sink::Pdfs(_, archive) = &self.sink {
            piece = archive.take();
        }
        Ok(piece)
    }

    /// The last piece of the file.
    pub fn finish(mut self) -> Result<Vec<u8>, PrintError> {
        match self.sink {
            Sink::Pdf(pdf) => pdf.finish(&self.ready, &mut self.lettering),
            Sink::Pdfs(open, mut archive) => {
                if let Some(pdf) = open {
                    let bytes = pdf.finish(&self.ready, &mut self.lettering)?;
                    let file = self.ready.file_of(self.number.saturating_sub(1));
                    add_pdf(&mut archive, file, &bytes)?;
                }
                archive.finish()
            }
            Sink::Zpl => Ok(Vec::new()),
            Sink::Zip(archive) => archive.finish(),
        }
    }

    /// One label as SVG.
    pub fn svg(
        ready: &Ready,
        lettering: &mut Lettering,
        label: &Label,
    ) -> Result<String, FieldError> {
        let drawing = Drawing::new(ready, lettering, label)?;
        Ok(svg(ready, lettering, label, &drawing))
    }
}

/// Adds a PDF, whose number is from 0. Its streams are compressed already.
fn add_pdf(archive: &mut Archive, file: u64, bytes: &[u8]) -> Result<(), PrintError> {
    let name = format!("labels-{:02}.pdf", file + 1);
    archive.add(name, CompressionMethod::Stored, bytes)
}
