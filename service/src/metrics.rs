//! What is counted for operators. Labels are routes, methods, statuses and
//! reasons: never anything a client makes up.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

pub(crate) use prometheus_client::metrics::counter::Counter;

/// The counters, and the registry that shows them.
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    taps: Family<TapLabels, Counter>,
    request_panics: Counter,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: String,
    method: &'static str,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TapLabels {
    reason: &'static str,
}

impl Metrics {
    /// Nothing is counted yet. Storage counts the panics of its operations itself.
    pub fn new(storage_panics: Counter) -> Self {
        let mut registry = Registry::with_prefix("tapdesk");
        let request_panics = Counter::default();
        let requests = Family::<RequestLabels, Counter>::default();
        let taps = Family::<TapLabels, Counter>::default();
        registry.register("http_requests", "Answered requests", requests.clone());
        registry.register(
            "taps",
            "Recorded taps by reason of their verdict",
            taps.clone(),
        );
        registry.register(
            "request_panics",
            "Requests whose handler panicked",
            request_panics.clone(),
        );
        registry.register(
            "storage_panics",
            "Operations of the database that panicked",
            storage_panics,
        );
        Self {
            registry,
            requests,
            taps,
            request_panics,
        }
    }

    /// Counts an answered request. `route` is the matched one, or empty.
    pub fn request(&self, route: &str, method: &axum::http::Method, status: u16) {
        let labels = RequestLabels {
            route: route.to_owned(),
            method: known(method),
            status,
        };
        self.requests.get_or_create(&labels).inc();
    }

    /// Counts a recorded tap.
    pub fn tap(&self, reason: &'static str) {
        self.taps.get_or_create(&TapLabels { reason }).inc();
    }

    /// Counts a request whose handler panicked.
    pub fn request_panic(&self) {
        self.request_panics.inc();
    }

    /// The metrics in the text format of `OpenMetrics`.
    pub fn render(&self) -> String {
        let mut text = String::new();
        // Writing into a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// A method's name; a made-up method is not a label of its own.
fn known(method: &axum::http::Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}
