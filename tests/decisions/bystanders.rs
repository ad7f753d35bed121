//! Requests that must not use up a one-time URL: HEAD, prefetches, link previews.

use std::collections::BTreeSet;

use futures_util::{StreamExt as _, stream};
use serde_json::json;
use tapdesk_tests::{Answering as _, TapResult, TestInlay, TestService, TestTag};

/// Asserts that nothing was verified, recorded or issued: the URL still works.
async fn assert_unspent(service: &TestService, tag: &TestTag, url: &str) {
    assert_eq!(service.scan_count(tag).await, 0);
    let tap = service.tap(url).await;
    assert_eq!(
        service.payload(tap.key()).await["tag_verified"],
        json!(true)
    );
}

async fn bottle() -> (TestService, TestTag, TestInlay) {
    let service = TestService::start().await;
    let (tag, inlay) = service.bottle().await;
    (service, tag, inlay)
}

#[tokio::test]
async fn head_answers_as_get_would_without_a_key() {
    let (service, tag, mut inlay) = bottle().await;
    let url = inlay.url(&tag);
    let head = TapResult::of(service.head(&url).answer().await);
    assert_eq!(head.status, 302);
    assert_eq!(
        head.location.as_deref(),
        Some("https://owner.example/landing")
    );
    assert_eq!((head.rk, head.cookie), (None, None));
    assert_unspent(&service, &tag, &url).await;
}

#[tokio::test]
async fn a_request_marked_as_prefetch_gets_503_with_no_store() {
    let (service, tag, mut inlay) = bottle().await;
    let url = inlay.url(&tag);
    for (name, value) in [
        ("Sec-Purpose", "prefetch"),
        ("Sec-Purpose", "prefetch;prerender"),
        ("Sec-Purpose", "prefetch;anonymous-client-ip"),
        ("Purpose", "prefetch"),
        ("X-Moz", "prefetch"),
        ("X-Purpose", "preview"),
        ("X-Purpose", "Prefetch"),
    ] {
        let answer = service.get(&url).header(name, value).answer().await;
        assert_eq!(answer.status, 503, "{name}: {value}");
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    assert_unspent(&service, &tag, &url).await;
}

#[tokio::test]
async fn a_link_preview_agent_gets_a_plain_page_with_the_tags_title() {
    let (service, tag, mut inlay) = bottle().await;
    service
        .admin_patch(&tag.admin_path(), json!({"title": "Red <wine>"}))
        .await;
    let url = inlay.url(&tag);
    for agent in [
        "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
        "WhatsApp/2.23.20.0",
        "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
        "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
        "TelegramBot (like TwitterBot)",
    ] {
        let answer = service.get(&url).header("user-agent", agent).answer().await;
        assert_eq!(answer.status, 200, "{agent}");
        assert!(
            answer.body.contains("Red &#60;wine&#62;"),
            "{}",
            answer.body
        );
        assert_eq!(answer.header("set-cookie"), None);
    }
    assert_unspent(&service, &tag, &url).await;
}

#[tokio::test]
async fn a_persons_browser_is_no_link_preview() {
    let (service, tag, mut inlay) = bottle().await;
    let agent = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 \
                 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";
    let request = service.get(&inlay.url(&tag)).header("user-agent", agent);
    let tap = TapResult::of(request.answer().await);
    assert_eq!(
        service.payload(tap.key()).await["tag_verified"],
        json!(true)
    );
}

/// The user agents with their kind: `preview`, `person`, or `tool` for developers' tools. Some are
/// quoted by hand, the others are generated from published lists.
fn user_agents() -> Vec<(&'static str, &'static str)> {
    let texts = [
        include_str!("../vectors/user-agents.txt"),
        include_str!("../vectors/user-agents.generated.txt"),
    ];
    let mut agents = Vec::new();
    for text in texts {
        let lines = text.lines();
        let mut kind = "";
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let group = line
                .strip_prefix('[')
                .and_then(|line| line.split_once("] "));
            match group {
                Some((group @ ("preview" | "person" | "tool"), source)) => {
                    assert!(!source.is_empty(), "{group} has a source");
                    kind = group;
                }
                _ => agents.push((kind, line)),
            }
        }
    }
    agents
}

#[tokio::test]
async fn programs_and_people_are_told_apart_by_whole_tokens() {
    /// Number of URLs that are opened at the same time.
    const AT_ONCE: usize = 16;
    let service = TestService::start().await;
    let tag = service.redirecting_tag(json!(null)).await;
    let path = tag.path();
    let agents = user_agents();
    let opened = stream::iter(&agents).map(|(kind, agent)| {
        let value = reqwest::header::HeaderValue::from_bytes(agent.as_bytes()).expect(agent);
        let request = service.get(&path).header("user-agent", value);
        async move {
            let tap = TapResult::of(request.answer().await);
            let expected = match *kind {
                "preview" => (200, false),
                "person" | "tool" => (302, true),
                other => panic!("no kind of user agent: {other}"),
            };
            let is_right = (tap.status, tap.rk.is_some()) == expected;
            (!is_right).then(|| format!("{kind}: {agent}"))
        }
    });
    let opened: Vec<_> = opened.buffer_unordered(AT_ONCE).collect().await;
    assert_eq!(opened.len(), agents.len());
    let wrong: Vec<_> = opened.into_iter().flatten().collect();
    assert_eq!(wrong, Vec::<String>::new());
    let count = |wanted: &str| agents.iter().filter(|(kind, _)| *kind == wanted).count();
    let [previews, people, tools] = ["preview", "person", "tool"].map(count);
    assert!(previews >= 600 && people >= 600, "{previews}, {people}");
    assert_eq!(previews + people + tools, agents.len());
    let distinct: BTreeSet<_> = agents.iter().map(|(_, agent)| agent).collect();
    assert_eq!(distinct.len(), agents.len(), "each is quoted once");
    let taps = u64::try_from(people + tools).expect("few");
    assert_eq!(service.scan_count(&tag).await, taps);
    let metrics = service.metrics().await;
    let counted = format!("tapdesk_previews_total {previews}");
    assert!(metrics.lines().any(|line| line == counted), "{counted}");
}
