//! The chip of a row: its own, that of its URL template, or that of the whole table.

use super::column::{TECHNOLOGY, TEMPLATE_ID, UID};
use domain::field_error::FieldError;
use domain::id::{MasterKeyId, UrlTemplateId};
use domain::inventory::UrlTemplate;
use inlay::Technology;
use serde_json::{Map, Value};
use storage::Conflict;

/// Values for the rows with a UID that have none of their own.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfAllChips {
    pub(super) url_template_id: Option<UrlTemplateId>,
    pub(super) master_key_id: Option<MasterKeyId>,
    /// The chip of rows whose URL template does not define it.
    pub(super) technology: Option<Technology>,
    /// Whether factory keys are accepted. Codes with them prove nothing.
    pub(super) allow_factory_keys: bool,
}

/// The technology with this word or product name: `ntag424dna_tt`, `NTAG 424 DNA TagTamper`.
pub(super) fn technology(text: &str) -> Option<Technology> {
    let plain = |text: &str| {
        let characters = text.chars().filter(char::is_ascii_alphanumeric);
        characters.collect::<String>().to_ascii_lowercase()
    };
    let wanted = plain(text);
    let mut all = Technology::ALL.into_iter();
    all.find(|one| plain(one.as_str()) == wanted || plain(one.name()) == wanted)
}

impl OfAllChips {
    /// Whether each row with a UID gets a chip from here.
    pub(super) const fn say_chip(&self) -> bool {
        self.url_template_id.is_some() || self.technology.is_some()
    }

    /// Adds the URL template and the master key to the members of a new inlay, unless the row names
    /// its own, and whether its keys may be factory keys.
    pub(super) fn add(&self, members: &mut Map<String, Value>) {
        let has = |members: &Map<_, _>, names: [&str; 2]| {
            names.into_iter().any(|name| members.contains_key(name))
        };
        if !members.contains_key(UID) {
            return;
        }
        if let Some(id) = self.url_template_id
            && !has(members, [TEMPLATE_ID, "mirror"])
        {
            members.insert(TEMPLATE_ID.to_owned(), id.get().into());
        }
        if let Some(id) = self.master_key_id
            && !has(members, ["file_key", "master_key_id"])
        {
            members.insert("master_key_id".to_owned(), id.get().into());
        }
        if self.allow_factory_keys {
            members.insert("allow_factory_keys".to_owned(), true.into());
        }
    }

    /// The chip of a row that names none, but perhaps one of these URL templates.
    pub(super) fn chip(
        &self,
        members: &Map<String, Value>,
        templates: &[UrlTemplate],
    ) -> Result<Technology, FieldError> {
        let id = members.get(TEMPLATE_ID).and_then(Value::as_i64);
        if let Some(id) = id {
            let mut templates = templates.iter();
            let found = templates.find(|template| template.id.get() == id);
            let noun = "URL template";
            return found
                .map(|template| template.fields.settings().technology)
                .ok_or_else(|| Conflict::Missing { noun, id }.into());
        }
        let none = || {
            let why = format!(
                "{TECHNOLOGY} is missing: the row has a UID, but neither a kind of chip nor a URL template."
            );
            FieldError::of(TECHNOLOGY, why)
        };
        self.technology.ok_or_else(none)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chip_has_its_word_or_its_product_name() {
        for (text, expected) in [
            ("ntag424dna", Some(Technology::Ntag424Dna)),
            ("NTAG 424 DNA", Some(Technology::Ntag424Dna)),
            ("ntag424dna_tt", Some(Technology::Ntag424DnaTt)),
            ("NTAG 424 DNA TagTamper", Some(Technology::Ntag424DnaTt)),
            ("NTAG-424 DNA TT", Some(Technology::Ntag424DnaTt)),
            ("Ntag 213", Some(Technology::Ntag213)),
            ("MIFARE Ultralight", Some(Technology::Ultralight)),
            ("NFC", None),
            ("", None),
        ] {
            assert_eq!(technology(text), expected, "{text}");
        }
    }

    #[test]
    fn a_row_keeps_what_it_says_itself() {
        let of_all = OfAllChips {
            url_template_id: "7".parse().ok(),
            master_key_id: "3".parse().ok(),
            technology: None,
            allow_factory_keys: false,
        };
        for (own, added) in [
            (&["uid"][..], &["master_key_id", "url_template_id"][..]),
            (&[], &[]),
            (&["uid", "mirror"], &["master_key_id"]),
            (&["uid", "url_template_id"], &["master_key_id"]),
            (&["uid", "file_key"], &["url_template_id"]),
            (&["uid", "meta_key"], &["master_key_id", "url_template_id"]),
            (&["uid", "mirror", "master_key_id"], &[]),
        ] {
            let members = own.iter().map(|name| ((*name).to_owned(), Value::Null));
            let mut members: Map<_, _> = members.collect();
            of_all.add(&mut members);
            let mut found: Vec<_> = members.keys().map(String::as_str).collect();
            found.retain(|name| !own.contains(name));
            found.sort_unstable();
            assert_eq!(found, added, "{own:?}");
        }
    }
}
