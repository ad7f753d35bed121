//! `POST /admin/v1/master-keys`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::{MasterKeyView, name};
use crate::http::admin::body::Body;
use crate::http::admin::edited::Edited;
use crate::http::error::{ApiError, BadBody, Common, Conflicting, Written};
use crate::inlay::diversify::DiversificationInput;
use crate::inlay::key::AesKey;
use crate::inventory::{InvalidInlay, MasterKeyFields, SealedKey};
use crate::service::Service;

/// A master key to be created.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewMasterKey {
    /// What it is called.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// The key.
    key: AesKey,
    /// What it is diversified with (AN10922): hex digits around one `{uid}`, at
    /// most 31 bytes in all.
    input: DiversificationInput,
    /// Whether the meta key is diversified, too. Where not, it is the master key itself.
    #[serde(default)]
    diversify_meta: bool,
    /// Takes the all-zero factory key, too: codes of its inlays prove nothing.
    #[serde(default)]
    allow_factory_keys: bool,
}

/// Create a master key
///
/// The key goes in and never comes out.
#[utoipa::path(
    post, path = "/master-keys", tag = "master keys", request_body = NewMasterKey,
    responses((status = CREATED, body = MasterKeyView), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn create(
    State(service): State<Arc<Service>>,
    Body(new): Body<NewMasterKey>,
) -> Result<(StatusCode, Edited<MasterKeyView>), ApiError> {
    if new.key.is_factory() && !new.allow_factory_keys {
        return Err(ApiError::invalid(InvalidInlay::FactoryKey));
    }
    let key = MasterKeyFields {
        name: name(new.name)?,
        key: SealedKey::seal(&new.key, &service.keyring, &*service.entropy)?,
        input: new.input,
        diversify_meta: new.diversify_meta,
    };
    let id = service.storage.insert_master_key(key).await?;
    let key = service.storage.master_key(id).await?;
    let key = key.ok_or(ApiError::NotFound("master key"))?;
    let key = Edited::shown_as(key, MasterKeyView::from);
    Ok((StatusCode::CREATED, key))
}
