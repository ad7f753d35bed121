//! Pictures as owners upload them, made fit for a visitor's phone: upright, not
//! larger than a screen shows, and without what a camera or an editor wrote
//! beside the pixels (EXIF, XMP, comments), places and names included.
//!
//! What comes out is written anew from the pixels. An animation is its first picture.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::imageops;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

use crate::experience::ImageType;

/// Longest side of a picture, in pixels: a large phone's width, three times.
pub const SIDE_MAX: u32 = 1600;
/// Longest side of a picture that is taken in at all, in pixels.
const SIDE_TAKEN: u32 = 12_000;
/// Most memory that reading one may take, in bytes.
const MEMORY_MAX: u64 = 384 * 1024 * 1024;
/// Quality of JPEG, of 100.
const QUALITY: u8 = 84;

/// Why a picture cannot be taken. Each is a sentence for people.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// Its first bytes are of no type that is known.
    #[error("This is no PNG, JPEG, WebP or GIF.")]
    UnknownType,
    /// It has too many pixels.
    #[error(
        "A picture can have at most {SIDE_TAKEN} pixels on a side, and about 90 million of them."
    )]
    TooLarge,
    /// It is damaged, or of a kind that is not read.
    #[error("The picture cannot be read: {0}.")]
    Unreadable(String),
}

/// The picture in `bytes`, made fit. It takes a while: not for a thread that answers.
pub fn fit(bytes: &[u8]) -> Result<(ImageType, Vec<u8>), PictureError> {
    let format = match ImageType::of(bytes).ok_or(PictureError::UnknownType)? {
        ImageType::Png => ImageFormat::Png,
        ImageType::Jpeg => ImageFormat::Jpeg,
        ImageType::Webp => ImageFormat::WebP,
        ImageType::Gif => ImageFormat::Gif,
    };
    let mut limits = Limits::default();
    limits.max_image_width = Some(SIDE_TAKEN);
    limits.max_image_height = Some(SIDE_TAKEN);
    limits.max_alloc = Some(MEMORY_MAX);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(refused)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut picture = DynamicImage::from_decoder(decoder).map_err(refused)?;
    picture.apply_orientation(orientation);
    if picture.width().max(picture.height()) > SIDE_MAX {
        picture = picture.resize(SIDE_MAX, SIDE_MAX, imageops::FilterType::CatmullRom);
    }
    write(&picture, format)
}

/// A photograph as JPEG; what had few colours or can be seen through as PNG.
fn write(picture: &DynamicImage, from: ImageFormat) -> Result<(ImageType, Vec<u8>), PictureError> {
    let mut bytes = Vec::new();
    let see_through = picture.color().has_alpha()
        && picture
            .to_rgba8()
            .pixels()
            .any(|pixel| pixel.0[3] < u8::MAX);
    let is_photograph = matches!(from, ImageFormat::Jpeg | ImageFormat::WebP) && !see_through;
    let (written, media_type) = if is_photograph {
        let encoder = JpegEncoder::new_with_quality(&mut bytes, QUALITY);
        (
            picture.to_rgb8().write_with_encoder(encoder),
            ImageType::Jpeg,
        )
    } else {
        let encoder =
            PngEncoder::new_with_quality(&mut bytes, CompressionType::Best, FilterType::Adaptive);
        let written = if see_through {
            picture.to_rgba8().write_with_encoder(encoder)
        } else {
            picture.to_rgb8().write_with_encoder(encoder)
        };
        (written, ImageType::Png)
    };
    written.map_err(refused)?;
    Ok((media_type, bytes))
}

fn refused(error: image::ImageError) -> PictureError {
    match error {
        image::ImageError::Limits(_) => PictureError::TooLarge,
        error => PictureError::Unreadable(error.to_string().trim_end_matches('.').to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage, Rgba, RgbaImage};

    use super::*;

    fn png(picture: impl Into<DynamicImage>) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        picture
            .into()
            .write_to(&mut bytes, ImageFormat::Png)
            .unwrap();
        bytes.into_inner()
    }

    /// A JPEG of 2 x 1 pixels' shape, 40 x 20, with an EXIF block that says that it
    /// is to be turned by a quarter, and where it was taken.
    fn turned() -> Vec<u8> {
        let mut bytes = Vec::new();
        let picture = RgbImage::from_pixel(40, 20, Rgb([200, 40, 40]));
        picture
            .write_with_encoder(JpegEncoder::new(&mut bytes))
            .unwrap();
        let mut exif =
            b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0".to_vec();
        exif.extend(b"52.5200N 13.4050E");
        let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
        let mut with_exif = vec![0xFF, 0xD8, 0xFF, 0xE1];
        with_exif.extend(length);
        with_exif.extend(exif);
        with_exif.extend(&bytes[2..]);
        with_exif
    }

    #[test]
    fn what_a_camera_wrote_beside_the_pixels_is_gone_and_the_picture_upright() {
        let original = turned();
        assert!(original.windows(8).any(|window| window == b"52.5200N"));
        let (media_type, bytes) = fit(&original).unwrap();
        assert_eq!(media_type, ImageType::Jpeg);
        assert!(!bytes.windows(4).any(|window| window == b"Exif"));
        assert!(!bytes.windows(8).any(|window| window == b"52.5200N"));
        let picture = image::load_from_memory(&bytes).unwrap();
        assert_eq!((picture.width(), picture.height()), (20, 40));
    }

    #[test]
    fn a_picture_is_no_larger_than_a_screen_shows() {
        let (_, bytes) = fit(&png(RgbImage::new(4000, 1000))).unwrap();
        let picture = image::load_from_memory(&bytes).unwrap();
        assert_eq!((picture.width(), picture.height()), (1600, 400));
        let (_, bytes) = fit(&png(RgbImage::new(30, 20))).unwrap();
        let picture = image::load_from_memory(&bytes).unwrap();
        assert_eq!(
            (picture.width(), picture.height()),
            (30, 20),
            "never made larger"
        );
    }

    #[test]
    fn what_can_be_seen_through_stays_so() {
        let (media_type, bytes) =
            fit(&png(RgbaImage::from_pixel(3, 3, Rgba([1, 2, 3, 0])))).unwrap();
        assert_eq!(media_type, ImageType::Png);
        let picture = image::load_from_memory(&bytes).unwrap().to_rgba8();
        assert_eq!(picture.get_pixel(1, 1).0[3], 0);
    }

    #[test]
    fn what_is_no_picture_is_refused_in_words() {
        assert!(matches!(fit(b"<svg/>"), Err(PictureError::UnknownType)));
        assert!(matches!(
            fit(b"\x89PNG\r\n\x1a\n and more"),
            Err(PictureError::Unreadable(_))
        ));
        let mut cut = turned();
        cut.truncate(60);
        assert!(matches!(fit(&cut), Err(PictureError::Unreadable(_))));
        // A header that promises more pixels than anybody has room for.
        let mut bomb = png(RgbImage::new(1, 1));
        bomb[16..20].copy_from_slice(&60_000_u32.to_be_bytes());
        bomb[20..24].copy_from_slice(&60_000_u32.to_be_bytes());
        assert!(fit(&bomb).is_err());
    }
}
