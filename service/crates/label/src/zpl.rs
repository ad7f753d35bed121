//! ZPL II (Zebra): a graphic field for each label. `^BQ`, the printer's own QR code, can neither hold
//! a logo nor mix modes, and its size differs from printer to printer.

use std::fmt::Write as _;

use tiny_skia::Pixmap;

/// Brightness below which a dot is printed.
const DARK: u16 = 128;
/// The letters that repeat a digit, by their counts: `g` to `z` for 20 to 400, `G` to `Y` for 1 to
/// 19.
const TWENTY: usize = 20;
const REPEAT_MAX: usize = 400;

/// A label for the printer.
pub(crate) fn zpl(pixels: &Pixmap) -> String {
    let (width, height) = (pixels.width(), pixels.height());
    let row_bytes = width.div_ceil(8) as usize;
    let all = row_bytes * height as usize;
    let mut zpl = format!("^XA^PW{width}^LL{height}^LH0,0^FO0,0^GFA,{all},{all},{row_bytes},");
    let mut before = String::new();
    for row in pixels.data().chunks_exact(4 * width as usize) {
        let digits = digits(row, row_bytes);
        if digits == before {
            zpl.push(':');
        } else {
            write_row(&mut zpl, &digits);
            before = digits;
        }
    }
    zpl += "^FS^XZ\n";
    zpl
}

/// The dots of a row, four to a hexadecimal digit.
fn digits(row: &[u8], row_bytes: usize) -> String {
    let dark = |pixel: &[u8]| {
        let sum: u16 = pixel[..3].iter().map(|part| u16::from(*part)).sum();
        sum < 3 * DARK
    };
    let mut bytes = vec![0u8; row_bytes];
    for (at, _) in row
        .chunks_exact(4)
        .enumerate()
        .filter(|(_, pixel)| dark(pixel))
    {
        bytes[at / 8] |= 0x80 >> (at % 8);
    }
    bytes.iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02X}");
        digits
    })
}

/// Writes a row: `,` fills the rest with light dots, `!` with dark ones, and a count precedes a
/// digit that repeats.
fn write_row(zpl: &mut String, digits: &str) {
    let (kept, rest) = [('0', ','), ('F', '!')]
        .into_iter()
        .map(|(digit, fill)| (digits.trim_end_matches(digit), fill))
        .min_by_key(|(kept, _)| kept.len())
        .unwrap_or((digits, ','));
    for run in kept.as_bytes().chunk_by(|one, next| one == next) {
        let mut count = run.len();
        while count > 0 {
            let part = count.min(REPEAT_MAX);
            write_count(zpl, part);
            zpl.push(char::from(run[0]));
            count -= part;
        }
    }
    if kept.len() < digits.len() {
        zpl.push(rest);
    }
}

/// Writes the letters for a count of at most [`REPEAT_MAX`]; none for 1.
fn write_count(zpl: &mut String, count: usize) {
    let letter = |first: u8, at: usize| char::from(first + u8::try_from(at - 1).unwrap_or(0));
    let (twenties, ones) = (count / TWENTY, count % TWENTY);
    if count == 1 {
        return;
    }
    if twenties > 0 {
        zpl.push(letter(b'g', twenties));
    }
    if ones > 0 {
        zpl.push(letter(b'G', ones));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_as_short_as_zpl_allows() {
        for (digits, expected) in [
            ("0000", ","),
            ("FFFF", "!"),
            ("00F0", "H0F,"),
            ("A1A1", "A1A1"),
            (&*format!("{}1", "0".repeat(441)), "z0hG01"),
        ] {
            let mut zpl = String::new();
            write_row(&mut zpl, digits);
            assert_eq!(zpl, expected, "{digits}");
        }
    }
}
