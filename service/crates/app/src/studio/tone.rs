//! The marks of a message, by its tone.

use domain::experience::Tone;

/// The marks of a message, by its tone.
pub(crate) trait ToneMarks {
    /// Its class in the style sheet.
    fn name(self) -> &'static str;

    /// The ARIA role for the message: failures interrupt the screen reader.
    fn role(self) -> &'static str;

    /// Its sign, as SVG: a check in a disc, a ring, a cross in a ring.
    fn sign(self) -> &'static str;
}

impl ToneMarks for Tone {
    fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Neutral => "neutral",
            Self::Caution => "caution",
        }
    }

    fn role(self) -> &'static str {
        match self {
            Self::Caution => "alert",
            Self::Good | Self::Neutral => "status",
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Good => {
                r#"<svg viewBox="0 0 40 40" aria-hidden="true"><circle cx="20" cy="20" r="18"/><path d="M12 20.5l5.5 5.5L28.5 14.5"/></svg>"#
            }
            Self::Neutral => {
                r#"<svg viewBox="0 0 40 40" aria-hidden="true"><circle cx="20" cy="20" r="16"/></svg>"#
            }
            Self::Caution => {
                r#"<svg viewBox="0 0 40 40" aria-hidden="true"><circle cx="20" cy="20" r="17"/><path d="M14 14l12 12M26 14L14 26"/></svg>"#
            }
        }
    }
}
