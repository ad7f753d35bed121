//! `export`: exports tags, interactions or submissions to a file.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
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

    /// File format. Default: xlsx if the name of the file ends with .xlsx, else csv.
    #[arg(long, value_enum)]
    format: Option<TagFormat>,

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

    /// File format. Default: xlsx if the name of the file ends with .xlsx, else csv.
    #[arg(long, value_enum)]
    format: Option<Format>,

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
enum TagFormat {
    Csv,
    Xlsx,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Csv,
    Jsonl,
    Xlsx,
}

impl From<TagFormat> for Format {
    fn from(format: TagFormat) -> Self {
        match format {
            TagFormat::Csv => Self::Csv,
            TagFormat::Xlsx => Self::Xlsx,
        }
    }
}

impl Format {
    /// The format of a file without a choice.
    fn of(file: &Path) -> Self {
        let ending = file.extension().unwrap_or_default();
        if ending.eq_ignore_ascii_case("xlsx") {
            Self::Xlsx
        } else {
            Self::Csv
        }
    }

    /// Its name in the API.
    const fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Xlsx => "xlsx",
        }
    }

    /// The rows of an export that can continue after an interruption.
    const fn rows(self) -> Option<client::Rows> {
        match self {
            Self::Csv => Some(client::Rows::Csv),
            Self::Jsonl => Some(client::Rows::Jsonl),
            Self::Xlsx => None,
        }
    }
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
            let format = options
                .format
                .map_or_else(|| Format::of(file), Format::from);
            let path = format!("/tags/export?format={}", format.name());
            if file == Path::new("-") {
                return print(service.fetch(&path)?.into_body());
            }
            let mut download = Download::create(file, path.clone())?;
            receive(&mut download, service.fetch(&path)?.into_body(), file)?;
            say_saved(file, "tags", download.finish()?)
        }
    }
}

impl Rows {
    fn save(&self, what: &str) -> Result<()> {
        let format = self.format.unwrap_or_else(|| Format::of(&self.file));
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("format", format.name());
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
        let mut download = match (&self.cursor, format.rows()) {
            (Some(_), None) => bail!("A workbook cannot be continued. Export it again, or as CSV."),
            (Some(cursor), Some(rows)) => Download::resume(&self.file, path, cursor.clone(), rows)?,
            (None, _) => Download::create(&self.file, path)?,
        };
        let answer = service.fetch(&download.path())?;
        download.begin(Cursor::of(answer.headers()))?;
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
