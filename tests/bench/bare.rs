//! The comparison for every ratio: axum, repeating recorded responses.

use std::io::{Read as _, Write as _};

use anyhow::Result;
use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};

use crate::http::Answer;

/// A recorded response of the service.
#[derive(Serialize, Deserialize)]
pub(crate) struct Recorded {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

/// One recorded response per operation.
#[derive(Serialize, Deserialize)]
pub(crate) struct Answers {
    pub(crate) tap: Recorded,
    pub(crate) payload: Recorded,
    pub(crate) update: Recorded,
}

impl Recorded {
    /// Everything except the headers that a server adds by itself.
    pub(crate) fn of(answer: &Answer<'_>) -> Self {
        Self {
            status: answer.status,
            headers: answer
                .headers()
                .filter(|(name, _)| name != "date" && name != "content-length")
                .map(|(name, value)| (name, value.to_owned()))
                .collect(),
            body: String::from_utf8_lossy(answer.body).into_owned(),
        }
    }

    fn into_response(self) -> Result<(StatusCode, HeaderMap, Bytes)> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            headers.append(
                HeaderName::from_bytes(name.as_bytes())?,
                HeaderValue::from_str(value)?,
            );
        }
        Ok((
            StatusCode::from_u16(self.status)?,
            headers,
            Bytes::from(self.body),
        ))
    }
}

/// Serves the responses from standard input until the process is killed.
pub(crate) fn serve() -> Result<()> {
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input)?;
    let Answers {
        tap,
        payload,
        update,
    } = serde_json::from_slice(&input)?;
    let (tap, payload, update) = (
        tap.into_response()?,
        payload.into_response()?,
        update.into_response()?,
    );
    let router = Router::new()
        .route("/t/{slug}", get(move || async { tap }))
        .route(
            "/v2/interactions/rk_payload",
            get(move || async { payload }),
        )
        .route(
            "/v2/interactions/data",
            post(move |_body: Bytes| async { update }),
        );
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
            println!("listening on http://{}", listener.local_addr()?);
            std::io::stdout().flush()?;
            axum::serve(listener, router).await?;
            Ok(())
        })
}
