//! The way from the page to the service: access, added headers, and responses.

use axum::http::{Request, Response};
use serde_json::{Value, json};
use tapdesk::backend::Backend;
use tapdesk::origin::PAGE_ORIGIN;
use tapdesk::scheme::{BODY_MAX, answer};
use tapdesk::shell::Shell;
use tapdesk_tests::TestService;
use zeroize::Zeroizing;

use crate::installation::{Installation, make_tag};

async fn from_page(
    shell: &Shell,
    label: &str,
    request: axum::http::request::Builder,
    body: Vec<u8>,
) -> Response<Vec<u8>> {
    answer(label, request.body(body).unwrap(), shell.connected()).await
}

fn get(path: &str) -> axum::http::request::Builder {
    Request::get(format!("tapdesk://localhost{path}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn our_page_in_our_window_is_let_in_and_nobody_else() {
    let installation = Installation::new();
    let shell = installation.ready().await;
    let ours = get("/embedded/admin/v1/tags").header("origin", PAGE_ORIGIN);
    let response = from_page(&shell, "main", ours, Vec::new()).await;
    assert_eq!(response.status(), 200);
    let allowed = &response.headers()["access-control-allow-origin"];
    assert_eq!(allowed, PAGE_ORIGIN);

    for (label, origin) in [
        ("main", Some("https://evil.example")),
        ("main", Some("null")),
        ("main", Some("tauri://localhost.evil.example")),
        ("main", None),
        ("other", Some(PAGE_ORIGIN)),
    ] {
        let mut request = get("/embedded/admin/v1/tags");
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        let response = from_page(&shell, label, request, Vec::new()).await;
        assert_eq!(response.status(), 403, "{label} {origin:?}");
        let headers = response.headers();
        assert!(!headers.contains_key("access-control-allow-origin"));
    }
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_page_says_of_host_and_token_does_not_count() {
    let installation = Installation::new();
    let shell = installation.ready().await;
    let request = get("/embedded/admin/v1/tags")
        .header("origin", PAGE_ORIGIN)
        .header("host", "evil.example")
        .header("authorization", "Bearer of-the-page");
    let response = from_page(&shell, "main", request, Vec::new()).await;
    assert_eq!(response.status(), 200);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_of_64_mib_is_taken_and_more_is_refused_in_words() {
    let installation = Installation::new();
    let shell = installation.ready().await;
    let post = || {
        Request::post("tapdesk://localhost/embedded/no-such-route").header("origin", PAGE_ORIGIN)
    };
    let response = from_page(&shell, "main", post(), vec![0; BODY_MAX]).await;
    assert_eq!(response.status(), 404, "it reached the service");
    let response = from_page(&shell, "main", post(), vec![0; BODY_MAX + 1]).await;
    assert_eq!(response.status(), 413);
    let problem: Value = serde_json::from_slice(response.body()).unwrap();
    assert!(problem["detail"].as_str().unwrap().contains("64 MiB"));
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_meant_for_another_connection_reaches_no_service() {
    let shop = TestService::start().await;
    let installation = Installation::new();
    let shell = installation.ready().await;
    let secret = Zeroizing::new(shop.admin_token().to_owned());
    let added = shell.add_connection("Shop", shop.base(), secret);
    let added = added.await.unwrap();
    let create = async |connection: &str| {
        let uri = format!("tapdesk://localhost/{connection}/admin/v1/tags");
        let post = Request::post(uri)
            .header("origin", PAGE_ORIGIN)
            .header("content-type", "application/json");
        let body = json!({"name": "Bottle 41"}).to_string().into_bytes();
        from_page(&shell, "main", post, body).await
    };
    shell.connect(&added.id).await.unwrap();
    let refused = create("embedded").await;
    assert_eq!(refused.status(), 409);
    let problem: Value = serde_json::from_slice(refused.body()).unwrap();
    assert_eq!(problem["detail"], "The connection changed.");
    assert_eq!(shop.admin_get("/tags?count=true").await["count"], 0);
    assert_eq!(create(&added.id).await.status(), 201);
    assert_eq!(shop.admin_get("/tags?count=true").await["count"], 1);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_service_the_page_is_told_so() {
    let installation = Installation::new();
    std::fs::write(installation.folders().database, b"").unwrap();
    let shell = installation.start().await;
    let request = get("/embedded/admin/v1/tags").header("origin", PAGE_ORIGIN);
    let response = from_page(&shell, "main", request, Vec::new()).await;
    assert_eq!(response.status(), 503);
    assert_eq!(
        response.headers()["content-type"],
        "application/problem+json"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn taps_are_heard_as_they_happen() {
    let installation = Installation::new();
    let shell = installation.ready().await;
    let id = make_tag(&shell, "Bottle 41").await;
    let backend = shell.backend().await.unwrap();
    let mut events = backend.events(false);
    tap(&backend, id).await;
    // The tag's own creation may still be announced.
    let event = loop {
        let event = events.recv().await.unwrap();
        if event["event"] != "changed" {
            break event;
        }
    };
    assert_eq!(event["event"], "interaction");
    assert_eq!(event["tag_id"], json!(id));
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_the_service_arrives_piece_by_piece_or_not_with_its_reason() {
    let installation = Installation::new();
    let shell = installation.ready().await;
    for number in 0..600 {
        make_tag(&shell, &format!("Bottle {number}")).await;
    }
    let backend = shell.backend().await.unwrap();
    let (pieces, text) = file(&backend, "/admin/v1/tags/export", None).await.unwrap();
    assert!(pieces > 1, "500 tags are a piece");
    assert_eq!(
        text.lines().count(),
        601,
        "the names of the columns, and the tags"
    );
    let refused = file(&backend, "/admin/v1/tags/export?simulated=true", None).await;
    assert_eq!(refused.unwrap_err(), "Simulated tags are not exported.");
    let short = json!({"passphrase": "short"});
    let refused = file(&backend, "/admin/v1/backup", Some(short)).await;
    assert!(
        refused.unwrap_err().contains("passphrase"),
        "a POST with a body"
    );
    shell.stop().await;
}

/// Downloads a file. Returns the number of its pieces, and its text.
pub(crate) async fn file(
    backend: &Backend,
    path: &str,
    body: Option<Value>,
) -> Result<(usize, String), String> {
    let mut arriving = backend.file(path, body).await?.pieces;
    let (mut pieces, mut bytes) = (0, Vec::new());
    while let Some(piece) = arriving.recv().await {
        pieces += 1;
        bytes.extend(piece?);
    }
    Ok((pieces, String::from_utf8(bytes).unwrap()))
}

/// Taps the tag through the backend.
pub(crate) async fn tap(backend: &Backend, id: i64) {
    let path = format!("/admin/v1/tags/{id}");
    let request = get(&path).body(Vec::new()).unwrap();
    let tag: Value = serde_json::from_slice(backend.request(request).await.body()).unwrap();
    let path = format!("/t/{}", tag["slug"].as_str().unwrap());
    // A request without a browser's name counts as a link preview.
    let request = get(&path).header("user-agent", "A phone");
    let request = request.body(Vec::new()).unwrap();
    assert_eq!(backend.request(request).await.status(), 200);
}
