//! The moves of the published forms of URLs. The tests of the screens make the same ones in
//! Chromium; the codes are those of their chip in software, and published ones.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A move from one service.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Move {
    pub(super) name: String,
    /// The former service, by its title on the screen.
    pub(super) service: String,
    /// The host of all URLs.
    pub(super) host: String,
    pub(super) reels: Vec<Reel>,
    /// The taps at the old address after the move, in their order.
    pub(super) taps: Vec<Tap>,
}

/// Chips of one form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reel {
    pub(super) name: String,
    /// Paths with queries, which are pasted with the host.
    pub(super) urls: Vec<String>,
    #[serde(default)]
    pub(super) keys: Vec<String>,
    #[serde(default)]
    pub(super) master_keys: Vec<String>,
    /// The format to choose; none if the wizard proves a single one.
    pub(super) format: Option<Format>,
    /// The lines of the table, headings first; empty if the owner has none.
    #[serde(default)]
    pub(super) table: Vec<String>,
    /// The meanings of columns that a person chooses, by their headings.
    #[serde(default)]
    pub(super) meanings: BTreeMap<String, String>,
    /// The answer to the question how the counters are written.
    pub(super) counter: Option<String>,
    /// Whether a person has to allow the factory key as the key that all chips share.
    #[serde(default)]
    pub(super) shared_factory_key: bool,
    /// Whether a person has to allow factory keys in the table.
    #[serde(default)]
    pub(super) factory_keys: bool,
    /// The choice for chips that no table lists, if it is changed.
    pub(super) unlisted: Option<String>,
}

/// A format among several.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Format {
    pub(super) template: String,
    /// The chip, as the screen names it.
    pub(super) chip: String,
}

/// A tap, and the members of its record.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tap {
    pub(super) path: String,
    pub(super) verified: Option<bool>,
    pub(super) reason: String,
    pub(super) tamper: Option<String>,
}

/// All moves of published forms.
pub(super) fn moves() -> Vec<Move> {
    let file = include_str!("../../../vectors/moves.json");
    serde_json::from_str(file).expect("the vectors are moves")
}
