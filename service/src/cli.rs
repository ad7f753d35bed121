//! The commands. `serve`, `restore`, `rotate-key` and `migrate-store` need exclusive access to a
//! database; `upgrade-database` needs only the database; `dev` has one of its own; the others call a
//! running service.

mod backup;
mod bucket;
mod client;
mod conformance;
mod demo;
mod dev;
mod doctor;
#[cfg(test)]
mod documents;
mod download;
mod encoding_root;
mod export;
mod generate;
mod import;
mod labels;
mod listen;
mod migrate_store;
mod open_keys;
#[cfg(feature = "otlp")]
mod otlp;
mod restore;
mod rotate_key;
mod serve;
mod solve;
mod tail;
mod tap;
mod token;
mod trigger;
mod unlisted;
mod upgrade_database;

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::{Arg, Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use tracing_subscriber::filter::{EnvFilter, FilterExt as _, LevelFilter, filter_fn};
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::prelude::*;
use tracing_subscriber::{Layer, Registry};

use crate::options;

/// Tapdesk as a headless service: verifies taps of NFC tags and updates their variables.
#[derive(Parser)]
#[command(name = "tapdesk-service", version)]
struct Cli {
    /// Log filter, for example `info` or `tapdesk_service=debug`.
    #[arg(
        long,
        env = "TAPDESK_LOG",
        value_name = "FILTER",
        default_value = "info",
        global = true
    )]
    log: EnvFilter,

    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Run the service.
    #[command(
        after_help = "TAPDESK_ADMIN_TOKEN sets the admin token, of 32 characters or more. \
                      Without it, the service generates one and keeps it in the token file."
    )]
    Serve(Box<options::Serve>),
    /// Run a service for development and tests: in memory, with demo data and a clock that can be moved.
    #[command(
        after_help = "On start it prints one line of JSON: the service's URL, its admin token, its seed, \
                      its time, and the demo's tags. SIGINT and SIGTERM end it, and it leaves no files."
    )]
    Dev(dev::Options),
    /// Load demo data: simulated tags, an experience and virtual inlays.
    Demo(demo::Options),
    /// Tap a virtual inlay.
    Tap(tap::Options),
    /// Show interactions and updates as they happen.
    Tail(tail::Options),
    /// Forward events to a server on this machine, as a webhook sends them.
    Listen(listen::Options),
    /// Trigger an event, with a tap of a virtual inlay.
    Trigger(trigger::Options),
    /// Create, list and revoke admin tokens.
    Token(token::Options),
    /// List the chips that are no inlays yet, enrol them, or undo what their taps created.
    Unlisted(unlisted::Options),
    /// Import tags from a spreadsheet (.xlsx, .ods) or a CSV file.
    Import(import::Options),
    /// Export tags, or interactions, to a file.
    Export(export::Options),
    /// Print labels with QR codes to a PDF, images, a label printer's file or a table.
    Labels(labels::Options),
    /// Find the template of one-time URLs.
    Solve(solve::Options),
    /// Back up the running service's database to a file or a bucket.
    Backup(backup::Options),
    /// Show the encoding root and the inlays that depend on a compromised one, or replace the root.
    EncodingRoot(encoding_root::Options),
    /// Open the sealed keys of a factory order and print them, for the bureau that encodes it.
    OpenKeys(open_keys::Options),
    /// Restore a database from a backup in a file or a bucket. The service must not be running.
    Restore(restore::Options),
    /// Rotate the key that wraps inlay keys. The service must not be running. If interrupted, run
    /// it again: it resumes.
    RotateKey(rotate_key::Options),
    /// Move a whole database from SQLite to PostgreSQL, or back. If interrupted, run it again: it
    /// resumes.
    MigrateStore(migrate_store::Options),
    /// Upgrade a PostgreSQL database to the format of this version. Make a backup first, with
    /// `pg_dump`.
    UpgradeDatabase(upgrade_database::Options),
    /// Check this installation, and explain how to fix problems.
    Doctor(doctor::Options),
    /// Check a service that speaks the contract, or a verifier of rolling codes, from outside.
    #[command(
        after_help = "Exit status: 0 if no check failed, 1 if one failed, 2 if the checks could not be run."
    )]
    Conformance(Box<conformance::Options>),
    /// Write the man pages and the completions of shells to a folder, for packages.
    #[command(hide = true)]
    Generate(generate::Options),
}

/// Runs the command in the arguments. Errors are one sentence on stderr.
pub(crate) fn main() -> ExitCode {
    let outcome =
        options::refuse_passwords(std::env::args_os().skip(1)).and_then(|()| run(parsed()));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "tapdesk-service: {error}");
            if error.is::<conformance::NotRun>() {
                return ExitCode::from(conformance::NotRun::STATUS);
            }
            ExitCode::FAILURE
        }
    }
}

/// The arguments and variables of this process. The process ends here if they cannot be used.
fn parsed() -> Cli {
    let mut command = without_empty_variables(Cli::command());
    let matches = command.get_matches_mut();
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut command).exit())
}

/// The command without its variables that are empty: the settings of containers and units have
/// `NAME=` for one that is not set.
fn without_empty_variables(command: Command) -> Command {
    let is_empty = |arg: &Arg| {
        let value = arg.get_env().and_then(std::env::var_os);
        value.is_some_and(|value| value.is_empty())
    };
    command
        .mut_args(|arg| {
            if is_empty(&arg) {
                arg.env(None::<&'static str>)
            } else {
                arg
            }
        })
        .mut_subcommands(without_empty_variables)
}

fn run(cli: Cli) -> Result<()> {
    let layers = vec![log_lines(cli.log)];
    #[cfg(feature = "otlp")]
    let (layers, _traces) = otlp::with_traces(layers, matches!(cli.verb, Verb::Serve(_)))?;
    tracing_subscriber::registry()
        .with(layers)
        .try_init()
        .map_err(|error| anyhow!("The log cannot be started: {error}."))?;
    match cli.verb {
        Verb::Serve(options) => serve::run(*options),
        Verb::Dev(options) => dev::run(&options),
        Verb::Demo(options) => demo::run(&options),
        Verb::Tap(options) => tap::run(&options),
        Verb::Tail(options) => tail::run(&options),
        Verb::Listen(options) => listen::run(&options),
        Verb::Trigger(options) => trigger::run(&options),
        Verb::Token(options) => token::run(&options),
        Verb::Unlisted(options) => unlisted::run(&options),
        Verb::Import(options) => import::run(&options),
        Verb::Export(options) => export::run(&options),
        Verb::Labels(options) => labels::run(&options),
        Verb::Solve(options) => solve::run(&options),
        Verb::Backup(options) => backup::run(&options),
        Verb::EncodingRoot(options) => encoding_root::run(&options),
        Verb::OpenKeys(options) => open_keys::run(&options),
        Verb::Restore(options) => restore::run(&options),
        Verb::UpgradeDatabase(options) => upgrade_database::run(&options),
        Verb::RotateKey(options) => rotate_key::run(&options),
        Verb::MigrateStore(options) => migrate_store::run(&options),
        Verb::Doctor(options) => doctor::run(&options),
        Verb::Conformance(options) => conformance::run(&options),
        Verb::Generate(options) => generate::run(&options),
    }
}

/// A subscriber layer for the spans and events of this process.
type BoxedLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// Writes logs to stderr. Libraries log only warnings: their debug output of requests and answers
/// may contain keys.
fn log_lines(filter: EnvFilter) -> BoxedLayer {
    let ours = filter_fn(|metadata| {
        metadata.target().starts_with("tapdesk") || *metadata.level() <= LevelFilter::WARN
    });
    // Without a hint, this filter would hide the hint of `filter`, which makes disabled levels
    // free.
    let ours = ours.with_max_level_hint(LevelFilter::TRACE);
    // Each database operation is a span: at debug level, its end is logged with its duration.
    let debugs = filter.max_level_hint() >= Some(LevelFilter::DEBUG);
    let ends = if debugs {
        FmtSpan::CLOSE
    } else {
        FmtSpan::NONE
    };
    tracing_subscriber::fmt::layer()
        .with_span_events(ends)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .with_filter(filter.and(ours))
        .boxed()
}

/// The name by which this program was called, for commands that people copy.
fn program() -> String {
    let called = std::env::args_os().next();
    called.map_or_else(
        || "tapdesk-service".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Not an error: the reader of the output has stopped reading.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
