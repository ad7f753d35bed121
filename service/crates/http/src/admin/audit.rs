//! `/admin/v1/audit`: the log of all changes.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use http_body_util::channel::Sender;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::admin::Asked;
use crate::admin::export;
use crate::admin::extract::page::{List, Page, PageParams};
use crate::admin::extract::query::Query;
use crate::error::{ApiError, Common, Invalid};
use crate::schema::Binary;
use app::service::Service;
use domain::audit::{Row, Values};
use domain::clock::Timestamp;
use storage::{AuditFilter, StorageError};

/// Number of rows per database read.
const AT_ONCE: usize = 500;

/// Filters of the audit log.
#[derive(Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditQuery {
    /// Only rows of this actor: `desktop`, `encoder`, `command_line`, `installation`, a stored
    /// token such as `token:3`, or a staff phone such as `phone:3`.
    actor: Option<String>,
    /// Only rows with this action, such as `tags.update`. `tags` selects all actions that begin
    /// with `tags.`.
    action: Option<String>,
    /// Only rows of this object, such as `tags/41`, and of objects beneath it.
    object: Option<String>,
    /// Only rows at this time or later.
    since: Option<Timestamp>,
    /// Only rows before this time.
    until: Option<Timestamp>,
}

impl From<AuditQuery> for AuditFilter {
    fn from(query: AuditQuery) -> Self {
        Self {
            actor: query.actor,
            action: query.action,
            object: query.object,
            since: query.since,
            until: query.until,
        }
    }
}

/// The sender of a request.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditActor {
    /// `token` for a stored token, `phone` for a staff phone. For the installation's own token:
    /// `desktop`, `encoder`, `command_line`, or `installation` for any other program.
    kind: String,
    /// The stored token, or the staff phone. It may have been deleted since.
    #[schema(minimum = 1)]
    id: Option<i64>,
    /// The name that the stored token or the phone had at that time.
    name: Option<String>,
}

/// A row of the audit log: a request that changed something.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditRow {
    /// Number of the row. Numbers increase by one.
    id: i64,
    /// Time of the request.
    at: Timestamp,
    /// The sender of the request.
    actor: AuditActor,
    /// The operation, such as `tags.update`.
    action: String,
    /// The object of the operation, as a path within the admin API: `tags/41`.
    object: String,
    /// Members that changed, with their old values. `null` if the object is new or the values were
    /// erased. Long values are left out.
    before: Option<Value>,
    /// Members that changed, with their new values. For a bulk change, the members of the request.
    after: Option<Value>,
    /// IP address of the client.
    address: String,
    /// Hash of this row and of the previous hash, in hex. It reveals changed and missing rows.
    hash: String,
}

impl From<Row> for AuditRow {
    fn from(row: Row) -> Self {
        let values = row.values.as_ref();
        let values = values.and_then(|(_, json)| serde_json::from_str(json).ok());
        let values: Values = values.unwrap_or_default();
        let (kind, id) = match row.actor.split_once(':') {
            Some((kind, id)) => (kind.to_owned(), id.parse().ok()),
            None => (row.actor, None),
        };
        Self {
            id: row.id,
            at: row.at,
            actor: AuditActor {
                kind,
                id,
                name: row.name,
            },
            action: row.action,
            object: row.object,
            before: values.before,
            after: values.after,
            address: row.address,
            hash: format!("{:x}", base16ct::HexDisplay(&row.hash)),
        }
    }
}

/// List the audit log
///
/// The newest first. Each request that changes something adds one row, in the same transaction. A
/// bulk change or an import adds one row as well. Updates by visitors are interactions and not in
/// the log. The setting `audit_months` limits how long rows are kept.
#[utoipa::path(
    get, path = "/audit", tag = "audit", params(AuditQuery, PageParams),
    responses((status = OK, body = Page<AuditRow>), Invalid, Common)
)]
pub(crate) async fn list(
    Asked(service): Asked,
    list: List<i64, AuditQuery>,
) -> Result<Json<Page<AuditRow>>, ApiError> {
    let filter = list.filter.clone().into();
    let rows = service
        .storage
        .audit(filter, list.after, list.and_one_more());
    let rows = rows.await?.into_iter().map(AuditRow::from).collect();
    Ok(Json(list.page(rows, |row: &AuditRow| row.id)))
}

/// File format of an audit log export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = AuditFormat)]
pub(crate) enum Format {
    /// JSON Lines: one JSON object per row.
    #[default]
    Jsonl,
    /// Comma-separated values with a header row.
    Csv,
    /// A workbook of Excel with the cells of the CSV file, all as text.
    Xlsx,
}

impl From<Format> for export::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Jsonl => Self::Jsonl,
            Format::Csv => Self::Csv,
            Format::Xlsx => Self::Xlsx,
        }
    }
}

/// Filters and format of an audit log export.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportQuery {
    /// `jsonl`, `csv` or `xlsx`. A workbook has at most 32,767 characters of a cell, and further
    /// sheets after 1,048,576 rows.
    #[param(inline)]
    format: Format,
    /// Only rows of this actor.
    actor: Option<String>,
    /// Only rows with this action, or with actions that begin with it.
    action: Option<String>,
    /// Only rows of this object, and of objects beneath it.
    object: Option<String>,
    /// Only rows at this time or later.
    since: Option<Timestamp>,
    /// Only rows before this time.
    until: Option<Timestamp>,
}

/// Export the audit log
///
/// The newest first. Contains all rows that exist when the export begins.
#[utoipa::path(
    get, path = "/audit/export", tag = "audit", params(ExportQuery),
    responses(
        (status = OK, content(
            (String = "application/jsonl"),
            (String = "text/csv; charset=utf-8"),
            (inline(Binary) = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        )),
        Invalid, Common
    )
)]
pub(crate) async fn export(
    Asked(service): Asked,
    Query(query): Query<ExportQuery>,
) -> Result<Response, ApiError> {
    let filter = AuditFilter {
        actor: query.actor,
        action: query.action,
        object: query.object,
        since: query.since,
        until: query.until,
    };
    // Determine the newest row first: the row about this export is added later.
    let newest = service
        .storage
        .audit(AuditFilter::default(), None, 1)
        .await?;
    let end = newest.first().map_or(0, |row| row.id + 1);
    let format = export::Format::from(query.format);
    let send = move |sender| send(service, (filter, end), query.format, sender);
    let body = export::table_body(format, "Audit log", send);
    let (media_type, name) = match query.format {
        Format::Jsonl => ("application/jsonl", "audit.jsonl"),
        Format::Csv => (format.media_type(), "audit.csv"),
        Format::Xlsx => (format.media_type(), "audit.xlsx"),
    };
    let headers = [
        (CONTENT_TYPE, media_type.to_owned()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        ),
    ];
    Ok((headers, body).into_response())
}

/// Sends the rows. An error breaks the answer off, so the client notices it. If the client
/// disconnects, the work stops.
async fn send(
    service: Arc<Service>,
    (filter, end): (AuditFilter, i64),
    format: Format,
    mut sender: Sender<Bytes, StorageError>,
) {
    let mut text = match format {
        Format::Jsonl => Vec::new(),
        Format::Csv | Format::Xlsx => cells(&COLUMNS),
    };
    let mut before = Some(end);
    loop {
        if !text.is_empty() && sender.send_data(text.into()).await.is_err() {
            return;
        }
        let rows = match service.storage.audit(filter.clone(), before, AT_ONCE).await {
            Ok(rows) => rows,
            Err(error) => return sender.abort(error),
        };
        let Some(last) = rows.last() else {
            return;
        };
        before = Some(last.id);
        text = Vec::new();
        for row in rows {
            text.extend(line(row.into(), format));
        }
    }
}

const COLUMNS: [&str; 10] = [
    "id", "at", "actor", "name", "action", "object", "before", "after", "address", "hash",
];

fn line(row: AuditRow, format: Format) -> Vec<u8> {
    if format == Format::Jsonl {
        let mut line = serde_json::to_vec(&row).unwrap_or_default();
        line.push(b'\n');
        return line;
    }
    let json = |value: Option<Value>| value.map_or_else(String::new, |value| value.to_string());
    let actor = match row.actor.id {
        Some(id) => format!("{}:{id}", row.actor.kind),
        None => row.actor.kind,
    };
    cells(&[
        row.id.to_string(),
        row.at.to_string(),
        actor,
        row.actor.name.unwrap_or_default(),
        row.action,
        row.object,
        json(row.before),
        json(row.after),
        row.address,
        row.hash,
    ])
}

/// One row of a CSV table, safe to open in a spreadsheet.
fn cells<T: AsRef<str>>(cells: &[T; 10]) -> Vec<u8> {
    export::line(cells.iter().map(|cell| export::text_cell(cell.as_ref())))
}

/// The result of a check of the audit log.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditCheck {
    /// The first problem, with the number of its row; `null` if the log is intact.
    problem: Option<String>,
}

/// Check the audit log
///
/// Reads the whole log, and finds rows that were changed, removed or inserted later.
#[utoipa::path(
    get, path = "/audit/check", tag = "audit",
    responses((status = OK, body = AuditCheck), Common)
)]
pub(crate) async fn check(Asked(service): Asked) -> Result<Json<AuditCheck>, ApiError> {
    let fault = service.storage.check_audit().await?;
    Ok(Json(AuditCheck {
        problem: fault.map(|fault| fault.to_string()),
    }))
}
