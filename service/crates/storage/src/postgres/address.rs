//! The address of a PostgreSQL database, and the protection of its connections.
//!
//! Except to loopback addresses and sockets, a connection is encrypted, and the server's
//! certificate and its name are checked. `sslmode` cannot lower this, but can ask for it on local
//! connections, too. The password comes from the URL (which is not a command-line argument),
//! `PGPASSWORD` or a password file; it appears in no message and no `Debug` output.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::passfile;

/// How long connecting may take, unless the URL sets another limit.
const CONNECT: Duration = Duration::from_secs(3);
/// How long sent bytes may stay unacknowledged before the connection counts as lost.
const UNACKNOWLEDGED: Duration = Duration::from_secs(3);
/// How long a connection may be idle before it is probed, and the pause between probes.
const KEEPALIVE: Duration = Duration::from_secs(2);

/// A checked address of a database, made from a URL such as
/// `postgres://tapdesk@db.example/tapdesk`.
#[derive(Clone)]
pub struct Address {
    pub(super) config: Config,
    pub(super) tls: Option<MakeRustlsConnect>,
}

/// Why an address cannot be used. The message of each is a sentence for people, with a way out.
#[derive(Debug, thiserror::Error)]
pub enum InvalidAddress {
    /// The text is not a PostgreSQL URL.
    #[error(
        "This is no address of a PostgreSQL database ({0}). It is written as postgres://USER@HOST/DATABASE."
    )]
    Url(String),
    /// The URL asks for less than a checked certificate.
    #[error(
        "A connection to {0} leaves this machine, so it is encrypted and the server's certificate is checked. \
         Remove sslmode={1} from the address; sslrootcert names the certificate of an authority of your own."
    )]
    Unprotected(String, String),
    /// The file with certificates of authorities cannot be read.
    #[error("{file} gives no certificate of an authority: {why}.", file = .0.display(), why = .1)]
    RootCertificate(PathBuf, String),
    /// The system has no certificates of authorities.
    #[error(
        "The system has no certificates of authorities to check the server's by. Name a file with sslrootcert."
    )]
    NoRootCertificates,
    /// The password file cannot be used.
    #[error("The password file {file} is not used: {why}.", file = .0.display(), why = .1)]
    Passfile(PathBuf, String),
}

impl Address {
    /// Parses the address in `url`. `variable` reads the environment variables `PGPASSWORD`,
    /// `PGPASSFILE`, `PGSSLROOTCERT` and `HOME`.
    pub fn parse(
        url: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, InvalidAddress> {
        let (url, ssl) = without_ssl(url);
        let mut config: Config = url
            .parse()
            .map_err(|error: tokio_postgres::Error| InvalidAddress::Url(cause(&error)))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(InvalidAddress::Url("it names no host".to_owned()));
        }
        if config.get_application_name().is_none() {
            config.application_name("tapdesk");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        config
            .target_session_attrs(TargetSessionAttrs::ReadWrite)
            .tcp_user_timeout(UNACKNOWLEDGED)
            .keepalives_idle(KEEPALIVE)
            .keepalives_interval(KEEPALIVE)
            .keepalives_retries(2);
        let tls = match ssl.mode {
            Some(mode) if !is_full(&mode) && !is_local(&config) => {
                return Err(InvalidAddress::Unprotected(hosts(&config), mode));
            }
            None if is_local(&config) => None,
            Some(mode) if !is_full(&mode) => None,
            _ => {
                let roots = ssl.root_certificate.or_else(|| variable("PGSSLROOTCERT"));
                Some(tls(roots.as_deref().map(Path::new))?)
            }
        };
        config.ssl_mode(match tls {
            Some(_) => SslMode::Require,
            None => SslMode::Disable,
        });
        if config.get_password().is_none() {
            if let Some(password) = variable("PGPASSWORD") {
                config.password(password);
            } else if let Some(password) = passfile::password(&config, variable)
                .map_err(|(file, why)| InvalidAddress::Passfile(file, why))?
            {
                config.password(password.as_str());
            }
        }
        Ok(Self { config, tls })
    }
}

/// The address for messages, without user and password.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let database = self.config.get_dbname().unwrap_or("the user's own");
        write!(f, "The database {database} at {}", hosts(&self.config))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

/// The library's reason against a URL, without the URL itself.
fn cause(error: &tokio_postgres::Error) -> String {
    use std::error::Error as _;
    error
        .source()
        .map_or_else(|| error.to_string(), ToString::to_string)
}

/// The parameters for TLS in an address.
struct Ssl {
    mode: Option<String>,
    root_certificate: Option<String>,
}

/// Splits the parameters for TLS from the URL.
fn without_ssl(url: &str) -> (String, Ssl) {
    let mut ssl = Ssl {
        mode: None,
        root_certificate: None,
    };
    let Some((base, query)) = url.split_once('?') else {
        return (url.to_owned(), ssl);
    };
    let decoded = |value: &str| percent_decode_str(value).decode_utf8_lossy().into_owned();
    let others = query.split('&').filter(|pair| match pair.split_once('=') {
        Some(("sslmode", value)) => {
            ssl.mode = Some(decoded(value));
            false
        }
        Some(("sslrootcert", value)) => {
            ssl.root_certificate = Some(decoded(value));
            false
        }
        _ => true,
    });
    let others: Vec<_> = others.collect();
    (format!("{base}?{}", others.join("&")), ssl)
}

fn is_full(mode: &str) -> bool {
    matches!(mode, "require" | "verify-ca" | "verify-full")
}

/// Whether the connection stays on this machine.
fn is_local(config: &Config) -> bool {
    let addresses = config.get_hostaddrs();
    if !addresses.is_empty() {
        return addresses.iter().all(std::net::IpAddr::is_loopback);
    }
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => {
            let ip: Result<std::net::IpAddr, _> = name.trim_matches(['[', ']']).parse();
            name == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    })
}

fn hosts(config: &Config) -> String {
    let hosts = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    });
    let hosts: Vec<_> = hosts.collect();
    if hosts.is_empty() {
        let addresses = config.get_hostaddrs().iter().map(ToString::to_string);
        addresses.collect::<Vec<_>>().join(",")
    } else {
        hosts.join(",")
    }
}

/// A connector that checks certificates and their names against the authorities in `file`, or else
/// the system's.
fn tls(file: Option<&Path>) -> Result<MakeRustlsConnect, InvalidAddress> {
    let roots = match file {
        Some(file) => {
            roots_in(file).map_err(|why| InvalidAddress::RootCertificate(file.to_owned(), why))?
        }
        None => system_roots()?,
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has ciphers for the versions it is built with")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn roots_in(file: &Path) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(file).map_err(|error| error.to_string())?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    if roots.is_empty() {
        return Err("it has none".to_owned());
    }
    Ok(roots)
}

fn system_roots() -> Result<RootCertStore, InvalidAddress> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(InvalidAddress::NoRootCertificates);
    }
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Address, InvalidAddress> {
        Address::parse(url, |_| None)
    }

    #[test]
    fn what_stays_on_this_machine_needs_no_certificate() {
        for url in [
            "postgres://me@localhost/t",
            "postgres://me@127.0.0.1:5433/t",
            "postgres://me@[::1]/t",
            "postgresql:///t?host=/var/run/postgresql&user=me",
            "postgres://me@%2Fvar%2Frun%2Fpostgresql/t",
            "postgres://me@localhost/t?sslmode=disable",
            "postgres://me@db.example/t?hostaddr=127.0.0.1",
        ] {
            let address = parse(url).unwrap();
            assert!(address.tls.is_none(), "{url}");
        }
    }

    #[test]
    fn what_leaves_this_machine_is_encrypted_and_checked() {
        for host in [
            "db.example",
            "10.0.0.7",
            "localhost,db.example",
            "localhost.example",
        ] {
            let url = |more: &str| format!("postgres://me@{host}/t{more}");
            for mode in ["disable", "allow", "prefer"] {
                let error = parse(&url(&format!("?sslmode={mode}"))).unwrap_err();
                assert!(matches!(error, InvalidAddress::Unprotected(..)), "{error}");
            }
            let root = "/nowhere/root.pem";
            let error =
                parse(&url(&format!("?sslmode=verify-full&sslrootcert={root}"))).unwrap_err();
            let InvalidAddress::RootCertificate(file, _) = error else {
                panic!("{error}");
            };
            assert_eq!(file, Path::new(root));
        }
    }

    #[test]
    fn an_address_that_is_none_is_refused_without_repeating_it() {
        for url in [
            "postgres://me:secret@localhost:port/t",
            "postgres://me:secret@localhost/t?nonsense=secret",
            "postgres://me:secret@/t",
            "mysql://me:secret@localhost/t",
            "",
        ] {
            let error = parse(url).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_password_is_taken_from_the_url_or_the_environment_and_never_shown() {
        let environment = |name: &str| (name == "PGPASSWORD").then(|| "from-outside".to_owned());
        for (url, password) in [
            ("postgres://me@localhost/t", "from-outside"),
            ("postgres://me:from-inside@localhost/t", "from-inside"),
        ] {
            let address = Address::parse(url, environment).unwrap();
            assert_eq!(address.config.get_password(), Some(password.as_bytes()));
            let shown = format!("{address} {address:?}");
            assert!(!shown.contains("from-"), "{shown}");
        }
    }
}
