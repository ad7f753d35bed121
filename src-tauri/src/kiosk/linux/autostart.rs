//! Starting with a session: a desktop entry in an autostart folder (freedesktop.org's Desktop
//! Application Autostart Specification, section 2). A kiosk of the machine starts with the session
//! of every user, if this user may write the machine's entry; any other one only with this user's.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use crate::folders;

/// The folder of entries for all users. Usually only the administrator can write to it.
const OF_MACHINE: &str = "/etc/xdg/autostart";
/// The name of the entry. In both folders it is the same, so that the kiosk never starts twice: the
/// user's entry then takes the place of the machine's.
const NAME: &str = "tapdesk-kiosk.desktop";

/// The entries that can start the kiosk.
pub(in crate::kiosk) struct Autostart {
    /// The entry for all users; `None` if the kiosk belongs to one user.
    of_machine: Option<PathBuf>,
    /// The entry of this user; `None` without a home folder.
    of_user: Option<PathBuf>,
}

impl Autostart {
    /// The entries of a kiosk. `is_of_machine` says that all users share its settings.
    pub(in crate::kiosk) fn of(is_of_machine: bool) -> Self {
        let folders = directories::BaseDirs::new();
        Self {
            of_machine: is_of_machine.then(|| Path::new(OF_MACHINE).join(NAME)),
            of_user: folders.map(|folders| folders.config_dir().join("autostart").join(NAME)),
        }
    }

    /// Whether the kiosk starts with this user's session.
    pub(in crate::kiosk) fn is_set(&self) -> bool {
        self.entries().any(|entry| entry.is_file())
    }

    /// Whether it starts with the session of every user, or would if it were set.
    pub(in crate::kiosk) fn is_for_all(&self) -> bool {
        self.of_machine.as_ref().is_some_and(|entry| {
            entry.is_file() || (!self.is_set() && entry.parent().is_some_and(folders::is_writable))
        })
    }

    /// Makes the kiosk start with the session, or stops that. An `Err` is a sentence for people.
    pub(in crate::kiosk) fn set(&self, wanted: bool) -> Result<(), String> {
        if !wanted {
            let mut entries = self.entries();
            return entries.try_for_each(|entry| remove(entry).map_err(|why| refused(entry, &why)));
        }
        let program = env::current_exe()
            .map_err(|error| format!("Autostart cannot be turned on: {error}."))?;
        if let Some(entry) = &self.of_machine {
            match write(entry, &program) {
                Ok(()) => return Ok(()),
                Err(error) => tracing::info!("{} is not written: {error}", entry.display()),
            }
        }
        let entry = self.of_user.as_ref();
        let entry = entry.ok_or("Autostart needs a home folder, and there is none.")?;
        write(entry, &program).map_err(|error| refused(entry, &error))
    }

    /// The machine's entry first: if it may not be removed, the user's stays, too.
    fn entries(&self) -> impl Iterator<Item = &PathBuf> {
        self.of_machine.iter().chain(&self.of_user)
    }
}

fn refused(entry: &Path, error: &io::Error) -> String {
    let entry = entry.display();
    if error.kind() == io::ErrorKind::PermissionDenied {
        format!("Only an administrator of this computer can change {entry}.")
    } else {
        format!("{entry} cannot be changed: {error}.")
    }
}

fn write(entry: &Path, program: &Path) -> io::Result<()> {
    fs::create_dir_all(entry.parent().unwrap_or(Path::new(".")))?;
    let program = quoted(&program.to_string_lossy());
    fs::write(
        entry,
        format!(
            "[Desktop Entry]\nType=Application\nName=Tapdesk kiosk\nExec={program} --kiosk\n\
             Icon=tapdesk\nTerminal=false\n"
        ),
    )
}

fn remove(entry: &Path) -> io::Result<()> {
    match fs::remove_file(entry) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Quotes an argument of `Exec` (Desktop Entry Specification, "The Exec key").
fn quoted(argument: &str) -> String {
    let mut quoted = String::from("\"");
    for character in argument.chars() {
        match character {
            '"' | '`' | '$' | '\\' => quoted.extend(['\\', character]),
            '%' => quoted.push_str("%%"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entries in the folders `machine` and `user` of a home.
    fn autostart(home: &Path) -> Autostart {
        Autostart {
            of_machine: Some(home.join("machine").join(NAME)),
            of_user: Some(home.join("user").join(NAME)),
        }
    }

    #[test]
    fn the_entry_names_the_program_and_goes_again() {
        let home = tempfile::tempdir().unwrap();
        let entry = home.path().join("autostart/tapdesk-kiosk.desktop");
        write(&entry, Path::new("/opt/my tools/100%/tapdesk")).unwrap();
        let text = fs::read_to_string(&entry).unwrap();
        assert!(
            text.contains("Exec=\"/opt/my tools/100%%/tapdesk\" --kiosk\n"),
            "{text}"
        );
        remove(&entry).unwrap();
        remove(&entry).unwrap();
        assert!(!entry.exists());
    }

    #[test]
    fn a_kiosk_of_the_machine_starts_for_all_users_if_that_may_be_written() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("machine")).unwrap();
        let autostart = autostart(home.path());
        assert!(autostart.is_for_all() && !autostart.is_set());
        autostart.set(true).unwrap();
        assert!(autostart.is_for_all() && autostart.is_set());
        assert!(!home.path().join("user").exists());
        autostart.set(false).unwrap();
        assert!(!autostart.is_set());
    }

    #[test]
    fn without_the_right_to_do_so_it_starts_for_this_user_only() {
        let home = tempfile::tempdir().unwrap();
        // A file in the place of a folder: nobody can write into it, not even the administrator.
        fs::write(home.path().join("machine"), "").unwrap();
        let autostart = autostart(home.path());
        assert!(!autostart.is_for_all());
        autostart.set(true).unwrap();
        assert!(autostart.is_set() && !autostart.is_for_all());
        assert!(home.path().join("user").join(NAME).is_file());
    }

    #[test]
    fn an_entry_that_cannot_be_removed_leaves_the_other_one() {
        let home = tempfile::tempdir().unwrap();
        let autostart = autostart(home.path());
        // Nobody can remove a folder as a file, not even the administrator.
        fs::create_dir_all(home.path().join("machine").join(NAME)).unwrap();
        let own = home.path().join("user").join(NAME);
        write(&own, Path::new("/usr/bin/tapdesk")).unwrap();
        assert!(autostart.set(false).is_err());
        assert!(own.is_file());
    }

    #[test]
    fn a_kiosk_of_one_user_has_no_entry_for_all_users() {
        let home = tempfile::tempdir().unwrap();
        let autostart = Autostart {
            of_machine: None,
            ..autostart(home.path())
        };
        autostart.set(true).unwrap();
        assert!(autostart.is_set() && !autostart.is_for_all());
        autostart.set(false).unwrap();
        assert!(!autostart.is_set());
    }
}
