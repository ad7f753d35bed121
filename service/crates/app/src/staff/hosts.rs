//! The hosts of tag URLs. A phone needs its cookie at each of them.

use crate::service::Service;
use inlay::template::host_name;
use storage::StorageError;

/// A host at which tags answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagHost {
    /// Scheme, host and port, such as `https://tags.example.com`.
    pub origin: String,
    /// The host without its port, in lower case: cookies do not distinguish ports.
    pub name: String,
}

impl TagHost {
    fn at(origin: String) -> Self {
        let authority = origin.split_once("://").map_or("", |(_, rest)| rest);
        Self {
            name: host_name(authority),
            origin,
        }
    }

    /// Whether phones open it by https.
    pub fn is_https(&self) -> bool {
        self.origin.starts_with("https:")
    }
}

/// The host of the tag URL, and the hosts of URL templates, each once. Templates with a slug in
/// their host have too many hosts for cookies, and are left out.
pub async fn tag_hosts(service: &Service) -> Result<Vec<TagHost>, StorageError> {
    let mut hosts = vec![TagHost::at(service.settings().origin())];
    for origin in service.templates.current().await?.origins() {
        let host = TagHost::at(origin);
        if hosts.iter().all(|known| known.name != host.name) {
            hosts.push(host);
        }
    }
    Ok(hosts)
}

/// Whether phones open this host by https: as the URLs of its tags say, else as the tag URL says.
/// The service may be behind a proxy, so a request does not show it.
pub async fn is_https_at(service: &Service, host: &str) -> Result<bool, StorageError> {
    let name = host_name(host);
    let hosts = tag_hosts(service).await?;
    let host = hosts.iter().find(|known| known.name == name);
    Ok(host.map_or_else(|| service.settings().is_https(), TagHost::is_https))
}
