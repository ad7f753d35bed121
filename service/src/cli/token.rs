//! `token`: manages admin tokens.

use std::io::{self, Write as _};

use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use serde_json::json;
use tapdesk_service::id::{ExperienceId, GroupId, TokenId};
use tapdesk_service::scope::Scope;

use super::client::Connection;

#[derive(Args)]
pub(super) struct Options {
    #[command(flatten)]
    connection: Connection,

    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Create a token and print it. It is never shown again.
    Create {
        /// Purpose of the token.
        name: String,
        /// Scopes of the token. A program that reads metrics needs `read`.
        #[arg(
            long,
            required = true,
            value_name = "SCOPE",
            value_delimiter = ',',
            value_parser = PossibleValuesParser::new(Scope::ALL.map(Scope::as_str)),
        )]
        scopes: Vec<String>,
        /// The only experience that the token can use, by its number. May be repeated.
        #[arg(long = "experience", value_name = "ID", value_delimiter = ',')]
        experiences: Vec<ExperienceId>,
        /// The only group that the token can use, with all below it, by its number. May be repeated.
        #[arg(
            long = "group",
            value_name = "ID",
            value_delimiter = ',',
            conflicts_with = "experiences"
        )]
        groups: Vec<GroupId>,
        /// Expiry, such as `2027-01-01T00:00:00Z`. By default, the token is valid until it is
        /// revoked.
        #[arg(long, value_name = "TIME")]
        expires_at: Option<String>,
    },
    /// List the tokens by name. The tokens themselves are never shown.
    List,
    /// Revoke a token.
    Revoke {
        /// Number of the token in the list.
        id: TokenId,
    },
}

pub(super) fn run(options: &Options) -> Result<()> {
    let service = options.connection.open()?;
    let mut out = io::stdout().lock();
    match &options.verb {
        Verb::Create {
            name,
            scopes,
            experiences,
            groups,
            expires_at,
        } => {
            let token = json!({
                "name": name,
                "scopes": scopes,
                "experience_ids": (!experiences.is_empty()).then_some(experiences),
                "group_ids": (!groups.is_empty()).then_some(groups),
                "expires_at": expires_at,
            });
            let created = service.post("/tokens", &token)?;
            writeln!(out, "{}", created["token"].as_str().unwrap_or_default())?;
        }
        Verb::List => {
            for token in service.list("/tokens?")? {
                let text = |name: &str| token[name].as_str().unwrap_or_default();
                let scopes = token["scopes"].as_array().into_iter().flatten();
                let scopes: Vec<_> = scopes.filter_map(|scope| scope.as_str()).collect();
                writeln!(
                    out,
                    "{:>4}  {}  {}  {}",
                    token["id"],
                    text("created_at"),
                    text("name"),
                    scopes.join(",")
                )?;
            }
        }
        Verb::Revoke { id } => {
            service.delete(&format!("/tokens/{id}"))?;
        }
    }
    Ok(())
}
