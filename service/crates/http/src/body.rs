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

/// The start of a body, and why it is not the whole.
#[derive(Debug)]
pub(super) struct Start {
    /// The bytes that were kept.
    pub(super) bytes: Vec<u8>,
    /// The reason for the cut; `None` if the body is whole.
    pub(super) cut: Option<BodyError>,
}

/// Most bytes of a body that are received and dropped after its start. The largest photos of phones
/// have about 80 MB.
const DROPPED_MAX: usize = 128 * 1024 * 1024;

/// Like [`read`], but keeps the first `max` bytes of a larger body, and the part of a late one that
/// arrived. The rest of a larger body is received, too: a browser shows no answer before it has sent
/// everything.
pub(super) async fn read_start(mut body: Body, max: usize, time: Duration) -> Start {
    let (mut bytes, mut cut) = (Vec::new(), None);
    let all = async {
        let mut dropped = 0;
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else {
                cut = cut.or(Some(BodyError::Incomplete));
                return;
            };
            let data = frame.into_data().unwrap_or_default();
            let kept = data.len().min(max - bytes.len());
            bytes.extend_from_slice(&data[..kept]);
            if kept < data.len() {
                cut = Some(BodyError::TooLarge);
                dropped += data.len() - kept;
            }
            if dropped > DROPPED_MAX {
                return;
            }
        }
    };
    let timed = tokio::time::timeout(time, all).await;
    if timed.is_err() {
        cut = cut.or(Some(BodyError::TimedOut));
    }
    Start { bytes, cut }
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
    media_type(headers).is_some_and(|sent| {
        let mut types = types.iter();
        types.any(|known| sent.eq_ignore_ascii_case(known))
    })
}

/// The media type in the `Content-Type`, without parameters; `None` if there is none that is text.
pub(super) fn media_type(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    value.split(';').next().map(str::trim)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::http::HeaderValue;
    use futures_util::{StreamExt as _, stream};

    use super::*;

    /// A body of these pieces. One without an end waits for more after them.
    fn body(pieces: &[usize], has_end: bool) -> Body {
        let pieces: Vec<_> = pieces
            .iter()
            .map(|length| Bytes::from(vec![7_u8; *length]))
            .collect();
        let pieces = stream::iter(pieces.into_iter().map(Ok::<_, Infallible>));
        if has_end {
            return Body::from_stream(pieces);
        }
        Body::from_stream(pieces.chain(stream::pending()))
    }

    #[tokio::test]
    async fn the_start_of_a_body_that_is_too_large_or_late_is_kept() {
        let whole = read_start(body(&[3, 7], true), 10, Duration::MAX).await;
        assert_eq!((whole.bytes.len(), whole.cut), (10, None));
        let large = read_start(body(&[3, 8, 5], true), 10, Duration::MAX).await;
        assert_eq!(
            (large.bytes.len(), large.cut),
            (10, Some(BodyError::TooLarge))
        );
        let soon = Duration::from_millis(20);
        let late = read_start(body(&[3], false), 10, soon).await;
        assert_eq!((late.bytes.len(), late.cut), (3, Some(BodyError::TimedOut)));
        let both = read_start(body(&[11], false), 10, soon).await;
        assert_eq!(both.cut, Some(BodyError::TooLarge));
        // Nobody waits for the end of an endless body.
        let endless = stream::repeat_with(|| Ok::<_, Infallible>(Bytes::from(vec![7_u8; 1 << 20])));
        let endless = read_start(Body::from_stream(endless), 10, Duration::MAX).await;
        assert_eq!(
            (endless.bytes.len(), endless.cut),
            (10, Some(BodyError::TooLarge))
        );
    }

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
