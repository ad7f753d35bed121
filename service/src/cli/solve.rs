//! `solve`: finds the template of one-time URLs.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::{Value, json};

use super::client::Connection;

#[derive(Args)]
pub(super) struct Options {
    /// One to five one-time URLs of inlays of one batch.
    #[arg(required = true, value_name = "URL")]
    urls: Vec<String>,

    /// A file with possible keys, one per line.
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,

    /// A file with possible master keys, one per line.
    #[arg(long, value_name = "FILE")]
    master_keys: Option<PathBuf>,

    /// Print the service's answer as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    connection: Connection,
}

pub(super) fn run(options: &Options) -> Result<()> {
    let asked = json!({
        "urls": options.urls,
        "keys": lines(options.keys.as_deref())?,
        "master_keys": lines(options.master_keys.as_deref())?,
    });
    let service = options.connection.open()?;
    let solved = service.post("/url-templates/solve", &asked)?;
    let mut out = io::stdout().lock();
    if options.json {
        writeln!(out, "{solved:#}")?;
        return Ok(());
    }
    let candidates = solved["candidates"].as_array();
    let candidates = candidates.map(Vec::as_slice).unwrap_or_default();
    let verdict = match (solved["certainty"].as_str(), candidates.len()) {
        (Some("proved"), _) => "Proved: the URLs verify.",
        (Some("narrowed"), 1) => "Not proved: no key verifies them. By its shape it could be this.",
        (Some("narrowed"), _) => "Not proved. It could be one of these.",
        _ => "It cannot be determined. Send another URL of the same batch, or its keys.",
    };
    writeln!(out, "{verdict}")?;
    let notes = solved["notes"].as_array();
    for note in notes.into_iter().flatten().filter_map(Value::as_str) {
        writeln!(out, "{note}")?;
    }
    let unused = solved["unused"].as_array();
    for piece in unused.into_iter().flatten() {
        let text = |member: &str| piece[member].as_str().unwrap_or_default();
        writeln!(out, "Not used: {}: {}", text("text"), text("why"))?;
    }
    for candidate in candidates {
        let text = |member: &str| match &candidate[member] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        writeln!(out, "\n{}", text("template"))?;
        for member in [
            "technology",
            "mode",
            "mac_from",
            "ndef_prefix",
            "lookup",
            "derivation",
            "preset",
            "refused",
        ] {
            if !candidate[member].is_null() {
                writeln!(out, "  {member}: {}", text(member))?;
            }
        }
        for chip in candidate["chips"].as_array().into_iter().flatten() {
            let url = chip["url"].as_u64().unwrap_or_default() + 1;
            let uid = chip["uid"].as_str().unwrap_or("unknown");
            writeln!(out, "  URL {url}: UID {uid}{}", read(chip))?;
        }
    }
    Ok(())
}

/// The counter and the keys of a URL's chip, counted from 1.
fn read(chip: &Value) -> String {
    let counter = chip["counter"].as_u64();
    let mut words = counter.map_or_else(String::new, |counter| format!(", counter {counter}"));
    for (slot, name) in [
        ("meta", "meta key"),
        ("file", "file key"),
        ("master", "master key"),
    ] {
        if let Some(index) = chip["slots"][slot].as_u64() {
            let _ = write!(words, ", {name}: line {}", index + 1);
        }
    }
    words
}

/// The lines of a file that are not empty.
fn lines(file: Option<&Path>) -> Result<Vec<String>> {
    let Some(file) = file else {
        return Ok(Vec::new());
    };
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("{} cannot be read", file.display()))?;
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty());
    Ok(lines.map(str::to_owned).collect())
}
