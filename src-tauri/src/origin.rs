//! The origin of our own pages. The window navigates nowhere else, and the scheme answers nobody
//! else.

use url::Url;

/// The label of the owner's window, as its capability names it.
pub(crate) const MAIN: &str = "main";
/// The origin of our pages. On Windows a custom scheme is a host.
pub const PAGE_ORIGIN: &str = if cfg!(windows) {
    "http://tauri.localhost"
} else {
    "tauri://localhost"
};

/// Whether a URL is one of our own pages.
pub(crate) fn is_ours(url: &Url) -> bool {
    let origin = format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default());
    origin == PAGE_ORIGIN && url.port().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_the_page_is_ours() {
        let leads_to = |url: &str| is_ours(&url.parse().unwrap());
        assert!(leads_to(PAGE_ORIGIN));
        assert!(leads_to(&format!("{PAGE_ORIGIN}/index.html#/tags")));
        for url in [
            "https://example.com/",
            "tauri://elsewhere/",
            "tapdesk://localhost/health",
            "file:///etc/passwd",
            "data:text/html,x",
            "about:blank",
            "javascript:alert(1)",
        ] {
            assert!(!leads_to(url), "{url}");
        }
    }
}
