//! The service, as a handler of the admin API gets it. There is no other way, so no handler can
//! forget its caller.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::error::ApiError;
use app::service::Service;

/// The service, working for the caller of the request. A request whose caller was not admitted is
/// refused.
#[derive(Clone)]
pub(super) struct Asked(pub(super) Arc<Service>);

impl<S: Sync> FromRequestParts<S> for Asked {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let asked = parts.extensions.get().cloned();
        asked.ok_or(ApiError::Unauthorized)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    #[tokio::test]
    async fn a_request_without_an_admitted_caller_is_refused() {
        let (mut parts, ()) = Request::new(()).into_parts();
        let refused = Asked::from_request_parts(&mut parts, &()).await.err();
        assert!(matches!(refused, Some(ApiError::Unauthorized)));
    }
}
