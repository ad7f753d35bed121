//! `/admin/v1/tokens`: admin tokens in addition to the installation's own. A token is shown once,
//! when it is created. The database stores only its hash.

use std::collections::BTreeSet;

use axum::Json;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::Requester;
use crate::admin::extract::body::Body;
use crate::admin::extract::page::{List, Page, PageParams};
use crate::admin::extract::path::Id;
use crate::error::{ApiError, BadBody, Common, Conflicting, Invalid, NotFound, Written};
use domain::admin_token::{AdminToken, NewStoredToken, StoredToken};
use domain::clock::Timestamp;
use domain::field_error::FieldError;
use domain::id::{ExperienceId, GroupId, TokenId};
use domain::scope::{Rights, Scope};
use domain::text::Name;

/// List admin tokens
///
/// The oldest first. The installation's own token is not in the list.
#[utoipa::path(
    get, path = "/tokens", tag = "tokens", params(PageParams),
    responses((status = OK, body = Page<StoredToken>), Invalid, Common)
)]
pub(crate) async fn list(
    Asked(service): Asked,
    list: List<TokenId>,
) -> Result<Json<Page<StoredToken>>, ApiError> {
    let tokens = service
        .storage
        .tokens(list.after, list.and_one_more())
        .await?;
    Ok(Json(list.page(tokens, |token| token.id)))
}

/// A token to create.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewToken {
    /// Purpose of the token.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// Scopes of the token. There is no default, so that a token for a scraper does not get all
    /// rights by accident.
    #[schema(min_items = 1, value_type = Vec<Scope>)]
    scopes: BTreeSet<Scope>,
    /// Limits the token to these experiences, their tags, and the taps that led to them. Nothing
    /// else exists for the token. `null` for no limit.
    #[serde(default)]
    #[schema(value_type = Option<Vec<ExperienceId>>)]
    experience_ids: Option<BTreeSet<ExperienceId>>,
    /// Limits the token to these groups and all below them, their tags, and the taps of these. Such
    /// a token sees no experiences. Not together with `experience_ids`. `null` for no limit.
    #[serde(default)]
    #[schema(value_type = Option<Vec<GroupId>>)]
    group_ids: Option<BTreeSet<GroupId>>,
    /// Expiry of the token. `null` for a token that is valid until it is deleted; a token with an
    /// expiry cannot create such a token.
    #[serde(default)]
    expires_at: Option<Timestamp>,
}

/// A token right after its creation.
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
/// Only this answer contains the token: store it. The new token has at most the rights of the token
/// of this request, and expires no later.
#[utoipa::path(
    post, path = "/tokens", tag = "tokens", request_body = NewToken,
    responses((status = CREATED, body = CreatedToken), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn create(
    Asked(service): Asked,
    requester: Requester,
    Body(new): Body<NewToken>,
) -> Result<(StatusCode, Json<CreatedToken>), ApiError> {
    let name = Name::new("A token", new.name).map_err(ApiError::invalid)?;
    let scopes = new.scopes;
    if scopes.is_empty() {
        let why = "A token needs at least one scope.";
        return Err(ApiError::Invalid(FieldError::of("scopes", why)));
    }
    if let Some(scope) = requester.rights().lacks(&scopes) {
        return Err(ApiError::Scope(scope));
    }
    if new.experience_ids.is_some() && new.group_ids.is_some() {
        let why = "A token is limited to experiences or to groups, not to both.";
        return Err(ApiError::Invalid(FieldError::of("group_ids", why)));
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
        name,
        hash: token.hash(),
        rights: Rights {
            scopes,
            experience_ids: new.experience_ids,
            group_ids: new.group_ids,
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
    /// Identifier of the token; `null` for the installation's own token.
    id: Option<TokenId>,
    /// Purpose of the token; empty for the installation's own token.
    name: String,
    /// Scopes of the token; `admin` includes all others.
    scopes: BTreeSet<Scope>,
    /// The only experiences that the token can use; `null` if it is not limited to some.
    experience_ids: Option<BTreeSet<ExperienceId>>,
    /// The only groups that the token can use, with all below them; `null` if it is not limited to
    /// some.
    group_ids: Option<BTreeSet<GroupId>>,
    /// Expiry of the token; `null` if it is valid until it is deleted.
    expires_at: Option<Timestamp>,
}

/// Get the token of this request
///
/// Returns the rights of the token. Every token may call this operation.
#[utoipa::path(
    get, path = "/tokens/current", tag = "tokens",
    responses((status = OK, body = CurrentToken), Common)
)]
pub(crate) async fn current(requester: Requester) -> Json<CurrentToken> {
    let Rights {
        scopes,
        experience_ids,
        group_ids,
    } = requester.rights();
    let stored = requester.token();
    Json(CurrentToken {
        id: stored.map(|token| token.id),
        name: stored.map_or_else(String::new, |token| token.name.clone()),
        expires_at: stored.and_then(|token| token.expires_at),
        scopes,
        experience_ids,
        group_ids,
    })
}

/// Delete an admin token
///
/// The token is invalid from now on. Its open event streams and downloads end within a second.
#[utoipa::path(
    delete, path = "/tokens/{id}", tag = "tokens", params(("id" = TokenId, Path)),
    responses((status = NO_CONTENT), NotFound, Written, Common)
)]
pub(crate) async fn delete(
    Asked(service): Asked,
    Id(id): Id<TokenId>,
) -> Result<StatusCode, ApiError> {
    let deleted = service.storage.delete_token(id).await?;
    deleted
        .map(|()| StatusCode::NO_CONTENT)
        .ok_or(ApiError::NotFound("token"))
}
