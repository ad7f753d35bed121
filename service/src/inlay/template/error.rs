//! Why a template is refused, in sentences for the person who wrote it, and at which of its members.

use std::borrow::Cow;

use super::Field;
use crate::field_error::OfField;

/// A template that is refused. Places are characters of the template, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// It is too long for any chip.
    #[error("A template has at most {max} characters; this one has {length}.")]
    TooLong {
        /// Its length.
        length: usize,
        /// The longest that is taken.
        max: usize,
    },
    /// It begins with no scheme that a tag can have.
    #[error("A template begins with https://, http:// or lnurlw://.")]
    Scheme,
    /// A brace that opens nothing or closes nothing.
    #[error(
        "Character {at}: a brace stands alone. Write a placeholder such as {{uid}}, or double the brace if it belongs to the URL."
    )]
    Brace {
        /// Where.
        at: usize,
    },
    /// A placeholder that does not exist.
    #[error(
        "Character {at}: \"{{{name}}}\" is no placeholder. There are {{slug}}, {{uid}}, {{counter}}, {{picc}}, {{enc}}, {{mac}}, {{tamper}} and {{*}}."
    )]
    UnknownPlaceholder {
        /// Where.
        at: usize,
        /// What stands between the braces, cut to 20 characters.
        name: String,
    },
    /// A placeholder that stands in it twice.
    #[error("Character {at}: {field} stands in the template twice.")]
    Twice {
        /// Where it stands again.
        at: usize,
        /// Which one.
        field: Field,
    },
    /// A character that cannot stand in a URL, or that looks like another one.
    #[error(
        "Character {at}: {character:?} cannot stand there. Use ASCII letters, and percent-encoding or Punycode for others."
    )]
    Character {
        /// Where.
        at: usize,
        /// Which one.
        character: char,
    },
    /// The host is missing, or not one.
    #[error("Character {at}: the host is not a name such as tags.example.com.")]
    Host {
        /// Where.
        at: usize,
    },
    /// A placeholder in the host other than a whole label `{slug}`.
    #[error(
        "Character {at}: {field} cannot stand in the host. Only {{slug}} can, as a whole label: {{slug}}.example.com."
    )]
    PlaceholderInHost {
        /// Where.
        at: usize,
        /// Which one.
        field: Field,
    },
    /// A placeholder in the name of a parameter.
    #[error("Character {at}: {field} cannot be part of a parameter's name.")]
    PlaceholderInName {
        /// Where.
        at: usize,
        /// Which one.
        field: Field,
    },
    /// A segment `.` or `..`, which browsers take out.
    #[error("Character {at}: the segments . and .. do not reach a server.")]
    DotSegment {
        /// Where.
        at: usize,
    },
    /// A `#`: what comes after it is never sent.
    #[error("Character {at}: a browser does not send what comes after #.")]
    Fragment {
        /// Where.
        at: usize,
    },
    /// A `%` without two hex digits after it.
    #[error("Character {at}: two hex digits come after %.")]
    PercentEncoding {
        /// Where.
        at: usize,
    },
    /// A parameter that stands in it twice.
    #[error("Character {at}: the parameter \"{name}\" stands in the template twice.")]
    ParameterTwice {
        /// Where it stands again.
        at: usize,
        /// Its name.
        name: String,
    },
    /// Two placeholders of any length in one segment or value.
    #[error(
        "Character {at}: {field} makes this ambiguous. A path segment or parameter value has at most one of {{slug}} and {{*}}."
    )]
    Ambiguous {
        /// Where the second one stands.
        at: usize,
        /// Which one.
        field: Field,
    },
    /// A placeholder that the technology never writes.
    #[error("Character {at}: {technology} does not write {field}.")]
    NotWritten {
        /// Where.
        at: usize,
        /// Which one.
        field: Field,
        /// The technology's word.
        technology: &'static str,
    },
    /// A placeholder that is missing.
    #[error("{field} is missing: {why}.")]
    Missing {
        /// Which one.
        field: Field,
        /// Why it is needed.
        why: &'static str,
    },
    /// Two placeholders that no chip writes together.
    #[error("Character {at}: {field} cannot stand beside {other}: {why}.")]
    Together {
        /// Where the first one stands.
        at: usize,
        /// Which one.
        field: Field,
        /// The other one.
        other: Field,
        /// Why not.
        why: &'static str,
    },
    /// The chip writes its values in one run, in an order of its own.
    #[error("Character {at}: {technology} writes its values in one run: {run}.")]
    Run {
        /// Where the run is another.
        at: usize,
        /// The technology's word.
        technology: &'static str,
        /// The run it writes.
        run: String,
    },
    /// The MAC's input would begin at a placeholder that is not there, or behind its end.
    #[error("The MAC's input begins at or before {{mac}}, at a placeholder of the template.")]
    MacStart,
    /// `mac_from` if the input is fixed by the chip.
    #[error("{technology} has a fixed MAC input; leave it at \"none\".")]
    MacStartFixed {
        /// The technology's word.
        technology: &'static str,
    },
    /// `{*}` between the start of the MAC's input and `{mac}`.
    #[error(
        "Character {at}: {{*}} cannot stand inside the MAC's input: the chip's text there must be known."
    )]
    AnyInMacInput {
        /// Where.
        at: usize,
    },
    /// `{enc}` outside of the MAC's input.
    #[error(
        "Character {at}: {{enc}} lies inside the MAC's input: set mac_from to \"enc\" or to a place before it."
    )]
    EncOutside {
        /// Where.
        at: usize,
    },
    /// `enc_length` is missing, superfluous, no multiple of 32, or more than a chip's file has.
    #[error(
        "{{enc}} has a number of characters, a multiple of 32 up to 224; without {{enc}} there is none."
    )]
    EncLength,
    /// `tamper_at` is outside of the file data.
    #[error(
        "The tamper pair stands in two bytes inside the decrypted file data (half of enc_length), with technology \"ntag424dna_tt\" and without {{tamper}}."
    )]
    TamperAt,
    /// LRP for a chip that does not have it.
    #[error("{technology} has no LRP.")]
    Mode {
        /// The technology's word.
        technology: &'static str,
    },
    /// The prefix is not one, or the URL does not begin with it.
    #[error("The NDEF prefix is a code from 0 to 4 whose text the template begins with.")]
    Prefix,
    /// The chip's file has no room for it.
    #[error("The URL needs {length} bytes in the chip's NDEF record; {max} fit.")]
    TooLongForChip {
        /// What it needs at least.
        length: usize,
        /// What there is.
        max: usize,
    },
}

impl OfField for TemplateError {
    fn field(&self) -> Option<Cow<'static, str>> {
        let member = match self {
            Self::MacStart | Self::MacStartFixed { .. } => "mac_from",
            Self::EncLength => "enc_length",
            Self::TamperAt => "tamper_at",
            Self::Mode { .. } => "mode",
            Self::Prefix => "ndef_prefix",
            _ => "template",
        };
        Some(member.into())
    }
}
