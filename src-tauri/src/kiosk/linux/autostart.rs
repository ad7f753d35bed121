//! Starting with the person's session: a desktop entry in the autostart folder
//! (freedesktop.org's Desktop Application Autostart Specification, section 2).

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The path of this person's entry; `None` if there is no home folder.
fn entry() -> Option<PathBuf> {
    let folders = directories::BaseDirs::new()?;
    Some(folders.config_dir().join("autostart/tapdesk-kiosk.desktop"))
}

/// Makes the kiosk start with the session, or stops that. An `Err` is a sentence for people.
pub(in crate::kiosk) fn set(wanted: bool) -> Result<(), String> {
    let entry = entry().ok_or("Autostart needs a home folder, and there is none.")?;
    let done = if wanted {
        env::current_exe().and_then(|program| write(&entry, &program))
    } else {
        remove(&entry)
    };
    done.map_err(|error| format!("{} cannot be changed: {error}.", entry.display()))
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
}
