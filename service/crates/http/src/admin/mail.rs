//! `/admin/v1/mail`: the mail server that notifications are sent by.

mod put;
mod test;

pub(super) use put::*;
pub(super) use test::*;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::Asked;
use super::extract::edited::{Edited, IfMatch, unless_changed};
use crate::error::{ApiError, ChangedMeanwhile, Common, NotFound, Written};
use app::service::Service;
use domain::mail::MailFields;
use storage::{MailServer, StorageError};

/// The mail server, without its password.
#[derive(Serialize, ToSchema)]
#[schema(as = MailServer)]
pub(crate) struct MailServerView {
    #[serde(flatten)]
    fields: MailFields,
    /// Whether a password is stored. It is never shown.
    has_password: bool,
}

impl From<MailServer> for Edited<MailServerView> {
    fn from(server: MailServer) -> Self {
        Self::shown_as(server, |server| MailServerView {
            has_password: server.password.is_some(),
            fields: server.fields,
        })
    }
}

/// The present mail server, for a client that expected another one.
async fn current(service: &Service) -> Result<Option<Edited<MailServerView>>, StorageError> {
    Ok(service.storage.mail_server().await?.map(Edited::from))
}

/// Get the mail server
///
/// `null` if there is none.
#[utoipa::path(
    get, path = "/mail", tag = "notifications",
    responses((status = OK, body = Option<MailServerView>), Common)
)]
pub(crate) async fn get(Asked(service): Asked) -> Result<Response, ApiError> {
    Ok(match current(&service).await? {
        Some(server) => server.into_response(),
        None => Json(()).into_response(),
    })
}

/// Remove the mail server
///
/// Its password is removed, too. Mails that wait are tried again for five days: another mail server
/// sends them.
#[utoipa::path(
    delete, path = "/mail", tag = "notifications",
    responses((status = NO_CONTENT), NotFound, ChangedMeanwhile, Written, Common)
)]
pub(crate) async fn delete(
    Asked(service): Asked,
    IfMatch(expected): IfMatch,
) -> Result<StatusCode, ApiError> {
    let deleted = service.storage.delete_mail_server(expected).await;
    let deleted = unless_changed(deleted, current(&service)).await?;
    deleted.ok_or(ApiError::NotFound("mail server"))?;
    Ok(StatusCode::NO_CONTENT)
}
