//! The style of a page: the service's own style, in the colours of a theme.

use std::fmt::Write as _;

use domain::experience::{Colour, Corners, Font, Scheme, Theme};

/// The part that is the same on every page.
const STYLE: &str = include_str!("../../../../templates/page.css");

const ACCENT: Colour = Colour::rgb(0x1F, 0x4F, 0xD8);
const PAPER: Colour = Colour::rgb(0xFC, 0xFC, 0xFD);
const PAPER_DARK: Colour = Colour::rgb(0x12, 0x13, 0x17);
const GOOD: Colour = Colour::rgb(0x13, 0x7A, 0x48);
const CAUTION: Colour = Colour::rgb(0xB4, 0x3A, 0x12);

/// The style of a page of this theme.
pub(super) fn css(theme: &Theme) -> String {
    let light = theme.background.unwrap_or(PAPER);
    let dark = theme.background_dark.unwrap_or(PAPER_DARK);
    let mut css = match theme.scheme {
        Scheme::Auto => format!(
            ":root{{{}}}@media(prefers-color-scheme:dark){{:root{{{}}}}}",
            colours(theme, light),
            colours(theme, dark),
        ),
        Scheme::Light => format!(":root{{{}}}", colours(theme, light)),
        Scheme::Dark => format!(":root{{{}}}", colours(theme, dark)),
    };
    let font = match theme.font {
        Font::System => "system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif",
        Font::Serif => {
            "ui-serif,\"Iowan Old Style\",Charter,Georgia,\"Noto Serif\",\"DejaVu Serif\",serif"
        }
        Font::Rounded => "ui-rounded,\"SF Pro Rounded\",Nunito,Quicksand,system-ui,sans-serif",
        Font::Mono => "ui-monospace,\"SF Mono\",\"Cascadia Mono\",\"DejaVu Sans Mono\",monospace",
    };
    let (card, control) = match theme.corners {
        Corners::Soft => (16, 12),
        Corners::Round => (28, 26),
        Corners::Square => (0, 0),
    };
    // Writing to a String does not fail.
    let _ = write!(
        css,
        ":root{{--font:{font};--card:{card}px;--control:{control}px}}"
    );
    css + STYLE
}

/// The colour of the browser's own frame around a page, light and dark.
pub(super) fn frame(theme: &Theme) -> (Colour, Colour) {
    let light = theme.background.unwrap_or(PAPER);
    let dark = theme.background_dark.unwrap_or(PAPER_DARK);
    match theme.scheme {
        Scheme::Auto => (light, dark),
        Scheme::Light => (light, light),
        Scheme::Dark => (dark, dark),
    }
}

/// The colours on one ground, each derived so that it is readable there.
fn colours(theme: &Theme, paper: Colour) -> String {
    let dark = paper.is_dark();
    let contrast = paper.ink();
    let raised = if dark {
        paper.mixed(Colour::WHITE, 6)
    } else {
        paper.mixed(Colour::WHITE, 70)
    };
    let ink = contrast.mixed(paper, 9);
    let soft = contrast
        .mixed(paper, 42)
        .readable_on(raised)
        .readable_on(paper);
    let accent = theme.accent.unwrap_or(if dark {
        ACCENT.mixed(Colour::WHITE, 42)
    } else {
        ACCENT
    });
    // A filled element must also stand out from its ground; on a dark ground that takes more
    // contrast.
    let least_contrast = if dark { 3.0 } else { 1.5 };
    let shades = (0..=100).step_by(4);
    let mut shades = shades.map(|percent| accent.mixed(contrast, percent));
    let fill = shades.find(|shade| shade.contrast(paper) >= least_contrast);
    let fill = fill.unwrap_or(contrast);
    let text = accent.readable_on(raised).readable_on(paper);
    let good = GOOD.readable_on(raised).readable_on(paper);
    let caution = CAUTION.readable_on(raised).readable_on(paper);
    let scheme = if dark { "dark" } else { "light" };
    let mut css = format!("color-scheme:{scheme}");
    for (name, colour) in [
        ("paper", paper),
        ("raised", raised),
        ("ink", ink),
        ("soft", soft),
        ("line", paper.mixed(contrast, 12)),
        ("edge", paper.mixed(contrast, 48)),
        ("fill", fill),
        ("on-fill", fill.ink()),
        ("link", text),
        ("good", good),
        ("good-soft", paper.mixed(good, 12)),
        ("caution", caution),
        ("caution-soft", paper.mixed(caution, 12)),
    ] {
        let _ = write!(css, ";--{name}:{colour}");
    }
    css
}
