//! `export`: all tags, but simulated ones, in a CSV file.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use ureq::http::Method;

use super::client::Connection;
use super::download::Download;

#[derive(Args)]
pub(super) struct Options {
    /// The file to create, or `-` for stdout. An existing file is not overwritten.
    file: PathBuf,

    #[command(flatten)]
    connection: Connection,
}

pub(super) fn run(options: &Options) -> Result<()> {
    let service = options.connection.open()?;
    let answer = || service.send(Method::GET, "/tags/export", None, ());
    if options.file == Path::new("-") {
        let mut content = answer()?
            .into_body()
            .into_with_config()
            .limit(u64::MAX)
            .reader();
        io::copy(&mut content, &mut io::stdout().lock())?;
        return Ok(());
    }
    let download = Download::to(&options.file)?;
    let bytes = download.receive(answer()?.into_body(), |_| Ok(()))?;
    let file = options.file.display();
    writeln!(io::stdout(), "{file} holds the tags: {bytes} bytes.")?;
    Ok(())
}
