//! `POST /admin/v1/factory-orders/{id}/import`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use super::report::{self, SHAPES};
use crate::caller;
use crate::encode;
use crate::field_error::FieldError;
use crate::http::admin::body::Csv;
use crate::http::admin::path::Id;
use crate::http::admin::query::Query;
use crate::http::error::{ApiError, BadBody, Common, Conflicting, NotFound, Written};
use crate::id::FactoryOrderId;
use crate::inlay::Uid;
use crate::service::Service;
use crate::storage::Taken;

/// How a report is imported.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReportQuery {
    /// Check everything, and write nothing.
    dry_run: bool,
    /// The shape of the file: `csv`, `ixkio` or `gototags`. By default `csv`.
    preset: Option<String>,
}

/// The result of a report.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[schema(as = FactoryOrderReport)]
pub(crate) struct ReportResult {
    /// Whether nothing was written: the results say what would be done.
    dry_run: bool,
    /// Chips that are the inlays of their tags now.
    bound: u32,
    /// Chips that were before.
    unchanged: u32,
    /// Rows of which nothing was taken.
    refused: u32,
    /// Rows whose URL had a code of the chip, which was checked.
    proved: u32,
    /// Positions that have no chip after it.
    missing: Vec<u32>,
    /// The result of each row.
    results: Vec<ReportRow>,
}

/// The result of a row.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = FactoryOrderReportRow)]
pub(crate) struct ReportRow {
    /// Its number as a spreadsheet shows it; the header is row 1.
    row: u32,
    /// The position; null if the row names none.
    position: Option<u32>,
    /// The chip; null if the row names none.
    uid: Option<Uid>,
    /// What is done.
    outcome: ReportOutcome,
    /// Why nothing was taken, in words.
    reason: Option<String>,
}

/// What is done with a row.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = FactoryOrderReportOutcome)]
enum ReportOutcome {
    /// The chip is the inlay of its tag.
    Bound,
    /// It was before.
    Unchanged,
    /// Nothing was taken.
    Refused,
}

/// Import what a bureau reports
///
/// A CSV file: UTF-8, separated by commas or semicolons, with a header row. It needs `uid`, and one
/// of `position`, `slug` and `url`; `status` and `counter` are taken, other columns are not. Each
/// chip becomes the inlay of its position's tag with the keys of the position, `"bureau_keys":
/// true`, until it is laid down at goods-in: `POST /encodings` with `factory_order_id`. A `url` with
/// a code is a sample: the code must be one of the chip with the position's keys. The same file
/// again changes nothing.
#[utoipa::path(
    post, path = "/factory-orders/{id}/import", tag = "factory orders",
    params(("id" = FactoryOrderId, Path), ReportQuery),
    request_body(content = String, content_type = "text/csv"),
    responses((status = OK, body = ReportResult), NotFound, Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn import(
    State(service): State<Arc<Service>>,
    Id(id): Id<FactoryOrderId>,
    Query(query): Query<ReportQuery>,
    Csv(file): Csv,
) -> Result<Json<ReportResult>, ApiError> {
    let name = query.preset.as_deref().unwrap_or("csv");
    let shape = SHAPES.iter().find(|shape| shape.name == name);
    let shape = shape.ok_or_else(|| {
        let why = format!("There is no preset \"{name}\". There are csv, ixkio and gototags.");
        ApiError::Invalid(FieldError::of("preset", why))
    })?;
    // It may have 20,000 rows: taps go on meanwhile.
    let read = tokio::task::spawn_blocking(move || report::read(file, shape));
    let rows = read.await.map_err(|_| ApiError::Internal)?;
    let rows = rows.map_err(|why| ApiError::Invalid(FieldError::whole(why)))?;
    caller::asks(json!({"rows": rows.len(), "preset": name}));
    let (numbers, reported): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    let uids: Vec<_> = reported
        .iter()
        .map(|row| row.as_ref().ok().and_then(|row| row.uid))
        .collect();
    let taken = encode::receive_order(&service, id, reported, query.dry_run);
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
