//! Where our own page comes from: known to the window, which leads nowhere else, and to the
//! scheme, which answers nobody else.

use url::Url;

/// The label of the owner's window, as its capability names it.
pub(crate) const MAIN: &str = "main";
/// The origin of our pages.
pub const PAGE_ORIGIN: &str = if cfg!(windows) {
    "http://tauri.localhost"
} else {
    "tauri://localhost"
};

/// Whether an address is one of our pages' own.
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
