//! One label: the places of its code and its text, in millimetres.

/// Free edge of a label, in millimetres: printers and cutters are off by up to one.
const EDGE_MM: f64 = 1.0;
/// Distance between code and text, in millimetres. The code has a quiet zone besides.
const GAP_MM: f64 = 0.5;
/// Narrowest column of text, in millimetres: about eight letters.
const TEXT_WIDTH_MIN_MM: f64 = 10.0;
/// Height of a line of text by its size.
pub(crate) const LINE_HEIGHT: f64 = 1.25;
/// Smallest size of text, in millimetres: 5 points, the smallest that people read.
pub(crate) const TEXT_MIN_MM: f64 = 1.8;
/// Largest size of text, in millimetres: 11 points.
pub(crate) const TEXT_MAX_MM: f64 = 3.9;
/// Light modules around a code on each side: ISO/IEC 18004 requires four.
pub(crate) const QUIET_MODULES: u32 = 4;
/// Smallest side of a module, in millimetres: 4 dots at 300 dpi, which phones read from 10 cm.
pub(crate) const MODULE_MIN_MM: f64 = 0.33;
/// Step of the smallest size that a message names, in millimetres.
const STEP_MM: f64 = 0.5;
/// Longest side of a label, in millimetres: A4 and Letter fit.
pub(crate) const SIDE_MAX_MM: f64 = 300.0;
/// Tolerance of comparisons, in millimetres.
const TOLERANCE_MM: f64 = 1e-6;

/// A rectangle on a label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) at_mm: [f64; 2],
    pub(crate) size_mm: [f64; 2],
}

/// The places on a label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Face {
    /// Place of the upper left module of the code, without its quiet zone.
    pub(crate) code_at_mm: [f64; 2],
    /// Side of a module.
    pub(crate) module_mm: f64,
    /// Place of the text, if there is any.
    pub(crate) text: Option<Area>,
    /// Whether the text is below the code instead of next to it.
    pub(crate) below: bool,
}

/// The places on a label whose code has `modules` on a side; `None` if its modules would be smaller
/// than [`MODULE_MIN_MM`]. With `dot_mm`, the side of a printer's dot, modules are whole dots.
pub(crate) fn face(
    label_mm: [f64; 2],
    lines: usize,
    modules: u32,
    dot_mm: Option<f64>,
) -> Option<Face> {
    let inner = label_mm.map(|side| side - 2.0 * EDGE_MM);
    let lines = f64::from(u32::try_from(lines).unwrap_or(u32::MAX));
    let text_height = lines * TEXT_MIN_MM * LINE_HEIGHT;
    let (side, below) = if lines == 0.0 {
        (inner[0].min(inner[1]), true)
    } else {
        let beside = inner[1].min(inner[0] - GAP_MM - TEXT_WIDTH_MIN_MM);
        let beside = if text_height > inner[1] { 0.0 } else { beside };
        let below = if inner[0] < TEXT_WIDTH_MIN_MM {
            0.0
        } else {
            inner[0].min(inner[1] - GAP_MM - text_height)
        };
        (beside.max(below), below > beside)
    };
    let all_modules = f64::from(modules + 2 * QUIET_MODULES);
    let mut module_mm = side / all_modules;
    if let Some(dot_mm) = dot_mm {
        module_mm = (module_mm / dot_mm + TOLERANCE_MM).floor() * dot_mm;
    }
    if module_mm + TOLERANCE_MM < MODULE_MIN_MM {
        return None;
    }
    let side = module_mm * all_modules;
    let free = [inner[0] - side, inner[1] - side];
    let (square, text) = if lines == 0.0 {
        ([EDGE_MM + free[0] / 2.0, EDGE_MM + free[1] / 2.0], None)
    } else if below {
        // Code and text are a block in the middle: text is at most as high as it wants to be.
        let height = (free[1] - GAP_MM).min(lines * TEXT_MAX_MM * LINE_HEIGHT);
        let top = EDGE_MM + (free[1] - GAP_MM - height) / 2.0;
        let text = Area {
            at_mm: [EDGE_MM, top + side + GAP_MM],
            size_mm: [inner[0], height],
        };
        ([EDGE_MM + free[0] / 2.0, top], Some(text))
    } else {
        let text = Area {
            at_mm: [EDGE_MM + side + GAP_MM, EDGE_MM],
            size_mm: [free[0] - GAP_MM, inner[1]],
        };
        ([EDGE_MM, EDGE_MM + free[1] / 2.0], Some(text))
    };
    let quiet = f64::from(QUIET_MODULES) * module_mm;
    let mut code_at_mm = square.map(|at| at + quiet);
    if let Some(dot_mm) = dot_mm {
        code_at_mm = code_at_mm.map(|at| (at / dot_mm).floor() * dot_mm);
    }
    Some(Face {
        code_at_mm,
        module_mm,
        text,
        below,
    })
}

/// The smallest label of about the same proportions that has room for the code; `None` if none of
/// at most [`SIDE_MAX_MM`] has.
pub(crate) fn smallest(
    label_mm: [f64; 2],
    lines: usize,
    modules: u32,
    dot_mm: Option<f64>,
) -> Option<[f64; 2]> {
    let short = label_mm[0].min(label_mm[1]).max(0.1);
    // A label that is far longer than wide has no use for more length.
    let ratio = label_mm.map(|side| (side / short).clamp(1.0, 10.0));
    let sizes =
        (2u32..).map(|steps| ratio.map(|ratio| (f64::from(steps) * ratio).ceil() * STEP_MM));
    let mut sizes = sizes.take_while(|size| size.iter().all(|side| *side <= SIDE_MAX_MM));
    sizes.find(|size| face(*size, lines, modules, dot_mm).is_some())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn dots() -> impl Strategy<Value = Option<f64>> {
        prop_oneof![Just(None), Just(Some(0.125)), Just(Some(25.4 / 300.0))]
    }

    proptest! {
        #[test]
        fn code_and_text_are_apart_and_within_the_label(
            w in 1.0f64..200.0, h in 1.0f64..200.0, lines in 0usize..8, version in 1u32..20, dot in dots(),
        ) {
            let modules = 17 + 4 * version;
            let Some(face) = face([w, h], lines, modules, dot) else { return Ok(()) };
            let quiet = f64::from(QUIET_MODULES) * face.module_mm;
            let side = face.module_mm * f64::from(modules) + 2.0 * quiet;
            // The place of a code is a whole number of dots.
            let slack = dot.unwrap_or(0.0) + TOLERANCE_MM;
            let square = face.code_at_mm.map(|at| at - quiet);
            for (at, label) in square.iter().zip([w, h]) {
                prop_assert!(*at >= EDGE_MM - slack && at + side <= label - EDGE_MM + slack);
            }
            prop_assert!(face.module_mm >= MODULE_MIN_MM - 2.0 * TOLERANCE_MM);
            prop_assert_eq!(face.text.is_some(), lines > 0);
            if let Some(text) = face.text {
                for (number, label) in [w, h].into_iter().enumerate() {
                    prop_assert!(text.at_mm[number] >= EDGE_MM - slack);
                    prop_assert!(text.at_mm[number] + text.size_mm[number] <= label - EDGE_MM + slack);
                }
                prop_assert!(text.size_mm[1] + slack >= TEXT_MIN_MM * LINE_HEIGHT * f64::from(u32::try_from(lines).unwrap()));
                prop_assert!(text.size_mm[0] + slack >= TEXT_WIDTH_MIN_MM);
                let axis = usize::from(face.below);
                prop_assert!(text.at_mm[axis] + slack >= square[axis] + side);
            }
        }

        #[test]
        fn the_smallest_label_is_the_smallest(
            w in 1.0f64..100.0, h in 1.0f64..100.0, lines in 0usize..5, version in 1u32..12, dot in dots(),
        ) {
            let modules = 17 + 4 * version;
            let found = smallest([w, h], lines, modules, dot).unwrap();
            prop_assert!(face(found, lines, modules, dot).is_some());
            let short = found[0].min(found[1]) - STEP_MM;
            let scale = short / found[0].min(found[1]);
            let smaller = found.map(|side| (side * scale - STEP_MM).max(0.1));
            prop_assert!(face(smaller, lines, modules, dot).is_none());
        }
    }
}
