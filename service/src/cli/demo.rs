//! `demo`: tags, an experience and virtual inlays for a first look. All of them are simulated, so
//! they appear in no live view or count.

use std::io::{self, Write as _};

use anyhow::Result;
use clap::Args;
use serde_json::json;
use tapdesk_service::demo::TAGS;

use super::client::Connection;
use crate::options::shell_word;

#[derive(Args)]
pub(super) struct Options {
    /// Remove the demo data.
    #[arg(long)]
    remove: bool,

    #[command(flatten)]
    connection: Connection,
}

pub(super) fn run(options: &Options) -> Result<()> {
    let service = options.connection.open()?;
    let mut out = io::stdout().lock();
    if options.remove {
        let removed = service.delete("/demo")?;
        let message = if removed["tags"] == 0 {
            "There is no demo data."
        } else {
            "Demo data removed."
        };
        writeln!(out, "{message}")?;
        return Ok(());
    }
    let demo = service.post("/demo", &json!({}))?;
    let message = if demo["made"] == true {
        "Demo data loaded: simulated tags with the experience \"Register product (demo)\"."
    } else {
        "The demo data is already loaded."
    };
    writeln!(out, "{message}")?;
    for tag in &TAGS {
        writeln!(out, "  {:<12} {}", tag.slug, tag.about)?;
    }
    let program = shell_word(&super::program());
    let more = options.connection.as_arguments();
    let tap = TAGS[0].slug;
    writeln!(out, "Try:")?;
    writeln!(out, "  {program} tap {tap}{more}")?;
    writeln!(
        out,
        "  {program} tap {tap} --follow --set registered=true{more}"
    )?;
    writeln!(out, "  {program} tail{more}")?;
    Ok(())
}
