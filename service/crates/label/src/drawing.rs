//! One label, ready for every format. Lengths are in millimetres.

use cosmic_text::skrifa::outline::OutlinePen;
use tiny_skia::{Path, PathBuilder};

use crate::code::Code;
use crate::design::{Label, Ready, too_long, too_small};
use crate::face::{self, Area, Face, LINE_HEIGHT, TEXT_MAX_MM, TEXT_MIN_MM};
use crate::lettering::{Lettering, Line};
use crate::logo::{Picture, free_modules};
use domain::field_error::FieldError;

/// Distance from the top of a line to its baseline, by its size.
const BASELINE: f64 = 0.92;

/// The parts of one label, each at its place in millimetres.
pub(crate) struct Drawing {
    pub(crate) face: Face,
    pub(crate) code: Code,
    pub(crate) logo: Option<Area>,
    pub(crate) lines: Vec<PlacedLine>,
}

/// A line of text on a label.
pub(crate) struct PlacedLine {
    pub(crate) line: Line,
    pub(crate) size_mm: f32,
    /// Where its baseline begins on the left.
    pub(crate) at_mm: [f32; 2],
}

impl Drawing {
    pub(crate) fn new(
        ready: &Ready,
        lettering: &mut Lettering,
        label: &Label,
    ) -> Result<Self, FieldError> {
        let modules = ready.modules(label)?;
        let lines = ready.texts.len();
        let face = face::face(ready.label_mm, lines, modules, ready.dot_mm())
            .ok_or_else(|| too_small(ready, modules))?;
        let free = ready.logo.as_ref().map_or(0, |_| free_modules(modules));
        let code = Code::new(&label.url, ready.level, free).map_err(too_long)?;
        let lines = match face.text {
            Some(area) => lines_in(area, face.below, lettering, &label.texts),
            None => Vec::new(),
        };
        let area = |logo: &Picture| logo.area(&face, modules);
        Ok(Self {
            logo: ready.logo.as_ref().map(area),
            face,
            code,
            lines,
        })
    }

    /// The text as one outline; `None` without text.
    pub(crate) fn text_outline(&self, lettering: &mut Lettering) -> Option<Path> {
        let mut pen = Pen::default();
        for PlacedLine {
            line,
            size_mm,
            at_mm,
        } in &self.lines
        {
            for glyph in &line.glyphs {
                pen.origin = [
                    at_mm[0] + (glyph.x + glyph.offset[0]) * size_mm,
                    at_mm[1] - glyph.offset[1] * size_mm,
                ];
                lettering.outline(glyph, *size_mm, &mut pen);
            }
        }
        pen.path.finish()
    }
}

/// The lines of text in their area, all of one size: as large as all of them fit.
#[expect(
    clippy::cast_possible_truncation,
    reason = "lengths on a label are far within f32"
)]
fn lines_in(
    area: Area,
    centred: bool,
    lettering: &mut Lettering,
    texts: &[String],
) -> Vec<PlacedLine> {
    let texts: Vec<_> = texts.iter().map(|text| text.trim()).collect();
    let texts: Vec<_> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    if texts.is_empty() {
        return Vec::new();
    }
    let shaped = texts.iter().map(|text| lettering.shape(text));
    let widest = shaped.map(|line| line.width).fold(0.1, f32::max);
    let count = f64::from(u32::try_from(texts.len()).unwrap_or(u32::MAX));
    let size = (area.size_mm[0] / f64::from(widest))
        .min(area.size_mm[1] / count / LINE_HEIGHT)
        .clamp(TEXT_MIN_MM, TEXT_MAX_MM);
    let top = area.at_mm[1] + (area.size_mm[1] - count * size * LINE_HEIGHT) / 2.0;
    let width = (area.size_mm[0] / size) as f32;
    let placed = texts.iter().enumerate().map(|(number, text)| {
        let line = lettering.shape_within(text, width);
        let free = area.size_mm[0] - f64::from(line.width) * size;
        let indent = if centred {
            free / 2.0
        } else if line.rtl {
            free
        } else {
            0.0
        };
        let number = f64::from(u32::try_from(number).unwrap_or(u32::MAX));
        let baseline = top + number * size * LINE_HEIGHT + BASELINE * size;
        PlacedLine {
            line,
            size_mm: size as f32,
            at_mm: [(area.at_mm[0] + indent) as f32, baseline as f32],
        }
    });
    placed.collect()
}

/// Collects the outlines of glyphs. Fonts count upwards, and labels downwards.
#[derive(Default)]
struct Pen {
    path: PathBuilder,
    origin: [f32; 2],
}

impl OutlinePen for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let [left, top] = self.origin;
        self.path.move_to(left + x, top - y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let [left, top] = self.origin;
        self.path.line_to(left + x, top - y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let [left, top] = self.origin;
        self.path.quad_to(left + x1, top - y1, left + x, top - y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let [left, top] = self.origin;
        self.path
            .cubic_to(left + x1, top - y1, left + x2, top - y2, left + x, top - y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
