//! Opens a test URL through an address. The request goes only to the address that an owner typed,
//! and reveals nothing about another server except that it is one: the service reads 64 bytes of an
//! answer, compares them, and forgets them. Addresses of a private network are allowed, because
//! phones may be there. This computer's own addresses are not allowed, because no phone can reach
//! them.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::LOCATION;
use reqwest::{Client, redirect, retry};
use url::{Host, Url};

use crate::http_client::{Lookup, System, causes, certificate_fault, tls};
use domain::settings::host;
use domain::tag_url::TagUrlReason;

/// How long the lookup of a name may take.
const LOOKUP: Duration = Duration::from_secs(3);
/// How long a connection may take, with the lookup.
const CONNECT: Duration = Duration::from_secs(4);
/// How long an attempt may take, including all redirects.
const PATIENCE: Duration = Duration::from_secs(6);
/// How many redirects on the same host are followed.
const REDIRECTS: usize = 3;
/// Longest answer that is read, in bytes: the right one has 24.
const ANSWER_MAX: usize = 64;

/// The result of opening a test URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opened {
    /// This service answered, or another node of its database.
    Ours,
    /// It failed, for this reason, also in words.
    Failed(TagUrlReason, String),
}

/// Opens addresses. Its HTTP client is made at the first use.
pub struct Door {
    lookup: Arc<dyn Lookup>,
    /// Whether an address belongs to this computer.
    is_own: fn(IpAddr) -> bool,
    patience: Duration,
    client: OnceLock<Option<Client>>,
}

impl Default for Door {
    fn default() -> Self {
        Self {
            lookup: Arc::new(System),
            is_own,
            patience: PATIENCE,
            client: OnceLock::new(),
        }
    }
}

impl Door {
    /// Opens the test URL `segment` below `tag_url`, and expects `answer`.
    pub async fn open(&self, tag_url: &str, segment: &str, answer: &str) -> Opened {
        let Ok(url) = Url::parse(&format!("{tag_url}/{segment}")) else {
            return Opened::Failed(TagUrlReason::Dns, format!("{tag_url} is no address."));
        };
        if url.host().is_none_or(|host| is_this_computer(&host)) {
            return Opened::Failed(TagUrlReason::Loopback, of_this_computer(tag_url));
        }
        let Some(client) = self.client.get_or_init(|| self.build().ok()) else {
            let why = "This machine has no certificates that it trusts, so no address can be opened from it.";
            return Opened::Failed(TagUrlReason::Tls, why.to_owned());
        };
        let opened = tokio::time::timeout(self.patience, follow(client, url, answer)).await;
        match opened {
            Ok(Ok(true)) => Opened::Ours,
            Ok(Ok(false)) => {
                let why = format!(
                    "Another server answers at {tag_url}. Forward this address to Tapdesk, or choose another one."
                );
                Opened::Failed(TagUrlReason::OtherServer, why)
            }
            Ok(Err(error)) => failed(&error, tag_url),
            Err(_) => Opened::Failed(TagUrlReason::Timeout, too_late(tag_url)),
        }
    }

    fn build(&self) -> Result<Client, String> {
        let resolver = Phones {
            lookup: Arc::clone(&self.lookup),
            is_own: self.is_own,
        };
        Client::builder()
            .tls_backend_preconfigured(tls()?)
            .redirect(redirect::Policy::none())
            .no_proxy()
            .retry(retry::never())
            .referer(false)
            .dns_resolver(resolver)
            .connect_timeout(CONNECT)
            // No reuse, so that each attempt proves that a connection can be made.
            .pool_max_idle_per_host(0)
            .user_agent(concat!("Tapdesk/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| error.to_string())
    }
}

/// Whether the right answer comes from the URL, or from a redirect on the same host.
async fn follow(client: &Client, mut url: Url, answer: &str) -> Result<bool, reqwest::Error> {
    for _ in 0..=REDIRECTS {
        let mut response = client.get(url.clone()).send().await?;
        if response.status().is_redirection() {
            let location = response.headers().get(LOCATION);
            let location = location.and_then(|location| url.join(location.to_str().ok()?).ok());
            match location {
                Some(next) if next.host() == url.host() && url.host().is_some() => url = next,
                _ => return Ok(false),
            }
            continue;
        }
        if !response.status().is_success() {
            return Ok(false);
        }
        let mut body: Vec<u8> = Vec::new();
        while body.len() <= ANSWER_MAX {
            match response.chunk().await? {
                Some(chunk) => body.extend(chunk.iter().take(ANSWER_MAX + 1)),
                None => return Ok(body == answer.as_bytes()),
            }
        }
        return Ok(false);
    }
    Ok(false)
}

/// Explains why the URL could not be opened.
fn failed(error: &reqwest::Error, tag_url: &str) -> Opened {
    let reached = |reason, why: &str| Opened::Failed(reason, format!("{tag_url} {why}"));
    for cause in causes(error) {
        match cause.downcast_ref::<NotFound>() {
            Some(NotFound::NoAddress) => {
                return reached(
                    TagUrlReason::Dns,
                    "has a host name without an address. Check its spelling, and its entry at your domain's provider.",
                );
            }
            Some(NotFound::ThisComputer) => {
                return Opened::Failed(TagUrlReason::Loopback, of_this_computer(tag_url));
            }
            None => {}
        }
        if let Some(why) = certificate_fault(cause, "the server at this address") {
            return Opened::Failed(TagUrlReason::Tls, why);
        }
        if cause.is::<rustls::Error>() {
            return reached(
                TagUrlReason::Tls,
                "does not answer by https. If nothing there does TLS, the address begins with http://.",
            );
        }
        let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        match kind {
            Some(io::ErrorKind::ConnectionRefused) => {
                return reached(
                    TagUrlReason::Refused,
                    "refuses connections: nothing listens there, or a firewall forbids it. Check the port.",
                );
            }
            Some(
                io::ErrorKind::TimedOut
                | io::ErrorKind::HostUnreachable
                | io::ErrorKind::NetworkUnreachable,
            ) => return Opened::Failed(TagUrlReason::Timeout, too_late(tag_url)),
            _ => {}
        }
    }
    if error.is_timeout() {
        return Opened::Failed(TagUrlReason::Timeout, too_late(tag_url));
    }
    // A connection was made, but the answer was not HTTP.
    reached(
        TagUrlReason::OtherServer,
        "is answered by another server. Forward this address to Tapdesk, or choose another one.",
    )
}

fn too_late(tag_url: &str) -> String {
    let seconds = PATIENCE.as_secs();
    format!(
        "Nothing answers at {tag_url} within {seconds} seconds. Check the address, the network, and whether a firewall lets phones through."
    )
}

fn of_this_computer(tag_url: &str) -> String {
    format!(
        "{tag_url} leads each phone to itself: it works on this computer only. Choose an address of the network, or your domain."
    )
}

/// Whether a host means the computer that opens it, whichever computer that is.
fn is_this_computer(name: &Host<&str>) -> bool {
    match name {
        Host::Domain(name) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            name == "localhost" || name.ends_with(".localhost")
        }
        Host::Ipv4(address) => is_own(IpAddr::V4(*address)),
        Host::Ipv6(address) => is_own(IpAddr::V6(*address)),
    }
}

fn is_own(address: IpAddr) -> bool {
    let address = address.to_canonical();
    address.is_loopback() || address.is_unspecified()
}

/// Why a name has no usable address.
#[derive(Debug)]
enum NotFound {
    NoAddress,
    ThisComputer,
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoAddress => "the name has no address",
            Self::ThisComputer => "the name leads to this computer",
        })
    }
}

impl Error for NotFound {}

/// Finds the addresses of names as a phone would: this computer's own addresses do not count.
struct Phones {
    lookup: Arc<dyn Lookup>,
    is_own: fn(IpAddr) -> bool,
}

impl Resolve for Phones {
    fn resolve(&self, name: Name) -> Resolving {
        let looking = self.lookup.look_up(name.as_str().to_owned());
        let is_own = self.is_own;
        Box::pin(async move {
            let found = tokio::time::timeout(LOOKUP, looking).await;
            let found = found.ok().and_then(Result::ok).unwrap_or_default();
            if found.is_empty() {
                return Err(NotFound::NoAddress.into());
            }
            let others: Vec<SocketAddr> = found
                .into_iter()
                .filter(|address| !is_own(address.ip()))
                .collect();
            if others.is_empty() {
                return Err(NotFound::ThisComputer.into());
            }
            Ok(Box::new(others.into_iter()) as Addrs)
        })
    }
}

/// Whether other devices can open an address: it does not point to the device itself.
pub fn is_reachable_by_others(tag_url: &str) -> bool {
    let url = Url::parse(tag_url);
    url.is_ok_and(|url| url.host().is_some_and(|host| !is_this_computer(&host)))
}

/// The host and port of a `Host` header or a URL, in a canonical form.
pub(super) fn place(host_header: &str, is_https: bool) -> Option<(Host, u16)> {
    let host = host::of_authority(host_header)?;
    // The colons of an IPv6 address are inside its brackets.
    let port = host_header.rsplit_once(':');
    let port = port.and_then(|(_, port)| port.parse().ok());
    Some((host, port.unwrap_or(if is_https { 443 } else { 80 })))
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;
    use crate::http_client::LookingUp;

    /// Resolves each name below `.example` to the loopback address, which stands for a machine on
    /// the network here.
    struct Names;

    impl Lookup for Names {
        fn look_up(&self, name: String) -> LookingUp {
            Box::pin(async move {
                if name.ends_with(".example") {
                    Ok(vec![([127, 0, 0, 1], 0).into()])
                } else {
                    Err(io::ErrorKind::NotFound.into())
                }
            })
        }
    }

    /// A door whose patience ends no attempt, however busy the machine is.
    fn door() -> Door {
        Door {
            lookup: Arc::new(Names),
            is_own: |_| false,
            patience: Duration::from_mins(3),
            client: OnceLock::new(),
        }
    }

    /// Starts a server that answers each path with `answer`; returns its port.
    async fn serve(answer: impl Fn(&str) -> String + Send + 'static) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut connection, _)) = listener.accept().await {
                let mut request = vec![0; 4096];
                let read = connection.read(&mut request).await.unwrap_or_default();
                let request = String::from_utf8_lossy(&request[..read]).into_owned();
                let path = request.split(' ').nth(1).unwrap_or_default();
                let _ = connection.write_all(answer(path).as_bytes()).await;
            }
        });
        port
    }

    fn said(status: &str, more: &str, body: &str) -> String {
        let length = body.len();
        format!(
            "HTTP/1.1 {status}\r\n{more}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        )
    }

    async fn opened(at: &str, port: u16) -> Opened {
        let tag_url = format!("{at}:{port}/t");
        door().open(&tag_url, "!c1", "right").await
    }

    fn reason(opened: Opened) -> Option<TagUrlReason> {
        match opened {
            Opened::Ours => None,
            Opened::Failed(reason, why) => {
                assert!(!why.contains("secret"), "{why}");
                Some(reason)
            }
        }
    }

    #[tokio::test]
    async fn only_the_right_answer_is_ours_and_nothing_else_is_told_of_a_server() {
        use TagUrlReason::OtherServer;
        let long = "secret ".repeat(100_000);
        for (answer, expected) in [
            (said("200 OK", "", "right"), None),
            (said("200 OK", "", "secret"), Some(OtherServer)),
            (said("200 OK", "", "right secret"), Some(OtherServer)),
            (said("200 OK", "", ""), Some(OtherServer)),
            (said("200 OK", "", &long), Some(OtherServer)),
            (said("404 secret", "", "right"), Some(OtherServer)),
            (said("500 secret", "", "right"), Some(OtherServer)),
            (said("302 Found", "", "right"), Some(OtherServer)),
            (
                "secret, which is no HTTP\r\n\r\n".to_owned(),
                Some(OtherServer),
            ),
            (String::new(), Some(OtherServer)),
        ] {
            let told = answer.clone();
            let port = serve(move |_| told.clone()).await;
            let found = opened("http://tags.example", port).await;
            assert_eq!(reason(found), expected, "{answer:.40}");
        }
    }

    #[tokio::test]
    async fn redirects_are_followed_on_the_same_host_alone() {
        let elsewhere = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let away = elsewhere.local_addr().unwrap().port();
        let port = serve(move |path| {
            let to = |location: &str| said("302 Found", &format!("location: {location}\r\n"), "");
            match path {
                "/t/!c1" => to("/s/!c1"),
                "/s/!c1" => said("200 OK", "", "right"),
                "/away/!c1" => to(&format!("http://other.example:{away}/")),
                path => to(path),
            }
        })
        .await;
        assert_eq!(opened("http://tags.example", port).await, Opened::Ours);
        for path in ["away", "round"] {
            let tag_url = format!("http://tags.example:{port}/{path}");
            let found = door().open(&tag_url, "!c1", "right").await;
            assert_eq!(reason(found), Some(TagUrlReason::OtherServer), "{path}");
        }
        let visited = elsewhere.into_std().unwrap().accept();
        assert_eq!(visited.unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }

    #[tokio::test]
    async fn an_address_that_is_not_reached_has_its_reason() {
        let port = serve(|_| said("200 OK", "", "right")).await;
        let tls = opened("https://tags.example", port).await;
        assert_eq!(reason(tls), Some(TagUrlReason::Tls));
        let dns = opened("http://tags.invalid", port).await;
        assert_eq!(reason(dns), Some(TagUrlReason::Dns));
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let silent = silent.local_addr().unwrap().port();
        let impatient = Door {
            patience: Duration::from_millis(500),
            ..door()
        };
        let timeout = impatient
            .open(&format!("http://tags.example:{silent}/t"), "!c1", "right")
            .await;
        assert_eq!(reason(timeout), Some(TagUrlReason::Timeout));
        let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = closed.local_addr().unwrap().port();
        drop(closed);
        let refused = opened("http://tags.example", port).await;
        assert_eq!(reason(refused), Some(TagUrlReason::Refused));
    }

    #[tokio::test]
    async fn nothing_of_the_own_computer_is_opened() {
        let port = serve(|_| said("200 OK", "", "right")).await;
        for host in [
            "127.0.0.1",
            "127.9.9.9",
            "localhost",
            "a.localhost.",
            "[::1]",
            "0.0.0.0",
        ] {
            let found = opened(&format!("http://{host}"), port).await;
            assert_eq!(reason(found), Some(TagUrlReason::Loopback), "{host}");
        }
        // A name can point to this computer, too.
        let door = Door { is_own, ..door() };
        let found = door
            .open(&format!("http://tags.example:{port}/t"), "!c1", "right")
            .await;
        assert_eq!(reason(found), Some(TagUrlReason::Loopback));
    }
}
