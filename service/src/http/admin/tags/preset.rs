//! Tables of other services: their columns as ours.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::Json;
use axum::body::Bytes;
use csv::{ReaderBuilder, StringRecord, WriterBuilder};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::csv::separator;
use crate::http::body::Chunks;
use crate::http::error::Common;

/// Known tables, in the order in which they are offered.
static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| {
    let file = include_str!("../../../../data/import-presets.json");
    serde_json::from_str(file).expect("the presets are well-formed")
});

/// The columns of another service's table.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ImportPreset)]
pub(crate) struct Preset {
    /// Its name, for `preset`.
    pub(super) name: String,
    /// The service's name.
    title: String,
    /// Which of its tables this is.
    about: String,
    /// The public document that names its columns, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// Its columns.
    columns: Vec<Known>,
    /// Columns that every row gets.
    #[serde(default)]
    fixed: BTreeMap<String, String>,
    /// What happens to other columns. Those of Tapdesk's own tables are always taken.
    others: Others,
}

/// A column of another service.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ImportColumn)]
struct Known {
    /// Its titles, any of which the table can have. Case makes no difference, nor do blanks,
    /// hyphens and underscores between words.
    theirs: Vec<String>,
    /// The column of Tapdesk's tables.
    ours: String,
    /// Whether that is a guess: no public document of the service has these titles.
    #[serde(default)]
    guessed: bool,
}

/// What happens to a column that nobody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = OtherColumns)]
enum Others {
    /// The table is refused.
    Refuse,
    /// It is left out.
    Ignore,
}

/// The presets of an import.
#[derive(Serialize, ToSchema)]
pub(crate) struct ImportPresets {
    items: &'static [Preset],
}

/// List import presets
///
/// Tables of other services, and what their columns are here.
#[utoipa::path(
    get, path = "/tags/import/presets", tag = "tags",
    responses((status = OK, body = ImportPresets), Common)
)]
pub(crate) async fn import_presets() -> Json<ImportPresets> {
    Json(ImportPresets { items: &PRESETS })
}

/// The preset with this name. A mistake is a sentence for people.
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

/// Members that every row with a `uid` gets if it has none of its own: those of the URL template
/// that the caller chose.
pub(super) type OfInlays = Vec<(&'static str, String)>;

/// Where a cell of our table comes from.
enum Origin {
    Theirs(usize),
    Fixed(String),
    OfInlay(String),
}

impl Preset {
    /// The file with our columns. A mistake in it is a sentence for people.
    pub(super) fn translate(&self, file: Chunks, of_inlays: &OfInlays) -> Result<Chunks, String> {
        let unread = |error: csv::Error| format!("The file cannot be read: {error}.");
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator(&file))
            .from_reader(file);
        let mut header = StringRecord::new();
        if !reader.read_record(&mut header).map_err(unread)? {
            return Err("The file is empty. It begins with a row of column names.".to_owned());
        }
        let columns = self.columns_of(&header, of_inlays)?;
        let mut writer = WriterBuilder::new().from_writer(Vec::new());
        let written = |error: csv::Error| format!("The file cannot be translated: {error}.");
        writer
            .write_record(columns.iter().map(|(ours, _)| ours))
            .map_err(written)?;
        let at = |ours: &str| columns.iter().position(|(column, _)| column == ours);
        let (uid, name, slug) = (at("uid"), at("name"), at("slug"));
        let mut row = StringRecord::new();
        while reader.read_record(&mut row).map_err(unread)? {
            if row.iter().all(str::is_empty) {
                continue;
            }
            let mut cells: Vec<String> = columns
                .iter()
                .map(|(_, origin)| match origin {
                    Origin::Theirs(index) => row.get(*index).unwrap_or_default().trim().to_owned(),
                    Origin::Fixed(text) | Origin::OfInlay(text) => text.clone(),
                })
                .collect();
            if let Some(uid) = uid {
                cells[uid].retain(|c| !matches!(c, ':' | '-' | ' '));
                if cells[uid].is_empty() {
                    for (cell, (_, origin)) in cells.iter_mut().zip(&columns) {
                        if matches!(origin, Origin::OfInlay(_)) {
                            cell.clear();
                        }
                    }
                }
            }
            if let Some(slug) = slug {
                cells[slug].make_ascii_lowercase();
            }
            // A tag needs a name, and other services do not.
            if let Some(name) = name
                && cells[name].is_empty()
            {
                let other = [slug, uid].into_iter().flatten();
                let other = other.map(|at| cells[at].clone());
                cells[name] = other
                    .into_iter()
                    .find(|text| !text.is_empty())
                    .unwrap_or_default();
            }
            writer.write_record(&cells).map_err(written)?;
        }
        let bytes = writer.into_inner().map_err(|error| error.to_string())?;
        Ok(Bytes::from(bytes).into())
    }

    /// Our columns, and where their cells come from.
    fn columns_of(
        &self,
        header: &StringRecord,
        of_inlays: &OfInlays,
    ) -> Result<Vec<(String, Origin)>, String> {
        let mut columns: Vec<(String, Origin)> = Vec::new();
        for (index, title) in header.iter().enumerate() {
            let title = title.trim_start_matches('\u{feff}').trim();
            let is_theirs = |theirs: &String| plain(theirs).eq(plain(title));
            let known = self.columns.iter();
            let known = known
                .filter(|known| known.theirs.iter().any(is_theirs))
                .map(|known| known.ours.clone())
                .next();
            let ours = known.or_else(|| {
                super::csv::Column::parse(title)
                    .is_some()
                    .then(|| title.to_owned())
            });
            match (ours, self.others) {
                (Some(ours), _) if columns.iter().any(|(column, _)| *column == ours) => {
                    return Err(format!(
                        "Two columns of the file are {ours}; one of them is \"{title}\"."
                    ));
                }
                (Some(ours), _) => columns.push((ours, Origin::Theirs(index))),
                (None, Others::Ignore) => {}
                (None, Others::Refuse) => {
                    return Err(format!(
                        "There is no column \"{title}\" in the preset \"{}\".",
                        self.name
                    ));
                }
            }
        }
        let has = |columns: &[(String, Origin)], ours: &str| {
            columns.iter().any(|(column, _)| column == ours)
        };
        if !has(&columns, "name") {
            let other = ["slug", "uid"].into_iter().find_map(|ours| {
                let (_, origin) = columns.iter().find(|(column, _)| column == ours)?;
                match origin {
                    Origin::Theirs(index) => Some(*index),
                    _ => None,
                }
            });
            let Some(index) = other else {
                return Err("The file has no column for a name, a slug or a UID.".to_owned());
            };
            columns.push(("name".to_owned(), Origin::Theirs(index)));
        }
        if has(&columns, "uid") {
            for (ours, text) in &self.fixed {
                if !has(&columns, ours) && !of_inlays.iter().any(|(column, _)| column == ours) {
                    columns.push((ours.clone(), Origin::OfInlay(text.clone())));
                }
            }
            for (ours, text) in of_inlays {
                if !has(&columns, ours) {
                    columns.push(((*ours).to_owned(), Origin::OfInlay(text.clone())));
                }
            }
        } else {
            let fixed = self.fixed.iter();
            let fixed = fixed.filter(|(ours, _)| super::csv::is_of_tag(ours));
            columns.extend(fixed.map(|(ours, text)| (ours.clone(), Origin::Fixed(text.clone()))));
        }
        Ok(columns)
    }
}

/// A title as it is compared.
fn plain(title: &str) -> impl Iterator<Item = String> {
    let words = title.split(|c: char| c.is_whitespace() || matches!(c, '-' | '_'));
    words
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(preset: &str, file: &str, of_inlays: &OfInlays) -> Result<String, String> {
        let file = Bytes::from(file.to_owned());
        let translated = named(preset).unwrap().translate(file.into(), of_inlays)?;
        Ok(String::from_utf8(translated.peek().collect()).unwrap())
    }

    #[test]
    fn every_column_of_a_preset_is_one_of_ours() {
        for preset in PRESETS.iter() {
            let ours = preset.columns.iter().map(|known| &known.ours);
            for ours in ours.chain(preset.fixed.keys()) {
                assert!(super::super::csv::Column::parse(ours).is_some(), "{ours}");
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
    fn columns_of_ixkio() {
        let file = "XUID,UID,CUID,TAGNAME,NFTCHAIN\r\nGTS5ch6k,04:AA:BB:CC:11:22:33,12345,,x\r\nh7dvbz6k,,,My Tag,\r\n";
        let of_inlays = vec![
            ("url_template_id", "3".to_owned()),
            ("technology", "ntag424dna".to_owned()),
        ];
        assert_eq!(
            translated("ixkio", file, &of_inlays).unwrap(),
            "slug,uid,data:cuid,name,url_template_id,technology\n\
             gts5ch6k,04AABBCC112233,12345,gts5ch6k,3,ntag424dna\n\
             h7dvbz6k,,,My Tag,,\n"
        );
    }

    #[test]
    fn columns_of_boltcard() {
        let file = "Card name;uid;k1;k2_cmac_key;LAST-COUNTER value;pin\nOne;04AABBCC112233;00;11;7;1234\n";
        assert_eq!(
            translated("boltcard", file, &Vec::new()).unwrap(),
            "name,uid,meta_key,file_key,last_counter,technology\n\
             One,04AABBCC112233,00,11,7,ntag424dna\n"
        );
    }

    #[test]
    fn what_is_not_known_is_refused_or_left_out() {
        let file = "label,colour\nBottle,red\n";
        let refused = translated("csv", file, &Vec::new()).unwrap_err();
        assert!(refused.contains("\"colour\""), "{refused}");
        let twice = translated("csv", "label,name\na,b\n", &Vec::new()).unwrap_err();
        assert!(twice.contains("Two columns"), "{twice}");
        let nameless = translated("gototags", "Colour\nred\n", &Vec::new()).unwrap_err();
        assert!(nameless.contains("no column for a name"), "{nameless}");
        assert_eq!(
            translated("gototags", "Uid,Colour\n04AABBCC112233,red\n", &Vec::new()).unwrap(),
            "uid,name\n04AABBCC112233,04AABBCC112233\n"
        );
        assert!(named("nobody").unwrap_err().contains("ixkio"));
    }
}
