//! Finds the origin of a request: the peer, or the client that a trusted proxy names.

use std::borrow::Cow;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};

use axum::extract::{FromRequestParts, Request};
use axum::http::header::{ACCEPT_LANGUAGE, USER_AGENT};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};

use crate::serve::Arrival;
use crate::state::AppState;
use domain::interaction::Client;
use domain::settings::Settings;
use domain::visitor::{Languages, UserAgent, Visitor};

/// The address of the client that sent a request: the peer's, or the one that a trusted proxy
/// forwarded.
pub(crate) fn client_address(request: &Request, state: &AppState) -> IpAddr {
    let settings = state.as_service().settings();
    client(request.extensions(), request.headers(), &settings)
}

fn client(extensions: &Extensions, headers: &HeaderMap, settings: &Settings) -> IpAddr {
    let peer = peer(extensions);
    let forwarded = is_trusted(settings, peer).then(|| forwarded(settings, headers));
    forwarded.flatten().unwrap_or(peer)
}

/// The origin of a tap.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// Two-letter country code; empty if unknown.
    pub(crate) country: String,
    /// The identity of the client.
    pub(crate) client: Client,
    /// The IP address of the client.
    pub(crate) address: IpAddr,
}

impl FromRequestParts<AppState> for Origin {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.extensions, &parts.headers, state))
    }
}

impl Origin {
    /// The origin of a request with these extensions and headers.
    pub(crate) fn of(extensions: &Extensions, headers: &HeaderMap, state: &AppState) -> Self {
        let settings = state.as_service().settings();
        let address = client(extensions, headers, &settings);
        let named = is_trusted(&settings, peer(extensions))
            .then(|| country_header(&settings, headers))
            .flatten();
        let country = named
            .or_else(|| state.edge.countries.of(address))
            .unwrap_or_else(|| settings.default_country.clone());
        let user_agent = user_agent_bytes(headers);
        Self {
            country,
            client: state.edge.clients.identify(address, user_agent),
            address,
        }
    }
}

/// Describes the visitor by the browser's headers.
pub(crate) fn visitor(headers: &HeaderMap, agent: UserAgent) -> Visitor {
    let lines = headers.get_all(ACCEPT_LANGUAGE).iter();
    let mut lines = lines.filter_map(|line| line.to_str().ok());
    let first = lines.next().unwrap_or_default();
    // Several header lines form one list (RFC 9110, section 5.3). Browsers send one.
    let languages = lines.fold(Cow::from(first), |list, line| {
        format!("{list},{line}").into()
    });
    Visitor {
        languages: Languages::of(&languages),
        operating_system: agent.operating_system,
    }
}

/// The `User-Agent` of the request.
pub(crate) fn user_agent(headers: &HeaderMap) -> UserAgent {
    UserAgent::of(user_agent_bytes(headers))
}

fn user_agent_bytes(headers: &HeaderMap) -> &[u8] {
    headers
        .get(USER_AGENT)
        .map_or(&b""[..], |agent| agent.as_bytes())
}

/// The address of the peer. In-process calls count as calls from this machine.
fn peer(extensions: &Extensions) -> IpAddr {
    let arrival = extensions.get::<Arrival>();
    arrival.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |arrival| {
        arrival.peer().ip()
    })
}

fn is_trusted(settings: &Settings, address: IpAddr) -> bool {
    let address = address.to_canonical();
    settings
        .trusted_proxies
        .iter()
        .any(|network| network.contains(&address))
}

/// The last address in `X-Forwarded-For` that is not a trusted proxy. Strangers can forge
/// everything to the left of it.
fn forwarded(settings: &Settings, headers: &HeaderMap) -> Option<IpAddr> {
    let mut nearest = None;
    let values: Vec<_> = headers.get_all("x-forwarded-for").iter().collect();
    // Read bytes, because strangers can write invalid text to the left of the proxy's address.
    let lines = values.iter().rev().map(|value| value.as_bytes());
    for hop in lines.flat_map(|line| line.rsplit(|byte| *byte == b',')) {
        let Some(address) = std::str::from_utf8(hop).ok().and_then(hop_address) else {
            break;
        };
        nearest = Some(address);
        if !is_trusted(settings, address) {
            break;
        }
    }
    nearest
}

/// Parses the address of one hop. Besides the bare address, proxies write a port, brackets around
/// IPv6, quotes, and `for=` as in `Forwarded` (RFC 7239, section 6).
fn hop_address(hop: &str) -> Option<IpAddr> {
    let hop = hop.split(';').next().unwrap_or_default().trim();
    let hop = match hop.split_at_checked("for=".len()) {
        Some((name, node)) if name.eq_ignore_ascii_case("for=") => node,
        _ => hop,
    };
    let node = hop.trim_matches('"').trim();
    let address = match node.strip_prefix('[').and_then(|node| node.split_once(']')) {
        Some((address, port)) if port.is_empty() || port.starts_with(':') => address,
        Some(_) => return None,
        // One colon precedes a port; several colons are an IPv6 address.
        None => match node.split_once(':') {
            Some((address, port)) if !port.contains(':') => address,
            _ => node,
        },
    };
    // The interface name of an IPv6 address has a meaning only on the proxy.
    address.split('%').next()?.parse().ok()
}

fn country_header(settings: &Settings, headers: &HeaderMap) -> Option<String> {
    let code = headers
        .get(settings.country_header.as_deref()?)?
        .to_str()
        .ok()?;
    let is_code = code.len() == 2 && code.bytes().all(|b| b.is_ascii_alphanumeric());
    is_code.then(|| code.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hop_is_read_in_every_form_that_proxies_write() {
        for (hop, address) in [
            ("203.0.113.7", Some("203.0.113.7")),
            (" 203.0.113.7\t", Some("203.0.113.7")),
            ("203.0.113.7:49152", Some("203.0.113.7")),
            ("\"203.0.113.7:49152\"", Some("203.0.113.7")),
            ("2001:db8::7", Some("2001:db8::7")),
            ("[2001:db8::7]", Some("2001:db8::7")),
            ("[2001:db8::7]:49152", Some("2001:db8::7")),
            ("\"[2001:db8::7]:49152\"", Some("2001:db8::7")),
            ("fe80::7%eth0", Some("fe80::7")),
            ("[fe80::7%eth0]:80", Some("fe80::7")),
            ("::ffff:203.0.113.7", Some("::ffff:203.0.113.7")),
            ("for=203.0.113.7;proto=https", Some("203.0.113.7")),
            (
                "For=\"[2001:db8::7]:49152\";by=10.0.0.1",
                Some("2001:db8::7"),
            ),
            ("unknown", None),
            ("_hidden", None),
            ("for=unknown", None),
            ("[2001:db8::7]x", None),
            ("[2001:db8::7", None),
            ("203.0.113", None),
            ("203.0.113.7, 203.0.113.8", None),
            ("", None),
        ] {
            let expected = address.map(|address| address.parse::<IpAddr>().unwrap());
            assert_eq!(hop_address(hop), expected, "{hop:?}");
        }
    }
}
