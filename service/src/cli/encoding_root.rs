//! `encoding-root`: shows or replaces the secret from which chip keys are derived.

use std::io::{self, Write as _};

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use tapdesk_service::plural::counted;

use super::client::Connection;

#[derive(Args)]
pub(super) struct Options {
    /// Replace the root: new encodings use keys of a new one.
    #[arg(long)]
    replace: bool,

    /// Replace the root because others may know it and all earlier roots. Their chips get new keys
    /// when they are placed on the reader again.
    #[arg(long)]
    compromised: bool,

    #[command(flatten)]
    connection: Connection,
}

pub(super) fn run(options: &Options) -> Result<()> {
    let service = options.connection.open()?;
    let mut out = io::stdout().lock();
    let root = if options.replace || options.compromised {
        let request = json!({"compromised": options.compromised});
        let root = service.post("/encoding-root", &request)?;
        writeln!(out, "Chips encoded from now on get keys of a new root.")?;
        root
    } else {
        service.get("/encoding-root")?
    };
    match (&root["created_at"], &root["backed_up_at"]) {
        (Value::String(created), Value::String(backed_up)) => writeln!(
            out,
            "The encoding root is of {created}, and in a backup of {backed_up}."
        )?,
        (Value::String(created), _) => writeln!(
            out,
            "The encoding root is of {created}, and in no backup. Make one with a passphrase: without the root \
             nobody can change the chips again."
        )?,
        _ => writeln!(
            out,
            "There is no encoding root yet. The first chip makes it."
        )?,
    }
    let exposed = root["exposed_inlays"].as_u64().unwrap_or_default();
    if exposed == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "{} with keys of a compromised root. Place each on the reader again for its tag:",
        counted(exposed, "inlay")
    )?;
    for inlay in service.list("/encoding-root/inlays?")? {
        let text = |name: &str| inlay[name].as_str().unwrap_or("-").to_owned();
        writeln!(out, "{}  {}", text("uid"), text("slug"))?;
    }
    Ok(())
}
