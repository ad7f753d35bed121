//! The calls to the service that encodes. If a response is lost, the call is repeated: the same
//! request gets the same response.

use std::time::Duration;

use axum::http::header::CONTENT_TYPE;
use axum::http::{Request, StatusCode};
use serde_json::{Map, Value, json};
use tapdesk_service::client::Problem;
use tapdesk_service::clock::Stopwatch;

use super::super::apdu::hex;
use super::{Stopped, Turn};
use crate::backend::{Backend, ByEncoder};

/// How long calls to an unreachable service are repeated. The inlay stays on the reader in the
/// meantime, and the session lasts for a minute.
const PATIENCE: Duration = Duration::from_secs(30);
/// Pause between two attempts, doubled each time.
const PAUSE: Duration = Duration::from_millis(200);
const PAUSE_MAX: Duration = Duration::from_secs(3);

/// Why there is no next turn. Each holds a sentence for people.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoTurn {
    /// The service refuses the request, and would refuse it again.
    Refused(String),
    /// A temporary failure: placing the inlay on the reader again may help.
    Failed(String),
}

/// The calls of one encoding.
pub(super) struct Calls<'b> {
    backend: &'b Backend,
}

impl<'b> Calls<'b> {
    pub(super) fn new(backend: &'b Backend) -> Self {
        Self { backend }
    }

    /// Begins an encoding, or resumes the one that exists for this UID.
    pub(super) async fn begin(&self, wanted: &Map<String, Value>) -> Result<Turn, NoTurn> {
        self.post("/admin/v1/encodings", &json!(wanted)).await
    }

    /// Sends the answers of a turn, and returns the next turn.
    pub(super) async fn answer(
        &self,
        turn: &Turn,
        answers: &[Vec<u8>],
        stopped: Option<Stopped>,
    ) -> Result<Turn, NoTurn> {
        let answers: Vec<_> = answers.iter().map(|answer| hex(answer)).collect();
        let path = format!("/admin/v1/encodings/{}/answers", turn.id);
        let body = json!({
            "seq": turn.seq,
            "answers": answers,
            "fault": stopped.map(Stopped::word),
        });
        self.post(&path, &body).await
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Turn, NoTurn> {
        let watch = Stopwatch::start();
        let mut pause = PAUSE;
        loop {
            let request = Request::post(path)
                .header(CONTENT_TYPE, "application/json")
                .extension(ByEncoder)
                .body(body.to_string().into_bytes())
                .map_err(|error| NoTurn::Failed(error.to_string()))?;
            let (parts, answer) = self.backend.request(request).await.into_parts();
            let lost = matches!(
                parts.status,
                StatusCode::BAD_GATEWAY
                    | StatusCode::SERVICE_UNAVAILABLE
                    | StatusCode::GATEWAY_TIMEOUT
                    | StatusCode::TOO_MANY_REQUESTS
            ) && Problem::parse(parts.status, &answer).code.as_deref()
                != Some(TOO_MANY_UNPROVED);
            if parts.status.is_success() {
                match serde_json::from_slice(&answer) {
                    Ok(turn) => return Ok(turn),
                    // The response was cut off, so the call is repeated.
                    Err(_) if watch.elapsed() < PATIENCE => {}
                    Err(_) => {
                        let why = "The service's answer cannot be understood.";
                        return Err(NoTurn::Failed(why.to_owned()));
                    }
                }
            } else if !lost || watch.elapsed() >= PATIENCE {
                return Err(refusal(parts.status, &answer));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
}

/// The code of a token's daily limit: another attempt on the same day cannot succeed.
const TOO_MANY_UNPROVED: &str = "too_many_unproved";
/// Codes of errors that end by themselves, or once the inlay is placed again.
const FOR_NOW: [&str; 2] = ["encoding_open", "turn_stale"];

/// The service's own explanation of a refused call.
fn refusal(status: StatusCode, body: &[u8]) -> NoTurn {
    let problem = Problem::parse(status, body);
    let why = problem.to_string();
    let code = problem.code.unwrap_or_default();
    let for_now = match status {
        StatusCode::REQUEST_TIMEOUT => true,
        StatusCode::TOO_MANY_REQUESTS => code != TOO_MANY_UNPROVED,
        _ => !status.is_client_error() || FOR_NOW.contains(&&*code),
    };
    if for_now {
        NoTurn::Failed(why)
    } else {
        NoTurn::Refused(why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_that_another_attempt_does_not_change_is_told_from_one_that_ends() {
        for (status, code, again) in [
            (StatusCode::CONFLICT, "run_full", false),
            (StatusCode::CONFLICT, "inlay_blocked", false),
            (StatusCode::FORBIDDEN, "scope", false),
            (StatusCode::UNPROCESSABLE_ENTITY, "invalid", false),
            (StatusCode::TOO_MANY_REQUESTS, "too_many_unproved", false),
            (StatusCode::TOO_MANY_REQUESTS, "rate_limited", true),
            (StatusCode::CONFLICT, "encoding_open", true),
            (StatusCode::CONFLICT, "turn_stale", true),
            (StatusCode::SERVICE_UNAVAILABLE, "unavailable", true),
            (StatusCode::INTERNAL_SERVER_ERROR, "internal", true),
        ] {
            let body = json!({"code": code, "detail": "Why."}).to_string();
            let why = "Why.".to_owned();
            let expected = if again {
                NoTurn::Failed(why)
            } else {
                NoTurn::Refused(why)
            };
            assert_eq!(refusal(status, body.as_bytes()), expected, "{code}");
        }
    }
}
