//! Databases full of tags.
//!
//! Every tag leads to one redirect without macros in its URL, has the variables
//! `owner` and `registered`, and one inlay with the plain mirror. All inlays have the same
//! keys, which makes no difference to a server: it derives session keys from the
//! UID and the counter anyway. A million tags go in by SQL, since one call for
//! each would take longer than the measurements.

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
use tapdesk_service::storage::sqlite::SqliteStorage;
use tapdesk_tests::TestDatabase;
use tapdesk_tests::postgres::Cluster;
use tempfile::TempDir;
use tokio_postgres::Client;

pub(crate) const FILE_KEY: [u8; 16] = [0x5a; 16];

/// Where every tag leads: a landing page of an owner, as they look.
const TARGET: &str =
    r#"{"kind": "redirect", "target_url": "https://shop.example/register?campaign=spring"}"#;

/// How far back the history of a database goes, in milliseconds; its taps are spread evenly over it.
pub(crate) const HISTORY: i64 = 360 * 24 * 60 * 60 * 1000;

/// A database of tags with the ids 1 to `tags`; their inlays have the same ids.
pub(crate) struct Fixture {
    folder: TempDir,
    pub(crate) tags: u32,
    /// `None`: a SQLite file in the folder.
    postgres: Option<TestDatabase>,
}

impl Fixture {
    /// Makes one in a SQLite file.
    pub(crate) async fn sqlite(tags: u32) -> Result<Self> {
        let fixture = Self::of(tags, None)?;
        fixture.open().await?.close().await;
        sqlite::fill(&fixture)?;
        Ok(fixture)
    }

    /// Makes one on a server, with `interactions` spread over its tags and the last year.
    pub(crate) async fn postgres(cluster: &Cluster, tags: u32, interactions: u32) -> Result<Self> {
        let fixture = Self::of(tags, Some(cluster.create_database().await))?;
        fixture.open().await?.close().await;
        postgres::fill(&fixture, interactions).await?;
        Ok(fixture)
    }

    /// The same tags in a SQLite file of their own.
    pub(crate) fn copied(&self) -> Result<Self> {
        let copy = Self::of(self.tags, None)?;
        std::fs::copy(self.file(), copy.file())?;
        std::fs::copy(self.key_file(), copy.key_file())?;
        Ok(copy)
    }

    /// Has all inlays write their URLs by a template, with one meta key.
    pub(crate) fn at_template(&self, id: UrlTemplateId, mode: Mode, meta_key: &[u8]) -> Result<()> {
        sqlite::at_template(self, id, mode, meta_key)
    }

    /// The key that wraps those of inlays.
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

    /// Has had so many taps within [`HISTORY`], none of which is counted for reports yet. They lead to
    /// several experiences, and their visitors differ.
    pub(crate) fn with_history(&self, taps: u32) -> Result<()> {
        history::fill(self, taps)
    }

    /// Whether all taps of a history are counted for reports.
    pub(crate) fn is_counted(&self) -> Result<bool> {
        history::is_counted(self)
    }

    /// Its database, opened in this process.
    pub(crate) async fn open(&self) -> Result<Arc<dyn Storage>> {
        let clock = Arc::new(SystemClock::start());
        let Some(database) = &self.postgres else {
            return Ok(Arc::new(SqliteStorage::open(
                &self.file(),
                clock,
                &OsEntropy,
            )?));
        };
        let address = Address::parse(&database.url(), |_| None)?;
        let storage = PostgresStorage::open(address, clock, Time::Its, &OsEntropy).await?;
        storage.connect().await?;
        Ok(Arc::new(storage))
    }

    /// A connection to a PostgreSQL database that is none of the service's.
    pub(crate) async fn look_into(&self) -> Result<Client> {
        let database = self.postgres.as_ref().context("a PostgreSQL database")?;
        Ok(database.look_into().await)
    }

    /// Its database as the service is told of it.
    pub(crate) fn database(&self) -> String {
        match &self.postgres {
            Some(database) => database.url(),
            None => format!("sqlite:{}", self.file().display()),
        }
    }

    /// Leaves a tap of each tag in a SQLite file as a crash does that came before it was folded.
    pub(crate) fn leave_taps_unfolded(&self) -> Result<()> {
        sqlite::leave_taps_unfolded(self)
    }

    fn file(&self) -> PathBuf {
        self.folder().join("tapdesk.db")
    }

    /// What a SQLite file takes on disk with its log, in bytes.
    pub(crate) fn size(&self) -> Result<u64> {
        let log = self.folder().join("tapdesk.db-wal");
        let log = std::fs::metadata(log).map_or(0, |file| file.len());
        Ok(std::fs::metadata(self.file())?.len() + log)
    }

    /// The key that wraps inlay keys.
    pub(crate) fn key_file(&self) -> PathBuf {
        self.folder().join("inlay.key")
    }

    /// Where its files are.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The inlays' file key, wrapped.
    fn file_key(&self) -> Result<Vec<u8>> {
        Ok(self.keyring()?.wrap(&FILE_KEY, &OsEntropy)?)
    }
}

/// Looks random, and is another one for each tag: multiplication by a number
/// without a divisor of 36 permutes the numbers below 36 to the tenth.
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
