//! Our own service, as a service of the contract and as a verifier.

use serde_json::{Value, json};
use tapdesk_service::inlay::key::{AesKey, Keys};
use tapdesk_service::inlay::virtual_inlay::VirtualInlay;
use tapdesk_service::inlay::{MacFrom, Mirror, Uid};
use tapdesk_tests::fixtures::chip_json;
use tapdesk_tests::{ServiceProcess, TestTag};
use tempfile::TempDir;

use super::super::{launch, run_at};
use super::{judge, judge_with};

#[tokio::test]
async fn our_service_passes_every_check_with_taps_of_a_virtual_inlay() {
    let service = launch().start().await;
    run_at(&service, &["demo"]).await.good();
    let token = [("TAPDESK_ADMIN_TOKEN", service.admin_token())];
    let arguments = ["--service", service.base(), "--simulated", "demo-bottle"];
    let run = judge_with(&token, &arguments).await;
    run.passes();
    // The virtual inlay makes one-time URLs only.
    assert_eq!(run.with("skipped"), ["tap-static-not-checked"]);
    assert!(
        run.ran.stdout.contains("specification 4.1, row 1"),
        "{}",
        run.ran.stdout
    );
}

#[tokio::test]
async fn our_service_passes_with_the_static_url_of_a_tag() {
    let service = launch().start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let url = format!("{}/t/{}", service.base(), tag.slug);
    let once = ["--service", service.base(), "--tap-url", &url];
    let run = judge(&once).await;
    run.passes();
    let skipped = [
        "payload-expired-key",
        "payload-late-key",
        "tap-keys-differ",
        "tap-replay",
        "update-at-once",
        "update-expired-key",
        "update-once",
    ];
    assert_eq!(run.with("skipped"), skipped, "{}", run.ran.stdout);
    let needed = "Checks that got no tap need 2 more tap URLs";
    assert!(run.ran.stdout.contains(needed), "{}", run.ran.stdout);

    let all = [&once[..], &["--tap-url", &url, "--tap-url", &url]].concat();
    let run = judge(&all).await;
    run.passes();
    let skipped = [
        "payload-expired-key",
        "payload-late-key",
        "tap-replay",
        "update-expired-key",
    ];
    assert_eq!(run.with("skipped"), skipped, "{}", run.ran.stdout);
}

const UIDS: [&str; 2] = ["04DE5F1EACC040", "04958CAA5C5E80"];

/// The chip with this UID, and the keys that the chips share.
fn chip(uid: &str, mirror: Mirror) -> VirtualInlay {
    VirtualInlay {
        uid: uid.parse::<Uid>().unwrap(),
        mirror,
        mac_from: MacFrom::None,
        keys: Keys {
            meta: (mirror == Mirror::Encrypted).then(|| AesKey::from_bytes([0x11; 16])),
            file: AesKey::from_bytes([0x22; 16]),
        },
        counter: 0,
    }
}

/// A tag with both chips at the built-in form of its URL.
async fn tag(service: &ServiceProcess, mirror: Mirror) -> TestTag {
    let tag = service.redirecting_tag(Value::Null).await;
    for uid in UIDS {
        let mut inlay = chip_json(&chip(uid, mirror));
        inlay["tag_id"] = json!(tag.id);
        service.inlay(inlay).await;
    }
    tag
}

#[tokio::test]
async fn our_service_passes_every_check_of_a_verifier_before_and_after_a_restart() {
    let folder = TempDir::new().unwrap();
    let keys = folder.path().join("keys");
    std::fs::write(&keys, [[b'1'; 32], [b'2'; 32]].join(&b'\n')).unwrap();
    let keys = keys.to_str().unwrap();

    let service = launch().start().await;
    let tag = tag(&service, Mirror::Encrypted).await;
    let path = format!("/t/{}", tag.slug);
    let used = chip(UIDS[0], Mirror::Encrypted).code_at(50, [7; 5]);
    let used = used.url("/t", &tag.slug);
    service.tap(&used).await;

    let template = |base: &str| format!("{base}{path}?uid={{picc}}&token={{mac}}");
    let chips = ["--keys", keys, "--uid", UIDS[0], "--other-uid", UIDS[1]];
    let subject = template(service.base());
    let run = judge(&[&["--verifier", &subject][..], &chips].concat()).await;
    run.passes();
    let (_, next) = run
        .ran
        .stdout
        .rsplit_once("needs --counter ")
        .expect("the next counter");
    let next = next.trim_end().trim_end_matches('.').to_owned();

    let service = service.kill().await.start().await;
    let (subject, used) = (
        template(service.base()),
        format!("{}{used}", service.base()),
    );
    let again = [
        "--verifier",
        &subject,
        "--counter",
        &next,
        "--used-url",
        &used,
    ];
    let run = judge(&[&again[..], &chips].concat()).await;
    run.passes();
    assert!(run.with("passed").contains(&"replay-after-restart"));
}

#[tokio::test]
async fn our_service_passes_every_check_of_a_uid_in_clear() {
    let folder = TempDir::new().unwrap();
    let keys = folder.path().join("keys");
    std::fs::write(&keys, [b'2'; 32]).unwrap();
    let service = launch().start().await;
    let tag = tag(&service, Mirror::Plain).await;
    let base = service.base();
    let subject = format!("{base}/t/{}?uid={{uid}}&token={{counter}}{{mac}}", tag.slug);
    let keys = keys.to_str().unwrap();
    let arguments = [
        "--verifier",
        &subject,
        "--keys",
        keys,
        "--other-uid",
        UIDS[1],
    ];
    judge(&arguments).await.passes();
}
