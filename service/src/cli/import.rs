//! `import`: imports tags from a spreadsheet or a CSV file. Refused rows and warnings are printed
//! while the import runs.

use std::fs::File;
use std::io::{self, BufReader, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use tapdesk_service::id::{MasterKeyId, UrlTemplateId};
use tapdesk_service::plural::counted;

use super::client::Connection;

#[derive(Args)]
pub(super) struct Options {
    /// The file, with a header row: .xlsx, .ods or CSV.
    file: PathBuf,

    /// Check everything without writing.
    #[arg(long)]
    dry_run: bool,

    /// Effect of a refused row on the other rows.
    #[arg(long, default_value = "skip")]
    on_error: OnError,

    /// How to treat a row whose slug exists.
    #[arg(long, default_value = "insert")]
    mode: Mode,

    /// How to treat an experience that does not exist.
    #[arg(long, default_value = "refuse")]
    unknown_experience: UnknownExperience,

    /// Create the groups in the column `group` that do not exist.
    #[arg(long)]
    create_groups: bool,

    /// The service that wrote the file: csv, ixkio, gototags, boltcard, bluebite or `sdm_backend`.
    #[arg(long)]
    preset: Option<String>,

    /// The URL template of rows with a UID that contain none.
    #[arg(long, value_name = "ID")]
    url_template_id: Option<UrlTemplateId>,

    /// The master key of rows with a UID that contain no file key.
    #[arg(long, value_name = "ID")]
    master_key_id: Option<MasterKeyId>,

    /// The chip of rows with a UID, such as ntag424dna, if neither the file nor the URL template
    /// defines it.
    #[arg(long, value_name = "CHIP")]
    technology: Option<String>,

    /// Accept factory keys in rows with a UID. Codes with them prove nothing.
    #[arg(long)]
    allow_factory_keys: bool,

    /// Number format of counters, if their column does not define it.
    #[arg(long)]
    counter: Option<Counter>,

    /// The meaning of a column, such as `Farbe:attribute:colour`; `Farbe:` ignores it. May be
    /// repeated.
    #[arg(long, value_name = "HEADING:COLUMN")]
    map: Vec<String>,

    #[command(flatten)]
    connection: Connection,
}

#[derive(Clone, Copy, ValueEnum)]
enum Counter {
    /// Hexadecimal, as chips write counters into URLs: 000021 is 33.
    Hex,
    /// Decimal: 21 is 21.
    Decimal,
}

#[derive(Clone, Copy, ValueEnum)]
enum OnError {
    /// The valid rows are imported.
    Skip,
    /// Nothing is imported.
    Abort,
}

#[derive(Clone, Copy, ValueEnum)]
enum Mode {
    /// The row is refused.
    Insert,
    /// The row changes that tag: a text sets the value, `(delete)` deletes it, an empty cell
    /// changes nothing.
    Upsert,
}

#[derive(Clone, Copy, ValueEnum)]
enum UnknownExperience {
    /// The row is refused.
    Refuse,
    /// The cell counts as empty.
    Ignore,
}

pub(super) fn run(options: &Options) -> Result<()> {
    let file = options.file.display();
    let content =
        File::open(&options.file).map_err(|error| anyhow!("{file} cannot be read: {error}."))?;
    let path = format!("/tags/import?{}", query(options));
    let service = options.connection.open()?;
    // The service knows the kind of the file from its bytes.
    let answer = service.upload(&path, "application/octet-stream", content)?;
    let body = answer
        .into_body()
        .into_with_config()
        .limit(u64::MAX)
        .reader();
    let summary = follow(BufReader::new(body))?;

    let count = |name: &str| summary[name].as_u64().unwrap_or_default();
    let (created, updated) = (count("created"), count("updated"));
    let (refused, left_out) = (count("refused"), count("left_out"));
    let would = if options.dry_run { "would be " } else { "" };
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{} {would}created, {updated} {would}updated; {} refused, {left_out} left out.",
        counted(created, "tag"),
        counted(refused, "row"),
    )?;
    let deleted = count("deleted");
    if deleted > 0 {
        writeln!(out, "{} of tags {would}deleted.", counted(deleted, "value"))?;
    }
    if let Some(why) = summary["stopped"].as_str() {
        bail!("The import ended early: {why}");
    }
    if refused > 0 {
        let (rows, were, them) = if refused == 1 {
            ("row", "was", "it")
        } else {
            ("rows", "were", "them")
        };
        bail!("{refused} {rows} {were} refused. Correct {them} and import {them} again.");
    }
    Ok(())
}

/// The query parameters of the request.
fn query(options: &Options) -> String {
    let on_error = match options.on_error {
        OnError::Skip => "skip",
        OnError::Abort => "abort",
    };
    let mode = match options.mode {
        Mode::Insert => "insert",
        Mode::Upsert => "upsert",
    };
    let unknown = match options.unknown_experience {
        UnknownExperience::Refuse => "refuse",
        UnknownExperience::Ignore => "ignore",
    };
    let counter = options.counter.map(|counter| match counter {
        Counter::Hex => "hex",
        Counter::Decimal => "decimal",
    });
    let mut query = form_urlencoded::Serializer::new(String::new());
    query
        .append_pair("dry_run", &options.dry_run.to_string())
        .append_pair("on_error", on_error)
        .append_pair("mode", mode)
        .append_pair("unknown_experience", unknown);
    for (name, value) in [
        ("preset", options.preset.clone()),
        (
            "url_template_id",
            options.url_template_id.map(|id| id.to_string()),
        ),
        (
            "master_key_id",
            options.master_key_id.map(|id| id.to_string()),
        ),
        ("technology", options.technology.clone()),
        ("counter", counter.map(str::to_owned)),
        (
            "allow_factory_keys",
            options.allow_factory_keys.then(|| "true".to_owned()),
        ),
        (
            "create_groups",
            options.create_groups.then(|| "true".to_owned()),
        ),
    ] {
        if let Some(value) = value {
            query.append_pair(name, &value);
        }
    }
    for map in &options.map {
        query.append_pair("map", map);
    }
    query.finish()
}

/// Messages about the file: notes for people, and ignored columns.
fn said_of_file(head: &Value) -> Vec<String> {
    let texts = |name: &str| {
        let texts = head[name].as_array().into_iter().flatten();
        texts
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let mut said = texts("notes");
    let ignored = texts("ignored_columns");
    if !ignored.is_empty() {
        said.push(format!("Not imported: the columns {}.", ignored.join(", ")));
    }
    said
}

/// Messages about a row: why it was refused, which values were deleted, and warnings.
fn said(result: &Value) -> Vec<String> {
    let mut said = Vec::new();
    let headings = headings(result);
    let texts = ["reason", "warning"].into_iter();
    let texts = texts.filter_map(|name| result[name].as_str());
    said.extend(texts.map(|text| format!("{headings}{text}")));
    let deleted = result["deleted"].as_array().into_iter().flatten();
    let deleted: Vec<_> = deleted.filter_map(Value::as_str).collect();
    if !deleted.is_empty() {
        said.push(format!("deletes {}", deleted.join(", ")));
    }
    said
}

/// The columns that a message about a row concerns, before that message. A column whose heading is
/// its name in Tapdesk is in the message already.
fn headings(result: &Value) -> String {
    let columns = result["columns"].as_array().into_iter().flatten();
    let others = columns.filter(|of| of["heading"] != of["column"]);
    let headings: Vec<_> = others
        .filter_map(|of| of["heading"].as_str())
        .map(|heading| format!("\"{heading}\""))
        .collect();
    match headings.len() {
        0 => String::new(),
        1 => format!("column {}: ", headings[0]),
        _ => format!("columns {}: ", headings.join(", ")),
    }
}

/// Prints refused rows as they arrive, one result per line, and returns the final counts of the
/// service.
fn follow(answer: impl io::BufRead) -> Result<Value> {
    let unexpected = || "The answer is not from a Tapdesk service. Is it another program?";
    let mut lines = answer.lines();
    let head = lines.next().with_context(unexpected)??;
    // The first line opens the list of results, and the last line closes it.
    let head: Value = serde_json::from_str(&format!("{head}]}}")).with_context(unexpected)?;
    for said in said_of_file(&head) {
        writeln!(io::stdout(), "{said}")?;
    }
    let bar = ProgressBar::new(head["rows"].as_u64().unwrap_or_default());
    bar.set_style(ProgressStyle::with_template(
        "{human_pos} of {human_len} rows {wide_bar} {eta}",
    )?);
    for line in lines {
        let line =
            line.map_err(|error| anyhow!("The connection to the service broke: {error}."))?;
        if let Some(tail) = line.strip_prefix("],") {
            bar.finish_and_clear();
            return serde_json::from_str(&format!("{{{tail}")).with_context(unexpected);
        }
        let result: Value =
            serde_json::from_str(line.trim_end_matches(',')).with_context(unexpected)?;
        for said in said(&result) {
            bar.suspend(|| writeln!(io::stdout(), "row {}: {said}", result["row"]))?;
        }
        bar.inc(1);
    }
    bail!(
        "The connection to the service broke before the end. Some rows may be imported; import again with --mode upsert."
    )
}
