//! PDF. The code of a label is one path, its text is text, and a logo is in the file once.
//!
//! A PDF ends with a table of its parts, so it is complete before it is sent. The number of its labels
//! is bounded: see `volumes`.

use std::collections::HashMap;

use cosmic_text::fontdb::ID;
use krilla::Document;
use krilla::color::rgb;
use krilla::geom::{PathBuilder, Point, Rect, Size, Transform};
use krilla::image::Image;
use krilla::metadata::Metadata;
use krilla::page::PageSettings;
use krilla::paint::Fill;
use krilla::surface::Surface;
use krilla::text::{Font, GlyphId, KrillaGlyph};

use crate::code::Bar;
use crate::design::Ready;
use crate::drawing::{Drawing, PlacedLine};
use crate::lettering::{Glyph, Lettering};
use crate::print_error::PrintError;

/// Points in a millimetre.
pub(crate) const POINTS: f64 = 72.0 / 25.4;

/// A PDF that is being written.
pub(crate) struct Pdf {
    document: Document,
    fonts: HashMap<ID, Option<Font>>,
    logo: Option<Image>,
    page: Vec<(Drawing, [f64; 2])>,
    number: u64,
}

impl Pdf {
    /// Begins a PDF with the label of this number, from 0.
    pub(crate) fn new(ready: &Ready, number: u64) -> Self {
        let mut document = Document::new();
        let metadata = Metadata::new()
            .title("Labels".to_owned())
            .creator("Tapdesk".to_owned());
        document.set_metadata(metadata);
        let logo = ready.logo.as_ref();
        Self {
            document,
            fonts: HashMap::new(),
            logo: logo.map(|logo| Image::from_rgba8(logo.rgba.clone(), logo.width, logo.height)),
            page: Vec::new(),
            number,
        }
    }

    /// Adds a label at the next place of its sheet, and ends the page if that was the last one.
    pub(crate) fn add(
        &mut self,
        ready: &Ready,
        lettering: &mut Lettering,
        drawing: Drawing,
    ) -> Result<(), PrintError> {
        let at_mm = match &ready.sheet {
            Some(sheet) => sheet.place(ready.label_mm, self.number).at_mm,
            None => [0.0, 0.0],
        };
        self.page.push((drawing, at_mm));
        self.number += 1;
        if ready.page_of(self.number) > ready.page_of(self.number - 1) {
            self.end_page(ready, lettering)?;
        }
        Ok(())
    }

    /// Ends the last page, and returns the bytes of the file.
    pub(crate) fn finish(
        mut self,
        ready: &Ready,
        lettering: &mut Lettering,
    ) -> Result<Vec<u8>, PrintError> {
        if !self.page.is_empty() {
            self.end_page(ready, lettering)?;
        }
        let failed = |error| PrintError::Failed(format!("The PDF cannot be written: {error}"));
        self.document.finish().map_err(failed)
    }

    fn end_page(&mut self, ready: &Ready, lettering: &mut Lettering) -> Result<(), PrintError> {
        let [width, height] = ready
            .sheet
            .map_or(ready.label_mm, |sheet| sheet.page.mm())
            .map(|mm| small(mm * POINTS));
        let impossible = || PrintError::Failed("A page has no size.".to_owned());
        let size = Size::from_wh(width, height).ok_or_else(impossible)?;
        let mut page = self.document.start_page_with(PageSettings::new(size));
        let mut surface = page.surface();
        let [red, green, blue] = ready.colour;
        let points = small(POINTS);
        for (drawing, at_mm) in self.page.drain(..) {
            let [x, y] = at_mm.map(|mm| small(mm * POINTS));
            surface.push_transform(&Transform::from_row(points, 0.0, 0.0, points, x, y));
            surface.set_fill(Some(Fill {
                paint: rgb::Color::new(red, green, blue).into(),
                ..Fill::default()
            }));
            draw_code(&mut surface, &drawing);
            if let (Some(logo), Some(area)) = (&self.logo, drawing.logo) {
                let [x, y] = area.at_mm.map(small);
                let [width, height] = area.size_mm.map(small);
                if let Some(size) = Size::from_wh(width, height) {
                    surface.push_transform(&Transform::from_translate(x, y));
                    surface.draw_image(logo.clone(), size);
                    surface.pop();
                }
            }
            for line in &drawing.lines {
                draw_line(&mut surface, &mut self.fonts, lettering, line);
            }
            surface.pop();
        }
        surface.finish();
        page.finish();
        Ok(())
    }
}

fn draw_code(surface: &mut Surface<'_>, drawing: &Drawing) {
    let mut path = PathBuilder::new();
    for Bar { x, y, width } in &drawing.code.bars {
        let [x, y, width] = [x, y, width].map(|at| small(f64::from(*at)));
        if let Some(bar) = Rect::from_xywh(x, y, width, 1.0) {
            path.push_rect(bar);
        }
    }
    let module = small(drawing.face.module_mm);
    let [x, y] = drawing.face.code_at_mm.map(small);
    if let Some(path) = path.finish() {
        surface.push_transform(&Transform::from_row(module, 0.0, 0.0, module, x, y));
        surface.draw_path(&path);
        surface.pop();
    }
}

/// Draws a line of text on a page whose unit is a millimetre.
pub(crate) fn draw_line(
    surface: &mut Surface<'_>,
    fonts: &mut HashMap<ID, Option<Font>>,
    lettering: &mut Lettering,
    placed: &PlacedLine,
) {
    let PlacedLine {
        line,
        size_mm,
        at_mm,
    } = placed;
    let placed = from_the_left(&line.glyphs);
    for run in placed.chunk_by(|(one, _), (next, _)| one.font == next.font) {
        let (first, _) = run[0];
        let font = fonts.entry(first.font).or_insert_with_key(|id| {
            let (font, index) = lettering.font(*id)?;
            Font::new(font.data().to_vec().into(), index)
        });
        let Some(font) = font.clone() else { continue };
        let glyphs: Vec<_> = run.iter().copied().map(krilla_glyph).collect();
        let start = Point::from_xy(at_mm[0] + first.x * size_mm, at_mm[1]);
        surface.draw_glyphs(start, &glyphs, font, &line.text, *size_mm, false);
    }
}

/// The glyphs of a line from left to right, each with the distance to the next one. A line has them
/// in the order of reading, and a file draws each glyph where the one before it ends.
fn from_the_left(glyphs: &[Glyph]) -> Vec<(&Glyph, f32)> {
    let mut sorted: Vec<&Glyph> = glyphs.iter().collect();
    sorted.sort_by(|one, next| one.x.total_cmp(&next.x));
    let end = sorted.last().map(|last| last.x + last.advance);
    let ends: Vec<f32> = sorted
        .iter()
        .skip(1)
        .map(|next| next.x)
        .chain(end)
        .collect();
    let placed = sorted.into_iter().zip(ends);
    placed.map(|(glyph, end)| (glyph, end - glyph.x)).collect()
}

fn krilla_glyph((glyph, advance): (&Glyph, f32)) -> KrillaGlyph {
    KrillaGlyph {
        glyph_id: GlyphId::new(glyph.id.into()),
        text_range: glyph.range.clone(),
        x_advance: advance,
        x_offset: glyph.offset[0],
        y_offset: glyph.offset[1],
        y_advance: 0.0,
        location: None,
    }
}

/// A length on a page.
#[expect(
    clippy::cast_possible_truncation,
    reason = "lengths on a page are far within f32"
)]
pub(crate) const fn small(length: f64) -> f32 {
    length as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glyphs_of_any_direction_are_drawn_from_the_left_and_stay_in_their_line() {
        let mut lettering = Lettering::default();
        for text in [
            "Bottle 41",
            "\u{645}\u{631}\u{62d}\u{628}\u{627}",
            "\u{5e9}\u{5dc}\u{5d5}\u{5dd} 12 ab",
        ] {
            let line = lettering.shape(text);
            let placed = from_the_left(&line.glyphs);
            assert_eq!(placed.len(), line.glyphs.len());
            let mut x = placed[0].0.x;
            assert!(x.abs() < 0.01, "{text}: begins at {x}");
            for (glyph, advance) in placed {
                assert!((glyph.x - x).abs() < 0.01, "{text}: {} is not {x}", glyph.x);
                assert!(advance >= 0.0, "{text}");
                x += advance;
            }
            assert!(
                (x - line.width).abs() < 0.01,
                "{text}: {x} of {}",
                line.width
            );
        }
    }
}
