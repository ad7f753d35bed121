//! A tag as a row of a table: its columns, and what their cells say.
//!
//! An empty cell is `None`: no such property, no experience, the default. What
//! a tag is given by its life (id, counts, times) has no column.

use std::borrow::Cow;
use std::fmt;

use super::{PropertyClass, PropertyKey, Slug, Status, TagFields, check_value};
use crate::id::ExperienceId;

/// A column of a table of tags.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TagColumn {
    /// The slug.
    Slug,
    /// The name.
    Name,
    /// The title.
    Title,
    /// The description.
    Description,
    /// The language code.
    LanguageCode,
    /// `active` or `archived`.
    Status,
    /// The experience's id.
    ExperienceId,
    /// `true` or `false`.
    VerifierEnabled,
    /// `true` or `false`.
    UpdatesRequireVerified,
    /// `true` or `false`.
    HasQrCode,
    /// `true` or `false`.
    TrackLocation,
    /// The location as JSON.
    Location,
    /// The widget settings as JSON.
    WidgetSettings,
    /// A property of one key, as `attribute:KEY`, `data:KEY` or `variable:KEY`.
    Property(PropertyClass, PropertyKey),
}

impl TagColumn {
    /// The columns that every table of tags can have.
    pub const FIXED: [Self; 13] = [
        Self::Slug,
        Self::Name,
        Self::Title,
        Self::Description,
        Self::LanguageCode,
        Self::Status,
        Self::ExperienceId,
        Self::VerifierEnabled,
        Self::UpdatesRequireVerified,
        Self::HasQrCode,
        Self::TrackLocation,
        Self::Location,
        Self::WidgetSettings,
    ];

    /// The column with this name; `None` where there is none.
    pub fn parse(name: &str) -> Option<Self> {
        if let Some((class, key)) = name.split_once(':') {
            let class = PropertyClass::parse(class)?;
            return Some(Self::Property(class, PropertyKey::parse(key).ok()?));
        }
        Self::FIXED.into_iter().find(|column| column.name() == name)
    }

    /// Its name in a header.
    pub fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Slug => "slug",
            Self::Name => "name",
            Self::Title => "title",
            Self::Description => "description",
            Self::LanguageCode => "language_code",
            Self::Status => "status",
            Self::ExperienceId => "experience_id",
            Self::VerifierEnabled => "verifier_enabled",
            Self::UpdatesRequireVerified => "updates_require_verified",
            Self::HasQrCode => "has_qr_code",
            Self::TrackLocation => "track_location",
            Self::Location => "location",
            Self::WidgetSettings => "widget_settings",
            Self::Property(class, key) => {
                return Cow::Owned(format!("{}:{key}", class.as_str()));
            }
        })
    }

    /// What its cell says of a tag.
    pub fn cell<'a>(&self, tag: &'a TagFields) -> Option<Cow<'a, str>> {
        let text = |text: &'a str| (!text.is_empty()).then_some(Cow::Borrowed(text));
        let switch = |on: bool| Some(Cow::Borrowed(if on { "true" } else { "false" }));
        match self {
            Self::Slug => text(tag.slug.as_str()),
            Self::Name => text(&tag.name),
            Self::Title => text(&tag.title),
            Self::Description => text(&tag.description),
            Self::LanguageCode => text(&tag.language_code),
            Self::Status => text(tag.status.as_str()),
            Self::ExperienceId => tag.experience_id.map(|id| Cow::Owned(id.to_string())),
            Self::VerifierEnabled => switch(tag.verifier_enabled),
            Self::UpdatesRequireVerified => switch(tag.updates_require_verified),
            Self::HasQrCode => switch(tag.has_qr_code),
            Self::TrackLocation => switch(tag.track_location),
            Self::Location => serde_json::to_string(tag.location.as_ref()?)
                .ok()
                .map(Cow::Owned),
            Self::WidgetSettings if tag.widget_settings.is_empty() => None,
            Self::WidgetSettings => serde_json::to_string(&tag.widget_settings)
                .ok()
                .map(Cow::Owned),
            Self::Property(class, key) => {
                tag.properties(*class).get(key.as_str()).map(Cow::Borrowed)
            }
        }
    }

    /// Makes a tag what its cell says. A mistake is a sentence for people.
    pub fn set(&self, tag: &mut TagFields, cell: Option<&str>) -> Result<(), InvalidCell> {
        let default = TagFields::named(String::new());
        let text = || cell.unwrap_or_default().to_owned();
        // What is no free text may stand between blanks.
        let word = cell.map(str::trim).filter(|word| !word.is_empty());
        let invalid = |expected: &str| InvalidCell(format!("{} {expected}.", self.name()));
        let switch = |default: bool| match word {
            None => Ok(default),
            // Spreadsheets write TRUE and FALSE.
            Some(word) if word.eq_ignore_ascii_case("true") => Ok(true),
            Some(word) if word.eq_ignore_ascii_case("false") => Ok(false),
            Some(_) => Err(invalid("is true or false")),
        };
        match self {
            Self::Slug => {
                tag.slug = word
                    .map_or(Ok(Slug::default()), Slug::parse)
                    .map_err(|error| InvalidCell(error.to_string()))?;
            }
            Self::Name => tag.name = text(),
            Self::Title => tag.title = text(),
            Self::Description => tag.description = text(),
            Self::LanguageCode => {
                tag.language_code = word.map_or(default.language_code, str::to_owned);
            }
            Self::Status => {
                tag.status = word
                    .map_or(Some(default.status), Status::parse)
                    .ok_or_else(|| invalid("is active or archived"))?;
            }
            Self::ExperienceId => {
                let id = word.map(str::parse::<ExperienceId>).transpose();
                tag.experience_id = id.map_err(|_| invalid("is the number of an experience"))?;
            }
            Self::VerifierEnabled => tag.verifier_enabled = switch(default.verifier_enabled)?,
            Self::UpdatesRequireVerified => {
                tag.updates_require_verified = switch(default.updates_require_verified)?;
            }
            Self::HasQrCode => tag.has_qr_code = switch(default.has_qr_code)?,
            Self::TrackLocation => tag.track_location = switch(default.track_location)?,
            Self::Location => {
                let location = word.map(serde_json::from_str).transpose();
                tag.location = location
                    .map_err(|error| invalid(&format!("is a location as JSON: {error}")))?;
            }
            Self::WidgetSettings => {
                let widgets = word.map(serde_json::from_str).transpose();
                tag.widget_settings = widgets
                    .map_err(|error| invalid(&format!("is an object as JSON: {error}")))?
                    .unwrap_or_default();
            }
            Self::Property(class, key) => {
                let properties = &mut tag.properties_mut(*class).0;
                match cell {
                    Some(value) => {
                        check_value(value)
                            .map_err(|error| InvalidCell(format!("{}: {error}", self.name())))?;
                        properties.insert(key.clone(), value.to_owned());
                    }
                    None => {
                        properties.remove(key.as_str());
                    }
                }
            }
        }
        Ok(())
    }
}

/// A cell that does not say what it must, as a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidCell(String);

impl fmt::Display for TagColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_known_by_its_name() {
        let property = TagColumn::parse("variable:registered");
        let columns = TagColumn::FIXED.into_iter().chain(property);
        assert_eq!(columns.clone().count(), 14);
        for column in columns {
            assert_eq!(TagColumn::parse(&column.name()), Some(column));
        }
        for unknown in ["", "colour", "Name", "data:", "data:a b", "tag:variable:x"] {
            assert_eq!(TagColumn::parse(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn an_empty_cell_is_the_default() {
        let mut tag = TagFields {
            title: "title".to_owned(),
            verifier_enabled: false,
            status: Status::Archived,
            experience_id: Some(ExperienceId(7)),
            ..TagFields::named(String::new())
        };
        for column in TagColumn::FIXED {
            column.set(&mut tag, None).unwrap();
        }
        assert_eq!(tag, TagFields::named(String::new()));
    }

    #[test]
    fn a_cell_that_is_not_understood_is_refused_in_words() {
        let mut tag = TagFields::named(String::new());
        for (column, cell, sentence) in [
            (
                TagColumn::Slug,
                "short",
                "A slug has 6 to 32 characters of a-z, 0-9 and -.",
            ),
            (TagColumn::Status, "on", "status is active or archived."),
            (
                TagColumn::ExperienceId,
                "Welcome",
                "experience_id is the number of an experience.",
            ),
            (TagColumn::HasQrCode, "yes", "has_qr_code is true or false."),
        ] {
            let refused = column.set(&mut tag, Some(cell)).unwrap_err();
            assert_eq!(refused.to_string(), sentence);
        }
    }
}
