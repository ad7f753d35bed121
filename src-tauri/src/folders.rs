//! The files of this installation.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use directories::ProjectDirs;

/// The files of one installation. The headless service uses the same places.
#[derive(Clone, Debug)]
pub struct Folders {
    /// The SQLite file of the embedded service.
    pub database: PathBuf,
    /// The file of the owner's choices in the desktop.
    pub preferences: PathBuf,
    /// The folder of the kiosk's settings, pictures and counts.
    pub kiosk: PathBuf,
    /// The name under which the system's keychain lists this installation's secrets.
    pub keychain: String,
}

/// The name of the user's own installation.
const NAME: &str = "Tapdesk";
/// The folder of the kiosk that all users of a machine share. Only its administrator can make it.
const KIOSK_OF_MACHINE: &str = "/var/lib/tapdesk-kiosk";

impl Folders {
    /// The user's folders. `TAPDESK_DATABASE` (`sqlite:PATH`) names another database, as for the
    /// headless service. That is a separate installation, with all of its files next to the
    /// database.
    pub fn of_user() -> Result<Self> {
        if let Ok(url) = std::env::var("TAPDESK_DATABASE") {
            let path = url.strip_prefix("sqlite:").filter(|path| !path.is_empty());
            let path = path.context("TAPDESK_DATABASE must have the form sqlite:PATH.")?;
            return Self::around(Path::new(path));
        }
        let user =
            ProjectDirs::from("", "", NAME).context("There is no home folder to keep data in.")?;
        Ok(Self {
            database: user.data_dir().join("tapdesk.db"),
            preferences: user.config_dir().join("desktop.json"),
            kiosk: kiosk_folder(Path::new(KIOSK_OF_MACHINE), user.data_dir().join("kiosk")),
            keychain: NAME.to_owned(),
        })
    }

    /// The installation around the database at `path`.
    pub fn around(path: &Path) -> Result<Self> {
        let database = std::path::absolute(path)
            .with_context(|| format!("{} is not a usable path", path.display()))?;
        Ok(Self {
            preferences: database.with_extension("desktop.json"),
            kiosk: database.with_file_name("kiosk"),
            keychain: format!("{NAME} {}", database.display()),
            database,
        })
    }

    /// The file of the key that wraps inlay keys, used if the system has no keychain.
    pub fn key_file(&self) -> PathBuf {
        self.beside_database("inlay.key")
    }

    /// The file of the admin token for scripts on this machine.
    pub fn token_file(&self) -> PathBuf {
        self.beside_database("admin.token")
    }

    /// The file of the secret with this name, used if the system has no keychain.
    pub fn secret_file(&self, name: &str) -> PathBuf {
        self.beside_database(&format!("{name}.secret"))
    }

    /// Whether all users of this machine share the kiosk.
    pub fn is_kiosk_of_machine(&self) -> bool {
        self.kiosk == Path::new(KIOSK_OF_MACHINE)
    }

    fn beside_database(&self, name: &str) -> PathBuf {
        self.database.parent().unwrap_or(Path::new("")).join(name)
    }
}

/// The folder `of_machine` if this user can write to it, or else the user's `own` one.
fn kiosk_folder(of_machine: &Path, own: PathBuf) -> PathBuf {
    if is_writable(of_machine) {
        of_machine.to_owned()
    } else {
        own
    }
}

/// Whether this user can create a file in a folder. Permissions are not enough to know that: the
/// disk can be read-only.
pub(crate) fn is_writable(folder: &Path) -> bool {
    let probe = folder.join(format!(".{}.probe", std::process::id()));
    let created = fs::write(&probe, "").is_ok();
    // The file may not exist, and nobody reads it.
    let _ = fs::remove_file(&probe);
    created
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kiosk_belongs_to_the_machine_if_its_folder_is_there() {
        let home = tempfile::tempdir().unwrap();
        let (machine, own) = (home.path().join("machine"), home.path().join("own"));
        assert_eq!(kiosk_folder(&machine, own.clone()), own);
        fs::create_dir(&machine).unwrap();
        assert_eq!(kiosk_folder(&machine, own), machine);
        assert_eq!(fs::read_dir(&machine).unwrap().count(), 0);
    }

    #[test]
    fn another_database_is_an_installation_with_a_kiosk_of_its_own() {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders::around(&home.path().join("tapdesk.db")).unwrap();
        assert_eq!(folders.kiosk, home.path().join("kiosk"));
        assert!(!folders.is_kiosk_of_machine());
    }
}
