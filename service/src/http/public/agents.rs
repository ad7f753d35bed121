//! Known link-preview agents (a data file).

use std::sync::LazyLock;

use axum::http::HeaderMap;
use axum::http::header::USER_AGENT;

static AGENTS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let list = include_str!("../../../data/link-preview-agents.txt");
    list.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
});

/// Whether the request was made to preview a link.
pub(super) fn is_link_preview(headers: &HeaderMap) -> bool {
    let Some(agent) = headers
        .get(USER_AGENT)
        .and_then(|agent| agent.to_str().ok())
    else {
        return false;
    };
    let agent = agent.to_ascii_lowercase();
    AGENTS.iter().any(|name| agent.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn previews(agent: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, agent.parse().unwrap());
        is_link_preview(&headers)
    }

    #[test]
    fn previews_are_told_from_people() {
        assert!(previews("WhatsApp/2.23.20.0"));
        assert!(previews(
            "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)"
        ));
        assert!(previews(
            "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"
        ));
        assert!(!previews(
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1"
        ));
        assert!(!previews(
            "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/130.0 Mobile Safari/537.36"
        ));
    }
}
