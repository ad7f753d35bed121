//! `POST /admin/v1/url-templates/solve`.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use url::Host;
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::error::{ApiError, BadBody, Common};
use crate::state::AppState;
use domain::clock::Stopwatch;
use domain::field_error::FieldError;
use inlay::derivation::{Derivation, MasterSecret};
use inlay::key::SomeKey;
use inlay::pasted::{Note, Reading, URLS_MAX, Unused, readings_of};
use inlay::solver::{Certainty, Format, KEYS_MAX, KeySource, Puzzle, Solution, solve};
use inlay::technology::Mode;
use inlay::template::{Lookup, MacStart, Request, host_without_port, is_scheme};
use inlay::{Technology, Uid};

/// Time limit of a search: a person waits for it, and it competes with taps.
const TIME: Duration = Duration::from_secs(2);
/// Maximum length of a URL, in bytes.
const URL_MAX: usize = 4096;

/// One-time URLs of inlays, and keys that may belong to them.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SolveRequest {
    /// URLs of inlays of one batch; two URLs prove more than one. Surrounding text from an e-mail
    /// or a web page is allowed, and a text can contain several URLs. At most 5 are used.
    #[schema(min_items = 1, max_items = 5)]
    urls: Vec<String>,
    /// Possible keys of the inlays.
    #[serde(default)]
    #[schema(max_items = 16)]
    keys: Vec<SomeKey>,
    /// Possible master keys, from which keys are derived by every scheme.
    #[serde(default)]
    #[schema(max_items = 16)]
    master_keys: Vec<MasterSecret>,
}

/// The result of a search for a template.
#[derive(Serialize, ToSchema)]
pub(crate) struct Solved {
    /// `proved`: the URLs verify with the only candidate. `narrowed`: one of the candidates is
    /// right, if the chip is supported. `unknown`: undecided, or the time ran out.
    certainty: CertaintyView,
    /// The possible formats of the URLs.
    candidates: Vec<CandidateView>,
    /// Number of MACs that were computed.
    tried: u64,
    /// The URLs that were found in the texts: the first 5, each once.
    urls: Vec<String>,
    /// The pieces of the texts that were not used, each with its reason.
    unused: Vec<UnusedView>,
    /// Explanations for people: how the URLs were read, and the reasons for the result.
    notes: Vec<String>,
}

/// A piece of the texts that was not used.
#[derive(Serialize, ToSchema)]
#[schema(as = SolveUnused)]
struct UnusedView {
    /// The piece of text, or the URL.
    text: String,
    /// The reason, for programs: `words`, `repeated`, `too_many`, `no_scheme`, `no_web_address`,
    /// `too_long`, `cut`, `no_code`, `other_form` or `no_key`.
    reason: &'static str,
    /// The reason, for people.
    why: String,
}

/// The certainty of a result.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = SolveCertainty)]
enum CertaintyView {
    /// The URLs verify with the only candidate.
    Proved,
    /// One of the candidates is right.
    Narrowed,
    /// The search found no decision.
    Unknown,
}

/// A possible format of the URLs.
#[derive(Serialize, ToSchema)]
#[schema(as = SolveCandidate)]
struct CandidateView {
    /// The URL with placeholders.
    template: String,
    /// Type of the chip.
    technology: Technology,
    /// The cipher mode of the chip.
    mode: Mode,
    /// Start of the MAC input; unknown unless a MAC proved it.
    mac_from: MacStart,
    /// The NDEF prefix code on the chip, if the MAC covers it and it is not the longest that fits;
    /// null otherwise.
    #[schema(maximum = 4)]
    ndef_prefix: Option<u8>,
    /// Number of characters of `{enc}`; null without it.
    enc_length: Option<usize>,
    /// Position of the tamper pair in the decrypted file data, in bytes; null without one.
    tamper_at: Option<usize>,
    /// How the template finds an inlay without a MAC; null if the slug or a code finds it.
    lookup: Option<Lookup>,
    /// How the keys are derived from a master key; null for keys of the inlay's own.
    derivation: Option<Derivation>,
    /// The sent keys that fit; null unless a MAC proved it. Of chips with their own keys, those of
    /// the first one.
    slots: Option<Slots>,
    /// The chips of the URLs, one for each URL that was used.
    chips: Vec<ChipView>,
    /// Name of the import preset of the service that publishes this form of URLs; null if none is
    /// known.
    preset: Option<&'static str>,
    /// The UID in the first URL; null if it cannot be read.
    uid: Option<Uid>,
    /// The counter in the first URL; null if it cannot be read.
    #[schema(value_type = Option<u64>)]
    counter: Option<u32>,
    /// Number of URLs whose MAC proves the candidate.
    proved_by: usize,
    /// The reason why this service does not take the template, for people; null if it does.
    refused: Option<String>,
}

/// The chip of a URL.
#[derive(Serialize, ToSchema)]
#[schema(as = SolveChip)]
struct ChipView {
    /// Position of the URL in `urls`, counted from 0.
    url: usize,
    /// The UID in the URL; null if it cannot be read.
    uid: Option<Uid>,
    /// The counter in the URL; null if it cannot be read.
    #[schema(value_type = Option<u64>)]
    counter: Option<u32>,
    /// The sent keys of this chip; null unless a MAC proved it.
    slots: Option<Slots>,
    /// How its keys are derived from the master key in `slots`; null for keys of its own.
    derivation: Option<Derivation>,
}

/// The sent keys that fit, counted from 0.
#[derive(Serialize, ToSchema)]
#[schema(as = SolveSlots)]
struct Slots {
    /// Position of the meta key in `keys`; null without one.
    meta: Option<usize>,
    /// Position of the file key in `keys`; null if it is derived.
    file: Option<usize>,
    /// Position of the master key in `master_keys`; null for keys of the inlay's own. Beside a meta
    /// key, only the file key is derived from it.
    master: Option<usize>,
}

/// Find the template of one-time URLs
///
/// The answer contains its certainty. Tapdesk opens no URL. It uses only the keys in the request,
/// and does not store them. A search takes at most 2 seconds, and only one runs at a time.
#[utoipa::path(
    post, path = "/url-templates/solve", tag = "url templates", request_body = SolveRequest,
    responses((status = OK, body = Solved), BadBody, Common)
)]
pub(crate) async fn find(
    State(state): State<AppState>,
    Asked(service): Asked,
    Body(asked): Body<SolveRequest>,
) -> Result<Json<Solved>, ApiError> {
    asked.check()?;
    let turn = Arc::clone(&service.solver).lock_owned().await;
    let search = move || {
        // Hold the lock until the search ends, even if the client disconnects.
        let _turn = turn;
        let started = Stopwatch::start();
        let solved = |reading: Reading| {
            let urls: Vec<&str> = reading.urls.iter().map(String::as_str).collect();
            let puzzle = Puzzle {
                urls: &urls,
                keys: &asked.keys,
                master_keys: &asked.master_keys,
            };
            let solution = solve(&puzzle, &mut || started.elapsed() < TIME);
            (reading, solution)
        };
        // Another reading of the text is used only if a MAC proves more of it.
        let mut best: Option<(Reading, Solution)> = None;
        let rank = |solution: &Solution| {
            let mut candidates = solution.candidates.iter();
            let is_verified = candidates.any(|format| format.proved_by > 0);
            (solution.certainty == Certainty::Proved, is_verified)
        };
        for reading in readings_of(&asked.urls) {
            let answer = solved(with_sent_hosts(reading));
            let is_better = |(_, other): &(_, Solution)| rank(&answer.1) > rank(other);
            if best.as_ref().is_none_or(is_better) {
                best = Some(answer);
            }
            let found = best.as_ref().map(|(_, solution)| solution.certainty);
            if found == Some(Certainty::Proved) {
                break;
            }
        }
        best
    };
    // Many keys and long texts take much computation, so do not block a thread that serves taps.
    let solution = tokio::task::spawn_blocking(search).await;
    let solution = solution.map_err(|_| ApiError::Internal)?;
    let (reading, solution) = solution.ok_or(ApiError::Internal)?;
    let as_read = reading.notes.iter().map(ToString::to_string);
    let remarks = solution.remarks.iter().map(ToString::to_string);
    let unused = reading.unused.iter().chain(&solution.unused);
    let place = |url: &String| reading.urls.iter().position(|found| found == url);
    let places: Vec<usize> = solution.urls.iter().filter_map(place).collect();
    let candidates = solution.candidates.into_iter();
    Ok(Json(Solved {
        notes: as_read.chain(remarks).collect(),
        unused: unused.map(unused_view).collect(),
        certainty: match solution.certainty {
            Certainty::Proved => CertaintyView::Proved,
            Certainty::Narrowed => CertaintyView::Narrowed,
            Certainty::Unknown => CertaintyView::Unknown,
        },
        candidates: candidates
            .map(|format| view(&state, format, &places))
            .collect(),
        tried: solution.tried,
        urls: reading.urls,
    }))
}

/// The reading with hosts as browsers send them: without the name of a user, a final dot and an
/// empty port, and with other letters than ASCII in their form for DNS.
fn with_sent_hosts(mut reading: Reading) -> Reading {
    for url in &mut reading.urls {
        let Some((scheme, rest)) = url.split_once("://") else {
            continue;
        };
        let Some(request) = Request::of_url(url.as_str()).filter(|_| is_scheme(scheme)) else {
            continue;
        };
        let user = request.host.rfind('@').map_or(0, |at| at + 1);
        let address = &request.host[user..];
        let sent = sent_address(address);
        let rest = &rest[request.host.len()..];
        let notes = [
            (user > 0).then_some(Note::User),
            (sent != address).then(|| Note::AsciiHost {
                name: address.to_owned(),
                ascii: sent.clone(),
            }),
        ];
        *url = format!("{scheme}://{sent}{rest}");
        for note in notes.into_iter().flatten() {
            if !reading.notes.contains(&note) {
                reading.notes.push(note);
            }
        }
    }
    reading
}

/// A host with its port, as browsers send it.
fn sent_address(address: &str) -> String {
    let name = host_without_port(address);
    let port = address[name.len()..].trim_start_matches('.');
    let port = if port == ":" { "" } else { port };
    match Host::parse(name) {
        Ok(Host::Domain(ascii)) if !name.is_ascii() => format!("{ascii}{port}"),
        _ => format!("{name}{port}"),
    }
}

fn unused_view(Unused { text, why }: &Unused) -> UnusedView {
    UnusedView {
        text: text.clone(),
        reason: why.name(),
        why: why.to_string(),
    }
}

impl SolveRequest {
    fn check(&self) -> Result<(), ApiError> {
        let invalid = |field, why: String| Err(ApiError::Invalid(FieldError::of(field, why)));
        if self.urls.is_empty() || self.urls.len() > URLS_MAX {
            return invalid("urls", format!("Send 1 to {URLS_MAX} URLs."));
        }
        if self.urls.iter().any(|url| url.len() > URL_MAX) {
            return invalid("urls", format!("A URL has at most {URL_MAX} characters."));
        }
        if self.keys.len() > KEYS_MAX || self.master_keys.len() > KEYS_MAX {
            return invalid(
                "keys",
                format!("Send at most {KEYS_MAX} keys and {KEYS_MAX} master keys."),
            );
        }
        Ok(())
    }
}

/// `places` are the positions of the URLs that were used.
fn view(state: &AppState, format: Format, places: &[usize]) -> CandidateView {
    let preset = format.preset();
    let refused = super::checked(state, format.settings.clone()).err();
    let first = format.reads.first().copied();
    let of_chips = places.iter().zip(&format.reads).enumerate();
    let chips = of_chips.map(|(index, (&url, &(uid, counter)))| {
        let own = format.own_sources.get(index);
        let source = own.or(format.source.as_ref());
        ChipView {
            url,
            uid,
            counter,
            slots: source.map(slots),
            derivation: source.and_then(derivation),
        }
    });
    CandidateView {
        chips: chips.collect(),
        slots: format.source.as_ref().map(slots),
        derivation: format.source.as_ref().and_then(derivation),
        preset,
        uid: first.and_then(|(uid, _)| uid),
        counter: first.and_then(|(_, counter)| counter),
        proved_by: format.proved_by,
        refused: refused.map(|error| error.to_string()),
        template: format.settings.template,
        technology: format.settings.technology,
        mode: format.settings.mode,
        mac_from: format.settings.mac_from,
        ndef_prefix: format.settings.ndef_prefix,
        enc_length: format.settings.enc_length,
        tamper_at: format.settings.tamper_at,
        lookup: format.settings.lookup,
    }
}

fn derivation(source: &KeySource) -> Option<Derivation> {
    match source {
        KeySource::Given { .. } => None,
        KeySource::Derived { derivation, .. } => Some(derivation.clone()),
    }
}

fn slots(source: &KeySource) -> Slots {
    match source {
        KeySource::Given { meta, file, .. } => Slots {
            meta: *meta,
            file: Some(*file),
            master: None,
        },
        KeySource::Derived { master, meta, .. } => Slots {
            meta: *meta,
            file: None,
            master: Some(*master),
        },
    }
}
