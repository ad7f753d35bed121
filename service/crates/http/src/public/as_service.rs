//! The service, as a public handler gets it.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::state::AppState;
use app::service::Service;

/// The service, working for itself: visitors are no callers.
pub(crate) struct AsService(pub(super) Arc<Service>);

impl FromRequestParts<AppState> for AsService {
    type Rejection = Infallible;

    async fn from_request_parts(_: &mut Parts, state: &AppState) -> Result<Self, Infallible> {
        Ok(Self(Arc::clone(state.as_service())))
    }
}
