//! `GET /admin/v1/kiosk`: the state of the kiosk in this process.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::error::Common;
use app::kiosk::KioskState;
use domain::clock::Timestamp;

/// The kiosk that the service's own process shows.
#[derive(Serialize, ToSchema)]
#[schema(as = Kiosk)]
pub(crate) struct KioskView {
    /// The state of the kiosk; null if this process shows none.
    state: Option<KioskStateView>,
}

/// State of a kiosk. It names no visitor and no tag.
#[derive(Serialize, ToSchema)]
#[schema(as = KioskState)]
pub(crate) struct KioskStateView {
    /// Whether the page on its screen answers.
    has_screen: bool,
    /// Whether a reader is connected.
    has_reader: bool,
    /// Tags that opened an experience since midnight in UTC.
    visits_today: u64,
    /// When the last visit began; null before the first one.
    last_visit_at: Option<Timestamp>,
}

impl From<KioskState> for KioskStateView {
    fn from(state: KioskState) -> Self {
        Self {
            has_screen: state.has_screen,
            has_reader: state.has_reader,
            visits_today: state.visits_today,
            last_visit_at: state.last_visit_at,
        }
    }
}

/// Get the kiosk's state
///
/// The kiosk that the desktop on the service's own computer shows: whether its screen works and a
/// reader is connected, and when the last visit began. The same values are metrics.
#[utoipa::path(
    get, path = "/kiosk", tag = "kiosk",
    responses((status = OK, body = KioskView), Common)
)]
pub(crate) async fn get(Asked(service): Asked) -> Json<KioskView> {
    Json(KioskView {
        state: service.kiosk().map(KioskStateView::from),
    })
}
