//! The address in chips' URLs, and test URLs below it.
//!
//! | Module | Subject |
//! |---|---|
//! | `typed` | completes the tag URL that a person typed |
//! | `probe` | test URLs, which only this database can answer |
//! | `door` | opens a test URL through the address, in bounded time |
//!
//! Three events prove the address: this service opened a test URL through it and its own database
//! answered; a phone opened the test URL of the QR code through it; a chip was tapped through it
//! and its code verified. The last two count only with the `Host` of the address, and from another
//! device: a loopback client proves nothing. A failed check revokes a proof, but a failed opening
//! after an encoding does not.

mod door;
mod probe;
mod typed;

use std::net::IpAddr;
use std::sync::Arc;

use url::Url;

pub use door::{Door, Opened, is_reachable_by_others};
pub use probe::{Probe, Probes};
pub use typed::complete;

use crate::kept::Slot;
use storage::{Access, CachedPart};

/// Proves the address, and remembers whether it is proved.
pub struct TagAddress {
    /// Client that opens test URLs.
    pub(crate) door: Door,
    /// Makes and reads test URLs.
    pub probes: Probes,
    /// The address that is known to be proved, so that most taps need not query the database.
    proved: Slot<String>,
}

impl TagAddress {
    /// Uses a stored secret for test URLs.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self {
            door: Door::default(),
            probes: Probes::new(secret),
            proved: Slot::default(),
        }
    }

    /// Records in memory that the address is proved, as stored under `epoch`.
    pub(crate) fn know(&self, tag_url: &str, epoch: Option<u64>) {
        self.proved.keep(epoch, Arc::new(tag_url.to_owned()));
    }

    /// Whether this address is known to be proved, and no check was stored since, here or on another
    /// node.
    pub fn knows(&self, storage: &Access, tag_url: &str) -> bool {
        let proved = self.proved.current(storage, CachedPart::Settings);
        proved.is_some_and(|proved| *proved == tag_url)
    }
}

/// Whether a visit shows that `tag_url` reaches this service: it came from another device, and was
/// addressed to that host and port. A program on this computer could name any host.
pub fn visit_counts(tag_url: &str, host: &str, client: IpAddr) -> bool {
    let client = client.to_canonical();
    // This comes first, because taps ask, and parsing takes longer.
    if client.is_loopback() || client.is_unspecified() {
        return false;
    }
    let Ok(url) = Url::parse(tag_url) else {
        return false;
    };
    let is_https = url.scheme() == "https";
    let own = door::place(url.authority(), is_https);
    own.is_some() && door::place(host, is_https) == own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_counts_from_another_device_with_the_host_of_the_address() {
        let visitor: IpAddr = [192, 0, 2, 9].into();
        for (tag_url, host, counts) in [
            ("https://tags.example/t", "tags.example", true),
            ("https://tags.example/t", "TAGS.example.:443", true),
            ("https://tags.example/t", "tags.example:80", false),
            ("https://tags.example/t", "other.example", false),
            ("https://tags.example/t", "", false),
            ("http://192.0.2.2:8787/t", "192.0.2.2:8787", true),
            ("http://192.0.2.2:8787/t", "192.0.2.2", false),
            ("http://[fd00::2]:8787/t", "[fd00:0::2]:8787", true),
            ("http://[fd00::2]/t", "[fd00::2]", true),
        ] {
            assert_eq!(
                visit_counts(tag_url, host, visitor),
                counts,
                "{tag_url} {host}"
            );
        }
        for own in [
            "127.0.0.1",
            "127.0.0.9",
            "::1",
            "::ffff:127.0.0.1",
            "0.0.0.0",
        ] {
            let own = own.parse().unwrap();
            assert!(!visit_counts("https://tags.example/t", "tags.example", own));
        }
    }
}
