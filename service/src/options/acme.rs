//! The options of certificates that the service obtains itself.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use tapdesk_service::certificates::Acme;
use url::{Host, Url};

use super::listening::listener;

/// Certificates by ACME, and their listeners.
#[derive(Args, Clone, Debug)]
pub(crate) struct Certificates {
    /// A domain to serve by https, with a certificate that the service obtains and renews by ACME. It may be repeated; the variable separates domains by commas. Whoever sets it agrees to the authority's terms.
    #[arg(
        long,
        env = "TAPDESK_ACME",
        value_name = "DOMAIN",
        value_delimiter = ',',
        value_parser = domain
    )]
    acme: Vec<String>,

    /// The mail address that the authority may write to about certificates.
    #[arg(long, env = "TAPDESK_ACME_MAIL", value_name = "ADDRESS")]
    acme_mail: Option<String>,

    /// The directory of the authority.
    #[arg(
        long,
        env = "TAPDESK_ACME_DIRECTORY",
        value_name = "URL",
        default_value = "https://acme-v02.api.letsencrypt.org/directory",
        value_parser = directory
    )]
    acme_directory: String,

    /// A PEM file with the certificates that verify the authority's server. Default: those of the system.
    #[arg(long, env = "TAPDESK_ACME_CA", value_name = "FILE")]
    acme_ca: Option<PathBuf>,

    /// A file with two words, the id and the key (in Base64) that an authority gave you for new accounts. Let's Encrypt needs none.
    #[arg(long, env = "TAPDESK_ACME_ACCOUNT", value_name = "FILE")]
    acme_account: Option<PathBuf>,

    /// With `--acme`, the address and port of https. Phones come to port 443.
    #[arg(
        long,
        env = "TAPDESK_HTTPS_LISTEN",
        value_name = "ADDRESS:PORT",
        default_value = "[::]:443",
        value_parser = listener
    )]
    pub https_listen: SocketAddr,

    /// With `--acme`, the address and port of http, which answers the authority and redirects visitors to https. The authority uses port 80.
    #[arg(
        long,
        env = "TAPDESK_HTTP_LISTEN",
        value_name = "ADDRESS:PORT",
        default_value = "[::]:80",
        value_parser = listener
    )]
    pub http_listen: SocketAddr,
}

impl Certificates {
    /// The choices about certificates; `None` without a domain.
    pub(crate) fn acme(&self) -> Option<Acme> {
        let mut domains = self.acme.clone();
        let mut known = std::collections::HashSet::new();
        domains.retain(|domain| known.insert(domain.clone()));
        (!domains.is_empty()).then(|| Acme {
            domains,
            mail: self.acme_mail.clone(),
            directory: self.acme_directory.clone(),
            trusted: self.acme_ca.clone(),
            account: self.acme_account.clone(),
        })
    }
}

/// A domain in lower case and ASCII.
fn domain(text: &str) -> Result<String, String> {
    // A URL's host may have more characters than a name in DNS, such as `*`.
    let in_names = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
    match Host::parse(text.trim().trim_end_matches('.')) {
        Ok(Host::Domain(name))
            if name.len() <= 253 && name.contains('.') && name.bytes().all(in_names) =>
        {
            Ok(name)
        }
        _ => Err(
            "a domain is a name in DNS, such as tags.example.com, without a scheme, a port or a *"
                .to_owned(),
        ),
    }
}

/// The URL of a directory, which has to be encrypted: accounts are made there.
fn directory(text: &str) -> Result<String, String> {
    match Url::parse(text) {
        Ok(url) if url.scheme() == "https" && url.has_host() => Ok(text.to_owned()),
        _ => Err("a directory is an https URL".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_a_name_without_anything_else() {
        for (text, read) in [
            ("Tags.Example.COM", "tags.example.com"),
            ("tags.example.com.", "tags.example.com"),
            ("müller.example", "xn--mller-kva.example"),
        ] {
            assert_eq!(domain(text).as_deref(), Ok(read));
        }
        for text in [
            "",
            "localhost",
            "*.example.com",
            "https://tags.example.com",
            "tags.example.com:443",
            "192.0.2.7",
            "[::1]",
            "tags example.com",
        ] {
            assert!(domain(text).is_err(), "{text}");
        }
        assert!(directory("https://localhost:14000/dir").is_ok());
        assert!(directory("http://localhost:14000/dir").is_err());
    }
}
