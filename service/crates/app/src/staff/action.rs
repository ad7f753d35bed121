//! The actions of a staff page. Each is one change, as a program makes it through the admin API, and
//! leaves the same row in the audit log.

use std::collections::BTreeMap;

use super::open_sheet;
use crate::service::Service;
use crate::tap::lines;
use domain::field_error::FieldError;
use domain::id::{ExperienceId, SheetId, TagId};
use domain::inventory::InlayFields;
use domain::phone::Phone;
use domain::scope::Scope;
use domain::sheet::RowFields;
use domain::tag::{PropertyClass, PropertyKey, TagFields, check_value};
use domain::trace::TracedInteraction;
use storage::{StorageError, TagKey};

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

    /// The scope that the phone needs.
    pub const fn scope(&self) -> Scope {
        match self {
            Self::Row { .. } => Scope::Encode,
            Self::Experience(_) | Self::Value { .. } => Scope::Tags,
            Self::Inlay { .. } => Scope::Keys,
        }
    }

    /// The operation and its object, as the audit log names the same change of a token.
    pub fn recorded_as(&self, tap: &TracedInteraction) -> (&'static str, String) {
        let tag = tap.interaction.tag_id.map_or(0, TagId::get);
        match self {
            Self::Row { sheet, .. } => ("sheets.rows.create", format!("sheets/{sheet}/rows")),
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
    const ALL: [Self; 4] = [Self::Row, Self::Experience, Self::Value, Self::Inlay];

    /// Its name in the address of the page.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Row => "row",
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
    pub(super) const fn sentence(self) -> &'static str {
        match self {
            Self::Row => "Row saved",
            Self::Experience => "Experience saved",
            Self::Value => "Value saved",
            Self::Inlay => "Inlay moved. Tap it again to see its new tag.",
        }
    }
}

/// Does an action about a tap. `service` works for the phone, whose scopes were checked.
pub async fn act(
    service: &Service,
    phone: &Phone,
    tap: &TracedInteraction,
    action: Action,
) -> Result<Acted, StorageError> {
    match action {
        Action::Row { sheet, good, note } => {
            let verdict = match (good, tap.interaction.verdict.tag_verified()) {
                (true, _) => "ok",
                (false, Some(false)) => "not_verified",
                (false, _) => "bad",
            };
            let row = open_sheet::fields(phone, tap, verdict, note);
            add_row(service, sheet, row).await
        }
        Action::Experience(experience) => assign(service, tap, experience).await,
        Action::Value { key, value } => set_value(service, tap, key, value).await,
        Action::Inlay { slug } => move_inlay(service, tap, &slug).await,
    }
}

fn refused(why: impl Into<String>) -> Acted {
    Acted::Refused(why.into())
}

const NO_TAG: &str = "This inlay is on no tag.";
const TAG_IS_GONE: &str = "This tag was deleted, or left the groups of this phone.";

async fn add_row(service: &Service, sheet: SheetId, row: RowFields) -> Result<Acted, StorageError> {
    if service.storage.is_limited() {
        return Ok(refused(
            "A phone that is limited to groups has no test sheets.",
        ));
    }
    let row = match row.validated() {
        Ok(row) => row,
        Err(FieldError { message, .. }) => return Ok(refused(message)),
    };
    // A person who presses twice sends the same row twice, also both at once.
    match service.storage.append_sheet_row_once(sheet, row).await? {
        Some(_) => Ok(Acted::Done(Done::Row)),
        None => Ok(refused(
            "This test sheet does not exist any more. Choose another one.",
        )),
    }
}

async fn assign(
    service: &Service,
    tap: &TracedInteraction,
    experience_id: Option<ExperienceId>,
) -> Result<Acted, StorageError> {
    let Some(tag) = tap.interaction.tag_id else {
        return Ok(refused(NO_TAG));
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
        None => Ok(refused(TAG_IS_GONE)),
    }
}

async fn set_value(
    service: &Service,
    tap: &TracedInteraction,
    key: PropertyKey,
    value: String,
) -> Result<Acted, StorageError> {
    let Some(id) = tap.interaction.tag_id else {
        return Ok(refused(NO_TAG));
    };
    if let Err(why) = check_value(&value) {
        return Ok(refused(why.to_string()));
    }
    let Some(tag) = service.storage.tag(id).await? else {
        return Ok(refused(TAG_IS_GONE));
    };
    // The form changes the variables that the page shows, and makes no new ones.
    if tag.fields.variables.get(key.as_str()).is_none() {
        return Ok(refused(format!(
            "This tag has no variable {}.",
            key.as_str()
        )));
    }
    let put = service
        .storage
        .put_property(id, PropertyClass::Variable, key, value);
    match put.await? {
        Some(_) => Ok(Acted::Done(Done::Value)),
        None => Ok(refused(TAG_IS_GONE)),
    }
}

async fn move_inlay(
    service: &Service,
    tap: &TracedInteraction,
    slug: &str,
) -> Result<Acted, StorageError> {
    if service.storage.is_limited() {
        return Ok(refused(
            "A phone that is limited to groups cannot move inlays.",
        ));
    }
    let Some(inlay) = tap.interaction.inlay_id else {
        return Ok(refused(
            "The tap does not say which inlay made it, so there is nothing to move.",
        ));
    };
    let Some(found) = service.storage.tag_tap(TagKey::Slug(slug)).await? else {
        return Ok(refused(format!(
            "No tag has the slug {slug}. Check its spelling."
        )));
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
        None => Ok(refused("This inlay was deleted.")),
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
        };
        assert_eq!(of(&row), Some(expected));
        let none = [("action", "experience"), ("experience_id", "")];
        assert_eq!(of(&none), Some(Action::Experience(None)));
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
