//! The scheme `tapdesk:`, by which the page reaches the service without a socket.
//!
//! A request reaches the handler even if CORS would then hide the answer, and
//! no preflight is sent for a custom scheme. So the handler itself lets in none
//! but our own page, by its window and its origin.

use std::sync::Arc;

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue, ORIGIN,
};
use axum::http::{Request, Response, StatusCode};
use tauri::{AppHandle, Manager as _, Runtime, UriSchemeContext, UriSchemeResponder};

use crate::backend::{Backend, problem};
use crate::shell::Shell;
use crate::window::MAIN;

/// The name of the scheme.
pub const SCHEME: &str = "tapdesk";
/// The origin of our page.
pub const PAGE_ORIGIN: &str = if cfg!(windows) {
    "http://tauri.localhost"
} else {
    "tauri://localhost"
};
/// Largest body of a request: 64 MiB.
pub const BODY_MAX: usize = 64 * 1024 * 1024;

/// Answers a request of the page. Called on the thread of the user interface,
/// so it only hands the work on.
#[expect(clippy::needless_pass_by_value, reason = "the shape of a handler")]
pub fn handle<R: Runtime>(
    context: UriSchemeContext<'_, R>,
    request: Request<Vec<u8>>,
    responder: UriSchemeResponder,
) {
    let app: AppHandle<R> = context.app_handle().clone();
    let label = context.webview_label().to_owned();
    tauri::async_runtime::spawn(async move {
        let shell = Arc::clone(&app.state::<Arc<Shell>>());
        let backend = async { shell.backend().await };
        responder.respond(answer(&label, request, backend).await);
    });
}

/// The answer to a request that came from the window `label`.
pub async fn answer(
    label: &str,
    request: Request<Vec<u8>>,
    backend: impl Future<Output = Option<Backend>>,
) -> Response<Vec<u8>> {
    let is_our_page = request
        .headers()
        .get(ORIGIN)
        .is_some_and(|origin| origin == PAGE_ORIGIN)
        && label == MAIN;
    if !is_our_page {
        // Without a CORS header: nobody else gets to read even this.
        return problem(StatusCode::FORBIDDEN, "Only for Tapdesk's own window.");
    }
    let mut response = if request.body().len() > BODY_MAX {
        problem(
            StatusCode::PAYLOAD_TOO_LARGE,
            "A file of more than 64 MiB cannot be uploaded.",
        )
    } else {
        match backend.await {
            Some(backend) => backend.request(request).await,
            None => problem(
                StatusCode::SERVICE_UNAVAILABLE,
                "The service is not running.",
            ),
        }
    };
    let headers = response.headers_mut();
    headers.insert(
        ACCESS_CONTROL_ALLOW_ORIGIN,
        HeaderValue::from_static(PAGE_ORIGIN),
    );
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
    response
}
