//! Finds rows that the service could not read, before anybody needs them. SQLite's own check covers
//! pages and types; only the reader of a text knows its syntax.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::migrate::OpenError;
use crate::BackupSchedule;
use crate::backups::SCHEDULE;
use crate::catalogue::{Column, Kind, Table, moved};
use crate::shared::administration::SETTINGS;
use domain::experience::{Content, ImageType};
use domain::group::{Code, GroupKind, GroupStatus, Gtin};
use domain::id::{ExperienceId, GroupId};
use domain::interaction::{Change, Reason, Tech, UpdateFault};
use domain::mail::MailFields;
use domain::notification::NotificationFields;
use domain::phone::PhoneCookies;
use domain::recorder::Recorder;
use domain::scope::Scope;
use domain::settings::Overrides;
use domain::sheet::SignOff;
use domain::tag::{Properties, PropertyClass, PropertyKey, Slug, Status};
use domain::tag_url::{self, TagUrlCheck};
use domain::visitor::OperatingSystem;
use domain::webhook::{EventKind, WebhookFields};
use inlay::derivation::Derivation;
use inlay::technology::Mode;
use inlay::template::{Template, TemplateSettings};
use inlay::{MacFrom, Mirror, Technology};

/// Whether the service can read a text.
type Reads = fn(&str) -> bool;

/// Checks every row of the database at `path`, which has the newest schema.
///
/// # Errors
///
/// [`OpenError::Unreadable`] names the first row that cannot be read.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    moved().try_for_each(|table| check_table(connection, table, path))
}

fn check_table(connection: &Connection, table: &Table, path: &Path) -> Result<(), OpenError> {
    let columns: Vec<_> = table
        .columns
        .iter()
        .filter(|column| column.derived.is_none())
        .map(|column| (column, reads(table.name, column.name)))
        .collect();
    let names: Vec<_> = columns
        .iter()
        .map(|(column, _)| format!("\"{}\"", column.name))
        .collect();
    let sql = format!("SELECT {} FROM {}", names.join(", "), table.name);
    let mut rows = connection.prepare(&sql)?;
    let mut rows = rows.query([])?;
    let mut before = None;
    loop {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(()),
            Err(error) => {
                let place = before.map_or_else(
                    || format!("the first row of {}", table.name),
                    |row| format!("the row of {} behind row {row}", table.name),
                );
                return Err(OpenError::Damaged(
                    path.to_owned(),
                    format!("{place}: {error}"),
                ));
            }
        };
        let mut key = Vec::with_capacity(table.key);
        for column in 0..table.key {
            key.push(shown(row.get_ref(column)?));
        }
        let key = key.join(", ");
        for (index, (column, reads)) in columns.iter().enumerate() {
            let reads = if table.name == "settings" && column.name == "value" {
                of_setting(&key)
            } else {
                *reads
            };
            if !is_readable(column, reads, row.get_ref(index)?) {
                return Err(OpenError::Unreadable {
                    path: path.to_owned(),
                    table: table.name,
                    row: key,
                    column: column.name,
                });
            }
        }
        before = Some(key);
    }
}

/// A value of a key, for people.
fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "null".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Blob(bytes) => base16ct::upper::encode_string(bytes),
    }
}

fn is_readable(column: &Column, reads: Option<Reads>, value: ValueRef<'_>) -> bool {
    match (column.kind, value) {
        // SQLite checks by the schema whether a value may be missing.
        (_, ValueRef::Null)
        | (Kind::Integer, ValueRef::Integer(_))
        | (Kind::Flag, ValueRef::Integer(0 | 1))
        | (Kind::Bytes, ValueRef::Blob(_)) => true,
        (Kind::Text, ValueRef::Text(text)) => {
            str::from_utf8(text).is_ok_and(|text| reads.is_none_or(|reads| reads(text)))
        }
        _ => false,
    }
}

fn json<T: DeserializeOwned>(text: &str) -> bool {
    serde_json::from_str::<T>(text).is_ok()
}

fn parses<T: std::str::FromStr>(text: &str) -> bool {
    text.parse::<T>().is_ok()
}

/// The reader of a setting's text; other settings are plain numbers and texts.
fn of_setting(name: &str) -> Option<Reads> {
    match name {
        SETTINGS => Some(json::<Overrides>),
        SCHEDULE => Some(json::<BackupSchedule>),
        tag_url::ROW => Some(json::<Vec<TagUrlCheck>>),
        _ => None,
    }
}

/// The columns whose texts have a syntax, as their readers in `shared` parse them: table, column,
/// reader.
const READERS: &[(&str, &str, Reads)] = &[
    ("page_logo", "media_type", is_image_type),
    ("tokens", "scopes", json::<BTreeSet<Scope>>),
    ("tokens", "experience_ids", json::<BTreeSet<ExperienceId>>),
    ("tokens", "group_ids", json::<BTreeSet<GroupId>>),
    ("phones", "scopes", json::<BTreeSet<Scope>>),
    ("phones", "group_ids", json::<BTreeSet<GroupId>>),
    ("phones", "cookies", json::<PhoneCookies>),
    ("webhooks", "experience_ids", json::<BTreeSet<ExperienceId>>),
    ("former_slugs", "slug", is_slug),
    ("tags", "slug", is_slug),
    ("tags", "status", |text| Status::parse(text).is_some()),
    ("tags", "location", json::<IgnoredAny>),
    ("tags", "widget_settings", json::<IgnoredAny>),
    ("tag_groups", "kind", |text| {
        GroupKind::parse(text).is_some()
    }),
    ("tag_groups", "code", |text| Code::parse(text).is_ok()),
    ("tag_groups", "gtin", |text| Gtin::parse(text).is_ok()),
    ("tag_groups", "status", |text| {
        GroupStatus::parse(text).is_some()
    }),
    ("tag_groups", "attributes", json::<Properties>),
    ("tag_groups", "data", json::<Properties>),
    ("tag_groups", "variables", json::<Properties>),
    ("group_images", "media_type", is_image_type),
    ("properties", "class", |text| {
        PropertyClass::parse(text).is_some()
    }),
    ("properties", "key", |text| PropertyKey::parse(text).is_ok()),
    ("master_keys", "derivation", json::<Derivation>),
    ("url_templates", "settings", |text| {
        serde_json::from_str::<TemplateSettings>(text)
            .is_ok_and(|settings| Template::new(settings).is_ok())
    }),
    ("inlays", "technology", parses::<Technology>),
    ("inlays", "mode", parses::<Mode>),
    ("inlays", "mirror", parses::<Mirror>),
    ("inlays", "mac_from", parses::<MacFrom>),
    ("experiences", "draft", is_content),
    ("experience_versions", "content", is_content),
    ("images", "media_type", is_image_type),
    ("interactions", "reason", |text| {
        Reason::from_name(text).is_some()
    }),
    ("interactions", "tech", |text| {
        Tech::from_value(text).is_some()
    }),
    ("interactions", "system", |text| {
        OperatingSystem::from_name(text).is_some()
    }),
    ("updates", "changes", json::<Vec<Change>>),
    ("refused_updates", "fault", |text| {
        UpdateFault::parse(text).is_some()
    }),
    ("left_out", "macros", json::<IgnoredAny>),
    ("staff_notes", "media_type", is_image_type),
    ("webhooks", "fields", json::<WebhookFields>),
    ("mail", "fields", json::<MailFields>),
    ("notifications", "fields", json::<NotificationFields>),
    ("outbox", "type", is_event),
    ("outbox", "data", json::<IgnoredAny>),
    ("webhook_deliveries", "type", is_event),
    ("submissions", "fields", json::<IgnoredAny>),
    ("submissions", "refused", |text| {
        UpdateFault::parse(text).is_some()
    }),
    ("sheets", "expected", json::<IgnoredAny>),
    ("sheets", "signed_off", json::<SignOff>),
    ("sheet_rows", "row", json::<IgnoredAny>),
    ("sheet_photos", "media_type", is_image_type),
    ("sheet_rows", "recorder", json::<Recorder>),
    ("import_rows", "row", json::<IgnoredAny>),
    ("import_rows", "inlay", json::<IgnoredAny>),
    ("chips", "refused", json::<IgnoredAny>),
    ("encoding_runs", "settings", json::<IgnoredAny>),
    ("factory_orders", "settings", json::<IgnoredAny>),
    ("encodings", "form", json::<IgnoredAny>),
    ("encodings", "outcome", json::<IgnoredAny>),
];

fn is_slug(text: &str) -> bool {
    Slug::parse(text).is_ok()
}

fn is_content(text: &str) -> bool {
    Content::from_json(text).is_ok()
}

fn is_image_type(text: &str) -> bool {
    ImageType::from_name(text).is_some()
}

fn is_event(text: &str) -> bool {
    EventKind::parse(text).is_some()
}

fn reads(table: &str, column: &str) -> Option<Reads> {
    let found = READERS
        .iter()
        .find(|reader| (reader.0, reader.1) == (table, column));
    found.map(|(_, _, reads)| *reads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_that_has_a_reader_is_in_the_schema() {
        for (table, column, _) in READERS {
            let columns = moved().filter(|one| one.name == *table);
            let mut columns = columns.flat_map(|table| table.columns);
            let found = columns.any(|one| one.name == *column && one.kind == Kind::Text);
            assert!(found, "{table}.{column}");
        }
    }
}
