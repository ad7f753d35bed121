//! Request bodies, with limits on size, time and media type.

pub(crate) mod multipart;
mod packed;

use std::error::Error;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

pub(super) use packed::Packed;

/// Why a body could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyError {
    /// The body exceeds the size limit.
    TooLarge,
    /// The client ended the body early.
    Incomplete,
    /// The body did not arrive in time.
    TimedOut,
}

impl BodyError {
    /// The reason for an error of [`Limited`].
    fn of(error: &(dyn Error + Send + Sync + 'static)) -> Self {
        if error.is::<LengthLimitError>() {
            Self::TooLarge
        } else {
            Self::Incomplete
        }
    }
}

/// Reads a whole body of at most `max` bytes that arrives within `time`. Ignores trailers: they are
/// not part of the body.
pub(super) async fn read(body: Body, max: usize, time: Duration) -> Result<Bytes, BodyError> {
    let all = async {
        let all = Limited::new(body, max).collect().await;
        let all = all.map_err(|error| BodyError::of(&*error))?;
        Ok::<_, BodyError>(all.to_bytes())
    };
    let timed = tokio::time::timeout(time, all).await;
    timed.unwrap_or(Err(BodyError::TimedOut))
}

/// Like [`read`], for a large body. It is compressed while it arrives, on another thread.
pub(super) async fn packed(body: Body, max: usize, time: Duration) -> Result<Packed, BodyError> {
    let all = async {
        let mut body = Limited::new(body, max);
        let (mut packed, mut piece) = (Packed::default(), Vec::new());
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| BodyError::of(&*error))?;
            piece.extend_from_slice(&frame.into_data().unwrap_or_default());
            if piece.len() >= packed::PIECE {
                packed.push(pack(std::mem::take(&mut piece)).await?);
            }
        }
        if !piece.is_empty() {
            packed.push(pack(piece).await?);
        }
        Ok::<_, BodyError>(packed)
    };
    let timed = tokio::time::timeout(time, all).await;
    timed.unwrap_or(Err(BodyError::TimedOut))
}

/// Compresses a piece on a thread that may take its time.
async fn pack(piece: Vec<u8>) -> Result<Bytes, BodyError> {
    let packed = tokio::task::spawn_blocking(move || packed::pack(&piece)).await;
    // Memory can be compressed, unless the service is ending.
    let packed = packed.map_err(|_| BodyError::Incomplete)?;
    packed.map_err(|_| BodyError::Incomplete)
}

/// Whether the `Content-Type` is one of these types. Parameters are ignored.
pub(super) fn is_of_type(headers: &HeaderMap, types: &[&str]) -> bool {
    let value = headers.get(CONTENT_TYPE);
    let value = value.and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| {
        let essence = essence.trim();
        types
            .iter()
            .any(|known| essence.eq_ignore_ascii_case(known))
    })
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_type_is_known_without_its_parameters_and_in_either_case() {
        for (value, expected) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            (" application/json ;", true),
            ("application/json+x", false),
            ("text/plain", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(value))]);
            assert_eq!(
                is_of_type(&headers, &["application/json"]),
                expected,
                "{value}"
            );
        }
        assert!(!is_of_type(&HeaderMap::new(), &["application/json"]));
    }
}
