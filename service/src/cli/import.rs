//! `import`: tags from a CSV file. Rows that are refused are named as the
//! service comes to them.

use std::fs::File;
use std::io::{self, BufReader, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use tapdesk_service::plural::counted;
use ureq::http::Method;

use super::client::Connection;

#[derive(Args)]
pub(super) struct Options {
    /// The file, with a header row.
    file: PathBuf,

    /// Check everything, and write nothing.
    #[arg(long)]
    dry_run: bool,

    /// What happens to the other rows if one is refused.
    #[arg(long, default_value = "skip")]
    on_error: OnError,

    /// How to treat a row whose slug exists.
    #[arg(long, default_value = "insert")]
    mode: Mode,

    /// How to treat an experience that does not exist.
    #[arg(long, default_value = "refuse")]
    unknown_experience: UnknownExperience,

    #[command(flatten)]
    connection: Connection,
}

#[derive(Clone, Copy, ValueEnum)]
enum OnError {
    /// The good rows go in.
    Skip,
    /// Nothing goes in.
    Abort,
}

#[derive(Clone, Copy, ValueEnum)]
enum Mode {
    /// It is refused.
    Insert,
    /// It changes that tag: a text is set, `(delete)` deletes, an empty cell changes nothing.
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
    let path = format!(
        "/tags/import?dry_run={}&on_error={on_error}&mode={mode}&unknown_experience={unknown}",
        options.dry_run
    );
    let service = options.connection.open()?;
    let answer = service.send(Method::POST, &path, Some("text/csv"), content)?;
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

/// Messages about a row: why it is refused, and what is deleted.
fn said(result: &Value) -> Vec<String> {
    let mut said = Vec::new();
    if result["outcome"] == "refused" {
        said.extend(result["reason"].as_str().map(str::to_owned));
    }
    let deleted = result["deleted"].as_array().into_iter().flatten();
    let deleted: Vec<_> = deleted.filter_map(Value::as_str).collect();
    if !deleted.is_empty() {
        said.push(format!("deletes {}", deleted.join(", ")));
    }
    said
}

/// Names the refused rows while they come, a result a line, and answers what
/// the service counted in the end.
fn follow(answer: impl io::BufRead) -> Result<Value> {
    let unexpected = || "The answer is not from a Tapdesk service. Is it another program?";
    let mut lines = answer.lines();
    let head = lines.next().with_context(unexpected)??;
    // The first line opens the list of results, and the last one closes it.
    let head: Value = serde_json::from_str(&format!("{head}]}}")).with_context(unexpected)?;
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
