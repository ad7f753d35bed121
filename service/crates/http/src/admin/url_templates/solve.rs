//! `POST /admin/v1/url-templates/solve`.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::admin::Asked;
use crate::admin::extract::body::Body;
use crate::error::{ApiError, BadBody, Common};
use domain::clock::Stopwatch;
use domain::field_error::FieldError;
use inlay::derivation::{Derivation, MasterSecret};
use inlay::key::SomeKey;
use inlay::pasted::{self, Reading};
use inlay::solver::{Certainty, Format, KEYS_MAX, KeySource, Puzzle, Solution, URLS_MAX, solve};
use inlay::technology::Mode;
use inlay::template::MacStart;
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
    /// or a web page is allowed, and a text can contain several URLs.
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
    /// The URLs that were found in the texts.
    urls: Vec<String>,
    /// Explanations for people: how the URLs were read, and the reasons for the result.
    notes: Vec<String>,
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
    /// How the keys are derived from a master key; null for keys of the inlay's own.
    derivation: Option<Derivation>,
    /// The sent keys that fit; null unless a MAC proved it.
    slots: Option<Slots>,
    /// The UID in the first URL; null if it cannot be read.
    uid: Option<Uid>,
    /// The counter in the first URL; null if it cannot be read.
    counter: Option<u32>,
    /// Number of URLs whose MAC proves the candidate.
    proved_by: usize,
}

/// The sent keys that fit, counted from 0.
#[derive(Serialize, ToSchema)]
#[schema(as = SolveSlots)]
struct Slots {
    /// Position of the meta key in `keys`; null without one.
    meta: Option<usize>,
    /// Position of the file key in `keys`; null if it is derived.
    file: Option<usize>,
    /// Position of the master key in `master_keys`; null for keys of the inlay's own.
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
    Asked(service): Asked,
    Body(asked): Body<SolveRequest>,
) -> Result<Json<Solved>, ApiError> {
    asked.check()?;
    let readings = asked.readings()?;
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
        let mut answers = readings.into_iter().map(solved);
        let is_proved = |solution: &Solution| solution.certainty == Certainty::Proved;
        // Another reading of the text is used only if a MAC proves it.
        let first = answers.next();
        if first
            .as_ref()
            .is_some_and(|(_, solution)| is_proved(solution))
        {
            return first;
        }
        answers.find(|(_, solution)| is_proved(solution)).or(first)
    };
    // Many keys take much computation, so do not block a thread that serves taps.
    let solution = tokio::task::spawn_blocking(search).await;
    let solution = solution.map_err(|_| ApiError::Internal)?;
    let (reading, solution) = solution.ok_or(ApiError::Internal)?;
    let as_read = reading.notes.iter().map(ToString::to_string);
    let remarks = solution.remarks.iter().map(ToString::to_string);
    Ok(Json(Solved {
        notes: as_read.chain(remarks).collect(),
        urls: reading.urls,
        certainty: match solution.certainty {
            Certainty::Proved => CertaintyView::Proved,
            Certainty::Narrowed => CertaintyView::Narrowed,
            Certainty::Unknown => CertaintyView::Unknown,
        },
        candidates: solution.candidates.into_iter().map(view).collect(),
        tried: solution.tried,
    }))
}

impl SolveRequest {
    /// The possible readings of the URLs, the most probable first.
    fn readings(&self) -> Result<Vec<Reading>, ApiError> {
        let texts: Vec<_> = self
            .urls
            .iter()
            .map(|text| pasted::readings(text))
            .collect();
        let ways = texts.iter().map(Vec::len).max().unwrap_or_default();
        let readings = (0..ways).map(|way| {
            let mut all = Reading::default();
            for text in &texts {
                let reading = text.get(way).or(text.first());
                for url in reading.iter().flat_map(|reading| &reading.urls) {
                    if !all.urls.contains(url) {
                        all.urls.push(url.clone());
                    }
                }
                for note in reading.iter().flat_map(|reading| &reading.notes) {
                    if !all.notes.contains(note) {
                        all.notes.push(*note);
                    }
                }
            }
            all
        });
        let readings: Vec<_> = readings.collect();
        if readings.iter().any(|reading| reading.urls.len() > URLS_MAX) {
            let why = format!("Send 1 to {URLS_MAX} URLs.");
            return Err(ApiError::Invalid(FieldError::of("urls", why)));
        }
        Ok(readings)
    }

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

fn view(format: Format) -> CandidateView {
    let first = format.reads.first().copied();
    let (derivation, slots) = match format.source {
        None => (None, None),
        Some(KeySource::Given { meta, file, .. }) => {
            let file = Some(file);
            let slots = Slots {
                meta,
                file,
                master: None,
            };
            (None, Some(slots))
        }
        Some(KeySource::Derived {
            master, derivation, ..
        }) => {
            let slots = Slots {
                meta: None,
                file: None,
                master: Some(master),
            };
            (Some(derivation), Some(slots))
        }
    };
    let settings = format.settings;
    CandidateView {
        template: settings.template,
        technology: settings.technology,
        mode: settings.mode,
        mac_from: settings.mac_from,
        ndef_prefix: settings.ndef_prefix,
        enc_length: settings.enc_length,
        tamper_at: settings.tamper_at,
        derivation,
        slots,
        uid: first.and_then(|(uid, _)| uid),
        counter: first.and_then(|(_, counter)| counter),
        proved_by: format.proved_by,
    }
}
