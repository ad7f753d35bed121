//! Finds the experience of a row by its name, or by its id if there is no name.

use std::collections::HashMap;

use super::UnknownExperience;
use crate::service::Service;
use crate::tag_table::column::EXPERIENCE;
use domain::field_error::FieldError;
use domain::id::ExperienceId;
use domain::tag::cell::Cell;
use storage::{Conflict, ExperienceFilter, StorageError};

/// Number of experiences per database read.
const AT_ONCE: usize = 500;

/// Name of the column for the id of an experience.
const EXPERIENCE_ID: &str = "experience_id";

/// A cell of `experience_id`, and a warning about the cell that it is from.
type Found = (Cell, Option<FieldError>);

/// All experiences by name, as of the start of the import. When a tag is stored, the database
/// checks again that its experience exists.
pub(super) struct Experiences {
    names: HashMap<ExperienceId, String>,
    ids: HashMap<String, Vec<ExperienceId>>,
    unknown: UnknownExperience,
}

impl Experiences {
    pub(super) async fn load(
        service: &Service,
        unknown: UnknownExperience,
    ) -> Result<Self, StorageError> {
        let names = names(service).await?;
        let mut ids = HashMap::<String, Vec<ExperienceId>>::new();
        for (id, name) in &names {
            ids.entry(name.clone()).or_default().push(*id);
        }
        Ok(Self {
            names,
            ids,
            unknown,
        })
    }

    /// The experience that these two cells name, as a cell of `experience_id`, and an optional
    /// warning.
    pub(super) fn find(&self, id: &Cell, name: &Cell) -> Result<Found, FieldError> {
        let id_text = id.text().map(str::trim).filter(|text| !text.is_empty());
        let name_text = name.text().filter(|text| !text.trim().is_empty());
        match (id_text, name_text) {
            (None, None) if *id == Cell::Delete || *name == Cell::Delete => {
                Ok((Cell::Delete, None))
            }
            (None, None) => Ok((Cell::Empty, None)),
            (Some(_), None) if *name == Cell::Delete => Err(disagree("one is to be deleted")),
            (None, Some(_)) if *id == Cell::Delete => Err(disagree("one is to be deleted")),
            (Some(id), None) => {
                let id = number(id)?;
                match self.names.get(&id) {
                    Some(_) => Ok((Cell::Text(id.to_string()), None)),
                    None => self.unknown(missing(id)),
                }
            }
            (None, Some(name)) => self.of_name(name),
            (Some(id), Some(name)) => {
                let id = number(id)?;
                let known = self.names.get(&id).map(|known| known.trim());
                if known == Some(name.trim()) {
                    return Ok((Cell::Text(id.to_string()), None));
                }
                // The name decides: the id may be one of another service.
                let (cell, warning) = self.of_name(name)?;
                let other = known.map(|known| {
                    let why = format!(
                        "The experience is found by its name: experience {id} is \"{known}\" here."
                    );
                    FieldError::of(EXPERIENCE_ID, why)
                });
                Ok((cell, warning.or(other)))
            }
        }
    }

    fn of_name(&self, name: &str) -> Result<Found, FieldError> {
        let why = match self.named(name) {
            [id] => return Ok((Cell::Text(id.to_string()), None)),
            [] => format!("There is no experience named \"{name}\"."),
            several => format!(
                "{} experiences are named \"{name}\". Say which one with experience_id.",
                several.len()
            ),
        };
        self.unknown(FieldError::of(EXPERIENCE, why))
    }

    fn named(&self, name: &str) -> &[ExperienceId] {
        let found = self.ids.get(name).or_else(|| self.ids.get(name.trim()));
        found.map_or(&[], Vec::as_slice)
    }

    fn unknown(&self, why: FieldError) -> Result<Found, FieldError> {
        match self.unknown {
            UnknownExperience::Refuse => Err(why),
            UnknownExperience::Ignore => Ok((Cell::Empty, Some(why))),
        }
    }
}

/// The names of all experiences.
pub(crate) async fn names(
    service: &Service,
) -> Result<HashMap<ExperienceId, String>, StorageError> {
    let mut names = HashMap::new();
    let mut after = None;
    loop {
        let filter = ExperienceFilter::default();
        let some = service.storage.experiences(filter, after, AT_ONCE).await?;
        let Some(last) = some.last() else {
            return Ok(names);
        };
        after = Some(last.id);
        names.extend(some.into_iter().map(|found| (found.id, found.name.into())));
    }
}

fn number(text: &str) -> Result<ExperienceId, FieldError> {
    let why = "experience_id is the number of an experience.";
    text.parse().map_err(|_| FieldError::of(EXPERIENCE_ID, why))
}

fn missing(id: ExperienceId) -> FieldError {
    let noun = "experience";
    Conflict::Missing { noun, id: id.get() }.into()
}

fn disagree(why: &str) -> FieldError {
    let why =
        format!("The cells experience_id and experience disagree: {why}. Leave one of them empty.");
    FieldError::of(EXPERIENCE, why)
}
