//! `doctor`: finds problems of an installation, each with its solution.

mod backups;
mod certificates;
mod disk;
mod drill;
mod mail;

use std::fmt::Display;
use std::io::{self, ErrorKind, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};
use tapdesk_service::client::{Limits, agent};
use tapdesk_service::clock::{Clock as _, SystemClock, Timestamp};
use tapdesk_service::keyring::{self, Keyring};
use tapdesk_service::plural::counted;
use tapdesk_service::private_file;
use tapdesk_service::rotate::files::KeyFiles;
use tapdesk_service::start::Database;
use tapdesk_service::storage::postgres::{self, Address};
use tapdesk_service::storage::{Examination, NotificationTrouble, sqlite};

use super::client::Connection;
use crate::options::{self, Certificates, KeyFile, Listening, PassphraseFile, S3};

#[derive(Args)]
pub(super) struct Options {
    #[command(flatten)]
    connection: Connection,

    #[command(flatten)]
    key_file: KeyFile,

    #[command(flatten)]
    listening: Listening,

    /// Also restore the newest backup of the schedule in a temporary folder, and compare it with the database.
    #[arg(long)]
    restore_drill: bool,

    #[command(flatten)]
    passphrase: PassphraseFile,

    #[command(flatten)]
    s3: S3,

    #[command(flatten)]
    certificates: Certificates,
}

/// The result of one check.
enum Finding {
    /// Everything is in order.
    Good(String),
    /// A problem that will affect some functions; contains the solution.
    Warning(String),
    /// A problem that prevents the service from working; contains the solution.
    Bad(String),
}

use Finding::{Bad, Good, Warning};

/// Whether the content of the database can be checked.
enum Content {
    /// Each of its parts can be.
    Ready,
    /// There is no database yet.
    Absent,
    /// It cannot be, for this reason.
    Unchecked(&'static str),
}

impl Content {
    fn of(found: &Finding, examination: Option<&Examination>) -> Self {
        match examination {
            Some(examination) if !examination.missing_tables.is_empty() => {
                Self::Unchecked("Not checked: the database lacks tables.")
            }
            Some(examination) if examination.is_older => {
                Self::Unchecked("Not checked: the database is to be upgraded first.")
            }
            Some(_) => Self::Ready,
            None if matches!(found, Bad(_)) => {
                Self::Unchecked("Not checked: the database cannot be used.")
            }
            None => Self::Absent,
        }
    }

    /// The finding about a part of a database that cannot be checked; `None` if it can be.
    fn finding(&self, absent: &str) -> Option<Finding> {
        match self {
            Self::Ready => None,
            Self::Absent => Some(Good(absent.to_owned())),
            Self::Unchecked(why) => Some(Warning((*why).to_owned())),
        }
    }
}

pub(super) fn run(options: &Options) -> Result<()> {
    let now = SystemClock::start().now();
    let database = options.connection.installation().database()?;
    let (found, examination) = match &database {
        Database::Sqlite(path) => sqlite_database(path),
        Database::Postgres(address) => postgres_database(address)?,
    };
    let content = Content::of(&found, examination.as_ref());
    let running = options.connection.open().and_then(|client| {
        let settings = client.get("/settings")?;
        let mail = client.get("/mail").unwrap_or_default();
        // The service stores the result, which fails on a full disk.
        Ok((settings, mail, client.post("/tag-url/check", &json!({}))))
    });
    let mut findings = vec![
        (
            "SQLite",
            sqlite::check_sqlite().map_or_else(bad, |version| Good(version.to_owned())),
        ),
        ("Clock", clock(now, examination.as_ref())),
        ("Database", found),
        ("Audit log", audit(&database, &content)?),
        (
            "Backups",
            backups::check(&database, &content, &options.s3.server()),
        ),
        ("Notifications", notifications(&database, &content, now)?),
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
    if let Database::Sqlite(path) = &database {
        let settings = running.as_ref().ok().map(|(settings, ..)| settings);
        let limit = disk::limit(settings, path, &content);
        findings.push(("Disk", disk::check(path, limit)));
    }
    if options.restore_drill {
        findings.push(("Restore drill", drill::run(&database, options, now)?));
    }
    match running {
        Ok((_, mail, check)) => {
            findings.push((
                "Service",
                Good(format!("it answers at {}", options.connection.url())),
            ));
            findings.push((
                "Public base URL",
                check.map_or_else(
                    |error| Warning(format!("It could not be checked: {error}")),
                    |check| tag_address(&check),
                ),
            ));
            findings.extend(mail::check(&mail).map(|found| ("Mail", found)));
        }
        Err(error) => {
            findings.push(("Service", bad(error)));
            findings.extend(ports(options));
        }
    }
    if let Some(acme) = options.certificates.acme() {
        let is_ready = matches!(content, Content::Ready);
        let states = certificates::states(&database, is_ready)?;
        for domain in &acme.domains {
            let state = certificates::find(&states, domain, &acme.directory);
            findings.push(("Certificate", certificates::certificate(domain, state, now)));
            findings.push(("DNS", certificates::dns(domain)));
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

/// Checks the clock, because rolling keys expire by it.
fn clock(now: Timestamp, examination: Option<&Examination>) -> Finding {
    /// 2026-01-01T00:00:00Z. This program did not exist earlier.
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
        Ok(Some(examination)) if examination.is_older => {
            let finding = Bad(format!(
                "{address} was made by an older Tapdesk, and this version does not start on it. Make a backup with \
                 pg_dump, then run tapdesk-service upgrade-database."
            ));
            (finding, Some(examination))
        }
        Ok(examination) => (
            Good(format!("{address} is a Tapdesk database and answers")),
            examination,
        ),
    })
}

/// Checks the audit log by reading all of it.
fn audit(database: &Database, content: &Content) -> Result<Finding> {
    if let Some(finding) = content.finding("there is none yet") {
        return Ok(finding);
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

/// Checks that messages of notifications arrive.
fn notifications(database: &Database, content: &Content, now: Timestamp) -> Result<Finding> {
    if let Some(finding) = content.finding("there are none yet") {
        return Ok(finding);
    }
    let trouble = match database {
        Database::Sqlite(path) => {
            sqlite::notification_trouble(path, now).map_err(|error| error.to_string())
        }
        Database::Postgres(address) => {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            let trouble = runtime.block_on(postgres::notification_trouble(address, now));
            trouble.map_err(|error| error.to_string())
        }
    };
    let NotificationTrouble {
        failing,
        restored,
        lacks_server,
    } = match trouble {
        Ok(trouble) => trouble,
        Err(error) => return Ok(Bad(error)),
    };
    let mut warnings = Vec::new();
    if failing > 0 {
        warnings.push(format!(
            "Messages of {} do not arrive. The settings say why.",
            counted(failing, "notification")
        ));
    }
    if lacks_server {
        warnings.push(
            "There is no mail server, and notifications go by mail. Set one in the settings."
                .to_owned(),
        );
    }
    if restored > 0 {
        warnings.push(format!(
            "A restore or a move switched off {}. Switch them on in the settings if this service replaces the original.",
            counted(restored, "notification")
        ));
    }
    Ok(if warnings.is_empty() {
        Good("no message is late or refused".to_owned())
    } else {
        Warning(warnings.join(" "))
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
        Ok(examination) if examination.is_older => {
            let finding = Warning(format!(
                "{shown} was made by an older Tapdesk. The next start of the service copies it, and upgrades it."
            ));
            (finding, Some(examination))
        }
        Ok(examination) => rows(path, examination),
    }
}

/// Checks the database by reading every row.
fn rows(path: &Path, examination: Examination) -> (Finding, Option<Examination>) {
    let shown = path.display();
    match sqlite::check_rows(path) {
        Err(error) => (bad(error), Some(examination)),
        Ok(()) if private_file::is_open_to_others(path).unwrap_or(false) => {
            (Warning(open_to_others(path)), Some(examination))
        }
        Ok(()) => (Good(format!("{shown} is intact")), Some(examination)),
    }
}

/// The sentence about a file that only its owner should read, with the command that helps.
fn open_to_others(file: &Path) -> String {
    let word = options::shell_word(&file.to_string_lossy());
    format!("Others can read {}. Run: chmod 600 {word}", file.display())
}

fn admin_token(connection: &Connection) -> Finding {
    match options::admin_token() {
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
        Ok(true) => Bad(open_to_others(&file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Warning(format!(
            "No token in {shown} yet. The first start creates it."
        )),
        Err(error) => Bad(format!("{shown} cannot be read: {error}.")),
    }
}

fn inlay_key(file: &Path, examination: Option<&Examination>) -> Finding {
    let shown = file.display();
    let wrapped = examination.and_then(|examination| examination.wrapped_key.as_deref());
    let is_half_restored = wrapped
        .is_some_and(|wrapped| KeyFiles::of_restore(file).is_half_restored(wrapped) == Ok(true));
    if is_half_restored {
        return Warning(format!(
            "A restore was ended before its key took its place at {shown}. The next start of the service finishes it."
        ));
    }
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
            Bad(open_to_others(file))
        }
        Ok(Some(_)) => Good(format!("it is in {shown}; keep a copy of it")),
    }
}

/// Checks each port that a service with these options listens on. If it listens there already, none of
/// them is free, and none is in the way.
fn ports(options: &Options) -> Vec<(&'static str, Finding)> {
    let listen = options.listening.listen;
    if is_tapdesk(listen) {
        let found = Good(format!("a Tapdesk service listens on {listen}"));
        return vec![("Port", found)];
    }
    let mut all = vec![port("--listen", listen)];
    if options.certificates.acme().is_some() {
        let Certificates {
            https_listen,
            http_listen,
            ..
        } = options.certificates;
        all.push(port("--https-listen", https_listen));
        all.push(port("--http-listen", http_listen));
    }
    all.into_iter().map(|found| ("Port", found)).collect()
}

/// Whether a Tapdesk service answers at this address.
fn is_tapdesk(listen: SocketAddr) -> bool {
    // It is on this machine.
    let limits = Limits {
        connect: Duration::from_secs(2),
        answer: Duration::from_secs(2),
    };
    let url = format!("http://{}/health", options::reachable(listen));
    let agent = agent(&url, limits).timeout_recv_body(Some(limits.answer));
    let answer = agent.build().new_agent().get(&url).call();
    answer.is_ok_and(|mut answer| {
        let body = answer.body_mut().read_json::<Value>();
        body.is_ok_and(|body| body["status"] == "ok")
    })
}

fn port(option: &str, listen: SocketAddr) -> Finding {
    match TcpListener::bind(listen) {
        Ok(_) => Good(format!("{listen} is free to listen on")),
        Err(error) => bad(options::cannot_listen(option, listen, &error)),
    }
}

/// The tag URL for prints and chips, as checked by the service.
fn tag_address(check: &Value) -> Finding {
    let text = |member: &str| check[member].as_str().unwrap_or_default().to_owned();
    if check["state"] == "proved" {
        return Good(text("detail"));
    }
    if check["reason"] == "loopback" {
        let tag_url = text("tag_url");
        return Warning(format!(
            "{tag_url} works only on this machine. Set --tag-url before you print or encode tags."
        ));
    }
    Warning(text("detail"))
}
