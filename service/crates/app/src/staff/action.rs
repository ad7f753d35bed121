//! The actions of a staff page. Each is one change, as a program makes it through the admin API, and
//! leaves the same row in the audit log.

use std::collections::BTreeMap;

use super::open_sheet;
use super::words::{StaffLanguage, StaffWords, fill};
use crate::service::Service;
use crate::tap::lines;
use domain::field_error::FieldError;
use domain::id::{ExperienceId, SheetId, TagId};
use domain::image_type::ImageType;
use domain::interaction::{NoteEdit, PhotoEdit};
use domain::inventory::InlayFields;
use domain::phone::Phone;
use domain::scope::Scope;
use domain::sheet::RowFields;
use domain::tag::{InvalidProperty, PropertyClass, PropertyKey, TagFields, check_value};
use domain::trace::TracedInteraction;
use storage::{StorageError, TagKey};

/// The scopes of which a phone needs one to add a note or a photo: those with which it works on
/// tags or on test sheets.
pub(super) const NOTING: [Scope; 2] = [Scope::Tags, Scope::Encode];

/// An action of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Adds a row about the tap to a test sheet.
    Row {
        /// The sheet, which must be open.
        sheet: SheetId,
        /// Whether the person calls the inlay good.
        good: bool,
        /// A note of the person; may be empty.
        note: String,
        /// A photo for the row, as [`pictures::fit`](crate::studio::pictures::fit) prepared it.
        photo: Option<(ImageType, Vec<u8>)>,
    },
    /// Changes the note and the photo of the tap.
    Note {
        /// The note; empty removes it.
        note: String,
        /// Whether the stored photo is removed.
        remove_photo: bool,
        /// The new photo, as [`pictures::fit`](crate::studio::pictures::fit) prepared it.
        photo: Option<(ImageType, Vec<u8>)>,
    },
    /// Assigns the tag to an experience, or to none.
    Experience(Option<ExperienceId>),
    /// Sets a variable that the tag has.
    Value {
        /// The variable that gets the value.
        key: PropertyKey,
        /// The value, any text that a variable can have.
        value: String,
    },
    /// Moves the inlay to the tag with this slug.
    Inlay {
        /// The slug, as a person typed it.
        slug: String,
    },
}

/// The result of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acted {
    /// The change is on disk.
    Done(Done),
    /// Nothing was changed, for this reason: a sentence for people.
    Refused(String),
}

/// A change that an action made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The sheet has the row.
    Row,
    /// The note and the photo of the tap are stored.
    Note,
    /// The tag is assigned.
    Experience,
    /// The variable is set.
    Value,
    /// The inlay is on the other tag.
    Inlay,
}

impl Action {
    /// The action of a form with these fields; `None` if they are of no form of a staff page.
    pub fn of(fields: &BTreeMap<String, String>) -> Option<Self> {
        let field = |name: &str| fields.get(name).map(String::as_str);
        match field("action")? {
            named @ ("good" | "bad") => Some(Self::Row {
                sheet: field("sheet")?.parse().ok()?,
                good: named == "good",
                note: lines(field("note").unwrap_or_default().trim()),
                photo: None,
            }),
            "note" => Some(Self::Note {
                note: lines(field("note")?.trim()),
                remove_photo: field("remove_photo").is_some(),
                photo: None,
            }),
            "experience" => {
                let id = field("experience_id")?;
                let id = (!id.is_empty())
                    .then(|| id.parse::<ExperienceId>())
                    .transpose()
                    .ok()?;
                Some(Self::Experience(id))
            }
            "value" => Some(Self::Value {
                key: PropertyKey::parse(field("key")?).ok()?,
                value: lines(field("value")?),
            }),
            "inlay" => Some(Self::Inlay {
                slug: field("slug")?.trim().to_owned(),
            }),
            _ => None,
        }
    }

    /// The scopes of which the phone needs one.
    pub const fn scopes(&self) -> &'static [Scope] {
        match self {
            Self::Row { .. } => &[Scope::Encode],
            Self::Note { .. } => &NOTING,
            Self::Experience(_) | Self::Value { .. } => &[Scope::Tags],
            Self::Inlay { .. } => &[Scope::Keys],
        }
    }

    /// The operation and its object, as the audit log names the same change of a token.
    pub fn recorded_as(&self, tap: &TracedInteraction) -> (&'static str, String) {
        let tag = tap.interaction.tag_id.map_or(0, TagId::get);
        match self {
            Self::Row { sheet, .. } => ("sheets.rows.create", format!("sheets/{sheet}/rows")),
            Self::Note { .. } => {
                let id = tap.interaction.id;
                ("interactions.note.set", format!("interactions/{id}"))
            }
            Self::Experience(_) => ("tags.update", format!("tags/{tag}")),
            Self::Value { key, .. } => {
                let key = key.as_str();
                ("tags.variables.set", format!("tags/{tag}/variables/{key}"))
            }
            Self::Inlay { .. } => {
                let inlay = tap.interaction.inlay_id;
                let inlay = inlay.map_or_else(String::new, |id| format!("/{id}"));
                ("inlays.update", format!("inlays{inlay}"))
            }
        }
    }
}

impl Done {
    const ALL: [Self; 5] = [
        Self::Row,
        Self::Note,
        Self::Experience,
        Self::Value,
        Self::Inlay,
    ];

    /// Its name in the address of the page.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Row => "row",
            Self::Note => "note",
            Self::Experience => "experience",
            Self::Value => "value",
            Self::Inlay => "inlay",
        }
    }

    /// The change with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|done| done.as_str() == name)
    }

    /// The message on the page.
    pub(super) fn sentence(self, words: &'static StaffWords) -> &'static str {
        match self {
            Self::Row => &words.saved_row,
            Self::Note => &words.saved_note,
            Self::Experience => &words.saved_experience,
            Self::Value => &words.saved_value,
            Self::Inlay => &words.moved,
        }
    }
}

/// Does an action about a tap. `service` works for the phone, whose scopes were checked.
pub async fn act(
    service: &Service,
    phone: &Phone,
    tap: &TracedInteraction,
    action: Action,
    language: StaffLanguage,
) -> Result<Acted, StorageError> {
    let words = language.words();
    match action {
        Action::Row {
            sheet,
            good,
            note,
            photo,
        } => {
            let verdict = match (good, tap.interaction.verdict.tag_verified()) {
                (true, _) => "ok",
                (false, Some(false)) => "not_verified",
                (false, _) => "bad",
            };
            let row = open_sheet::fields(phone, tap, verdict, note);
            add_row(service, sheet, (row, photo), words).await
        }
        Action::Note {
            note,
            remove_photo,
            photo,
        } => {
            let edit = NoteEdit {
                phone: phone.name.clone(),
                note,
                photo: match photo {
                    Some((media_type, bytes)) => PhotoEdit::Set(media_type, bytes),
                    None if remove_photo => PhotoEdit::Remove,
                    None => PhotoEdit::Keep,
                },
            };
            set_note(service, tap, edit, language).await
        }
        Action::Experience(experience) => assign(service, tap, experience, words).await,
        Action::Value { key, value } => set_value(service, tap, (key, value), words).await,
        Action::Inlay { slug } => move_inlay(service, tap, &slug, words).await,
    }
}

fn refused(why: impl Into<String>) -> Acted {
    Acted::Refused(why.into())
}

/// Changes the note of a tap.
async fn set_note(
    service: &Service,
    tap: &TracedInteraction,
    edit: NoteEdit,
    language: StaffLanguage,
) -> Result<Acted, StorageError> {
    let words = language.words();
    let is_nothing = edit.note.is_empty() && edit.photo == PhotoEdit::Keep;
    if is_nothing && tap.staff_note.is_none() {
        return Ok(refused(&*words.note_is_empty));
    }
    let Ok(edit) = edit.validated() else {
        return Ok(refused(language.long_note()));
    };
    let stored = service.storage.set_staff_note(tap.interaction.id, edit);
    match stored.await? {
        Some(()) => Ok(Acted::Done(Done::Note)),
        None => Ok(refused(&*words.tap_is_gone)),
    }
}

async fn add_row(
    service: &Service,
    sheet: SheetId,
    (row, photo): (RowFields, Option<(ImageType, Vec<u8>)>),
    words: &StaffWords,
) -> Result<Acted, StorageError> {
    if service.storage.is_limited() {
        return Ok(refused(&*words.no_sheets));
    }
    let row = match row.validated() {
        Ok(row) => row,
        Err(FieldError { message, .. }) => return Ok(refused(message)),
    };
    // A person who presses twice sends the same row twice, also both at once.
    let added = service.storage.append_sheet_row_once(sheet, row, photo);
    match added.await? {
        Some(_) => Ok(Acted::Done(Done::Row)),
        None => Ok(refused(&*words.sheet_is_gone)),
    }
}

async fn assign(
    service: &Service,
    tap: &TracedInteraction,
    experience_id: Option<ExperienceId>,
    words: &StaffWords,
) -> Result<Acted, StorageError> {
    let Some(tag) = tap.interaction.tag_id else {
        return Ok(refused(&*words.no_tag_here));
    };
    let edit = move |before: TagFields| {
        let after = TagFields {
            experience_id,
            ..before
        };
        after.validate().map_err(FieldError::from)?;
        Ok(after)
    };
    let edited = service
        .storage
        .edit_tag_with(tag, Box::new(edit), true)
        .await?;
    match edited {
        Some(_) => Ok(Acted::Done(Done::Experience)),
        None => Ok(refused(&*words.tag_is_gone)),
    }
}

async fn set_value(
    service: &Service,
    tap: &TracedInteraction,
    (key, value): (PropertyKey, String),
    words: &StaffWords,
) -> Result<Acted, StorageError> {
    let Some(id) = tap.interaction.tag_id else {
        return Ok(refused(&*words.no_tag_here));
    };
    match check_value(&value) {
        Ok(()) => {}
        // The field counts characters, and most of some scripts have two bytes or three.
        Err(InvalidProperty::TooLong) => return Ok(refused(&*words.value_is_long)),
        Err(why) => return Ok(refused(why.to_string())),
    }
    let Some(tag) = service.storage.tag(id).await? else {
        return Ok(refused(&*words.tag_is_gone));
    };
    // The form changes the variables that the page shows, and makes no new ones.
    if tag.fields.variables.get(key.as_str()).is_none() {
        let named = [("key", key.as_str())];
        return Ok(refused(fill(&words.no_variable, &named)));
    }
    let put = service
        .storage
        .put_property(id, PropertyClass::Variable, key, value);
    match put.await? {
        Some(_) => Ok(Acted::Done(Done::Value)),
        None => Ok(refused(&*words.tag_is_gone)),
    }
}

async fn move_inlay(
    service: &Service,
    tap: &TracedInteraction,
    slug: &str,
    words: &StaffWords,
) -> Result<Acted, StorageError> {
    if service.storage.is_limited() {
        return Ok(refused(&*words.no_move));
    }
    let Some(inlay) = tap.interaction.inlay_id else {
        return Ok(refused(&*words.nothing_to_move));
    };
    let Some(found) = service.storage.tag_tap(TagKey::Slug(slug)).await? else {
        return Ok(refused(fill(&words.no_slug, &[("slug", slug)])));
    };
    let tag = found.tag.id;
    let edit = move |before: InlayFields| {
        let after = InlayFields {
            tag_id: Some(tag),
            ..before
        };
        after.validate().map_err(FieldError::from)?;
        Ok(after)
    };
    let edited = service.storage.edit_inlay(inlay, Box::new(edit)).await?;
    match edited {
        Some(_) => Ok(Acted::Done(Done::Inlay)),
        None => Ok(refused(&*words.inlay_is_gone)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fields: &[(&str, &str)]) -> Option<Action> {
        let fields = fields.iter();
        let fields = fields.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let fields: BTreeMap<_, _> = fields.collect();
        Action::of(&fields)
    }

    #[test]
    fn an_action_is_read_from_its_fields() {
        let row = [("action", "bad"), ("sheet", "3"), ("note", " torn ")];
        let expected = Action::Row {
            sheet: SheetId::new(3),
            good: false,
            note: "torn".to_owned(),
            photo: None,
        };
        assert_eq!(of(&row), Some(expected));
        let none = [("action", "experience"), ("experience_id", "")];
        assert_eq!(of(&none), Some(Action::Experience(None)));
        let dented = [("action", "note"), ("note", " dented\r\n"), ("photo", "")];
        let expected = Action::Note {
            note: "dented".to_owned(),
            remove_photo: false,
            photo: None,
        };
        assert_eq!(of(&dented), Some(expected));
        let value = [("action", "value"), ("key", "owner"), ("value", "a\r\nb")];
        let expected = Action::Value {
            key: PropertyKey::parse("owner").unwrap(),
            value: "a\nb".to_owned(),
        };
        assert_eq!(of(&value), Some(expected));
        for fields in [
            &[][..],
            &[("action", "delete")][..],
            &[("action", "good")][..],
            &[("action", "good"), ("sheet", "0")][..],
            &[("action", "experience"), ("experience_id", "x")][..],
            &[("action", "value"), ("key", "a b"), ("value", "")][..],
            &[("action", "inlay")][..],
            &[("action", "note")][..],
        ] {
            assert_eq!(of(fields), None, "{fields:?}");
        }
    }

    #[test]
    fn a_change_is_named_in_the_address_of_its_page() {
        for done in Done::ALL {
            assert_eq!(Done::parse(done.as_str()), Some(done));
        }
        assert_eq!(Done::parse("other"), None);
    }
}
