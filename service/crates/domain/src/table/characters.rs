//! The encoding of a file. Its bytes decide, whatever a header of the request states.

use std::io::{self, Read};

use encoding_rs::{Decoder, DecoderResult, UTF_16BE, UTF_16LE, WINDOWS_1252};
use serde::Serialize;
use utoipa::ToSchema;

/// The encoding of a file's bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = TableEncoding)]
pub enum Encoding {
    /// UTF-8, with or without its mark.
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    /// UTF-16, the low byte first: the "Unicode text" of Excel.
    #[serde(rename = "utf-16le")]
    Utf16Le,
    /// UTF-16, the high byte first.
    #[serde(rename = "utf-16be")]
    Utf16Be,
    /// The encoding of western Windows: the plain "CSV" of Excel.
    #[serde(rename = "windows-1252")]
    Windows1252,
}

impl Encoding {
    /// Its name for people.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16Le | Self::Utf16Be => "UTF-16",
            Self::Windows1252 => "Windows-1252",
        }
    }
}

/// Bytes of one read: few compared with the longest row, many compared with the cost of a call.
const PIECE: usize = 64 * 1024;

/// Replaces an invalid sequence. It is itself invalid in UTF-8, so that only the cell with it is
/// refused.
const BAD: u8 = 0xff;

/// The encoding of a text, and the length of its byte order mark.
pub(super) fn of<R: Read + Clone>(file: &R) -> Result<(Encoding, usize), String> {
    let mut head = Vec::new();
    let unread = |error: io::Error| format!("The file cannot be read: {error}.");
    file.clone()
        .take(4)
        .read_to_end(&mut head)
        .map_err(unread)?;
    match head[..] {
        [0xef, 0xbb, 0xbf, ..] => Ok((Encoding::Utf8, 3)),
        [0xff, 0xfe, ..] => Ok((Encoding::Utf16Le, 2)),
        [0xfe, 0xff, ..] => Ok((Encoding::Utf16Be, 2)),
        // A header begins with a letter of ASCII or a similar one, so a zero next to it is the
        // other half of the character.
        [1..=255, 0, ..] => Ok((Encoding::Utf16Le, 0)),
        [0, 1..=255, ..] => Ok((Encoding::Utf16Be, 0)),
        _ => Ok((of_bytes(file.clone()).map_err(unread)?, 0)),
    }
}

/// UTF-8, unless there are more invalid sequences than characters beyond ASCII: one row that was
/// pasted from another source must not spoil all others.
fn of_bytes(mut file: impl Read) -> io::Result<Encoding> {
    let mut piece = vec![0; PIECE];
    let (mut kept, mut characters, mut stray) = (0, 0_u64, 0_u64);
    loop {
        let read = file.read(&mut piece[kept..])?;
        let filled = kept + read;
        let whole = if read == 0 {
            filled
        } else {
            filled - unfinished(&piece[..filled])
        };
        for chunk in piece[..whole].utf8_chunks() {
            // Counting is for the few pieces that have such characters.
            if !chunk.valid().is_ascii() {
                let beyond = chunk.valid().chars().filter(|c| !c.is_ascii());
                characters += beyond.count() as u64;
            }
            stray += u64::from(!chunk.invalid().is_empty());
        }
        if read == 0 {
            return Ok(if stray > characters {
                Encoding::Windows1252
            } else {
                Encoding::Utf8
            });
        }
        piece.copy_within(whole..filled, 0);
        kept = filled - whole;
    }
}

/// The length of an incomplete character at the end of `bytes`.
fn unfinished(bytes: &[u8]) -> usize {
    if std::str::from_utf8(&bytes[bytes.len().saturating_sub(3)..]).is_ok() {
        return 0;
    }
    // A piece may begin within a character, so only the last lead byte counts.
    let lead = bytes.iter().rev().take(3).position(|byte| *byte >= 0xc0);
    let needed = |lead: u8| match lead {
        0xf0.. => 4,
        0xe0.. => 3,
        _ => 2,
    };
    lead.map(|back| back + 1)
        .filter(|length| *length < needed(bytes[bytes.len() - length]))
        .unwrap_or(0)
}

/// The text of a file, decoded to UTF-8 while it is read.
pub(super) struct Text<R> {
    file: R,
    /// `None` if the file is already UTF-8.
    decoder: Option<Box<Decoding>>,
    /// Bytes of the byte order mark that still have to be skipped.
    mark: usize,
}

struct Decoding {
    decoder: Decoder,
    input: Piece,
    output: Piece,
    ended: bool,
}

/// Bytes of which some are already read.
struct Piece {
    bytes: Vec<u8>,
    from: usize,
    to: usize,
}

impl Piece {
    fn new() -> Self {
        Self {
            bytes: vec![0; PIECE],
            from: 0,
            to: 0,
        }
    }

    fn is_empty(&self) -> bool {
        self.from == self.to
    }
}

impl<R: Read> Text<R> {
    pub(super) fn new(file: R, encoding: Encoding, mark: usize) -> Self {
        let encoding = match encoding {
            Encoding::Utf8 => None,
            Encoding::Utf16Le => Some(UTF_16LE),
            Encoding::Utf16Be => Some(UTF_16BE),
            Encoding::Windows1252 => Some(WINDOWS_1252),
        };
        let decoder = encoding.map(|encoding| {
            Box::new(Decoding {
                decoder: encoding.new_decoder_without_bom_handling(),
                input: Piece::new(),
                output: Piece::new(),
                ended: false,
            })
        });
        Self {
            file,
            decoder,
            mark,
        }
    }
}

impl<R: Read> Read for Text<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.mark > 0 {
            let mut left_out = [0; 3];
            let read = self.file.read(&mut left_out[..self.mark])?;
            if read == 0 {
                return Ok(0);
            }
            self.mark -= read;
        }
        let Some(decoding) = &mut self.decoder else {
            return self.file.read(buffer);
        };
        while decoding.output.is_empty() && !decoding.ended {
            decoding.fill(&mut self.file)?;
        }
        let Piece { bytes, from, to } = &mut decoding.output;
        let length = buffer.len().min(*to - *from);
        buffer[..length].copy_from_slice(&bytes[*from..*from + length]);
        *from += length;
        Ok(length)
    }
}

impl Decoding {
    /// Decodes the next bytes into the output, which is empty.
    fn fill(&mut self, file: &mut impl Read) -> io::Result<()> {
        let Self {
            decoder,
            input,
            output,
            ended,
        } = self;
        let mut last = false;
        if input.is_empty() {
            (input.from, input.to) = (0, file.read(&mut input.bytes)?);
            last = input.is_empty();
        }
        // Room for the mark of a bad sequence.
        let room = PIECE - 1;
        let (result, read, written) = decoder.decode_to_utf8_without_replacement(
            &input.bytes[input.from..input.to],
            &mut output.bytes[..room],
            last,
        );
        input.from += read;
        (output.from, output.to) = (0, written);
        match result {
            DecoderResult::Malformed(..) => {
                output.bytes[written] = BAD;
                output.to += 1;
            }
            DecoderResult::InputEmpty => *ended = last,
            DecoderResult::OutputFull => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time.
    #[derive(Clone)]
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(1);
            self.0.read(&mut buffer[..length])
        }
    }

    fn text(bytes: &[u8]) -> (Encoding, Vec<u8>) {
        let (encoding, mark) = of(&Slow(bytes)).unwrap();
        let mut text = Vec::new();
        Text::new(Slow(bytes), encoding, mark)
            .read_to_end(&mut text)
            .unwrap();
        (encoding, text)
    }

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn the_bytes_decide_the_encoding() {
        let words = "name\nKäse € 🍷\n";
        for marked in [words.to_owned(), format!("\u{feff}{words}")] {
            for (bytes, encoding) in [
                (marked.clone().into_bytes(), Encoding::Utf8),
                (utf16(&marked, u16::to_le_bytes), Encoding::Utf16Le),
                (utf16(&marked, u16::to_be_bytes), Encoding::Utf16Be),
            ] {
                assert_eq!(text(&bytes), (encoding, words.as_bytes().to_vec()));
            }
        }
        let western = (Encoding::Windows1252, "name\nKäse €\n".as_bytes().to_vec());
        assert_eq!(text(b"name\nK\xe4se \x80\n"), western);
        assert_eq!(text(b""), (Encoding::Utf8, Vec::new()));
    }

    #[test]
    fn a_stray_byte_among_characters_of_utf_8_makes_it_no_other_encoding() {
        for (bytes, encoding) in [
            (&b"K\xc3\xa4se\nK\xe4se\n"[..], Encoding::Utf8),
            (b"K\xe4se\nK\xe4se\nK\xc3\xa4se\n", Encoding::Windows1252),
            (b"K\xc3", Encoding::Windows1252),
            (b"\xef\xbb\xbfK\xe4se", Encoding::Utf8),
        ] {
            assert_eq!(of(&bytes).unwrap().0, encoding, "{bytes:?}");
            assert_eq!(of(&Slow(bytes)).unwrap().0, encoding, "{bytes:?}");
        }
        // A character on the border of two pieces is whole.
        for before in (PIECE - 4)..=PIECE {
            let bytes = format!("{}€", "a".repeat(before)).into_bytes();
            assert_eq!(of(&&bytes[..]).unwrap().0, Encoding::Utf8, "{before}");
        }
    }

    #[test]
    fn half_a_character_of_utf_16_is_marked() {
        for (end, name) in [
            (&[0x3d, 0xd8][..], "a lone surrogate"),
            (&[0x61], "an odd length"),
        ] {
            let mut bytes = utf16("\u{feff}a,", u16::to_le_bytes);
            bytes.extend(end);
            assert_eq!(text(&bytes).1, b"a,\xff", "{name}");
        }
    }
}
