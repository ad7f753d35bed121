//! The file of the kiosk's settings, in the folder of the kiosk. Several users of the machine can
//! share it, so each change begins with the stored settings and not with those in memory.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

use tapdesk_service::private_file;

use super::{KioskSettings, whole_file};

/// The name of the file.
const NAME: &str = "kiosk.json";

/// The stored settings, as far as they can be used.
enum Stored {
    /// There is no file yet.
    Missing,
    /// The file cannot be read now.
    Unreadable,
    /// The file cannot be parsed.
    Damaged,
    /// The settings that the file has now.
    Known(Box<KioskSettings>),
}

impl KioskSettings {
    /// Loads the settings from the folder of the kiosk. A file that cannot be parsed does not
    /// prevent the start: it counts as empty, and a warning is logged.
    pub fn load(folder: &Path) -> Self {
        Self::stored(folder).unwrap_or_default()
    }

    /// The stored settings; `None` if there are none that can be read.
    pub(crate) fn stored(folder: &Path) -> Option<Self> {
        match look(folder) {
            Stored::Known(settings) => Some(*settings),
            Stored::Missing | Stored::Unreadable | Stored::Damaged => None,
        }
    }

    /// Changes the stored settings and returns them. A process that changes them at the same time
    /// waits. Without stored settings, `known` are changed. A damaged file is kept under another
    /// name.
    pub(crate) fn change(
        folder: &Path,
        known: &Self,
        choice: impl FnOnce(&mut Self),
    ) -> io::Result<Self> {
        let file = folder.join(NAME);
        private_file::make_folder_of(&file)?;
        let _held = hold(folder);
        let mut settings = match look(folder) {
            Stored::Known(settings) => *settings,
            Stored::Missing | Stored::Unreadable => known.clone(),
            Stored::Damaged => {
                private_file::move_aside(&file, ".damaged")?;
                known.clone()
            }
        };
        choice(&mut settings);
        settings.save(folder)?;
        Ok(settings)
    }

    /// Writes the settings to the folder of the kiosk, whole or not at all. A short PIN could be
    /// found from its hash, so only the users who share the folder can read it.
    fn save(&self, folder: &Path) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        whole_file::write(&folder.join(NAME), text.as_bytes())
    }
}

fn look(folder: &Path) -> Stored {
    let file = folder.join(NAME);
    match fs::read_to_string(&file) {
        Ok(text) => serde_json::from_str(&text).map_or_else(
            |error| {
                tracing::warn!("{} is not understood: {error}", file.display());
                Stored::Damaged
            },
            |settings| Stored::Known(Box::new(settings)),
        ),
        Err(error) if error.kind() == ErrorKind::NotFound => Stored::Missing,
        Err(error) => {
            tracing::warn!("{} cannot be read: {error}", file.display());
            Stored::Unreadable
        }
    }
}

/// Locks the folder against other processes until the value is dropped. The lock is on the folder
/// itself: a file for it would belong to one of the users. Some systems and disks cannot lock a
/// folder; nobody shares those.
fn hold(folder: &Path) -> Option<File> {
    let opened = File::open(folder).and_then(|held| held.lock().map(|()| held));
    opened
        .inspect_err(|error| tracing::debug!("the kiosk's folder cannot be locked: {error}"))
        .ok()
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
        let changed = KioskSettings::change(&folder, &KioskSettings::default(), |stored| {
            *stored = settings.clone();
        });
        assert_eq!(changed.unwrap(), settings);
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

    #[test]
    fn a_change_keeps_those_of_another_desk() {
        let home = tempfile::tempdir().unwrap();
        let loaded = KioskSettings::load(home.path());
        let heading = |stored: &mut KioskSettings| stored.chosen.heading = "Welcome".to_owned();
        KioskSettings::change(home.path(), &loaded, heading).unwrap();
        // The other desk still knows the settings of its start.
        let picture = |stored: &mut KioskSettings| stored.pictures.push("a.png".to_owned());
        let changed = KioskSettings::change(home.path(), &loaded, picture).unwrap();
        assert_eq!(changed.chosen.heading, "Welcome");
        assert_eq!(changed.pictures, ["a.png"]);
        assert_eq!(KioskSettings::load(home.path()), changed);
    }

    #[test]
    fn a_damaged_file_is_kept_when_settings_are_changed() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join(NAME), "{\"heading\": \"Wel").unwrap();
        let logo = |stored: &mut KioskSettings| stored.logo = Some("a.png".to_owned());
        KioskSettings::change(home.path(), &KioskSettings::default(), logo).unwrap();
        let kept = fs::read_to_string(home.path().join("kiosk.json.damaged")).unwrap();
        assert_eq!(kept, "{\"heading\": \"Wel");
        let stored = KioskSettings::load(home.path());
        assert_eq!(stored.logo.as_deref(), Some("a.png"));
    }
}
