//! Sends a tap as a visitor's phone would, and returns the result. It reports redirects, and never
//! follows them.

use std::time::Duration;

use axum::http::{HeaderValue, Request, StatusCode, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tapdesk_service::clock::{Clock, Stopwatch, Timestamp};
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};
use url::Url;

use super::copy_check::{Chip, refuse_copy};
use crate::backend::{Backend, TapHost};

/// Time limit for the response to a tap.
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// Largest payload that is read from another service, in bytes.
const PAYLOAD_MAX: u64 = 256 * 1024;

/// The place to send a tap to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Destination {
    /// The service that the screens show, whatever host is in the URL.
    Service,
    /// The host in the URL.
    Url,
}

/// The result of a tap.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SentTap {
    /// When the tap was sent.
    #[cfg_attr(test, ts(type = "string"))]
    pub at: Timestamp,
    /// HTTP status of the response.
    pub status: u16,
    /// The redirect target of the response; not followed.
    pub location: Option<String>,
    /// The rolling key, in the form that the owner's page receives.
    pub rk: Option<String>,
    /// The rolling key in base64, in the form that clients send.
    pub rk_base64: Option<String>,
    /// The payload that the owner's page gets for the key.
    #[cfg_attr(test, ts(type = "Record<string, unknown> | null"))]
    pub payload: Option<Value>,
    /// Time until the response to the tap, in microseconds.
    pub tap_micros: u64,
    /// Time until the payload, in microseconds; null if it was not read.
    pub payload_micros: Option<u64>,
}

/// The parsed URL of a tap.
struct TapUrl {
    url: Url,
    /// Path and query at the service whose tag URL is not known, with the slug as the service reads
    /// it.
    at_service: String,
}

impl TapUrl {
    fn parse(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|_| format!("{text} is not a URL."))?;
        if !matches!(url.scheme(), "http" | "https" | "lnurlw") {
            return Err(not_on_the_web(text));
        }
        let read = tapdesk_service::TapUrl::parse(text).map_err(|error| error.to_string())?;
        let at_service = match read.query() {
            "" => format!("/t/{}", read.slug()),
            query => format!("/t/{}?{query}", read.slug()),
        };
        Ok(Self { url, at_service })
    }

    /// Whether the URL is a tag URL below `base`.
    fn is_at(&self, base: &str) -> bool {
        tapdesk_service::TapUrl::parse(self.url.as_str()).is_ok_and(|url| url.is_at(base))
    }
}

fn not_on_the_web(url: &str) -> String {
    format!("{url} is not an http or https URL, so a tap cannot be sent.")
}

/// Sends the tap of `url`. A URL that matches one of the service's URL templates is sent to the
/// service with the URL's own `Host`, and never to the network. `address` is the server URL of the
/// connected service. `automatic` is the chip of a tap that nobody clicked: because a card can
/// contain any URL, such a tap is sent only if the URL belongs to that service and was not copied
/// to this chip. An `Err` is a sentence for people.
pub async fn send_tap(
    backend: &Backend,
    address: &str,
    clock: &dyn Clock,
    url: &str,
    to: Destination,
    automatic: Option<Chip>,
) -> Result<SentTap, String> {
    let tap = TapUrl::parse(url)?;
    let host = host_of_template(backend, &tap, url).await;
    if let Some(chip) = automatic {
        if host.is_none() && !is_of_service(backend, address, &tap).await {
            return Err(format!(
                "The inlay's URL leads to {}, which is not this service. Send the tap yourself to allow it.",
                tap.url.host_str().unwrap_or_default()
            ));
        }
        refuse_copy(backend, url, &chip)
            .await
            .map_err(|refusal| refusal.to_string())?;
    }
    let at = clock.now();
    match to {
        _ if host.is_some() => at_service(backend, &tap, host, at).await,
        Destination::Service => at_service(backend, &tap, None, at).await,
        Destination::Url if tap.url.scheme() == "lnurlw" => Err(not_on_the_web(url)),
        Destination::Url => {
            announce_test_tap(backend, &path_and_query(&tap.url), TestTap::Reader).await;
            let sent = tokio::task::spawn_blocking(move || at_url(&tap, at));
            sent.await.map_err(|error| error.to_string())?
        }
    }
}

async fn is_of_service(backend: &Backend, address: &str, tap: &TapUrl) -> bool {
    let settings = get(backend, "/admin/v1/settings").await;
    let settings = settings.and_then(|(_, body)| serde_json::from_slice::<Value>(&body).ok());
    let tag_url = settings
        .as_ref()
        .and_then(|settings| settings["tag_url"]["value"].as_str());
    tag_url.is_some_and(|tag_url| tap.is_at(tag_url)) || tap.is_at(&format!("{address}/t"))
}

/// The `Host` of a URL that matches one of the service's URL templates, according to the service;
/// `None` for any other URL.
async fn host_of_template(backend: &Backend, tap: &TapUrl, url: &str) -> Option<TapHost> {
    let body = serde_json::json!({ "url": url }).to_string();
    let request = Request::post("/admin/v1/verification")
        .header(header::CONTENT_TYPE, "application/json")
        .body(body.into_bytes())
        .ok()?;
    let answer = backend.request(request).await;
    let answer: Value = serde_json::from_slice(answer.body()).ok()?;
    answer["url_template_id"].as_i64()?;
    let host = tap.url.host_str()?;
    let host = match tap.url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    HeaderValue::from_str(&host).ok().map(TapHost)
}

/// The reader of this application that makes a tap.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TestTap {
    /// A reader that the owner's screens use.
    Reader,
    /// The reader of a kiosk.
    Kiosk,
}

/// Announces that the next tap of this path and query is a test. If the call fails, it counts as a
/// visitor's tap.
pub(crate) async fn announce_test_tap(backend: &Backend, path: &str, by: TestTap) {
    let origin = match by {
        TestTap::Reader => "reader",
        TestTap::Kiosk => "kiosk",
    };
    let body = serde_json::json!({"path": path, "origin": origin}).to_string();
    let request = Request::post("/admin/v1/test-taps")
        .header(header::CONTENT_TYPE, "application/json")
        .body(body.into_bytes());
    let Ok(request) = request else {
        return;
    };
    let status = backend.request(request).await.status();
    if !status.is_success() {
        tracing::debug!("a test tap counts as a visitor's: the service answered {status}");
    }
}

/// Path and query of a URL, in the form that is sent.
pub(crate) fn path_and_query(url: &Url) -> String {
    let query = url.query().map(|query| format!("?{query}"));
    format!("{}{}", url.path(), query.unwrap_or_default())
}

async fn at_service(
    backend: &Backend,
    tap: &TapUrl,
    host: Option<TapHost>,
    at: Timestamp,
) -> Result<SentTap, String> {
    let path = match &host {
        Some(_) => path_and_query(&tap.url),
        None => tap.at_service.clone(),
    };
    announce_test_tap(backend, &path, TestTap::Reader).await;
    // Without a user agent the tap would count as a link preview.
    let mut request = Request::get(&path)
        .header(
            header::USER_AGENT,
            concat!("Tapdesk/", env!("CARGO_PKG_VERSION")),
        )
        .body(Vec::new())
        .map_err(|_| "The URL cannot be sent.")?;
    if let Some(host) = host {
        request.extensions_mut().insert(host);
    }
    let tapping = Stopwatch::start();
    let (parts, _) = backend.request(request).await.into_parts();
    let tap_micros = micros(tapping);
    let location = parts.headers.get(header::LOCATION);
    let location = location.and_then(|value| value.to_str().ok());
    let rk = location.and_then(rolling_key);
    let rk_base64 = rk.as_deref().map(|key| STANDARD.encode(key));
    let reading = Stopwatch::start();
    let payload = match &rk_base64 {
        Some(key) => get(backend, &payload_path(key)).await,
        None => None,
    };
    let payload_micros = payload.as_ref().map(|_| micros(reading));
    Ok(SentTap {
        at,
        status: parts.status.as_u16(),
        location: location.map(str::to_owned),
        payload: payload.and_then(|(_, body)| payload_of(&body)),
        rk,
        rk_base64,
        tap_micros,
        payload_micros,
    })
}

async fn get(backend: &Backend, path: &str) -> Option<(axum::http::response::Parts, Vec<u8>)> {
    let request = Request::get(path).body(Vec::new()).ok()?;
    Some(backend.request(request).await.into_parts())
}

/// Sends the tap to the host in the URL. Blocks.
fn at_url(tap: &TapUrl, at: Timestamp) -> Result<SentTap, String> {
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier);
    let agent: Agent = Agent::config_builder()
        .tls_config(tls.build())
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_global(Some(ANSWER_TIME))
        .build()
        .new_agent();
    let host = tap.url.host_str().unwrap_or_default();
    let tapping = Stopwatch::start();
    let answer = agent.get(tap.url.as_str()).call();
    let tap_micros = micros(tapping);
    let answer = answer.map_err(|error| format!("{host} does not answer ({error})."))?;
    let location = answer.headers().get(header::LOCATION);
    let location = location
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned);
    let rk = location.as_deref().and_then(rolling_key);
    let rk_base64 = rk.as_deref().map(|key| STANDARD.encode(key));
    // The key must go only to the service that issued it.
    let reading = Stopwatch::start();
    let payload = rk_base64.as_ref().and_then(|key| {
        let url = tap.url.join(&payload_path(key)).ok()?;
        let answer = agent.get(url.as_str()).call().ok()?;
        let is_ok = answer.status() == StatusCode::OK;
        let body = answer
            .into_body()
            .into_with_config()
            .limit(PAYLOAD_MAX)
            .read_to_vec();
        payload_of(&body.ok().filter(|_| is_ok)?)
    });
    Ok(SentTap {
        at,
        status: answer.status().as_u16(),
        location,
        rk,
        rk_base64,
        payload_micros: payload.as_ref().map(|_| micros(reading)),
        payload,
        tap_micros,
    })
}

fn micros(since: Stopwatch) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

/// The rolling key in the query of a redirect.
fn rolling_key(location: &str) -> Option<String> {
    let url = Url::parse(location).ok()?;
    let (_, key) = url.query_pairs().find(|(name, _)| name == "rk")?;
    Some(key.into_owned()).filter(|key| !key.is_empty())
}

fn payload_path(key: &str) -> String {
    let key = percent_encoding::utf8_percent_encode(key, percent_encoding::NON_ALPHANUMERIC);
    format!("/v2/interactions/rk_payload?rk={key}")
}

/// The payload in `body`; `None` for the empty list of an invalid key.
fn payload_of(body: &[u8]) -> Option<Value> {
    let payload: Value = serde_json::from_slice(body).ok()?;
    payload.is_object().then_some(payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_urls_of_tags_at_the_tag_url_are_the_services_own() {
        let is_at =
            |url: &str| TapUrl::parse(url).is_ok_and(|tap| tap.is_at("http://127.0.0.1:8787/t"));
        assert!(is_at("http://127.0.0.1:8787/t/k3v9qa?uid=1&token=2"));
        for url in [
            "http://127.0.0.1:8788/t/k3v9qa",
            "https://127.0.0.1:8787/t/k3v9qa",
            "http://127.0.0.1:8787/admin/v1/tags",
            "http://127.0.0.1:8787/team/k3v9qa",
            "http://127.0.0.1:8787/t/more/k3v9qa",
            "http://127.0.0.1:8787.example.com/t/k3v9qa",
            "http://127.0.0.1:8787@example.com/t/k3v9qa",
            "http://example.com/http://127.0.0.1:8787/t/k3v9qa",
            "http://127.0.0.1:8787/t/../admin/v1/tags",
        ] {
            assert!(!is_at(url), "{url}");
        }
    }

    #[test]
    fn the_slug_and_the_query_are_those_that_a_tap_reads() {
        let sent = |url: &str| TapUrl::parse(url).map(|tap| tap.at_service);
        for (url, path) in [
            ("https://a.example/t/k3v9qa", "/t/k3v9qa"),
            ("https://a.example/t/k3v9qa?uid=1#top", "/t/k3v9qa?uid=1"),
            ("https://a.example/t/k3v9qa/", "/t/k3v9qa"),
            ("https://a.example/t/k3v9qa/?uid=1", "/t/k3v9qa?uid=1"),
            ("https://a.example/t/k3v9qa&x=1", "/t/k3v9qa?x=1"),
            ("https://a.example/t/k3v9qa/&x=1", "/t/k3v9qa?x=1"),
            (
                "https://a.example/t/k3v9qa/&x=1?uid=2",
                "/t/k3v9qa?x=1&uid=2",
            ),
            ("https://a.example/k3v9qa/&x=1", "/t/k3v9qa?x=1"),
            ("lnurlw://a.example/k3v9qa&x=1/", "/t/k3v9qa?x=1"),
        ] {
            assert_eq!(sent(url).as_deref(), Ok(path), "{url}");
        }
    }

    #[test]
    fn what_is_no_web_address_is_sent_nowhere() {
        for url in [
            "tel:+4912345",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "k3v9qa",
        ] {
            assert!(TapUrl::parse(url).is_err(), "{url}");
        }
    }

    #[test]
    fn the_key_is_found_wherever_it_stands_in_the_query() {
        let key = |location: &str| rolling_key(location);
        assert_eq!(
            key("https://a.example/?x=1&rk=abc#f").as_deref(),
            Some("abc")
        );
        assert_eq!(key("https://a.example/?rk=").as_deref(), None);
        assert_eq!(key("https://a.example/rk=abc").as_deref(), None);
    }
}
