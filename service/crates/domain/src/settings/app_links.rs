//! The apps that open tags' URLs instead of a browser, by host. The service publishes them in the
//! files that iOS and Android read:
//! <https://developer.apple.com/documentation/xcode/supporting-associated-domains> and
//! <https://developers.google.com/digital-asset-links/v1/statements>.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{InvalidSetting, parse};
use crate::schema::text_schema;

/// Most hosts with apps.
const HOSTS_MAX: usize = 50;
/// Most apps of one kind at a host. Few owners have more than one, and a test version of it. With
/// [`PATHS_MAX`], Apple's file stays far below the 128 KiB that iOS reads.
const APPS_MAX: usize = 10;
/// Most paths of a host.
const PATHS_MAX: usize = 20;
/// Longest path, in bytes.
const PATH_MAX: usize = 200;
/// Most certificates of an Android app: of the store, of its owner, and earlier ones.
const CERTIFICATES_MAX: usize = 10;
/// Longest bundle identifier, in bytes: the limit of App Store Connect.
const BUNDLE_MAX: usize = 155;
/// Longest package name, in bytes: it names a folder on the device.
const PACKAGE_MAX: usize = 223;

/// The apps that open URLs of one host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AppLinks {
    /// The host of the URLs, without scheme, port and path.
    #[schema(max_length = 253)]
    pub host: String,
    /// iOS apps: the app id prefix (the team) of ten letters and digits, a dot, and the bundle
    /// identifier.
    #[serde(default)]
    #[schema(required = false, max_items = 10, value_type = Vec<IosAppId>)]
    pub ios_app_ids: Vec<String>,
    /// The paths that the iOS apps open. `*` stands for any characters, `?` for one. Empty: the paths
    /// of tags' URLs at this host. The paths of an Android app are in the app itself.
    #[serde(default)]
    #[schema(required = false, max_items = 20, value_type = Vec<AppPath>)]
    pub paths: Vec<String>,
    /// Android apps that open all URLs of the host.
    #[serde(default)]
    #[schema(required = false, max_items = 10)]
    pub android_apps: Vec<AndroidApp>,
}

/// An Android app, and the certificates that sign it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AndroidApp {
    /// Its application id, such as `com.example.app`.
    #[schema(max_length = 223)]
    pub package: String,
    /// SHA-256 fingerprints of its signing certificates: 64 hexadecimal digits, with or without
    /// colons. Google Play shows them below "App integrity".
    #[schema(min_items = 1, max_items = 10, value_type = Vec<CertificateFingerprint>)]
    pub sha256_cert_fingerprints: Vec<String>,
}

/// The form of an iOS app's id, for the OpenAPI document.
struct IosAppId;
text_schema!(IosAppId, "^[0-9A-Z]{10}\\.[0-9A-Za-z.-]+$");

/// The form of a path, for the OpenAPI document.
struct AppPath;
text_schema!(AppPath, "^/[!-~]*$", max_length = 200);

/// The form of a certificate's fingerprint, for the OpenAPI document.
struct CertificateFingerprint;
text_schema!(
    CertificateFingerprint,
    "^[0-9A-Fa-f]{2}(:?[0-9A-Fa-f]{2}){31}$"
);

/// The apps of all hosts, in their canonical form.
pub(super) fn checked(links: &[AppLinks]) -> Result<Vec<AppLinks>, InvalidSetting> {
    if links.len() > HOSTS_MAX {
        return Err(InvalidSetting::of(
            "app_links",
            "At most 50 hosts can have apps.",
        ));
    }
    let mut known: Vec<AppLinks> = Vec::with_capacity(links.len());
    for (at, entry) in links.iter().enumerate() {
        let own = entry.checked().map_err(|(field, what)| {
            InvalidSetting::of(format!("app_links[{at}].{field}"), what)
        })?;
        if known.iter().any(|before| before.host == own.host) {
            return Err(InvalidSetting::of(
                format!("app_links[{at}].host"),
                "Each host can be in the list once.",
            ));
        }
        known.push(own);
    }
    Ok(known)
}

/// A field and its error, a sentence for people.
type Wrong = (String, &'static str);

impl AppLinks {
    fn checked(&self) -> Result<Self, Wrong> {
        let wrong = |field: &str, what| Err((field.to_owned(), what));
        let Some(host) = parse::host(&self.host) else {
            return wrong(
                "host",
                "A host is a name such as tags.example, without scheme, port or path.",
            );
        };
        if self.ios_app_ids.is_empty() && self.android_apps.is_empty() {
            return wrong("host", "A host needs an iOS app or an Android app.");
        }
        if self.ios_app_ids.len() > APPS_MAX {
            return wrong("ios_app_ids", "A host can have at most 10 iOS apps.");
        }
        if self.paths.len() > PATHS_MAX {
            return wrong("paths", "A host can have at most 20 paths.");
        }
        if self.android_apps.len() > APPS_MAX {
            return wrong("android_apps", "A host can have at most 10 Android apps.");
        }
        let ids = self.ios_app_ids.iter().map(|id| id.trim().to_owned());
        let ios_app_ids: Vec<_> = ids.collect();
        if let Some(at) = ios_app_ids.iter().position(|id| !is_app_id(id)) {
            return wrong(
                &format!("ios_app_ids[{at}]"),
                "An iOS app's id is its prefix of ten capitals and digits, a dot and its bundle \
                 identifier, such as ABCDE12345.com.example.app.",
            );
        }
        let paths = self.paths.iter().map(|path| path.trim().to_owned());
        let paths: Vec<_> = paths.collect();
        if let Some(at) = paths.iter().position(|path| !is_path(path)) {
            return wrong(
                &format!("paths[{at}]"),
                "A path begins with / and has at most 200 characters of ASCII without spaces. \
                 * stands for any characters.",
            );
        }
        let apps = self.android_apps.iter().enumerate();
        let apps = apps.map(|(at, app)| {
            app.checked()
                .map_err(|(field, what)| (format!("android_apps[{at}].{field}"), what))
        });
        Ok(Self {
            host,
            ios_app_ids,
            paths,
            android_apps: apps.collect::<Result<_, _>>()?,
        })
    }
}

impl AndroidApp {
    fn checked(&self) -> Result<Self, Wrong> {
        let package = self.package.trim();
        if !is_package(package) {
            return Err((
                "package".to_owned(),
                "A package is an application id such as com.example.app.",
            ));
        }
        let texts = &self.sha256_cert_fingerprints;
        let field = "sha256_cert_fingerprints";
        if texts.is_empty() || texts.len() > CERTIFICATES_MAX {
            let what = "An Android app has 1 to 10 certificates.";
            return Err((field.to_owned(), what));
        }
        let read = texts.iter().enumerate().map(|(at, text)| {
            fingerprint(text).ok_or_else(|| {
                let what = "A certificate's SHA-256 fingerprint has 32 pairs of hexadecimal \
                            digits, such as 14:6D:E9:..";
                (format!("{field}[{at}]"), what)
            })
        });
        Ok(Self {
            package: package.to_owned(),
            sha256_cert_fingerprints: read.collect::<Result<_, _>>()?,
        })
    }
}

fn is_app_id(text: &str) -> bool {
    text.split_once('.').is_some_and(|(prefix, bundle)| {
        let capitals = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
        let part = |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte);
        prefix.len() == 10
            && prefix.bytes().all(capitals)
            && (1..=BUNDLE_MAX).contains(&bundle.len())
            && bundle.bytes().all(part)
    })
}

fn is_path(text: &str) -> bool {
    text.starts_with('/') && text.len() <= PATH_MAX && text.bytes().all(|b| b.is_ascii_graphic())
}

/// Whether a text is an application id: at least two segments, each of which begins with a letter.
fn is_package(text: &str) -> bool {
    let segment = |segment: &str| {
        segment.starts_with(|first: char| first.is_ascii_alphabetic())
            && segment
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    text.len() <= PACKAGE_MAX && text.contains('.') && text.split('.').all(segment)
}

/// A fingerprint in capitals, with a colon after each byte but the last.
fn fingerprint(text: &str) -> Option<String> {
    let digits: String = text.trim().chars().filter(|c| *c != ':').collect();
    let mut bytes = [0; 32];
    let decoded = base16ct::mixed::decode(&digits, &mut bytes).ok()?;
    if decoded.len() != 32 {
        return None;
    }
    let pairs: Vec<_> = decoded.iter().map(|byte| format!("{byte:02X}")).collect();
    Some(pairs.join(":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links() -> AppLinks {
        AppLinks {
            host: "Tags.Example".to_owned(),
            ios_app_ids: vec![" ABCDE12345.com.example.app ".to_owned()],
            paths: vec!["/t/*".to_owned()],
            android_apps: vec![AndroidApp {
                package: "com.example.app".to_owned(),
                sha256_cert_fingerprints: vec!["0a".repeat(32)],
            }],
        }
    }

    #[test]
    fn apps_are_kept_in_the_form_that_phones_read() {
        let own = checked(&[links()]).unwrap().remove(0);
        assert_eq!(own.host, "tags.example");
        assert_eq!(own.ios_app_ids, ["ABCDE12345.com.example.app"]);
        let print = &own.android_apps[0].sha256_cert_fingerprints[0];
        assert_eq!(*print, ["0A"; 32].join(":"));
        assert_eq!(checked(std::slice::from_ref(&own)).unwrap(), [own]);
    }

    #[test]
    fn an_app_that_no_phone_would_find_is_refused_at_its_field() {
        type Change = fn(&mut AppLinks);
        let changes: [(&str, Change); 12] = [
            ("app_links[0].host", |to| {
                to.host = "https://a.example".into();
            }),
            ("app_links[0].host", |to| to.host = "*.example".into()),
            ("app_links[0].host", |to| {
                to.ios_app_ids.clear();
                to.android_apps.clear();
            }),
            ("app_links[0].ios_app_ids", |to| {
                to.ios_app_ids = vec!["ABCDE12345.a".into(); 1000];
            }),
            ("app_links[0].ios_app_ids[0]", |to| {
                to.ios_app_ids = vec!["com.example.app".into()];
            }),
            ("app_links[0].ios_app_ids[1]", |to| {
                to.ios_app_ids.push("ABCDE12345.*".into());
            }),
            ("app_links[0].paths[0]", |to| to.paths = vec!["t/*".into()]),
            ("app_links[0].paths[0]", |to| {
                to.paths = vec!["/ü".into()];
            }),
            ("app_links[0].android_apps", |to| {
                to.android_apps = vec![to.android_apps[0].clone(); 1000];
            }),
            ("app_links[0].android_apps[0].package", |to| {
                to.android_apps[0].package = "app".into();
            }),
            (
                "app_links[0].android_apps[0].sha256_cert_fingerprints",
                |to| to.android_apps[0].sha256_cert_fingerprints.clear(),
            ),
            (
                "app_links[0].android_apps[0].sha256_cert_fingerprints[0]",
                |to| to.android_apps[0].sha256_cert_fingerprints = vec!["0a".repeat(20)],
            ),
        ];
        for (field, change) in changes {
            let mut wrong = links();
            change(&mut wrong);
            let error = checked(&[wrong]).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{field}: ")), "{error}");
        }
        let twice = [links(), links()];
        let error = checked(&twice).unwrap_err().to_string();
        assert!(error.starts_with("app_links[1].host: "), "{error}");
    }
}
