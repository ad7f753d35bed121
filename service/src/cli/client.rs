//! The connection of a command to the running service.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use tapdesk_service::admin_token::AdminToken;
use tapdesk_service::client::address::{self, Unfit};
use tapdesk_service::client::{self, Client, Limits, Program};
use ureq::Agent;
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

/// Time limits of requests. A backup first copies the whole database, then its answer begins.
const LIMITS: Limits = Limits {
    connect: Duration::from_secs(5),
    answer: Duration::from_mins(10),
};

impl Connection {
    /// A connection to the service at `url`, with the token of an installation.
    pub(super) fn at(url: String, installation: Installation) -> Self {
        Self {
            url: Some(url),
            installation,
        }
    }

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
        let url = self.url.as_ref();
        let url = url.map(|url| format!(" --url {}", options::shell_word(url)));
        url.unwrap_or_default() + &self.installation.as_arguments()
    }

    /// The installation whose token is used.
    pub(super) fn installation(&self) -> &Installation {
        &self.installation
    }

    /// Connects with the installation's admin token.
    pub(super) fn open(&self) -> Result<Client> {
        let named = self.url();
        let no_web = || format!("{named} is no http or https URL.");
        let url = Url::parse(&named).ok().with_context(no_web)?;
        match address::check(&url) {
            Ok(()) => {}
            Err(Unfit::NotWeb) => bail!(no_web()),
            Err(Unfit::InClear) => bail!(
                "The admin token is not sent over a network without encryption. Use an https URL."
            ),
        }
        let (token, token_from) = self.token()?;
        let base = url.as_str().trim_end_matches('/').to_owned();
        let program = Program {
            name: "command-line",
            token_from,
            way_out: "Start one with `tapdesk-service serve`, or name another with --url.",
        };
        Ok(Client::new(plain_agent(&url), base, token, program))
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

fn no_token(file: &Path, error: &io::Error) -> anyhow::Error {
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
    client::agent(url.as_str(), LIMITS).build().new_agent()
}
