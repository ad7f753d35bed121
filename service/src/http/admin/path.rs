//! Parts of a path. A part that is no id is no such resource, not a mistake of its own.

use std::collections::HashMap;
use std::str::FromStr;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

use crate::http::error::ApiError;

/// The `{id}` in the path.
pub(super) struct Id<T>(pub(super) T);

impl<T: FromStr, S: Send + Sync> FromRequestParts<S> for Id<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Path(values) = Path::<HashMap<String, String>>::from_request_parts(parts, state)
            .await
            .map_err(|_| ApiError::NotFound("resource"))?;
        let id = values.get("id").and_then(|id| id.parse().ok());
        id.map(Self).ok_or(ApiError::NotFound("resource"))
    }
}
