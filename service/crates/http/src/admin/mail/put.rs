//! `PUT /admin/v1/mail`.

use serde::Deserialize;
use utoipa::ToSchema;
use zeroize::Zeroizing;

use super::{MailServerView, current};
use crate::admin::Asked;
use crate::admin::extract::body::{Body, sent};
use crate::admin::extract::edited::{Edited, IfMatch, unless_changed};
use crate::error::{ApiError, BadBody, ChangedMeanwhile, Common, Conflicting, Written};
use app::service::Service;
use domain::field_error::FieldError;
use domain::mail::{MailAddress, MailFields, MailSecurity, check_password};
use storage::{MailServer, MailServerEdit};

/// The settings of a mail server.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewMailServer {
    /// Name or IP address of the server.
    #[schema(min_length = 1, max_length = 253)]
    host: String,
    /// TCP port of the server, usually 465 with `tls` and 587 with `starttls`.
    #[schema(minimum = 1)]
    port: u16,
    /// Protection of the connection. Without it, a password is sent only to this machine.
    security: MailSecurity,
    /// User name; null if the server asks for none.
    #[serde(default)]
    #[schema(required = false, max_length = 320)]
    user: Option<String>,
    /// Password of the user, stored encrypted and never shown. If this member is missing, the
    /// password stays, as long as server and user stay, too; with null, it is removed.
    #[serde(default, deserialize_with = "sent")]
    #[schema(max_length = 2048, value_type = Option<String>)]
    #[expect(clippy::option_option, reason = "null is not the same as not sent")]
    password: Option<Option<String>>,
    /// Address of the sender.
    from: MailAddress,
}

/// The password in its stored form. That of the present password stays, because the same text is
/// other bytes each time, which would be a change.
async fn sealed(service: &Service, text: &str) -> Result<Vec<u8>, ApiError> {
    let keyring = &service.keyring;
    let present = service.storage.mail_server().await?;
    let present = present.and_then(|server| server.password);
    let same = present.filter(|wrapped| {
        let opened = keyring.unwrap_secret(wrapped);
        opened.is_ok_and(|bytes| bytes.as_slice() == text.as_bytes())
    });
    Ok(match same {
        Some(wrapped) => wrapped,
        None => keyring.wrap_secret(text.as_bytes(), &*service.entropy)?,
    })
}

/// Set the mail server
///
/// Mails that wait are tried at once. Send a test with `POST /mail/test`. The certificate of the
/// server must fit its name, and be signed by an authority that the system trusts.
#[utoipa::path(
    put, path = "/mail", tag = "notifications", request_body = NewMailServer,
    responses((status = OK, body = MailServerView), ChangedMeanwhile, Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn put(
    Asked(service): Asked,
    IfMatch(expected): IfMatch,
    Body(new): Body<NewMailServer>,
) -> Result<Edited<MailServerView>, ApiError> {
    let NewMailServer {
        host,
        port,
        security,
        user,
        password,
        from,
    } = new;
    let fields = MailFields {
        host,
        port,
        security,
        user,
        from,
    };
    let given = match password {
        Some(Some(text)) => {
            let text = Zeroizing::new(text);
            check_password(&text).map_err(ApiError::Invalid)?;
            Some(Some(sealed(&service, &text).await?))
        }
        Some(None) => Some(None),
        None => None,
    };
    let edit: MailServerEdit = Box::new(move |before| {
        let password = match &given {
            Some(given) => given.clone(),
            // Without a user there is no password to keep.
            None if fields.user.is_none() => None,
            None => before.and_then(|before| before.password.clone()),
        };
        let fields = fields.clone().check(password.is_some())?;
        let is_kept = given.is_none() && password.is_some();
        if is_kept && !before.is_some_and(|before| before.fields.logs_in_like(&fields)) {
            let why = "Give the password again: the server or the user is another one.";
            return Err(FieldError::of("password", why).into());
        }
        Ok(MailServer { fields, password })
    });
    let edited = service.storage.edit_mail_server(edit, expected).await;
    let server = unless_changed(edited, current(&service)).await?;
    Ok(Edited::from(server))
}
