//! The compressed parts of a PNG besides its pixels: a colour profile, and texts. A few kilobytes
//! can expand to gigabytes in any program that shows the picture.

use fdeflate::BoundedDecompressionError;

use super::PictureError;

/// Most bytes of all these parts after decompression. The largest profiles of printers have 3 MB.
pub(super) const DECODED_MAX: usize = 4 * 1024 * 1024;

const SIGNATURE: usize = 8;
/// Length and type before a chunk's data.
const HEAD: usize = 8;
/// The checksum after a chunk's data.
const SUM: usize = 4;

/// Refuses a PNG that expands to more than that. A file that is not a PNG is left to the decoder to
/// refuse.
pub(super) fn bound(png: &[u8]) -> Result<(), PictureError> {
    let mut rest = png.get(SIGNATURE..).unwrap_or_default();
    let mut left = DECODED_MAX;
    while let Some((head, behind)) = rest.split_at_checked(HEAD) {
        let (length, kind) = head.split_at(4);
        let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]) as usize;
        // In a truncated picture the last chunk is incomplete.
        let (data, behind) = behind.split_at_checked(length).unwrap_or((behind, &[]));
        if let Some(compressed) = compressed(kind, data) {
            match fdeflate::decompress_to_vec_bounded(compressed, left) {
                Ok(decoded) => left -= decoded.len(),
                Err(BoundedDecompressionError::OutputTooLarge { .. }) => {
                    return Err(PictureError::TooMuchBeside);
                }
                // Programs ignore a profile and a text that they cannot read.
                Err(BoundedDecompressionError::DecompressionError { .. }) => {}
            }
        }
        rest = behind.get(SUM..).unwrap_or_default();
    }
    Ok(())
}

/// The compressed part of a chunk (PNG specification, sections 11.3.2.3, 11.3.3.3 and 11.3.3.4).
fn compressed<'a>(kind: &[u8], data: &'a [u8]) -> Option<&'a [u8]> {
    // Each text except the last ends with a null byte.
    let after_text = |data: &'a [u8]| {
        let end = data.iter().position(|byte| *byte == 0)?;
        data.get(end + 1..)
    };
    match kind {
        // A name, the method.
        b"iCCP" | b"zTXt" => after_text(data)?.get(1..),
        // A keyword, a compression flag, the method, a language, the translated keyword.
        b"iTXt" => {
            let rest = after_text(data)?;
            (*rest.first()? != 0).then_some(())?;
            after_text(after_text(rest.get(2..)?)?)
        }
        _ => None,
    }
}
