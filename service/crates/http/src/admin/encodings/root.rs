//! `/admin/v1/encoding-root`: the secret from which chip keys are derived.

use axum::Json;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::admin::extract::page::{List, Page, PageParams, counted};
use crate::error::{ApiError, BadBody, Common, Conflicting, Invalid, Written};
use app::encoder;
use app::service::Service;
use domain::clock::Timestamp;
use domain::id::{EncodingRootId, InlayId, TagId};
use inlay::Uid;
use storage::ExposedInlay;

/// The root from which the keys of encoded chips are derived.
#[derive(Serialize, ToSchema)]
pub(crate) struct EncodingRoot {
    /// When the root was created; null before the first chip is encoded.
    created_at: Option<Timestamp>,
    /// When the first backup was made that contains the root and, sealed with a passphrase, the key
    /// that wraps it. Null without such a backup: if the database is lost, nobody can open the
    /// chips.
    backed_up_at: Option<Timestamp>,
    /// Number of earlier roots. They only open the chips that were encoded with them.
    retired: u32,
    /// Number of earlier roots that others may know.
    compromised: u32,
    /// Number of inlays whose chips have keys of a compromised root. Place each chip on the reader
    /// again to replace its keys.
    exposed_inlays: u64,
}

/// Get the encoding root
///
/// Returns when it was created and first backed up. Tapdesk never shows the root itself.
#[utoipa::path(
    get, path = "/encoding-root", tag = "encodings",
    responses((status = OK, body = EncodingRoot), Common)
)]
pub(crate) async fn root(Asked(service): Asked) -> Result<Json<EncodingRoot>, ApiError> {
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

/// The reason why the root is replaced.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewEncodingRoot {
    /// Whether others may know the current root and all earlier ones. If true, chips with keys of
    /// these roots get new keys when they are placed on the reader again.
    #[serde(default)]
    compromised: bool,
}

/// Replace the encoding root
///
/// New encodings use keys of a new root, which no backup contains yet. The current root only opens
/// chips from now on. Open encodings are abandoned: place their chips on the reader again. If the
/// root is `compromised`, `/encoding-root/inlays` lists the inlays whose chips must be encoded
/// again for their tag. Until then their taps still verify.
#[utoipa::path(
    post, path = "/encoding-root", tag = "encodings", request_body = NewEncodingRoot,
    responses((status = CREATED, body = EncodingRoot), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn replace_root(
    Asked(service): Asked,
    Body(NewEncodingRoot { compromised }): Body<NewEncodingRoot>,
) -> Result<(StatusCode, Json<EncodingRoot>), ApiError> {
    encoder::replace_root(&service, compromised).await?;
    Ok((StatusCode::CREATED, Json(view(&service).await?)))
}

/// An inlay whose chip has keys of a root that others may know.
#[derive(Serialize, ToSchema)]
#[schema(as = ExposedInlay)]
pub(crate) struct ExposedInlayView {
    /// The inlay of the chip.
    inlay_id: InlayId,
    /// UID of the chip.
    uid: Uid,
    /// The tag of the inlay.
    tag_id: Option<TagId>,
    /// Slug of the tag.
    slug: Option<String>,
    /// The compromised root of the chip's keys.
    root_id: EncodingRootId,
    /// The version of the chip's keys.
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

/// Options of the list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExposedQuery {
    /// Whether to count the items of all pages.
    #[serde(default)]
    #[param(required = false)]
    count: bool,
}

/// List inlays of a compromised encoding root
///
/// Lists inlays whose chips still have keys of such a root, the oldest first.
#[utoipa::path(
    get, path = "/encoding-root/inlays", tag = "encodings", params(ExposedQuery, PageParams),
    responses((status = OK, body = Page<ExposedInlayView>), Invalid, Common)
)]
pub(crate) async fn exposed(
    Asked(service): Asked,
    list: List<InlayId, ExposedQuery>,
) -> Result<Json<Page<ExposedInlayView>>, ApiError> {
    let storage = &service.storage;
    let found = storage.exposed_inlays(list.after, list.and_one_more());
    let items = found.await?.into_iter().map(Into::into).collect();
    let count = counted(list.filter.count, storage.count_exposed_inlays()).await?;
    let page = list.page(items, |inlay: &ExposedInlayView| inlay.inlay_id);
    Ok(Json(page.with_count(count)))
}
