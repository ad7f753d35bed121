//! Countries of addresses, from a MMDB file that the owner supplies. None
//! is shipped.

use std::net::IpAddr;
use std::path::Path;

use maxminddb::Reader;

/// The file's content, or nothing.
#[derive(Default)]
pub struct Countries(Option<Reader<Vec<u8>>>);

impl Countries {
    /// Reads the database file at `path`. The error is a sentence for people.
    pub fn open(path: &Path) -> Result<Self, String> {
        let reader = Reader::open_readfile(path)
            .map_err(|error| format!("{} is not a readable MMDB file: {error}.", path.display()))?;
        Ok(Self(Some(reader)))
    }

    /// The two-letter code of the country of `address`, if the file knows it.
    pub fn of(&self, address: IpAddr) -> Option<String> {
        let found = self.0.as_ref()?.lookup(address).ok()?;
        let code = found
            .decode_path::<&str>(&maxminddb::path!["country", "iso_code"])
            .ok()??;
        Some(code.to_owned())
    }
}
