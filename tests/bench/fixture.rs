//! A database full of tags, and the visitors who tap them.
//!
//! Every tag leads to one redirect without macros in its URL, has the variable
//! `registered` and one inlay with the plain mirror. All inlays have the same
//! keys, which makes no difference to a server: it derives session keys from the
//! UID and the counter anyway.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rusqlite::Connection;
use tapdesk_service::clock::{Clock, SystemClock};
use tapdesk_service::entropy::{Entropy as _, OsEntropy, SeededEntropy};
use tapdesk_service::experience::Content;
use tapdesk_service::inlay::key::{AesKey, Keys};
use tapdesk_service::inlay::virtual_inlay::VirtualInlay;
use tapdesk_service::inlay::{MacFrom, Mirror, Uid};
use tapdesk_service::keyring::Keyring;
use tapdesk_service::storage::Storage as _;
use tapdesk_service::storage::sqlite::SqliteStorage;
use tempfile::TempDir;

use crate::load::Key;

const FILE_KEY: [u8; 16] = [0x5a; 16];

/// Where every tag leads: a landing page of an owner, as they look.
const TARGET: &str =
    r#"{"kind": "redirect", "target_url": "https://shop.example/register?campaign=spring"}"#;

/// Browsers that visit. A tag is tapped by several of them, again and again.
const BROWSERS: u64 = 16;

/// A database of tags with the ids 1 to `tags`; their inlays have the same ids.
pub(crate) struct Fixture {
    folder: TempDir,
    pub(crate) tags: u32,
}

impl Fixture {
    /// Makes one. A million tags go in by SQL, since one call for each would take
    /// longer than the measurements.
    pub(crate) fn create(tags: u32) -> Result<Self> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
        let fixture = Self { folder, tags };
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        runtime.block_on(fixture.open()?.close());
        fixture.fill()?;
        Ok(fixture)
    }

    /// Its database, opened in this process.
    pub(crate) fn open(&self) -> Result<SqliteStorage> {
        let clock = Arc::new(SystemClock::start());
        Ok(SqliteStorage::open(&self.database(), clock, &OsEntropy)?)
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.folder().join("tapdesk.db")
    }

    /// Where its files are.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn fill(&self) -> Result<()> {
        let keyring = Keyring::from_file(&self.folder().join("inlay.key"), true, &OsEntropy)?;
        let file_key = keyring.wrap(&AesKey::from_bytes(FILE_KEY), &OsEntropy)?;
        let now = SystemClock::start().now().millis();
        let mut connection = Connection::open(self.database())?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.pragma_update(None, "cache_size", -1_000_000)?;
        let transaction = connection.transaction()?;
        let content = Content::from_json(TARGET)?.to_json();
        transaction.execute(
            "INSERT INTO experiences (id, name, kind, draft, published, created_at, updated_at)
             VALUES (1, 'Register', 'redirect', ?1, 1, ?2, ?2)",
            (&content, now),
        )?;
        transaction.execute(
            "INSERT INTO experience_versions (experience_id, version, name, content, published_at)
             VALUES (1, 1, 'Register', ?1, ?2)",
            (&content, now),
        )?;
        {
            let mut tag = transaction.prepare(
                "INSERT INTO tags (id, slug, name, title, description, language_code, status, experience_id,
                     verifier_enabled, updates_require_verified, track_location, has_qr_code, simulated,
                     widget_settings, created_at, updated_at)
                 VALUES (?1, ?2, 'Bottle ' || ?1, 'Bottle', 'One of many.', 'en_US', 'active', 1,
                     1, 0, 0, 0, 0, '{}', ?3, ?3)",
            )?;
            let mut variable = transaction.prepare(
                "INSERT INTO properties (tag_id, class, key, value) VALUES (?1, 'variable', 'registered', 'false')",
            )?;
            let mut inlay = transaction.prepare(
                "INSERT INTO inlays (id, uid, technology, tag_id, mirror, mac_from, file_key, file_key_print,
                     factory_keys, simulated, created_at, updated_at)
                 VALUES (?1, ?2, 'ntag424dna', ?1, 'plain', 'none', ?3, zeroblob(16), 0, 0, ?4, ?4)",
            )?;
            let mut counter = transaction.prepare(
                "INSERT INTO counters (inlay_id, key_version, last, seen) VALUES (?1, 1, 0, 0)",
            )?;
            for id in 1..=self.tags {
                tag.execute((id, slug(id), now))?;
                variable.execute([id])?;
                inlay.execute((id, uid(id).bytes(), &file_key, now))?;
                counter.execute([id])?;
            }
        }
        transaction.commit()?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }
}

/// Looks random, and is another one for each tag: multiplication by a number
/// without a divisor of 36 permutes the numbers below 36 to the tenth.
fn slug(id: u32) -> String {
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

fn uid(id: u32) -> Uid {
    let [a, b, c, d] = id.to_be_bytes();
    Uid::from_bytes([0x04, 0xde, 0x5f, a, b, c, d])
}

/// Everyone who taps the tags of a fixture. Each of `connections` has tags of its
/// own, so that the counter of an inlay rises in the order of the requests.
pub(crate) struct Visitors {
    tags: u32,
    connections: u32,
    counters: Vec<u32>,
    random: SeededEntropy,
}

impl Visitors {
    pub(crate) fn of(fixture: &Fixture, connections: u32) -> Self {
        Self {
            tags: fixture.tags,
            connections,
            counters: vec![0; fixture.tags as usize + 1],
            random: SeededEntropy::new(1),
        }
    }

    /// The next tap of some tag of a connection: the tag's id, and its inlay's counter.
    pub(crate) fn tap(&mut self, connection: u32) -> (u32, u32) {
        let own = self.tags / self.connections;
        let id = 1 + connection + self.connections * (self.draw() % own);
        let counter = &mut self.counters[id as usize];
        *counter += 1;
        (id, *counter)
    }

    /// A tap as a request.
    pub(crate) fn tap_request(&mut self, connection: u32, host: SocketAddr) -> Vec<u8> {
        let (id, counter) = self.tap(connection);
        let chip = VirtualInlay {
            uid: uid(id),
            mirror: Mirror::Plain,
            mac_from: MacFrom::None,
            keys: Keys {
                meta: None,
                file: AesKey::from_bytes(FILE_KEY),
            },
            counter,
        };
        let code = chip.code_at(counter, [0; 5]);
        let path = code.url("/t", &slug(id));
        let browser = u64::from(self.draw()) % BROWSERS;
        request("GET", &path, host, browser, "")
    }

    fn draw(&self) -> u32 {
        let mut bytes = [0; 4];
        self.random.fill(&mut bytes);
        u32::from_be_bytes(bytes)
    }
}

/// The payload call for a key.
pub(crate) fn payload_request(key: Key, host: SocketAddr) -> Vec<u8> {
    let path = format!("/v2/interactions/rk_payload?rk={}", STANDARD.encode(key));
    request("GET", &path, host, 0, "")
}

/// The update of the tag's variable with a key, to a value that was not there before.
pub(crate) fn update_request(key: Key, host: SocketAddr) -> Vec<u8> {
    let key = STANDARD.encode(key);
    let body = format!(
        r#"{{"rolling_key":"{key}","data":{{"registered":"{}"}}}}"#,
        &key[..8]
    );
    request("POST", "/v2/interactions/data", host, 0, &body)
}

fn request(method: &str, path: &str, host: SocketAddr, browser: u64, body: &str) -> Vec<u8> {
    let mut text = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\n\
         User-Agent: Mozilla/5.0 (Linux; Android 14; {browser}) AppleWebKit/537.36\r\nAccept: */*\r\n"
    );
    if !body.is_empty() {
        // Writing into a string does not fail.
        let _ = write!(
            text,
            "Content-Type: application/json\r\nContent-Length: {}\r\n",
            body.len()
        );
    }
    text.push_str("\r\n");
    text.push_str(body);
    text.into_bytes()
}
