//! Requests to the subject. An answer of any status is no error, and redirects are not followed.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tapdesk_service::client::{self, Limits};
use ureq::http::{HeaderMap, Method, Request, Response};
use ureq::{Agent, AsSendBody, Body, Timeout};
use url::Url;

/// Time limits of requests. A service that needs longer has a problem that a visitor notices.
const LIMITS: Limits = Limits {
    connect: Duration::from_secs(5),
    answer: Duration::from_secs(30),
};
/// The largest body that is read, in bytes: more than any page of a verifier has.
const BODY_MAX: u64 = 4 * 1024 * 1024;

/// Requests in a row without an answer in time, after which no more are sent. Otherwise a run with
/// a subject that hangs takes most of an hour.
const TIMEOUTS_MAX: u32 = 3;

/// How long a run waits for a subject that limits requests, in seconds. Limiters count by the minute.
const WAITED_MAX: u64 = 120;

/// A client without cookies, so that each request is one of a new visitor.
#[derive(Clone)]
pub(super) struct Web {
    agent: Agent,
    /// The requests without an answer in time since the last answer.
    timeouts: Arc<AtomicU32>,
    /// The seconds for which requests have waited, because the subject limits them.
    waited: Arc<AtomicU64>,
}

/// An answer, with its body as text.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

/// Answers to `count` requests that are sent at the same time, each from a thread of its own.
pub(super) fn at_once<T: Send>(count: usize, send: impl Fn() -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let requests: Vec<_> = (0..count).map(|_| scope.spawn(&send)).collect();
        let answers = requests.into_iter();
        answers.filter_map(|request| request.join().ok()).collect()
    })
}

impl Web {
    /// A client for the host of `url`.
    pub(super) fn new(url: &Url) -> Self {
        Self::limited(url, LIMITS)
    }

    fn limited(url: &Url, limits: Limits) -> Self {
        // A body of one byte now and then has a limit, too.
        let agent = client::agent(url.as_str(), limits).timeout_recv_body(Some(limits.answer));
        Self {
            agent: agent.build().new_agent(),
            timeouts: Arc::default(),
            waited: Arc::default(),
        }
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
        self.patiently(request(method, url, headers).body(())?)
    }

    /// A POST request with a body.
    pub(super) fn post(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Answer, ureq::Error> {
        self.patiently(request(Method::POST, url, headers).body(body)?)
    }

    /// Sends a request, and once more if it was one too many for a limiter: the rules that are checked
    /// hold below the limit.
    fn patiently(&self, request: Request<impl AsSendBody + Clone>) -> Result<Answer, ureq::Error> {
        let again = request.clone();
        let answer = self.run(request)?;
        let Some(seconds) = answer.asks_to_wait() else {
            return Ok(answer);
        };
        if self.waited.fetch_add(seconds, Ordering::Relaxed) + seconds > WAITED_MAX {
            return Ok(answer);
        }
        thread::sleep(Duration::from_secs(seconds));
        self.run(again)
    }

    fn run(&self, request: Request<impl AsSendBody>) -> Result<Answer, ureq::Error> {
        if self.timeouts.load(Ordering::Relaxed) >= TIMEOUTS_MAX {
            let reason = format!(
                "Not asked: it gave no answer in time to {TIMEOUTS_MAX} requests in a row."
            );
            return Err(ureq::Error::Other(reason.into()));
        }
        let answer = self.agent.run(request).and_then(answer);
        if let Err(ureq::Error::Timeout(_)) = &answer {
            self.timeouts.fetch_add(1, Ordering::Relaxed);
        } else {
            self.timeouts.store(0, Ordering::Relaxed);
        }
        answer
    }
}

/// Whether an error shows that a server is there, which answers in a way that cannot be read.
pub(super) fn is_wrong_answer(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Protocol(_) | ureq::Error::BodyExceedsLimit(_) => true,
        ureq::Error::Io(error) => {
            let kind = error.kind();
            matches!(
                kind,
                ErrorKind::UnexpectedEof
                    | ErrorKind::ConnectionReset
                    | ErrorKind::ConnectionAborted
                    | ErrorKind::BrokenPipe
            )
        }
        _ => false,
    }
}

/// The sentence about a request without an answer.
pub(super) fn unanswered(error: &ureq::Error) -> String {
    match error {
        // The sentence of `run`: the default connectors never make this error.
        ureq::Error::Other(reason) => reason.to_string(),
        _ => format!("It gives no answer: {error}."),
    }
}

/// The sentence about a `subject` that cannot be checked, because its first request got no answer.
pub(super) fn unusable(subject: &str, error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(Timeout::RecvResponse | Timeout::RecvBody) => {
            let seconds = LIMITS.answer.as_secs();
            format!("{subject} does not answer within {seconds} seconds.")
        }
        _ if is_wrong_answer(error) => {
            format!("{subject} gives an answer that cannot be read: {error}.")
        }
        _ => format!("{subject} cannot be reached: {error}."),
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
    let body = body.limit(BODY_MAX).read_to_vec()?;
    Ok(Answer {
        status: response.status().as_u16(),
        headers: response.headers().clone(),
        // A body that is no text is an answer, too, whatever its media type says.
        body: String::from_utf8_lossy(&body).into_owned(),
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

    /// The seconds after which a limiter allows another request.
    fn asks_to_wait(&self) -> Option<u64> {
        let seconds = self.header("retry-after").filter(|_| self.status == 429)?;
        seconds
            .parse()
            .ok()
            .filter(|seconds| *seconds <= WAITED_MAX)
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
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    use super::*;

    /// A server that answers nothing by itself, and its URL.
    fn listener() -> (TcpListener, Url) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        (listener, Url::parse(&url).unwrap())
    }

    fn impatient(url: &Url) -> Web {
        let answer = Duration::from_millis(50);
        Web::limited(url, Limits { answer, ..LIMITS })
    }

    #[test]
    fn a_subject_that_hangs_gets_no_more_requests() {
        let (_listener, url) = listener();
        let web = impatient(&url);
        for _ in 0..TIMEOUTS_MAX {
            let error = web.get(url.as_str()).unwrap_err();
            assert!(matches!(error, ureq::Error::Timeout(_)), "{error}");
            assert_eq!(
                unusable("It", &error),
                "It does not answer within 30 seconds."
            );
        }
        let error = web.get(url.as_str()).unwrap_err();
        let sentence = unanswered(&error);
        assert!(sentence.starts_with("Not asked: "), "{sentence}");
    }

    #[test]
    fn a_body_without_an_end_is_no_answer() {
        let (listener, url) = listener();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let beginning = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx";
            stream.write_all(beginning).unwrap();
            // Open until the thread is joined.
            stream
        });
        let error = impatient(&url).get(url.as_str()).unwrap_err();
        assert!(matches!(error, ureq::Error::Timeout(_)), "{error}");
        drop(server.join());
    }

    #[test]
    fn a_request_that_was_one_too_many_is_sent_once_more() {
        const OK: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        for (wait, statuses) in [("0", vec![200, 200]), ("121", vec![429, 200])] {
            let (listener, url) = listener();
            let limited = format!(
                "HTTP/1.1 429 Too Many Requests\r\nretry-after: {wait}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
            );
            let answers = [limited, OK.to_owned(), OK.to_owned()];
            thread::spawn(move || {
                for answer in answers {
                    let (stream, _) = listener.accept().unwrap();
                    let lines = BufReader::new(&stream).lines().map_while(Result::ok);
                    let head = lines.take_while(|line| !line.is_empty()).count();
                    assert!(head > 0);
                    (&stream).write_all(answer.as_bytes()).unwrap();
                }
            });
            let web = Web::new(&url);
            let found: Vec<u16> = (0..2)
                .map(|_| web.get(url.as_str()).unwrap().status)
                .collect();
            assert_eq!(found, statuses, "after {wait} seconds");
        }
    }

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
