//! Reads the trace context of a request (W3C recommendation "Trace Context"), so that the caller's
//! trace leads to the log lines of the service.

use axum::http::{HeaderMap, Method};
use tracing::Span;
use tracing::field::Empty;

/// Name of the header.
const NAME: &str = "traceparent";
/// Length of a version 00 header: `00-` 32 digits `-` 16 digits `-` 2 digits.
const LENGTH: usize = 55;

/// The position of a request in its caller's trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TraceParent<'a> {
    /// Id of the trace: 32 hex digits.
    trace_id: &'a str,
    /// Id of the caller's span: 16 hex digits.
    parent_id: &'a str,
    /// Two hex digits. The lowest bit is set if the caller records the trace.
    flags: &'a str,
}

/// The span of a request. `route` is the matched path, because the URI may contain a key.
///
/// A request with a trace context has a span at every log level. Other requests have one only if
/// the service logs at debug level or exports traces, so that taps do not pay for it.
pub(super) fn span(headers: &HeaderMap, method: &Method, route: &str) -> Span {
    let mut values = headers.get_all(NAME).iter();
    // Ignore repeated headers: there is no rule which one counts.
    let value = values.next().filter(|_| values.next().is_none());
    let parent = value
        .and_then(|value| value.to_str().ok())
        .and_then(TraceParent::parse);
    let Some(parent) = parent else {
        return tracing::debug_span!("request", %method, route, status = Empty);
    };
    let TraceParent {
        trace_id,
        parent_id,
        ..
    } = parent;
    let span = tracing::info_span!("request", %method, route, trace_id, parent_id, status = Empty);
    #[cfg(feature = "otlp")]
    parent.adopt(&span);
    span
}

/// Records the status of the answer in the current span, which is the request's.
pub(super) fn answered(status: u16) {
    Span::current().record("status", status);
}

impl<'a> TraceParent<'a> {
    /// Parses the value of the header; `None` if it is malformed and must be ignored.
    fn parse(value: &'a str) -> Option<Self> {
        // Digits are lower case, and an id of zeros is invalid.
        let digits = |part: &str| {
            let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            part.bytes().all(hex)
        };
        let id = |part: &str| digits(part) && part.bytes().any(|byte| byte != b'0');
        let (known, rest) = value.split_at_checked(LENGTH)?;
        let version = known.get(..2)?;
        let is_whole = match version {
            "ff" => false,
            "00" => rest.is_empty(),
            // A later version may append further parts, separated by a dash.
            _ => rest.is_empty() || rest.starts_with('-'),
        };
        let mut parts = known.split('-');
        let [version, trace_id, parent_id, flags] = [(); 4].map(|()| parts.next().unwrap_or(""));
        let lengths = [version, trace_id, parent_id, flags].map(str::len);
        let is_valid = is_whole
            && lengths == [2, 32, 16, 2]
            && digits(version)
            && digits(flags)
            && id(trace_id)
            && id(parent_id);
        is_valid.then_some(Self {
            trace_id,
            parent_id,
            flags,
        })
    }

    /// Makes `span` a child of the caller's span in an exported trace.
    #[cfg(feature = "otlp")]
    fn adopt(self, span: &Span) {
        use opentelemetry::Context;
        use opentelemetry::trace::{
            SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState,
        };
        use tracing_opentelemetry::OpenTelemetrySpanExt as _;

        let (Ok(trace), Ok(parent), Ok(flags)) = (
            TraceId::from_hex(self.trace_id),
            SpanId::from_hex(self.parent_id),
            u8::from_str_radix(self.flags, 16),
        ) else {
            return;
        };
        let is_remote = true;
        let flags = TraceFlags::new(flags) & TraceFlags::SAMPLED;
        let caller = SpanContext::new(trace, parent, flags, is_remote, TraceState::default());
        // This fails only if traces are not exported.
        let _ = span.set_parent(Context::new().with_remote_span_context(caller));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const PARENT: &str = "00f067aa0ba902b7";

    #[test]
    fn a_header_of_version_00_and_what_a_later_one_has_in_common_with_it_is_read() {
        for value in [
            format!("00-{TRACE}-{PARENT}-01"),
            format!("00-{TRACE}-{PARENT}-00"),
            format!("cc-{TRACE}-{PARENT}-01"),
            format!("cc-{TRACE}-{PARENT}-01-what-comes-later"),
        ] {
            let parent = TraceParent::parse(&value);
            let parent = parent.unwrap_or_else(|| panic!("{value}"));
            assert_eq!((parent.trace_id, parent.parent_id), (TRACE, PARENT));
        }
    }

    #[test]
    fn a_malformed_header_is_ignored() {
        let (no_trace, no_parent) = ("0".repeat(32), "0".repeat(16));
        for value in [
            String::new(),
            "00".to_owned(),
            format!("00-{TRACE}-{PARENT}"),
            format!("00-{TRACE}-{PARENT}-"),
            format!("00-{TRACE}-{PARENT}-1"),
            format!("00-{TRACE}-{PARENT}-01-"),
            format!("00-{TRACE}-{PARENT}-01-more"),
            format!("00-{TRACE}-{PARENT}-0x"),
            format!("00-{TRACE}-{PARENT}-01 "),
            format!(" 00-{TRACE}-{PARENT}-01"),
            format!("00-{}-{PARENT}-01", TRACE.to_uppercase()),
            format!("00-{TRACE}-{}-01", PARENT.to_uppercase()),
            format!("00-{no_trace}-{PARENT}-01"),
            format!("00-{TRACE}-{no_parent}-01"),
            format!("00_{TRACE}_{PARENT}_01"),
            format!("00-{TRACE}{PARENT}--01"),
            format!("00-{}-{PARENT}-01", &TRACE[1..]),
            format!("0-{TRACE}-{PARENT}-01"),
            format!("0G-{TRACE}-{PARENT}-01"),
            format!("ff-{TRACE}-{PARENT}-01"),
            format!("cc-{TRACE}-{PARENT}-01.more"),
            format!("00-{}é-{PARENT}-01", &TRACE[2..]),
        ] {
            assert_eq!(TraceParent::parse(&value), None, "{value}");
        }
    }

    #[test]
    fn two_headers_are_none() {
        let mut headers = HeaderMap::new();
        let value = format!("00-{TRACE}-{PARENT}-01");
        headers.append(NAME, value.parse().unwrap());
        let subscriber = tracing_subscriber::fmt().with_writer(std::io::sink);
        tracing::subscriber::with_default(subscriber.finish(), || {
            let fields = |headers: &HeaderMap| {
                let span = span(headers, &Method::GET, "/health");
                span.metadata()
                    .is_some_and(|span| span.fields().field("trace_id").is_some())
            };
            assert!(fields(&headers));
            headers.append(NAME, value.parse().unwrap());
            assert!(!fields(&headers));
        });
    }
}
