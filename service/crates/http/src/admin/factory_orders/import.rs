//! `POST /admin/v1/factory-orders/{id}/import`.

use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use crate::admin::Asked;
use crate::admin::extract::body::Table;
use crate::admin::extract::path::Id;
use crate::admin::extract::query::Query;
use crate::error::{ApiError, BadBody, Common, Conflicting, NotFound, Written};
use crate::schema::Binary;
use app::encoder;
use app::encoder::report::{self, SHAPES, Unread};
use domain::field_error::FieldError;
use domain::id::FactoryOrderId;
use domain::table::counter::Digits;
use inlay::Uid;
use storage::Taken;

/// Options for the import of a report.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReportQuery {
    /// Whether to check everything without writing.
    dry_run: bool,
    /// Shape of the file: `csv`, `ixkio` or `gototags`. By default `csv`.
    preset: Option<String>,
    /// Number format of counters. Leading zeros or letters show that counters are hexadecimal.
    /// Otherwise this parameter is required.
    #[param(inline)]
    counter: Option<Digits>,
}

/// The result of an imported report.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[schema(as = FactoryOrderReport)]
pub(crate) struct ReportResult {
    /// Whether this was a dry run. If so, nothing was written, and the results are a preview.
    dry_run: bool,
    /// Number of chips that became the inlays of their tags.
    bound: u32,
    /// Number of chips that were the inlays of their tags before.
    unchanged: u32,
    /// Number of rows that were not imported.
    refused: u32,
    /// Number of rows with a URL that contains a valid code of the chip.
    proved: u32,
    /// Positions that still have no chip.
    missing: Vec<u32>,
    /// The result of each row.
    results: Vec<ReportRow>,
}

/// The result of one row.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = FactoryOrderReportRow)]
pub(crate) struct ReportRow {
    /// Row number in a spreadsheet; the header is row 1.
    row: u32,
    /// The position; null if the row contains none.
    position: Option<u32>,
    /// UID of the chip; null if the row contains none.
    uid: Option<Uid>,
    /// The effect of the row.
    outcome: ReportOutcome,
    /// Why the row was not imported, for people.
    reason: Option<String>,
}

/// The effect of a row.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = FactoryOrderReportOutcome)]
enum ReportOutcome {
    /// The chip became the inlay of its tag.
    Bound,
    /// The chip was the inlay of its tag before.
    Unchanged,
    /// The row was not imported.
    Refused,
}

/// Import the report of a bureau
///
/// A CSV file with a header row, in the same format as for `/tags/import`. It needs `uid`, and one
/// of `position`, `slug` and `url`. It can contain `status` and `counter`; other columns are
/// ignored. Each chip becomes the inlay of its position's tag, with the keys of the position and
/// `"bureau_keys": true`. Then place each delivered chip on the reader: `POST /encodings` with
/// `factory_order_id` replaces its keys. A `url` with a code is a sample: the code must be valid
/// for the chip and the position's keys. A repeated import of the same file changes nothing.
#[utoipa::path(
    post, path = "/factory-orders/{id}/import", tag = "factory orders",
    params(("id" = FactoryOrderId, Path), ReportQuery),
    request_body(content(
        (String = "text/csv"),
        (inline(Binary) = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        (inline(Binary) = "application/vnd.oasis.opendocument.spreadsheet")
    )),
    responses((status = OK, body = ReportResult), NotFound, Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn import(
    Asked(service): Asked,
    Id(id): Id<FactoryOrderId>,
    Query(query): Query<ReportQuery>,
    Table(file): Table,
) -> Result<Json<ReportResult>, ApiError> {
    let name = query.preset.as_deref().unwrap_or("csv");
    let shape = SHAPES.iter().find(|shape| shape.name == name);
    let shape = shape.ok_or_else(|| {
        let why = format!("There is no preset \"{name}\". There are csv, ixkio and gototags.");
        ApiError::Invalid(FieldError::of("preset", why))
    })?;
    // The file may have 20,000 rows, so parse it without blocking taps.
    let read = tokio::task::spawn_blocking(move || report::read(file, shape, query.counter));
    let rows = read.await.map_err(|_| ApiError::Internal)?;
    let rows = rows.map_err(|why| {
        ApiError::Invalid(match why {
            Unread::File(why) => FieldError::whole(why),
            Unread::Counter(why) => FieldError::of("counter", why),
        })
    })?;
    service
        .storage
        .asks(json!({"rows": rows.len(), "preset": name}));
    let (numbers, reported): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    let uids: Vec<_> = reported
        .iter()
        .map(|row| row.as_ref().ok().and_then(|row| row.uid))
        .collect();
    let taken = encoder::receive_order(&service, id, reported, query.dry_run);
    let (settled, missing) = taken.await?;
    let mut result = ReportResult {
        dry_run: query.dry_run,
        missing,
        ..ReportResult::default()
    };
    for ((row, uid), settled) in numbers.into_iter().zip(uids).zip(settled) {
        result.proved += u32::from(settled.proved && settled.outcome.is_ok());
        let (outcome, reason) = match settled.outcome {
            Ok(Taken::Bound) => (ReportOutcome::Bound, None),
            Ok(Taken::Unchanged) => (ReportOutcome::Unchanged, None),
            Err(why) => (ReportOutcome::Refused, Some(why)),
        };
        *match outcome {
            ReportOutcome::Bound => &mut result.bound,
            ReportOutcome::Unchanged => &mut result.unchanged,
            ReportOutcome::Refused => &mut result.refused,
        } += 1;
        result.results.push(ReportRow {
            row,
            position: settled.position,
            uid,
            outcome,
            reason,
        });
    }
    Ok(Json(result))
}
