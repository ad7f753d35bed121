//! `token`: who may use the admin API.

use std::io::{self, Write as _};

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::json;

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
        /// The token's purpose.
        name: String,
    },
    /// List the tokens by name. The tokens themselves are never shown.
    List,
    /// Revoke a token.
    Revoke {
        /// The token's number in the list.
        id: i64,
    },
}

pub(super) fn run(options: &Options) -> Result<()> {
    let service = options.connection.open()?;
    let mut out = io::stdout().lock();
    match &options.verb {
        Verb::Create { name } => {
            let created = service.post("/tokens", &json!({"name": name}))?;
            writeln!(out, "{}", created["token"].as_str().unwrap_or_default())?;
        }
        Verb::List => {
            for token in service.list("/tokens?")? {
                let text = |name: &str| token[name].as_str().unwrap_or_default();
                writeln!(
                    out,
                    "{:>4}  {}  {}",
                    token["id"],
                    text("created_at"),
                    text("name")
                )?;
            }
        }
        Verb::Revoke { id } => service.delete(&format!("/tokens/{id}"))?,
    }
    Ok(())
}
