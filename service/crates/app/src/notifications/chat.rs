//! Messages to a chat, in the form of incoming webhooks that Slack, Mattermost and Rocket.Chat share.

use serde_json::json;

use crate::webhook_delivery::WebhookClient;
use domain::clock::Timestamp;
use domain::notification::SendFailure;

/// Statuses after which the same message can succeed later, although they blame the request.
const NOT_FINAL: [u16; 3] = [408, 425, 429];
/// Separates characters without being seen.
const ZERO_WIDTH_SPACE: char = '\u{200b}';

/// Posts a text to an incoming webhook.
pub(super) async fn post(
    client: &WebhookClient,
    url: &str,
    text: &str,
    now: Timestamp,
) -> Result<(), SendFailure> {
    let body = json!({"text": plain(text)}).to_string();
    let unposted = match client.post(url, body, now).await {
        Ok(()) => return Ok(()),
        Err(unposted) => unposted,
    };
    let refuses = |status: u16| (400..500).contains(&status) && !NOT_FINAL.contains(&status);
    Err(SendFailure {
        permanent: unposted.status.is_some_and(refuses),
        unsure: unposted.unsure || unposted.status.is_some_and(is_of_proxy),
        retry_after: unposted.failure.retry_after,
        why: unposted.failure.why,
    })
}

/// Whether a proxy before the chat answered, which does not know whether the chat took the message.
const fn is_of_proxy(status: u16) -> bool {
    matches!(status, 408 | 502 | 504 | 520..=524)
}

/// A text without links and mentions: the name of a tag could call everybody in a channel. Slack
/// has them in angle brackets, and Mattermost and Rocket.Chat have Markdown.
fn plain(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('@', &format!("@{ZERO_WIDTH_SPACE}"))
        .replace("://", &format!("://{ZERO_WIDTH_SPACE}"))
        .replace("](", &format!("]{ZERO_WIDTH_SPACE}("))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_calls_nobody_and_links_nowhere() {
        for (name, expected) in [
            ("<!channel> A & B", "&lt;!channel&gt; A &amp; B"),
            (
                "@channel @all @here",
                "@\u{200b}channel @\u{200b}all @\u{200b}here",
            ),
            (
                "[Invoice](https://evil.example)",
                "[Invoice]\u{200b}(https://\u{200b}evil.example)",
            ),
            (
                "![x](//evil.example/p.png)",
                "![x]\u{200b}(//evil.example/p.png)",
            ),
        ] {
            assert_eq!(plain(name), expected);
        }
    }

    #[test]
    fn a_proxy_does_not_know_whether_a_message_arrived() {
        for (status, expected) in [
            (408, true),
            (502, true),
            (504, true),
            (522, true),
            (429, false),
            (500, false),
            (503, false),
        ] {
            assert_eq!(is_of_proxy(status), expected, "{status}");
        }
    }
}
