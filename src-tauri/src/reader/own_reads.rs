//! Reports this application's own reads to the service. Each read raises the chip's counter, and
//! the service should not count it as a tap that was lost.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{Request, header};
use serde_json::json;

use super::board::{OnReader, Table};
use super::copy_check::Chip;
use super::inlay::Codes;
use crate::shell::Shell;

/// How long screens wait for the service to note a read. It answers within milliseconds, and an
/// unreachable service must not keep an inlay from being shown.
const PATIENCE: Duration = Duration::from_millis(500);
/// How many chips with interrupted reads are remembered: more than one desk has at hand.
const CHIPS_MAX: usize = 1_000;

/// The reads that were made for one page.
pub(crate) struct OwnReads {
    shell: Arc<Shell>,
    /// The newest insertion that was reported.
    last: u64,
    /// Interrupted reads since the last complete one, by UID. Their effect on the counter is
    /// unknown.
    torn: HashMap<String, u32>,
}

impl OwnReads {
    pub(crate) fn of(shell: Arc<Shell>) -> Self {
        Self {
            shell,
            last: 0,
            torn: HashMap::new(),
        }
    }

    /// Reports the new reads of a table, before the page gets the table.
    pub(crate) async fn note(&mut self, table: &Table) {
        let last = self.last;
        for place in &table.readers {
            match &place.on {
                OnReader::Failed(failed) if failed.insertion > last => {
                    self.last = self.last.max(failed.insertion);
                    if let Some(uid) = failed.uid.as_ref().filter(|_| failed.may_have_counted) {
                        if self.torn.len() >= CHIPS_MAX {
                            self.torn.clear();
                        }
                        *self.torn.entry(uid.clone()).or_default() += 1;
                    }
                }
                OnReader::Inlay(placed) if placed.insertion > last => {
                    self.last = self.last.max(placed.insertion);
                    let reading = &placed.reading;
                    let counts = matches!(reading.codes, Codes::On { .. });
                    let Some(url) = reading.url.as_ref().filter(|_| counts) else {
                        continue;
                    };
                    let uid = reading.uid.as_ref();
                    let torn = uid.and_then(|uid| self.torn.remove(uid)).unwrap_or(0);
                    let chip = Chip::from(reading);
                    let body = json!({"url": url, "chip": chip, "torn": torn}).to_string();
                    // Without this report, the service counts the read as a missing one. So it is
                    // sent to its end, even if nobody waits for it any longer.
                    let sending = tokio::spawn(send(Arc::clone(&self.shell), body));
                    if tokio::time::timeout(PATIENCE, sending).await.is_err() {
                        tracing::debug!("the service did not note a read in time");
                    }
                }
                _ => {}
            }
        }
    }
}

async fn send(shell: Arc<Shell>, body: String) {
    let Some(backend) = shell.backend().await else {
        return;
    };
    let request = Request::post("/admin/v1/own-reads")
        .header(header::CONTENT_TYPE, "application/json")
        .body(body.into_bytes());
    if let Ok(request) = request {
        let status = backend.request(request).await.status();
        if !status.is_success() {
            tracing::debug!("the service did not note a read: {status}");
        }
    }
}
