//! What the owner chose in the desktop, in a small JSON file. Secrets are not in it.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use tapdesk_service::private_file;

use crate::kiosk::settings::KioskSettings;

/// The choices. What is not there has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preferences {
    /// The port that the owner fixed.
    pub port: Option<u16>,
    /// The port of the last start: taken again if it is free, because tags' URLs name it.
    pub last_port: Option<u16>,
    /// Whether phones on this network reach the listener.
    pub phones: bool,
    /// Services on other computers.
    pub connections: Vec<Remote>,
    /// The kiosk of this machine.
    pub kiosk: KioskSettings,
}

/// A service on another computer. Its token is kept apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remote {
    /// Its name for commands, and for its token.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Its address, without a slash at its end.
    pub url: String,
}

impl Preferences {
    /// The choices in `file`. A file that cannot be understood is no reason not
    /// to start: it counts as none, and is said in the log.
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

    /// Writes the choices, whole or not at all.
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
}
