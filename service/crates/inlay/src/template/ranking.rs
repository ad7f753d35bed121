//! The templates to which a URL may belong, in the order in which they are asked.
//!
//! Several templates can have one address: `/tag?picc_data={picc}&cmac={mac}`, and the same with
//! `enc`. A URL of the second also has the parameters of the first, so the template that uses more
//! of the URL is asked first.

use std::cmp::Reverse;

use super::syntax::Piece;
use super::{Addressed, Decoded, Field, Template};

/// Most templates that one URL is tried with. Each can cost the lookup of an inlay and a MAC, and
/// no known service has more forms of one address whose parameters can stand in one URL.
pub const ASKED_MAX: usize = 4;

/// How well a request fits a template; the greatest is asked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    /// Whether the request has all values that the chip writes.
    is_complete: bool,
    /// How many values of the chip it uses; 1 for a malformed code.
    filled: usize,
    /// How much of the address is literal.
    literal: usize,
}

/// The templates that match a request, with its values: the one to ask first comes first, and at
/// most [`ASKED_MAX`] are kept. The `T` beside each template is returned in its place.
pub fn ranked<'t, T>(
    templates: impl IntoIterator<Item = (T, &'t Template)>,
    sent: &Decoded<'_>,
) -> Vec<(T, Addressed)> {
    let matched = templates.into_iter().filter_map(|(given, template)| {
        let addressed = template.read_decoded(sent)?;
        Some((given, template, addressed))
    });
    let mut matched: Vec<_> = matched.collect();
    if matched.len() > 1 {
        matched.sort_by_key(|(_, template, addressed)| Reverse(template.fit(addressed)));
        matched.truncate(ASKED_MAX);
    }
    let found = matched.into_iter();
    found
        .map(|(given, _, addressed)| (given, addressed))
        .collect()
}

impl Template {
    fn fit(&self, addressed: &Addressed) -> Fit {
        let (filled, literal) = self.rank();
        let filled = match &addressed.code {
            Ok(Some(_)) => filled,
            Ok(None) => 0,
            Err(_) => 1,
        };
        Fit {
            is_complete: addressed.is_complete(),
            filled,
            literal,
        }
    }

    /// How many values the chip writes, and how many bytes of the address are literal. Of two
    /// templates that a URL fills, the one with the greater rank is asked first.
    pub(super) fn rank(&self) -> (usize, usize) {
        let fields = Field::ALL.into_iter();
        let filled = fields.filter(|field| field.is_of_code() && self.has(*field));
        let address = self.parts.path.iter().chain([&self.parts.host]).flatten();
        let literal = address.map(|piece| match piece {
            Piece::Text(text) => text.len(),
            Piece::Field(_) => 0,
        });
        (filled.count(), literal.sum())
    }
}
