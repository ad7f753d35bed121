//! QR codes as bars of dark modules. Each format draws the bars of a code as one path, so that
//! viewers that smooth edges leave no gaps between them.

use qrcode::types::QrError;
use qrcode::{Color, EcLevel, QrCode};
use serde::Deserialize;
use utoipa::ToSchema;

/// The part of a code that can be lost: about 7, 15, 25 and 30 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[schema(as = LabelErrorLevel)]
pub enum Level {
    /// About 7 %.
    L,
    /// About 15 %.
    M,
    /// About 25 %.
    Q,
    /// About 30 %.
    H,
}

impl From<Level> for EcLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::L => Self::L,
            Level::M => Self::M,
            Level::Q => Self::Q,
            Level::H => Self::H,
        }
    }
}

/// The text does not fit into a QR code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("This URL is too long for a QR code. Use a shorter address, or a lower error level.")]
pub struct CodeError;

impl From<QrError> for CodeError {
    fn from(_: QrError) -> Self {
        Self
    }
}

/// Number of modules on a side of the code for `text`, without its quiet zone.
pub fn modules_of(text: &str, level: Level) -> Result<u32, CodeError> {
    let bits = qrcode::bits::encode_auto(text.as_bytes(), level.into())?;
    Ok(bits.version().width().unsigned_abs().into())
}

/// Dark modules side by side in a row. Lengths are in modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    /// Distance from the left edge.
    pub x: u32,
    /// Distance from the upper edge.
    pub y: u32,
    /// How many modules are dark, from `x` to the right.
    pub width: u32,
}

/// The modules of a QR code, as areas that a format can fill.
#[derive(Clone, Debug)]
pub struct Code {
    /// Number of modules on a side, without the quiet zone.
    pub modules: u32,
    /// The dark areas, by rows from the top and from left to right.
    pub bars: Vec<Bar>,
}

impl Code {
    /// The code for `text`. A square of `free` modules in its middle stays light.
    pub fn new(text: &str, level: Level, free: u32) -> Result<Self, CodeError> {
        let code = QrCode::with_error_correction_level(text, level.into())?;
        let width = code.width();
        let modules = u32::try_from(width).map_err(|_| CodeError)?;
        let colours = code.into_colors();
        let from = (modules - free.min(modules)) / 2;
        let in_middle = |at: u32| (from..from + free).contains(&at);
        let dark = |x: u32, y: u32| {
            let at = y as usize * width + x as usize;
            colours[at] == Color::Dark && !(in_middle(x) && in_middle(y))
        };
        Ok(Self {
            modules,
            bars: bars(modules, dark),
        })
    }
}

/// The bars of the dark fields of a square.
fn bars(width: u32, dark: impl Fn(u32, u32) -> bool) -> Vec<Bar> {
    let mut bars: Vec<Bar> = Vec::new();
    for y in 0..width {
        for x in (0..width).filter(|x| dark(*x, y)) {
            match bars.last_mut() {
                Some(bar) if bar.y == y && bar.x + bar.width == x => bar.width += 1,
                _ => bars.push(Bar { x, y, width: 1 }),
            }
        }
    }
    bars
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bars_are_the_dark_fields(width in 1u32..12, seed in proptest::collection::vec(any::<bool>(), 144)) {
            let dark = |x: u32, y: u32| seed[(y * width + x) as usize];
            let found = bars(width, dark);
            for y in 0..width {
                for x in 0..width {
                    let covers = |bar: &&Bar| bar.y == y && (bar.x..bar.x + bar.width).contains(&x);
                    prop_assert_eq!(found.iter().filter(covers).count(), usize::from(dark(x, y)));
                }
            }
            for (one, next) in found.iter().zip(found.iter().skip(1)) {
                prop_assert!(one.y < next.y || one.x + one.width < next.x, "{:?} {:?}", one, next);
            }
        }
    }

    #[test]
    fn capitals_make_smaller_codes() {
        let url = "https://tags.example.com/t/k3v9qa81xz";
        let (plain, capitals) = (
            modules_of(url, Level::M).unwrap(),
            modules_of(&url.to_ascii_uppercase(), Level::M).unwrap(),
        );
        assert_eq!((plain, capitals), (29, 25));
        let code = Code::new(url, Level::M, 0).unwrap();
        assert_eq!(code.modules, plain);
        assert!(modules_of(&"x".repeat(4000), Level::L).is_err());
    }
}
