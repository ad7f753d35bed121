//! Tables of other services, and the meaning of their columns.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::chip::technology;
use super::column::{Column, TECHNOLOGY, URL, is_own_export};
use inlay::template::{Request, Template};
use inlay::{Technology, Uid};

/// The preset for lists that people wrote themselves.
const OWN_LISTS: &str = "csv";

/// The known tables, in the order of the user interface.
static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| {
    let file = include_str!("../../../../data/import-presets.json");
    serde_json::from_str(file).expect("the presets are well-formed")
});

/// The columns of another service's table. Those of Tapdesk's own tables are imported as well. Others
/// are ignored, and the result lists them.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ImportPreset)]
pub struct Preset {
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
    /// Columns with a value that rows get which have none. `technology` is for rows with a `uid`
    /// whose URL template does not define it.
    #[serde(default)]
    pub(super) fixed: BTreeMap<String, String>,
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
    /// The form of the cells, if it is another one than Tapdesk's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    form: Option<Form>,
    /// Whether the meaning is a guess, because no public document of the service contains these
    /// titles.
    #[serde(default)]
    guessed: bool,
}

/// The form of a cell in a table of another service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ImportForm)]
pub(super) enum Form {
    /// A URL that contains the slug: where the URL template has it, else as the last path segment
    /// that is no mirror of a chip.
    Url,
    /// The decimal id of an `mTAG` of Blue Bite. In the URL of its chip, the id is in base 36 after
    /// the letter `n`: 32403784 is `njaix4`.
    MtagId,
}

/// All presets, in the order of the user interface.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

/// The preset with this name. The error is a sentence for people.
pub fn named(name: &str) -> Result<&'static Preset, String> {
    let found = PRESETS.iter().find(|preset| preset.name == name);
    found.ok_or_else(|| {
        let names: Vec<_> = PRESETS.iter().map(|preset| preset.name.as_str()).collect();
        format!(
            "There is no preset \"{name}\". There are {}.",
            names.join(", ")
        )
    })
}

impl Preset {
    /// Tapdesk's column with the meaning of `heading`, and the form of its cells; `None` if neither
    /// the preset nor Tapdesk's own tables contain it.
    pub(super) fn column(&self, heading: &str) -> Option<(Column, Option<Form>)> {
        match self.known(heading) {
            Some(known) => Some((Column::parse(&known.ours)?, known.form)),
            None => Some((Column::parse(&self.own(heading)?)?, None)),
        }
    }

    /// The name of the column of Tapdesk's tables that `heading` spells. People spell it in any way.
    fn own(&self, heading: &str) -> Option<String> {
        let is_own = |name: &String| Column::parse(name).is_some();
        let spelt = || plain(heading).collect::<Vec<_>>().join("_");
        let exact = Some(heading.to_owned()).filter(is_own);
        exact.or_else(|| (self.name == OWN_LISTS).then(spelt).filter(is_own))
    }

    /// The chip of rows that do not name one.
    pub(super) fn technology(&self) -> Option<Technology> {
        let word = self.fixed.get(TECHNOLOGY)?;
        technology(word)
    }

    fn known(&self, heading: &str) -> Option<&Known> {
        let is_it = |theirs: &String| plain(theirs).eq(plain(heading));
        let mut known = self.columns.iter();
        known.find(|known| known.theirs.iter().any(is_it))
    }

    /// The likely meaning of each column of a table, for a person to confirm: the name of Tapdesk's
    /// column, and whether it is a guess. No two columns get the same meaning.
    pub(super) fn suggest(&self, header: &[String]) -> Vec<Option<(String, bool)>> {
        let mut taken = Vec::new();
        let own_export = is_own_export(header);
        let suggested = header.iter().map(|heading| {
            let theirs = self
                .known(heading)
                .filter(|_| !own_export || heading != URL);
            let theirs = theirs.map(|known| (known.ours.clone(), known.guessed));
            let found = theirs.or_else(|| Some((self.own(heading)?, false)))?;
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

impl Form {
    /// Converts a cell. `template` is the URL template of all rows. Text in another form stays as
    /// it is.
    pub(super) fn read(self, cell: &str, template: Option<&Template>) -> String {
        match self {
            Self::Url => {
                // Some lists leave the scheme out. No slug has a slash.
                let lacks_scheme = cell.contains('/') && !cell.contains("://");
                let scheme = if lacks_scheme { "https://" } else { "" };
                let url = format!("{scheme}{cell}");
                let slug = template.and_then(|template| slug_at(template, &url));
                slug.unwrap_or_else(|| url_end(&url).unwrap_or(cell).to_owned())
            }
            Self::MtagId => mtag(cell).unwrap_or_else(|| cell.to_owned()),
        }
    }
}

/// The slug of a URL of this template, empty if its URLs have none; `None` for another URL.
fn slug_at(template: &Template, cell: &str) -> Option<String> {
    let read = template.read(&Request::of_url(cell)?)?;
    Some(read.slug.unwrap_or_default())
}

/// The last path segment of a URL that is no mirror of a chip, without parameters that an app put
/// behind it. If all segments are mirrors, the last one.
fn url_end(cell: &str) -> Option<&str> {
    let (_, rest) = cell.split_once("://")?;
    let (_, path) = rest.split_once('/')?;
    let path = path.split(['?', '#']).next()?.trim_end_matches('/');
    let last = path.rfind('/').map_or(0, |slash| slash + 1);
    let more = path[last..].find('&').map_or(path.len(), |at| last + at);
    let mut segments = path[..more].rsplit('/').filter(|part| !part.is_empty());
    let named = segments.clone().find(|part| !is_mirror(part));
    named.or_else(|| segments.next())
}

/// Whether a path segment begins with the UID and the `x` that an NTAG 21x mirrors before its
/// counter.
fn is_mirror(segment: &str) -> bool {
    let uid = segment.split_at_checked(14);
    uid.is_some_and(|(uid, rest)| uid.parse::<Uid>().is_ok() && rest.starts_with(['x', 'X']))
}

/// The path segment of an `mTAG` with this decimal id, as Blue Bite's SDK reads it.
fn mtag(cell: &str) -> Option<String> {
    let is_id = cell.len() <= 9 && cell.bytes().all(|byte| byte.is_ascii_digit());
    let mut id: u32 = cell.parse().ok().filter(|_| is_id)?;
    let mut digits = Vec::new();
    while id > 0 {
        digits.extend(char::from_digit(id % 36, 36));
        id /= 36;
    }
    let end: String = digits.into_iter().rev().collect();
    Some(format!("n{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tag_table::column::is_of_tag;

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
    fn rows_get_values_of_tags_and_a_chip_from_a_preset() {
        for preset in PRESETS.iter() {
            for (name, text) in &preset.fixed {
                let is_chip = name == TECHNOLOGY && technology(text).is_some();
                assert!(is_chip || is_of_tag(name), "{name}");
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
