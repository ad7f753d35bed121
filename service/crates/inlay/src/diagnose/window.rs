//! Where the MAC's input may begin in a URL.

use std::fmt;

use crate::MacFrom;

/// The maximum distance between the start of the MAC's input and the MAC, in bytes: the NDEF file
/// of an NTAG 424 DNA is 256 bytes (data sheet section 8.2.3.2).
pub const WINDOWS_MAX: usize = 256;

/// How many hex digits the MAC has, at the end of `token`.
const MAC_DIGITS: usize = 16;

/// Where the MAC's input begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// At the MAC: the input is empty.
    Empty,
    /// At the first character of `uid`'s value, with `token` directly after it.
    Uid,
    /// At the text `uid=`.
    UidParameter,
    /// At the path's first `/`.
    Path,
    /// At the host's first character.
    Host,
    /// At the scheme: the whole URL.
    Scheme,
    /// At another character, counted from 0.
    Offset(usize),
}

impl Window {
    /// Whether this is the configured window.
    pub(super) fn is(self, mac_from: MacFrom) -> bool {
        self == match mac_from {
            MacFrom::None => Self::Empty,
            MacFrom::Uid => Self::Uid,
        }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the MAC itself"),
            Self::Uid => f.write_str("the first character of uid's value"),
            Self::UidParameter => f.write_str("\"uid=\""),
            Self::Path => f.write_str("the path"),
            Self::Host => f.write_str("the host"),
            Self::Scheme => f.write_str("the scheme"),
            Self::Offset(offset) => write!(f, "its character {}", offset + 1),
        }
    }
}

/// A URL up to its MAC, as the chip wrote it.
pub(super) struct MacText {
    /// The characters before the MAC, with UID and counter in upper case.
    text: Vec<u8>,
    /// Where `uid`'s value begins.
    uid: usize,
    /// Whether there is only `&token=` between the values of `uid` and `token`, as it should be.
    adjacent: bool,
}

impl MacText {
    /// The texts in which the MAC's input may be: the URL, if the code is in it, and the query in
    /// its correct form.
    pub(super) fn of(uid: &str, token: &str, url: Option<&str>) -> Vec<Self> {
        let query = format!("?uid={uid}&token={token}");
        let texts = [url, Some(&query)].into_iter().flatten();
        texts
            .filter_map(|text| Self::before_mac(uid, token, text))
            .collect()
    }

    fn before_mac(uid: &str, token: &str, url: &str) -> Option<Self> {
        let value = |name: &str, value: &str| {
            let parameter = format!("{name}={value}");
            url.find(&parameter).map(|at| at + name.len() + 1)
        };
        let (uid_at, token_at) = (value("uid", uid)?, value("token", token)?);
        let mut text = url.as_bytes().to_vec();
        text[uid_at..uid_at + uid.len()].make_ascii_uppercase();
        text[token_at..].make_ascii_uppercase();
        text.truncate(token_at + token.len() - MAC_DIGITS);
        Some(Self {
            text,
            uid: uid_at,
            adjacent: url[..token_at].ends_with(&format!("{uid}&token=")),
        })
    }

    /// Every place where the input may begin; the end of the text is the empty input.
    pub(super) fn starts(&self) -> Vec<usize> {
        let end = self.text.len();
        (end.saturating_sub(WINDOWS_MAX)..=end).collect()
    }

    /// The places that can be configured.
    pub(super) fn usual_starts(&self) -> Vec<usize> {
        let end = self.text.len();
        vec![end, self.uid.min(end)]
    }

    /// The input that begins there.
    pub(super) fn from(&self, start: usize) -> &[u8] {
        &self.text[start..]
    }

    /// The window that begins at this position.
    pub(super) fn window(&self, start: usize) -> Window {
        let after_scheme = self.text.windows(3).position(|w| w == b"://");
        let host = after_scheme.map(|at| at + 3);
        let path = host.and_then(|host| {
            let rest = &self.text[host..];
            rest.iter().position(|&c| c == b'/').map(|at| host + at)
        });
        if start == self.text.len() {
            Window::Empty
        } else if start == self.uid && self.adjacent {
            Window::Uid
        } else if start + 4 == self.uid {
            Window::UidParameter
        } else if Some(start) == path {
            Window::Path
        } else if Some(start) == host {
            Window::Host
        } else if start == 0 && host.is_some() {
            Window::Scheme
        } else {
            Window::Offset(start)
        }
    }
}
