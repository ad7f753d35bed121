//! Every route of the router, documented or not, and the clients that may call it.

use std::collections::BTreeSet;

use reqwest::Method;
use reqwest::header::HeaderMap;
use tapdesk_service::{Exposure, router};
use tapdesk_tests::{Client, TestService};

/// Public routes: for anyone, with any host name, on every listener.
const PUBLIC: [&str; 17] = [
    "/.well-known/apple-app-site-association",
    "/.well-known/assetlinks.json",
    CAPITALS,
    "/health",
    "/kit/1",
    KIT_WITH_SLASH,
    "/kit/1/tapdesk.js",
    "/media/{name}",
    "/ready",
    "/staff/pair/{code}",
    "/staff/scan.js",
    "/staff/taps/{id}",
    "/staff/taps/{id}/photo",
    "/stand-in",
    "/t/{slug}",
    "/v2/interactions/data",
    "/v2/interactions/rk_payload",
];

/// The route of tags in the capitals of a QR code. The document describes it once, as `/t/{slug}`.
const CAPITALS: &str = "/T/{slug}";

/// The page of the kit, once more. The document describes it as `/kit/1`.
const KIT_WITH_SLASH: &str = "/kit/1/";

/// The API reference and the documents contain no data, and a browser opens them: they need no token,
/// but one of our host names.
const REFERENCE: [&str; 5] = ["/docs", LIST, DOCUMENTS, "/llms.txt", "/openapi.json"];

/// The documents, whose paths have several segments: the description of the API names none of them.
const LIST: &str = "/docs/";
const DOCUMENTS: &str = "/docs/{*path}";

const METHODS: [Method; 7] = [
    Method::GET,
    Method::HEAD,
    Method::OPTIONS,
    Method::PUT,
    Method::PATCH,
    Method::POST,
    Method::DELETE,
];

const FOREIGN: &str = "evil.example";
const OURS: &str = "localhost";

/// The paths of a router, from axum's `Debug` output.
fn routes(service: &TestService, exposure: Exposure) -> BTreeSet<String> {
    let shown = format!("{:?}", router(service.state().clone(), exposure));
    let (_, rest) = shown
        .split_once("Node { paths: {")
        .expect("axum shows the routes");
    let (paths, _) = rest.split_once("} }").expect("the routes end");
    let quoted = paths.split('"').skip(1).step_by(2);
    quoted.map(str::to_owned).collect()
}

/// A service with the admin API, and its public listener.
async fn both() -> (TestService, Client) {
    let mut service = TestService::start_with(|options| options.settings.rate_limit = None).await;
    let public = service.listen(Exposure::PublicOnly);
    (service, public)
}

/// The head of a response.
struct Call {
    what: String,
    route: String,
    method: Method,
    status: u16,
    headers: HeaderMap,
}

/// Calls every route with every method, with this host name and token.
async fn sweep(
    service: &TestService,
    client: &Client,
    host: &str,
    token: Option<&str>,
) -> Vec<Call> {
    let mut calls = Vec::new();
    for route in routes(service, Exposure::WithAdmin) {
        let path = route
            .replace("{slug}", "nobody-has-this")
            .replace("{name}", "none")
            .replace("{code}", "none")
            .replace("{key}", "none")
            .replace("{id}", "999")
            .replace("{uid}", "04AABBCCDDEE80")
            .replace("{image_id}", "999")
            .replace("{position}", "999")
            .replace("{*path}", "start/tour.md");
        assert!(!path.contains('{'), "{route} has another part");
        for method in METHODS {
            let mut request = client.request(method.clone(), &path).header("host", host);
            if let Some(token) = token {
                request = request.bearer_auth(token);
            }
            // The body is not read, because the event stream does not end.
            let answer = request.send().await.expect("an answer");
            calls.push(Call {
                what: format!("{method} {route} at {host}, token {token:?}"),
                route: route.clone(),
                method,
                status: answer.status().as_u16(),
                headers: answer.headers().clone(),
            });
        }
    }
    assert!(calls.len() > 300, "these are not all routes");
    calls
}

#[tokio::test]
async fn every_route_asks_for_a_token_that_is_neither_public_nor_the_reference() {
    let (service, _) = both().await;
    let good = service.admin_token();
    for (host, token) in [
        (OURS, None),
        (OURS, Some("wrong")),
        (FOREIGN, None),
        (FOREIGN, Some(good)),
        (OURS, Some(good)),
    ] {
        for call in sweep(&service, &service, host, token).await {
            let Call { what, status, .. } = &call;
            let read = matches!(call.method, Method::GET | Method::HEAD);
            if PUBLIC.contains(&&*call.route) {
                assert!(![401, 421].contains(status), "{what}: {status}");
            } else if host == FOREIGN {
                assert_eq!(*status, 421, "{what}");
            } else if REFERENCE.contains(&&*call.route) {
                assert_eq!(*status, if read { 200 } else { 405 }, "{what}");
            } else if token == Some(good) {
                assert!(![401, 421].contains(status), "{what}: {status}");
            } else {
                assert_eq!(*status, 401, "{what}");
                assert_eq!(call.headers["www-authenticate"], "Bearer", "{what}");
            }
        }
    }
}

#[tokio::test]
async fn every_route_is_in_the_document_and_nothing_else_is() {
    let (service, _) = both().await;
    let document = tapdesk_service::openapi().to_json().expect("JSON");
    let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
    let documented = document["paths"].as_object().expect("paths").keys();
    let documented: BTreeSet<_> = documented.cloned().collect();
    let mut served = routes(&service, Exposure::WithAdmin);
    for other in [CAPITALS, KIT_WITH_SLASH, LIST, DOCUMENTS] {
        assert!(served.remove(other), "{other}");
    }
    assert_eq!(served, documented);
}

#[tokio::test]
async fn a_public_listener_has_the_public_routes_alone() {
    let (service, public) = both().await;
    let served: Vec<_> = routes(&service, Exposure::PublicOnly).into_iter().collect();
    assert_eq!(served, PUBLIC);
    let good = service.admin_token();
    for (host, token) in [(OURS, None), (OURS, Some(good)), (FOREIGN, Some(good))] {
        for call in sweep(&service, &public, host, token).await {
            let Call { what, status, .. } = &call;
            if PUBLIC.contains(&&*call.route) {
                assert!(![401, 421].contains(status), "{what}: {status}");
            } else {
                assert_eq!(*status, 404, "{what}");
            }
        }
    }
}

#[tokio::test]
async fn no_answer_of_the_admin_api_is_stored_anywhere() {
    let (service, _) = both().await;
    // Data to find, including an image.
    let experience = service.redirect("https://owner.example/").await;
    let image = service
        .admin_request(Method::POST, &format!("/experiences/{experience}/images"))
        .header("content-type", "image/png")
        .body(include_bytes!("../../src-tauri/icons/32x32.png").to_vec())
        .send()
        .await
        .expect("an answer");
    assert_eq!(image.status(), 201);
    let image: serde_json::Value = image.json().await.expect("JSON");
    let path = format!("/experiences/{experience}/images/{}", image["id"]);
    let image = service.admin_request(Method::GET, &path).send().await;
    let image = image.expect("an answer");
    assert_eq!(image.status(), 200);
    assert_eq!(image.headers()["cache-control"], "no-store");

    for token in [None, Some(service.admin_token())] {
        for call in sweep(&service, &service, OURS, token).await {
            if !PUBLIC.contains(&&*call.route) {
                let stored = call.headers.get_all("cache-control").iter();
                assert!(stored.eq(["no-store"]), "{}", call.what);
            }
        }
    }
}
