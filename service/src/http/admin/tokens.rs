//! `/admin/v1/tokens`: admin tokens beside the installation's own. A token is
//! shown once, when it is made; what is stored is its hash.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::admin_token::{AdminToken, StoredToken};
use crate::field_error::FieldError;
use crate::http::admin::body::Body;
use crate::http::admin::page::{List, Page, PageParams};
use crate::http::admin::path::Id;
use crate::http::error::{ApiError, BadBody, Common, Invalid, NotFound, Written};
use crate::id::TokenId;
use crate::service::Service;
use crate::tag::{NAME_MAX, text_fits};

/// List admin tokens
///
/// The oldest first. The installation's own token is not among them.
#[utoipa::path(
    get, path = "/tokens", tag = "tokens", params(PageParams),
    responses((status = OK, body = Page<StoredToken>), Invalid, Common)
)]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    list: List<TokenId>,
) -> Result<Json<Page<StoredToken>>, ApiError> {
    let tokens = service
        .storage
        .tokens(list.after, list.and_one_more())
        .await?;
    Ok(Json(list.page(tokens, |token| token.id)))
}

/// A token to be created.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewToken {
    /// Its purpose.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
}

/// A token that was just created.
#[derive(Serialize, ToSchema)]
pub(crate) struct CreatedToken {
    #[serde(flatten)]
    stored: StoredToken,
    /// The token itself. It is never shown again.
    #[schema(min_length = 32)]
    token: String,
}

/// Create an admin token
///
/// Only this answer shows the token: store it.
#[utoipa::path(
    post, path = "/tokens", tag = "tokens", request_body = NewToken,
    responses((status = CREATED, body = CreatedToken), BadBody, Written, Common)
)]
pub(crate) async fn create(
    State(service): State<Arc<Service>>,
    Body(NewToken { name }): Body<NewToken>,
) -> Result<(StatusCode, Json<CreatedToken>), ApiError> {
    if name.trim().is_empty() || !text_fits(&name, NAME_MAX) {
        let why = format!("A token needs a name of 1 to {NAME_MAX} characters.");
        return Err(ApiError::Invalid(FieldError::of("name", why)));
    }
    let token = AdminToken::generate(&*service.entropy);
    let stored = service.storage.insert_token(name, token.hash()).await?;
    let created = CreatedToken {
        stored,
        token: token.expose().to_owned(),
    };
    Ok((StatusCode::CREATED, Json(created)))
}

/// Delete an admin token
///
/// It is refused from now on. Its open streams of events and downloads end within a second.
#[utoipa::path(
    delete, path = "/tokens/{id}", tag = "tokens", params(("id" = TokenId, Path)),
    responses((status = NO_CONTENT), NotFound, Written, Common)
)]
pub(crate) async fn delete(
    State(service): State<Arc<Service>>,
    Id(id): Id<TokenId>,
) -> Result<StatusCode, ApiError> {
    let deleted = service.storage.delete_token(id).await?;
    deleted
        .map(|()| StatusCode::NO_CONTENT)
        .ok_or(ApiError::NotFound("token"))
}
