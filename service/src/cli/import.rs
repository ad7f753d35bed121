//! `import`: tags from a CSV file. Rows that are refused are named as the
//! service comes to them.

use std::fs::File;
use std::io::{self, BufReader, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use ureq::http::Method;

use super::client::Connection;

#[derive(Args)]
pub(super) struct Options {
    /// The file, with a header row.
    file: PathBuf,

    /// Check everything, and write nothing.
    #[arg(long)]
    dry_run: bool,

    /// What a bad row means for the others.
    #[arg(long, default_value = "skip")]
    on_error: OnError,

    /// What a row means whose slug a tag has.
    #[arg(long, default_value = "insert")]
    mode: Mode,

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
    /// It changes that tag.
    Upsert,
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
    let path = format!(
        "/tags/import?dry_run={}&on_error={on_error}&mode={mode}",
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
        "{created} tags {would}created, {updated} {would}updated; {refused} rows refused, {left_out} left out."
    )?;
    if let Some(why) = summary["stopped"].as_str() {
        bail!("The import ended early: {why}");
    }
    if refused > 0 {
        bail!("{refused} rows were refused; mend them and import those rows again.");
    }
    Ok(())
}

/// Names the refused rows while they come, a result a line, and answers what
/// the service counted in the end.
fn follow(answer: impl io::BufRead) -> Result<Value> {
    let unexpected = || "The service's answer is not what it should be. Is it another program?";
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
        if result["outcome"] == "refused" {
            let reason = result["reason"].as_str().unwrap_or_default();
            bar.suspend(|| writeln!(io::stdout(), "row {}: {reason}", result["row"]))?;
        }
        bar.inc(1);
    }
    bail!(
        "The connection to the service broke before the end. Some rows may be in; import with --mode upsert again."
    )
}
