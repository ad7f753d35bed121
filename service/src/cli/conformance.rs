//! `conformance`: checks a service that speaks the contract, or a verifier of rolling codes, from
//! outside. Each check has a name and a source.

mod check;
mod contract;
mod junit;
mod report;
mod verifier;
mod web;

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{ArgGroup, Args};
use tapdesk_service::plural::counted;
use url::Url;

use check::{Check, Finding, Outcome};
use contract::Contract;
use verifier::Verifier;

#[derive(Args)]
#[command(group(ArgGroup::new("subject").required(true).args(["service", "verifier"])))]
pub(super) struct Options {
    /// Check the service at this URL against the contract.
    #[arg(long, value_name = "URL")]
    service: Option<String>,

    /// Check the verifier of rolling codes with this URL template, such as
    /// `https://example.com/tag?picc_data={picc}&cmac={mac}`. It uses up counters, so use a test inlay.
    #[arg(long, value_name = "TEMPLATE_URL")]
    verifier: Option<String>,

    #[command(flatten)]
    contract: contract::ServiceOptions,

    #[command(flatten)]
    chip: verifier::VerifierOptions,

    /// Write the report as `JUnit` XML to this file, too.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// The checks could not be run: the command was used in a wrong way, or nothing answers.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct NotRun(String);

impl NotRun {
    /// The status of the process. A failed check has 1.
    pub(super) const STATUS: u8 = 2;

    /// An error with this sentence.
    fn because(sentence: impl Into<String>) -> anyhow::Error {
        Self(sentence.into()).into()
    }
}

pub(super) fn run(options: &Options) -> Result<()> {
    let (suite, findings, note) = match (&options.service, &options.verifier) {
        (Some(service), _) => {
            let mut contract = Contract::open(service, &options.contract)?;
            let findings = found(&contract::checks(), &mut contract);
            (SERVICE, findings, more_taps(contract.missing_taps()))
        }
        (None, Some(template)) => {
            let mut verifier = Verifier::open(template, &options.chip)?;
            let findings = found(&verifier::checks(), &mut verifier);
            let next = verifier.next_counter();
            let note = format!("Another run with these inlays needs --counter {next}.");
            (VERIFIER, findings, Some(note))
        }
        (None, None) => return Err(NotRun::because("Give --service or --verifier.")),
    };
    // First the report: the run has used up taps or counters, so it must not be lost with the file.
    let mut out = io::stdout().lock();
    report::write(&findings, &mut out)?;
    if let Some(note) = note {
        writeln!(out, "{note}")?;
    }
    if let Some(file) = &options.junit {
        let written = junit::xml(suite, &findings).and_then(|xml| std::fs::write(file, xml));
        written.map_err(|error| {
            NotRun::because(format!("{} cannot be written: {error}.", file.display()))
        })?;
    }
    match report::count(&findings, Outcome::Failed) {
        0 => Ok(()),
        failed => bail!("{} failed.", counted(failed as u64, "check")),
    }
}

/// The suites' names in `JUnit` XML.
const SERVICE: &str = "tapdesk.conformance.service";
const VERIFIER: &str = "tapdesk.conformance.verifier";

/// The sentence about checks that got no tap.
fn more_taps(missing: u64) -> Option<String> {
    let more = counted(missing, "more tap URL");
    (missing > 0).then(|| format!("Checks that got no tap need {more}: give each with --tap-url."))
}

fn found<C>(checks: &[Check<C>], subject: &mut C) -> Vec<Finding> {
    checks.iter().map(|check| check.find(subject)).collect()
}

/// An `http` or `https` URL.
fn web_url(text: &str) -> Result<Url> {
    let url = Url::parse(text).ok();
    url.filter(|url| matches!(url.scheme(), "http" | "https"))
        .ok_or_else(|| NotRun::because(format!("{text} is no http or https URL.")))
}
