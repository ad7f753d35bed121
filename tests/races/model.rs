//! A model of taps, replays and reloads over several tags: for any order of actions, the service
//! agrees with the model.

use serde_json::{Value, json};
use tapdesk_service::entropy::{self, SeededEntropy};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::{TapResult, TestInlay, TestService, TestTag, cases};

/// The model's state of a tag.
struct Bottle {
    tag: TestTag,
    inlay: TestInlay,
    /// The highest accepted counter.
    accepted: u32,
    /// The number of interactions that must have been recorded.
    scans: u64,
    /// Every one-time URL so far, with its counter.
    urls: Vec<(String, u32)>,
    /// Responses that a browser still has, with their URL and verdict.
    held: Vec<(String, TapResult, bool)>,
}

impl Bottle {
    /// The model's verdict on the code with this counter, which updates the model.
    fn accept(&mut self, counter: u32) -> bool {
        let accepted = counter > self.accepted;
        self.accepted = self.accepted.max(counter);
        accepted
    }

    /// The next one-time URL, after `skipped` reads that never reach the service.
    fn next_url(&mut self, skipped: u32) -> (String, u32) {
        self.inlay.chip.counter += skipped;
        let url = self.inlay.url(&self.tag);
        let next = (url, self.inlay.chip.counter);
        self.urls.push(next.clone());
        next
    }

    async fn tap(&mut self, service: &TestService, url: String, expected: bool) {
        let tap = service.tap(&url).await;
        self.scans += 1;
        let payload = service.payload(tap.key()).await;
        assert_eq!(payload["tag_verified"], json!(expected), "{url}");
        self.held.push((url, tap, expected));
    }
}

#[tokio::test]
async fn any_order_of_taps_replays_and_reloads_is_answered_as_the_model_says() {
    for seed in 0..u64::from(cases(4)) {
        println!("seed {seed}");
        run(seed).await;
    }
}

async fn run(seed: u64) {
    let entropy = SeededEntropy::new(seed);
    let service = TestService::start().await;
    let mut bottles = Vec::new();
    for (mirror, mac_from) in [
        (Mirror::Encrypted, MacFrom::None),
        (Mirror::Encrypted, MacFrom::Uid),
        (Mirror::Plain, MacFrom::None),
        (Mirror::Plain, MacFrom::Uid),
    ] {
        let tag = service.redirecting_tag(Value::Null).await;
        bottles.push(Bottle {
            inlay: service.rolling_inlay(&tag, mirror, mac_from).await,
            tag,
            accepted: 0,
            scans: 0,
            urls: Vec::new(),
            held: Vec::new(),
        });
    }
    for _ in 0..150 {
        let [which, action, pick] = entropy::bytes::<3>(&entropy).map(usize::from);
        let (which, other) = (which % bottles.len(), (which + 1) % bottles.len());
        let bottle = &mut bottles[which];
        match action % 8 {
            // A tap, sometimes after reads that never reach the service.
            0..=2 => {
                let (url, counter) = bottle.next_url(if pick < 64 { 3 } else { 0 });
                let expected = bottle.accept(counter);
                bottle.tap(&service, url, expected).await;
            }
            // A read whose URL is used later.
            3 => {
                bottle.next_url(0);
            }
            // A former or stored URL.
            4 | 5 if !bottle.urls.is_empty() => {
                let (url, counter) = bottle.urls[pick % bottle.urls.len()].clone();
                let expected = bottle.accept(counter);
                bottle.tap(&service, url, expected).await;
            }
            // A reload by a browser that has the response's cookie.
            6 if !bottle.held.is_empty() => {
                let (url, tap, expected) = &bottle.held[pick % bottle.held.len()];
                let cookie = tap.cookie.as_deref().expect("a cookie");
                let again = service.tap_with_cookie(url, cookie).await;
                assert_eq!(again.rk, tap.rk);
                let payload = service.payload(again.key()).await;
                assert_eq!(payload["tag_verified"], json!(expected));
            }
            // A code at another tag: it does not verify, and changes no counter.
            7 => {
                let code = bottle.inlay.chip.code_at(bottle.accepted + 1, [0; 5]);
                let url = bottles[other].tag.with(&code);
                bottles[other].tap(&service, url, false).await;
            }
            _ => {}
        }
    }
    for bottle in &bottles {
        assert_eq!(service.scan_count(&bottle.tag).await, bottle.scans);
    }
}
