//! `POST /admin/v1/verification`: a dry run of a tap.

use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::error::{ApiError, BadBody, Common, Conflicting};
use app::service::Service;
use app::tap::dry_run::{Carrier, Chip, DryRun, TapUrl, compare, dry_run};
use domain::field_error::FieldError;
use domain::id::{GroupId, InlayId, TagId, UrlTemplateId};
use domain::interaction::{Reason, Verdict};
use domain::settings::parse_tag_url;
use domain::trace::Step;
use inlay::Uid;
use inlay::pasted::readings;
use storage::StorageError;

/// Maximum length of a URL, in bytes.
const URL_MAX: usize = 4096;

/// The URL to check.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VerificationRequest {
    /// The URL of a tap. Surrounding text from an e-mail or a web page is allowed.
    #[schema(min_length = 1, max_length = 4096)]
    url: String,
    /// The expected base of the URL; by default the service's tag URL.
    tag_url: Option<String>,
    /// The chip that contains the URL. It is compared with the chip that made the code.
    #[serde(default, deserialize_with = "domain::strict_json::option")]
    chip: Option<Chip>,
}

/// The verdict that a tap of a URL would get now.
#[derive(Serialize, ToSchema)]
pub(crate) struct Verification {
    /// The tag; null if no tag has the slug of the URL.
    tag_id: Option<TagId>,
    /// The group that the tag is in, and the groups above it. Empty for a token that is limited.
    group_ids: Vec<GroupId>,
    /// The inlay that made the code, if known. If it is not on this tag, a finding says so.
    inlay_id: Option<InlayId>,
    /// The UID of the chip that made the code; null without a code, or if no known key decrypts it.
    uid: Option<Uid>,
    /// Whether the URL belongs to a tag at the expected base, with the same scheme, host, port and
    /// path, or matches a URL template.
    at_tag_url: bool,
    /// The URL template that the URL matches; null for any other URL.
    url_template_id: Option<UrlTemplateId>,
    /// Whether the given chip made the code; null without a chip or a code.
    chip: Option<Carrier>,
    /// The counter of the code; null if the URL has no code, or no readable one.
    #[schema(value_type = Option<u64>)]
    counter: Option<u32>,
    /// The `tag_verified` that the tap would get.
    tag_verified: Option<bool>,
    /// Name of the reason: that of an interaction, or `no_such_tag`.
    reason: &'static str,
    /// The results of the steps URL, MAC and counter.
    steps: Vec<Step>,
    /// If the code does not verify: problems of the code or of the settings.
    findings: Vec<FindingView>,
}

/// A reason why a code does not verify.
#[derive(Serialize, ToSchema)]
#[schema(as = Finding)]
struct FindingView {
    /// Name of the problem, for programs.
    kind: &'static str,
    /// Explanation for people: the reason, and how to solve it.
    text: String,
}

/// Check a tap's URL
///
/// A dry run: it consumes and records nothing. If the code does not verify, the service tries all
/// known keys in every role to find the wrong setting. With the `chip` that contains the URL, the
/// service also finds out whether the URL was copied from another chip: the first finding explains
/// it. A token that is limited to experiences can check the URLs of its own tags, with the keys of
/// their inlays. Any other URL counts as the URL of no tag.
#[utoipa::path(
    post, path = "/verification", tag = "verification", request_body = VerificationRequest,
    responses((status = OK, body = Verification), Conflicting, BadBody, Common)
)]
pub(crate) async fn verify(
    Asked(service): Asked,
    Body(VerificationRequest { url, tag_url, chip }): Body<VerificationRequest>,
) -> Result<Json<Verification>, ApiError> {
    if url.len() > URL_MAX {
        let why = format!("A tap's URL has at most {URL_MAX} characters.");
        return Err(ApiError::Invalid(FieldError::of("url", why)));
    }
    let readings = readings(&url);
    let invalid = |why: String| ApiError::Invalid(FieldError::of("url", why));
    let mut urls = Vec::new();
    for reading in &readings {
        let parsed = match reading.urls.as_slice() {
            [url] => TapUrl::parse(url).map_err(|why| why.to_string()),
            several => Err(format!(
                "These are {} URLs. Send one at a time.",
                several.len()
            )),
        };
        match parsed {
            Ok(url) => urls.push((url, &reading.notes)),
            Err(why) if urls.is_empty() => return Err(invalid(why)),
            Err(_) => {}
        }
    }
    let tag_url = match tag_url {
        Some(text) => parse_tag_url(&text).ok_or_else(no_tag_url)?,
        None => service.settings().tag_url.clone(),
    };
    if let Some(chip) = &chip {
        chip.validate().map_err(ApiError::Invalid)?;
    }
    // The most probable reading of the text, unless another reading has a code.
    let mut chosen: Option<(&TapUrl<'_>, DryRun)> = None;
    for (url, notes) in &urls {
        let mut run = dry_run(&service, url).await?;
        run.note(notes);
        let is_code = has_code(&run);
        if is_code || chosen.is_none() {
            chosen = Some((url, run));
        }
        if is_code {
            break;
        }
    }
    let (url, run) = chosen.ok_or(ApiError::Internal)?;
    let compared = match &chip {
        Some(chip) => compare(&service, url, &run, chip).await?,
        None => None,
    };
    let mut answer = Verification::of(run, url.is_at(&tag_url));
    answer.group_ids = groups_of(&service, answer.tag_id).await?;
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

/// The group of a tag and the groups above it, nearest first.
async fn groups_of(service: &Service, tag: Option<TagId>) -> Result<Vec<GroupId>, StorageError> {
    let Some(tag) = tag.filter(|_| !service.storage.is_limited()) else {
        return Ok(Vec::new());
    };
    let tag = service.storage.tag(tag).await?;
    let lineage = match tag.and_then(|tag| tag.fields.group_id) {
        Some(group) => service.storage.lineage(group).await?,
        None => None,
    };
    let groups = lineage.iter().flat_map(|lineage| lineage.groups());
    Ok(groups.map(|group| group.id).collect())
}

/// Whether a URL contains the values of a code, valid or not.
fn has_code(run: &DryRun) -> bool {
    let reason = run.verdict.map(Verdict::reason);
    run.uid.is_some() || !matches!(reason, None | Some(Reason::Malformed | Reason::NoCode))
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
            group_ids: Vec::new(),
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
