//! Where this installation keeps its files.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use directories::ProjectDirs;

/// The files of one installation. The headless service looks in the same places.
#[derive(Clone, Debug)]
pub struct Folders {
    /// The SQLite file.
    pub database: PathBuf,
    /// What the owner chose in the desktop.
    pub preferences: PathBuf,
}

impl Folders {
    /// The user's folders. `TAPDESK_DATABASE` (`sqlite:PATH`) names another
    /// database, as it does for the headless service.
    pub fn of_user() -> Result<Self> {
        let user = ProjectDirs::from("", "", "Tapdesk")
            .context("There is no home folder to keep data in.")?;
        let database = match std::env::var("TAPDESK_DATABASE") {
            Ok(url) => url
                .strip_prefix("sqlite:")
                .filter(|path| !path.is_empty())
                .map(PathBuf::from)
                .context("TAPDESK_DATABASE names a database as sqlite:PATH.")?,
            Err(_) => user.data_dir().join("tapdesk.db"),
        };
        Ok(Self {
            database,
            preferences: user.config_dir().join("desktop.json"),
        })
    }

    /// The key that wraps inlay keys, where the system has no keychain for it.
    pub fn key_file(&self) -> PathBuf {
        self.beside_database("inlay.key")
    }

    /// The admin token for scripts on this machine.
    pub fn token_file(&self) -> PathBuf {
        self.beside_database("admin.token")
    }

    /// A secret of this name, where the system has no keychain for it.
    pub fn secret_file(&self, name: &str) -> PathBuf {
        self.beside_database(&format!("{name}.secret"))
    }

    fn beside_database(&self, name: &str) -> PathBuf {
        self.database.parent().unwrap_or(Path::new("")).join(name)
    }
}
