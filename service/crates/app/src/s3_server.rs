//! The server of the buckets, and the key for it.

use std::fmt;

use url::{Host, Url};
use zeroize::Zeroizing;

/// The region of servers that have none.
const REGION: &str = "us-east-1";

/// The server of the buckets, and the key for it. Its values have the names that other programs
/// for S3 give them, too.
#[derive(Clone, Default)]
pub struct S3Server {
    /// The URL of the server; `None` for Amazon's own. Requests name the bucket in the path.
    pub endpoint: Option<String>,
    /// The region, if it is not `us-east-1`.
    pub region: Option<String>,
    /// The name of the access key.
    pub access_key: Option<String>,
    /// The secret of the access key.
    pub secret: Option<Zeroizing<String>>,
}

impl S3Server {
    /// The server that these variables name. `variable` returns the value of one, if it is set.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let variable = |name| variable(name).filter(|value| !value.is_empty());
        Self {
            endpoint: variable("AWS_ENDPOINT_URL"),
            region: variable("AWS_REGION"),
            access_key: variable("AWS_ACCESS_KEY_ID"),
            secret: variable("AWS_SECRET_ACCESS_KEY").map(Zeroizing::new),
        }
    }

    pub(crate) fn region(&self) -> &str {
        self.region.as_deref().unwrap_or(REGION)
    }

    /// The URL of the server. An `Err` is a sentence for people. A backup contains data of
    /// visitors, so it leaves this machine only by TLS.
    pub fn url(&self) -> Result<Url, String> {
        self.check_region()?;
        let Some(text) = &self.endpoint else {
            let url = format!("https://s3.{}.amazonaws.com", self.region());
            return Url::parse(&url).map_err(|_| format!("{} is no region.", self.region()));
        };
        let refused = || {
            "The server of a bucket (AWS_ENDPOINT_URL) is a URL, such as https://s3.example.com."
                .to_owned()
        };
        let url = Url::parse(text).map_err(|_| refused())?;
        let host = url.host().ok_or_else(refused)?;
        let is_server = url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        match url.scheme() {
            "http" | "https" if !is_server => Err(refused()),
            "https" => Ok(url),
            "http" if is_loopback(&host) => Ok(url),
            "http" => Err(format!(
                "Backups do not go to {host} in clear. Use a server with https (AWS_ENDPOINT_URL)."
            )),
            _ => Err(refused()),
        }
    }

    /// Checks the region, which is a part of a host and of a header. An `Err` is a sentence for people.
    pub fn check_region(&self) -> Result<(), String> {
        let is_of_region = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if self.region().chars().all(is_of_region) {
            return Ok(());
        }
        Err(
            "The region of a server (AWS_REGION) has only letters, digits and hyphens, as in us-east-1."
                .to_owned(),
        )
    }

    /// The access key and its secret. An `Err` is a sentence for people. The name of the key is in a
    /// header of each request, and the client would panic at other characters.
    pub fn key(&self) -> Result<(&str, &str), String> {
        match (&self.access_key, &self.secret) {
            (Some(key), Some(_)) if !key.chars().all(|c| c.is_ascii_graphic()) => Err(
                "The access key (AWS_ACCESS_KEY_ID) has a space, or a letter that no access key has. Copy it again."
                    .to_owned(),
            ),
            (Some(key), Some(secret)) => Ok((key, secret)),
            _ => Err(
                "A bucket needs an access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
                    .to_owned(),
            ),
        }
    }
}

impl fmt::Debug for S3Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Server")
            .field("endpoint", &self.endpoint)
            .field("region", &self.region)
            .finish_non_exhaustive()
    }
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost",
        Host::Ipv4(ip) => ip.is_loopback(),
        Host::Ipv6(ip) => ip.is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backups_leave_the_machine_only_by_tls() {
        let url = |endpoint: Option<&str>| {
            let endpoint = endpoint.map(ToOwned::to_owned);
            S3Server {
                endpoint,
                ..S3Server::default()
            }
            .url()
        };
        for endpoint in [
            "https://s3.example.com",
            "https://minio.lan:9000/",
            "http://127.0.0.1:9000",
            "http://[::1]:9000",
            "http://localhost:9000",
        ] {
            assert!(url(Some(endpoint)).is_ok(), "{endpoint}");
        }
        for endpoint in [
            "http://minio.lan:9000",
            "http://192.168.0.2",
            "ftp://s3.example.com",
            "s3.example.com",
            "https://me:secret@s3.example.com",
            "https://s3.example.com/?x",
        ] {
            let refused = url(Some(endpoint)).unwrap_err();
            assert!(!refused.contains("secret"), "{refused}");
        }
        let amazons = url(None).unwrap();
        assert_eq!(amazons.as_str(), "https://s3.us-east-1.amazonaws.com/");
    }

    #[test]
    fn what_no_header_can_have_is_refused_before_a_request() {
        for wrong in [
            "AKIATÄPDESK",
            "AKIA TAPDESK",
            "AKIA\u{200b}TAPDESK",
            "AKIA\n",
        ] {
            let server = S3Server {
                access_key: Some(wrong.to_owned()),
                secret: Some(Zeroizing::new("secret".to_owned())),
                ..S3Server::default()
            };
            assert!(
                server.key().unwrap_err().contains("Copy it again"),
                "{wrong:?}"
            );
        }
        for wrong in ["eu central", "münchen", "x/.evil.example/", "a\nb"] {
            let server = S3Server {
                region: Some(wrong.to_owned()),
                ..S3Server::default()
            };
            assert!(
                server.url().unwrap_err().contains("AWS_REGION"),
                "{wrong:?}"
            );
        }
    }

    #[test]
    fn the_secret_is_in_no_debug_output() {
        let server = S3Server::from_variables(|name| Some(format!("the-{name}")));
        assert!(server.key().is_ok());
        let shown = format!("{server:?}");
        assert!(
            !shown.contains("SECRET") && !shown.contains("KEY"),
            "{shown}"
        );
        let none = S3Server::from_variables(|_| Some(String::new()));
        assert!(none.key().is_err());
    }
}
