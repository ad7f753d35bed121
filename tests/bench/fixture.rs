//! Databases full of tags.
//!
//! Every tag leads to one redirect without macros in its URL, has the variables `owner` and
//! `registered`, and one inlay with the plain mirror. All inlays have the same keys. This makes no
//! difference to a server, which derives session keys from the UID and the counter anyway. A
//! million tags are inserted by SQL, because one call per tag would take longer than the
//! measurements.

mod attributes;
mod history;
mod postgres;
mod sqlite;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use tapdesk_service::clock::SystemClock;
use tapdesk_service::entropy::OsEntropy;
use tapdesk_service::id::UrlTemplateId;
use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::technology::Mode;
use tapdesk_service::keyring::Keyring;
use tapdesk_service::storage::Storage;
use tapdesk_service::storage::postgres::{Address, PostgresStorage, Time};
use tapdesk_service::storage::search::with_runs;
use tapdesk_service::storage::sqlite::SqliteStorage;
use tapdesk_tests::TestDatabase;
use tapdesk_tests::postgres::Cluster;
use tempfile::TempDir;
use tokio_postgres::Client;

pub(crate) use attributes::of as attributes;

pub(crate) const FILE_KEY: [u8; 16] = [0x5a; 16];

/// Destination of every tag: a typical landing page.
const TARGET: &str =
    r#"{"kind": "redirect", "target_url": "https://shop.example/register?campaign=spring"}"#;

/// Length of a database's history in milliseconds; its taps are spread evenly over it.
pub(crate) const HISTORY: i64 = 360 * 24 * 60 * 60 * 1000;

/// A database of tags with the ids 1 to `tags`. Their inlays have the same ids.
pub(crate) struct Fixture {
    folder: TempDir,
    pub(crate) tags: u32,
    /// The PostgreSQL database; `None` for a SQLite file in the folder.
    postgres: Option<TestDatabase>,
}

impl Fixture {
    /// Creates the tags in a SQLite file.
    pub(crate) async fn sqlite(tags: u32) -> Result<Self> {
        let fixture = Self::of(tags, None)?;
        fixture.open().await?.close().await;
        sqlite::fill(&fixture)?;
        Ok(fixture)
    }

    /// Creates the tags in PostgreSQL, with `interactions` spread over the tags and the last year.
    pub(crate) async fn postgres(cluster: &Cluster, tags: u32, interactions: u32) -> Result<Self> {
        let fixture = Self::of(tags, Some(cluster.create_database().await))?;
        fixture.open().await?.close().await;
        postgres::fill(&fixture, interactions).await?;
        Ok(fixture)
    }

    /// A copy of the SQLite file in a new folder.
    pub(crate) fn copied(&self) -> Result<Self> {
        let copy = Self::of(self.tags, None)?;
        std::fs::copy(self.file(), copy.file())?;
        std::fs::copy(self.key_file(), copy.key_file())?;
        Ok(copy)
    }

    /// Makes all inlays write their URLs by a template, with one meta key.
    pub(crate) fn at_template(&self, id: UrlTemplateId, mode: Mode, meta_key: &[u8]) -> Result<()> {
        sqlite::at_template(self, id, mode, meta_key)
    }

    /// Puts all tags into a batch below three other groups. The top one has the experience, and the
    /// tags have only their names left.
    pub(crate) fn in_groups(&self) -> Result<()> {
        sqlite::in_groups(self)
    }

    /// Adds this number of unlisted chips of a URL template.
    pub(crate) fn with_unlisted_chips(&self, of: UrlTemplateId, chips: u32) -> Result<()> {
        sqlite::with_unlisted_chips(self, of, chips)
    }

    /// Gives each tag of the SQLite file five attributes.
    pub(crate) fn with_attributes(&self) -> Result<()> {
        attributes::add(self)
    }

    /// The key that wraps the inlays' keys.
    pub(crate) fn keyring(&self) -> Result<Keyring> {
        Ok(Keyring::from_file(&self.key_file(), true, &OsEntropy)?)
    }

    fn of(tags: u32, postgres: Option<TestDatabase>) -> Result<Self> {
        Ok(Self {
            folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?,
            tags,
            postgres,
        })
    }

    /// Adds taps within [`HISTORY`], none of which is counted for reports yet. They lead to several
    /// experiences, and their visitors differ.
    pub(crate) fn with_history(&self, taps: u32) -> Result<()> {
        history::fill(self, taps)
    }

    /// Whether all taps of the history are counted for reports.
    pub(crate) fn is_counted(&self) -> Result<bool> {
        history::is_counted(self)
    }

    /// Opens the database in this process.
    pub(crate) async fn open(&self) -> Result<Storage> {
        let clock = Arc::new(SystemClock::start());
        let Some(database) = &self.postgres else {
            return Ok(SqliteStorage::open(&self.file(), clock, &OsEntropy)?.into());
        };
        let address = Address::parse(&database.url(), |_| None)?;
        let storage = PostgresStorage::open(address, clock, Time::Its, &OsEntropy).await?;
        storage.connect().await?;
        Ok(storage.into())
    }

    /// A direct connection to the PostgreSQL database, not the service's.
    pub(crate) async fn look_into(&self) -> Result<Client> {
        let database = self.postgres.as_ref().context("a PostgreSQL database")?;
        Ok(database.look_into().await)
    }

    /// The database in the form of the service's option.
    pub(crate) fn database(&self) -> String {
        match &self.postgres {
            Some(database) => database.url(),
            None => format!("sqlite:{}", self.file().display()),
        }
    }

    /// Adds one tap per tag to the SQLite file that is not folded yet, as after a crash.
    pub(crate) fn leave_taps_unfolded(&self) -> Result<()> {
        sqlite::leave_taps_unfolded(self)
    }

    fn file(&self) -> PathBuf {
        self.folder().join("tapdesk.db")
    }

    /// Size of the SQLite file and its log on disk, in bytes.
    pub(crate) fn size(&self) -> Result<u64> {
        let log = self.folder().join("tapdesk.db-wal");
        let log = std::fs::metadata(log).map_or(0, |file| file.len());
        Ok(std::fs::metadata(self.file())?.len() + log)
    }

    /// The file of the key that wraps inlay keys.
    pub(crate) fn key_file(&self) -> PathBuf {
        self.folder().join("inlay.key")
    }

    /// The folder of the database's files.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The wrapped file key of all inlays.
    fn file_key(&self) -> Result<Vec<u8>> {
        Ok(self.keyring()?.wrap(&FILE_KEY, &OsEntropy)?)
    }
}

/// A slug that looks random and is unique: multiplication by a number that shares no divisor with
/// 36 permutes the numbers below 36 to the tenth.
pub(crate) fn slug(id: u32) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut rest = u128::from(id) * 2_654_435_769_961 % 36_u128.pow(10);
    (0..10)
        .map(|_| {
            let digit = DIGITS[usize::try_from(rest % 36).expect("less than 36")];
            rest /= 36;
            char::from(digit)
        })
        .collect()
}

pub(crate) fn uid(id: u32) -> Uid {
    let [a, b, c, d] = id.to_be_bytes();
    Uid::from_bytes([0x04, 0xde, 0x5f, a, b, c, d])
}

/// The text of a tag that searches compare, as the service writes it, with these values of
/// attributes.
fn folded(id: u32, values: &[String]) -> String {
    let mut text = format!("\u{1f}bottle {id}\u{1f}{}\u{1f}bottle\u{1f}", slug(id));
    for value in values {
        text += value;
        text.push('\u{1f}');
    }
    // A code stands there without its separators, too.
    for code in values.iter().filter(|value| value.contains('-')) {
        text += &code.replace('-', "");
        text.push('\u{1f}');
    }
    with_runs(text, '\u{1f}')
}
