//! Looks up the country of an address in an MMDB file. The owner supplies the file: Tapdesk ships
//! none.

use std::net::IpAddr;
use std::path::Path;

use maxminddb::Reader;

/// The content of the MMDB file; `None` without a file.
#[derive(Default)]
pub struct Countries(Option<Reader<Vec<u8>>>);

impl Countries {
    /// Reads the database file at `path`. The error is a sentence for people.
    pub fn open(path: &Path) -> Result<Self, String> {
        let reader = Reader::open_readfile(path)
            .map_err(|error| format!("{} is not a readable MMDB file: {error}.", path.display()))?;
        Ok(Self(Some(reader)))
    }

    /// Whether an MMDB file is loaded.
    pub(super) const fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// The two-letter code of the country of `address`; `None` if the file does not contain the
    /// address.
    pub fn of(&self, address: IpAddr) -> Option<String> {
        let found = self.0.as_ref()?.lookup(address).ok()?;
        let code = found
            .decode_path::<&str>(&maxminddb::path!["country", "iso_code"])
            .ok()??;
        Some(code.to_owned())
    }
}
