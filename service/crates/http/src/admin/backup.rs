//! `/admin/v1/backup`: a file with the whole database at one moment.

mod schedule;

use std::sync::Arc;

use axum::body::Body as ResponseBody;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use chrono::DateTime;
use serde::Deserialize;
use tokio_util::io::ReaderStream;
use utoipa::ToSchema;
use zeroize::Zeroizing;

pub(super) use schedule::*;

use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::error::{ApiError, BadBody, Common, Conflicting, Written};
use crate::schema::Binary;
use app::service::Service;
use domain::audit::Note;
use domain::field_error::FieldError;
use domain::keyring::{Passphrase, SealedWrappingKey};
use storage::BackupNote;

/// Header that says whether the backup contains the key that wraps the inlay keys.
const CARRIES_KEY: HeaderName = HeaderName::from_static("tapdesk-inlay-key");

/// Options of a new backup.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewBackup {
    /// Passphrase that seals the key that wraps inlay keys. Without a passphrase, the backup does
    /// not contain this key.
    #[serde(default)]
    #[schema(min_length = 12)]
    passphrase: Option<String>,
}

/// Back up the database
///
/// The answer is a SQLite file with a checksum after its last page, which SQLite ignores.
/// `tapdesk-service restore` verifies the checksum and puts the database in place. A passphrase
/// also seals the checksum, so nobody can change the backup unnoticed without the passphrase. The
/// header `Tapdesk-Inlay-Key` is `included` or `not-included`. Without the key, codes of the
/// restored inlays verify only with the same `inlay.key`.
#[utoipa::path(
    post, path = "/backup", tag = "backup", request_body = NewBackup,
    responses(
        (
            status = OK, description = "The backup", content_type = "application/vnd.sqlite3", body = inline(Binary),
            headers(("Tapdesk-Inlay-Key" = String, description = "`included` or `not-included`"))
        ),
        Conflicting, BadBody, Written, Common
    )
)]
pub(crate) async fn create(
    Asked(service): Asked,
    Body(NewBackup { passphrase }): Body<NewBackup>,
) -> Result<Response, ApiError> {
    let inlay_key = match passphrase.map(Zeroizing::new) {
        Some(text) => Some(sealed_key(&service, &text).await?),
        None => None,
    };
    let carries_key = if inlay_key.is_some() {
        "included"
    } else {
        "not-included"
    };
    if let Err(error) = service.storage.record(Note::default()).await {
        // Continue: a backup matters most when the disk is full.
        tracing::warn!("a backup is made that the audit log does not name: {error}");
    }
    let at = service.storage.now().await?;
    let is_sealed = inlay_key.is_some();
    let key = is_sealed
        .then(|| service.keyring.backup_key())
        .transpose()?;
    let note = BackupNote { at, inlay_key };
    let file = service.storage.backup(note, key).await?;
    if is_sealed {
        service.storage.note_roots_backed_up(at).await?;
    }
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let name = DateTime::from_timestamp_millis(at.millis())
        .unwrap_or_default()
        .format("attachment; filename=\"tapdesk-%Y%m%dT%H%M%SZ.db\"")
        .to_string();
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/vnd.sqlite3"),
        ),
        (header::CONTENT_LENGTH, HeaderValue::from(length)),
        (
            header::CONTENT_DISPOSITION,
            HeaderValue::try_from(name).map_err(|_| ApiError::Internal)?,
        ),
        (CARRIES_KEY, HeaderValue::from_static(carries_key)),
    ];
    let content = ReaderStream::with_capacity(tokio::fs::File::from_std(file), 256 * 1024);
    Ok((headers, ResponseBody::from_stream(content)).into_response())
}

/// Seals the wrapping key with a passphrase. This is slow on purpose, to make guesses slow.
async fn sealed_key(
    service: &Arc<Service>,
    passphrase: &str,
) -> Result<SealedWrappingKey, ApiError> {
    let passphrase = Passphrase::parse(passphrase)
        .map_err(|error| ApiError::Invalid(FieldError::of("passphrase", error.to_string())))?;
    let service = Arc::clone(service);
    let seal = move || service.keyring.seal(&passphrase, &*service.entropy);
    let sealed = tokio::task::spawn_blocking(seal).await;
    Ok(sealed.map_err(|_| ApiError::Internal)??)
}
