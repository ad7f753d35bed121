//! Colours, and whether people can read one on another (WCAG 2.2, section 1.4.3).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A colour of the sRGB space. In JSON and CSS `#1f4fd8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Colour([u8; 3]);

/// A text that is not a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("A colour is # and six hexadecimal digits, such as #1f4fd8.")]
pub struct InvalidColour;

/// The contrast from which on a text is readable on a background (level AA).
const READABLE: f64 = 4.5;

impl Colour {
    /// Darkest colour, used as ink on light grounds.
    pub const BLACK: Self = Self([0; 3]);
    /// Lightest colour, used as ink on dark grounds.
    pub const WHITE: Self = Self([255; 3]);

    /// The colour of these parts of red, green and blue.
    pub const fn rgb(red: u8, green: u8, blue: u8) -> Self {
        Self([red, green, blue])
    }

    /// Whether light text is easier to read on it than dark text.
    pub fn is_dark(self) -> bool {
        self.contrast(Self::WHITE) > self.contrast(Self::BLACK)
    }

    /// Black or white, whichever is easier to read on it. One of them is always readable.
    #[must_use]
    pub fn ink(self) -> Self {
        if self.is_dark() {
            Self::WHITE
        } else {
            Self::BLACK
        }
    }

    /// The contrast ratio of two colours, from 1 to 21.
    pub fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// This colour mixed with `percent` of `other`.
    #[must_use]
    pub fn mixed(self, other: Self, percent: u8) -> Self {
        let percent = u16::from(percent.min(100));
        Self(std::array::from_fn(|i| {
            let sum = u16::from(self.0[i]) * (100 - percent) + u16::from(other.0[i]) * percent;
            u8::try_from((sum + 50) / 100).unwrap_or(u8::MAX)
        }))
    }

    /// This colour, mixed with as much of the ground's ink as makes text readable on `ground`.
    #[must_use]
    pub fn readable_on(self, ground: Self) -> Self {
        let shades = (0..=100)
            .step_by(4)
            .map(|percent| self.mixed(ground.ink(), percent));
        let mut readable = shades.filter(|shade| shade.contrast(ground) >= READABLE);
        readable.next().unwrap_or(ground.ink())
    }

    /// WCAG 2.2, "relative luminance".
    fn luminance(self) -> f64 {
        let [red, green, blue] = self.0.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.040_45 {
                part / 12.92
            } else {
                ((part + 0.055) / 1.055).powf(2.4)
            }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

impl FromStr for Colour {
    type Err = InvalidColour;

    fn from_str(text: &str) -> Result<Self, InvalidColour> {
        let digits = text.strip_prefix('#').ok_or(InvalidColour)?;
        let mut parts = [0; 3];
        base16ct::mixed::decode(digits, &mut parts)
            .ok()
            .filter(|decoded| decoded.len() == 3)
            .ok_or(InvalidColour)?;
        Ok(Self(parts))
    }
}

impl TryFrom<String> for Colour {
    type Error = InvalidColour;

    fn try_from(text: String) -> Result<Self, InvalidColour> {
        text.parse()
    }
}

impl From<Colour> for String {
    fn from(colour: Colour) -> Self {
        colour.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_is_six_digits_behind_a_hash() {
        assert_eq!("#1F4fd8".parse(), Ok(Colour::rgb(0x1F, 0x4F, 0xD8)));
        assert_eq!(Colour::rgb(0x1F, 0x4F, 0xD8).to_string(), "#1f4fd8");
        for text in [
            "",
            "#",
            "1f4fd8",
            "#1f4fd",
            "#1f4fd8a",
            "#1f4fd8ff",
            "#fff",
            "red",
            "#1f4fg8",
            "url(x)",
            "#1f4fd8;",
        ] {
            assert_eq!(text.parse::<Colour>(), Err(InvalidColour), "{text}");
        }
    }

    #[test]
    fn contrast_is_what_wcag_says() {
        assert!((Colour::BLACK.contrast(Colour::WHITE) - 21.0).abs() < 1e-9);
        assert!((Colour::WHITE.contrast(Colour::WHITE) - 1.0).abs() < 1e-9);
        // #777 on white is known as the grey that just fails.
        let grey = Colour::rgb(0x77, 0x77, 0x77).contrast(Colour::WHITE);
        assert!((4.47..4.49).contains(&grey), "{grey}");
    }

    #[test]
    fn on_every_colour_text_can_be_read() {
        for red in (0..=255).step_by(15) {
            for green in (0..=255).step_by(15) {
                for blue in (0..=255).step_by(15) {
                    let ground = Colour::rgb(red, green, blue);
                    assert!(ground.contrast(ground.ink()) >= READABLE, "{ground}");
                    let accent = Colour::rgb(blue, red, green).readable_on(ground);
                    assert!(accent.contrast(ground) >= READABLE, "{accent} on {ground}");
                }
            }
        }
    }
}
