//! `POST /admin/v1/verification`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::field_error::FieldError;
use crate::http::admin::body::Body;
use crate::http::error::{ApiError, BadBody, Common, Conflicting};
use crate::id::{InlayId, TagId, UrlTemplateId};
use crate::inlay::Uid;
use crate::interaction::Verdict;
use crate::service::Service;
use crate::settings::parse_tag_url;
use crate::tap::dry_run::{Carrier, Chip, DryRun, TapUrl, compare, dry_run};
use crate::trace::Step;

/// Longest URL that is looked at, in bytes.
const URL_MAX: usize = 4096;

/// The URL to check.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VerificationRequest {
    /// The URL of a tap.
    #[schema(min_length = 1, max_length = 4096)]
    url: String,
    /// The base at which the URL is expected; the service's own tag URL if it is not sent.
    tag_url: Option<String>,
    /// The chip on which a reader found the URL: it is compared with the one that made the code.
    #[serde(default, deserialize_with = "crate::object::option")]
    chip: Option<Chip>,
}

/// The verdict that a tap of a URL would get now.
#[derive(Serialize, ToSchema)]
pub(crate) struct Verification {
    /// The tag; null if none has the URL's slug.
    tag_id: Option<TagId>,
    /// The inlay that made the code, if known. If it is not one of the tag's, a finding says so.
    inlay_id: Option<InlayId>,
    /// The UID of the chip that made the code; null without a code, or if no known key decrypts it.
    uid: Option<Uid>,
    /// Whether the URL is one of a tag at the expected base: same scheme, host, port and path; or
    /// at the address of a URL template.
    at_tag_url: bool,
    /// The URL template at whose address the URL is; null for any other URL.
    url_template_id: Option<UrlTemplateId>,
    /// Whether the chip that was sent is the one that made the code; null without a chip or a code.
    chip: Option<Carrier>,
    /// The counter of the code; null if there is none, or none that can be read.
    counter: Option<u32>,
    /// What the tap's `tag_verified` would be.
    tag_verified: Option<bool>,
    /// Why, by name: that of an interaction, or `no_such_tag`.
    reason: &'static str,
    /// The steps URL, MAC and counter.
    steps: Vec<Step>,
    /// If the code does not verify: what is wrong with it or with the settings.
    findings: Vec<FindingView>,
}

/// A reason why a code does not verify.
#[derive(Serialize, ToSchema)]
#[schema(as = Finding)]
struct FindingView {
    /// What it is, by name.
    kind: &'static str,
    /// The reason and the remedy, in words.
    text: String,
}

/// Check a tap's URL
///
/// A dry run: nothing is consumed or recorded. If the code does not verify, all known keys are
/// tried in every role to find the wrong setting. With the `chip` on which a reader found the URL,
/// the answer says whether the URL was copied from another chip: the first finding says why.
#[utoipa::path(
    post, path = "/verification", tag = "verification", request_body = VerificationRequest,
    responses((status = OK, body = Verification), Conflicting, BadBody, Common)
)]
pub(crate) async fn verify(
    State(service): State<Arc<Service>>,
    Body(VerificationRequest { url, tag_url, chip }): Body<VerificationRequest>,
) -> Result<Json<Verification>, ApiError> {
    if url.len() > URL_MAX {
        let why = format!("A tap's URL has at most {URL_MAX} characters.");
        return Err(ApiError::Invalid(FieldError::of("url", why)));
    }
    let url = TapUrl::parse(&url)
        .map_err(|error| ApiError::Invalid(FieldError::of("url", error.to_string())))?;
    let tag_url = match tag_url {
        Some(text) => parse_tag_url(&text).ok_or_else(no_tag_url)?,
        None => service.settings().tag_url.clone(),
    };
    if let Some(chip) = &chip {
        chip.validate().map_err(ApiError::Invalid)?;
    }
    let run = dry_run(&service, &url).await?;
    let compared = match &chip {
        Some(chip) => compare(&service, &url, &run, chip).await?,
        None => None,
    };
    let mut answer = Verification::of(run, url.is_at(&tag_url));
    if let Some(compared) = compared {
        answer.chip = Some(compared.carrier);
        let kind = match compared.carrier {
            Carrier::Same => "same_chip",
            Carrier::Copied => "copied_url",
            Carrier::NotComparable => "not_comparable",
        };
        let finding = compared.why.map(|text| FindingView { kind, text });
        answer.findings.splice(0..0, finding);
    }
    Ok(Json(answer))
}

fn no_tag_url() -> ApiError {
    let why =
        "tag_url is the base of tags' URLs, as in https://tags.example.com/t, without a query.";
    ApiError::Invalid(FieldError::of("tag_url", why))
}

impl Verification {
    fn of(run: DryRun, at_tag_url: bool) -> Self {
        let findings = run.findings.iter().map(|finding| FindingView {
            kind: finding.name(),
            text: finding.to_string(),
        });
        Self {
            tag_id: run.tag_id,
            inlay_id: run.inlay_id,
            uid: run.uid,
            at_tag_url: at_tag_url || run.url_template_id.is_some(),
            url_template_id: run.url_template_id,
            chip: None,
            counter: run.verdict.and_then(|verdict| verdict.counters().0),
            tag_verified: run.verdict.and_then(Verdict::tag_verified),
            reason: run
                .verdict
                .map_or("no_such_tag", |verdict| verdict.reason().as_str()),
            findings: findings.collect(),
            steps: run.steps,
        }
    }
}
