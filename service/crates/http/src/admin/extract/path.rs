//! Parts of a path. An invalid id means "not found", like an unknown id.

use std::collections::HashMap;
use std::str::FromStr;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

use crate::error::ApiError;
use domain::id::{ExperienceId, ImageId, SheetId, TagId};
use domain::tag::Slug;
use inlay::Uid;

/// The `{id}` of a path.
pub(in crate::admin) struct Id<T>(pub(in crate::admin) T);

impl<T: FromStr, S: Send + Sync> FromRequestParts<S> for Id<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        Ok(Self(part(&values(parts, state).await?, "id")?))
    }
}

/// The `{id}` and the `{image_id}` of an image's path.
pub(in crate::admin) struct ImagePath(
    pub(in crate::admin) ExperienceId,
    pub(in crate::admin) ImageId,
);

impl<S: Send + Sync> FromRequestParts<S> for ImagePath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let values = values(parts, state).await?;
        Ok(Self(part(&values, "id")?, part(&values, "image_id")?))
    }
}

/// The `{id}` and the `{position}` of a row of a test sheet.
pub(in crate::admin) struct RowPath(pub(in crate::admin) SheetId, pub(in crate::admin) u32);

impl<S: Send + Sync> FromRequestParts<S> for RowPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let values = values(parts, state).await?;
        Ok(Self(part(&values, "id")?, part(&values, "position")?))
    }
}

/// The `{uid}` of a chip's path.
pub(in crate::admin) struct UidPath(pub(in crate::admin) Uid);

impl<S: Send + Sync> FromRequestParts<S> for UidPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        Ok(Self(part(&values(parts, state).await?, "uid")?))
    }
}

/// The path of a document.
pub(in crate::admin) struct DocumentPath(pub(in crate::admin) String);

impl<S: Send + Sync> FromRequestParts<S> for DocumentPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        Ok(Self(part(&values(parts, state).await?, "path")?))
    }
}

/// The `{id}` and the `{slug}` of a former slug's path.
pub(in crate::admin) struct TagSlug(pub(in crate::admin) TagId, pub(in crate::admin) Slug);

impl<S: Send + Sync> FromRequestParts<S> for TagSlug {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let values = values(parts, state).await?;
        Ok(Self(part(&values, "id")?, part(&values, "slug")?))
    }
}

type Values = HashMap<String, String>;

async fn values<S: Send + Sync>(parts: &mut Parts, state: &S) -> Result<Values, ApiError> {
    let path = Path::<Values>::from_request_parts(parts, state).await;
    path.map(|Path(values)| values)
        .map_err(|_| ApiError::NotFound("resource"))
}

fn part<T: FromStr>(values: &Values, name: &str) -> Result<T, ApiError> {
    let value = values.get(name).and_then(|value| value.parse().ok());
    value.ok_or(ApiError::NotFound("resource"))
}
