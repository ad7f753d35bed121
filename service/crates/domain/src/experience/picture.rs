//! Prepares an owner's pictures for a visitor's phone: upright, not larger than a screen shows, and
//! without the metadata that a camera or an editor wrote (EXIF, XMP, comments), which include
//! places and names.
//!
//! The result is encoded only from the pixels. Of an animation, it is the first frame.

mod compressed;

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::imageops;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits, Rgba, RgbaImage};

use crate::experience::ImageType;

/// Longest side of a picture, in pixels: a large phone's width, three times.
pub const SIDE_MAX: u32 = 1600;
/// Longest side of an uploaded picture, in pixels.
const SIDE_TAKEN: u32 = 12_000;
/// Most pixels of an uploaded picture. Phones take up to 12 million by default, but a few hundred
/// kilobytes can declare far more.
const PIXELS_MAX: u64 = 40_000_000;
/// Most memory for the pixels of one picture, in bytes: four for each, as in the usual formats. A
/// format with 16 bits a channel needs eight.
const MEMORY_MAX: u64 = PIXELS_MAX * 4;
/// A picture this many times larger than its result is first reduced by plain averages, which need
/// no additional memory.
const FAR_LARGER: u32 = 2;
/// Quality of JPEG, of 100.
const QUALITY: u8 = 84;

/// Why a picture is refused. Each is a sentence for people.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// Its first bytes are of no known type.
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
    /// Its pixels need more memory than is allowed.
    #[error(
        "This picture needs more memory than there is for one. Save it with 8 bits a channel, or \
         make it smaller, and add it again."
    )]
    TooMuchMemory,
    /// Its colour profile or its texts are too large once they are decompressed.
    #[error(
        "This picture has more than {} MB beside its pixels, in a colour profile or in texts. Save it \
         without them, and add it again.", compressed::DECODED_MAX / 1024 / 1024
    )]
    TooMuchBeside,
    /// It is damaged, or of a kind that is not supported.
    #[error("The picture cannot be read: {0}.")]
    Unreadable(String),
    /// The service was stopped during the work.
    #[error("The service is ending. Add the picture again when it is back.")]
    Ended,
}

/// Checks the size that the head of a picture declares, without reading its pixels.
pub fn check(bytes: &[u8]) -> Result<ImageType, PictureError> {
    let (media_type, decoder) = open(bytes)?;
    bound(&decoder)?;
    Ok(media_type)
}

/// Prepares the picture in `bytes` on this thread, which takes much time and memory.
pub fn fit_now(bytes: &[u8]) -> Result<(ImageType, Vec<u8>), PictureError> {
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

/// Makes a small JPEG of a stored picture for paper: at most `side` pixels on a side, on white. Works
/// on this thread, which takes much time and memory.
pub fn thumbnail_now(bytes: &[u8], side: u32) -> Result<Vec<u8>, PictureError> {
    let (_, decoder) = open(bytes)?;
    bound(&decoder)?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(refused)?;
    if picture.width().max(picture.height()) > side {
        picture = picture.thumbnail(side, side);
    }
    let picture = picture.into_rgba8();
    // JPEG has no transparency, and the colour below it may be any.
    let white = Rgba([u8::MAX; 4]);
    let mut paper = RgbaImage::from_pixel(picture.width(), picture.height(), white);
    imageops::overlay(&mut paper, &picture, 0, 0);
    let mut jpeg = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut jpeg, QUALITY);
    let paper = DynamicImage::from(paper).into_rgb8();
    paper.write_with_encoder(encoder).map_err(refused)?;
    Ok(jpeg)
}

/// A decoder that has read only the head.
fn open(bytes: &[u8]) -> Result<(ImageType, impl ImageDecoder + '_), PictureError> {
    let media_type = ImageType::of(bytes).ok_or(PictureError::UnknownType)?;
    let format = match media_type {
        ImageType::Png => ImageFormat::Png,
        ImageType::Jpeg => ImageFormat::Jpeg,
        ImageType::Webp => ImageFormat::WebP,
        ImageType::Gif => ImageFormat::Gif,
    };
    // The profiles of other formats are not compressed, so they are at most as large as the file.
    if media_type == ImageType::Png {
        compressed::bound(bytes)?;
    }
    let mut limits = Limits::no_limits();
    // The memory of a decoder besides the pixels.
    limits.max_alloc = Some(MEMORY_MAX);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    let decoder = reader.into_decoder().map_err(refused)?;
    Ok((media_type, decoder))
}

/// Refuses too many pixels before memory is allocated for them.
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

/// Encodes a photograph as JPEG, and a picture with few colours or with transparency as PNG.
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
    use image::{Rgb, RgbImage};

    use super::*;

    fn png(picture: impl Into<DynamicImage>) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        picture
            .into()
            .write_to(&mut bytes, ImageFormat::Png)
            .unwrap();
        bytes.into_inner()
    }

    /// A JPEG of 40 x 20 pixels, with an EXIF block that asks for a quarter turn and names a place.
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
    fn a_picture_for_paper_is_small_and_on_white() {
        let clear = RgbaImage::from_pixel(900, 300, Rgba([0, 0, 0, 0]));
        let jpeg = thumbnail_now(&png(clear), 600).unwrap();
        assert_eq!(ImageType::of(&jpeg), Some(ImageType::Jpeg));
        let picture = image::load_from_memory(&jpeg).unwrap().to_rgb8();
        assert_eq!((picture.width(), picture.height()), (600, 200));
        let paper = picture.get_pixel(300, 100).0;
        assert!(paper.iter().all(|part| *part > 250), "{paper:?}");
        let whole = png(RgbImage::new(30, 20));
        let small = thumbnail_now(&whole, 600).unwrap();
        let small = image::load_from_memory(&small).unwrap();
        assert_eq!((small.width(), small.height()), (30, 20));
        for damaged in [&b""[..], b"<svg/>", &whole[..whole.len() / 2]] {
            assert!(thumbnail_now(damaged, 600).is_err());
        }
        let bomb = promising(ImageFormat::Png, 10_000, 9_000);
        assert!(matches!(
            thumbnail_now(&bomb, 600),
            Err(PictureError::TooLarge { .. })
        ));
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

    /// A picture of `format` whose head declares `width` x `height` pixels.
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
                // VP8L: a signature byte, then 14 bits for each side minus one.
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

    /// A PNG with a chunk of this type after its head, whose `text` is compressed.
    fn with_chunk(kind: [u8; 4], head: &[u8], text: &[u8]) -> Vec<u8> {
        const BEHIND_HEAD: usize = 8 + 25;
        let whole = png(RgbImage::new(3, 3));
        let data = [head, &fdeflate::compress_to_vec(text)].concat();
        let named = [&kind[..], &data].concat();
        let length = u32::try_from(data.len()).unwrap().to_be_bytes();
        let (before, behind) = whole.split_at(BEHIND_HEAD);
        [
            before,
            &length,
            &named,
            &crc32(&named).to_be_bytes(),
            behind,
        ]
        .concat()
    }

    #[test]
    fn what_is_compressed_beside_the_pixels_is_bounded() {
        const MAX: usize = compressed::DECODED_MAX;
        for (kind, head) in [
            (b"iCCP", &b"profile\0\0"[..]),
            (b"zTXt", b"Comment\0\0"),
            (b"iTXt", b"Comment\0\x01\0en\0Comment\0"),
        ] {
            let within = with_chunk(*kind, head, &vec![0; MAX]);
            assert!(within.len() < 100_000, "{}", within.len());
            assert!(check(&within).is_ok() && fit_now(&within).is_ok());
            let beyond = with_chunk(*kind, head, &vec![0; MAX + 1]);
            for refused in [check(&beyond).err(), fit_now(&beyond).err()] {
                let refused = refused.unwrap();
                assert!(matches!(refused, PictureError::TooMuchBeside), "{refused}");
                assert!(refused.to_string().contains("more than 4 MB"), "{refused}");
            }
        }
        // Many small chunks count as a large one.
        let half = with_chunk(*b"zTXt", b"Comment\0\0", &vec![0; MAX / 2 + 1]);
        let chunk = half[33..half.len() - (png(RgbImage::new(3, 3)).len() - 33)].to_vec();
        let twice = [&half[..33], &chunk, &half[33..]].concat();
        assert!(check(&half).is_ok());
        assert!(matches!(check(&twice), Err(PictureError::TooMuchBeside)));
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
}
