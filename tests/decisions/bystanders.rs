//! What must not burn a one-time URL: HEAD, prefetches, link previews.

use serde_json::json;
use tapdesk_tests::{Answering as _, TapResult, TestInlay, TestService, TestTag};

/// Nothing was verified, recorded or issued: the URL still works.
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

/// The corpus, each user agent with its kind, `preview` or `person`.
fn user_agents() -> Vec<(&'static str, &'static str)> {
    let lines = include_str!("../vectors/user-agents.txt").lines();
    let mut kind = "";
    let mut agents = Vec::new();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line
            .strip_prefix('[')
            .and_then(|line| line.split_once("] "))
        {
            Some((group, source)) => {
                assert!(!source.is_empty(), "{group} has a source");
                kind = group;
            }
            None => agents.push((kind, line)),
        }
    }
    agents
}

#[tokio::test]
async fn previews_and_people_are_told_apart_by_whole_tokens() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(json!(null)).await;
    let mut counts = [0_u64; 2];
    let mut wrong = Vec::new();
    for (kind, agent) in user_agents() {
        let value = reqwest::header::HeaderValue::from_bytes(agent.as_bytes()).expect(agent);
        let request = service.get(&tag.path()).header("user-agent", value);
        let tap = TapResult::of(request.answer().await);
        let (place, expected) = match kind {
            "preview" => (0, (200, false)),
            "person" => (1, (302, true)),
            other => panic!("no kind of user agent: {other}"),
        };
        counts[place] += 1;
        if (tap.status, tap.rk.is_some()) != expected {
            wrong.push(format!("{kind}: {agent}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(counts.iter().sum::<u64>() >= 200, "{counts:?}");
    assert!(counts.iter().all(|count| *count >= 80), "{counts:?}");
    assert_eq!(service.scan_count(&tag).await, counts[1]);
}
