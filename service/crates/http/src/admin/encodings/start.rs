//! `POST /admin/v1/encodings`.

use axum::Json;
use axum::http::StatusCode;
use serde::{Deserialize, Deserializer};
use serde_json::json;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::Requester;
use crate::admin::extract::body::Body;
use crate::error::{ApiError, BadBody, Common, Conflicting, Written};
use app::encoder::{self, FormOptions, PlacedChip, Started};
use domain::field_error::FieldError;
use domain::id::{EncodingRunId, FactoryOrderId, TagId, UrlTemplateId};
use domain::scope::Scope;
use encoding::Goal;
use encoding::turn::Turn;
use inlay::uid::RANDOM_ID;
use inlay::{MacFrom, Mirror, Technology, Uid};

/// A chip on a reader, and the wanted result.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the API's shape: each is a decision of its own"
)]
pub(crate) struct NewEncoding {
    /// The UID that the reader shows: 7 bytes, or 4 bytes of a chip with random UIDs.
    #[serde(deserialize_with = "read_uid")]
    #[schema(value_type = String, pattern = "^([0-9A-Fa-f]{14}|08[0-9A-Fa-f]{6})$")]
    uid: Uid,
    /// The tag of the new inlay.
    tag_id: Option<TagId>,
    /// The run that assigns the tag and the form of the URL.
    run_id: Option<EncodingRunId>,
    /// The factory order of a delivered chip: the chip gets keys of this service, and stays the
    /// inlay of its tag. The order defines the form of the URL.
    factory_order_id: Option<FactoryOrderId>,
    /// Whether to return the chip to its factory state. If the chip is the inlay of a tag, or its
    /// keys were imported, the token needs the scope `keys`. The scope `encode` is enough with the
    /// `run_id` of the open run that encoded the chip, while nobody has tapped it.
    #[serde(default)]
    wipe: bool,
    /// The URL template; by default the canonical form of a tag URL.
    url_template_id: Option<UrlTemplateId>,
    /// How the URL contains UID and counter in the canonical form; by default encrypted.
    mirror: Option<Mirror>,
    /// Start of the MAC input in the canonical form; by default the input is empty.
    mac_from: Option<MacFrom>,
    /// The chip for the canonical form: `ntag213`, `ntag215` and `ntag216` get a static URL. By
    /// default `ntag424dna`, or that of the URL template. With `wipe`: the type of chip that the
    /// reader detected, so that the first command already fits.
    technology: Option<Technology>,
    /// Whether to lock an NTAG 213, 215 or 216 against writing, permanently, once its URL is
    /// proved.
    #[serde(default)]
    lock: bool,
    /// Whether to give an NTAG 213, 215 or 216 a write password, derived from the encoding root.
    /// It cannot be combined with `lock`. If false, a password of this service is removed. By default
    /// it stays.
    write_password: Option<bool>,
    /// Whether to switch an NTAG 424 DNA to LRP mode, permanently. Its codes then use this mode, it
    /// accepts no URL of AES mode, and it cannot be wiped. A URL template of LRP mode requires it.
    #[serde(default)]
    lrp: bool,
    /// Whether the new keys are random instead of derived from the encoding root. Then a backup
    /// that is older than the chip cannot open it.
    #[serde(default)]
    own_keys: bool,
    /// Allows four cases: to encode a finished chip again, with other keys; to encode a chip whose
    /// keys were imported; to encode or wipe a chip that lost its known keys, or that was asked too
    /// often for a key that it does not have; and to overwrite the message of another program. It
    /// applies until the chip is posted again. It needs the scope `keys`, also for the answers.
    #[serde(default)]
    replace: bool,
    /// Whether to encode the chip although the tag already has an inlay.
    #[serde(default)]
    additional: bool,
    /// Encode the chip although its address, the setting `tag_url`, is not proved. This is for
    /// tests on this computer. Otherwise the request fails with `address_not_proved`, unless it has
    /// a URL template.
    #[serde(default)]
    allow_unproved_address: bool,
    /// Whether the reader found a message on an NTAG 424 DNA. If that chip has its factory keys,
    /// another program wrote the message: the encoding is rejected as `already_encoded`, unless
    /// `replace` is true. Tapdesk reads the pages of an NTAG 213, 215 or 216 before it writes them,
    /// so this member has no effect on them.
    #[serde(default)]
    has_message: bool,
}

/// Parses the UID of a reader. A random UID has 4 bytes; zeros follow it in the result.
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
/// Returns the first commands for the chip on the reader. Send the answers of the chip to
/// `/encodings/{id}/answers`, which returns the next commands, until a turn has no commands. The
/// client only relays: it needs to understand no command, and learns no key. If a chip was removed
/// too early, place it on the reader and post it again: its encoding continues (200). If a chip is
/// already in the wanted state, Tapdesk only examines it. If the state is `rejected`, `reason`
/// explains why.
///
/// While a chip has its factory key, anyone who sees the commands can decrypt the session: never
/// log them.
#[utoipa::path(
    post, path = "/encodings", tag = "encodings", request_body = NewEncoding,
    responses(
        (status = CREATED, body = Turn, description = "A new encoding, and its first turn"),
        (status = OK, body = Turn, description = "The chip has an open encoding, which goes on"),
        Conflicting, BadBody, Written, Common
    )
)]
pub(crate) async fn start(
    Asked(service): Asked,
    requester: Requester,
    Body(body): Body<NewEncoding>,
) -> Result<(StatusCode, Json<Turn>), ApiError> {
    // Without the scope `keys`, a caller must not replace the keys of a finished chip.
    let undone = match body.run_id.filter(|_| body.wipe) {
        Some(run) => encoder::is_undo(&service, run, body.uid).await?,
        None => false,
    };
    let wiped = body.wipe && !undone && encoder::is_finished(&service, body.uid).await?;
    if body.replace || wiped {
        requester.needs(Scope::Keys)?;
    }
    service.storage.asks(json!({
        "uid": body.uid, "tag_id": body.tag_id, "run_id": body.run_id,
        "factory_order_id": body.factory_order_id, "wipe": body.wipe, "replace": body.replace,
        "allow_unproved_address": body.allow_unproved_address,
    }));
    let options = FormOptions {
        url_template_id: body.url_template_id,
        mirror: body.mirror,
        mac_from: body.mac_from,
        technology: body.technology,
        lock: body.lock,
        write_password: body.write_password,
        lrp: body.lrp,
        own_keys: body.own_keys,
        replace: body.replace,
        additional: body.additional,
        allow_unproved_address: body.allow_unproved_address,
        has_message: body.has_message,
    };
    let whom = (body.tag_id, body.run_id, body.factory_order_id, body.wipe);
    let (goal, options) = match whom {
        (Some(tag), None, None, false) => (Goal::Tag(tag), options),
        (None, Some(run), None, false) => {
            let started = encoder::start_in_run(&service, run, body.uid, &options);
            return Ok(turn_of(started.await?));
        }
        (None, None, Some(order), false) => {
            encoder::of_order(&service, order, body.uid, options).await?
        }
        (None, _, None, true) => (Goal::Factory, options),
        _ => {
            let why = "Send one of tag_id, run_id, factory_order_id and wipe; or wipe with the run_id of the run that it undoes.";
            return Err(ApiError::Invalid(FieldError::of("tag_id", why)));
        }
    };
    let placed = PlacedChip {
        uid: body.uid,
        goal,
        // A wiped chip is not part of a run any more.
        run_id: None,
        place: None,
        options,
    };
    Ok(turn_of(encoder::start(&service, &placed).await?))
}

fn turn_of(started: Started) -> (StatusCode, Json<Turn>) {
    let status = if started.new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    (status, Json(started.turn))
}
