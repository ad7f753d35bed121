//! The scheme `tapdesk:`, by which the page reaches the service without a socket.
//!
//! A request reaches the handler even if CORS would then hide the response, and `WebKitGTK` sends
//! no preflight for a custom scheme. So the handler itself accepts only our own page, by its window
//! and its origin. On Windows the scheme is a host, `http://tapdesk.localhost`, and so has another
//! origin than the page; there, writing requests are preceded by a preflight.
//!
//! A URL names its connection before the path: `tapdesk://localhost/embedded/admin/v1/tags`. A
//! request for a service that is no longer connected must not reach the one that is.

use std::sync::Arc;

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, HeaderValue, ORIGIN,
};
use axum::http::{Method, Request, Response, StatusCode, Uri};
use tauri::{AppHandle, Manager as _, Runtime, UriSchemeContext, UriSchemeResponder};

use crate::backend::{Backend, problem};
use crate::origin::{MAIN, PAGE_ORIGIN};
use crate::shell::Shell;

/// The scheme of the page's requests.
pub const SCHEME: &str = "tapdesk";
/// Largest body of a request, in bytes.
pub const BODY_MAX: usize = 64 * 1024 * 1024;

/// Answers a request of the page. It is called on the thread of the user interface, so it only
/// forwards the work.
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
        let connected = async { shell.connected().await };
        responder.respond(answer(&label, request, connected).await);
    });
}

/// The response to a request of the window `label`. `connected` is the service that the screens
/// show, with the id of its connection.
pub async fn answer(
    label: &str,
    mut request: Request<Vec<u8>>,
    connected: impl Future<Output = Option<(String, Backend)>>,
) -> Response<Vec<u8>> {
    let is_our_page = request
        .headers()
        .get(ORIGIN)
        .is_some_and(|origin| origin == PAGE_ORIGIN)
        && label == MAIN;
    if !is_our_page {
        // This response has no CORS header, so other pages cannot read it.
        return problem(StatusCode::FORBIDDEN, "Only for Tapdesk's own window.");
    }
    let mut response = if is_preflight(&request) {
        allow()
    } else if request.body().len() > BODY_MAX {
        problem(
            StatusCode::PAYLOAD_TOO_LARGE,
            "A file of more than 64 MiB cannot be uploaded.",
        )
    } else {
        match connected.await {
            Some((id, backend)) => match within(request.uri(), &id) {
                Some(uri) => {
                    *request.uri_mut() = uri;
                    backend.request(request).await
                }
                None => problem(StatusCode::CONFLICT, "The connection changed."),
            },
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

/// The path and query of `uri` at the service of the connection `id`; `None` if it is meant for
/// another connection.
fn within(uri: &Uri, id: &str) -> Option<Uri> {
    let rest = uri.path_and_query()?.as_str().strip_prefix('/')?;
    let rest = rest.strip_prefix(id)?;
    let is_whole = rest.starts_with('/');
    is_whole.then(|| rest.parse().ok()).flatten()
}

/// Whether a request is a CORS preflight.
fn is_preflight(request: &Request<Vec<u8>>) -> bool {
    let headers = request.headers();
    request.method() == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Allows our page every method and header.
fn allow() -> Response<Vec<u8>> {
    let mut response = Response::new(Vec::new());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let any = HeaderValue::from_static("*");
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, any.clone());
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, any);
    response
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use super::*;

    #[test]
    fn an_address_leads_to_the_connection_that_it_names_and_to_no_other() {
        let at = |path: &str, id: &str| {
            let uri = format!("tapdesk://localhost{path}").parse().unwrap();
            within(&uri, id).map(|uri| uri.to_string())
        };
        let tags = "/admin/v1/tags?q=a%2Fb";
        let whole = Some(tags.to_owned());
        assert_eq!(at(&format!("/embedded{tags}"), "embedded"), whole);
        assert_eq!(at(&format!("/k3v9qa41{tags}"), "k3v9qa41"), whole);
        for (path, id) in [
            ("/embedded/admin/v1/tags", "k3v9qa41"),
            ("/k3v9qa41/admin/v1/tags", "embedded"),
            ("/embedded2/admin/v1/tags", "embedded"),
            ("/admin/v1/tags", "embedded"),
            ("/embedded", "embedded"),
            ("/", "embedded"),
        ] {
            assert_eq!(at(path, id), None, "{path} at {id}");
        }
    }

    /// The response to a preflight from `origin`, in the form that webviews send, without a
    /// service.
    async fn preflight(label: &str, url: &str, origin: &str) -> Response<Vec<u8>> {
        let request = Request::options(url)
            .header(ORIGIN, origin)
            .header(ACCESS_CONTROL_REQUEST_METHOD, "PATCH")
            .header("access-control-request-headers", "content-type,if-match");
        answer(label, request.body(Vec::new()).unwrap(), ready(None)).await
    }

    #[tokio::test]
    async fn a_preflight_of_our_page_is_allowed_and_no_other() {
        for url in [
            "http://tapdesk.localhost/admin/v1/tags/1",
            "tapdesk://localhost/admin/v1/tags/1",
        ] {
            let allowed = preflight(MAIN, url, PAGE_ORIGIN).await;
            assert_eq!(allowed.status(), StatusCode::NO_CONTENT);
            assert!(allowed.body().is_empty());
            let headers = allowed.headers();
            assert_eq!(headers[ACCESS_CONTROL_ALLOW_ORIGIN], PAGE_ORIGIN);
            assert_eq!(headers[ACCESS_CONTROL_ALLOW_METHODS], "*");
            assert_eq!(headers[ACCESS_CONTROL_ALLOW_HEADERS], "*");
            for (label, origin) in [
                (MAIN, "http://tapdesk.localhost"),
                (MAIN, "https://evil.example"),
                ("kiosk", PAGE_ORIGIN),
            ] {
                let refused = preflight(label, url, origin).await;
                assert_eq!(refused.status(), StatusCode::FORBIDDEN);
                assert!(!refused.headers().contains_key(ACCESS_CONTROL_ALLOW_ORIGIN));
                assert!(!refused.headers().contains_key(ACCESS_CONTROL_ALLOW_METHODS));
            }
        }
    }

    #[tokio::test]
    async fn a_question_for_options_that_is_no_preflight_is_the_services() {
        let request = Request::options("tapdesk://localhost/health").header(ORIGIN, PAGE_ORIGIN);
        let request = request.body(Vec::new()).unwrap();
        let answered = answer(MAIN, request, ready(None)).await;
        assert_eq!(answered.status(), StatusCode::SERVICE_UNAVAILABLE);
    }
}
