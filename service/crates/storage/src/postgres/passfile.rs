//! The password file of PostgreSQL's own programs: lines of `host:port:database:user:password`,
//! with `*` for any value, and `\` before a `:` within a value (PostgreSQL 15 documentation,
//! 34.16).

use std::io::ErrorKind;
use std::path::PathBuf;

use tokio_postgres::Config;
use tokio_postgres::config::Host;
use zeroize::Zeroizing;

use domain::private_file;

/// The password for `config`, if the file named by `PGPASSFILE`, or `.pgpass` in the home folder,
/// contains one. A file that others may read is not used.
pub(super) fn password(
    config: &Config,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<Zeroizing<String>>, (PathBuf, String)> {
    let file = match (variable("PGPASSFILE"), variable("HOME")) {
        (Some(file), _) => PathBuf::from(file),
        (None, Some(home)) => PathBuf::from(home).join(".pgpass"),
        (None, None) => return Ok(None),
    };
    let text = match std::fs::read_to_string(&file).map(Zeroizing::new) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err((file, error.to_string())),
    };
    if private_file::is_open_to_others(&file).unwrap_or(true) {
        return Err((file, "others than its owner may read it".to_owned()));
    }
    Ok(find(&text, config))
}

fn find(text: &str, config: &Config) -> Option<Zeroizing<String>> {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        // For a socket, the file uses `localhost`, whatever the socket's folder is.
        #[cfg(unix)]
        Some(Host::Unix(_)) => "localhost".to_owned(),
        None => config.get_hostaddrs().first()?.to_string(),
    };
    let port = config.get_ports().first().unwrap_or(&5432).to_string();
    let user = config.get_user().unwrap_or_default();
    let wanted = [&host, &port, config.get_dbname().unwrap_or(user), user];
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .find_map(|line| {
            let fields = fields(line);
            let (password, fields) = fields.split_last()?;
            let fits = fields.len() == wanted.len()
                && fields
                    .iter()
                    .zip(wanted)
                    .all(|(field, wanted)| field.as_str() == "*" || field.as_str() == wanted);
            fits.then(|| password.clone())
        })
}

fn fields(line: &str) -> Vec<Zeroizing<String>> {
    let mut fields = vec![Zeroizing::new(String::new())];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let last = fields.len() - 1;
        match character {
            ':' if last < 4 => fields.push(Zeroizing::new(String::new())),
            '\\' => fields[last].extend(characters.next()),
            other => fields[last].push(other),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, url: &str) -> Option<String> {
        let password = find(text, &url.parse().unwrap());
        password.map(|password| password.to_string())
    }

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let file = "# host:port:database:user:password\n\
                    db.example:5432:tapdesk:me:first\n\
                    db.example:*:tapdesk:me:second\n\
                    localhost:*:*:*:a\\:b\\\\c\n\
                    short:line\n";
        for (url, password) in [
            ("postgres://me@db.example/tapdesk", Some("first")),
            ("postgres://me@db.example:5433/tapdesk", Some("second")),
            ("postgres://you@db.example/tapdesk", None),
            ("postgres://you@localhost/any", Some("a:b\\c")),
        ] {
            assert_eq!(found(file, url).as_deref(), password, "{url}");
        }
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pgpass");
        let config: Config = "postgres://me@localhost/t".parse().unwrap();
        let variable =
            |name: &str| (name == "PGPASSFILE").then(|| file.to_string_lossy().into_owned());
        assert_eq!(password(&config, variable).unwrap(), None);

        private_file::create(&file, b"*:*:*:*:secret").unwrap();
        let read = password(&config, variable).unwrap().unwrap();
        assert_eq!(read.as_str(), "secret");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
            assert!(password(&config, variable).is_err());
        }
    }
}
