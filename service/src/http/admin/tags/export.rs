//! `GET /admin/v1/tags/export`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderName;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use csv::{Terminator, WriterBuilder};
use http_body_util::channel::Sender;

use super::csv::EXPERIENCE;
use super::filter::Filter;
use super::import::experience_names;
use crate::field_error::FieldError;
use crate::http::admin::export;
use crate::http::admin::query::Query;
use crate::http::error::{ApiError, Code, Common, Conflicting, Invalid};
use crate::id::ExperienceId;
use crate::service::Service;
use crate::storage::{StorageError, TagFilter, TagList, TagOrder};
use crate::tag::cell::{ABSENT, encode};
use crate::tag::{TagColumn, TagFields};
use crate::world::World;

/// Tags read at once.
const AT_ONCE: usize = 500;
/// How many tags there were when the export began.
const TOTAL: HeaderName = HeaderName::from_static("tapdesk-total");
/// Most different keys of properties; each is a column.
const KEYS_MAX: usize = 900;

/// Export tags
///
/// A CSV file with the columns of import and one column for each property key. If it is imported,
/// it makes the same tags. A property that a tag does not have is `(none)`, one with an empty value
/// a single apostrophe; other cells are empty if there is no value. A cell that a spreadsheet would
/// take for a formula, or import for one of its words, begins with an apostrophe. `Tapdesk-Total`
/// is the number of tags when the export began. Simulated tags are never exported. Changes during
/// the export may be in it or not; each tag is as it was at one moment.
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
    State(service): State<Arc<Service>>,
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

/// How the file says what tags are.
struct File {
    columns: Vec<TagColumn>,
    experiences: HashMap<ExperienceId, String>,
}

impl File {
    fn header(&self) -> Vec<u8> {
        let names = self.columns.iter().flat_map(|column| {
            let experience = matches!(column, TagColumn::ExperienceId);
            let experience = experience.then_some(Cow::Borrowed(EXPERIENCE));
            std::iter::once(column.name()).chain(experience)
        });
        line(names)
    }

    fn line(&self, tag: &TagFields) -> Vec<u8> {
        let cells = self.columns.iter().flat_map(|column| {
            let cell = match (column, column.cell(tag)) {
                (TagColumn::Property(..), None) => Cow::Borrowed(ABSENT),
                (_, cell) => encode(cell),
            };
            let experience = matches!(column, TagColumn::ExperienceId).then(|| {
                let name = tag.experience_id.and_then(|id| self.experiences.get(&id));
                encode(name.map(|name| name.as_str().into()))
            });
            std::iter::once(cell).chain(experience)
        });
        line(cells)
    }
}

/// Sends the file. A failure ends the answer in its middle, which the caller
/// sees; a caller who goes away ends the work.
async fn send(
    service: Arc<Service>,
    filter: TagFilter,
    file: File,
    mut sender: Sender<Bytes, StorageError>,
) {
    // Spreadsheets know UTF-8 by the byte order mark.
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

/// A row with its line end (RFC 4180).
fn line<'a>(cells: impl Iterator<Item = Cow<'a, str>>) -> Vec<u8> {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(Vec::new());
    // Writing into memory does not fail, and the number of cells is always the same.
    let _ = writer.write_record(cells.map(|cell| cell.into_owned().into_bytes()));
    writer.into_inner().unwrap_or_default()
}
