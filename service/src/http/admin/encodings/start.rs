//! `POST /admin/v1/encodings`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Deserializer};
use serde_json::json;
use utoipa::ToSchema;

use crate::caller;
use crate::encode::{self, FormOptions, LaidDown, Started};
use crate::encoding::turn::Turn;
use crate::encoding::{RANDOM_ID, Target};
use crate::field_error::FieldError;
use crate::http::admin::Requester;
use crate::http::admin::body::Body;
use crate::http::error::{ApiError, BadBody, Common, Conflicting, Written};
use crate::id::{EncodingRunId, FactoryOrderId, TagId, UrlTemplateId};
use crate::inlay::{MacFrom, Mirror, Technology, Uid};
use crate::scope::Scope;
use crate::service::Service;

/// A chip on a reader, and what it is to become.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the API's shape: each is a decision of its own"
)]
pub(crate) struct NewEncoding {
    /// The UID that the reader shows: 7 bytes, or 4 of a chip with random UIDs.
    #[serde(deserialize_with = "read_uid")]
    #[schema(value_type = String, pattern = "^([0-9A-Fa-f]{14}|08[0-9A-Fa-f]{6})$")]
    uid: Uid,
    /// The tag that it is to be an inlay of.
    tag_id: Option<TagId>,
    /// The run whose next tag it is to be an inlay of. The run says how it is written.
    run_id: Option<EncodingRunId>,
    /// The factory order that it came back for: it gets keys of this service, and stays the inlay of its tag. The
    /// order says how it is written.
    factory_order_id: Option<FactoryOrderId>,
    /// If true, it is to be as it left the factory. A chip that is an inlay of a tag, or whose keys were imported,
    /// needs the scope `keys` for that; with the `run_id` of the open run that encoded it, and while nobody has tapped it since, `encode` is enough.
    #[serde(default)]
    wipe: bool,
    /// How it writes its URL; by default the canonical form of a tag URL.
    url_template_id: Option<UrlTemplateId>,
    /// How it shows UID and counter in the canonical form; by default encrypted.
    mirror: Option<Mirror>,
    /// Where the MAC's input begins in the canonical form; by default it is empty.
    mac_from: Option<MacFrom>,
    /// The chip of the canonical form: `ntag213`, `ntag215` and `ntag216` get a static URL. By default
    /// `ntag424dna`, or that of the URL template. With `wipe`: the chip as the reader knows it, so that it is asked
    /// as a chip of its kind from the first command on.
    technology: Option<Technology>,
    /// If true, an NTAG 213, 215 or 216 is locked against writing once its URL is proved, for ever.
    #[serde(default)]
    lock: bool,
    /// If true, an NTAG 424 DNA is switched to LRP mode, for ever: its codes are of that mode from then on,
    /// it takes no URL of AES mode any more, and it cannot be wiped. A URL template of LRP mode needs it.
    #[serde(default)]
    lrp: bool,
    /// If true, its keys are random ones instead of derived from the encoding root. A backup that is
    /// older than the chip cannot open it then.
    #[serde(default)]
    own_keys: bool,
    /// Encode a finished chip again, with other keys; one whose keys were imported; encode or wipe one that has lost the
    /// keys it was known to have, or that was asked too often for a key that it does not have; write over what an NTAG
    /// 213, 215 or 216 has. It holds until the chip is posted again, and needs the scope `keys`, for the answers, too.
    #[serde(default)]
    replace: bool,
    /// Encode it though the tag has an inlay already.
    #[serde(default)]
    additional: bool,
}

/// The UID of a reader. A random one has 4 bytes, and zeros behind it here.
pub(super) fn read_uid<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Uid, D::Error> {
    let text = String::deserialize(deserializer)?;
    let random = text.len() == 8 && text.starts_with(&format!("{RANDOM_ID:02}"));
    let padded = if random {
        format!("{text}000000")
    } else {
        text
    };
    padded.parse().map_err(serde::de::Error::custom)
}

/// Encode a chip
///
/// Tells what to send to the chip that lies on a reader; the answers go to
/// `/encodings/{id}/answers`, which tells what to send next, until a turn has no commands. Whoever
/// relays needs to understand none of them, and learns no key. A chip that was torn away is laid
/// down again and posted again: its encoding goes on (200). With a chip that needs nothing but
/// a look, that look is all. `rejected` says in `reason` why a chip is not encoded.
///
/// A session with a chip that still has the factory key can be read by whoever sees its
/// commands: never log them.
#[utoipa::path(
    post, path = "/encodings", tag = "encodings", request_body = NewEncoding,
    responses(
        (status = CREATED, body = Turn, description = "A new encoding, and its first turn"),
        (status = OK, body = Turn, description = "The chip has an open encoding, which goes on"),
        Conflicting, BadBody, Written, Common
    )
)]
pub(crate) async fn start(
    State(service): State<Arc<Service>>,
    requester: Requester,
    Body(body): Body<NewEncoding>,
) -> Result<(StatusCode, Json<Turn>), ApiError> {
    // Who may only encode replaces no key of a finished chip.
    let undone = match body.run_id.filter(|_| body.wipe) {
        Some(run) => encode::is_undo(&service, run, body.uid).await?,
        None => false,
    };
    let wiped = body.wipe && !undone && encode::is_finished(&service, body.uid).await?;
    if body.replace || wiped {
        requester.needs(Scope::Keys)?;
    }
    caller::asks(json!({
        "uid": body.uid, "tag_id": body.tag_id, "run_id": body.run_id,
        "factory_order_id": body.factory_order_id, "wipe": body.wipe, "replace": body.replace,
    }));
    let options = FormOptions {
        url_template_id: body.url_template_id,
        mirror: body.mirror,
        mac_from: body.mac_from,
        technology: body.technology,
        lock: body.lock,
        lrp: body.lrp,
        own_keys: body.own_keys,
        replace: body.replace,
        additional: body.additional,
    };
    let whom = (body.tag_id, body.run_id, body.factory_order_id, body.wipe);
    let (target, options) = match whom {
        (Some(tag), None, None, false) => (Target::Tag(tag), options),
        (None, Some(run), None, false) => {
            let started = encode::start_in_run(&service, run, body.uid, &options);
            return Ok(told(started.await?));
        }
        (None, None, Some(order), false) => {
            encode::of_order(&service, order, body.uid, options).await?
        }
        (None, _, None, true) => (Target::Factory, options),
        _ => {
            let why = "Send one of tag_id, run_id, factory_order_id and wipe; or wipe with the run_id of the run that it undoes.";
            return Err(ApiError::Invalid(FieldError::of("tag_id", why)));
        }
    };
    let laid = LaidDown {
        uid: body.uid,
        target,
        // What is wiped is part of no run any more.
        run_id: None,
        place: None,
        options,
    };
    Ok(told(encode::start(&service, &laid).await?))
}

fn told(started: Started) -> (StatusCode, Json<Turn>) {
    let status = if started.new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    (status, Json(started.turn))
}
