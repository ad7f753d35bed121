//! The differences between a pasted text and the URLs that were read from it, in words.

use std::fmt;

/// A difference between a text and the URLs that were read from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// `&amp;` and similar entities were read as the characters that they stand for.
    Entities,
    /// `\u0026`, `\/` and similar escapes of programs were read as their characters.
    Escapes,
    /// The bytes of an NDEF message, or of a URL, were written in hex or as decimal numbers.
    Bytes,
    /// A scheme was missing or mistyped, and was completed.
    Scheme,
    /// Invisible characters, such as a space without width, were left out.
    Invisible,
    /// A URL was read that was percent-encoded as a whole, or a part of another URL.
    Wrapped,
    /// `%3F`, `%3D` and `%26` were read as the separators of a query.
    Separators,
    /// Marks behind the last value of the query were left out.
    ClosingMarks,
    /// `=3D` was read as `=`.
    QuotedPrintable,
    /// A line that ended with `=` was read with the next one.
    SoftBreak,
    /// The pieces of a URL between spaces or lines were put together.
    Spaces,
    /// A URL ends with an ellipsis, within a value.
    Shortened,
    /// Text around the URLs was left out.
    Around,
    /// A scheme or host in capitals was read in small letters.
    Capitals,
    /// The name and the password before a host were left out. Callers that read hosts add the note.
    User,
    /// A host was read as browsers send it: other letters than ASCII in their form for DNS, without a
    /// final dot. Callers that know this form add the note.
    AsciiHost {
        /// The name in the text.
        name: String,
        /// The name that browsers send.
        ascii: String,
    },
    /// Parameters that apps and campaigns append were left out.
    Tracking {
        /// Their names, each once.
        names: Vec<String>,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::Entities => "\"&amp;\" was read as \"&\": web pages write it so, chips do not.",
            Self::Escapes => {
                "\"\\u0026\" was read as \"&\" and \"\\/\" as \"/\": programs write them so, chips do not."
            }
            Self::Bytes => "The URL was read from the bytes of an NDEF message.",
            Self::Scheme => {
                "The beginning \"https://\" or \"http://\" was missing or mistyped, and was completed."
            }
            Self::Invisible => "Invisible characters were left out.",
            Self::Wrapped => {
                "The URL was decoded, or taken out of another one: mail programs and messengers wrap URLs in others."
            }
            Self::Separators => {
                "\"%3F\" was read as \"?\", \"%3D\" as \"=\" and \"%26\" as \"&\": programs write them so, chips do not."
            }
            Self::ClosingMarks => {
                "Marks behind the last value, such as \"/\", were left out: apps append them."
            }
            Self::QuotedPrintable => "\"=3D\" was read as \"=\": mail writes it so, chips do not.",
            Self::SoftBreak => "Lines that mail broke behind \"=\" were put together.",
            Self::Spaces => "The pieces of a URL between spaces were put together.",
            Self::Shortened => {
                "A URL ends with \"…\", so a program has probably shortened it. Copy the whole URL."
            }
            Self::Around => "The text beside the URL was left out.",
            Self::Capitals => {
                "Scheme and host were read in small letters: phones and browsers send them so."
            }
            Self::User => {
                "The text before \"@\" was left out: browsers send it as a name and a password, not in the address."
            }
            Self::AsciiHost { name, ascii } => {
                return write!(
                    f,
                    "The host \"{name}\" was read as \"{ascii}\": browsers send it so."
                );
            }
            Self::Tracking { names } => {
                let names = names.join(", ");
                return write!(
                    f,
                    "Parameters that apps and campaigns append were left out: {names}."
                );
            }
        };
        f.write_str(words)
    }
}
