//! Whether a URL was copied to the chip on which it was found: a tap that nobody clicked is
//! sent only if it was not.

use axum::http::{Request, StatusCode, header};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::inlay::{Codes, Reading};
use crate::backend::Backend;

/// What was read of the chip on which the URL was found, as the dry run takes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ReadChip"))]
pub struct Chip {
    /// Its UID in hexadecimal; none if the reader does not tell it.
    pub uid: Option<String>,
    /// Its make.
    pub technology: Option<String>,
    /// Whether its settings say that it makes codes; none if they were not read.
    pub makes_codes: Option<bool>,
}

impl From<&Reading> for Chip {
    fn from(reading: &Reading) -> Self {
        let make = serde_json::to_value(reading.chip).unwrap_or_default();
        Self {
            uid: reading.uid.clone(),
            technology: make.as_str().map(str::to_owned),
            makes_codes: match reading.codes {
                Codes::Unknown => None,
                Codes::Off => Some(false),
                Codes::On { .. } => Some(true),
            },
        }
    }
}

/// Why a tap of a URL is not sent by itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It was copied from another chip, as the service says in words.
    #[error("{0} Send the tap yourself to allow it.")]
    Copied(String),
    /// The service does not answer the question.
    #[error(
        "The service does not say whether the URL was copied. Send the tap yourself to allow it."
    )]
    Unknown,
}

/// Asks the service whether `url` was copied to `chip`.
///
/// # Errors
/// If it says so, or does not say that it was not.
pub async fn refuse_copy(backend: &Backend, url: &str, chip: &Chip) -> Result<(), Refusal> {
    let body = serde_json::json!({"url": url, "chip": chip}).to_string();
    let request = Request::post("/admin/v1/verification")
        .header(header::CONTENT_TYPE, "application/json")
        .body(body.into_bytes())
        .map_err(|_| Refusal::Unknown)?;
    let (parts, body) = backend.request(request).await.into_parts();
    if parts.status != StatusCode::OK {
        return Err(Refusal::Unknown);
    }
    let answer: Value = serde_json::from_slice(&body).map_err(|_| Refusal::Unknown)?;
    if answer["chip"] == "copied" {
        let why = answer["findings"][0]["text"].as_str().unwrap_or_default();
        return Err(Refusal::Copied(why.to_owned()));
    }
    Ok(())
}
