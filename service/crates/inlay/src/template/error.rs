//! Why a template is refused: a sentence for its author, and the setting that is wrong.

use super::Field;

/// Why a template is refused. Positions are characters of the template, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// The template is too long for any chip.
    #[error("A template has at most {max} characters; this one has {length}.")]
    TooLong {
        /// Length of the template, in characters.
        length: usize,
        /// The maximum length, in characters.
        max: usize,
    },
    /// It does not begin with a scheme that a tag can have.
    #[error("A template begins with https://, http:// or lnurlw://.")]
    Scheme,
    /// A brace without a partner.
    #[error(
        "Character {at}: a brace has no partner. Write a placeholder such as {{uid}}, or double the brace if it belongs to the URL."
    )]
    Brace {
        /// Position of the brace.
        at: usize,
    },
    /// A placeholder that does not exist.
    #[error(
        "Character {at}: \"{{{name}}}\" is no placeholder. There are {{slug}}, {{uid}}, {{counter}}, {{picc}}, {{enc}}, {{mac}}, {{tamper}} and {{*}}."
    )]
    UnknownPlaceholder {
        /// Position of the placeholder.
        at: usize,
        /// The text between the braces, cut to 20 characters.
        name: String,
    },
    /// A placeholder that occurs twice.
    #[error("Character {at}: {field} stands in the template twice.")]
    Twice {
        /// Position of the second one.
        at: usize,
        /// Placeholder that is repeated.
        field: Field,
    },
    /// A character that is not allowed in a URL, or that looks like another one.
    #[error(
        "Character {at}: {character:?} cannot stand there. Use ASCII letters, and percent-encoding or Punycode for others."
    )]
    Character {
        /// Position of the character.
        at: usize,
        /// Character that is refused.
        character: char,
    },
    /// The host is missing or not valid.
    #[error(
        "Character {at}: the host is not a name such as tags.example.com, and no address such as 192.0.2.1 or [2001:db8::1]."
    )]
    Host {
        /// Position in the template.
        at: usize,
    },
    /// A placeholder in the host other than a whole label `{slug}`.
    #[error(
        "Character {at}: {field} cannot stand in the host. Only {{slug}} can, as a whole label: {{slug}}.example.com."
    )]
    PlaceholderInHost {
        /// Position of the placeholder.
        at: usize,
        /// Placeholder that is refused.
        field: Field,
    },
    /// A placeholder in the name of a parameter.
    #[error("Character {at}: {field} cannot be part of a parameter's name.")]
    PlaceholderInName {
        /// Position of the placeholder.
        at: usize,
        /// Placeholder that is refused.
        field: Field,
    },
    /// A segment `.` or `..`, which browsers remove.
    #[error("Character {at}: the segments . and .. do not reach a server.")]
    DotSegment {
        /// Position of the segment.
        at: usize,
    },
    /// A `#`: browsers do not send the text after it.
    #[error("Character {at}: a browser does not send what comes after #.")]
    Fragment {
        /// Position of the `#`.
        at: usize,
    },
    /// A `%` without two hex digits after it.
    #[error("Character {at}: two hex digits come after %.")]
    PercentEncoding {
        /// Position of the `%`.
        at: usize,
    },
    /// A parameter that occurs twice.
    #[error("Character {at}: the parameter \"{name}\" stands in the template twice.")]
    ParameterTwice {
        /// Position of the second one.
        at: usize,
        /// Name of the parameter.
        name: String,
    },
    /// Two placeholders of variable length in one segment or value.
    #[error(
        "Character {at}: {field} makes this ambiguous. A path segment or parameter value has at most one of {{slug}} and {{*}}."
    )]
    Ambiguous {
        /// Position of the second one.
        at: usize,
        /// Placeholder at that position.
        field: Field,
    },
    /// A placeholder that the technology never writes.
    #[error("Character {at}: {technology} does not write {field}.")]
    NotWritten {
        /// Position of the placeholder.
        at: usize,
        /// Placeholder that is refused.
        field: Field,
        /// Word for the technology, as in the API.
        technology: &'static str,
    },
    /// A placeholder that is missing.
    #[error("{field} is missing: {why}.")]
    Missing {
        /// Placeholder that is needed.
        field: Field,
        /// Why it is needed.
        why: &'static str,
    },
    /// Two placeholders that no chip writes together.
    #[error("Character {at}: {field} cannot stand beside {other}: {why}.")]
    Together {
        /// Position of the first one.
        at: usize,
        /// Placeholder at that position.
        field: Field,
        /// Placeholder that excludes it.
        other: Field,
        /// Reason, as a part of the sentence.
        why: &'static str,
    },
    /// The chip writes its values in one run, in its own fixed order.
    #[error("Character {at}: {technology} writes its values in one run: {run}.")]
    Run {
        /// Position at which the template differs from the run.
        at: usize,
        /// Word for the technology, as in the API.
        technology: &'static str,
        /// The run it writes.
        run: String,
    },
    /// The MAC's input would begin at a missing placeholder, or after its own end.
    #[error("The MAC's input begins at or before {{mac}}, at a placeholder of the template.")]
    MacStart,
    /// `mac_from` is set although the chip fixes the input.
    #[error("{technology} has a fixed MAC input; leave it at \"none\".")]
    MacStartFixed {
        /// Word for the technology, as in the API.
        technology: &'static str,
    },
    /// `{*}` between the start of the MAC's input and `{mac}`.
    #[error(
        "Character {at}: {{*}} cannot stand inside the MAC's input: the chip's text there must be known."
    )]
    AnyInMacInput {
        /// Position of the `{*}`.
        at: usize,
    },
    /// `{enc}` outside of the MAC's input.
    #[error(
        "Character {at}: {{enc}} lies inside the MAC's input: set mac_from to \"enc\" or to a place before it."
    )]
    EncOutside {
        /// Position of the `{enc}`.
        at: usize,
    },
    /// `enc_length` is missing, superfluous, not a multiple of 32, or more than a chip's file
    /// holds.
    #[error(
        "{{enc}} has a number of characters, a multiple of 32 up to 224; without {{enc}} there is none."
    )]
    EncLength,
    /// `tamper_at` is outside of the file data.
    #[error(
        "The tamper pair stands in two bytes inside the decrypted file data (half of enc_length), with technology \"ntag424dna_tt\" and without {{tamper}}."
    )]
    TamperAt,
    /// A lookup by the UID in clear, although the slug or an authentic code finds the inlay.
    #[error(
        "Only a template without {{slug}}, for chips that make no MAC, has the lookup \"unverified\"."
    )]
    Lookup,
    /// LRP mode for a chip that does not have it.
    #[error("{technology} has no LRP.")]
    Mode {
        /// Word for the technology, as in the API.
        technology: &'static str,
    },
    /// The prefix code does not exist, or the URL does not begin with that prefix.
    #[error("The NDEF prefix is a code from 0 to 4 whose text the template begins with.")]
    Prefix,
    /// The URL does not fit into the chip's file.
    #[error("The URL needs {length} bytes in the chip's NDEF record; {max} fit.")]
    TooLongForChip {
        /// Needed length in bytes, at least.
        length: usize,
        /// Available length, in bytes.
        max: usize,
    },
}

impl TemplateError {
    /// The setting that is wrong, as the API names it.
    pub fn field(&self) -> &'static str {
        match self {
            Self::MacStart | Self::MacStartFixed { .. } => "mac_from",
            Self::EncLength => "enc_length",
            Self::TamperAt => "tamper_at",
            Self::Lookup => "lookup",
            Self::Mode { .. } => "mode",
            Self::Prefix => "ndef_prefix",
            _ => "template",
        }
    }
}
