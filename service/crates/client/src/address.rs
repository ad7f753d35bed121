//! The rule for addresses that a token may be sent to.

use url::Url;

use domain::settings::host;

/// Why no token may be sent to an address. Each program has sentences of its own for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The address is neither an `https` nor an `http` URL.
    NotWeb,
    /// The address is an `http` URL of another computer: anyone on the way could read the token.
    InClear,
}

/// Checks that a token may be sent to `url`: over `https`, or over `http` inside this computer.
pub fn check(url: &Url) -> Result<(), Unfit> {
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_loopback(url) => Ok(()),
        "http" => Err(Unfit::InClear),
        _ => Err(Unfit::NotWeb),
    }
}

/// Whether `url` refers to this computer.
pub fn is_loopback(url: &Url) -> bool {
    url.host().is_some_and(|host| host::is_loopback(&host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_leaves_this_computer_only_encrypted() {
        for (url, checked) in [
            ("https://tags.example.com/tapdesk", Ok(())),
            ("http://localhost:8787", Ok(())),
            ("http://tags.localhost", Ok(())),
            ("http://127.0.0.2", Ok(())),
            ("http://[::1]:8787", Ok(())),
            ("http://192.168.1.4:8787", Err(Unfit::InClear)),
            ("http://localhost.example.com", Err(Unfit::InClear)),
            ("ftp://localhost", Err(Unfit::NotWeb)),
        ] {
            assert_eq!(check(&Url::parse(url).unwrap()), checked, "{url}");
        }
    }
}
