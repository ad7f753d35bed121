//! Why a call failed.

use std::fmt;

use serde_json::Value;
use ureq::Body;
use ureq::http::{Response, StatusCode};

/// The largest error answer that is read, in bytes.
pub const PROBLEM_MAX: usize = 10 * 1024 * 1024;

/// Why a call of a service failed: a sentence for people, with the way out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No answer came from the service.
    #[error("{message}")]
    Unreachable {
        /// The sentence for people.
        message: String,
        /// The cause on the way to the service.
        source: Box<ureq::Error>,
    },
    /// The service refused the request.
    #[error("{message}")]
    Refused {
        /// The sentence for people.
        message: String,
        /// The service's answer, which explains the problem.
        problem: Problem,
    },
    /// The answer is not JSON.
    #[error("The service's answer is not what it should be. Is it another program?")]
    Unexpected(#[source] Box<ureq::Error>),
}

/// The answer to a refused request (RFC 9457). Its `Display` is the service's sentence or, without
/// one, the status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The HTTP status of the response.
    pub status: StatusCode,
    /// The identifier of the reason, for programs.
    pub code: Option<String>,
    /// The service's sentence for people.
    pub detail: Option<String>,
}

impl Problem {
    /// Reads the body of an answer with an error status.
    pub fn read(mut response: Response<Body>) -> Self {
        let body = response.body_mut().with_config().limit(PROBLEM_MAX as u64);
        let body = body.read_to_vec().unwrap_or_default();
        Self::parse(response.status(), &body)
    }

    /// Parses the body of an answer with an error status. That of another program has neither code
    /// nor detail.
    ///
    /// ```
    /// use tapdesk_service_client::Problem;
    /// use ureq::http::StatusCode;
    ///
    /// let body = br#"{"status": 409, "code": "slug_taken", "detail": "There is such a tag."}"#;
    /// let problem = Problem::parse(StatusCode::CONFLICT, body);
    /// assert_eq!(problem.code.as_deref(), Some("slug_taken"));
    /// assert_eq!(problem.to_string(), "There is such a tag.");
    ///
    /// let problem = Problem::parse(StatusCode::BAD_GATEWAY, b"<html>");
    /// assert_eq!(problem.to_string(), "The service answered 502.");
    /// ```
    pub fn parse(status: StatusCode, body: &[u8]) -> Self {
        let problem: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |name: &str| problem[name].as_str().map(str::to_owned);
        Self {
            status,
            code: text("code"),
            detail: text("detail"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.detail {
            Some(detail) => f.write_str(detail),
            None => write!(f, "The service answered {}.", self.status.as_u16()),
        }
    }
}
