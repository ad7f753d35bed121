//! `POST /admin/v1/own-reads`: reads of inlays by this application.

use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::extract::body::Body;
use crate::admin::Asked;
use crate::error::{ApiError, BadBody, Common};
use app::tap::dry_run::{Carrier, Chip, TapUrl, compare, dry_run};
use domain::field_error::FieldError;
use domain::interaction::Verdict;

/// Maximum length of a URL, in bytes.
const URL_MAX: usize = 4096;
/// Maximum number of interrupted reads of one chip. Nobody places a chip more often in a row.
const TORN_MAX: u32 = 64;

/// A read of an inlay by this application.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnRead {
    /// The URL that was read.
    #[schema(max_length = 4096)]
    url: String,
    /// The chip that contains the URL.
    #[serde(default, deserialize_with = "domain::strict_json::option")]
    chip: Option<Chip>,
    /// Number of interrupted reads of the chip right before this one. They may have increased its
    /// counter.
    #[serde(default)]
    #[schema(maximum = 64)]
    torn: u32,
}

/// Record a read by this application
///
/// Each read increases the counter of a chip that makes codes. The service does not report a read
/// that is noted here as a counter gap of later taps. The code stays valid: its tap can still be
/// sent. The service notes nothing if the code would not verify, or if the URL was copied from
/// another chip.
#[utoipa::path(
    post, path = "/own-reads", tag = "interactions", request_body = OwnRead,
    responses((status = NO_CONTENT, description = "The read is noted, if it is one of a known inlay"), BadBody, Common)
)]
pub(crate) async fn note(
    Asked(service): Asked,
    Body(OwnRead { url, chip, torn }): Body<OwnRead>,
) -> Result<StatusCode, ApiError> {
    if url.len() > URL_MAX {
        let why = format!("A tap's URL has at most {URL_MAX} characters.");
        return Err(ApiError::Invalid(FieldError::of("url", why)));
    }
    if torn > TORN_MAX {
        let why = format!("torn is at most {TORN_MAX}.");
        return Err(ApiError::Invalid(FieldError::of("torn", why)));
    }
    if let Some(chip) = &chip {
        chip.validate().map_err(ApiError::Invalid)?;
    }
    let Ok(url) = TapUrl::parse(&url) else {
        return Ok(StatusCode::NO_CONTENT);
    };
    let run = dry_run(&service, &url).await?;
    let compared = match &chip {
        Some(chip) => compare(&service, &url, &run, chip).await?,
        None => None,
    };
    let is_copied = compared.is_some_and(|compared| compared.carrier == Carrier::Copied);
    if let (Some(inlay), Some(Verdict::Verified { counter, previous })) =
        (run.inlay_id, run.verdict)
        && !is_copied
    {
        let first = counter.saturating_sub(torn).max(previous + 1);
        for read in first..=counter {
            service.storage.note_own_read(inlay, read).await?;
        }
    }
    Ok(StatusCode::NO_CONTENT)
}
