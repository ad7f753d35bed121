//! The calls of the service that encodes. An answer that was lost on its way is asked for again:
//! the same question gets the same answer.

use std::time::Duration;

use axum::http::header::CONTENT_TYPE;
use axum::http::{Request, StatusCode};
use serde_json::{Map, Value, json};
use tapdesk_service::clock::Stopwatch;

use super::super::apdu::hex;
use super::{Stopped, Turn};
use crate::backend::{Backend, ByEncoder};

/// How long a service that cannot be reached is asked again. The inlay lies on the reader
/// meanwhile, and the session is good for a minute.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two attempts, doubled each time.
const PAUSE: Duration = Duration::from_millis(200);
const PAUSE_MAX: Duration = Duration::from_secs(3);

/// The calls of one encoding.
pub(super) struct Calls<'b> {
    backend: &'b Backend,
}

impl<'b> Calls<'b> {
    pub(super) fn new(backend: &'b Backend) -> Self {
        Self { backend }
    }

    /// Begins, or goes on with what was begun for this UID.
    pub(super) async fn begin(&self, wanted: &Map<String, Value>) -> Result<Turn, String> {
        self.post("/admin/v1/encodings", &json!(wanted)).await
    }

    /// Answers a turn; the next one.
    pub(super) async fn answer(
        &self,
        turn: &Turn,
        answers: &[Vec<u8>],
        stopped: Option<Stopped>,
    ) -> Result<Turn, String> {
        let answers: Vec<_> = answers.iter().map(|answer| hex(answer)).collect();
        let path = format!("/admin/v1/encodings/{}/answers", turn.id);
        let body = json!({
            "seq": turn.seq,
            "answers": answers,
            "fault": stopped.map(Stopped::word),
        });
        self.post(&path, &body).await
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Turn, String> {
        let watch = Stopwatch::start();
        let mut pause = PAUSE;
        loop {
            let request = Request::post(path)
                .header(CONTENT_TYPE, "application/json")
                .extension(ByEncoder)
                .body(body.to_string().into_bytes())
                .map_err(|error| error.to_string())?;
            let (parts, answer) = self.backend.request(request).await.into_parts();
            let lost = matches!(
                parts.status,
                StatusCode::BAD_GATEWAY
                    | StatusCode::SERVICE_UNAVAILABLE
                    | StatusCode::GATEWAY_TIMEOUT
                    | StatusCode::TOO_MANY_REQUESTS
            );
            if parts.status.is_success() {
                match serde_json::from_slice(&answer) {
                    Ok(turn) => return Ok(turn),
                    // Cut off on its way.
                    Err(_) if watch.elapsed() < PATIENCE => {}
                    Err(_) => return Err("The service's answer cannot be understood.".to_owned()),
                }
            } else if !lost || watch.elapsed() >= PATIENCE {
                return Err(refusal(parts.status, &answer));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
}

/// Why the service refuses, in its own words.
fn refusal(status: StatusCode, body: &[u8]) -> String {
    let problem: Value = serde_json::from_slice(body).unwrap_or_default();
    match problem["detail"].as_str() {
        Some(detail) => detail.to_owned(),
        None => format!("The service answered {}.", status.as_u16()),
    }
}
