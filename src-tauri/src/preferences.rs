//! The owner's choices in the desktop, in a small JSON file that contains no secrets.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use tapdesk_service::private_file;

use crate::carriers::Carriers;
use crate::release::Releases;

/// The owner's choices. A missing member gets its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preferences {
    /// The port that the owner fixed; `None` to let the service choose.
    pub port: Option<u16>,
    /// The port of the last start: used again if it is free, because tag URLs contain it.
    pub last_port: Option<u16>,
    /// Counts of everything that led to the port that the owner left, until the service is back
    /// there.
    pub left_port: Option<Carriers>,
    /// Whether phones on this network may connect to the listener.
    pub phones: bool,
    /// Whether readers neither beep nor show lights.
    pub quiet_readers: bool,
    /// Remote services that the screens can show.
    pub connections: Vec<Remote>,
    /// Where to look for newer versions of this program, and the last result.
    pub releases: Releases,
}

/// A service on another computer. Its token is stored separately.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remote {
    /// Its id in commands, and in the name of its stored token.
    pub id: String,
    /// The name that people see.
    pub name: String,
    /// Its server URL, without a slash at its end.
    pub url: String,
}

impl Preferences {
    /// Loads the choices from `file`. A file that cannot be parsed does not prevent the start: it
    /// counts as empty, and a warning is logged.
    pub fn load(file: &Path) -> Self {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Self::default(),
            Err(error) => {
                tracing::warn!("{} cannot be read: {error}", file.display());
                return Self::default();
            }
        };
        serde_json::from_str(&text).unwrap_or_else(|error| {
            tracing::warn!("{} is not understood: {error}", file.display());
            Self::default()
        })
    }

    /// Fixes the port. `left` counts everything that leads to the previous port. If the port is
    /// changed again before the service is back, the counts of the first port stay.
    pub fn move_to(&mut self, port: u16, left: Option<Carriers>) {
        self.port = Some(port);
        if let Some(left) = left.filter(|left| left.any() && left.port != port) {
            self.left_port.get_or_insert(left);
        }
    }

    /// Writes the choices to `file`, whole or not at all.
    pub fn save(&self, file: &Path) -> io::Result<()> {
        private_file::make_folder_of(file)?;
        let draft = file.with_extension("new");
        let mut out = File::create(&draft)?;
        serde_json::to_writer_pretty(&mut out, self)?;
        out.write_all(b"\n")?;
        out.sync_all()?;
        fs::rename(&draft, file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_found_again_and_a_broken_file_counts_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config/desktop.json");
        assert_eq!(Preferences::load(&file), Preferences::default());
        let chosen = Preferences {
            port: Some(9000),
            connections: vec![Remote {
                id: "a".to_owned(),
                name: "Shop".to_owned(),
                url: "https://tags.example".to_owned(),
            }],
            ..Preferences::default()
        };
        chosen.save(&file).unwrap();
        assert_eq!(Preferences::load(&file), chosen);
        fs::write(&file, "{").unwrap();
        assert_eq!(Preferences::load(&file), Preferences::default());
    }

    #[test]
    fn the_port_that_something_leads_to_is_kept_when_the_owner_leaves_it() {
        let carried = |port, inlays| Carriers {
            port,
            inlays,
            ..Carriers::default()
        };
        let mut chosen = Preferences::default();
        chosen.move_to(9000, Some(carried(8787, 0)));
        assert_eq!(chosen.left_port, None, "nothing leads there");
        chosen.move_to(9001, Some(carried(9000, 3)));
        chosen.move_to(9002, Some(carried(9001, 4)));
        assert_eq!(
            (chosen.port, chosen.left_port),
            (Some(9002), Some(carried(9000, 3)))
        );
    }
}
