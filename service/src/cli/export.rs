//! `export`: exports tags to a CSV file, or interactions or submissions to a file of either format.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use clap::{Args, Subcommand, ValueEnum};
use tapdesk_service::client::{self, Cursor, Download, Interrupted};
use ureq::Body;

use super::client::Connection;
use super::download::receive;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Options {
    /// The file to create, or `-` for stdout. An existing file is not overwritten.
    #[arg(required = true)]
    file: Option<PathBuf>,

    #[command(flatten)]
    connection: Connection,

    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Subcommand)]
enum What {
    /// Export interactions, the newest first.
    Interactions(Rows),
    /// Export submissions of forms, the newest first.
    Submissions(Rows),
}

#[derive(Args)]
struct Rows {
    /// The file to create, or `-` for stdout. An existing file is not overwritten.
    file: PathBuf,

    /// File format.
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,

    /// The columns, separated by commas. Default: all; for interactions, all except `uid` and
    /// `file_data`.
    #[arg(long, value_name = "NAMES")]
    columns: Option<String>,

    /// Continue an interrupted export, with the cursor in its error message.
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,

    /// A filter of the list, such as `since=2026-01-01T00:00:00Z`.
    #[arg(long, value_name = "NAME=VALUE", value_parser = filter)]
    filter: Vec<(String, String)>,

    #[command(flatten)]
    connection: Connection,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Csv,
    Jsonl,
}

fn filter(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once('=').ok_or("a filter is NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

pub(super) fn run(options: &Options) -> Result<()> {
    match &options.what {
        Some(What::Interactions(rows)) => rows.save("interactions"),
        Some(What::Submissions(rows)) => rows.save("submissions"),
        None => {
            let file = options.file.as_ref().context("Name a file.")?;
            let service = options.connection.open()?;
            let path = "/tags/export";
            if file == Path::new("-") {
                return print(service.fetch(path)?.into_body());
            }
            let mut download = Download::create(file, path.to_owned())?;
            receive(&mut download, service.fetch(path)?.into_body(), file)?;
            say_saved(file, "tags", download.finish()?)
        }
    }
}

impl Rows {
    fn save(&self, what: &str) -> Result<()> {
        let (format, rows) = match self.format {
            Format::Csv => ("csv", client::Rows::Csv),
            Format::Jsonl => ("jsonl", client::Rows::Jsonl),
        };
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("format", format);
        if let Some(columns) = &self.columns {
            query.append_pair("columns", columns);
        }
        query.extend_pairs(&self.filter);
        let path = format!("/{what}/export?{}", query.finish());
        let service = self.connection.open()?;
        if self.file == Path::new("-") {
            let path = match &self.cursor {
                Some(cursor) => client::continued(&path, cursor, None),
                None => path,
            };
            return print(service.fetch(&path)?.into_body());
        }
        let mut download = match &self.cursor {
            Some(cursor) => Download::resume(&self.file, path, cursor.clone(), rows)?,
            None => Download::create(&self.file, path)?,
        };
        let answer = service.fetch(&download.path())?;
        download.begin(Cursor::of(answer.headers()));
        match receive(&mut download, answer.into_body(), &self.file) {
            Ok(()) => say_saved(&self.file, what, download.finish()?),
            Err(error) => Err(interrupted(download, error)),
        }
    }
}

/// Keeps the complete rows of a download that ended with `error`, and explains how to continue.
fn interrupted(mut download: Download, error: anyhow::Error) -> anyhow::Error {
    let Ok(Interrupted::AfterRow) = download.interrupted() else {
        return error;
    };
    let (part, cursor) = download.keep();
    anyhow!(
        "{error} What arrived is in {}. To continue, add --cursor {cursor} to the same command.",
        part.display()
    )
}

fn print(body: Body) -> Result<()> {
    let mut content = body.into_with_config().limit(u64::MAX).reader();
    io::copy(&mut content, &mut io::stdout().lock())?;
    Ok(())
}

fn say_saved(file: &Path, what: &str, bytes: u64) -> Result<()> {
    let file = file.display();
    writeln!(io::stdout(), "{file} holds the {what}: {bytes} bytes.")?;
    Ok(())
}
