//! `POST /admin/v1/encodings/{id}/answers`.

use axum::Json;

use crate::admin::Asked;
use crate::admin::Requester;
use crate::admin::extract::body::Body;
use crate::admin::extract::path::Id;
use crate::error::{ApiError, BadBody, Common, Conflicting, NotFound, Written};
use app::encoder;
use domain::id::EncodingId;
use domain::scope::Scope;
use encoding::StateWord;
use encoding::turn::{Answers, Turn};

/// Answer a turn of an encoding
///
/// Tapdesk stores the next turn before it answers. A repeated `seq` with the same answers gets the
/// same turn again. Other answers, or a `seq` that is not the current one, get 409. A session is
/// valid for 60 seconds; after that Tapdesk examines the chip again. If the encoding has `replace`,
/// the token also needs the scope `keys`. After the chip is verified, Tapdesk opens the address
/// that the chip contains. The last turn waits for that at most a second, and `address` of the
/// encoding contains the result.
#[utoipa::path(
    post, path = "/encodings/{id}/answers", tag = "encodings", params(("id" = EncodingId, Path)),
    request_body = Answers,
    responses((status = OK, body = Turn), NotFound, Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn answer(
    Asked(service): Asked,
    Id(id): Id<EncodingId>,
    requester: Requester,
    Body(answers): Body<Answers>,
) -> Result<Json<Turn>, ApiError> {
    let may_replace = requester.needs(Scope::Keys).is_ok();
    let turn = encoder::answer(&service, id, &answers, may_replace).await?;
    if turn.state == StateWord::Verified {
        encoder::open_address(&service, turn.id).await;
    }
    Ok(Json(turn))
}
