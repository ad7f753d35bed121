//! `POST /admin/v1/url-templates/solve`.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::clock::Stopwatch;
use crate::field_error::FieldError;
use crate::http::admin::body::Body;
use crate::http::error::{ApiError, BadBody, Common};
use crate::inlay::derivation::{Derivation, MasterSecret};
use crate::inlay::key::SomeKey;
use crate::inlay::solver::{Certainty, Format, KEYS_MAX, KeySource, Puzzle, URLS_MAX, solve};
use crate::inlay::technology::Mode;
use crate::inlay::template::MacStart;
use crate::inlay::{Technology, Uid};
use crate::service::Service;

/// How long a search may take: somebody waits for it, beside the taps.
const TIME: Duration = Duration::from_secs(2);
/// Longest URL that is looked at, in bytes.
const URL_MAX: usize = 4096;

/// One-time URLs of inlays, and keys that could be theirs.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SolveRequest {
    /// URLs of one batch; two prove more than one.
    #[schema(min_items = 1, max_items = 5)]
    urls: Vec<String>,
    /// Keys of inlays.
    #[serde(default)]
    #[schema(max_items = 16)]
    keys: Vec<SomeKey>,
    /// Master keys, from which keys are derived by every scheme.
    #[serde(default)]
    #[schema(max_items = 16)]
    master_keys: Vec<MasterSecret>,
}

/// The result of a search for a template.
#[derive(Serialize, ToSchema)]
pub(crate) struct Solved {
    /// `proved`: the URLs verify as the one candidate. `narrowed`: it is one of the candidates, if
    /// the chip is a supported one. `unknown`: it is undecided, or time ran out.
    certainty: CertaintyView,
    /// The formats they could have.
    candidates: Vec<CandidateView>,
    /// How many MACs were made.
    tried: u64,
}

/// How sure an answer is.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = SolveCertainty)]
enum CertaintyView {
    /// The URLs verify as the one candidate.
    Proved,
    /// It is one of the candidates.
    Narrowed,
    /// It is undecided.
    Unknown,
}

/// A format that the URLs could have.
#[derive(Serialize, ToSchema)]
#[schema(as = SolveCandidate)]
struct CandidateView {
    /// The URL with placeholders.
    template: String,
    /// The chip.
    technology: Technology,
    /// Its cipher.
    mode: Mode,
    /// Where the MAC's input begins; unknown unless a MAC proved it.
    mac_from: MacStart,
    /// The NDEF prefix code the chip was written with, if the MAC covers it and it is not the
    /// longest that fits; null otherwise.
    #[schema(maximum = 4)]
    ndef_prefix: Option<u8>,
    /// Characters of `{enc}`; null without it.
    enc_length: Option<usize>,
    /// Byte of the tamper pair in the decrypted file data; null if it is not there.
    tamper_at: Option<usize>,
    /// How the keys are derived from a master key; null for keys of the inlay's own.
    derivation: Option<Derivation>,
    /// Which of the keys that were sent they are; null if no MAC proved it.
    slots: Option<Slots>,
    /// The UID that the first URL names; null if it cannot be read.
    uid: Option<Uid>,
    /// The counter of the first URL; null if it cannot be read.
    counter: Option<u32>,
    /// How many URLs' MACs prove it.
    proved_by: usize,
}

/// Which of the keys that were sent fit, counted from 0.
#[derive(Serialize, ToSchema)]
#[schema(as = SolveSlots)]
struct Slots {
    /// The meta key, in `keys`; null without one.
    meta: Option<usize>,
    /// The file key, in `keys`; null if it is derived.
    file: Option<usize>,
    /// The master key, in `master_keys`; null for keys of the inlay's own.
    master: Option<usize>,
}

/// Find the template of one-time URLs
///
/// The answer says how sure it is. No URL is opened. Only the keys in the request are used, and
/// they are not stored. A search takes at most 2 seconds, and one runs at a time.
#[utoipa::path(
    post, path = "/url-templates/solve", tag = "url templates", request_body = SolveRequest,
    responses((status = OK, body = Solved), BadBody, Common)
)]
pub(crate) async fn find(
    State(service): State<Arc<Service>>,
    Body(asked): Body<SolveRequest>,
) -> Result<Json<Solved>, ApiError> {
    asked.check()?;
    let turn = Arc::clone(&service.solver).lock_owned().await;
    let search = move || {
        // The turn ends with the search, even if nobody waits for its answer.
        let _turn = turn;
        let started = Stopwatch::start();
        let urls: Vec<&str> = asked.urls.iter().map(String::as_str).collect();
        let puzzle = Puzzle {
            urls: &urls,
            keys: &asked.keys,
            master_keys: &asked.master_keys,
        };
        solve(&puzzle, &mut || started.elapsed() < TIME)
    };
    // Many keys are many calculations: not on a thread that serves taps.
    let solution = tokio::task::spawn_blocking(search).await;
    let solution = solution.map_err(|_| ApiError::Internal)?;
    Ok(Json(Solved {
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
