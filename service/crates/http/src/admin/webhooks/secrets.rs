//! `POST /admin/v1/webhooks/{id}/secrets`.

use axum::Json;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::permitted;
use crate::admin::Asked;
use crate::admin::Requester;
use crate::admin::extract::body::Body;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, BadBody, Common, Conflicting, NotFound, Written};
use domain::clock::{Millis, Timestamp};
use domain::field_error::FieldError;
use domain::id::WebhookId;
use domain::webhook::Secret;
use storage::{Conflict, StorageError};

/// Default time for which the old secret also signs, in seconds: a day.
const KEPT_SECONDS: u32 = 24 * 60 * 60;
/// Maximum of this time, in seconds: a week.
const KEPT_SECONDS_MAX: u32 = 7 * KEPT_SECONDS;

/// Options of the rotation.
#[derive(Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Rotation {
    /// Seconds for which the current secret also signs; by default a day.
    #[schema(maximum = 604_800)]
    keep_seconds: Option<u32>,
}

/// The result of a rotation, with the new secret.
#[derive(Serialize, ToSchema)]
pub(crate) struct RotatedSecret {
    /// The secret that signs requests from now on. It is never shown again.
    #[schema(pattern = "^whsec_[A-Za-z0-9+/]+=*$")]
    secret: String,
    /// When the old secret stops signing.
    previous_secret_until: Timestamp,
}

/// Rotate a webhook's secret
///
/// Until the old secret expires, requests contain two signatures, so that receivers refuse none of
/// them. Only this answer contains the new secret: store it. A token without the scope `read` can
/// only rotate the secret of a webhook for alerts.
#[utoipa::path(
    post, path = "/webhooks/{id}/secrets", tag = "webhooks", params(("id" = WebhookId, Path)),
    request_body = Option<Rotation>,
    responses((status = CREATED, body = RotatedSecret), NotFound, Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn rotate(
    Asked(service): Asked,
    requester: Requester,
    Id(id): Id<WebhookId>,
    body: Option<Body<Rotation>>,
) -> Result<(StatusCode, Json<RotatedSecret>), ApiError> {
    let rotation = body.map(|Body(rotation)| rotation).unwrap_or_default();
    let keep = rotation.keep_seconds.unwrap_or(KEPT_SECONDS);
    if keep > KEPT_SECONDS_MAX {
        let why = "A secret is kept for at most a week (604,800 seconds).";
        return Err(ApiError::Invalid(FieldError::of("keep_seconds", why)));
    }
    let keep = Millis::seconds(keep.into());
    let secret = Secret::generate(&*service.entropy);
    let wrapped = secret.wrap(&service.keyring, &*service.entropy)?;
    let previous_secret_until = loop {
        let expected = permitted(&service, &requester, id).await?;
        let storage = &service.storage;
        let rotated = storage.rotate_webhook_secret(id, wrapped.clone(), keep, expected);
        match rotated.await {
            Ok(Some(until)) => break until,
            Ok(None) => return Err(ApiError::NotFound("webhook")),
            // The webhook was changed meanwhile, perhaps to get tag events, so check it again.
            Err(StorageError::Conflict(Conflict::Changed(_))) => {}
            Err(error) => return Err(error.into()),
        }
    };
    let rotated = RotatedSecret {
        secret: secret.expose(),
        previous_secret_until,
    };
    Ok((StatusCode::CREATED, Json(rotated)))
}
