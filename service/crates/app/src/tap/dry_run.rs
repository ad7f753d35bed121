//! The dry run of a tap: its verdict, and if it would not verify, which setting is wrong. Nothing
//! is used up and nothing is recorded.

mod chip;
mod template;
mod url;

pub use chip::{Carrier, Chip, Comparison};
pub use url::TapUrl;

use super::{TapError, UrlCode, classify};
use crate::service::{CachedTag, Service, candidate};
use domain::id::{InlayId, TagId, UrlTemplateId};
use domain::interaction::{Claim, Refusal, Verdict};
use domain::trace::{CodeInlay, Step, StepName, StepVerdict, verdict_steps};
use inlay::Uid;
use inlay::code::{Code, Mirrored};
use inlay::derivation::Derivation;
use inlay::diagnose::{Diagnosis, Finding, Known, Maker, NamedMasterKey, diagnose};
use inlay::diversify::MasterKey;
use inlay::pasted::Note;
use inlay::verify::{Candidate, CodeError, verify};
use storage::{BoundInlay, InlayFilter, OtherInlays, StorageError, TagKey};

/// How many inlays of other tags are tried on a code that hides its UID.
const OTHER_INLAYS_MAX: usize = 10_000;
/// How many master keys are tried.
const MASTER_KEYS_MAX: usize = 1_000;

/// The result of a dry run.
#[derive(Clone, Debug)]
pub struct DryRun {
    /// The tag; `None` if no tag has the URL's slug.
    pub tag_id: Option<TagId>,
    /// The inlay that made the code, if it is known. It may belong to another tag.
    pub inlay_id: Option<InlayId>,
    /// The UID of the chip that made the code, as the code states it or as a known key decrypts it.
    pub uid: Option<Uid>,
    /// The verdict; `None` if the URL names no tag.
    pub verdict: Option<Verdict>,
    /// The steps URL, MAC and counter.
    pub steps: Vec<Step>,
    /// The errors in the code or in the settings.
    pub findings: Vec<Finding>,
    /// Whether the URL contains no code. Known only for URLs of a URL template.
    pub is_static: bool,
    /// The URL template that the URL matches.
    pub url_template_id: Option<UrlTemplateId>,
}

impl DryRun {
    /// Adds to the first step how the URL was read from a pasted text.
    pub fn note(&mut self, notes: &[Note]) {
        if let Some(step) = self.steps.first_mut() {
            for note in notes {
                step.detail.push_str(" · ");
                step.detail.push_str(&note.to_string());
            }
        }
    }
}

/// Decides a tap as [`crate::tap::tap`] would at this moment. A caller who is limited to
/// experiences sees only tags within reach, checked with the keys of such tags; any other URL looks
/// like one of no tag.
pub async fn dry_run(service: &Service, url: &TapUrl<'_>) -> Result<DryRun, TapError> {
    let run = decided(service, url).await?;
    if run.tag_id.is_none() && service.storage.is_limited() {
        return Ok(DryRun::of_nobody(service, url));
    }
    Ok(run)
}

/// A tag with its present configuration, if it is within reach.
async fn within_reach(
    service: &Service,
    key: TagKey<'_>,
) -> Result<Option<CachedTag>, StorageError> {
    let tag = service.tags.read(key).await?;
    Ok(tag.filter(|tag| tag.is_within(service.storage.reach())))
}

async fn decided(service: &Service, url: &TapUrl<'_>) -> Result<DryRun, TapError> {
    if let Some(run) = template::dry_run(service, url.text).await? {
        return Ok(run);
    }
    let code = UrlCode::in_query(url.query());
    let Some(tag) = within_reach(service, TagKey::Slug(&url.slug)).await? else {
        let explained = explain(service, None, &code, url).await?;
        return Ok(DryRun {
            inlay_id: explained.inlay,
            uid: stated(&code).or(explained.uid),
            findings: explained.findings,
            ..DryRun::of_nobody(service, url)
        });
    };
    let (verdict, mut inlay_id) = foreseen(service, classify(&tag, &code)?).await?;
    let maker = inlay_id.and_then(|id| sketch(&tag, id));
    let mut uid = stated(&code).or(maker.map(|maker| maker.uid));
    let mut findings = Vec::new();
    let of_code = matches!(
        verdict,
        Verdict::NotVerified(
            Refusal::Malformed | Refusal::UnknownInlay { .. } | Refusal::WrongMac { .. }
        )
    );
    if of_code {
        let explained = explain(service, Some(&tag), &code, url).await?;
        inlay_id = explained.inlay;
        uid = uid.or(explained.uid).or(match verdict {
            Verdict::NotVerified(Refusal::UnknownInlay { uid }) => uid,
            _ => None,
        });
        findings = explained.findings;
    }
    findings.extend(other_parameters(&code, url.query()));
    let mut steps = verdict_steps(
        Some(&url.slug),
        verdict,
        inlay_id.and_then(|id| sketch(&tag, id)),
    );
    steps[0].detail += &remarks(service, url, &code, verdict);
    Ok(DryRun {
        tag_id: Some(tag.id()),
        inlay_id,
        uid,
        verdict: Some(verdict),
        steps: steps.into(),
        findings,
        is_static: false,
        url_template_id: None,
    })
}

impl DryRun {
    /// The result for a URL that names no tag.
    fn of_nobody(service: &Service, url: &TapUrl<'_>) -> Self {
        Self {
            tag_id: None,
            inlay_id: None,
            uid: None,
            verdict: None,
            steps: without_tag(service, url).into(),
            findings: Vec::new(),
            is_static: false,
            url_template_id: None,
        }
    }
}

/// The verdict that a claim would get, and the inlay that it names.
async fn foreseen(
    service: &Service,
    claim: Claim,
) -> Result<(Verdict, Option<InlayId>), StorageError> {
    let inlay = claim.inlay_id();
    let verdict = match claim {
        Claim::Decided(verdict) | Claim::Known { verdict, .. } => verdict,
        Claim::Counter {
            inlay_id,
            key_version,
            counter,
            rule,
        } => {
            let storage = &service.storage;
            storage
                .dry_run_counter(inlay_id, key_version, counter, rule)
                .await?
        }
    };
    Ok((verdict, inlay))
}

/// Compares the chip from which a URL was read with the chip that made the URL's code; `None` if
/// the URL has no code.
pub async fn compare(
    service: &Service,
    url: &TapUrl<'_>,
    run: &DryRun,
    chip: &Chip,
) -> Result<Option<Comparison>, StorageError> {
    let of_template = match (run.url_template_id, UrlCode::in_query(url.query())) {
        (Some(id), _) => {
            let template = service.storage.url_template(id).await?;
            Some(template.map(|template| template.fields.settings().technology))
        }
        (None, UrlCode::Code { uid, token }) if Code::parse(&uid, &token).is_ok() => None,
        (None, _) => return Ok(None),
    };
    if of_template.is_some() && run.is_static {
        return Ok(None);
    }
    let of_uid = InlayFilter {
        uid: run.uid,
        ..InlayFilter::default()
    };
    let inlay = match run.uid {
        Some(_) => service.storage.inlays(of_uid, None, 1).await?.pop(),
        None => None,
    };
    Ok(Some(
        chip.compare(chip::CodeChip {
            uid: run.uid,
            technology: inlay
                .map(|inlay| inlay.fields.technology)
                .or(of_template.flatten()),
        }),
    ))
}

/// The UID that a code states in clear.
fn stated(code: &UrlCode<'_>) -> Option<Uid> {
    let UrlCode::Code { uid, token } = code else {
        return None;
    };
    match Code::parse(uid, token).ok()?.mirrored {
        Mirrored::Plain { uid, .. } => Some(uid),
        Mirrored::Encrypted { .. } => None,
    }
}

/// The maker of a code that does not verify, and why it does not.
#[derive(Default)]
struct Explained {
    inlay: Option<InlayId>,
    uid: Option<Uid>,
    findings: Vec<Finding>,
}

async fn explain(
    service: &Service,
    tag: Option<&CachedTag>,
    code: &UrlCode<'_>,
    url: &TapUrl<'_>,
) -> Result<Explained, TapError> {
    let UrlCode::Code { uid, token } = code else {
        return Ok(Explained::default());
    };
    let inlays = tag.map_or(Ok(&[][..]), |tag| tag.inlays())?;
    let inlays: Vec<Candidate> = inlays.iter().map(|inlay| inlay.as_ref().clone()).collect();
    let others = others(service, tag.map(|tag| tag.id()), uid, token).await?;
    let (other_ids, other_inlays): (Vec<_>, Vec<_>) = others
        .iter()
        .filter_map(|inlay| Some((inlay.id, candidate(inlay, &service.keyring).ok()?)))
        .unzip();
    let master_keys = master_keys(service).await?;
    // The inlay that the code names, if only its MAC is wrong.
    let named = match verify(uid, token, &inlays) {
        Err(CodeError::WrongMac { index, .. }) => Some(Maker::Inlay(index)),
        _ => None,
    };
    let (uid, token) = (uid.to_string(), token.to_string());
    let text = url.text.to_owned();
    let search = move || {
        let known = Known {
            inlays: &inlays,
            other_inlays: &other_inlays,
            master_keys: &master_keys,
        };
        diagnose(&uid, &token, Some(&text), &known)
    };
    // Many keys need many calculations, so they run on a separate thread.
    let Diagnosis {
        maker, findings, ..
    } = tokio::task::spawn_blocking(search)
        .await
        .map_err(|error| StorageError::Failed(error.to_string()))?;
    let (inlay, uid) = match (maker.or(named), tag) {
        (Some(Maker::Inlay(index)), Some(tag)) => {
            let inlay = &tag.inlays()?[index];
            (Some(inlay.id), Some(inlay.as_ref().uid))
        }
        (Some(Maker::OtherInlay(index)), _) => {
            let other = others
                .iter()
                .find(|other| other_ids.get(index) == Some(&other.id));
            (other.map(|other| other.id), other.map(|other| other.uid))
        }
        (Some(Maker::Unconfigured(uid)), _) => (None, Some(uid)),
        _ => (None, None),
    };
    Ok(Explained {
        inlay,
        uid,
        findings,
    })
}

/// Inlays of other tags that may have made the code.
async fn others(
    service: &Service,
    tag: Option<TagId>,
    uid: &str,
    token: &str,
) -> Result<Vec<BoundInlay>, StorageError> {
    let which = match Code::parse(uid, token).map(|code| code.mirrored) {
        Ok(Mirrored::Plain { uid, .. }) => OtherInlays::Uid(uid),
        Ok(Mirrored::Encrypted { .. }) => OtherInlays::Newest(OTHER_INLAYS_MAX),
        Err(_) => return Ok(Vec::new()),
    };
    service.storage.other_inlays(which, tag).await
}

/// The master keys that are tried on a code. They belong to no experience, so a caller who is
/// limited to experiences tries none.
async fn master_keys(service: &Service) -> Result<Vec<NamedMasterKey>, StorageError> {
    if service.storage.is_limited() {
        return Ok(Vec::new());
    }
    let sealed = service.storage.master_keys(None, MASTER_KEYS_MAX).await?;
    let open = sealed.into_iter().filter_map(|sealed| {
        let fields = sealed.fields;
        let Derivation::An10922 {
            input,
            diversify_meta,
        } = fields.derivation
        else {
            return None;
        };
        Some(NamedMasterKey {
            name: fields.name.into(),
            key: MasterKey {
                key: service.keyring.unwrap(&fields.key.wrapped).ok()?,
                input,
                diversify_meta,
            },
        })
    });
    Ok(open.collect())
}

/// The data of a tag's inlay that the steps show.
fn sketch(tag: &CachedTag, id: InlayId) -> Option<CodeInlay> {
    let inlay = tag.inlays().ok()?.iter().find(|inlay| inlay.id == id)?;
    let Candidate { uid, mac_from, .. } = *inlay.as_ref();
    let mac_from = Some(mac_from);
    Some(CodeInlay { uid, mac_from })
}

/// The steps if no tag has the slug.
fn without_tag(service: &Service, url: &TapUrl<'_>) -> [Step; 3] {
    let slug = match url.slug.as_str() {
        "" => "the URL names no tag".to_owned(),
        slug => format!("no tag has the slug \"{slug}\""),
    };
    let address = foreign(service, url);
    let there = "no tag to check it for";
    [
        Step::new(StepName::Url, StepVerdict::Failed, slug + &address),
        Step::new(StepName::Mac, StepVerdict::NotChecked, there),
        Step::new(StepName::Counter, StepVerdict::NotChecked, there),
    ]
}

/// The finding that a code's values are in other parameters than those of the canonical form.
fn other_parameters(code: &UrlCode<'_>, query: &str) -> Option<Finding> {
    /// The fewest hex digits of a chip's value: those of a UID.
    const DIGITS: usize = 14;
    if matches!(code, UrlCode::Code { .. }) {
        return None;
    }
    let is_value = |value: &str| {
        value.len() >= DIGITS
            && value.len().is_multiple_of(2)
            && value.bytes().all(|b| b.is_ascii_hexdigit())
    };
    let parameters = form_urlencoded::parse(query.as_bytes());
    let others = parameters.filter(|(name, value)| {
        !matches!(&**name, "uid" | "token") && (is_value(value) || is_value(name))
    });
    let names: Vec<String> = others.map(|(name, _)| name.into_owned()).collect();
    (!names.is_empty()).then_some(Finding::OtherParameters { names })
}

/// Additions to the verdict: why a code is malformed, and whether the URL leads to another address.
fn remarks(service: &Service, url: &TapUrl<'_>, code: &UrlCode<'_>, verdict: Verdict) -> String {
    let malformed = match (verdict, code) {
        (Verdict::NotVerified(Refusal::Malformed), UrlCode::Malformed) => {
            format!(": {}", miscounted(url.query()))
        }
        (Verdict::NotVerified(Refusal::Malformed), UrlCode::Code { uid, token }) => {
            let why = Code::parse(uid, token).err();
            why.map_or_else(String::new, |why| format!(": {why}"))
        }
        _ => String::new(),
    };
    malformed + &foreign(service, url)
}

/// Names the parameter of `uid` and `token` that is missing or repeated.
fn miscounted(query: &str) -> String {
    let count = |wanted: &str| {
        let names = form_urlencoded::parse(query.as_bytes());
        names.filter(|(name, _)| name == wanted).count()
    };
    let wrong = ["uid", "token"].map(|name| match count(name) {
        0 => Some(format!("{name} is missing")),
        1 => None,
        _ => Some(format!("{name} is repeated")),
    });
    wrong.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The remark that a URL leads to another address than this service's; empty if it does not.
fn foreign(service: &Service, url: &TapUrl<'_>) -> String {
    let settings = service.settings();
    let tag_url = &settings.tag_url;
    let Ok(own) = TapUrl::parse(tag_url) else {
        return String::new();
    };
    let (at, own) = if own.host() != url.host() {
        (url.host(), own.host())
    } else if url.slug.is_empty() || url.may_be_at(tag_url) {
        return String::new();
    } else {
        // A different path or scheme is visible only in the whole URL.
        (url.place(), tag_url.clone())
    };
    format!(
        " · at {at}; tags of this service are at {own}, so a tap of this URL would not reach it"
    )
}
