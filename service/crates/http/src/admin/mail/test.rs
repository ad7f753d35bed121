//! `POST /admin/v1/mail/test`.

use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::error::{ApiError, BadBody, Common, Written};
use app::notifications;
use domain::audit::Note;
use domain::mail::{MailAddress, MailStep};

/// The recipient of a test mail.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MailTestBody {
    /// Address that gets the test mail.
    to: MailAddress,
}

/// The result of a test mail.
#[derive(Serialize, ToSchema)]
pub(crate) struct MailTest {
    /// Whether the mail server accepted the mail.
    delivered: bool,
    /// The step that failed; null if the mail was delivered.
    step: Option<MailStep>,
    /// The error for people; null if the mail was delivered.
    error: Option<String>,
}

/// Send a test mail
///
/// Sends a mail at once, without repetitions, and says which step failed. Takes at most four minutes.
#[utoipa::path(
    post, path = "/mail/test", tag = "notifications", request_body = MailTestBody,
    responses((status = OK, body = MailTest), BadBody, Written, Common)
)]
pub(crate) async fn test(
    Asked(service): Asked,
    Body(MailTestBody { to }): Body<MailTestBody>,
) -> Result<Json<MailTest>, ApiError> {
    let note = Note::done(&json!({"to": to}));
    service.storage.record(note).await?;
    let tested = notifications::test_mail(&service, &to).await?;
    Ok(Json(MailTest {
        delivered: tested.error.is_none(),
        step: tested.step,
        error: tested.error,
    }))
}
