//! `GET /admin/v1/tags/import/presets`.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::Common;
use app::tag_table::preset::{Preset, presets};

/// The presets of an import.
#[derive(Serialize, ToSchema)]
pub(crate) struct ImportPresets {
    items: &'static [Preset],
}

/// List import presets
///
/// Lists tables of other services, and the meaning of their columns in Tapdesk.
#[utoipa::path(
    get, path = "/tags/import/presets", tag = "tags",
    responses((status = OK, body = ImportPresets), Common)
)]
pub(crate) async fn import_presets() -> Json<ImportPresets> {
    Json(ImportPresets { items: presets() })
}
