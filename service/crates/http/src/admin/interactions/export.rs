//! `GET /admin/v1/interactions/export`.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::Uri;
use axum::response::{IntoResponse, Response};
use http_body_util::channel::Sender;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::IntoParams;

use super::list::ListInteractions;
use crate::admin::Asked;
use crate::admin::export::{self, AT_ONCE, ExportPosition, Format, cell, columns, line};
use crate::admin::extract::query::read;
use crate::error::{ApiError, Common, Invalid};
use crate::schema::Binary;
use app::service::Service;
use domain::id::{InlayId, InteractionId};
use domain::interaction::{Interaction, InteractionView, TagName};
use domain::webhook::object;
use inlay::Uid;
use storage::{InteractionFilter, StorageError};

/// Columns of an export without a selection.
const COLUMNS: [&str; 26] = [
    "id",
    "at",
    "tag_id",
    "slug",
    "tag_name",
    "tag_verified",
    "reason",
    "counter",
    "last_counter",
    "missed_reads",
    "inlay_id",
    "tech",
    "experience_id",
    "experience_version",
    "recall_group_id",
    "country",
    "system",
    "language",
    "visitor_group",
    "returning_month",
    "returning_day",
    "key_issued",
    "tamper",
    "simulated",
    "origin",
    "staff",
];
/// Columns that an export contains only if they are selected.
const NAMED: [&str; 2] = [UID, "file_data"];
/// The UID of the tapped inlay. If the code is of no inlay of the tag, the UID in the code.
const UID: &str = "uid";

/// Format, columns and start of an export.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportOptions {
    /// `csv`, `jsonl` or `xlsx`. A workbook has at most 32,767 characters of a cell, and further
    /// sheets after 1,048,576 rows.
    #[param(inline, required = false)]
    format: Format,
    /// The columns, separated by commas, in this order: members of an interaction in the list. By
    /// default all except `uid` and `file_data`. `uid` is also set where the list only contains the
    /// `inlay_id` of the code.
    columns: Option<String>,
    /// Continues an interrupted export. Send the `Tapdesk-Cursor` of its answer, or append `.` and
    /// the `id` of the last row that arrived.
    cursor: Option<String>,
}

impl ExportOptions {
    fn has(name: &str) -> bool {
        matches!(name, "format" | "columns" | "cursor")
    }
}

/// Export interactions
///
/// Exports all interactions that the filters of the list select, without a limit. The newest is
/// first, and newer interactions than at the start of the export are left out. `Tapdesk-Cursor`
/// contains this start, and continues an interrupted export. Exports never contain keys, their
/// hashes or clients. If a spreadsheet would take a cell for a formula, the cell begins with an
/// apostrophe.
#[utoipa::path(
    get, path = "/interactions/export", tag = "interactions", params(ListInteractions, ExportOptions),
    responses(
        (
            status = OK, content(
                (String = "application/jsonl; charset=utf-8"),
                (String = "text/csv; charset=utf-8"),
                (inline(Binary) = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
            ),
            headers(("Tapdesk-Cursor" = String, description = "From where the export is continued; not of a workbook"))
        ),
        Invalid, Common
    )
)]
pub(crate) async fn export(Asked(service): Asked, uri: Uri) -> Result<Response, ApiError> {
    let query = uri.query().unwrap_or_default();
    let options = read::<ExportOptions>(query, ExportOptions::has)?.0;
    let filter = read::<ListInteractions>(query, |name| !ExportOptions::has(name))?.0;
    let columns = columns(options.columns.as_deref(), &COLUMNS, &NAMED)?;
    options.format.check_cursor(options.cursor.as_deref())?;
    let place = options
        .cursor
        .as_deref()
        .map(ExportPosition::parse)
        .transpose()?;
    let filter = filter.read(&service).await?;
    let (begins, place) = match place {
        Some(place) => (false, Some(place)),
        None => (true, newest(&service, filter).await?),
    };
    let headers = options.format.file_headers("interactions");
    let file = File {
        format: options.format,
        columns,
    };
    let head = if begins {
        file.format.head(file.columns.iter().copied())
    } else {
        Vec::new()
    };
    let format = file.format;
    let send = move |sender| send(service, filter, file, head, place, sender);
    let body = export::table_body(format, "Interactions", send);
    Ok((headers, format.cursor(place), body).into_response())
}

/// The position of the newest interaction; `None` without interactions.
async fn newest(
    service: &Service,
    filter: InteractionFilter,
) -> Result<Option<ExportPosition>, StorageError> {
    let all = InteractionFilter {
        tag_id: filter.tag_id,
        no_tag: filter.no_tag,
        world: domain::world::World::Both,
        ..InteractionFilter::default()
    };
    let newest = service.storage.interactions(all, None, 1).await?;
    let first = newest.found.first().map(|(interaction, _)| interaction.id);
    Ok(first.or(newest.next).map(|bound| ExportPosition {
        bound: bound.get(),
        last: None,
    }))
}

/// Formats interactions for the file.
struct File {
    format: Format,
    columns: Vec<&'static str>,
}

impl File {
    /// The UIDs of the inlays that made the codes, if the column is selected.
    async fn uids(
        &self,
        service: &Service,
        found: &[(Interaction, Option<TagName>)],
    ) -> Result<HashMap<InlayId, Uid>, StorageError> {
        if !self.columns.contains(&UID) {
            return Ok(HashMap::new());
        }
        let inlays: BTreeSet<InlayId> = found.iter().filter_map(|(tap, _)| tap.inlay_id).collect();
        service
            .storage
            .inlay_uids(inlays.into_iter().collect())
            .await
    }

    fn line(&self, interaction: Interaction, tag: Option<TagName>, uid: Option<Uid>) -> Vec<u8> {
        let mut members = object(&InteractionView::new(interaction, tag));
        if let Some(uid) = uid {
            members.insert(UID.to_owned(), uid.to_string().into());
        }
        match self.format {
            Format::Csv | Format::Xlsx => {
                line(self.columns.iter().map(|name| cell(members.get(*name))))
            }
            Format::Jsonl => {
                let mut row = Map::new();
                for name in &self.columns {
                    let value = members.remove(*name).unwrap_or_default();
                    row.insert((*name).to_owned(), value);
                }
                let mut text = Value::Object(row).to_string().into_bytes();
                text.push(b'\n');
                text
            }
        }
    }
}

/// Sends the file. An error breaks the answer off, so the client notices it. If the client
/// disconnects, the work stops.
async fn send(
    service: Arc<Service>,
    filter: InteractionFilter,
    file: File,
    head: Vec<u8>,
    place: Option<ExportPosition>,
    mut sender: Sender<Bytes, StorageError>,
) {
    let mut text = head;
    let Some(place) = place else {
        let _ = sender.send_data(text.into()).await;
        return;
    };
    let mut next = InteractionId::try_from(place.last.unwrap_or(place.bound)).ok();
    while let Some(from) = next {
        let stretch = match service
            .storage
            .interactions(filter, Some(from), AT_ONCE)
            .await
        {
            Ok(stretch) => stretch,
            Err(error) => return sender.abort(error),
        };
        let uids = match file.uids(&service, &stretch.found).await {
            Ok(uids) => uids,
            Err(error) => return sender.abort(error),
        };
        for (interaction, tag) in stretch.found {
            if place.last.is_none_or(|last| interaction.id.get() < last) {
                let inlay = interaction.inlay_id;
                let uid = inlay.and_then(|inlay| uids.get(&inlay).copied());
                text.extend(file.line(interaction, tag, uid));
            }
        }
        next = stretch.next;
        let chunk = std::mem::take(&mut text);
        if !chunk.is_empty() && sender.send_data(chunk.into()).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_personal_is_a_column_only_by_its_name() {
        assert!(COLUMNS.iter().all(|column| !NAMED.contains(column)));
        assert_eq!(
            columns(Some("uid,id"), &COLUMNS, &NAMED).ok(),
            Some(vec!["uid", "id"])
        );
        for text in ["", "id,id", "client", "hash", "id, at"] {
            assert!(columns(Some(text), &COLUMNS, &NAMED).is_err(), "{text}");
        }
    }
}
