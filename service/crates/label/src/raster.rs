//! Labels as dots: PNG, and the bitmaps of ZPL. Modules of a code are whole dots.

use tiny_skia::{
    Color, FillRule, FilterQuality, IntSize, Paint, PathBuilder, Pixmap, PixmapPaint, Rect,
    Transform,
};

use crate::code::Bar;
use crate::design::Ready;
use crate::drawing::Drawing;
use crate::lettering::Lettering;
use crate::png_file::png_of;
use crate::print_error::PrintError;

/// A label as pixels on white.
pub(crate) fn pixels(
    ready: &Ready,
    lettering: &mut Lettering,
    drawing: &Drawing,
    dots_per_mm: f64,
) -> Result<Pixmap, PrintError> {
    let [width, height] = ready.label_mm.map(|mm| dots(mm * dots_per_mm));
    let impossible = || PrintError::Failed("A label has no dots.".to_owned());
    let mut pixels = Pixmap::new(width, height).ok_or_else(impossible)?;
    pixels.fill(Color::WHITE);
    let [red, green, blue] = ready.colour;
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, u8::MAX);
    paint.anti_alias = false;
    let module = drawing.face.module_mm * dots_per_mm;
    let [x, y] = drawing.face.code_at_mm.map(|mm| (mm * dots_per_mm).round());
    let mut path = PathBuilder::new();
    for Bar { x, y, width } in &drawing.code.bars {
        let [x, y, width] = [x, y, width].map(|at| small(f64::from(*at)));
        if let Some(bar) = Rect::from_xywh(x, y, width, 1.0) {
            path.push_rect(bar);
        }
    }
    let module = small(module.round());
    let to_dots = Transform::from_row(module, 0.0, 0.0, module, small(x), small(y));
    if let Some(path) = path.finish() {
        pixels.fill_path(&path, &paint, FillRule::Winding, to_dots, None);
    }
    let scale = small(dots_per_mm);
    if let Some(outline) = drawing.text_outline(lettering) {
        paint.anti_alias = true;
        let to_dots = Transform::from_scale(scale, scale);
        pixels.fill_path(&outline, &paint, FillRule::Winding, to_dots, None);
    }
    if let (Some(area), Some(logo)) = (drawing.logo, &ready.logo)
        && let Some(size) = IntSize::from_wh(logo.width, logo.height)
        && let Some(picture) = Pixmap::from_vec(premultiplied(&logo.rgba), size)
    {
        let by = small(area.size_mm[0] * dots_per_mm / f64::from(logo.width));
        let [x, y] = area.at_mm.map(|mm| small(mm * dots_per_mm));
        let paint = PixmapPaint {
            quality: FilterQuality::Bicubic,
            ..PixmapPaint::default()
        };
        let to_dots = Transform::from_row(by, 0.0, 0.0, by, x, y);
        pixels.draw_pixmap(0, 0, picture.as_ref(), &paint, to_dots, None);
    }
    Ok(pixels)
}

/// A PNG that programs print in its true size.
pub(crate) fn png(pixels: &Pixmap, dots_per_mm: f64) -> Result<Vec<u8>, PrintError> {
    let failed = |error| PrintError::Failed(format!("The PNG cannot be written: {error}."));
    png_of(pixels, Some(dots(dots_per_mm * 1000.0))).map_err(failed)
}

/// Colours multiplied by their alpha, as tiny-skia has them.
fn premultiplied(rgba: &[u8]) -> Vec<u8> {
    let pixels = rgba.chunks_exact(4).flat_map(|pixel| {
        let times = |part: u8| {
            let product = u16::from(part) * u16::from(pixel[3]) / 255;
            u8::try_from(product).unwrap_or(u8::MAX)
        };
        [times(pixel[0]), times(pixel[1]), times(pixel[2]), pixel[3]]
    });
    pixels.collect()
}

/// A length as a number of dots, at least one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of a float saturates"
)]
pub(crate) fn dots(length: f64) -> u32 {
    (length.round() as u32).max(1)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "lengths on a label are far within f32"
)]
const fn small(length: f64) -> f32 {
    length as f32
}
