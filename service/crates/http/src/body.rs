//! Request bodies, with limits on size, time and media type.

mod chunks;
pub(crate) mod multipart;

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

pub(super) use chunks::Chunks;

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

/// Reads a whole body of at most `max` bytes that arrives within `time`.
pub(super) async fn read(body: Body, max: usize, time: Duration) -> Result<Bytes, BodyError> {
    Ok(chunks(body, max, time).await?.into_bytes())
}

/// Like [`read`], but in the pieces in which the body arrives.
pub(super) async fn chunks(body: Body, max: usize, time: Duration) -> Result<Chunks, BodyError> {
    let all = async {
        let mut body = Limited::new(body, max);
        let mut chunks = Chunks::default();
        while let Some(frame) = body.frame().await {
            match frame {
                // Ignore trailers: they are not part of the body.
                Ok(frame) => chunks.push(frame.into_data().unwrap_or_default()),
                Err(error) if error.is::<LengthLimitError>() => return Err(BodyError::TooLarge),
                Err(_) => return Err(BodyError::Incomplete),
            }
        }
        Ok(chunks)
    };
    let timed = tokio::time::timeout(time, all).await;
    timed.unwrap_or(Err(BodyError::TimedOut))
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
