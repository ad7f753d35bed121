//! Tables of other services, and the meaning of their columns.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::csv::Column;
use crate::error::Common;

/// The known tables, in the order of the user interface.
static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| {
    let file = include_str!("../../../../../data/import-presets.json");
    serde_json::from_str(file).expect("the presets are well-formed")
});

/// The columns of another service's table.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ImportPreset)]
pub(crate) struct Preset {
    /// Name of the preset, for the parameter `preset`.
    pub(super) name: String,
    /// Name of the service.
    title: String,
    /// The table of the service that this preset is for.
    about: String,
    /// The public document that lists the columns, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// The known columns of the table.
    columns: Vec<Known>,
    /// Columns with a fixed value that every row gets.
    #[serde(default)]
    pub(super) fixed: BTreeMap<String, String>,
    /// Columns that Tapdesk cannot keep, which a person must know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    lost: Option<Lost>,
    /// How to treat other columns. Columns of Tapdesk's own tables are always imported.
    others: Others,
}

/// A column of another service.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ImportColumn)]
struct Known {
    /// Possible titles of the column. They are compared without case, blanks, hyphens and
    /// underscores between words.
    theirs: Vec<String>,
    /// The column of Tapdesk's tables.
    ours: String,
    /// Whether the meaning is a guess, because no public document of the service contains these
    /// titles.
    #[serde(default)]
    guessed: bool,
}

/// Columns that Tapdesk cannot keep.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = LostColumns)]
struct Lost {
    /// Titles of the columns.
    theirs: Vec<String>,
    /// The consequence for people; `{columns}` stands for the titles.
    words: String,
}

/// How to treat an unknown column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = OtherColumns)]
enum Others {
    /// The table is refused.
    Refuse,
    /// The column is ignored, and the result lists it.
    Ignore,
}

/// The presets of an import.
#[derive(Serialize, ToSchema)]
pub(crate) struct ImportPresets {
    items: &'static [Preset],
}

/// List import presets
///
/// Lists tables of other services, and the meaning of their columns in Tapdesk.
#[utoipa::path(
    get, path = "/tags/import/presets", tag = "tags",
    responses((status = OK, body = ImportPresets), Common)
)]
pub(crate) async fn import_presets() -> Json<ImportPresets> {
    Json(ImportPresets { items: &PRESETS })
}

/// The preset with this name. The error is a sentence for people.
pub(super) fn named(name: &str) -> Result<&'static Preset, String> {
    let found = PRESETS.iter().find(|preset| preset.name == name);
    found.ok_or_else(|| {
        let names: Vec<_> = PRESETS.iter().map(|preset| preset.name.as_str()).collect();
        format!(
            "There is no preset \"{name}\". There are {}.",
            names.join(", ")
        )
    })
}

/// Values for every row with a `uid` that has none of its own. They come from the URL template that
/// the caller chose.
pub(super) type OfInlays = Vec<(&'static str, String)>;

impl Preset {
    /// Tapdesk's column with the meaning of `heading`; `None` if the preset does not contain it.
    pub(super) fn column(&self, heading: &str) -> Option<Column> {
        self.known(heading)
            .and_then(|known| Column::parse(&known.ours))
    }

    fn known(&self, heading: &str) -> Option<&Known> {
        let is_it = |theirs: &String| plain(theirs).eq(plain(heading));
        let mut known = self.columns.iter();
        known.find(|known| known.theirs.iter().any(is_it))
    }

    /// Whether an unknown column makes the file invalid.
    pub(super) fn refuses_others(&self) -> bool {
        self.others == Others::Refuse
    }

    /// Whether Tapdesk cannot keep the content of a column with this heading.
    pub(super) fn loses(&self, heading: &str) -> bool {
        let mut lost = self.lost.iter().flat_map(|lost| &lost.theirs);
        lost.any(|theirs| plain(theirs).eq(plain(heading)))
    }

    /// Explains the loss of columns with these headings, for people.
    pub(super) fn loss(&self, headings: &[&str]) -> Option<String> {
        let lost = self.lost.as_ref().filter(|_| !headings.is_empty())?;
        Some(lost.words.replace("{columns}", &headings.join(", ")))
    }

    /// The likely meaning of each column of a table, for a person to confirm: the name of Tapdesk's
    /// column, and whether it is a guess. No two columns get the same meaning.
    pub(super) fn suggest(&self, header: &[String]) -> Vec<Option<(String, bool)>> {
        let mut taken = Vec::new();
        let suggested = header.iter().map(|heading| {
            let theirs = self.known(heading);
            let theirs = theirs.map(|known| (known.ours.clone(), known.guessed));
            let found = theirs.or_else(|| {
                let own = |name: String| Column::parse(&name).map(|_| (name, false));
                let spelt = || plain(heading).collect::<Vec<_>>().join("_");
                let others = || self.refuses_others().then(spelt).and_then(own);
                own(heading.clone()).or_else(others)
            })?;
            if taken.contains(&found.0) {
                return None;
            }
            taken.push(found.0.clone());
            Some(found)
        });
        suggested.collect()
    }
}

/// Normalizes a title for comparison.
fn plain(title: &str) -> impl Iterator<Item = String> {
    let words = title.split(|c: char| c.is_whitespace() || matches!(c, '-' | '_'));
    words
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_of_a_preset_is_one_of_ours() {
        for preset in PRESETS.iter() {
            let ours = preset.columns.iter().map(|known| &known.ours);
            for ours in ours.chain(preset.fixed.keys()) {
                assert!(Column::parse(ours).is_some(), "{ours}");
            }
        }
    }

    #[test]
    fn what_no_document_states_is_marked_as_a_guess() {
        for preset in PRESETS.iter().filter(|preset| preset.source.is_none()) {
            let guessed = preset.columns.iter().all(|known| known.guessed);
            assert!(guessed || preset.name == "csv", "{}", preset.name);
        }
    }

    #[test]
    fn no_title_of_a_preset_means_two_things() {
        for preset in PRESETS.iter() {
            let mut seen: Vec<Vec<String>> = Vec::new();
            for title in preset.columns.iter().flat_map(|known| &known.theirs) {
                let title: Vec<_> = plain(title).collect();
                assert!(!seen.contains(&title), "{}: {title:?}", preset.name);
                seen.push(title);
            }
        }
    }

    #[test]
    fn the_likely_meaning_of_a_column_is_suggested() {
        let suggested = |preset: &str, header: &[&str]| {
            let header: Vec<_> = header.iter().map(ToString::to_string).collect();
            let suggested = named(preset).unwrap().suggest(&header).into_iter();
            let named = suggested.map(Option::unwrap_or_default);
            named.collect::<Vec<_>>()
        };
        let (sure, guess) = (
            |name: &str| (name.to_owned(), false),
            |name: &str| (name.to_owned(), true),
        );
        let none = || (String::new(), false);
        assert_eq!(
            suggested("ixkio", &["UID", "Tag UID", "Batch", "STATUS", "title"]),
            [
                sure("uid"),
                none(),
                guess("attribute:batch"),
                none(),
                sure("title")
            ]
        );
        assert_eq!(
            suggested(
                "csv",
                &[
                    "Label",
                    "Language code",
                    "colour",
                    "variable:owner",
                    "experience_id"
                ]
            ),
            [
                sure("name"),
                sure("language_code"),
                none(),
                sure("variable:owner"),
                sure("experience_id")
            ]
        );
        assert!(named("nobody").unwrap_err().contains("ixkio"));
    }
}
