//! Pictures as owners upload them, made fit for a visitor's phone: upright, not
//! larger than a screen shows, and without what a camera or an editor wrote
//! beside the pixels (EXIF, XMP, comments), places and names included.
//!
//! The result is encoded from the pixels alone. Of an animation, it is the first frame.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::imageops;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};
use tokio::sync::Semaphore;

use crate::experience::ImageType;

/// Longest side of a picture, in pixels: a large phone's width, three times.
pub const SIDE_MAX: u32 = 1600;
/// Longest side of a picture that is taken in at all, in pixels.
const SIDE_TAKEN: u32 = 12_000;
/// Most pixels of a picture that is taken in at all. Phones take up to 12 million
/// by default; a few hundred kilobytes can promise far more.
const PIXELS_MAX: u64 = 40_000_000;
/// Most memory that the pixels of one may take, in bytes: four for each, as in
/// the usual formats. A format with 16 bits a channel takes eight.
const MEMORY_MAX: u64 = PIXELS_MAX * 4;
/// A picture this many times larger than it is to be is first made smaller by
/// plain averages, which need no memory beside the result.
const FAR_LARGER: u32 = 2;
/// Quality of JPEG, of 100.
const QUALITY: u8 = 84;

/// Pictures are read one at a time: what one takes is what all take.
static ONE_AT_A_TIME: Semaphore = Semaphore::const_new(1);

/// Why a picture cannot be taken. Each is a sentence for people.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// Its first bytes are of no type that is known.
    #[error("This is no PNG, JPEG, WebP or GIF.")]
    UnknownType,
    /// It has too many pixels.
    #[error(
        "This picture has {width} x {height} pixels. A picture can have at most {} million pixels \
         in all, and {SIDE_TAKEN} on a side. Make it smaller, and add it again.",
        PIXELS_MAX / 1_000_000
    )]
    TooLarge {
        /// Pixels from left to right.
        width: u32,
        /// Pixels from top to bottom.
        height: u32,
    },
    /// It has more bits for each pixel than there is room for.
    #[error(
        "This picture needs more memory than there is for one. Save it with 8 bits a channel, or \
         make it smaller, and add it again."
    )]
    TooMuchMemory,
    /// It is damaged, or of a kind that is not read.
    #[error("The picture cannot be read: {0}.")]
    Unreadable(String),
    /// The work was ended with the service.
    #[error("The service is ending. Add the picture again when it is back.")]
    Ended,
}

/// The picture in `bytes`, made fit, away from the threads that answer, and
/// after the pictures that came before it.
pub async fn fit(
    bytes: impl AsRef<[u8]> + Send + 'static,
) -> Result<(ImageType, Vec<u8>), PictureError> {
    let alone = ONE_AT_A_TIME.acquire().await;
    let alone = alone.map_err(|_| PictureError::Ended)?;
    let fitted = tokio::task::spawn_blocking(move || {
        // A caller that goes away does not end the work, so the turn ends with it.
        let _alone = alone;
        fit_now(bytes.as_ref())
    });
    fitted.await.map_err(|_| PictureError::Ended)?
}

/// Checks what the head of a picture promises, without reading its pixels.
pub fn check(bytes: &[u8]) -> Result<ImageType, PictureError> {
    let (media_type, decoder) = open(bytes)?;
    bound(&decoder)?;
    Ok(media_type)
}

fn fit_now(bytes: &[u8]) -> Result<(ImageType, Vec<u8>), PictureError> {
    let (from, mut decoder) = open(bytes)?;
    bound(&decoder)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut picture = DynamicImage::from_decoder(decoder).map_err(refused)?;
    let side = picture.width().max(picture.height());
    if side > SIDE_MAX * FAR_LARGER {
        picture = picture.thumbnail(SIDE_MAX * FAR_LARGER, SIDE_MAX * FAR_LARGER);
    }
    if side > SIDE_MAX {
        picture = picture.resize(SIDE_MAX, SIDE_MAX, imageops::FilterType::CatmullRom);
    }
    picture.apply_orientation(orientation);
    write(&picture, from)
}

/// A decoder that has read the head alone.
fn open(bytes: &[u8]) -> Result<(ImageType, impl ImageDecoder + '_), PictureError> {
    let media_type = ImageType::of(bytes).ok_or(PictureError::UnknownType)?;
    let format = match media_type {
        ImageType::Png => ImageFormat::Png,
        ImageType::Jpeg => ImageFormat::Jpeg,
        ImageType::Webp => ImageFormat::WebP,
        ImageType::Gif => ImageFormat::Gif,
    };
    let mut limits = Limits::no_limits();
    // What a decoder keeps beside the pixels.
    limits.max_alloc = Some(MEMORY_MAX);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    let decoder = reader.into_decoder().map_err(refused)?;
    Ok((media_type, decoder))
}

/// Refuses more pixels than there is room for, before there is any room.
fn bound(decoder: &impl ImageDecoder) -> Result<(), PictureError> {
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    if pixels > PIXELS_MAX || width.max(height) > SIDE_TAKEN {
        return Err(PictureError::TooLarge { width, height });
    }
    if decoder.total_bytes() > MEMORY_MAX {
        return Err(PictureError::TooMuchMemory);
    }
    Ok(())
}

/// A photograph as JPEG; what had few colours or can be seen through as PNG.
fn write(picture: &DynamicImage, from: ImageType) -> Result<(ImageType, Vec<u8>), PictureError> {
    let mut bytes = Vec::new();
    let see_through = picture.color().has_alpha()
        && picture
            .to_rgba8()
            .pixels()
            .any(|pixel| pixel.0[3] < u8::MAX);
    let is_photograph = matches!(from, ImageType::Jpeg | ImageType::Webp) && !see_through;
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
        image::ImageError::Limits(_) => PictureError::TooMuchMemory,
        error => PictureError::Unreadable(error.to_string().trim_end_matches('.').to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

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
        let (media_type, bytes) = fit_now(&original).unwrap();
        assert_eq!(media_type, ImageType::Jpeg);
        assert!(!bytes.windows(4).any(|window| window == b"Exif"));
        assert!(!bytes.windows(8).any(|window| window == b"52.5200N"));
        let picture = image::load_from_memory(&bytes).unwrap();
        assert_eq!((picture.width(), picture.height()), (20, 40));
    }

    #[test]
    fn a_picture_is_no_larger_than_a_screen_shows() {
        let (_, bytes) = fit_now(&png(RgbImage::new(4000, 1000))).unwrap();
        let picture = image::load_from_memory(&bytes).unwrap();
        assert_eq!((picture.width(), picture.height()), (1600, 400));
        let (_, bytes) = fit_now(&png(RgbImage::new(30, 20))).unwrap();
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
            fit_now(&png(RgbaImage::from_pixel(3, 3, Rgba([1, 2, 3, 0])))).unwrap();
        assert_eq!(media_type, ImageType::Png);
        let picture = image::load_from_memory(&bytes).unwrap().to_rgba8();
        assert_eq!(picture.get_pixel(1, 1).0[3], 0);
    }

    #[test]
    fn what_is_no_picture_is_refused_in_words() {
        assert!(matches!(fit_now(b"<svg/>"), Err(PictureError::UnknownType)));
        assert!(matches!(
            fit_now(b"\x89PNG\r\n\x1a\n and more"),
            Err(PictureError::Unreadable(_))
        ));
        let mut cut = turned();
        cut.truncate(60);
        assert!(matches!(fit_now(&cut), Err(PictureError::Unreadable(_))));
    }

    /// A picture of `format` whose head promises `width` x `height` pixels.
    fn promising(format: ImageFormat, width: u32, height: u32) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        let small = DynamicImage::from(RgbaImage::new(2, 2));
        match format {
            ImageFormat::Jpeg => small.to_rgb8().write_to(&mut bytes, format).unwrap(),
            _ => small.write_to(&mut bytes, format).unwrap(),
        }
        let mut bytes = bytes.into_inner();
        let short = |side: u32| u16::try_from(side).unwrap();
        match format {
            ImageFormat::Png => {
                bytes[16..20].copy_from_slice(&width.to_be_bytes());
                bytes[20..24].copy_from_slice(&height.to_be_bytes());
                let sum = crc32(&bytes[12..29]).to_be_bytes();
                bytes[29..33].copy_from_slice(&sum);
            }
            ImageFormat::Gif => {
                bytes[6..8].copy_from_slice(&short(width).to_le_bytes());
                bytes[8..10].copy_from_slice(&short(height).to_le_bytes());
            }
            ImageFormat::Jpeg => {
                let frame = bytes.windows(2).position(|two| two == [0xFF, 0xC0]);
                let at = frame.unwrap() + 5;
                bytes[at..at + 2].copy_from_slice(&short(height).to_be_bytes());
                bytes[at + 2..at + 4].copy_from_slice(&short(width).to_be_bytes());
            }
            _ => {
                // VP8L: a signature byte, then 14 bits for each side less one.
                let at = bytes.windows(4).position(|four| four == b"VP8L").unwrap() + 9;
                let flags = bytes[at + 3] & 0xF0;
                let sides = ((width - 1) | ((height - 1) << 14)).to_le_bytes();
                bytes[at..at + 4].copy_from_slice(&sides);
                bytes[at + 3] |= flags;
            }
        }
        bytes
    }

    fn crc32(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(u32::MAX, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
                (sum >> 1) ^ (0xEDB8_8320 & (sum & 1).wrapping_neg())
            })
        })
    }

    #[test]
    fn no_picture_has_more_than_40_million_pixels() {
        for format in [
            ImageFormat::Png,
            ImageFormat::Jpeg,
            ImageFormat::Gif,
            ImageFormat::WebP,
        ] {
            for (width, height) in [(10_000, 9_000), (8_000, 5_001), (12_001, 3)] {
                let bytes = promising(format, width, height);
                for refused in [fit_now(&bytes).err(), check(&bytes).err()] {
                    let said = refused.unwrap().to_string();
                    let named = format!("{width} x {height} pixels");
                    assert!(said.contains(&named), "{format:?}: {said}");
                    assert!(said.contains("at most 40 million"), "{said}");
                }
            }
            let largest = promising(format, 8_000, 5_000);
            check(&largest).unwrap_or_else(|error| panic!("{format:?}: {error}"));
        }
    }

    #[test]
    fn a_picture_of_16_bits_a_channel_has_as_much_memory_as_others() {
        let deep = |width, height| {
            png(image::ImageBuffer::<image::Rgba<u16>, _>::new(
                width, height,
            ))
        };
        assert!(check(&deep(30, 20)).is_ok());
        let refused = check(&deep(5_000, 4_001)).unwrap_err();
        assert!(matches!(refused, PictureError::TooMuchMemory), "{refused}");
    }

    #[tokio::test]
    async fn pictures_are_read_one_at_a_time() {
        let turn = ONE_AT_A_TIME.acquire().await.unwrap();
        let mut waiting = std::pin::pin!(fit(png(RgbImage::new(3, 3))));
        let mut context = Context::from_waker(Waker::noop());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        drop(turn);
        assert!(waiting.await.is_ok());
    }
}
