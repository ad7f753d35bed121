//! Sends traces to an OpenTelemetry collector, by OTLP over HTTP. The standard variables
//! (`OTEL_EXPORTER_OTLP_ENDPOINT` and others) configure it. Without an endpoint, nothing is sent.
//!
//! The spans are those of the log, so the same rules apply: they contain no key, token or data of a
//! tag. Events are not sent. The library chooses ids and reads the clock itself.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use async_trait::async_trait;
use opentelemetry::KeyValue;
use opentelemetry::trace::{SpanKind, Status, TracerProvider as _};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::resource::EnvResourceDetector;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter as Exports};
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::prelude::*;
use ureq::Agent;
use url::Url;

use super::BoxedLayer;
use super::client::plain_agent;

/// Default service name in traces; `OTEL_SERVICE_NAME` overrides it.
const NAME: &str = env!("CARGO_PKG_NAME");
/// Default time limit for the answer of the collector, as in the standard. A variable overrides it.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of bytes that are read from an answer. A standard answer is much shorter.
const ANSWER_MAX: u64 = 64 * 1024;

/// Traces that are being sent. Dropping the value sends the remaining ones, for at most 5 s.
pub(super) struct Traces(SdkTracerProvider);

impl Drop for Traces {
    fn drop(&mut self) {
        // If it fails, the client has already logged the reason.
        let _ = self.0.shutdown();
    }
}

/// Adds a layer that sends traces to `layers`, if `is_service` and an endpoint is configured.
pub(super) fn with_traces(
    mut layers: Vec<BoxedLayer>,
    is_service: bool,
) -> Result<(Vec<BoxedLayer>, Option<Traces>)> {
    let endpoint = endpoint().filter(|_| is_service);
    let Some((variable, endpoint)) = endpoint else {
        return Ok((layers, None));
    };
    let url = Url::parse(&endpoint)
        .ok()
        .filter(|url| url.has_host() && matches!(url.scheme(), "http" | "https"))
        .with_context(|| format!("{variable} is no http or https URL: {endpoint}."))?;
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(Client::new(&url))
        .build()
        .map_err(|error| anyhow!("Traces cannot be sent: {error}."))?;
    let provider = SdkTracerProvider::builder()
        .with_resource(resource())
        .with_batch_exporter(Conventions(exporter))
        .build();
    let spans = filter_fn(|metadata| {
        metadata.is_span()
            && metadata.target().starts_with("tapdesk")
            && *metadata.level() <= LevelFilter::DEBUG
    });
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer(NAME))
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_filter(spans.with_max_level_hint(LevelFilter::DEBUG));
    layers.push(layer.boxed());
    Ok((layers, Some(Traces(provider))))
}

/// The endpoint for traces, and the variable that contains it.
fn endpoint() -> Option<(&'static str, String)> {
    let is = |name, value| variable(name).is_some_and(|is| is.eq_ignore_ascii_case(value));
    if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
        return None;
    }
    [
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
    ]
    .into_iter()
    .find_map(|name| Some((name, variable(name)?)))
}

/// The value of an environment variable. An empty value counts as unset, as in the standard.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Describes this service in its traces.
fn resource() -> Resource {
    let ours = [
        KeyValue::new("service.name", NAME),
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
    ];
    let resource = Resource::builder()
        .with_attributes(ours)
        .with_detector(Box::new(EnvResourceDetector::new()));
    match variable("OTEL_SERVICE_NAME") {
        Some(name) => resource.with_service_name(name),
        None => resource,
    }
    .build()
}

/// Exports spans with the names of OpenTelemetry's semantic conventions. The log uses shorter
/// names.
#[derive(Debug)]
struct Conventions<E>(E);

impl<E: Exports> Exports for Conventions<E> {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        batch.iter_mut().for_each(rename);
        self.0.export(batch).await
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}

fn rename(span: &mut SpanData) {
    match span.name.as_ref() {
        "request" => rename_request(span),
        // Each shared operation of the storage has one span.
        "storage" => {
            if let Some(operation) = take(span, "operation") {
                span.name = operation.into();
            }
        }
        _ => {}
    }
}

fn rename_request(span: &mut SpanData) {
    // They repeat the ids of the trace and of the parent span.
    take(span, "trace_id");
    take(span, "parent_id");
    let method = take(span, "method").filter(|method| METHODS.contains(&method.as_str()));
    let method = method.unwrap_or_else(|| "_OTHER".to_owned());
    // A request without a matching route has no route here, because its path may contain a key.
    let route = take(span, "route").filter(|route| !route.is_empty());
    let status = take(span, "status").and_then(|status| status.parse::<i64>().ok());
    span.span_kind = SpanKind::Server;
    span.name = match &route {
        Some(route) => format!("{method} {route}").into(),
        None => method.clone().into(),
    };
    let attributes = &mut span.attributes;
    attributes.push(KeyValue::new("http.request.method", method));
    attributes.extend(route.map(|route| KeyValue::new("http.route", route)));
    if let Some(status) = status {
        attributes.push(KeyValue::new("http.response.status_code", status));
        if status >= 500 {
            span.status = Status::error("");
        }
    }
}

/// The methods that the conventions name. Any other method is text of a stranger.
const METHODS: [&str; 9] = [
    "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
];

/// Removes an attribute and returns its value as text.
fn take(span: &mut SpanData, key: &str) -> Option<String> {
    let mut attributes = span.attributes.iter();
    let at = attributes.position(|attribute| attribute.key.as_str() == key)?;
    Some(span.attributes.swap_remove(at).value.to_string())
}

/// Posts to the collector. Logs only the first of several failures, because every batch would
/// repeat it.
#[derive(Debug)]
struct Client {
    agent: Agent,
    timeout: Duration,
    fails: AtomicBool,
}

impl Client {
    fn new(url: &Url) -> Self {
        let milliseconds = variable("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT")
            .or_else(|| variable("OTEL_EXPORTER_OTLP_TIMEOUT"))
            .and_then(|value| value.parse().ok());
        Self {
            agent: plain_agent(url),
            timeout: milliseconds.map_or(TIMEOUT, Duration::from_millis),
            fails: AtomicBool::new(false),
        }
    }

    fn post(&self, request: Request<Bytes>) -> Result<Response<Bytes>, ureq::Error> {
        let (head, body) = request.into_parts();
        let request = Request::from_parts(head, &body[..]);
        let request = self
            .agent
            .configure_request(request)
            .timeout_global(Some(self.timeout))
            .build();
        let (head, body) = self.agent.run(request)?.into_parts();
        let body = body.into_with_config().limit(ANSWER_MAX).read_to_vec()?;
        Ok(Response::from_parts(head, body.into()))
    }

    fn say(&self, why: impl Display) {
        if !self.fails.swap(true, Ordering::Relaxed) {
            tracing::warn!("traces cannot be sent, and are dropped until they can: {why}");
        }
    }
}

#[async_trait]
impl HttpClient for Client {
    // This blocks the thread that sends batches, which has no other work.
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let answer = self.post(request);
        match &answer {
            Ok(answer) if !answer.status().is_success() => {
                self.say(format_args!("the collector answers {}", answer.status()));
            }
            Ok(_) => {
                if self.fails.swap(false, Ordering::Relaxed) {
                    tracing::info!("traces are sent again");
                }
            }
            Err(error) => self.say(error),
        }
        Ok(answer?)
    }
}
