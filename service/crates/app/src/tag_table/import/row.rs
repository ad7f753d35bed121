//! Converts rows of a file to rows for the storage.

use std::sync::Arc;

use serde_json::{Map, Value};
use serde_path_to_error::Segment;
use tokio::sync::OnceCell;

use super::super::chip::OfAllChips;
use super::super::column::{Column, OTHER_KEYS, TECHNOLOGY, TEMPLATE, TEMPLATE_ID, UID};
use super::experiences::Experiences;
use super::groups::Groups;
use crate::inlays::{InlayError, InlayRequest};
use crate::service::Service;
use domain::field_error::FieldError;
use domain::id::UrlTemplateId;
use domain::inventory::{NewInlay, URL_TEMPLATES_MAX, UrlTemplate};
use domain::tag::cell::Cell;
use domain::tag::{Slug, TagColumn, TagFields, TagRow};
use storage::ImportRow;

/// Converts the rows of a file with these columns.
pub(super) struct Reader {
    columns: Arc<[Column]>,
    /// Columns of the tag. A named experience or group becomes an id here.
    of_tag: Arc<[TagColumn]>,
    named: OfTag,
    of_all: OfAllChips,
    /// Read once, if a row needs them.
    templates: OnceCell<Vec<UrlTemplate>>,
    add_variables: bool,
    /// Whether a new tag without a name gets its slug or its UID as its name.
    fills_names: bool,
}

/// The objects that the rows of a file name.
pub(super) struct OfTag {
    /// Required if a column names experiences.
    pub(super) experiences: Option<Experiences>,
    /// Required if a column names groups.
    pub(super) groups: Option<Arc<Groups>>,
}

/// A row that was converted.
pub(super) struct Parsed {
    pub(super) row: ImportRow,
    /// A warning about the row.
    pub(super) warning: Option<FieldError>,
}

impl Reader {
    /// A reader of rows with these columns.
    pub(super) fn new(
        columns: Arc<[Column]>,
        named: OfTag,
        of_all: OfAllChips,
        add_variables: bool,
        fills_names: bool,
    ) -> Self {
        let of_tag = columns.iter().filter_map(|column| match column {
            Column::Tag(TagColumn::ExperienceId | TagColumn::GroupId)
            | Column::Experience
            | Column::Group
            | Column::Url
            | Column::Inlay(_) => None,
            Column::Tag(column) => Some(column.clone()),
        });
        let leads = named
            .experiences
            .is_some()
            .then_some(TagColumn::ExperienceId);
        let group = named.groups.is_some().then_some(TagColumn::GroupId);
        Self {
            of_tag: of_tag.chain(leads).chain(group).collect(),
            columns,
            named,
            of_all,
            templates: OnceCell::new(),
            add_variables,
            fills_names,
        }
    }

    /// Converts a row. The field of an error is the name of a column.
    pub(super) async fn read(
        &self,
        service: &Service,
        cells: Vec<Cell>,
    ) -> Result<Parsed, FieldError> {
        let mut of_tag = Vec::with_capacity(self.of_tag.len());
        let (mut slug, mut id, mut name) = (None, Cell::Empty, Cell::Empty);
        let (mut group_id, mut path) = (Cell::Empty, Cell::Empty);
        let mut members = Map::new();
        for (column, cell) in self.columns.iter().zip(cells) {
            match column {
                Column::Tag(TagColumn::Slug) => {
                    slug = named(&cell)?;
                    of_tag.push(cell);
                }
                Column::Tag(TagColumn::ExperienceId) => id = cell,
                Column::Tag(TagColumn::GroupId) => group_id = cell,
                Column::Group => path = cell,
                Column::Tag(_) => of_tag.push(cell),
                Column::Experience => name = cell,
                Column::Url => {}
                Column::Inlay(member) => {
                    if let Some(text) = cell.text().map(str::trim).filter(|text| !text.is_empty()) {
                        members.insert((*member).to_owned(), value(member, text));
                    }
                }
            }
        }
        let mut warning = None;
        if let Some(experiences) = &self.named.experiences {
            let (cell, unknown) = experiences.find(&id, &name)?;
            of_tag.push(cell);
            warning = unknown;
        }
        if let Some(groups) = &self.named.groups {
            of_tag.push(groups.find(service, &group_id, &path).await?);
        }
        let row = TagRow::new(Arc::clone(&self.of_tag), of_tag);
        let new_name = if self.fills_names {
            let uid = members.get(UID).and_then(Value::as_str);
            let name = slug.as_ref().map(Slug::as_str).or(uid);
            name.unwrap_or_default().to_owned()
        } else {
            String::new()
        };
        let named = slug.is_some();
        let slug = slug.unwrap_or_else(|| Slug::generate(&*service.entropy));
        // Check the row itself before the database is queried. An existing tag may have its name
        // already.
        row.change(TagFields {
            slug: slug.clone(),
            ..TagFields::named("-".to_owned())
        })?;
        if let Some(named) = members.remove(TEMPLATE) {
            let id = self.template(service, &named).await?;
            members.insert(TEMPLATE_ID.to_owned(), id.get().into());
        }
        self.of_all.add(&mut members);
        if members.contains_key(UID) && !members.contains_key(TECHNOLOGY) {
            let chip = self.of_all.chip(&members, self.templates(service).await?)?;
            members.insert(TECHNOLOGY.to_owned(), chip.as_str().into());
        }
        let inlay = inlay(service, members).await?;
        let row = ImportRow {
            slug,
            named,
            row,
            new_name,
            inlay,
            add_variables: self.add_variables,
        };
        Ok(Parsed { row, warning })
    }

    /// The URL templates that a row can name.
    async fn templates(&self, service: &Service) -> Result<&[UrlTemplate], FieldError> {
        let read = || service.storage.url_templates(None, URL_TEMPLATES_MAX);
        let templates = self.templates.get_or_try_init(read).await;
        let templates = templates.map_err(|error| {
            error.log();
            FieldError::whole(error.for_people())
        })?;
        Ok(templates)
    }

    /// The URL template with the name in a cell.
    async fn template(
        &self,
        service: &Service,
        named: &Value,
    ) -> Result<UrlTemplateId, FieldError> {
        let named = named.as_str().unwrap_or_default();
        let templates = self.templates(service).await?;
        let mut found = templates
            .iter()
            .filter(|template| &*template.fields.name == named);
        let why = match (found.next(), found.next()) {
            (Some(template), None) => return Ok(template.id),
            (Some(_), Some(_)) => format!(
                "Several URL templates are called \"{named}\": use the column url_template_id."
            ),
            (None, _) => format!("There is no URL template called \"{named}\"."),
        };
        Err(FieldError::of(TEMPLATE, why))
    }
}

/// The slug in a cell.
fn named(cell: &Cell) -> Result<Option<Slug>, FieldError> {
    let invalid = |why: String| FieldError::of("slug", why);
    if *cell == Cell::Delete {
        return Err(invalid("slug cannot be deleted, only changed.".to_owned()));
    }
    let slug = cell.text().map(str::trim).filter(|slug| !slug.is_empty());
    let slug = slug.map(Slug::parse).transpose();
    slug.map_err(|error| invalid(error.to_string()))
}

/// The new inlay of a row, as a request with these members. `None` if all its cells
/// are empty.
async fn inlay(
    service: &Service,
    mut members: Map<String, Value>,
) -> Result<Option<NewInlay>, FieldError> {
    if members.is_empty() {
        return Ok(None);
    }
    if let Some(others) = other_keys(&mut members)? {
        members.insert("other_keys".to_owned(), others);
    }
    let request: InlayRequest =
        serde_path_to_error::deserialize(Value::Object(members)).map_err(|error| {
            let why = format!("The inlay is invalid: {}.", error.inner());
            match error.path().iter().next() {
                // A row with a wrong member names it; one that lacks a member does not.
                Some(Segment::Map { key }) => FieldError::of(key.clone(), why),
                _ => FieldError::whole(why),
            }
        })?;
    let inlay = request.seal(service).await;
    inlay.map(Some).map_err(InlayError::into_field_error)
}

/// The chip's other keys in a row. A key that is not there is the chip's factory key, because few
/// programs use keys 3 and 4.
fn other_keys(members: &mut Map<String, Value>) -> Result<Option<Value>, FieldError> {
    let sent = OTHER_KEYS.map(|name| (name, members.remove(name)));
    match &sent {
        [(_, None), (_, None), (_, None)] => return Ok(None),
        [(_, None), (name, key), _] => {
            let given = if key.is_some() { *name } else { OTHER_KEYS[2] };
            let why = "A row with key_3 or key_4 needs key_0, too.";
            return Err(FieldError::of(given, why));
        }
        _ => {}
    }
    let others = sent.map(|(name, key)| {
        let factory = || "0".repeat(32).into();
        (name.to_owned(), key.unwrap_or_else(factory))
    });
    Ok(Some(Value::Object(others.into_iter().collect())))
}

/// Converts a cell to a member of a JSON object.
fn value(member: &str, text: &str) -> Value {
    match (member, text.parse::<i64>()) {
        ("mirror", _) if text == "none" => Value::Null,
        ("master_key_id" | "url_template_id" | "last_counter", Ok(number)) => number.into(),
        _ => text.into(),
    }
}
