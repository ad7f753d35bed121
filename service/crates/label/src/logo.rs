//! The picture in the middle of a code.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use image::imageops::FilterType;

use crate::face::{Area, Face};
use domain::experience::picture::{self, PictureError};
use domain::field_error::FieldError;

/// Side of the free square by the side of the code, in percent: 5 % of the area, of the 25 % that
/// the error level Q restores. The rest is for dirt and print.
const SHARE_PERCENT: u32 = 22;
/// Longest side of the stored picture, in pixels: 600 dpi on a code of 100 mm.
const SIDE_MAX: u32 = 512;

/// The pixels of a logo, for formats that draw them or embed a PNG.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Red, green, blue and alpha of each pixel.
    pub(crate) rgba: Vec<u8>,
    /// The same picture as PNG in base64.
    pub(crate) png: String,
}

impl Picture {
    /// Decodes base64, or a `data:` URL with it. The size is checked before the pixels are read.
    pub(crate) fn decode(text: &str) -> Result<Self, FieldError> {
        let refused = |why: String| FieldError::of("qr.logo.image", why);
        let text = match text.strip_prefix("data:") {
            Some(url) => url.split_once(";base64,").map_or("", |(_, data)| data),
            None => text,
        };
        let bytes = BASE64_STANDARD.decode(text.trim());
        let bytes = bytes.map_err(|_| refused("A logo is a picture in base64.".to_owned()))?;
        let in_words = |error: PictureError| refused(error.to_string());
        picture::check(&bytes).map_err(in_words)?;
        let (_, fitted) = picture::fit_now(&bytes).map_err(in_words)?;
        let unreadable =
            |error: image::ImageError| refused(format!("The picture cannot be read: {error}."));
        let mut picture = image::load_from_memory(&fitted).map_err(unreadable)?;
        if picture.width().max(picture.height()) > SIDE_MAX {
            picture = picture.resize(SIDE_MAX, SIDE_MAX, FilterType::CatmullRom);
        }
        let rgba = picture.to_rgba8();
        let mut png = std::io::Cursor::new(Vec::new());
        rgba.write_to(&mut png, image::ImageFormat::Png)
            .map_err(unreadable)?;
        Ok(Self {
            width: rgba.width(),
            height: rgba.height(),
            rgba: rgba.into_raw(),
            png: BASE64_STANDARD.encode(png.into_inner()),
        })
    }

    /// The place of the picture on a label: as large as fits into the free square, with half a
    /// module around.
    pub(crate) fn area(&self, face: &Face, modules: u32) -> Area {
        let square = (f64::from(free_modules(modules)) - 1.0) * face.module_mm;
        let (width, height) = (f64::from(self.width), f64::from(self.height));
        let scale = square / width.max(height);
        let size_mm = [width * scale, height * scale];
        let middle = face
            .code_at_mm
            .map(|at| at + f64::from(modules) * face.module_mm / 2.0);
        Area {
            at_mm: [middle[0] - size_mm[0] / 2.0, middle[1] - size_mm[1] / 2.0],
            size_mm,
        }
    }
}

/// Side of the square in a code that stays free for a logo, in modules. It is odd like every code,
/// so that it is in the middle.
pub(crate) const fn free_modules(modules: u32) -> u32 {
    let free = modules * SHARE_PERCENT / 100;
    if free % 2 == 1 { free } else { free - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logo_takes_at_most_a_twentieth_of_a_code() {
        for version in 1..=40 {
            let modules = 17 + 4 * version;
            let free = free_modules(modules);
            assert_eq!((modules - free) % 2, 0);
            assert!(free * free * 20 <= modules * modules, "{modules}");
        }
    }

    #[test]
    fn a_logo_that_is_no_picture_is_refused_in_words() {
        for text in ["", "%", "AAAA", "data:image/png,AAAA"] {
            let refused = Picture::decode(text).unwrap_err();
            assert_eq!(refused.field.as_deref(), Some("qr.logo.image"), "{text}");
        }
    }
}
