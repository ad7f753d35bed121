//! `upgrade-database`: upgrades a PostgreSQL database, of which a person has made a backup.

use std::io::{self, Write as _};

use anyhow::{Result, bail};
use clap::Args;
use tapdesk_service::start::Database;
use tapdesk_service::storage::postgres;

use crate::options::Installation;

#[derive(Args)]
pub(super) struct Options {
    #[command(flatten)]
    installation: Installation,
}

pub(super) fn run(options: &Options) -> Result<()> {
    let Database::Postgres(address) = options.installation.database()? else {
        bail!(
            "A SQLite database needs no such command: the service upgrades it at its start, after a backup."
        );
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let upgraded = runtime.block_on(postgres::upgrade(&address))?;
    let to = upgraded.to;
    let mut out = io::stdout().lock();
    match upgraded.from {
        Some(from) if from == to => writeln!(out, "{address} has format {to} already.")?,
        Some(from) => writeln!(out, "{address} was upgraded from format {from} to {to}.")?,
        None => writeln!(out, "{address} was empty, and has format {to} now.")?,
    }
    Ok(())
}
