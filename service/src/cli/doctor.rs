//! `doctor`: what stands in the way of a service, each with its way out.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use anyhow::{Result, bail};
use clap::Args;
use tapdesk_service::clock::{Clock as _, SystemClock, Timestamp};
use tapdesk_service::keyring::{self, Keyring};
use tapdesk_service::private_file;
use tapdesk_service::start::Database;
use tapdesk_service::storage::postgres::{self, Address};
use tapdesk_service::storage::{Examination, sqlite};
use url::Url;

use super::client::{self, Connection};
use crate::config::{self, KeyFile, Listening};

#[derive(Args)]
pub(super) struct Options {
    #[command(flatten)]
    connection: Connection,

    #[command(flatten)]
    key_file: KeyFile,

    #[command(flatten)]
    listening: Listening,
}

/// What was found about one subject.
enum Finding {
    /// As it should be.
    Good(String),
    /// It will be in the way of something; how to change that.
    Warning(String),
    /// The service cannot work so; how to change that.
    Bad(String),
}

use Finding::{Bad, Good, Warning};

pub(super) fn run(options: &Options) -> Result<()> {
    let now = SystemClock::start().now();
    let database = options.connection.installation().database()?;
    let (found, examination) = match &database {
        Database::Sqlite(path) => sqlite_database(path),
        Database::Postgres(address) => postgres_database(address)?,
    };
    let running = options.connection.open().and_then(|client| {
        let settings = client.get("/settings")?;
        Ok(settings["tag_url"]["value"]
            .as_str()
            .unwrap_or_default()
            .to_owned())
    });
    let mut findings = vec![
        (
            "SQLite",
            sqlite::check_sqlite().map_or_else(bad, |version| Good(version.to_owned())),
        ),
        ("Clock", clock(now, examination.as_ref())),
        ("Database", found),
        ("Audit log", audit(&database, examination.as_ref())?),
        ("Admin token", admin_token(&options.connection)),
        (
            "Inlay key",
            match options.key_file.of(&database) {
                Some(file) => inlay_key(&file, examination.as_ref()),
                None => {
                    Warning("This node has none. Set TAPDESK_KEY_FILE to verify codes.".to_owned())
                }
            },
        ),
    ];
    match running {
        Ok(tag_url) => {
            findings.push((
                "Service",
                Good(format!("it answers at {}", options.connection.url())),
            ));
            findings.push(("Public base URL", tag_address(&tag_url)));
        }
        Err(error) => {
            findings.push(("Service", bad(error)));
            findings.push(("Port", port(options.listening.listen)));
        }
    }

    let mut out = io::stdout().lock();
    for (subject, finding) in &findings {
        let (mark, text) = match finding {
            Good(text) => ("ok", text),
            Warning(text) => ("warn", text),
            Bad(text) => ("FAIL", text),
        };
        writeln!(out, "{mark:<5} {subject:<12} {text}")?;
    }
    let bad = findings
        .iter()
        .filter(|(_, finding)| matches!(finding, Bad(_)));
    match bad.count() {
        0 => Ok(()),
        1 => bail!("One problem found."),
        count => bail!("{count} problems found."),
    }
}

fn bad(error: impl Display) -> Finding {
    Bad(error.to_string())
}

/// The clock decides about rolling keys: it must not be far off.
fn clock(now: Timestamp, examination: Option<&Examination>) -> Finding {
    /// 2026-01-01T00:00:00Z, before which this program was not there.
    const EARLIEST: Timestamp = Timestamp::from_millis(1_767_225_600_000);
    let newest = examination.and_then(|examination| examination.newest_at);
    if now < EARLIEST {
        Bad(format!(
            "The machine's clock says {now}. Set it: rolling keys expire by it."
        ))
    } else if newest.is_some_and(|newest| newest > now) {
        Warning(format!(
            "The machine's clock says {now}, which is before the newest interaction. If that is wrong, set it."
        ))
    } else {
        Good(now.to_string())
    }
}

fn postgres_database(address: &Address) -> Result<(Finding, Option<Examination>)> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    Ok(match runtime.block_on(postgres::examine(address)) {
        Err(error) => (bad(error), None),
        Ok(None) => {
            let finding = Warning(format!(
                "{address} is empty. The first start initialises it."
            ));
            (finding, None)
        }
        Ok(Some(examination)) if !examination.missing_tables.is_empty() => {
            (lacks(address, &examination), Some(examination))
        }
        Ok(examination) => (
            Good(format!("{address} is a Tapdesk database and answers")),
            examination,
        ),
    })
}

/// Reads all of the log.
fn audit(database: &Database, examination: Option<&Examination>) -> Result<Finding> {
    if examination.is_none_or(|examination| !examination.missing_tables.is_empty()) {
        return Ok(Good("there is none yet".to_owned()));
    }
    let fault = match database {
        Database::Sqlite(path) => sqlite::check_audit(path).map_err(|error| error.to_string()),
        Database::Postgres(address) => {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            let fault = runtime.block_on(postgres::check_audit(address));
            fault.map_err(|error| error.to_string())
        }
    };
    Ok(match fault {
        Ok(None) => Good("no row was changed or removed".to_owned()),
        Ok(Some(fault)) => Bad(format!(
            "{fault} Compare it with an export or a backup, and find out who can write to the database."
        )),
        Err(error) => Bad(error),
    })
}

fn lacks(database: &dyn Display, examination: &Examination) -> Finding {
    let tables = examination.missing_tables.join(", ");
    Bad(format!(
        "{database} lacks tables of its format: {tables}. Restore a backup."
    ))
}

fn sqlite_database(path: &Path) -> (Finding, Option<Examination>) {
    let shown = path.display();
    match path.try_exists() {
        Ok(true) => {}
        Ok(false) => {
            let finding = Warning(format!(
                "No database at {shown} yet. The first start creates it."
            ));
            return (finding, None);
        }
        Err(error) => return (Bad(format!("{shown} cannot be read: {error}.")), None),
    }
    match sqlite::examine(path) {
        Err(error) => (bad(error), None),
        Ok(examination) if !examination.missing_tables.is_empty() => {
            (lacks(&shown, &examination), Some(examination))
        }
        Ok(examination) if private_file::is_open_to_others(path).unwrap_or(false) => {
            let finding = Warning(format!("Others can read {shown}. Run: chmod 600 {shown}"));
            (finding, Some(examination))
        }
        Ok(examination) => (Good(format!("{shown} is intact")), Some(examination)),
    }
}

fn admin_token(connection: &Connection) -> Finding {
    match config::admin_token() {
        Ok(Some(_)) => return Good("it is in TAPDESK_ADMIN_TOKEN".to_owned()),
        Ok(None) => {}
        Err(error) => return bad(error),
    }
    let file = match connection.installation().token_file() {
        Ok(file) => file,
        Err(error) => return bad(error),
    };
    let shown = file.display();
    match private_file::is_open_to_others(&file) {
        Ok(false) => Good(format!("it is in {shown}")),
        Ok(true) => Bad(format!("Others can read {shown}. Run: chmod 600 {shown}")),
        Err(error) if error.kind() == ErrorKind::NotFound => Warning(format!(
            "No token in {shown} yet. The first start creates it."
        )),
        Err(error) => Bad(format!("{shown} cannot be read: {error}.")),
    }
}

fn inlay_key(file: &Path, examination: Option<&Examination>) -> Finding {
    let shown = file.display();
    let wrapped = examination.and_then(|examination| examination.wrapped_key.as_deref());
    let way_out = "Put the right file there, or restore a backup that contains the key.";
    match keyring::file::read(file) {
        Err(error) => bad(error),
        Ok(None) if wrapped.is_some() => Bad(format!(
            "{shown} is missing, and inlays in the database need it. {way_out}"
        )),
        Ok(None) => Good("none, and no inlay needs one yet".to_owned()),
        Ok(Some(key))
            if Keyring::open(&key)
                .for_stored(wrapped)
                .why_locked()
                .is_some() =>
        {
            Bad(format!(
                "The key in {shown} is not the key of the inlays in the database. {way_out}"
            ))
        }
        Ok(Some(_)) if private_file::is_open_to_others(file).unwrap_or(false) => {
            Bad(format!("Others can read {shown}. Run: chmod 600 {shown}"))
        }
        Ok(Some(_)) => Good(format!("it is in {shown}; keep a copy of it")),
    }
}

fn port(listen: SocketAddr) -> Finding {
    match TcpListener::bind(listen) {
        Ok(_) => Good(format!("{listen} is free to listen on")),
        Err(error) => bad(config::cannot_listen(listen, &error)),
    }
}

/// The address that is printed and burnt into chips.
fn tag_address(tag_url: &str) -> Finding {
    let Ok(url) = Url::parse(tag_url) else {
        return Bad(format!("{tag_url} is not a URL."));
    };
    if client::is_loopback(&url) {
        return Warning(format!(
            "{tag_url} works only on this machine. Set --tag-url before you print or encode tags."
        ));
    }
    match client::plain_agent(&url).head(tag_url).call() {
        Ok(_) => Good(format!("{tag_url} can be reached from here")),
        Err(error) => Warning(format!(
            "{tag_url} cannot be reached from here ({error}). If phones cannot reach it either, check its name and the proxy."
        )),
    }
}
