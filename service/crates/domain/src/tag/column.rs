//! A tag as a row of a table: its columns and their cells.
//!
//! The members that the service itself sets (id, counts, times) have no column.

use std::borrow::Cow;
use std::fmt;

use super::{PropertyClass, PropertyKey, Slug, Status, TagFields, check_value};
use crate::field_error::FieldError;
use crate::id::{ExperienceId, GroupId};

/// The words for true that spreadsheets write in other languages than English, in capitals.
const LOCAL_TRUE: &[&str] = &[
    "WAHR",
    "VRAI",
    "VERDADERO",
    "VERO",
    "VERDADEIRO",
    "WAAR",
    "PRAWDA",
    "PRAVDA",
    "SANT",
    "SAND",
    "SANN",
    "TOSI",
    "IGAZ",
    "DOĞRU",
    "ADEVĂRAT",
    "ИСТИНА",
];
/// The same for false.
const LOCAL_FALSE: &[&str] = &[
    "FALSCH", "FAUX", "FALSO", "ONWAAR", "FAŁSZ", "NEPRAVDA", "FALSKT", "FALSK", "USANN",
    "EPÄTOSI", "HAMIS", "YANLIŞ", "FALS", "ЛОЖЬ",
];

/// A column of a table of tags.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TagColumn {
    /// Slug of the tag.
    Slug,
    /// Name that the owner gave it.
    Name,
    /// Name for visitors.
    Title,
    /// Sentence for visitors.
    Description,
    /// Locale of its texts, such as `en_US`.
    LanguageCode,
    /// The status, `active` or `archived`.
    Status,
    /// Number of its experience.
    ExperienceId,
    /// Number of its group.
    GroupId,
    /// Whether taps are verified: `true` or `false`.
    VerifierEnabled,
    /// Whether updates require a verified tap: `true` or `false`.
    UpdatesRequireVerified,
    /// Whether it has a printed QR code: `true` or `false`.
    HasQrCode,
    /// The switch of the payload, `true` or `false`.
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
    pub const FIXED: [Self; 14] = [
        Self::Slug,
        Self::Name,
        Self::Title,
        Self::Description,
        Self::LanguageCode,
        Self::Status,
        Self::ExperienceId,
        Self::GroupId,
        Self::VerifierEnabled,
        Self::UpdatesRequireVerified,
        Self::HasQrCode,
        Self::TrackLocation,
        Self::Location,
        Self::WidgetSettings,
    ];

    /// The column with this name; `None` if no column has it.
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
            Self::GroupId => "group_id",
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

    /// The text of its cell for a tag; `None` if the tag has no value.
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
            Self::GroupId => tag.group_id.map(|id| Cow::Owned(id.to_string())),
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

    /// Sets a tag's value from the text of its cell. The field of an error is the column's name.
    pub fn set(&self, tag: &mut TagFields, text: &str) -> Result<(), FieldError> {
        match self {
            Self::Name => text.clone_into(&mut tag.name),
            Self::Title => text.clone_into(&mut tag.title),
            Self::Description => text.clone_into(&mut tag.description),
            Self::Property(class, key) => {
                check_value(text)
                    .map_err(|error| self.invalid(format!("{}: {error}", self.name())))?;
                let properties = &mut tag.properties_mut(*class).0;
                properties.insert(key.clone(), text.to_owned());
            }
            // A value other than free text may have blanks around it, and a blank cell changes
            // nothing.
            _ if text.trim().is_empty() => {}
            _ => self.set_word(tag, text.trim())?,
        }
        Ok(())
    }

    fn set_word(&self, tag: &mut TagFields, word: &str) -> Result<(), FieldError> {
        let invalid = |expected: &str| self.invalid(format!("{} {expected}.", self.name()));
        let switch = || {
            let capitals = word.to_uppercase();
            match &*capitals {
                "TRUE" => Ok(true),
                "FALSE" => Ok(false),
                local if LOCAL_TRUE.contains(&local) => Ok(true),
                local if LOCAL_FALSE.contains(&local) => Ok(false),
                _ => Err(invalid("is true or false")),
            }
        };
        match self {
            Self::Name | Self::Title | Self::Description | Self::Property(..) => {}
            Self::Slug => {
                tag.slug = Slug::parse(word).map_err(|error| self.invalid(error.to_string()))?;
            }
            Self::LanguageCode => word.clone_into(&mut tag.language_code),
            Self::Status => {
                tag.status = Status::parse(word).ok_or_else(|| invalid("is active or archived"))?;
            }
            Self::ExperienceId => {
                let id = word.parse::<ExperienceId>();
                let id = id.map_err(|_| invalid("is the number of an experience"))?;
                tag.experience_id = Some(id);
            }
            Self::GroupId => {
                let id = word.parse::<GroupId>();
                let id = id.map_err(|_| invalid("is the number of a group"))?;
                tag.group_id = Some(id);
            }
            Self::VerifierEnabled => tag.verifier_enabled = switch()?,
            Self::UpdatesRequireVerified => tag.updates_require_verified = switch()?,
            Self::HasQrCode => tag.has_qr_code = switch()?,
            Self::TrackLocation => tag.track_location = switch()?,
            Self::Location => {
                let location = serde_json::from_str(word);
                tag.location = Some(
                    location
                        .map_err(|error| invalid(&format!("is a location as JSON: {error}")))?,
                );
            }
            Self::WidgetSettings => {
                tag.widget_settings = serde_json::from_str(word)
                    .map_err(|error| invalid(&format!("is an object as JSON: {error}")))?;
            }
        }
        Ok(())
    }

    /// Deletes its value of a tag. Required values cannot be deleted.
    pub fn delete(&self, tag: &mut TagFields) -> Result<(), FieldError> {
        match self {
            Self::Title => tag.title.clear(),
            Self::Description => tag.description.clear(),
            Self::LanguageCode => tag.language_code.clear(),
            Self::ExperienceId => tag.experience_id = None,
            Self::GroupId => tag.group_id = None,
            Self::Location => tag.location = None,
            Self::WidgetSettings => tag.widget_settings.clear(),
            Self::Property(class, key) => {
                tag.properties_mut(*class).0.remove(key.as_str());
            }
            _ => {
                let name = self.name();
                let why = format!("{name} cannot be deleted, only changed.");
                return Err(self.invalid(why));
            }
        }
        Ok(())
    }

    /// The error of a cell in this column.
    fn invalid(&self, why: String) -> FieldError {
        FieldError::of(self.name(), why)
    }
}

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
        assert_eq!(columns.clone().count(), 15);
        for column in columns {
            assert_eq!(TagColumn::parse(&column.name()), Some(column));
        }
        for unknown in ["", "colour", "Name", "data:", "data:a b", "tag:variable:x"] {
            assert_eq!(TagColumn::parse(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn a_cell_that_is_not_understood_is_refused_in_words() {
        let mut tag = TagFields::named(String::new());
        for (column, cell, sentence) in [
            (
                TagColumn::Slug,
                "a b",
                "A slug has 1 to 64 characters of A-Z, a-z, 0-9, ., _, ~ and -, and is neither . nor ..",
            ),
            (TagColumn::Status, "on", "status is active or archived."),
            (
                TagColumn::ExperienceId,
                "Welcome",
                "experience_id is the number of an experience.",
            ),
            (TagColumn::HasQrCode, "yes", "has_qr_code is true or false."),
        ] {
            let refused = column.set(&mut tag, cell).unwrap_err();
            assert_eq!(refused, FieldError::of(column.name(), sentence));
        }
    }

    #[test]
    fn a_switch_that_a_spreadsheet_wrote_in_its_language_is_read() {
        let mut tag = TagFields::named(String::new());
        for (cell, expected) in [
            ("true", true),
            ("FALSE", false),
            (" WAHR ", true),
            ("Falsch", false),
            ("VRAI", true),
            ("fałsz", false),
            ("ИСТИНА", true),
            ("EPÄTOSI", false),
        ] {
            TagColumn::HasQrCode.set(&mut tag, cell).unwrap();
            assert_eq!(tag.has_qr_code, expected, "{cell}");
        }
        let mut seen = LOCAL_TRUE.iter().chain(LOCAL_FALSE);
        assert!(seen.all(|word| word.to_uppercase() == *word));
        assert!(LOCAL_TRUE.iter().all(|word| !LOCAL_FALSE.contains(word)));
    }
}
