//! The files of this installation.

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
    /// The name under which the system's keychain lists this installation's secrets.
    pub keychain: String,
}

/// The name of the user's own installation.
const NAME: &str = "Tapdesk";

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
            keychain: NAME.to_owned(),
        })
    }

    /// The installation around the database at `path`.
    pub fn around(path: &Path) -> Result<Self> {
        let database = std::path::absolute(path)
            .with_context(|| format!("{} is not a usable path", path.display()))?;
        Ok(Self {
            preferences: database.with_extension("desktop.json"),
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

    fn beside_database(&self, name: &str) -> PathBuf {
        self.database.parent().unwrap_or(Path::new("")).join(name)
    }
}
