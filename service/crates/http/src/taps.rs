//! The routes of taps by slug. They are outside the layer that wraps the requests of all other
//! routes, and wrap theirs by themselves: a layer costs each request six allocations.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::response::Response;
use tower::Service;

use crate::state::AppState;
use crate::{Exposure, passed, public};

/// Handles requests for `/t/{slug}`, with the rules that hold for every answer.
#[derive(Clone)]
pub(super) struct Taps {
    state: AppState,
    exposure: Exposure,
}

impl Taps {
    pub(super) const fn new(state: AppState, exposure: Exposure) -> Self {
        Self { state, exposure }
    }
}

impl Service<Request> for Taps {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let Self { state, exposure } = self.clone();
        Box::pin(async move {
            let own = state.clone();
            let handle = |request| public::tap_by_slug(own, request);
            Ok(passed(&state, exposure, request, handle).await)
        })
    }
}
