//! A remote service, over HTTP with its admin token.

use std::io::{ErrorKind, Read as _};
use std::thread;
use std::time::Duration;

use axum::http::header::{ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use axum::http::{Request, Response, StatusCode};
use tapdesk_service::admin_token::AdminToken;
use tapdesk_service::client::address::Unfit;
use tapdesk_service::client::{
    self, Client, Cursor, Events, Limits, PROBLEM_MAX, Problem, Program, agent,
};
use tapdesk_service::field_error::FieldError;
use tokio::sync::mpsc;
use ureq::Body;
use ureq::tls::{RootCerts, TlsConfig};
use url::Url;

use super::{
    ANSWER_MAX, BROKEN_OFF, PIECES, PROGRAM, TapHost, UNREACHABLE, forwarded, problem, problem_as,
};
use crate::download::Arriving;

/// Time limits of requests.
const LIMITS: Limits = Limits {
    connect: Duration::from_secs(10),
    answer: Duration::from_mins(2),
};
/// How many bytes of a file are read at once.
const PIECE: usize = 64 * 1024;
/// Time limit of a check whether the service answers. A handshake over a slow mobile network takes
/// about a second.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// How long an event stream may be silent. The service sends something at least every 15 seconds.
const SILENCE: Duration = Duration::from_mins(1);

/// A remote service with our token for it. Calls block.
#[derive(Debug)]
pub struct RemoteService {
    client: Client,
}

impl RemoteService {
    /// A service at `base` (see [`address`]).
    pub fn new(base: String, token: AdminToken) -> Self {
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier);
        let agent = agent(&base, LIMITS).tls_config(tls.build());
        let program = Program {
            name: PROGRAM,
            token_from: "this connection".to_owned(),
            way_out: "Start it, or choose another connection.",
        };
        Self {
            client: Client::new(agent.build().new_agent(), base, token, program),
        }
    }

    /// Checks that the service answers and accepts the token. An `Err` names the field of a new
    /// connection that it concerns: `url` or `token`.
    pub fn check(&self) -> Result<(), FieldError> {
        // Every token may ask for its own rights: a colleague's may be limited to one product.
        let request = Request::get("/admin/v1/tokens/current").body(Vec::new());
        let request = request.map_err(|error| FieldError::of("url", error.to_string()))?;
        let base = self.client.base();
        let (field, why) = match self.request(request).status() {
            StatusCode::OK => return Ok(()),
            StatusCode::UNAUTHORIZED => (
                "token",
                format!("The service at {base} does not accept this token."),
            ),
            StatusCode::MISDIRECTED_REQUEST => (
                "url",
                format!(
                    "The service at {base} does not answer its admin API under this name. \
                     It can be allowed there with TAPDESK_HOSTS."
                ),
            ),
            StatusCode::BAD_GATEWAY => ("url", format!("The service at {base} does not answer.")),
            status => (
                "url",
                format!(
                    "{base} is not a Tapdesk service with an admin API: it answers {}.",
                    status.as_u16()
                ),
            ),
        };
        Err(FieldError::of(field, why))
    }

    /// Checks that the service answers at all. An `Err` is a sentence that says why it does not.
    pub(crate) fn answers(&self) -> Result<(), String> {
        let answered = match self.heartbeat() {
            // A kept-alive connection may have ended, so this error does not yet mean that the
            // service is down.
            Err(ureq::Error::Io(error)) if error.kind() != ErrorKind::ConnectionRefused => {
                self.heartbeat()
            }
            answered => answered,
        };
        match answered.map_err(|error| why(&error))? {
            status @ (StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT) => {
                Err(format!("The server before it answers {}.", status.as_u16()))
            }
            _ => Ok(()),
        }
    }

    /// The status of a response, with the short time limit [`HEARTBEAT`].
    fn heartbeat(&self) -> Result<StatusCode, ureq::Error> {
        let request = Request::get("/health").body(())?;
        let request = self.client.agent().configure_request(request);
        let request = request.timeout_global(Some(HEARTBEAT)).build();
        let response = self.client.send(request)?;
        let status = response.status();
        // A body that is read to its end lets the next request reuse the connection.
        let _ = response
            .into_body()
            .into_with_config()
            .limit(PROBLEM_MAX as u64)
            .read_to_vec();
        Ok(status)
    }

    /// Sends a request and reads the whole response.
    pub(super) fn request(&self, request: Request<Vec<u8>>) -> Response<Vec<u8>> {
        match self.send(request) {
            Ok(response) => whole(response),
            Err(error) => {
                let detail = unanswered(self.client.base(), &error);
                problem_as(StatusCode::BAD_GATEWAY, Some(UNREACHABLE), &detail)
            }
        }
    }

    /// A file as it arrives.
    pub(super) fn file(&self, request: Request<Vec<u8>>) -> Result<Arriving, String> {
        let response = self
            .send(request)
            .map_err(|error| unanswered(self.client.base(), &error))?;
        if !response.status().is_success() {
            return Err(Problem::read(response).to_string());
        }
        let cursor = Cursor::of(response.headers());
        let (sender, pieces) = mpsc::channel(PIECES);
        let mut body = response.into_body().into_reader();
        let reader = thread::Builder::new().name("download".to_owned());
        let started = reader.spawn(move || {
            let mut piece = vec![0; PIECE];
            loop {
                let piece = match body.read(&mut piece) {
                    Ok(0) => return,
                    Ok(length) => Ok(piece[..length].to_vec()),
                    Err(_) => Err(BROKEN_OFF.to_owned()),
                };
                let is_last = piece.is_err();
                // If the download was stopped, nobody receives the pieces.
                if sender.blocking_send(piece).is_err() || is_last {
                    return;
                }
            }
        });
        started.map_err(|error| format!("The file cannot be read: {error}."))?;
        Ok(Arriving { pieces, cursor })
    }

    fn send(&self, request: Request<Vec<u8>>) -> Result<Response<Body>, ureq::Error> {
        let host = TapHost::of(&request);
        let (mut parts, body) = request.into_parts();
        parts.headers = forwarded(&parts);
        // The HTTP client sets the headers that concern the connection.
        for name in [
            ACCEPT_ENCODING,
            CONNECTION,
            CONTENT_LENGTH,
            TRANSFER_ENCODING,
        ] {
            parts.headers.remove(name);
        }
        if let Some(host) = host {
            parts.headers.insert(HOST, host);
        }
        if body.is_empty() {
            self.client.send(Request::from_parts(parts, ()))
        } else {
            self.client.send(Request::from_parts(parts, body))
        }
    }

    /// The stream of real and simulated events, line by line.
    pub(super) fn events(&self) -> Result<Events, client::Error> {
        self.client.events(None, None, Some(SILENCE))
    }
}

fn whole(response: Response<Body>) -> Response<Vec<u8>> {
    let (parts, body) = response.into_parts();
    let limit = u64::try_from(ANSWER_MAX).unwrap_or(u64::MAX);
    match body.into_with_config().limit(limit).read_to_vec() {
        Ok(body) => Response::from_parts(parts, body),
        Err(_) => problem(StatusCode::BAD_GATEWAY, "The response was incomplete."),
    }
}

fn unanswered(base: &str, error: &ureq::Error) -> String {
    format!("The service at {base} does not answer ({error}).")
}

/// A sentence that explains why no response came.
fn why(error: &ureq::Error) -> String {
    match error {
        ureq::Error::HostNotFound => "Its name has no address.".to_owned(),
        ureq::Error::Timeout(_) => "No answer came in time.".to_owned(),
        ureq::Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused => {
            "The connection was refused.".to_owned()
        }
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => {
            format!("The encrypted connection failed: {error}.")
        }
        error => format!("The connection failed: {error}."),
    }
}

/// The address of a remote service as it is stored: `https`, or `http` on this computer, without a
/// slash at its end. An `Err` is a sentence for people.
pub fn address(text: &str) -> Result<String, String> {
    let url = Url::parse(text.trim())
        .map_err(|_| "Enter a server URL such as https://tags.example.com.".to_owned())?;
    client::address::check(&url).map_err(|unfit| {
        let why = match unfit {
            Unfit::InClear => {
                "A service on another computer needs an https URL: \
                 its token would travel in clear otherwise."
            }
            Unfit::NotWeb => "A server URL begins with https://.",
        };
        why.to_owned()
    })?;
    let is_bare = url.query().is_none() && url.fragment().is_none();
    if !is_bare || !url.username().is_empty() || url.password().is_some() {
        return Err("A server URL has no user name, password, query or fragment.".to_owned());
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_computer_needs_https() {
        for (text, kept) in [
            ("https://tags.example.com/", "https://tags.example.com"),
            (
                " https://example.com/tapdesk/ ",
                "https://example.com/tapdesk",
            ),
            ("http://localhost:8787", "http://localhost:8787"),
            ("http://127.0.0.1:8787/", "http://127.0.0.1:8787"),
            ("http://[::1]:8787/", "http://[::1]:8787"),
        ] {
            assert_eq!(address(text).as_deref(), Ok(kept));
        }
        for text in [
            "",
            "tags.example.com",
            "http://tags.example.com",
            "http://192.168.1.4:8787",
            "http://localhost.example.com",
            "ftp://localhost/",
            "https://me:secret@tags.example.com",
            "https://tags.example.com/?a=b",
        ] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}
