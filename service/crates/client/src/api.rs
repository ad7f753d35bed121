//! Requests to the admin API.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, ErrorKind};
use std::iter;
use std::time::Duration;

use domain::admin_token::AdminToken;
use serde_json::Value;
use ureq::http::header::{AUTHORIZATION, CONTENT_TYPE};
use ureq::http::uri::PathAndQuery;
use ureq::http::{HeaderMap, HeaderValue, Request, Response, StatusCode, request};
use ureq::{Agent, AsSendBody, Body, BodyReader};

use crate::error::{Error, Problem};

/// The path of the admin API.
const ADMIN: &str = "/admin/v1";
/// The header with the name of the program, for the audit log.
const PROGRAM: &str = "tapdesk-program";
/// The service's sentence about a path without a route. A listener without the admin API says it about
/// each of its paths.
const NO_ROUTE: &str = "There is no such route.";
/// The number of items that a page of a list has if all are read.
const AT_ONCE: u32 = 500;

/// A running service, with a token for its admin API. Calls block.
///
/// A `path` of the methods begins after `/admin/v1`.
pub struct Client {
    agent: Agent,
    base: String,
    token: AdminToken,
    program: Program,
}

/// The program that calls a service.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name in the audit log.
    pub name: &'static str,
    /// The origin of its token, for the message that the service does not accept it.
    pub token_from: String,
    /// Another sentence in the message that no service answers: how to start or choose one.
    pub way_out: &'static str,
}

/// The lines of an event stream.
pub type Events = BufReader<BodyReader<'static>>;

/// Adds the token to a request to the admin API, and the name of the program unless the request has
/// one. A request to another path gets neither.
pub fn authorize(headers: &mut HeaderMap, path: &str, token: &AdminToken, program: &'static str) {
    if !path.starts_with("/admin/") {
        return;
    }
    if let Ok(mut value) = HeaderValue::try_from(format!("Bearer {}", token.expose())) {
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
        let program = HeaderValue::from_static(program);
        headers.entry(PROGRAM).or_insert(program);
    }
}

impl Client {
    /// A client of the service at the URL `base`, which has no slash at its end.
    pub fn new(agent: Agent, base: String, token: AdminToken, program: Program) -> Self {
        Self {
            agent,
            base,
            token,
            program,
        }
    }

    /// The URL of the service, without a slash at its end. Its public operations are below it, too.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The settings of requests, to give one request other time limits.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Requests a resource with GET, and reads its JSON.
    pub fn get(&self, path: &str) -> Result<Value, Error> {
        json(self.fetch(path)?)
    }

    /// Gets a resource without reading the answer's body.
    pub fn fetch(&self, path: &str) -> Result<Response<Body>, Error> {
        self.call(Request::get(admin(path)), ())
    }

    /// Gets all items of a list. `path` has a query, at least an empty one.
    pub fn list(&self, path: &str) -> Result<Vec<Value>, Error> {
        let mut items = Vec::new();
        for page in self.pages(path, AT_ONCE) {
            items.extend(page?);
        }
        Ok(items)
    }

    /// The pages of a list, of at most `limit` items. Each is requested when it is needed. `path`
    /// has a query, at least an empty one.
    pub fn pages(
        &self,
        path: &str,
        limit: u32,
    ) -> impl Iterator<Item = Result<Vec<Value>, Error>> + use<'_> {
        let path = format!("{path}&limit={limit}");
        let mut next = Some(String::new());
        iter::from_fn(move || {
            let after = next.take()?;
            let page = self.get(&format!("{path}{after}"));
            Some(page.map(|mut page| {
                next = page["next"].as_str().map(|next| format!("&after={next}"));
                match page.get_mut("items").map(Value::take) {
                    Some(Value::Array(items)) => items,
                    _ => Vec::new(),
                }
            }))
        })
    }

    /// Sends a POST request and returns the JSON answer.
    pub fn post(&self, path: &str, body: &Value) -> Result<Value, Error> {
        json(self.submit(path, body)?)
    }

    /// Sends a POST request without reading the answer's body.
    pub fn submit(&self, path: &str, body: &Value) -> Result<Response<Body>, Error> {
        let request = Request::post(admin(path)).header(CONTENT_TYPE, "application/json");
        self.call(request, body.to_string())
    }

    /// Posts a file of this media type, piece by piece, without reading the answer's body.
    pub fn upload(&self, path: &str, kind: &str, file: File) -> Result<Response<Body>, Error> {
        self.call(Request::post(admin(path)).header(CONTENT_TYPE, kind), file)
    }

    /// Deletes a resource and returns the JSON answer, `null` if it is empty.
    pub fn delete(&self, path: &str) -> Result<Value, Error> {
        json(self.call(Request::delete(admin(path)), ())?)
    }

    /// The stream of events: of simulated tags, of real ones, or of both. With `last`, the id of an
    /// event, it begins with the later taps. It breaks if it is silent for longer than `silence`.
    pub fn events(
        &self,
        simulated: Option<bool>,
        last: Option<&str>,
        silence: Option<Duration>,
    ) -> Result<Events, Error> {
        let world = simulated.map_or_else(|| "all".to_owned(), |simulated| simulated.to_string());
        let mut request = Request::get(admin(&format!("/events?simulated={world}")));
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let request = request
            .body(())
            .map_err(|error| self.no_answer(error.into()))?;
        let request = self.agent.configure_request(request);
        let response = self.accepted(request.timeout_per_read(silence).build())?;
        Ok(BufReader::new(response.into_body().into_reader()))
    }

    /// Sends a request, whose URI is a path and a query, and returns the answer of any status.
    pub fn send(&self, request: Request<impl AsSendBody>) -> Result<Response<Body>, ureq::Error> {
        let (mut parts, body) = request.into_parts();
        let path = parts.uri.path_and_query();
        let path = path.map_or("/", PathAndQuery::as_str);
        authorize(&mut parts.headers, path, &self.token, self.program.name);
        parts.uri = format!("{}{path}", self.base)
            .parse()
            .map_err(|_| ureq::Error::BadUri(self.base.clone()))?;
        self.agent.run(Request::from_parts(parts, body))
    }

    /// Like [`Self::send`], but an answer that is no success is an error.
    fn accepted(&self, request: Request<impl AsSendBody>) -> Result<Response<Body>, Error> {
        let response = self.send(request).map_err(|error| self.no_answer(error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let problem = Problem::read(response);
        let message = self.refusal(&problem);
        Err(Error::Refused { message, problem })
    }

    fn call(
        &self,
        request: request::Builder,
        body: impl AsSendBody,
    ) -> Result<Response<Body>, Error> {
        let request = request
            .body(body)
            .map_err(|error| self.no_answer(error.into()))?;
        self.accepted(request)
    }

    fn refusal(&self, problem: &Problem) -> String {
        let base = &self.base;
        match (problem.status, &problem.detail) {
            (StatusCode::UNAUTHORIZED, _) => format!(
                "The service at {base} does not accept the admin token from {}.",
                self.program.token_from
            ),
            (StatusCode::NOT_FOUND, Some(detail)) if detail == NO_ROUTE => format!(
                "The service at {base} has no admin API there. Start it with --expose-admin, or on a loopback address."
            ),
            (_, Some(detail)) => detail.clone(),
            (status, None) => {
                format!(
                    "The service at {base} answered with status {}.",
                    status.as_u16()
                )
            }
        }
    }

    fn no_answer(&self, error: ureq::Error) -> Error {
        let base = &self.base;
        let message = match &error {
            ureq::Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused => {
                format!("No service answers at {base}. {}", self.program.way_out)
            }
            error => format!("The service at {base} cannot be reached: {error}."),
        };
        Error::Unreachable {
            message,
            source: Box::new(error),
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(&self.base).finish()
    }
}

fn admin(path: &str) -> String {
    format!("{ADMIN}{path}")
}

fn json(mut response: Response<Body>) -> Result<Value, Error> {
    if response.status() == StatusCode::NO_CONTENT {
        return Ok(Value::Null);
    }
    let body = response.body_mut().with_config().limit(u64::MAX);
    body.read_json()
        .map_err(|error| Error::Unexpected(Box::new(error)))
}
