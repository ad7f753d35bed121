//! Draws the pages of a report.

use std::collections::HashMap;

use krilla::Document;
use krilla::color::rgb;
use krilla::geom::{PathBuilder, Rect, Size, Transform};
use krilla::image::Image;
use krilla::metadata::Metadata;
use krilla::page::PageSettings;
use krilla::paint::Fill;
use krilla::surface::Surface;

use crate::drawing::PlacedLine;
use crate::lettering::Lettering;
use crate::pdf::{POINTS, draw_line, small};
use crate::print_error::PrintError;

/// Width and height of a page: A4, wider than high because a row has many columns.
pub(super) const PAGE_MM: [f32; 2] = [297.0, 210.0];
pub(super) const MARGIN_MM: f32 = 12.0;
/// Thickness of the line below a row.
const RULE_MM: f32 = 0.15;

/// The content of a page. Lengths are in millimetres from its upper left corner.
#[derive(Default)]
pub(super) struct Page {
    pub(super) lines: Vec<PlacedLine>,
    /// Where lines from margin to margin are.
    pub(super) rules_mm: Vec<f32>,
    pub(super) pictures: Vec<PlacedPicture>,
}

/// A picture on a page.
pub(super) struct PlacedPicture {
    pub(super) image: Image,
    /// Its upper left corner.
    pub(super) at_mm: [f32; 2],
    pub(super) size_mm: [f32; 2],
}

/// The file with these pages.
pub(super) fn draw(
    title: &str,
    pages: &[Page],
    lettering: &mut Lettering,
) -> Result<Vec<u8>, PrintError> {
    let mut document = Document::new();
    let metadata = Metadata::new()
        .title(title.to_owned())
        .creator("Tapdesk".to_owned());
    document.set_metadata(metadata);
    let points = small(POINTS);
    let impossible = || PrintError::Failed("A page has no size.".to_owned());
    let size = Size::from_wh(PAGE_MM[0] * points, PAGE_MM[1] * points).ok_or_else(impossible)?;
    let mut fonts = HashMap::new();
    for Page {
        lines,
        rules_mm,
        pictures,
    } in pages
    {
        let mut page = document.start_page_with(PageSettings::new(size));
        let mut surface = page.surface();
        surface.push_transform(&Transform::from_row(points, 0.0, 0.0, points, 0.0, 0.0));
        surface.set_fill(Some(Fill {
            paint: rgb::Color::new(0, 0, 0).into(),
            ..Fill::default()
        }));
        let mut path = PathBuilder::new();
        for y in rules_mm {
            let width = PAGE_MM[0] - 2.0 * MARGIN_MM;
            if let Some(rule) = Rect::from_xywh(MARGIN_MM, *y, width, RULE_MM) {
                path.push_rect(rule);
            }
        }
        if let Some(path) = path.finish() {
            surface.draw_path(&path);
        }
        for line in lines {
            draw_line(&mut surface, &mut fonts, lettering, line);
        }
        for picture in pictures {
            draw_picture(&mut surface, picture);
        }
        surface.pop();
        surface.finish();
        page.finish();
    }
    let failed = |error| PrintError::Failed(format!("The PDF cannot be written: {error}"));
    document.finish().map_err(failed)
}

fn draw_picture(surface: &mut Surface<'_>, picture: &PlacedPicture) {
    let PlacedPicture {
        image,
        at_mm: [x, y],
        size_mm: [width, height],
    } = picture;
    if let Some(size) = Size::from_wh(*width, *height) {
        surface.push_transform(&Transform::from_translate(*x, *y));
        surface.draw_image(image.clone(), size);
        surface.pop();
    }
}
