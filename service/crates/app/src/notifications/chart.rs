//! The chart of a report: a bar for each bucket, as a PNG. Mail programs run no script and show no SVG.

use label::png_of;
use tiny_skia::{Color, Paint, Pixmap, Rect, Transform};

/// Width of the picture, in pixels. The mail shows it in half of that, for screens with small pixels.
const WIDTH: u32 = 1_120;
/// Height of the picture, in pixels.
const HEIGHT: u32 = 400;
/// Part of a bar's place that stays empty.
const GAP: f32 = 0.25;
/// Height of the line below the bars, in pixels.
const LINE: f32 = 4.0;

/// A chart, and the same in words.
pub(super) struct Chart {
    pub(super) png: Vec<u8>,
    pub(super) alt: String,
}

/// Draws a bar for each value. `None` without values, or if the picture cannot be written: the
/// numbers are in the message in any case.
pub(super) fn bars(values: &[u64]) -> Option<Vec<u8>> {
    let highest = *values.iter().max()?;
    let mut pixels = Pixmap::new(WIDTH, HEIGHT)?;
    pixels.fill(Color::WHITE);
    let (width, height) = (float(u64::from(WIDTH)), float(u64::from(HEIGHT)) - LINE);
    let place = width / float(u64::try_from(values.len()).ok()?);
    let mut paint = Paint::default();
    paint.set_color_rgba8(0x2f, 0x5f, 0xd0, u8::MAX);
    paint.anti_alias = false;
    let mut left = 0.0;
    for value in values {
        // A bar of a few taps stays visible beside one of millions.
        let share = float(*value) / float(highest.max(1));
        let tall = if *value == 0 {
            0.0
        } else {
            (share * height).max(LINE)
        };
        let bar = Rect::from_xywh(
            left + place * GAP / 2.0,
            height - tall,
            place * (1.0 - GAP),
            tall,
        );
        if let Some(bar) = bar {
            pixels.fill_rect(bar, &paint, Transform::identity(), None);
        }
        left += place;
    }
    paint.set_color_rgba8(0x8a, 0x8a, 0x8a, u8::MAX);
    let line = Rect::from_xywh(0.0, height, width, LINE)?;
    pixels.fill_rect(line, &paint, Transform::identity(), None);
    png_of(&pixels, None).ok()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a bar is some hundred pixels high"
)]
const fn float(number: u64) -> f32 {
    number as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bar_is_as_high_as_its_value_and_the_smallest_one_is_visible() {
        let png = bars(&[0, 1, 500, 1_000, u64::MAX / 2]).unwrap();
        assert!(png.len() < 20_000, "{}", png.len());
        let picture = image::load_from_memory(&png).unwrap().to_rgb8();
        assert_eq!(picture.dimensions(), (WIDTH, HEIGHT));
        let bar = |number: u32| {
            let x = (number * 2 + 1) * WIDTH / 10;
            let is_blue = |y: &u32| picture.get_pixel(x, *y).0 == [0x2f, 0x5f, 0xd0];
            (0..HEIGHT).filter(is_blue).count()
        };
        assert_eq!((bar(0), bar(1), bar(4)), (0, 4, 396));
        assert!(bars(&[]).is_none());
        assert!(bars(&[0, 0]).is_some());
    }
}
