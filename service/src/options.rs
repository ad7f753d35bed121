//! Arguments and environment, read once: an argument overrides its variable. Secrets come from the
//! environment or from files, never from arguments.
//!
//! The doc comment of an option is its help, and its row in `docs/reference/options.md`. The text after
//! "Default:" is the row's last column.

mod acme;
mod listening;
mod settings;
mod shell_word;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use clap::builder::BoolishValueParser;
use tapdesk_service::admin_token::AdminToken;
use tapdesk_service::clock::Millis;
use tapdesk_service::s3_server::S3Server;
use tapdesk_service::start::{Database, TestMode, WrappingKey};
use tapdesk_service::storage::postgres::Address;
use url::Url;
use zeroize::Zeroizing;

pub(crate) use acme::Certificates;
pub(crate) use listening::{LISTEN, Listening, cannot_listen, reachable};
pub(crate) use settings::FixedSettings;
pub(crate) use shell_word::shell_word;

/// Which installation: the database, and the admin token beside it.
#[derive(Args, Clone, Debug)]
pub(crate) struct Installation {
    /// The database: `sqlite:PATH` or `postgres://USER@HOST/DATABASE`. Default: `tapdesk.db` in the user's data folder.
    #[arg(
        long,
        env = "TAPDESK_DATABASE",
        value_name = "URL",
        hide_env_values = true,
        global = true
    )]
    database: Option<String>,

    /// The file with the generated admin token. Default: `admin.token` beside a SQLite file, otherwise in the user's data folder.
    #[arg(long, env = "TAPDESK_TOKEN_FILE", value_name = "FILE", global = true)]
    token_file: Option<PathBuf>,
}

impl Installation {
    /// The database of the installation.
    pub(crate) fn database(&self) -> Result<Database> {
        match &self.database {
            Some(url) => database(url),
            None => Ok(Database::Sqlite(data_folder()?.join("tapdesk.db"))),
        }
    }

    /// The same installation for another command, if it is not the usual one.
    pub(crate) fn as_arguments(&self) -> String {
        let database = self
            .database
            .as_ref()
            .filter(|url| !has_password(url))
            .map(|url| format!(" --database {}", shell_word(url)));
        let token = self.token_file.as_ref();
        let token = token.map(|file| {
            let file = shell_word(&file.to_string_lossy());
            format!(" --token-file {file}")
        });
        database.unwrap_or_default() + &token.unwrap_or_default()
    }

    /// The file with the admin token.
    pub(crate) fn token_file(&self) -> Result<PathBuf> {
        match &self.token_file {
            Some(path) => Ok(path.clone()),
            None => Ok(match self.database()? {
                Database::Sqlite(path) => path.with_file_name("admin.token"),
                Database::Postgres(_) => data_folder()?.join("admin.token"),
            }),
        }
    }
}

/// Where the key is that wraps inlay keys.
#[derive(Args, Clone, Debug)]
pub(crate) struct KeyFile {
    /// The file with the key that wraps inlay keys. Default: `inlay.key` beside a SQLite file, none for PostgreSQL.
    #[arg(long, env = "TAPDESK_KEY_FILE", value_name = "FILE")]
    key_file: Option<PathBuf>,
}

impl KeyFile {
    /// The file of the key for the SQLite file `database`.
    pub(crate) fn path(&self, database: &Path) -> PathBuf {
        self.key_file
            .clone()
            .unwrap_or_else(|| database.with_file_name("inlay.key"))
    }

    /// The file of the key for `database`, if there is one.
    pub(crate) fn of(&self, database: &Database) -> Option<PathBuf> {
        match database {
            Database::Sqlite(path) => Some(self.path(path)),
            Database::Postgres(_) => self.key_file.clone(),
        }
    }

    /// Where a service on `database` has its key from.
    pub(crate) fn wrapping_key(&self, database: &Database) -> WrappingKey {
        match database {
            Database::Sqlite(path) => WrappingKey::File(self.path(path)),
            Database::Postgres(_) => WrappingKey::Shared(self.key_file.clone()),
        }
    }
}

/// Which passphrase. It comes from `TAPDESK_PASSPHRASE` or a file.
#[derive(Args, Clone, Debug)]
pub(crate) struct PassphraseFile {
    /// The file with the passphrase. Default: the value of `TAPDESK_PASSPHRASE`.
    #[arg(long, env = "TAPDESK_PASSPHRASE_FILE", value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
}

impl PassphraseFile {
    /// The passphrase, if there is one.
    pub(crate) fn read(&self) -> Result<Option<Zeroizing<String>>> {
        match &self.passphrase_file {
            Some(path) => read_passphrase(path).map(Some),
            None => Ok(std::env::var("TAPDESK_PASSPHRASE")
                .ok()
                .map(without_line_end)),
        }
    }
}

/// The passphrase in the file at `path`.
pub(crate) fn read_passphrase(path: &Path) -> Result<Zeroizing<String>> {
    let read = std::fs::read_to_string(path);
    let text = read.map_err(|error| anyhow!("{} cannot be read: {error}.", path.display()))?;
    Ok(without_line_end(text))
}

fn without_line_end(text: String) -> Zeroizing<String> {
    let text = Zeroizing::new(text);
    Zeroizing::new(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// The server of backups in buckets.
#[derive(Args, Clone, Debug)]
pub(crate) struct S3 {
    /// The server of buckets (`s3://`): a URL with `https`, or with `http` on this machine. Default: Amazon's.
    #[arg(long = "s3-endpoint", env = "AWS_ENDPOINT_URL", value_name = "URL")]
    endpoint: Option<String>,

    /// The region of buckets (`s3://`). Default: `us-east-1`.
    #[arg(long = "s3-region", env = "AWS_REGION", value_name = "NAME")]
    region: Option<String>,

    /// The access key for buckets (`s3://`). Its secret is in the variable `AWS_SECRET_ACCESS_KEY`.
    #[arg(
        long = "s3-access-key",
        env = "AWS_ACCESS_KEY_ID",
        value_name = "NAME",
        hide_env_values = true
    )]
    access_key: Option<String>,
}

impl S3 {
    /// The server, with the secret of the access key.
    pub(crate) fn server(&self) -> S3Server {
        S3Server::from_variables(|name| match name {
            "AWS_ENDPOINT_URL" => self.endpoint.clone(),
            "AWS_REGION" => self.region.clone(),
            "AWS_ACCESS_KEY_ID" => self.access_key.clone(),
            _ => std::env::var(name).ok(),
        })
    }
}

/// How long connections stay open.
#[derive(Args, Clone, Debug)]
pub(crate) struct Connections {
    /// How many seconds an idle connection stays open: longer than a load balancer keeps its own.
    #[arg(
        long,
        env = "TAPDESK_KEEP_ALIVE",
        value_name = "SECONDS",
        default_value_t = 75
    )]
    keep_alive: u32,

    /// How many seconds `/ready` answers 503 after SIGTERM or SIGHUP, before connections close: as long as two checks of a load balancer take. Everything else is answered meanwhile.
    #[arg(
        long,
        env = "TAPDESK_SHUTDOWN_DELAY",
        value_name = "SECONDS",
        default_value_t = 3
    )]
    shutdown_delay: u32,
}

impl Connections {
    pub(crate) fn keep_alive(&self) -> Duration {
        Duration::from_secs(self.keep_alive.into())
    }

    pub(crate) fn shutdown_delay(&self) -> Duration {
        Duration::from_secs(self.shutdown_delay.into())
    }
}

/// Every option of `serve`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub installation: Installation,

    #[command(flatten)]
    pub key_file: KeyFile,

    #[command(flatten)]
    pub listening: Listening,

    #[command(flatten)]
    pub certificates: Certificates,

    #[command(flatten)]
    pub connections: Connections,

    /// An MMDB file that maps visitors' addresses to countries.
    #[arg(long, env = "TAPDESK_COUNTRY_FILE", value_name = "FILE")]
    pub country_file: Option<PathBuf>,

    /// Let webhooks go to addresses that are not on the public internet, such as those of this machine and its network.
    #[arg(long, env = "TAPDESK_PRIVATE_WEBHOOKS", value_parser = BoolishValueParser::new())]
    pub private_webhooks: bool,

    /// Memory for the configuration of tags, in megabytes. A tag takes about 300 bytes; one that is not in memory is read at its tap.
    #[arg(
        long,
        env = "TAPDESK_TAG_CACHE",
        value_name = "MEGABYTES",
        default_value_t = 300
    )]
    pub tag_cache: usize,

    #[command(flatten)]
    pub s3: S3,

    #[command(flatten)]
    pub test: Test,

    #[command(
        flatten,
        next_help_heading = "Settings (read-only in the admin API if set here)"
    )]
    pub settings: FixedSettings,
}

/// Test mode.
#[derive(Args, Clone, Debug)]
#[expect(
    clippy::struct_field_names,
    reason = "the fields are named as their options"
)]
pub(crate) struct Test {
    /// Test mode: `/admin/v1/clock` can move the service's time forward.
    #[arg(long, env = "TAPDESK_TEST_CLOCK", value_parser = BoolishValueParser::new())]
    test_clock: bool,

    /// Test mode: the error of this node's own clock, in milliseconds.
    #[arg(
        long,
        env = "TAPDESK_TEST_SKEW",
        value_name = "MILLISECONDS",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    test_skew: i64,

    /// Test mode: how often counts of taps are folded into SQLite's tables, in milliseconds
    #[arg(long, env = "TAPDESK_TEST_FOLD", value_name = "MILLISECONDS")]
    test_fold: Option<u64>,
}

impl Test {
    /// The test mode that the options choose, if any.
    pub(crate) fn mode(&self) -> Result<Option<TestMode>> {
        match (self.test_clock, self.test_skew, self.test_fold) {
            (true, skew, fold) => Ok(Some(TestMode {
                skew: Millis::new(skew),
                fold_every: fold.map(Duration::from_millis),
            })),
            (false, 0, None) => Ok(None),
            (false, 0, Some(_)) => {
                bail!("Folding at another pace is for tests: set TAPDESK_TEST_CLOCK, too.")
            }
            (false, ..) => {
                bail!("A clock that is wrong is for tests: set TAPDESK_TEST_CLOCK, too.")
            }
        }
    }
}

/// The admin token from the environment, if it is set.
pub(crate) fn admin_token() -> Result<Option<AdminToken>> {
    match std::env::var("TAPDESK_ADMIN_TOKEN") {
        Ok(text) => {
            let token = AdminToken::parse(&text).context(
                "The admin token in TAPDESK_ADMIN_TOKEN has fewer than 32 characters. \
                 Choose a longer one, or unset it to have one made.",
            )?;
            Ok(Some(token))
        }
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => {
            bail!("The admin token in TAPDESK_ADMIN_TOKEN is not text.")
        }
    }
}

/// Refuses arguments that contain a password: every user of the machine can read them.
pub(crate) fn refuse_passwords(arguments: impl Iterator<Item = OsString>) -> Result<()> {
    for argument in arguments {
        let argument = argument.to_string_lossy();
        let value = argument
            .split_once('=')
            .map_or(&*argument, |(option, value)| {
                if option.starts_with('-') {
                    value
                } else {
                    &argument
                }
            });
        if has_password(value) {
            bail!(
                "A password does not belong in an argument, which every user of the machine can read. \
                 Put the URL into its variable instead (TAPDESK_DATABASE; TAPDESK_FROM and TAPDESK_TO of \
                 migrate-store), or the password into PGPASSWORD."
            );
        }
    }
    Ok(())
}

/// Whether `text` is a URL with a password in it.
fn has_password(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else {
        return false;
    };
    if !scheme.starts_with("postgres") {
        return Url::parse(text).is_ok_and(|url| url.password().is_some());
    }
    // A URL that names several hosts is not valid for other parsers.
    let (authority, query) = rest.split_once('?').unwrap_or((rest, ""));
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    user.is_some_and(|user| user.contains(':'))
        || query.split('&').any(|pair| pair.starts_with("password="))
}

/// The database that a URL names.
pub(crate) fn database(url: &str) -> Result<Database> {
    if url.starts_with("postgres:") || url.starts_with("postgresql:") {
        let address = Address::parse(url, |name| std::env::var(name).ok())?;
        return Ok(Database::Postgres(Box::new(address)));
    }
    match url.strip_prefix("sqlite:") {
        None => bail!(
            "A database is named as sqlite:PATH, such as sqlite:data/tapdesk.db, or as postgres://USER@HOST/DATABASE."
        ),
        Some("" | ":memory:") => {
            bail!("The database needs a file to survive in, such as sqlite:data/tapdesk.db.")
        }
        Some(path) => Ok(Database::Sqlite(PathBuf::from(path))),
    }
}

/// The user's folder for the data of this program.
fn data_folder() -> Result<PathBuf> {
    let folders = directories::ProjectDirs::from("", "", "Tapdesk").context(
        "There is no home folder to keep data in. Name a database with --database sqlite:PATH.",
    )?;
    Ok(folders.data_dir().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_named_as_sqlite_and_a_path() {
        for (url, path) in [
            ("sqlite:data/tapdesk.db", "data/tapdesk.db"),
            ("sqlite:/var/lib/tapdesk.db", "/var/lib/tapdesk.db"),
            ("sqlite:///var/lib/tapdesk.db", "///var/lib/tapdesk.db"),
        ] {
            let Database::Sqlite(named) = database(url).unwrap() else {
                panic!("{url}");
            };
            assert_eq!(named, Path::new(path));
        }
        for url in [
            "",
            "data/tapdesk.db",
            "sqlite:",
            "sqlite::memory:",
            "postgres:data/tapdesk.db",
        ] {
            assert!(database(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_password_in_an_argument_is_refused_in_words_that_do_not_repeat_it() {
        let check =
            |argument: &str| refuse_passwords(["serve".into(), argument.into()].into_iter());
        for argument in [
            "postgres://me:secret@db/t",
            "--database=postgres://me:secret@db/t",
            "postgresql://me:secret@one,two:5433/t",
            "postgres://db/t?user=me&password=secret",
            "https://me:secret@proxy/",
        ] {
            let error = check(argument).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
        for argument in [
            "postgres://me@db:5433/t",
            "postgres://%2Fvar%2Frun:5433/t",
            "sqlite:a:b@c",
            "--tag-url=http://127.0.0.1:8787/t",
        ] {
            assert!(check(argument).is_ok(), "{argument}");
        }
    }
}
