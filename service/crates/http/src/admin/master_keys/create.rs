//! `POST /admin/v1/master-keys`.

use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::{MasterKeyView, name};
use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::admin::extract::edited::Edited;
use crate::error::{ApiError, BadBody, Common, Conflicting, Written};
use domain::field_error::FieldError;
use domain::inventory::{InvalidInlay, MasterKeyFields, SealedKey};
use inlay::derivation::{Derivation, MasterSecret};

/// A master key to create.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewMasterKey {
    /// Name of the master key.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// The key: 32 hex digits, or 2 to 128 for `sdm_backend`.
    key: MasterSecret,
    /// How an inlay's keys are derived from the master key.
    #[serde(deserialize_with = "domain::strict_json::one")]
    derivation: Derivation,
    /// Whether to accept the all-zero factory key. Codes of its inlays prove nothing.
    #[serde(default)]
    allow_factory_keys: bool,
}

/// Create a master key
///
/// The key is write-only: Tapdesk never shows it again.
#[utoipa::path(
    post, path = "/master-keys", tag = "master keys", request_body = NewMasterKey,
    responses((status = CREATED, body = MasterKeyView), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn create(
    Asked(service): Asked,
    Body(new): Body<NewMasterKey>,
) -> Result<(StatusCode, Edited<MasterKeyView>), ApiError> {
    new.derivation
        .check(&new.key)
        .map_err(|why| ApiError::Invalid(FieldError::of("key", why.to_string())))?;
    let sealed = SealedKey::seal_master(&new.key, &service.keyring, &*service.entropy)?;
    if sealed.fingerprint.is_factory() && !new.allow_factory_keys {
        return Err(ApiError::invalid(InvalidInlay::FactoryKey));
    }
    let key = MasterKeyFields {
        name: name(new.name)?,
        key: sealed,
        derivation: new.derivation,
    };
    let key = service.storage.insert_master_key(key).await?;
    let key = Edited::shown_as(key, MasterKeyView::from);
    Ok((StatusCode::CREATED, key))
}
