//! The newest release, read from a file whose address the owner chose, and whose signature is by a
//! key that the owner chose. Nothing is downloaded, and requests say nothing about this computer.

use std::time::Duration;

use minisign_verify::{PublicKey, Signature};
use semver::Version;
use serde::{Deserialize, Serialize};
use tapdesk_service::client::{self, Limits};
use tapdesk_service::clock::Timestamp;
use tapdesk_service::field_error::FieldError;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};
use url::Url;

/// Time limits of a request.
const LIMITS: Limits = Limits {
    connect: Duration::from_secs(10),
    answer: Duration::from_secs(10),
};
/// Time limit of a request with its whole answer.
const WHOLE: Duration = Duration::from_secs(20);
/// Largest file that is read, in bytes: notes of a release are a few kilobytes.
const FILE_MAX: u64 = 64 * 1024;

/// Where the owner wants to look for releases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ReleaseSource {
    /// The URL of a JSON file with `version`, `url` and `notes`. Its signature has the same URL with
    /// `.minisig` behind its path.
    pub url: String,
    /// The minisign public key of whoever signs the file, in base64.
    pub public_key: String,
}

/// A release, as the file describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Release {
    /// Its version, by Semantic Versioning.
    pub version: String,
    /// The web page where people find it.
    pub url: String,
    /// The changes in it, as plain text.
    pub notes: String,
}

/// Where to look for releases, and the result of the last look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Releases {
    /// Where to look; none if the desktop must not look.
    pub source: Option<ReleaseSource>,
    /// The time of the last look.
    #[cfg_attr(test, ts(type = "string | null"))]
    pub looked_at: Option<Timestamp>,
    /// The newest release that was found.
    pub found: Option<Release>,
    /// Why the last look found nothing, as a sentence; none if it succeeded.
    pub problem: Option<String>,
}

impl Releases {
    /// The same with a release only if it is newer than this program.
    pub(crate) fn newer(mut self) -> Self {
        self.found
            .take_if(|found| !found.is_newer_than(env!("CARGO_PKG_VERSION")));
        self
    }
}

impl ReleaseSource {
    /// Checks the fields of a form.
    pub fn parse(url: &str, public_key: &str) -> Result<Self, FieldError> {
        let refused = |why: &'static str| FieldError::of("url", why);
        let url = Url::parse(url.trim())
            .map_err(|_| refused("Enter a URL such as https://example.com/latest.json."))?;
        client::address::check(&url).map_err(|_| {
            refused("The URL must begin with https://, or with http:// on this computer.")
        })?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused("The URL must have no user name and no password."));
        }
        // The file of a public key has a comment before the key.
        let mut lines = public_key.lines().map(str::trim);
        let public_key = lines.rfind(|line| !line.is_empty()).unwrap_or_default();
        key(public_key).map_err(|why| FieldError::of("public_key", why))?;
        Ok(Self {
            url: url.into(),
            public_key: public_key.to_owned(),
        })
    }

    /// Reads the newest release. It blocks. An `Err` is a sentence for people.
    pub fn look(&self) -> Result<Release, String> {
        let mut signature = Url::parse(&self.url).map_err(|_| "The URL is not one.".to_owned())?;
        signature.set_path(&format!("{}.minisig", signature.path()));
        let agent = self.agent();
        let file = read(&agent, &self.url)?;
        let signature = read(&agent, signature.as_str())?;
        self.check(&file, &signature)?;
        Release::parse(&file)
    }

    fn agent(&self) -> Agent {
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier);
        // Without a redirect, only the address that the owner chose learns of this computer.
        client::agent(&self.url, LIMITS)
            .tls_config(tls.build())
            .timeout_global(Some(WHOLE))
            .user_agent("")
            .build()
            .new_agent()
    }

    /// Checks that the owner's key made the signature of the file.
    fn check(&self, file: &[u8], signature: &[u8]) -> Result<(), String> {
        let signature = str::from_utf8(signature)
            .ok()
            .and_then(|text| Signature::decode(text).ok());
        let signature = signature.ok_or("The signature beside the file is not one of minisign.")?;
        key(&self.public_key)?
            .verify(file, &signature, false)
            .map_err(|_| "The file was not signed with your key, so it was ignored.".to_owned())
    }
}

fn key(text: &str) -> Result<PublicKey, String> {
    PublicKey::from_base64(text)
        .map_err(|_| "Enter a minisign public key: 56 characters that begin with RW.".to_owned())
}

impl Release {
    fn parse(file: &[u8]) -> Result<Self, String> {
        let release: Self = serde_json::from_slice(file)
            .map_err(|_| "The file is not JSON with version, url and notes.".to_owned())?;
        if Version::parse(&release.version).is_err() {
            return Err(format!("{} in the file is not a version.", release.version));
        }
        let is_web = Url::parse(&release.url).is_ok_and(|url| url.scheme() == "https");
        if !is_web {
            return Err(format!("{} in the file is not an https URL.", release.url));
        }
        Ok(release)
    }

    fn is_newer_than(&self, present: &str) -> bool {
        match (Version::parse(&self.version), Version::parse(present)) {
            (Ok(version), Ok(present)) => version > present,
            _ => false,
        }
    }
}

fn read(agent: &Agent, url: &str) -> Result<Vec<u8>, String> {
    let unanswered = |error: ureq::Error| match error {
        ureq::Error::BodyExceedsLimit(_) => {
            format!("{url} is larger than {} kB.", FILE_MAX / 1024)
        }
        ureq::Error::Timeout(_) => format!("{url} did not answer in time."),
        error => format!("{url} cannot be read: {error}."),
    };
    let answer = agent.get(url).call().map_err(unanswered)?;
    let status = answer.status();
    if status.is_redirection() {
        return Err(format!("{url} leads to another address. Enter that one."));
    }
    if !status.is_success() {
        return Err(format!("{url} answered {}.", status.as_u16()));
    }
    let body = answer.into_body().into_with_config().limit(FILE_MAX);
    body.read_to_vec().map_err(unanswered)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "RWSJHjJFIzTzuOBjOAXcIECWZG6nfUE7r0pnDT4hBKMBRxwxCEeivgVX";

    #[test]
    fn only_a_higher_version_is_newer() {
        for (version, present, newer) in [
            ("0.2.0", "0.1.0", true),
            ("0.10.0", "0.9.9", true),
            ("1.0.0", "1.0.0-rc.1", true),
            ("0.1.0", "0.1.0", false),
            ("0.1.0-rc.1", "0.1.0", false),
            ("0.0.9", "0.1.0", false),
            ("newest", "0.1.0", false),
        ] {
            let release = Release {
                version: version.to_owned(),
                url: String::new(),
                notes: String::new(),
            };
            assert_eq!(release.is_newer_than(present), newer, "{version}");
        }
    }

    #[test]
    fn a_source_has_an_address_that_nobody_on_the_way_reads_and_a_key() {
        let file = format!("untrusted comment: minisign public key 1\n{KEY}\n");
        for (url, key) in [
            (" https://example.com/latest.json ", KEY),
            ("http://127.0.0.1:8000/latest.json", file.as_str()),
        ] {
            let source = ReleaseSource::parse(url, key).unwrap();
            assert_eq!(
                (source.url.as_str(), source.public_key.as_str()),
                (url.trim(), KEY)
            );
        }
        for (url, key, field) in [
            ("latest.json", KEY, "url"),
            ("http://example.com/latest.json", KEY, "url"),
            ("https://me:secret@example.com/latest.json", KEY, "url"),
            ("file:///latest.json", KEY, "url"),
            ("https://example.com/latest.json", "", "public_key"),
            ("https://example.com/latest.json", &KEY[..50], "public_key"),
        ] {
            let refused = ReleaseSource::parse(url, key).unwrap_err();
            assert_eq!(refused.field.as_deref(), Some(field), "{url} {key}");
        }
    }
}
