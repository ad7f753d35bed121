//! Ends requests with their token. Requests in progress and incomplete answers stop when the token
//! becomes invalid.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use crate::admins::Grant;
use crate::error::ApiError;
use crate::state::AppState;

/// Interval between two checks of the configuration epoch. Several checks fit into the second
/// within which a token must stop working.
const LOOK: Duration = Duration::from_millis(250);

type Ended = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Waits until the token of `grant` is invalid.
///
/// A token expires or is deleted. The database is queried only if the configuration epoch changed
/// or is unknown. While the database does not answer, the token stays valid.
async fn ended(state: AppState, grant: Grant) {
    let storage = &state.as_service().storage;
    let mut known = grant.as_of();
    loop {
        tokio::time::sleep(LOOK).await;
        if grant.has_expired(state.as_service().clock.now()) {
            return;
        }
        let epoch = storage.configuration_epoch();
        if epoch.is_some() && epoch == known {
            continue;
        }
        match state.edge.admins.still(&grant, storage).await {
            Ok(true) => known = epoch,
            Ok(false) => return,
            Err(error) => tracing::debug!("a token could not be looked up: {error}"),
        }
    }
}

/// The answer to a request with the token of `grant`. If the token becomes invalid first, the work
/// on the request stops and the answer is 401.
pub(crate) async fn answered(
    state: &AppState,
    grant: Grant,
    answer: impl Future<Output = Response>,
) -> Response {
    if !grant.can_end() {
        return answer.await;
    }
    let mut ended: Ended = Box::pin(ended(state.clone(), grant));
    let answer = tokio::select! {
        biased;
        answer = answer => answer,
        () = &mut ended => return ApiError::Unauthorized.into_response(),
    };
    tie(answer, ended)
}

/// Ends an incomplete answer when `ended` resolves. An event stream ends normally. Every other
/// answer breaks off with an error, because a part of it must not look complete.
fn tie(answer: Response, ended: Ended) -> Response {
    if answer.body().size_hint().exact().is_some() {
        return answer;
    }
    let is_feed = answer
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|value| value == "text/event-stream");
    answer.map(|body| {
        Body::new(Tied {
            body,
            is_feed,
            ended: Some(ended),
        })
    })
}

struct Tied {
    body: Body,
    is_feed: bool,
    /// `None` once the token is invalid.
    ended: Option<Ended>,
}

impl HttpBody for Tied {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(ended) = &mut self.ended else {
            return Poll::Ready(None);
        };
        if ended.as_mut().poll(context).is_pending() {
            return Pin::new(&mut self.body).poll_frame(context);
        }
        self.ended = None;
        let error = || Err(axum::Error::new("the token of this request has ended"));
        Poll::Ready((!self.is_feed).then(error))
    }

    fn is_end_stream(&self) -> bool {
        self.ended.is_none() || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
