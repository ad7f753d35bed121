//! Visitors who tap the tags of a fixture, and the owners' servers that use their keys.

use std::fmt::{Display, Write as _};
use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tapdesk_service::entropy::{Entropy as _, SeededEntropy};
use tapdesk_service::inlay::key::{AesKey, Keys};
use tapdesk_service::inlay::virtual_inlay::VirtualInlay;
use tapdesk_service::inlay::{MacFrom, Mirror};

use crate::fixture::{FILE_KEY, Fixture, slug, uid};
use crate::load::Key;

/// Number of browsers. Several of them tap each tag repeatedly.
const BROWSERS: u64 = 16;

/// Visitors who tap the tags of a fixture. Each of `connections` has its own tags, so that the
/// counter of an inlay rises in the order of the requests.
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

    /// The next tap of a tag of this connection: the tag's id, and its inlay's counter.
    pub(crate) fn tap(&mut self, connection: u32) -> (u32, u32) {
        let own = self.tags / self.connections;
        let id = 1 + connection + self.connections * (self.draw() % own);
        let counter = &mut self.counters[id as usize];
        *counter += 1;
        (id, *counter)
    }

    /// A tap as an HTTP request.
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

    /// The next `count` taps of a connection.
    pub(crate) fn taps(&mut self, connection: u32, count: usize, host: SocketAddr) -> Vec<Vec<u8>> {
        (0..count)
            .map(|_| self.tap_request(connection, host))
            .collect()
    }

    /// Redistributes all keys in random order, because owners' servers read and update in any
    /// order.
    pub(crate) fn shuffle(&self, keys: Vec<Vec<Key>>) -> Vec<Vec<Key>> {
        let hands = keys.len();
        let mut all: Vec<_> = keys.into_iter().flatten().collect();
        for last in (1..all.len()).rev() {
            let among = u32::try_from(last + 1).unwrap_or(u32::MAX);
            all.swap(last, (self.draw() % among) as usize);
        }
        let mut dealt = vec![Vec::with_capacity(all.len() / hands + 1); hands];
        for (place, key) in all.into_iter().enumerate() {
            dealt[place % hands].push(key);
        }
        dealt
    }

    fn draw(&self) -> u32 {
        let mut bytes = [0; 4];
        self.random.fill(&mut bytes);
        u32::from_be_bytes(bytes)
    }
}

/// The payload request for a key.
pub(crate) fn payload_request(key: Key, host: SocketAddr) -> Vec<u8> {
    let path = format!("/v2/interactions/rk_payload?rk={}", STANDARD.encode(key));
    request("GET", &path, host, 0, "")
}

/// An update of two variables of the key's tag, to new values.
pub(crate) fn update_request(key: Key, host: SocketAddr) -> Vec<u8> {
    let key = STANDARD.encode(key);
    let body = format!(
        r#"{{"rolling_key":"{key}","data":{{"registered":"{}","owner":"{}"}}}}"#,
        &key[..8],
        &key[8..16]
    );
    request("POST", "/v2/interactions/data", host, 0, &body)
}

/// A request like that of a phone's browser.
pub(crate) fn request(
    method: &str,
    path: &str,
    host: impl Display,
    browser: u64,
    body: &str,
) -> Vec<u8> {
    let mut text = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\n\
         User-Agent: Mozilla/5.0 (Linux; Android 14; {browser}) AppleWebKit/537.36\r\nAccept: */*\r\n"
    );
    if !body.is_empty() {
        // Writing into a string cannot fail.
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
