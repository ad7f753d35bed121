//! `POST /admin/v1/factory-orders/{id}/keys`.

use std::sync::Arc;

use axum::http::{HeaderName, header};
use serde::Deserialize;
use utoipa::ToSchema;
use zeroize::Zeroizing;

use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, BadBody, Common, Conflicting, NotFound, Written};
use crate::schema::Binary;
use app::encoder;
use domain::field_error::FieldError;
use domain::id::FactoryOrderId;
use domain::keyring::{Passphrase, SealedKeys};

/// The seal of exported keys.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSealedKeys {
    /// The passphrase that seals the keys. Send it to the bureau by another channel than the file.
    #[schema(min_length = 12)]
    passphrase: String,
}

/// Export the keys of a factory order
///
/// `keys.sealed`: the keys of all positions, sealed with a passphrase. `/instructions` explains how
/// to open it, and `tapdesk-service open-keys` does it. The audit log records the export before the
/// answer is sent.
#[utoipa::path(
    post, path = "/factory-orders/{id}/keys", tag = "factory orders", params(("id" = FactoryOrderId, Path)),
    request_body = NewSealedKeys,
    responses(
        (status = OK, description = "The sealed keys", content_type = "application/octet-stream", body = inline(Binary)),
        NotFound, Conflicting, BadBody, Written, Common
    )
)]
pub(crate) async fn keys(
    Asked(service): Asked,
    Id(id): Id<FactoryOrderId>,
    Body(NewSealedKeys { passphrase }): Body<NewSealedKeys>,
) -> Result<([(HeaderName, &'static str); 2], Vec<u8>), ApiError> {
    let passphrase = Zeroizing::new(passphrase);
    let passphrase = Passphrase::parse(&passphrase)
        .map_err(|error| ApiError::Invalid(FieldError::of("passphrase", error.to_string())))?;
    let keys = encoder::order_keys(&service, id).await?;
    service.storage.note_order_exported(id).await?;
    let entropy = Arc::clone(&service.entropy);
    // Sealing is slow on purpose, to make guesses of the passphrase slow.
    let seal = move || SealedKeys::seal(&keys, &passphrase, &*entropy);
    let sealed = tokio::task::spawn_blocking(seal).await;
    let sealed = sealed.map_err(|_| ApiError::Internal)?;
    let file = serde_json::to_vec(&sealed).map_err(|_| ApiError::Internal)?;
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"keys.sealed\"",
        ),
    ];
    Ok((headers, file))
}
