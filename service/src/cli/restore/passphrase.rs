//! Asks a person at a terminal for another passphrase, so that a wrong one costs no second download.

use std::io::{BufRead, Write};
use std::path::Path;

use anyhow::{Error, Result};
use tapdesk_service::keyring::Passphrase;

use crate::options::read_passphrase;

/// Says why the former passphrase does not open the backup, and reads another one from a file that
/// the person names. `None` if they give up. A passphrase that is typed here would stay on the
/// screen.
pub(super) fn another(
    why: &Error,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> Result<Option<Passphrase>> {
    writeln!(
        output,
        "{why}\nThe downloaded backup is kept until this command ends."
    )?;
    loop {
        write!(
            output,
            "Enter the path of a file with the passphrase, or nothing to end: "
        )?;
        output.flush()?;
        let mut line = String::new();
        input.read_line(&mut line)?;
        let path = line.trim();
        if path.is_empty() {
            return Ok(None);
        }
        let read = read_passphrase(Path::new(path));
        match read.and_then(|text| Ok(Passphrase::parse(&text)?)) {
            Ok(passphrase) => return Ok(Some(passphrase)),
            Err(error) => writeln!(output, "{error}")?,
        }
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn a_person_names_another_file_until_it_has_a_passphrase() {
        let folder = tempfile::tempdir().unwrap();
        let [missing, short, right] =
            ["missing", "short", "right"].map(|name| folder.path().join(name));
        std::fs::write(&short, "no\n").unwrap();
        std::fs::write(&right, "correct horse battery\n").unwrap();
        let typed = [&missing, &short, &right].map(|path| format!("{}\n", path.display()));
        let mut said = Vec::new();
        let why = anyhow!("Wrong passphrase.");
        let passphrase = another(&why, &mut typed.concat().as_bytes(), &mut said).unwrap();
        assert!(passphrase.is_some());
        let said = String::from_utf8(said).unwrap();
        assert!(said.starts_with("Wrong passphrase.\n"), "{said}");
        assert_eq!(said.matches("Enter the path").count(), 3, "{said}");
        assert!(said.contains("missing cannot be read"), "{said}");
    }

    #[test]
    fn a_person_who_enters_nothing_gives_up() {
        for typed in ["\n", ""] {
            let why = anyhow!("Wrong passphrase.");
            let passphrase = another(&why, &mut typed.as_bytes(), &mut Vec::new()).unwrap();
            assert!(passphrase.is_none());
        }
    }
}
