//! Traces, as an OpenTelemetry collector receives them.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::trace::v1::{Span, span::SpanKind};
use prost::Message as _;
use serde_json::json;
use tapdesk_tests::{Answering as _, Launch, ServiceProcess, eventually};
use tokio::net::TcpListener;

use super::launch;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";
/// The id of a trace that its caller does not record.
const UNRECORDED: &str = "0af7651916cd43dd8448eb211c80319c";
/// Longer than a test, so that spans are sent only at the end.
const NEVER: &str = "3600000";

/// A collector in this process.
#[derive(Default)]
struct Collector {
    received: Mutex<Vec<ExportTraceServiceRequest>>,
    posts: AtomicUsize,
    /// The status of its responses.
    status: AtomicU16,
}

impl Collector {
    /// Starts a collector that answers `status`, and returns its URL.
    async fn start(status: StatusCode) -> (Arc<Self>, String) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let collector = Arc::new(Self::default());
        collector.answer(status);
        let router = Router::new()
            .route("/v1/traces", post(receive))
            .with_state(Arc::clone(&collector));
        tokio::spawn(async move { axum::serve(listener, router).await });
        (collector, url)
    }

    fn answer(&self, status: StatusCode) {
        self.status.store(status.as_u16(), Ordering::SeqCst);
    }

    fn posts(&self) -> usize {
        self.posts.load(Ordering::SeqCst)
    }

    fn spans(&self) -> Vec<Span> {
        let received = self.received.lock().unwrap();
        let resources = received.iter().flat_map(|request| &request.resource_spans);
        let scopes = resources.flat_map(|resource| &resource.scope_spans);
        scopes.flat_map(|scope| scope.spans.clone()).collect()
    }
}

async fn receive(
    State(collector): State<Arc<Collector>>,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    collector.posts.fetch_add(1, Ordering::SeqCst);
    let status = StatusCode::from_u16(collector.status.load(Ordering::SeqCst)).unwrap();
    if status.is_success() {
        assert_eq!(headers["content-type"], "application/x-protobuf");
        let request = ExportTraceServiceRequest::decode(body).unwrap();
        collector.received.lock().unwrap().push(request);
    }
    status
}

fn launch_with(url: &str, every_milliseconds: &str) -> Launch {
    launch()
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        .env("OTEL_BSP_SCHEDULE_DELAY", every_milliseconds)
        // A collector of a busy test answers late.
        .env("OTEL_EXPORTER_OTLP_TIMEOUT", "120000")
}

fn hex(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(bytes)
}

/// The value of an attribute as text.
fn attribute(attributes: &[KeyValue], key: &str) -> Option<String> {
    let attribute = attributes.iter().find(|attribute| attribute.key == key)?;
    match attribute.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text.clone()),
        Value::IntValue(number) => Some(number.to_string()),
        other => panic!("{key}: {other:?}"),
    }
}

/// The number of warnings in the log that traces cannot be sent.
fn warnings(service: &ServiceProcess) -> usize {
    service
        .launch()
        .log()
        .matches("traces cannot be sent")
        .count()
}

#[tokio::test]
async fn a_tap_is_sent_at_the_end_as_a_child_of_its_callers_span_and_tells_nothing_of_the_tag() {
    let (collector, url) = Collector::start(StatusCode::OK).await;
    let service = launch_with(&url, NEVER).start().await;
    let (tag, mut inlay) = service.bottle().await;
    let tapped_url = inlay.url(&tag);
    let tapped = service
        .get(&tapped_url)
        .header("traceparent", format!("00-{TRACE}-{PARENT}-01"));
    let tapped = tapped.answer().await;
    assert_eq!(tapped.status, 302, "{}", tapped.body);
    let unrecorded = format!("00-{UNRECORDED}-{PARENT}-00");
    let health = service.get("/health").header("traceparent", unrecorded);
    assert_eq!(health.answer().await.status, 200);
    assert_eq!(collector.posts(), 0);
    let status = service.terminate().await;
    assert!(status.success(), "{status}");

    let spans = collector.spans();
    let of_trace: Vec<_> = spans
        .iter()
        .filter(|span| hex(&span.trace_id) == TRACE)
        .collect();
    let request = of_trace
        .iter()
        .find(|span| hex(&span.parent_span_id) == PARENT);
    let request = request.expect("the request is a child of its caller's span");
    assert_eq!(request.name, "GET /t/{slug}");
    assert_eq!(request.kind(), SpanKind::Server);
    for (key, value) in [
        ("http.request.method", "GET"),
        ("http.route", "/t/{slug}"),
        ("http.response.status_code", "302"),
    ] {
        let found = attribute(&request.attributes, key);
        assert_eq!(found.as_deref(), Some(value), "{key}");
    }
    for operation in ["published_now", "record_tap"] {
        let span = of_trace.iter().find(|span| span.name == operation);
        let span = span.unwrap_or_else(|| panic!("no {operation}: {of_trace:?}"));
        assert_eq!(span.parent_span_id, request.span_id, "{operation}");
    }
    // A request without a trace starts one.
    assert!(
        spans
            .iter()
            .any(|span| span.parent_span_id.is_empty() && span.name == "POST /admin/v1/tags")
    );
    assert!(spans.iter().all(|span| hex(&span.trace_id) != UNRECORDED));

    let received = collector.received.lock().unwrap();
    let resource = received[0].resource_spans[0].resource.as_ref().unwrap();
    for (key, value) in [
        ("service.name", "tapdesk-service"),
        ("service.version", env!("CARGO_PKG_VERSION")),
    ] {
        let found = attribute(&resource.attributes, key);
        assert_eq!(found.as_deref(), Some(value), "{key}");
    }
    let all = format!("{received:?}");
    let location = &tapped.headers["location"];
    let key = location.to_str().unwrap().split_once("rk=").unwrap().1;
    let query = tapped_url.split_once('?').unwrap().1;
    let values = query.split('&').map(|pair| pair.split_once('=').unwrap().1);
    for secret in values.chain([tag.slug.as_str(), key, "Bottle 41", "127.0.0.1"]) {
        assert!(!all.contains(secret), "{secret}: {all}");
    }
}

#[tokio::test]
async fn a_collector_that_fails_costs_no_tap_and_is_said_once() {
    let (collector, url) = Collector::start(StatusCode::NOT_FOUND).await;
    let service = launch_with(&url, "10").start().await;
    let tag = service.redirecting_tag(json!(null)).await;
    let tap = async || {
        let tapped = service.get(&tag.path()).answer().await;
        assert_eq!(tapped.status, 302, "{}", tapped.body);
    };
    eventually("several batches are refused", || async {
        tap().await;
        (collector.posts() > 4).then_some(())
    })
    .await;
    eventually("it is said", || async {
        (warnings(&service) > 0).then_some(())
    })
    .await;

    collector.answer(StatusCode::OK);
    eventually("spans arrive again", || async {
        tap().await;
        (!collector.spans().is_empty()).then_some(())
    })
    .await;
    let launch = service.launch().clone();
    assert_eq!(warnings(&service), 1, "{}", launch.log());
    assert!(service.terminate().await.success());
    assert!(
        launch.log().contains("traces are sent again"),
        "{}",
        launch.log()
    );
}

#[tokio::test]
async fn where_nobody_listens_taps_are_answered_and_the_end_is_a_good_one() {
    let url = format!("http://127.0.0.1:{}", tapdesk_tests::free_port());
    let service = launch_with(&url, "10").start().await;
    let tag = service.redirecting_tag(json!(null)).await;
    eventually("it is said", || async {
        let tapped = service.get(&tag.path()).answer().await;
        assert_eq!(tapped.status, 302, "{}", tapped.body);
        (warnings(&service) > 0).then_some(())
    })
    .await;
    let launch = service.launch().clone();
    assert!(service.terminate().await.success());
    assert_eq!(launch.log().matches("traces cannot be sent").count(), 1);
}

#[tokio::test]
async fn an_endpoint_that_is_no_url_is_refused_and_one_that_is_turned_off_is_not_used() {
    let (status, said) = launch_with("collector", NEVER).start_in_vain().await;
    assert_eq!(status.code(), Some(1));
    let sentence = "OTEL_EXPORTER_OTLP_ENDPOINT is no http or https URL: collector.";
    assert!(said.contains(sentence), "{said}");

    let (collector, url) = Collector::start(StatusCode::OK).await;
    let off = launch_with(&url, NEVER).env("OTEL_SDK_DISABLED", "true");
    let service = off.start().await;
    assert_eq!(service.get("/health").answer().await.status, 200);
    assert!(service.terminate().await.success());
    assert_eq!(collector.posts(), 0);
}
