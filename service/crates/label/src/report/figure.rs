//! The figures below the table of a report: pictures with their captions, in rows.

use krilla::image::Image;

use super::page::{MARGIN_MM, PlacedPicture};
use super::{BOTTOM_MM, LINE_MM, Setter, TEXT_MM, in_one_line};

/// Size of the heading of the figures.
const HEADING_MM: f32 = 3.5;
/// Figures beside each other.
const FIGURES_IN_ROW: usize = 4;
/// Most width and height of a figure's picture. A page has three rows of figures, and a crack in a label
/// is still seen.
const PICTURE_MM: [f32; 2] = [64.0, 42.0];
/// Lines below a picture.
const CAPTION_LINES: usize = 3;
/// Room between two figures in a row.
const BESIDE_MM: f32 = 5.6;
/// Height of a figure: its picture, its caption, and the room between and below them.
const FIGURE_MM: f32 = PICTURE_MM[1] + 1.0 + 3.0 * LINE_MM + 4.0;

/// A picture with its caption.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The picture as JPEG, which the file has unchanged; or a sentence in its place.
    pub picture: Result<Vec<u8>, &'static str>,
    /// The lines below the picture. A line that is longer than the figure is wide is cut.
    pub caption: [String; CAPTION_LINES],
}

impl Setter<'_> {
    /// The figures in rows, each row on one page. The pages repeat no headings of columns.
    pub(super) fn figures(&mut self, heading: &str, figures: Vec<Figure>) {
        let mut figures = figures.into_iter().peekable();
        if figures.peek().is_none() {
            return;
        }
        self.y += LINE_MM;
        if self.y + 2.0 * HEADING_MM + FIGURE_MM > BOTTOM_MM {
            self.begin_page();
        }
        self.paragraph(heading, HEADING_MM);
        while figures.peek().is_some() {
            if self.y + FIGURE_MM > BOTTOM_MM {
                self.begin_page();
            }
            let (top, mut x) = (self.y, MARGIN_MM);
            for figure in figures.by_ref().take(FIGURES_IN_ROW) {
                self.y = top;
                self.figure(x, figure);
                x += PICTURE_MM[0] + BESIDE_MM;
            }
            self.y = top + FIGURE_MM;
        }
    }

    /// A figure whose left side is at `x`. Its picture stands on its caption.
    fn figure(&mut self, x: f32, Figure { picture, caption }: Figure) {
        let unreadable = "This picture cannot be read.";
        let image = picture.and_then(|jpeg| {
            let image = Image::from_jpeg(jpeg.into(), false);
            image.map_err(|_| unreadable)
        });
        let bottom = self.y + PICTURE_MM[1];
        match image {
            Ok(image) => {
                let size_mm = fitted(image.size());
                let at_mm = [x, bottom - size_mm[1]];
                let placed = PlacedPicture {
                    image,
                    at_mm,
                    size_mm,
                };
                if let Some(page) = self.pages.last_mut() {
                    page.pictures.push(placed);
                }
            }
            Err(sentence) => {
                self.y = bottom - LINE_MM;
                self.place_within(sentence, x);
            }
        }
        self.y = bottom + 1.0;
        for line in &caption {
            self.place_within(line, x);
            self.y += LINE_MM;
        }
    }

    /// Places a line that is at most as wide as a figure.
    fn place_within(&mut self, text: &str, x: f32) {
        let room = PICTURE_MM[0] / TEXT_MM;
        let line = self.lettering.shape_within(&in_one_line(text), room);
        self.place(line, x, TEXT_MM);
    }
}

/// Width and height of a picture with these pixels, in millimetres: as large as fits into a figure.
fn fitted((width, height): (u32, u32)) -> [f32; 2] {
    let sides = [width, height].map(|side| u16::try_from(side).map_or(f32::MAX, f32::from));
    let scale = (PICTURE_MM[0] / sides[0]).min(PICTURE_MM[1] / sides[1]);
    sides.map(|side| side * scale)
}

#[cfg(test)]
mod tests {
    use super::super::Report;
    use super::*;
    use crate::lettering::Lettering;

    #[test]
    fn a_picture_is_as_large_as_fits_into_its_figure() {
        for (pixels, expected) in [
            ((600, 300), [64.0, 32.0]),
            ((300, 600), [21.0, 42.0]),
            ((1, 1), [42.0, 42.0]),
        ] {
            let fitted = fitted(pixels);
            let off = |side: usize| (fitted[side] - expected[side]).abs();
            assert!(off(0) < 0.01 && off(1) < 0.01, "{pixels:?}: {fitted:?}");
        }
    }

    #[test]
    fn a_picture_that_is_none_leaves_a_sentence_in_its_place() {
        let mut jpeg = std::io::Cursor::new(Vec::new());
        let written = image::RgbImage::new(6, 4).write_to(&mut jpeg, image::ImageFormat::Jpeg);
        written.unwrap();
        let jpeg = jpeg.into_inner();
        let report = |picture: &[u8]| Report {
            title: "Delivery".to_owned(),
            facts: Vec::new(),
            columns: &[],
            rows: Vec::new(),
            figures_heading: "Photos",
            figures: vec![
                Figure {
                    picture: Ok(picture.to_vec()),
                    caption: ["Row 1", "Tag 7", "12:00"].map(str::to_owned),
                };
                30
            ],
        };
        let pdf = |picture: &[u8]| report(picture).pdf(&mut Lettering::default()).unwrap();
        let has_image = |pdf: &[u8]| pdf.windows(9).any(|bytes| bytes == b"DCTDecode");
        assert!(has_image(&pdf(&jpeg)));
        for damaged in [&b""[..], b"\xFF\xD8\xFF", b"<svg/>", &jpeg[..20]] {
            let pdf = pdf(damaged);
            assert!(pdf.starts_with(b"%PDF-") && !has_image(&pdf));
        }
    }
}
