//! Pixels as a PNG, for labels and for the charts of messages.

use png::{BitDepth, ColorType, Compression, Encoder, EncodingError, PixelDimensions, Unit};
use tiny_skia::Pixmap;

/// Writes a picture without transparent pixels as a PNG.
///
/// `per_metre` is its resolution in pixels per metre, by which programs print it in its true size.
///
/// # Errors
///
/// [`EncodingError`], if the encoder does not accept the picture.
pub fn png_of(pixels: &Pixmap, per_metre: Option<u32>) -> Result<Vec<u8>, EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, pixels.width(), pixels.height());
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    encoder.set_pixel_dims(per_metre.map(|per_metre| PixelDimensions {
        xppu: per_metre,
        yppu: per_metre,
        unit: Unit::Meter,
    }));
    let mut writer = encoder.write_header()?;
    let rgb: Vec<u8> = pixels
        .data()
        .chunks_exact(4)
        .flat_map(|pixel| [pixel[0], pixel[1], pixel[2]])
        .collect();
    writer.write_image_data(&rgb)?;
    writer.finish()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiny_skia::Color;

    #[test]
    fn the_pixels_are_those_of_the_picture_and_the_resolution_is_stated_if_there_is_one() {
        let mut pixels = Pixmap::new(3, 2).unwrap();
        pixels.fill(Color::from_rgba8(1, 2, 3, u8::MAX));
        for per_metre in [None, Some(11_811)] {
            let png = png_of(&pixels, per_metre).unwrap();
            let picture = image::load_from_memory(&png).unwrap().to_rgb8();
            assert_eq!(picture.dimensions(), (3, 2));
            assert!(picture.pixels().all(|pixel| pixel.0 == [1, 2, 3]));
            let reader = png::Decoder::new(std::io::Cursor::new(&png))
                .read_info()
                .unwrap();
            let stated = reader.info().pixel_dims.map(|dims| (dims.xppu, dims.yppu));
            assert_eq!(stated, per_metre.map(|per_metre| (per_metre, per_metre)));
        }
    }
}
