//! `/admin/v1/phones`: staff phones. A pair URL is shown once, when its phone is created. The
//! database stores only hashes of its code, and of the phone's secrets.

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
use app::staff::{self, TagHost};
use domain::clock::Timestamp;
use domain::field_error::FieldError;
use domain::id::{GroupId, PhoneId};
use domain::phone::{NewPhone, PairedPhone, Phone, PhoneSecret, PhoneState};
use domain::scope::{Rights, Scope};
use domain::text::Name;

/// A phone of staff, without its secrets.
#[derive(Serialize, ToSchema)]
#[schema(as = Phone)]
pub(crate) struct PhoneView {
    #[serde(flatten)]
    phone: Phone,
    /// Whether its taps get the staff page.
    state: PhoneState,
    /// The hosts at which it is paired.
    paired_hosts: Vec<String>,
    /// The hosts of tag URLs at which it is not paired, such as one that was added later: there its
    /// taps are a visitor's. Hosts with a slug are left out, because no phone is paired there.
    unpaired_hosts: Vec<String>,
}

impl PhoneView {
    fn at(now: Timestamp, paired: PairedPhone, hosts: &[TagHost]) -> Self {
        let PairedPhone { phone, cookies } = paired;
        let unpaired = hosts.iter().filter(|host| !cookies.has(&host.name));
        Self {
            state: phone.state(now),
            paired_hosts: cookies.hosts().map(str::to_owned).collect(),
            unpaired_hosts: unpaired.map(|host| host.name.clone()).collect(),
            phone,
        }
    }
}

/// List staff phones
///
/// The oldest first, also expired ones.
#[utoipa::path(
    get, path = "/phones", tag = "phones", params(PageParams),
    responses((status = OK, body = Page<PhoneView>), Invalid, Common)
)]
pub(crate) async fn list(
    Asked(service): Asked,
    list: List<PhoneId>,
) -> Result<Json<Page<PhoneView>>, ApiError> {
    let phones = service
        .storage
        .phones(list.after, list.and_one_more())
        .await?;
    let now = service.storage.now().await?;
    let hosts = staff::tag_hosts(&service).await?;
    let phones = phones.into_iter();
    let phones = phones.map(|phone| PhoneView::at(now, phone, &hosts));
    let phones: Vec<PhoneView> = phones.collect();
    Ok(Json(list.page(phones, |view| view.phone.id)))
}

/// A staff phone to create.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPhoneBody {
    /// Name of the phone, or of the person who has it.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// Scopes of the phone: `read` shows values and last taps, `encode` fills test sheets, `tags`
    /// changes variables and experiences, `keys` moves inlays. `admin` is refused.
    #[schema(min_items = 1, value_type = Vec<Scope>)]
    scopes: BTreeSet<Scope>,
    /// Limits the phone to these groups and all below them. `null` for no limit.
    #[serde(default)]
    #[schema(value_type = Option<Vec<GroupId>>)]
    group_ids: Option<BTreeSet<GroupId>>,
    /// Expiry of the phone. `null` for a phone that is valid until it is deleted; a token with an
    /// expiry cannot create such a phone.
    #[serde(default)]
    expires_at: Option<Timestamp>,
}

/// A staff phone right after its creation.
#[derive(Serialize, ToSchema)]
pub(crate) struct CreatedPhone {
    #[serde(flatten)]
    phone: Phone,
    /// Whether its taps get the staff page.
    state: PhoneState,
    /// The URL that pairs the phone, as a QR code for its camera. It is good for one phone and ten
    /// minutes, and is never shown again.
    pair_url: String,
}

/// Create a staff phone
///
/// Only this answer contains the pair URL. The phone has at most the scopes of the token of this
/// request, and expires no later.
#[utoipa::path(
    post, path = "/phones", tag = "phones", request_body = NewPhoneBody,
    responses((status = CREATED, body = CreatedPhone), Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn create(
    Asked(service): Asked,
    requester: Requester,
    Body(new): Body<NewPhoneBody>,
) -> Result<(StatusCode, Json<CreatedPhone>), ApiError> {
    let name = Name::new("A phone", new.name).map_err(ApiError::invalid)?;
    let scopes = new.scopes;
    if scopes.is_empty() {
        let why = "A phone needs at least one scope.";
        return Err(ApiError::Invalid(FieldError::of("scopes", why)));
    }
    if scopes.contains(&Scope::Admin) {
        let why = "A phone can be lost, so it cannot have the scope admin. Name the scopes that its work needs.";
        return Err(ApiError::Invalid(FieldError::of("scopes", why)));
    }
    if let Some(scope) = requester.rights().lacks(&scopes) {
        return Err(ApiError::Scope(scope));
    }
    let now = service.storage.now().await?;
    if new.expires_at.is_some_and(|end| end <= now) {
        let why = "A phone ends in the future.";
        return Err(ApiError::Invalid(FieldError::of("expires_at", why)));
    }
    let own_end = requester.token().and_then(|token| token.expires_at);
    if let Some(own_end) = own_end
        && new.expires_at.is_none_or(|end| end > own_end)
    {
        let why = format!(
            "The token of this request ends at {own_end}. A phone that it makes ends at that time or before: set \
             expires_at."
        );
        return Err(ApiError::Invalid(FieldError::of("expires_at", why)));
    }
    let code = PhoneSecret::generate(&*service.entropy);
    let phone = NewPhone {
        name,
        rights: Rights {
            scopes,
            experience_ids: None,
            group_ids: new.group_ids,
        },
        expires_at: new.expires_at,
        pair_code: code.hash(),
    };
    let phone = service.storage.insert_phone(phone).await?;
    let origin = service.settings().origin();
    let created = CreatedPhone {
        state: phone.state(now),
        phone,
        pair_url: format!("{origin}/staff/pair/{}", code.expose()),
    };
    Ok((StatusCode::CREATED, Json(created)))
}

/// End a staff phone
///
/// Its cookies and its pair URL are invalid from now on, and within a second on all nodes. Its taps
/// are visits again.
#[utoipa::path(
    delete, path = "/phones/{id}", tag = "phones", params(("id" = PhoneId, Path)),
    responses((status = NO_CONTENT), NotFound, Written, Common)
)]
pub(crate) async fn delete(
    Asked(service): Asked,
    Id(id): Id<PhoneId>,
) -> Result<StatusCode, ApiError> {
    let deleted = service.storage.delete_phone(id).await?;
    deleted
        .map(|()| StatusCode::NO_CONTENT)
        .ok_or(ApiError::NotFound("phone"))
}
