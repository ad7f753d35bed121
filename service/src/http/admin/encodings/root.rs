//! `/admin/v1/encoding-root`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::clock::Timestamp;
use crate::encode;
use crate::http::admin::body::Body;
use crate::http::admin::page::{List, Page, PageParams, counted};
use crate::http::error::{ApiError, BadBody, Common, Conflicting, Invalid, Written};
use crate::id::{EncodingRootId, InlayId, TagId};
use crate::inlay::Uid;
use crate::service::Service;
use crate::storage::ExposedInlay;

/// The root that keys of encoded chips are derived from.
#[derive(Serialize, ToSchema)]
pub(crate) struct EncodingRoot {
    /// When it was made; null before the first chip is encoded.
    created_at: Option<Timestamp>,
    /// When the first backup was made that has it and, sealed with a passphrase, the key that wraps it. Null if
    /// none has: without it nobody can open the chips again.
    backed_up_at: Option<Timestamp>,
    /// Earlier roots, which only open the chips that were encoded with them.
    retired: u32,
    /// Those of them that others may know.
    compromised: u32,
    /// Inlays whose chip has keys of such a root. It gets other ones when it is laid down again.
    exposed_inlays: u64,
}

/// Get the encoding root
///
/// When it was made and first backed up. The root itself is never shown.
#[utoipa::path(
    get, path = "/encoding-root", tag = "encodings",
    responses((status = OK, body = EncodingRoot), Common)
)]
pub(crate) async fn root(
    State(service): State<Arc<Service>>,
) -> Result<Json<EncodingRoot>, ApiError> {
    view(&service).await.map(Json)
}

async fn view(service: &Service) -> Result<EncodingRoot, ApiError> {
    let roots = service.storage.encoding_roots().await?;
    let active = roots.iter().find(|root| root.retired_at.is_none());
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let retired = roots.iter().filter(|root| root.retired_at.is_some());
    let compromised = roots.iter().filter(|root| root.compromised_at.is_some());
    Ok(EncodingRoot {
        created_at: active.map(|root| root.created_at),
        backed_up_at: active.and_then(|root| root.backed_up_at),
        retired: count(retired.count()),
        compromised: count(compromised.count()),
        exposed_inlays: service.storage.count_exposed_inlays().await?,
    })
}

/// Why the root is replaced.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewEncodingRoot {
    /// If true, others may know the present root and all before it: chips that have keys of them get other ones
    /// when they are laid down again.
    #[serde(default)]
    compromised: bool,
}

/// Replace the encoding root
///
/// What is encoded from now on has keys of a new root, which is in no backup yet. The present one only opens
/// chips. Encodings that are not over are given up; their chips are laid down again. If the root was
/// `compromised`, `/encoding-root/inlays` lists the inlays whose chips are to be laid down again for the tag
/// that they are on; until then their taps verify as before.
#[utoipa::path(
    post, path = "/encoding-root", tag = "encodings", request_body = NewEncodingRoot,
    responses((status = CREATED, body = EncodingRoot), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn replace_root(
    State(service): State<Arc<Service>>,
    Body(NewEncodingRoot { compromised }): Body<NewEncodingRoot>,
) -> Result<(StatusCode, Json<EncodingRoot>), ApiError> {
    encode::replace_root(&service, compromised).await?;
    Ok((StatusCode::CREATED, Json(view(&service).await?)))
}

/// An inlay whose chip has keys of a root that others may know.
#[derive(Serialize, ToSchema)]
#[schema(as = ExposedInlay)]
pub(crate) struct ExposedInlayView {
    /// The inlay.
    inlay_id: InlayId,
    /// Its chip.
    uid: Uid,
    /// Its tag.
    tag_id: Option<TagId>,
    /// The tag's slug.
    slug: Option<String>,
    /// The root.
    root_id: EncodingRootId,
    /// The version of its keys.
    generation: u32,
}

impl From<ExposedInlay> for ExposedInlayView {
    fn from(inlay: ExposedInlay) -> Self {
        let ExposedInlay {
            inlay_id,
            uid,
            tag_id,
            slug,
            root_id,
            generation,
        } = inlay;
        Self {
            inlay_id,
            uid,
            tag_id,
            slug,
            root_id,
            generation,
        }
    }
}

/// How the list is shown.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExposedQuery {
    /// Whether to count what is on all pages.
    #[serde(default)]
    #[param(required = false)]
    count: bool,
}

/// List inlays of a compromised encoding root
///
/// Those whose chip still has keys of it, the oldest first.
#[utoipa::path(
    get, path = "/encoding-root/inlays", tag = "encodings", params(ExposedQuery, PageParams),
    responses((status = OK, body = Page<ExposedInlayView>), Invalid, Common)
)]
pub(crate) async fn exposed(
    State(service): State<Arc<Service>>,
    list: List<InlayId, ExposedQuery>,
) -> Result<Json<Page<ExposedInlayView>>, ApiError> {
    let storage = &service.storage;
    let found = storage.exposed_inlays(list.after, list.and_one_more());
    let items = found.await?.into_iter().map(Into::into).collect();
    let count = counted(list.filter.count, storage.count_exposed_inlays()).await?;
    let page = list.page(items, |inlay: &ExposedInlayView| inlay.inlay_id);
    Ok(Json(page.with_count(count)))
}
