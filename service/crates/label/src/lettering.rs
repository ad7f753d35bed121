//! Lines of text in any script: shaped, in both directions, each character in a font that has it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use cosmic_text::fontdb::{Database, ID, Source};
use cosmic_text::skrifa::instance::{LocationRef, Size};
use cosmic_text::skrifa::outline::{DrawSettings, OutlinePen};
use cosmic_text::skrifa::{FontRef, GlyphId, MetadataProvider as _};
use cosmic_text::{Attrs, Buffer, Family, Font, FontSystem, Metrics, Shaping, Weight};

/// The font of labels: it has the scripts of Europe and the Near East, and many symbols. For other
/// scripts there are the fonts of the system.
const FONT: &[u8] = include_bytes!("../fonts/DejaVuSans.ttf");
const FAMILY: &str = "DejaVu Sans";
/// Size at which text is shaped. Widths are proportional to it.
const SHAPED_AT: f32 = 64.0;
/// The end of a text that is cut.
const ELLIPSIS: char = '…';

/// Sets lines of text.
pub struct Lettering {
    system: FontSystem,
    has_system_fonts: bool,
    /// Characters of texts that were found in fonts.
    known: HashSet<char>,
    /// Number of characters that were set, for tests of the effort.
    #[cfg(test)]
    pub(crate) shaped: usize,
}

/// A line of text. Lengths are in sizes of its font.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) glyphs: Vec<Glyph>,
    pub(crate) width: f32,
    /// Whether it is read from right to left.
    pub(crate) rtl: bool,
}

/// A glyph of a line.
#[derive(Clone, Debug)]
pub(crate) struct Glyph {
    pub(crate) font: ID,
    pub(crate) id: u16,
    /// Distance from the beginning of the line.
    pub(crate) x: f32,
    pub(crate) advance: f32,
    /// Offset to the right and upwards.
    pub(crate) offset: [f32; 2],
    /// Its characters, in bytes of the line's text.
    pub(crate) range: Range<usize>,
}

impl Default for Lettering {
    fn default() -> Self {
        let mut fonts = Database::new();
        fonts.load_font_source(Source::Binary(Arc::new(FONT)));
        Self {
            system: FontSystem::new_with_locale_and_db("en-US".to_owned(), fonts),
            has_system_fonts: false,
            known: HashSet::new(),
            #[cfg(test)]
            shaped: 0,
        }
    }
}

impl fmt::Debug for Lettering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lettering").finish_non_exhaustive()
    }
}

impl Lettering {
    /// The characters of a text that no font here can draw. Reads the fonts of the system if the
    /// first font lacks one.
    pub fn missing(&mut self, text: &str) -> BTreeSet<char> {
        if text.chars().all(|c| self.known.contains(&c)) {
            return BTreeSet::new();
        }
        let mut missing = self.undrawn(text);
        if !missing.is_empty() && !self.has_system_fonts {
            self.system.db_mut().load_system_fonts();
            self.has_system_fonts = true;
            missing = self.undrawn(text);
        }
        if missing.is_empty() {
            self.known.extend(text.chars());
        }
        missing
    }

    fn undrawn(&mut self, text: &str) -> BTreeSet<char> {
        let line = self.shape(text);
        // A cluster is drawn if one of its glyphs has an outline: not a bitmap, which paper shows as
        // a blur, and not the box for an unknown character.
        let mut clusters = BTreeMap::<usize, (usize, bool)>::new();
        for glyph in &line.glyphs {
            let mut pen = Drawn::default();
            if glyph.id != 0 {
                self.outline(glyph, 1.0, &mut pen);
            }
            let cluster = clusters.entry(glyph.range.start);
            let (end, drawn) = cluster.or_insert((glyph.range.end, false));
            *end = glyph.range.end.max(*end);
            *drawn |= pen.0;
        }
        let undrawn = clusters.into_iter().filter(|(_, (_, drawn))| !drawn);
        let characters =
            undrawn.flat_map(|(start, (end, _))| line.text.get(start..end).unwrap_or("").chars());
        characters.filter(|c| !is_blank(*c)).collect()
    }

    /// Sets a text in one line.
    pub(crate) fn shape(&mut self, text: &str) -> Line {
        #[cfg(test)]
        {
            self.shaped += text.chars().count();
        }
        let text = text.replace(char::is_control, " ");
        let mut buffer = Buffer::new_empty(Metrics::new(SHAPED_AT, SHAPED_AT));
        let attrs = Attrs::new().family(Family::Name(FAMILY));
        buffer.set_text(&text, &attrs, Shaping::Advanced, None);
        buffer.shape_until_scroll(&mut self.system, false);
        let mut line = Line {
            glyphs: Vec::new(),
            width: 0.0,
            rtl: false,
            text,
        };
        // A paragraph separator in the text would begin another line, which is left out.
        if let Some(run) = buffer.layout_runs().next() {
            line.width = run.line_w / SHAPED_AT;
            line.rtl = run.rtl;
            line.glyphs = run.glyphs.iter().map(glyph).collect();
        }
        line
    }

    /// Sets a text that is at most `width` wide: a longer one is cut.
    pub(crate) fn shape_within(&mut self, text: &str, width: f32) -> Line {
        let whole = self.shape(text);
        if whole.width <= width {
            return whole;
        }
        let ends: Vec<_> = text.char_indices().map(|(at, _)| at).collect();
        let cut = |end: usize| format!("{}{ELLIPSIS}", text[..end].trim_end());
        let fits = ends.partition_point(|end| self.shape(&cut(*end)).width <= width);
        self.shape(&cut(ends.get(fits.saturating_sub(1)).copied().unwrap_or(0)))
    }

    /// Draws the outline of a glyph in this size, with its origin at 0 and upwards.
    pub(crate) fn outline(&mut self, glyph: &Glyph, size: f32, pen: &mut impl OutlinePen) {
        let Some((font, index)) = self.font(glyph.font) else {
            return;
        };
        let Ok(font) = FontRef::from_index(font.data(), index) else {
            return;
        };
        let Some(outline) = font.outline_glyphs().get(GlyphId::from(glyph.id)) else {
            return;
        };
        let settings = DrawSettings::unhinted(Size::new(size), LocationRef::default());
        // A damaged glyph stays empty, and is then a missing one.
        let _ = outline.draw(settings, pen);
    }

    /// A font, and its index in its file.
    pub(crate) fn font(&mut self, id: ID) -> Option<(Arc<Font>, u32)> {
        let index = self.system.db().face(id)?.index;
        Some((self.system.get_font(id, Weight::NORMAL)?, index))
    }
}

fn glyph(glyph: &cosmic_text::LayoutGlyph) -> Glyph {
    Glyph {
        font: glyph.font_id,
        id: glyph.glyph_id,
        x: glyph.x / SHAPED_AT,
        advance: glyph.w / SHAPED_AT,
        offset: [glyph.x_offset, glyph.y_offset],
        range: glyph.start..glyph.end,
    }
}

/// Whether a character has no shape of its own: spaces, joiners, marks of direction and variation.
fn is_blank(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0100}'..='\u{e01ef}')
}

/// Whether anything was drawn.
#[derive(Default)]
struct Drawn(bool);

impl OutlinePen for Drawn {
    fn move_to(&mut self, _: f32, _: f32) {}

    fn line_to(&mut self, _: f32, _: f32) {
        self.0 = true;
    }

    fn quad_to(&mut self, _: f32, _: f32, _: f32, _: f32) {
        self.0 = true;
    }

    fn curve_to(&mut self, _: f32, _: f32, _: f32, _: f32, _: f32, _: f32) {
        self.0 = true;
    }

    fn close(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_font_has_the_scripts_of_europe_and_the_near_east() {
        let mut lettering = Lettering {
            has_system_fonts: true,
            ..Lettering::default()
        };
        for text in [
            "Grüße, naïve œuvre",
            "Ελληνικά",
            "Здравствуйте",
            "שלום",
            "مرحبا",
            "Tiếng Việt",
            "№ 5 · 12 €",
            "a\u{200d}b\u{fe0f}",
        ] {
            assert_eq!(lettering.missing(text), BTreeSet::new(), "{text}");
        }
        assert_eq!(
            lettering.missing("Wein \u{10FFFD} ab"),
            BTreeSet::from(['\u{10FFFD}'])
        );
    }

    #[test]
    fn a_long_text_is_cut() {
        let mut lettering = Lettering::default();
        let long = "Grand Cru 2021, Lage Nummer 14, Flasche 2077";
        let whole = lettering.shape_within(long, 100.0);
        assert_eq!(whole.text, long);
        let cut = lettering.shape_within(long, 10.0);
        assert!(cut.width <= 10.0 && cut.width > 8.0, "{}", cut.width);
        assert!(
            cut.text.ends_with('…') && cut.text.len() > 10,
            "{}",
            cut.text
        );
    }

    #[test]
    fn a_text_of_the_other_direction_is_set_from_the_right() {
        let mut lettering = Lettering::default();
        let line = lettering.shape("مرحبا");
        assert!(line.rtl);
        let first = line.glyphs.iter().find(|glyph| glyph.range.start == 0);
        assert!(first.unwrap().x > line.width / 2.0);
        for glyph in &line.glyphs {
            assert!(glyph.x >= -0.01 && glyph.x + glyph.advance <= line.width + 0.01);
        }
    }
}
