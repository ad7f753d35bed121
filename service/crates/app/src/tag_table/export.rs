//! Exports tags as a table that an import reads.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::column::{EXPERIENCE, GROUP, URL};
use super::import::{experience_names, group_paths};
use crate::csv_file::{BOM, line};
use crate::service::Service;
use domain::id::{ExperienceId, GroupId};
use domain::settings::Settings;
use domain::table::damage;
use domain::tag::cell::{ABSENT, encode};
use domain::tag::{TagColumn, TagFields};
use storage::{StorageError, TagFilter, TagList, TagOrder};

/// Number of tags per database read.
const AT_ONCE: usize = 500;
/// Maximum number of different property keys, because each is a column.
const KEYS_MAX: usize = 900;

/// Why tags are not exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The tags have more different property keys than a table can have columns.
    #[error(
        "These tags have {0} different keys of properties, and a table has room for {KEYS_MAX}. \
         Export fewer tags at once."
    )]
    TooManyKeys(usize),
    /// A read or a write of the database failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// A table of tags that is written in pieces.
pub struct TagExport {
    service: Arc<Service>,
    file: File,
    list: TagList,
    total: u64,
    has_header: bool,
}

/// Begins to export the tags that a filter selects.
pub async fn export(service: Arc<Service>, filter: TagFilter) -> Result<TagExport, ExportError> {
    let keys = service.storage.property_keys(filter.clone()).await?;
    if keys.len() > KEYS_MAX {
        return Err(ExportError::TooManyKeys(keys.len()));
    }
    let properties = keys
        .into_iter()
        .map(|(class, key)| TagColumn::Property(class, key));
    let columns = TagColumn::FIXED.into_iter().chain(properties).collect();
    let experiences = experience_names(&service).await?;
    let groups = group_paths(&service).await?;
    let file = File {
        columns,
        shared_names: shared(experiences.values()),
        experiences,
        shared_paths: shared(groups.values()),
        groups,
        settings: service.settings(),
    };
    let total = service.storage.count_tags(filter.clone()).await?;
    let list = TagList {
        filter,
        order: TagOrder::Created,
        after: None,
        limit: AT_ONCE,
    };
    Ok(TagExport {
        service,
        file,
        list,
        total,
        has_header: false,
    })
}

impl TagExport {
    /// Number of tags at the start of the export.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// The next piece of the file, beginning with the header; `None` after the last one.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, StorageError> {
        if !self.has_header {
            self.has_header = true;
            let mut text = BOM.as_bytes().to_vec();
            text.extend(self.file.header());
            return Ok(Some(text));
        }
        let tags = self.service.storage.tags(self.list.clone()).await?;
        let Some((_, end)) = tags.last() else {
            return Ok(None);
        };
        self.list.after = Some(end.clone());
        let mut text = Vec::new();
        for (tag, _) in &tags {
            text.extend(self.file.line(&tag.fields));
        }
        Ok(Some(text))
    }
}

/// Formats tags for the file.
struct File {
    columns: Vec<TagColumn>,
    experiences: HashMap<ExperienceId, String>,
    /// Names that more than one experience has.
    shared_names: HashSet<String>,
    /// The path of each group.
    groups: HashMap<GroupId, String>,
    /// Paths that more than one group has.
    shared_paths: HashSet<String>,
    settings: Arc<Settings>,
}

impl File {
    fn header(&self) -> Vec<u8> {
        let names = self.columns.iter().flat_map(|column| {
            let beside = match column {
                TagColumn::Slug => Some(URL),
                TagColumn::ExperienceId => Some(EXPERIENCE),
                TagColumn::GroupId => Some(GROUP),
                _ => None,
            };
            std::iter::once(column.name()).chain(beside.map(Cow::Borrowed))
        });
        line(names)
    }

    fn line(&self, tag: &TagFields) -> Vec<u8> {
        let cells = self.columns.iter().flat_map(|column| {
            let experience = tag.experience_id.and_then(|id| self.experiences.get(&id));
            let group = tag.group_id.and_then(|id| self.groups.get(&id));
            let cell = match (column, column.cell(tag)) {
                // Another service has other ids, so the name is enough if it is the only one.
                (TagColumn::ExperienceId, _)
                    if experience.is_some_and(|name| !self.shared_names.contains(name.trim())) =>
                {
                    Cow::Borrowed("")
                }
                (TagColumn::GroupId, _)
                    if group.is_some_and(|path| !self.shared_paths.contains(path)) =>
                {
                    Cow::Borrowed("")
                }
                (TagColumn::Property(..), None) => Cow::Borrowed(ABSENT),
                // The apostrophe makes spreadsheets keep the cell as text, and an import removes
                // it.
                (TagColumn::Slug, Some(slug)) if damage::of_slug(&slug).is_some() => {
                    Cow::Owned(format!("'{slug}"))
                }
                (_, cell) => encode(cell),
            };
            let beside = match column {
                TagColumn::Slug => {
                    let url = self.settings.url_of(tag.slug.as_str());
                    Some(encode(Some(url.into())))
                }
                TagColumn::ExperienceId => {
                    Some(encode(experience.map(|name| name.as_str().into())))
                }
                TagColumn::GroupId => Some(encode(group.map(|path| path.as_str().into()))),
                _ => None,
            };
            std::iter::once(cell).chain(beside)
        });
        line(cells)
    }
}

/// The names that occur more than once, trimmed as an import compares them.
fn shared<'a>(names: impl Iterator<Item = &'a String>) -> HashSet<String> {
    let mut seen = HashSet::new();
    let names = names.map(|name| name.trim());
    names
        .filter(|name| !seen.insert(*name))
        .map(str::to_owned)
        .collect()
}
