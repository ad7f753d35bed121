//! Requests to the subject. An answer of any status is no error, and redirects are not followed.

use std::time::Duration;

use serde_json::Value;
use tapdesk_service::client::{self, Limits};
use ureq::http::{HeaderMap, Method, Request, Response};
use ureq::{Agent, Body};
use url::Url;

/// Time limits of requests. A service that needs longer has a problem that a visitor notices.
const LIMITS: Limits = Limits {
    connect: Duration::from_secs(5),
    answer: Duration::from_secs(30),
};
/// The largest body that is read, in bytes: more than any page of a verifier has.
const BODY_MAX: u64 = 4 * 1024 * 1024;

/// A client without cookies, so that each request is one of a new visitor.
#[derive(Clone)]
pub(super) struct Web(Agent);

/// An answer, with its body as text.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

impl Web {
    /// A client for the host of `url`.
    pub(super) fn new(url: &Url) -> Self {
        Self(client::agent(url.as_str(), LIMITS).build().new_agent())
    }

    pub(super) fn get(&self, url: &str) -> Result<Answer, ureq::Error> {
        self.call(Method::GET, url, &[])
    }

    /// A request without a body.
    pub(super) fn call(
        &self,
        method: Method,
        url: &str,
        headers: &[(&str, &str)],
    ) -> Result<Answer, ureq::Error> {
        answer(self.0.run(request(method, url, headers).body(())?)?)
    }

    /// A POST request with a body.
    pub(super) fn post(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Answer, ureq::Error> {
        answer(
            self.0
                .run(request(Method::POST, url, headers).body(body)?)?,
        )
    }
}

fn request(method: Method, url: &str, headers: &[(&str, &str)]) -> ureq::http::request::Builder {
    let request = Request::builder().method(method).uri(url);
    let headers = headers.iter();
    headers.fold(request, |request, (name, value)| {
        request.header(*name, *value)
    })
}

fn answer(mut response: Response<Body>) -> Result<Answer, ureq::Error> {
    let body = response.body_mut().with_config();
    let body = body.limit(BODY_MAX).lossy_utf8(true).read_to_string()?;
    Ok(Answer {
        status: response.status().as_u16(),
        headers: response.headers().clone(),
        body,
    })
}

impl Answer {
    /// The value of a header, if it is text.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body, or `null` if it is not JSON.
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// The destination of a redirect.
    pub(super) fn target(&self) -> Option<&str> {
        let is_redirect = (300..400).contains(&self.status);
        self.header("location").filter(|_| is_redirect)
    }

    /// Status and body in short, for a sentence.
    pub(super) fn shown(&self) -> String {
        let status = self.status;
        if self.body.is_empty() {
            return format!("{status} without a body");
        }
        let short: String = self.body.chars().take(SHOWN_MAX).collect();
        let more = if short.len() < self.body.len() {
            "..."
        } else {
            ""
        };
        format!("{status} {short}{more}")
    }
}

/// Characters of a body that a sentence quotes.
const SHOWN_MAX: usize = 80;

/// The rolling key in the query of a destination.
pub(super) fn rolling_key(target: &str) -> Option<String> {
    let target = Url::parse(target).ok()?;
    let mut query = target.query_pairs();
    let (_, key) = query.find(|(name, _)| name == "rk")?;
    Some(key.into_owned()).filter(|key| !key.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rolling_key_is_the_decoded_parameter() {
        let key = |target: &str| rolling_key(target);
        assert_eq!(
            key("https://a.example/?b=1&rk=x%2By").as_deref(),
            Some("x+y")
        );
        assert_eq!(key("https://a.example/?rk="), None);
        assert_eq!(key("https://a.example/#rk=1"), None);
    }
}
