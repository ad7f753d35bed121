//! `GET /admin/v1/tags/export`.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use csv::{Terminator, WriterBuilder};
use http_body_util::channel::{Channel, Sender};

use super::filter::Filter;
use crate::http::admin::query::Query;
use crate::http::error::{ApiError, Common, Conflicting, Invalid};
use crate::service::Service;
use crate::spreadsheet::encode;
use crate::storage::{StorageError, TagFilter, TagList, TagOrder};
use crate::tag::TagColumn;
use crate::world::World;

/// Tags read at once.
const AT_ONCE: usize = 500;
/// Most different keys of properties; each is a column.
const KEYS_MAX: usize = 900;

/// Export tags
///
/// A CSV file with the columns of import, one for each property that there is.
/// A cell that a spreadsheet would take for a formula has an apostrophe in
/// front. Simulated tags are never exported. What is written while the export
/// goes on may be in it or not; each tag is as it was at one moment.
#[utoipa::path(
    get, path = "/tags/export", tag = "tags", params(Filter),
    responses(
        (status = OK, body = String, content_type = "text/csv; charset=utf-8"),
        Conflicting, Invalid, Common
    )
)]
pub(crate) async fn export(
    State(service): State<Arc<Service>>,
    Query(filter): Query<Filter>,
) -> Result<Response, ApiError> {
    if filter.simulated != World::Real {
        let why = "Simulated tags are not exported.".to_owned();
        return Err(ApiError::Invalid(why));
    }
    let filter = filter.check()?;
    let keys = service.storage.property_keys(filter.clone()).await?;
    if keys.len() > KEYS_MAX {
        let why = format!(
            "These tags have {} different keys of properties, and a table has room for {KEYS_MAX}. \
             Export fewer tags at once.",
            keys.len()
        );
        return Err(ApiError::Conflict(why));
    }
    let properties = keys
        .into_iter()
        .map(|(class, key)| TagColumn::Property(class, key));
    let columns = TagColumn::FIXED.into_iter().chain(properties).collect();
    let (sender, body) = Channel::<Bytes, StorageError>::new(2);
    tokio::spawn(send(service, filter, columns, sender));
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8"),
        (CONTENT_DISPOSITION, "attachment; filename=\"tags.csv\""),
    ];
    Ok((headers, Body::new(body)).into_response())
}

/// Sends the file. A failure ends the answer in its middle, which the caller
/// sees; a caller who goes away ends the work.
async fn send(
    service: Arc<Service>,
    filter: TagFilter,
    columns: Vec<TagColumn>,
    mut sender: Sender<Bytes, StorageError>,
) {
    // Spreadsheets know UTF-8 by the byte order mark.
    let mut text = "\u{feff}".as_bytes().to_vec();
    text.extend(line(columns.iter().map(TagColumn::name)));
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
        let Some(end) = tags.last() else {
            return;
        };
        list.after = Some(list.order.place(end));
        text = Vec::new();
        for tag in &tags {
            let cells = columns.iter().map(|column| column.cell(&tag.fields));
            text.extend(line(cells.map(encode)));
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
