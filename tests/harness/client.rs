//! Whoever calls a service, over real HTTP.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::fixtures::{TEMPLATE_HOST, on_templates};
use crate::problems;

/// How long a connection is kept for the next request: less than the service keeps it, which would
/// otherwise close it under a request that comes after a long pause of the test.
const KEPT_IDLE: Duration = Duration::from_secs(5);

/// Calls one service. It follows no redirects, keeps no cookies, and says no
/// `User-Agent` of its own: every header is the test's.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    admin_token: String,
}

/// A complete answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as text.
    pub body: String,
}

/// The result of a tap.
#[derive(Clone, Debug)]
pub struct TapResult {
    /// The status: 302 for a redirect.
    pub status: u16,
    /// Where it leads.
    pub location: Option<String>,
    /// The rolling key in its query, as received.
    pub rk: Option<String>,
    /// `name=value` of the cookie that was set, as a browser sends it back.
    pub cookie: Option<String>,
    /// The whole answer.
    pub answer: Answer,
}

/// Sends a request and reads the whole answer.
pub trait Answering {
    /// The answer.
    ///
    /// # Panics
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
    /// The answer, if one comes.
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
    /// A header's value, if it was sent once.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        let value = values.next()?.to_str().ok()?;
        values.next().is_none().then_some(value)
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// When it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.body))
    }

    /// The body as JSON of an answer that has this status.
    ///
    /// # Panics
    /// When the status is another one.
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
    /// Reads an answer to a tap.
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

/// A rolling key as clients send it.
pub fn base64(rk: &str) -> String {
    STANDARD.encode(rk)
}

impl Client {
    /// A client of the service at `base` (`http://HOST:PORT`).
    pub fn new(base: impl Into<String>, admin_token: impl Into<String>) -> Self {
        // Whoever is first installs it. Clients of tests speak no TLS, but are made with it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
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

    /// The same client with connections of its own.
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
        // What is no route of the service is at the place of a URL template.
        let routes = ["/t/", "/v2/", "/admin/", "/metrics", "/health", "/ready"];
        if on_templates() && !routes.iter().any(|route| path.starts_with(route)) {
            return request.header("host", TEMPLATE_HOST);
        }
        request
    }

    /// A GET.
    pub fn get(&self, path: &str) -> RequestBuilder {
        self.request(Method::GET, path)
    }

    /// A HEAD.
    pub fn head(&self, path: &str) -> RequestBuilder {
        self.request(Method::HEAD, path)
    }

    /// A POST.
    pub fn post(&self, path: &str) -> RequestBuilder {
        self.request(Method::POST, path)
    }

    /// A POST of these fields as a browser sends a form.
    pub fn post_form(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let mut body = url::form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(fields);
        self.post(path)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body.finish())
    }

    /// A request to the admin API with its token; `path` begins after `/admin/v1`.
    pub fn admin_request(&self, method: Method, path: &str) -> RequestBuilder {
        self.request(method, &format!("/admin/v1{path}"))
            .bearer_auth(&self.admin_token)
    }

    /// A call of the admin API; `path` begins after `/admin/v1`, `null` sends no body.
    pub async fn admin(&self, method: Method, path: &str, body: Value) -> Answer {
        let request = self.admin_request(method, path);
        if body.is_null() {
            request.answer().await
        } else {
            request.json(&body).answer().await
        }
    }

    /// Reads from the admin API what must be there.
    pub async fn admin_get(&self, path: &str) -> Value {
        self.admin(Method::GET, path, Value::Null).await.expect(200)
    }

    /// Creates something through the admin API.
    pub async fn admin_create(&self, path: &str, body: Value) -> Value {
        self.admin(Method::POST, path, body).await.expect(201)
    }

    /// Changes something through the admin API, by a merge patch.
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

    /// The metrics, as Prometheus reads them.
    pub async fn metrics(&self) -> String {
        let request = self.get("/metrics").bearer_auth(&self.admin_token);
        let answer = request.answer().await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body
    }

    /// How many taps were recorded with this reason, as the metrics count them.
    pub async fn taps(&self, reason: &str) -> u64 {
        let metrics = self.metrics().await;
        let start = format!("tapdesk_taps_total{{reason=\"{reason}\"}} ");
        let line = metrics.lines().find_map(|line| line.strip_prefix(&start));
        line.map_or(0, |count| count.parse().expect("a count"))
    }

    /// A tap: opens a tag's URL, given whole or as its path and query.
    pub async fn tap(&self, url: &str) -> TapResult {
        TapResult::of(self.get(url).answer().await)
    }

    /// A tap by a browser that holds a cookie.
    pub async fn tap_with_cookie(&self, url: &str, cookie: &str) -> TapResult {
        TapResult::of(self.get(url).header("cookie", cookie).answer().await)
    }

    /// The payload for a rolling key as received: an object, or `[]`.
    pub async fn payload(&self, rk: &str) -> Value {
        self.payload_answer(&base64(rk)).await.expect(200)
    }

    /// The answer to a payload call with this text as `rk`, which must need no escaping.
    pub async fn payload_answer(&self, rk: &str) -> Answer {
        self.get(&format!("/v2/interactions/rk_payload?rk={rk}"))
            .answer()
            .await
    }

    /// Updates variables with a rolling key as received.
    pub async fn update(&self, rk: &str, data: Value) -> Answer {
        self.update_request(rk, &data).answer().await
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
