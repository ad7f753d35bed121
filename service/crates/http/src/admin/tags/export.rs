//! `GET /admin/v1/tags/export`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::HeaderName;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use csv::{Terminator, WriterBuilder};
use http_body_util::channel::Sender;

use super::csv::{EXPERIENCE, URL};
use super::filter::Filter;
use super::import::experience_names;
use crate::admin::Asked;
use crate::admin::export;
use crate::admin::extract::query::Query;
use crate::error::{ApiError, Code, Common, Conflicting, Invalid};
use app::service::Service;
use domain::field_error::FieldError;
use domain::id::ExperienceId;
use domain::settings::Settings;
use domain::table::damage;
use domain::tag::cell::{ABSENT, encode};
use domain::tag::{TagColumn, TagFields};
use domain::world::World;
use storage::{StorageError, TagFilter, TagList, TagOrder};

/// Number of tags per database read.
const AT_ONCE: usize = 500;
/// Header with the number of tags at the start of the export.
const TOTAL: HeaderName = HeaderName::from_static("tapdesk-total");
/// Maximum number of different property keys, because each is a column.
const KEYS_MAX: usize = 900;

/// Export tags
///
/// A CSV file with the columns of an import, the `url` of each tag, and one column for each
/// property key. An import of the file creates the same tags. `(none)` marks a property that a tag
/// does not have, and a single apostrophe a property with an empty value. Other cells without a
/// value are empty. If a spreadsheet would take a cell for a formula, or an import would take it
/// for a keyword, the cell begins with an apostrophe. `Tapdesk-Total` is the number of tags at the
/// start of the export. Simulated tags are never exported. Changes during the export may or may not
/// be included, but each tag is consistent.
#[utoipa::path(
    get, path = "/tags/export", tag = "tags", params(Filter),
    responses(
        (
            status = OK, body = String, content_type = "text/csv; charset=utf-8",
            headers(("Tapdesk-Total" = u64, description = "How many tags there were when the export began"))
        ),
        Conflicting, Invalid, Common
    )
)]
pub(crate) async fn export(
    Asked(service): Asked,
    Query(filter): Query<Filter>,
) -> Result<Response, ApiError> {
    if filter.simulated != World::Real {
        let why = "Simulated tags are not exported.";
        return Err(ApiError::Invalid(FieldError::of("simulated", why)));
    }
    let filter = filter.check()?;
    let keys = service.storage.property_keys(filter.clone()).await?;
    if keys.len() > KEYS_MAX {
        let why = format!(
            "These tags have {} different keys of properties, and a table has room for {KEYS_MAX}. \
             Export fewer tags at once.",
            keys.len()
        );
        return Err(ApiError::conflict(Code::TooManyKeys, why));
    }
    let properties = keys
        .into_iter()
        .map(|(class, key)| TagColumn::Property(class, key));
    let columns = TagColumn::FIXED.into_iter().chain(properties).collect();
    let file = File {
        columns,
        experiences: experience_names(&service).await?,
        settings: service.settings(),
    };
    let total = service.storage.count_tags(filter.clone()).await?;
    let body = export::body(move |sender| send(service, filter, file, sender));
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (
            CONTENT_DISPOSITION,
            "attachment; filename=\"tags.csv\"".to_owned(),
        ),
        (TOTAL, total.to_string()),
    ];
    Ok((headers, body).into_response())
}

/// Formats tags for the file.
struct File {
    columns: Vec<TagColumn>,
    experiences: HashMap<ExperienceId, String>,
    settings: Arc<Settings>,
}

impl File {
    fn header(&self) -> Vec<u8> {
        let names = self.columns.iter().flat_map(|column| {
            let beside = match column {
                TagColumn::Slug => Some(URL),
                TagColumn::ExperienceId => Some(EXPERIENCE),
                _ => None,
            };
            std::iter::once(column.name()).chain(beside.map(Cow::Borrowed))
        });
        line(names)
    }

    fn line(&self, tag: &TagFields) -> Vec<u8> {
        let cells = self.columns.iter().flat_map(|column| {
            let cell = match (column, column.cell(tag)) {
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
                    let name = tag.experience_id.and_then(|id| self.experiences.get(&id));
                    Some(encode(name.map(|name| name.as_str().into())))
                }
                _ => None,
            };
            std::iter::once(cell).chain(beside)
        });
        line(cells)
    }
}

/// Sends the file. An error breaks the answer off, so the client notices it. If the client
/// disconnects, the work stops.
async fn send(
    service: Arc<Service>,
    filter: TagFilter,
    file: File,
    mut sender: Sender<Bytes, StorageError>,
) {
    // The byte order mark tells spreadsheets that the file is UTF-8.
    let mut text = "\u{feff}".as_bytes().to_vec();
    text.extend(file.header());
    let mut list = TagList {
        filter,
        order: TagOrder::Created,
        after: None,
        limit: AT_ONCE,
    };
    loop {
        if sender.send_data(text.into()).await.is_err() {
            return;
        }
        let tags = match service.storage.tags(list.clone()).await {
            Ok(tags) => tags,
            Err(error) => return sender.abort(error),
        };
        let Some((_, end)) = tags.last() else {
            return;
        };
        list.after = Some(end.clone());
        text = Vec::new();
        for (tag, _) in &tags {
            text.extend(file.line(&tag.fields));
        }
    }
}

/// A CSV row with its line end (RFC 4180).
fn line<'a>(cells: impl Iterator<Item = Cow<'a, str>>) -> Vec<u8> {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(Vec::new());
    // Writing to memory cannot fail, and the number of cells is constant.
    let _ = writer.write_record(cells.map(|cell| cell.into_owned().into_bytes()));
    writer.into_inner().unwrap_or_default()
}
