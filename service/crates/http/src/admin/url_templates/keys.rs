//! `POST` and `DELETE /admin/v1/url-templates/{id}/meta-keys`.

use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::view::UrlTemplateView;
use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::admin::extract::edited::{Edited, IfMatch, unless_changed};
use crate::admin::extract::path::Id;
use crate::admin::extract::query::Query;
use crate::error::{
    ApiError, BadBody, ChangedMeanwhile, Common, Conflicting, Invalid, NotFound, Written,
};
use app::inlays::master_key;
use app::service::Service;
use domain::field_error::FieldError;
use domain::id::{MasterKeyId, UrlTemplateId};
use domain::inventory::{SharedKey, UrlTemplate};
use inlay::key::{AesKey, KeyCheck};

/// Shared meta keys of a URL template.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SharedKeys {
    /// Meta keys of the template itself.
    #[serde(default)]
    #[schema(max_items = 64)]
    pub(super) meta_keys: Vec<AesKey>,
    /// Master keys from which all their inlays get the same meta key. Beside `meta_keys`, or for
    /// URLs with the UID in clear, also master keys that derive only file keys.
    #[serde(default)]
    #[schema(max_items = 64)]
    pub(super) master_key_ids: Vec<MasterKeyId>,
    /// Whether to accept the all-zero factory key. Codes with it prove nothing.
    #[serde(default)]
    pub(super) allow_factory_keys: bool,
}

impl SharedKeys {
    /// Seals the keys, ready to be stored.
    pub(super) async fn seal(self, service: &Service) -> Result<Vec<SharedKey>, ApiError> {
        let mut keys = Vec::new();
        for key in &self.meta_keys {
            let sealed = super::sealed(service, key, self.allow_factory_keys)?;
            keys.push(SharedKey::seal(sealed));
        }
        for (index, id) in self.master_key_ids.into_iter().enumerate() {
            let found = master_key(service, id).await;
            let entry = || format!("master_key_ids[{index}]");
            let master = found.map_err(|error| error.in_list(entry()))?;
            keys.push(SharedKey::of_master(&master, &service.keyring)?);
        }
        Ok(keys)
    }
}

/// Add meta keys to a URL template
///
/// These keys identify the inlay of a URL without slug and UID. Each key costs one more decryption.
/// Existing keys stay.
#[utoipa::path(
    post, path = "/url-templates/{id}/meta-keys", tag = "url templates",
    params(("id" = UrlTemplateId, Path)), request_body = SharedKeys,
    responses((status = OK, body = UrlTemplateView), NotFound, Conflicting, ChangedMeanwhile, BadBody, Written, Common)
)]
pub(crate) async fn add_keys(
    Asked(service): Asked,
    Id(id): Id<UrlTemplateId>,
    IfMatch(expected): IfMatch,
    Body(body): Body<SharedKeys>,
) -> Result<Edited<UrlTemplateView>, ApiError> {
    let keys = body.seal(&service).await?;
    let edit = move |before: &UrlTemplate| {
        expected.check(Some(before))?;
        let mut fields = before.fields.clone();
        fields.add(keys.clone());
        Ok(fields)
    };
    let edited = service.storage.edit_url_template(id, Box::new(edit)).await;
    let edited = unless_changed(edited, super::current(&service, id)).await?;
    let edited = edited.ok_or(ApiError::NotFound("URL template"))?;
    Ok(Edited::shown_as(edited, UrlTemplateView::from))
}

/// The shared key to remove.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhichKey {
    /// The template's own key with this check value, as in `meta_key_checks`.
    meta_key_check: Option<KeyCheck>,
    /// The key that comes from this master key.
    master_key_id: Option<MasterKeyId>,
}

/// Remove a meta key from a URL template
///
/// Fails while some inlays can only be identified with this key.
#[utoipa::path(
    delete, path = "/url-templates/{id}/meta-keys", tag = "url templates",
    params(("id" = UrlTemplateId, Path), WhichKey),
    responses((status = OK, body = UrlTemplateView), NotFound, Conflicting, ChangedMeanwhile, Invalid, Written, Common)
)]
pub(crate) async fn remove_key(
    Asked(service): Asked,
    Id(id): Id<UrlTemplateId>,
    IfMatch(expected): IfMatch,
    Query(which): Query<WhichKey>,
) -> Result<Edited<UrlTemplateView>, ApiError> {
    if which.meta_key_check.is_none() == which.master_key_id.is_none() {
        let why = "Say which key: meta_key_check for one of the template's own, or master_key_id.";
        return Err(ApiError::invalid(FieldError::whole(why)));
    }
    let edit = move |before: &UrlTemplate| {
        expected.check(Some(before))?;
        let mut fields = before.fields.clone();
        fields.keys.retain(|key| match which.master_key_id {
            Some(master) => key.master_key_id() != Some(master),
            None => key.own_check() != which.meta_key_check,
        });
        if fields.keys.len() == before.fields.keys.len() {
            let why = "The URL template has no such key.";
            return Err(why.to_owned().into());
        }
        Ok(fields)
    };
    let edited = service.storage.edit_url_template(id, Box::new(edit)).await;
    let edited = unless_changed(edited, super::current(&service, id)).await?;
    let edited = edited.ok_or(ApiError::NotFound("URL template"))?;
    Ok(Edited::shown_as(edited, UrlTemplateView::from))
}
