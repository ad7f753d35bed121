//! Clients of a service, over real HTTP.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::fixtures::{TEMPLATE_HOST, on_templates};
use crate::{eventually, problems};

/// How long an idle connection is kept: less than the service keeps it. Otherwise the service could
/// close it under a request that comes after a long pause of the test.
const KEPT_IDLE: Duration = Duration::from_secs(5);

/// The default `User-Agent` of a test's client. Without one, a request would not count as a
/// person's tap.
pub const AGENT: &str = "tapdesk-tests";

/// A client of one service. It follows no redirects and keeps no cookies. Every header is the
/// test's, except the `User-Agent` [`AGENT`].
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    admin_token: String,
}

/// A complete response, with its body as text.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status code of the response.
    pub status: u16,
    /// The headers of the response.
    pub headers: HeaderMap,
    /// The body as text.
    pub body: String,
}

/// The result of a tap.
#[derive(Clone, Debug)]
pub struct TapResult {
    /// HTTP status code: 302 for a redirect.
    pub status: u16,
    /// The destination in the `Location` header.
    pub location: Option<String>,
    /// The rolling key in the destination's query, as received.
    pub rk: Option<String>,
    /// `name=value` of the cookie that was set, in the form that a browser sends back.
    pub cookie: Option<String>,
    /// The complete response, to look at headers and body.
    pub answer: Answer,
}

/// Sends a request and reads the complete response.
pub trait Answering {
    /// The complete response.
    ///
    /// # Panics
    ///
    /// When none comes.
    fn answer(self) -> impl Future<Output = Answer> + Send;
}

impl Answering for RequestBuilder {
    async fn answer(self) -> Answer {
        self.try_answer().await.expect("the service answers")
    }
}

/// Like [`Answering`], for tests in which a service may be gone.
pub trait TryAnswering {
    /// The complete response, or the error if none comes.
    fn try_answer(self) -> impl Future<Output = reqwest::Result<Answer>> + Send;
}

impl TryAnswering for RequestBuilder {
    async fn try_answer(self) -> reqwest::Result<Answer> {
        let (client, request) = self.build_split();
        let request = request?;
        let (method, url) = (request.method().clone(), request.url().clone());
        let response = client.execute(request).await?;
        let answer = Answer {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            body: response.text().await?,
        };
        problems::check(&method, &url, &answer);
        Ok(answer)
    }
}

impl Answer {
    /// The value of a header; `None` unless it was sent exactly once.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        let value = values.next()?.to_str().ok()?;
        values.next().is_none().then_some(value)
    }

    /// The body as JSON.
    ///
    /// # Panics
    ///
    /// When it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.body))
    }

    /// The JSON body of a response that must have this status.
    ///
    /// # Panics
    ///
    /// When it has another status.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        if self.body.is_empty() {
            Value::Null
        } else {
            self.json()
        }
    }
}

impl TapResult {
    /// Evaluates the response to a tap.
    pub fn of(answer: Answer) -> Self {
        let location = answer.header("location").map(str::to_owned);
        let target = location
            .as_deref()
            .and_then(|text| url::Url::parse(text).ok());
        let rk = target.and_then(|url| {
            url.query_pairs()
                .find(|(name, _)| name == "rk")
                .map(|(_, value)| value.into_owned())
        });
        let cookie = answer
            .header("set-cookie")
            .and_then(|cookie| cookie.split(';').next())
            .map(str::to_owned);
        Self {
            status: answer.status,
            location,
            rk,
            cookie,
            answer,
        }
    }

    /// The rolling key of a tap that must have got one.
    ///
    /// # Panics
    /// When there is none.
    #[track_caller]
    pub fn key(&self) -> &str {
        self.rk
            .as_deref()
            .unwrap_or_else(|| panic!("no rolling key: {:?}", self.answer))
    }
}

/// The response to a request, which is repeated as long as an overloaded service refuses it.
async fn unrefused<F: Future<Output = Answer> + Send>(ask: impl Fn() -> F + Send + Sync) -> Answer {
    eventually("the service takes the request", async || {
        let answer = ask().await;
        if answer.status != 503 {
            return Some(answer);
        }
        assert_eq!(answer.header("retry-after"), Some("1"));
        None
    })
    .await
}

/// A rolling key in the form that clients send.
pub fn base64(rk: &str) -> String {
    STANDARD.encode(rk)
}

impl Client {
    /// A client of the service at `base` (`http://HOST:PORT`).
    pub fn new(base: impl Into<String>, admin_token: impl Into<String>) -> Self {
        // The first caller installs it. Clients of tests do not use TLS, but cannot be created
        // without it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .user_agent(AGENT)
            // Otherwise each client would read all certificates of the system.
            .tls_certs_only([])
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .pool_idle_timeout(KEPT_IDLE)
            .build()
            .expect("a client needs nothing that can fail");
        Self {
            http,
            base: base.into(),
            admin_token: admin_token.into(),
        }
    }

    /// The same client with separate connections.
    #[must_use]
    pub fn another(&self) -> Self {
        Self::new(self.base.clone(), self.admin_token.clone())
    }

    /// Scheme, host and port of the service.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Host and port of the service.
    pub fn authority(&self) -> &str {
        self.base.trim_start_matches("http://")
    }

    /// The token that the admin API accepts.
    pub fn admin_token(&self) -> &str {
        &self.admin_token
    }

    /// A request for a path, or for an absolute URL of the service.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        if path.starts_with("http") {
            return self.http.request(method, path);
        }
        let request = self.http.request(method, format!("{}{path}", self.base));
        // Paths outside of the service's routes belong to URL templates.
        let routes = ["/t/", "/v2/", "/admin/", "/metrics", "/health", "/ready"];
        if on_templates() && !routes.iter().any(|route| path.starts_with(route)) {
            return request.header("host", TEMPLATE_HOST);
        }
        request
    }

    /// A GET request for a path.
    pub fn get(&self, path: &str) -> RequestBuilder {
        self.request(Method::GET, path)
    }

    /// A HEAD request for a path.
    pub fn head(&self, path: &str) -> RequestBuilder {
        self.request(Method::HEAD, path)
    }

    /// A POST request for a path.
    pub fn post(&self, path: &str) -> RequestBuilder {
        self.request(Method::POST, path)
    }

    /// A POST of these fields, in the encoding of a browser's form.
    pub fn post_form(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let mut body = url::form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(fields);
        self.post(path)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body.finish())
    }

    /// A request to the admin API with its token; `path` is the part after `/admin/v1`.
    pub fn admin_request(&self, method: Method, path: &str) -> RequestBuilder {
        self.request(method, &format!("/admin/v1{path}"))
            .bearer_auth(&self.admin_token)
    }

    /// Calls the admin API; `path` is the part after `/admin/v1`, and `null` sends no body.
    ///
    /// Test services have loopback addresses, which are never proved. So a call that would write
    /// such an address to chips confirms that, unless its body has `allow_unproved_address` itself.
    pub async fn admin(&self, method: Method, path: &str, mut body: Value) -> Answer {
        if method == Method::POST
            && ["/encodings", "/encoding-runs", "/factory-orders", "/labels"].contains(&path)
            && let Some(body) = body.as_object_mut()
        {
            let allow = body.entry("allow_unproved_address");
            allow.or_insert(Value::Bool(true));
        }
        let request = self.admin_request(method, path);
        if body.is_null() {
            request.answer().await
        } else {
            request.json(&body).answer().await
        }
    }

    /// Reads an existing resource from the admin API.
    pub async fn admin_get(&self, path: &str) -> Value {
        self.admin(Method::GET, path, Value::Null).await.expect(200)
    }

    /// Creates a resource through the admin API.
    pub async fn admin_create(&self, path: &str, body: Value) -> Value {
        self.admin(Method::POST, path, body).await.expect(201)
    }

    /// Changes a resource through the admin API, by a merge patch.
    pub async fn admin_patch(&self, path: &str, changes: Value) -> Value {
        self.admin(Method::PATCH, path, changes).await.expect(200)
    }

    /// The id of the newest interaction, real or simulated.
    ///
    /// # Panics
    /// When there is none.
    pub async fn last_interaction(&self) -> i64 {
        let page = self.admin_get("/interactions?simulated=all&limit=1").await;
        page["items"][0]["id"].as_i64().expect("an interaction")
    }

    /// The metrics in the form that Prometheus scrapes.
    pub async fn metrics(&self) -> String {
        let request = self.get("/metrics").bearer_auth(&self.admin_token);
        let answer = request.answer().await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body
    }

    /// The number of taps that the metrics count for this reason.
    pub async fn taps(&self, reason: &str) -> u64 {
        let metrics = self.metrics().await;
        let start = format!("tapdesk_taps_total{{reason=\"{reason}\",");
        let lines = metrics.lines().filter(|line| line.starts_with(&start));
        let counts = lines.filter_map(|line| line.rsplit_once(' '));
        counts
            .map(|(_, count)| count.parse::<u64>().expect("a count"))
            .sum()
    }

    /// Taps: opens a tag's URL, given completely or as its path and query.
    pub async fn tap(&self, url: &str) -> TapResult {
        TapResult::of(self.get(url).answer().await)
    }

    /// Taps as one of many visitors: PostgreSQL may have no connection for all of them in time.
    pub async fn tap_in_crowd(&self, url: &str) -> TapResult {
        TapResult::of(unrefused(|| self.get(url).answer()).await)
    }

    /// Opens a one-time URL so often that `alert.copied_url` is due: a tap that the service could not
    /// record counts for nothing, so each one is repeated until it is taken.
    pub async fn open_as_copied(&self, url: &str) {
        for _ in 0..12 {
            assert_eq!(self.tap_in_crowd(url).await.status, 302, "{url}");
        }
    }

    /// Taps with a browser that has a cookie.
    pub async fn tap_with_cookie(&self, url: &str, cookie: &str) -> TapResult {
        TapResult::of(self.get(url).header("cookie", cookie).answer().await)
    }

    /// The payload for a rolling key as received: an object, or `[]`.
    pub async fn payload(&self, rk: &str) -> Value {
        self.payload_answer(&base64(rk)).await.expect(200)
    }

    /// The [payload](Self::payload), as one of many callers.
    pub async fn payload_in_crowd(&self, rk: &str) -> Value {
        let path = format!("/v2/interactions/rk_payload?rk={}", base64(rk));
        let answer = unrefused(|| self.get(&path).answer()).await;
        answer.expect(200)
    }

    /// The response to a payload call with this text as `rk`, which must need no escaping.
    pub async fn payload_answer(&self, rk: &str) -> Answer {
        self.get(&format!("/v2/interactions/rk_payload?rk={rk}"))
            .answer()
            .await
    }

    /// Updates variables with a rolling key as received.
    pub async fn update(&self, rk: &str, data: Value) -> Answer {
        self.update_request(rk, &data).answer().await
    }

    /// Makes an [update](Self::update), as one of many callers.
    pub async fn update_in_crowd(&self, rk: &str, data: &Value) -> Answer {
        unrefused(|| self.update_request(rk, data).answer()).await
    }

    /// The request of an [update](Self::update).
    pub fn update_request(&self, rk: &str, data: &Value) -> RequestBuilder {
        self.post("/v2/interactions/data")
            .json(&json!({"rolling_key": base64(rk), "data": data}))
    }

    /// Sends this record to the update operation.
    pub async fn update_record(&self, record: &Value) -> Answer {
        self.post("/v2/interactions/data")
            .json(record)
            .answer()
            .await
    }
}
