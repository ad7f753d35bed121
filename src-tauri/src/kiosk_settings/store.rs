//! The file of the kiosk's settings, in the folder of the kiosk.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use tapdesk_service::private_file;

use super::KioskSettings;

/// The name of the file.
const NAME: &str = "kiosk.json";

impl KioskSettings {
    /// Loads the settings from the folder of the kiosk. A file that cannot be parsed does not
    /// prevent the start: it counts as empty, and a warning is logged.
    pub fn load(folder: &Path) -> Self {
        let file = folder.join(NAME);
        let text = match fs::read_to_string(&file) {
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

    /// Writes the settings to the folder of the kiosk, whole or not at all.
    pub fn save(&self, folder: &Path) -> io::Result<()> {
        let file = folder.join(NAME);
        private_file::make_folder_of(&file)?;
        let draft = file.with_extension("new");
        let mut options = OpenOptions::new();
        options.create(true).write(true).truncate(true);
        // A short PIN could be found from its hash, so only the users who share the folder read it.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o660);
        let mut out = options.open(&draft)?;
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
    fn settings_are_found_again_and_a_broken_file_counts_as_none() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("kiosk");
        assert_eq!(KioskSettings::load(&folder), KioskSettings::default());
        let mut settings = KioskSettings::default();
        settings.chosen.heading = "Welcome".to_owned();
        settings.logo = Some("a.png".to_owned());
        settings.save(&folder).unwrap();
        assert_eq!(KioskSettings::load(&folder), settings);
        #[cfg(unix)]
        {
            let metadata = fs::metadata(folder.join(NAME)).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions());
            assert_eq!(mode & 0o007, 0, "nobody else reads the hash of the PIN");
        }
        fs::write(folder.join(NAME), "{").unwrap();
        assert_eq!(KioskSettings::load(&folder), KioskSettings::default());
    }
}
