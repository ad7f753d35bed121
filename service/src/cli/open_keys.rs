//! `open-keys`: prints the keys of a factory order, for the bureau that encodes it.

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use tapdesk_service::keyring::{Passphrase, SealedKeys};

use crate::options::PassphraseFile;

#[derive(Args)]
pub(super) struct Options {
    /// The sealed file, `keys.sealed`.
    file: PathBuf,

    #[command(flatten)]
    passphrase: PassphraseFile,
}

pub(super) fn run(options: &Options) -> Result<()> {
    let file = options.file.display();
    let sealed =
        std::fs::read(&options.file).map_err(|error| anyhow!("{file} cannot be read: {error}."))?;
    let sealed: SealedKeys = serde_json::from_slice(&sealed)
        .map_err(|_| anyhow!("{file} is not a file of sealed keys."))?;
    let Some(text) = options.passphrase.read()? else {
        bail!(
            "The keys are encrypted with a passphrase. Set TAPDESK_PASSPHRASE or --passphrase-file."
        );
    };
    let Some(keys) = sealed.open(&Passphrase::parse(&text)?) else {
        bail!("Wrong passphrase for {file}.");
    };
    io::stdout().lock().write_all(keys.as_bytes())?;
    Ok(())
}
