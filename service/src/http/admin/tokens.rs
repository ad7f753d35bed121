//! `/admin/v1/tokens`: admin tokens beside the installation's own. A token is
//! shown once, when it is made; what is stored is its hash.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::admin_token::{AdminToken, NewStoredToken, StoredToken};
use crate::clock::Timestamp;
use crate::field_error::FieldError;
use crate::http::admin::Requester;
use crate::http::admin::body::Body;
use crate::http::admin::page::{List, Page, PageParams};
use crate::http::admin::path::Id;
use crate::http::error::{ApiError, BadBody, Common, Conflicting, Invalid, NotFound, Written};
use crate::id::{ExperienceId, TokenId};
use crate::scope::{Rights, Scope};
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
    /// What it may do. By default, everything that the token of this request may.
    #[serde(default)]
    #[schema(required = false, min_items = 1, value_type = Option<Vec<Scope>>)]
    scopes: Option<BTreeSet<Scope>>,
    /// The only experiences it may do it with: those, their tags, and the taps that led to them.
    /// Everything else does not exist for it. `null` for no limit.
    #[serde(default)]
    experience_ids: Option<BTreeSet<ExperienceId>>,
    /// When it ends. `null`: only its deletion ends it, which a token that ends cannot grant.
    #[serde(default)]
    expires_at: Option<Timestamp>,
}

/// A token that was just created.
#[derive(Serialize, ToSchema)]
pub(crate) struct CreatedToken {
    #[serde(flatten)]
    stored: StoredToken,
    /// The token itself, which begins with `tapdesk_`. It is never shown again.
    #[schema(min_length = 32)]
    token: String,
}

/// Create an admin token
///
/// Only this answer shows the token: store it. It grants nothing that the token of this request
/// does not, and for no longer.
#[utoipa::path(
    post, path = "/tokens", tag = "tokens", request_body = NewToken,
    responses((status = CREATED, body = CreatedToken), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn create(
    State(service): State<Arc<Service>>,
    requester: Requester,
    Body(new): Body<NewToken>,
) -> Result<(StatusCode, Json<CreatedToken>), ApiError> {
    if new.name.trim().is_empty() || !text_fits(&new.name, NAME_MAX) {
        let why = format!("A token needs a name of 1 to {NAME_MAX} characters.");
        return Err(ApiError::Invalid(FieldError::of("name", why)));
    }
    let own = requester.rights();
    let scopes = new.scopes.unwrap_or_else(|| own.scopes.clone());
    if scopes.is_empty() {
        let why = "A token needs at least one scope.";
        return Err(ApiError::Invalid(FieldError::of("scopes", why)));
    }
    if let Some(scope) = own.lacks(&scopes) {
        return Err(ApiError::Scope(scope));
    }
    if new.expires_at.is_some_and(|end| end <= service.clock.now()) {
        let why = "A token ends in the future.";
        return Err(ApiError::Invalid(FieldError::of("expires_at", why)));
    }
    let own_end = requester.token().and_then(|token| token.expires_at);
    if let Some(own_end) = own_end
        && new.expires_at.is_none_or(|end| end > own_end)
    {
        let why = format!(
            "The token of this request ends at {own_end}. A token that it makes ends at that time or before: set \
             expires_at."
        );
        return Err(ApiError::Invalid(FieldError::of("expires_at", why)));
    }
    let token = AdminToken::generate(&*service.entropy);
    let stored = NewStoredToken {
        name: new.name,
        hash: token.hash(),
        rights: Rights {
            scopes,
            experience_ids: new.experience_ids,
        },
        expires_at: new.expires_at,
    };
    let stored = service.storage.insert_token(stored).await?;
    let created = CreatedToken {
        stored,
        token: token.expose().to_owned(),
    };
    Ok((StatusCode::CREATED, Json(created)))
}

/// The token of a request.
#[derive(Serialize, ToSchema)]
pub(crate) struct CurrentToken {
    /// Its identifier; `null` for the installation's own token.
    id: Option<TokenId>,
    /// Its purpose; empty for the installation's own token.
    name: String,
    /// What it may do; `admin` is everything.
    scopes: BTreeSet<Scope>,
    /// The only experiences it may do it with; `null` if it is not limited.
    experience_ids: Option<BTreeSet<ExperienceId>>,
    /// When it ends; `null` if only its deletion ends it.
    expires_at: Option<Timestamp>,
}

/// Get the token of this request
///
/// What it may do. Every token opens this operation.
#[utoipa::path(
    get, path = "/tokens/current", tag = "tokens",
    responses((status = OK, body = CurrentToken), Common)
)]
pub(crate) async fn current(requester: Requester) -> Json<CurrentToken> {
    let Rights {
        scopes,
        experience_ids,
    } = requester.rights();
    let stored = requester.token();
    Json(CurrentToken {
        id: stored.map(|token| token.id),
        name: stored.map_or_else(String::new, |token| token.name.clone()),
        expires_at: stored.and_then(|token| token.expires_at),
        scopes,
        experience_ids,
    })
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
