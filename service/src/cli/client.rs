//! A client for the admin API of the running service.

use std::io::ErrorKind;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use serde_json::Value;
use tapdesk_service::admin_token::AdminToken;
use ureq::http::{Method, Request, Response};
use ureq::{Agent, AsSendBody, Body};
use url::Url;

use crate::options::{self, Installation};

/// Options for the service to call and the token to use.
#[derive(Args, Clone, Debug)]
pub(super) struct Connection {
    /// The URL of the running service. Default: the address in `TAPDESK_LISTEN`, or
    /// `http://127.0.0.1:8787`.
    #[arg(long, env = "TAPDESK_URL", value_name = "URL", global = true)]
    url: Option<String>,

    #[command(flatten)]
    installation: Installation,
}

/// A connection to the running service, with its token.
pub(super) struct Client {
    agent: Agent,
    base: String,
    token: AdminToken,
    token_from: String,
}

/// Time limit for the beginning of an answer. A backup first copies the whole database.
const PATIENCE: Duration = Duration::from_mins(10);

impl Connection {
    /// The URL of the service.
    pub(super) fn url(&self) -> String {
        self.url.clone().unwrap_or_else(|| {
            let listen = std::env::var("TAPDESK_LISTEN").ok();
            let listen = listen.and_then(|address| address.parse().ok());
            format!(
                "http://{}",
                options::reachable(listen.unwrap_or(options::LISTEN))
            )
        })
    }

    /// The options of this connection for another command; empty for the default connection.
    pub(super) fn as_arguments(&self) -> String {
        let url = self.url.as_ref().map(|url| format!(" --url {url}"));
        url.unwrap_or_default() + &self.installation.as_arguments()
    }

    /// The installation whose token is used.
    pub(super) fn installation(&self) -> &Installation {
        &self.installation
    }

    /// Connects with the installation's admin token.
    pub(super) fn open(&self) -> Result<Client> {
        let named = self.url();
        let url = Url::parse(&named)
            .ok()
            .filter(|url| url.has_host() && matches!(url.scheme(), "http" | "https"))
            .with_context(|| format!("{named} is no http or https URL."))?;
        if url.scheme() == "http" && !is_loopback(&url) {
            bail!(
                "The admin token is not sent over a network without encryption. Use an https URL."
            );
        }
        let (token, token_from) = self.token()?;
        Ok(Client {
            agent: plain_agent(&url),
            base: url.as_str().trim_end_matches('/').to_owned(),
            token,
            token_from,
        })
    }

    /// The token, and a description of its source.
    fn token(&self) -> Result<(AdminToken, String)> {
        if let Some(token) = options::admin_token()? {
            return Ok((token, "TAPDESK_ADMIN_TOKEN".to_owned()));
        }
        let file = self.installation.token_file()?;
        let text = std::fs::read_to_string(&file).map_err(|error| no_token(&file, &error))?;
        let token = AdminToken::parse(&text)
            .map_err(|error| anyhow!("{} holds no admin token: {error}", file.display()))?;
        Ok((token, file.display().to_string()))
    }
}

fn no_token(file: &std::path::Path, error: &std::io::Error) -> anyhow::Error {
    let file = PathBuf::from(file);
    if error.kind() == ErrorKind::NotFound {
        anyhow!(
            "There is no admin token in {}. Start the service first, name its database with --database or \
             its token with --token-file, or set TAPDESK_ADMIN_TOKEN.",
            file.display()
        )
    } else {
        anyhow!(
            "The admin token in {} cannot be read: {error}.",
            file.display()
        )
    }
}

/// Makes requests to `url`. It follows no redirects, and returns answers of any status without an
/// error.
pub(super) fn plain_agent(url: &Url) -> Agent {
    let agent = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_connect(Some(Duration::from_secs(5)))
        .timeout_recv_response(Some(PATIENCE));
    let agent = if is_loopback(url) {
        agent.proxy(None)
    } else {
        agent
    };
    agent.build().new_agent()
}

/// Whether `url` refers to this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(ip)) => IpAddr::from(ip).is_loopback(),
        Some(url::Host::Ipv6(ip)) => IpAddr::from(ip).is_loopback(),
        None => false,
    }
}

impl Client {
    /// Gets a resource. `path` begins after `/admin/v1`.
    pub(super) fn get(&self, path: &str) -> Result<Value> {
        json(self.send(Method::GET, path, None, ())?)
    }

    /// Gets all pages of a list. `path` must have a query, at least an empty one.
    pub(super) fn list(&self, path: &str) -> Result<Vec<Value>> {
        let mut items = Vec::new();
        let mut after = String::new();
        loop {
            let mut page = self.get(&format!("{path}&limit=500{after}"))?;
            if let Value::Array(more) = page["items"].take() {
                items.extend(more);
            }
            match &page["next"] {
                Value::String(next) => after = format!("&after={next}"),
                _ => return Ok(items),
            }
        }
    }

    /// The real or simulated tag that has this slug or had it before.
    pub(super) fn tag(&self, slug: &str) -> Result<Option<Value>> {
        let q: String = form_urlencoded::byte_serialize(slug.as_bytes()).collect();
        let tags = self.list(&format!("/tags?simulated=all&q={q}"))?;
        let answers = |tag: &Value| {
            let mut former = tag["former_slugs"].as_array().into_iter().flatten();
            tag["slug"] == slug || former.any(|former| former == slug)
        };
        Ok(tags.into_iter().find(answers))
    }

    /// The virtual inlay on the tag that has this slug or had it before.
    pub(super) fn virtual_inlay(&self, slug: &str) -> Result<Option<Value>> {
        let Some(tag) = self.tag(slug)? else {
            return Ok(None);
        };
        let slug = &tag["slug"];
        let inlays = self.list("/simulator/inlays?")?;
        Ok(inlays.into_iter().find(|inlay| inlay["tag"] == *slug))
    }

    /// Scheme and host of the service, which are also those of its public operations.
    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// Sends a POST request and returns the JSON answer.
    pub(super) fn post(&self, path: &str, body: &Value) -> Result<Value> {
        json(self.post_for(path, body)?)
    }

    /// Sends a POST request and returns the answer without reading it.
    pub(super) fn post_for(&self, path: &str, body: &Value) -> Result<Response<Body>> {
        self.send(
            Method::POST,
            path,
            Some("application/json"),
            body.to_string(),
        )
    }

    /// Deletes a resource and ignores the answer's body.
    pub(super) fn delete(&self, path: &str) -> Result<()> {
        self.send(Method::DELETE, path, None, ()).map(|_| ())
    }

    /// Deletes a resource and returns the JSON answer.
    pub(super) fn delete_for(&self, path: &str) -> Result<Value> {
        json(self.send(Method::DELETE, path, None, ())?)
    }

    /// Sends a request with the token. If the service refuses it, the error contains the service's
    /// explanation.
    pub(super) fn send(
        &self,
        method: Method,
        path: &str,
        content_type: Option<&str>,
        body: impl AsSendBody,
    ) -> Result<Response<Body>> {
        let content_type = content_type.map(|content_type| ("content-type", content_type));
        let headers: Vec<_> = content_type.into_iter().collect();
        self.send_with(method, path, &headers, body)
    }

    /// Like [`Self::send`], with these headers.
    pub(super) fn send_with(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl AsSendBody,
    ) -> Result<Response<Body>> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}/admin/v1{path}", self.base))
            .header("tapdesk-program", "command-line")
            .header("authorization", format!("Bearer {}", self.token.expose()));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self.agent.run(request.body(body)?);
        let mut response = response.map_err(|error| self.unreachable(&error))?;
        match response.status().as_u16() {
            200..=299 => Ok(response),
            401 => bail!(
                "The service at {} does not accept the admin token from {}.",
                self.base,
                self.token_from
            ),
            status => {
                let problem: Option<Value> = response.body_mut().read_json().ok();
                let detail = problem
                    .as_ref()
                    .and_then(|problem| problem["detail"].as_str());
                match detail {
                    Some(detail) => bail!("{detail}"),
                    None => bail!(
                        "The service at {} answered with status {status}.",
                        self.base
                    ),
                }
            }
        }
    }

    fn unreachable(&self, error: &ureq::Error) -> anyhow::Error {
        match error {
            ureq::Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused => anyhow!(
                "No service answers at {}. Start one with `tapdesk-service serve`, or name another with --url.",
                self.base
            ),
            error => anyhow!("The service at {} cannot be reached: {error}.", self.base),
        }
    }
}

fn json(mut response: Response<Body>) -> Result<Value> {
    response
        .body_mut()
        .with_config()
        .limit(u64::MAX)
        .read_json()
        .context("The service's answer is not what it should be. Is it another program?")
}
