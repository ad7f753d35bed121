//! `POST /admin/v1/encodings/{id}/answers`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use crate::encode;
use crate::encoding::turn::{Answers, Turn};
use crate::http::admin::Requester;
use crate::http::admin::body::Body;
use crate::http::admin::path::Id;
use crate::http::error::{ApiError, BadBody, Common, Conflicting, NotFound, Written};
use crate::id::EncodingId;
use crate::scope::Scope;
use crate::service::Service;

/// Answer a turn of an encoding
///
/// The next turn is on disk before it is answered. The same `seq` with the same answers gets the
/// same turn again; with other answers, or a `seq` that is not the present one: 409. A session is
/// good for 60 seconds; after that the chip is looked at again. A turn of an encoding with `replace`
/// needs the scope `keys`, too.
#[utoipa::path(
    post, path = "/encodings/{id}/answers", tag = "encodings", params(("id" = EncodingId, Path)),
    request_body = Answers,
    responses((status = OK, body = Turn), NotFound, Conflicting, BadBody, Written, Common)
)]
pub(crate) async fn answer(
    State(service): State<Arc<Service>>,
    Id(id): Id<EncodingId>,
    requester: Requester,
    Body(answers): Body<Answers>,
) -> Result<Json<Turn>, ApiError> {
    let may_replace = requester.needs(Scope::Keys).is_ok();
    Ok(Json(
        encode::answer(&service, id, &answers, may_replace).await?,
    ))
}
