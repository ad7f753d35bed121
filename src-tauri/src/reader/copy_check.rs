//! Finds out whether a URL was copied to the chip that contains it. A tap that nobody clicked is
//! sent only if it was not.

use axum::http::{Request, StatusCode, header};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tapdesk_service::id::GroupId;

use super::inlay::{Codes, Reading};
use crate::backend::Backend;

/// Facts about the chip that contains the URL, in the form that the dry run takes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ReadChip"))]
pub struct Chip {
    /// UID in hexadecimal; none if the reader does not report it.
    pub uid: Option<String>,
    /// The chip's technology, by the admin API's name.
    pub technology: Option<String>,
    /// Whether its settings say that it generates codes; none if they were not read.
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

/// Why a tap is not sent automatically.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The URL was copied from another chip, with the service's explanation.
    #[error("{0} Send the tap yourself to allow it.")]
    Copied(String),
    /// The service did not answer the question.
    #[error(
        "The service does not say whether the URL was copied. Send the tap yourself to allow it."
    )]
    Unknown,
}

/// The service's knowledge of a URL that was not copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedUrl {
    /// The group of the URL's tag, and the groups above it.
    pub group_ids: Vec<GroupId>,
    /// The `tag_verified` that a tap of the URL gets; `None` if the service does not judge it.
    pub verified: Option<bool>,
}

/// Asks the service whether `url` was copied to `chip`.
///
/// # Errors
///
/// If it was copied, or if the service does not answer.
pub async fn refuse_copy(backend: &Backend, url: &str, chip: &Chip) -> Result<CheckedUrl, Refusal> {
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
    let groups = answer["group_ids"].as_array().into_iter().flatten();
    let groups = groups.filter_map(Value::as_i64);
    Ok(CheckedUrl {
        group_ids: groups.filter_map(|id| GroupId::try_from(id).ok()).collect(),
        verified: answer["tag_verified"].as_bool(),
    })
}
