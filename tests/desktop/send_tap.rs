//! Taps as the reader's screen sends them: to the service that is shown, or to the host in an
//! inlay's URL.

use std::net::TcpListener;

use serde_json::Value;
use tapdesk::reader::copy_check::Chip;
use tapdesk::reader::send_tap::{Destination, SentTap, send_tap};
use tapdesk::shell::Shell;
use tapdesk_service::clock::SystemClock;
use tapdesk_service::inlay::check::Read;
use tapdesk_service::inlay::key::{AesKey, InlayKeys, Keys};
use tapdesk_service::inlay::template::{Template, TemplateSettings};
use tapdesk_service::inlay::{MacFrom, Mirror, Technology};
use tapdesk_tests::TestService;
use tapdesk_tests::fixtures::chip;
use zeroize::Zeroizing;

use crate::installation::{Installation, ready};

/// The facts that a reader reports about an NTAG 424 DNA with this UID.
fn read(uid: &str) -> Chip {
    Chip {
        uid: Some(uid.to_owned()),
        technology: Some("ntag424dna".to_owned()),
        makes_codes: Some(true),
    }
}

async fn send(
    shell: &Shell,
    url: &str,
    to: Destination,
    automatic: impl Into<Option<Chip>>,
) -> Result<SentTap, String> {
    let (backend, address) = shell
        .backend_at(&ready(shell).connection.id)
        .await
        .expect("there is a service");
    let clock = SystemClock::start();
    send_tap(&backend, &address, &clock, url, to, automatic.into()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tap_goes_to_the_host_that_its_url_names_and_is_not_led_on() {
    let landing = TcpListener::bind("127.0.0.1:0").unwrap();
    landing.set_nonblocking(true).unwrap();
    let target = format!("http://{}/landing", landing.local_addr().unwrap());
    let elsewhere = TestService::start().await;
    let tag = elsewhere.tag_to(&target, Value::Null).await;
    let chip = chip(Mirror::Encrypted, MacFrom::None);
    let mut inlay = elsewhere.register(chip, &tag).await;
    let url = format!("{}{}", elsewhere.base(), inlay.url(&tag));

    let installation = Installation::new();
    let shell = installation.ready().await;
    let sent = send(&shell, &url, Destination::Url, None).await.unwrap();
    let location = sent.location.unwrap();
    assert!(location.starts_with(&format!("{target}?rk=")), "{location}");
    assert!(sent.rk.is_some_and(|rk| location.ends_with(&rk)));
    assert_eq!(sent.payload.unwrap()["tag_verified"], true);
    assert!(sent.tap_micros > 0 && sent.payload_micros.is_some_and(|micros| micros > 0));
    assert_eq!(elsewhere.scan_count(&tag).await, 1);
    let followed = landing.accept().map_err(|error| error.kind());
    assert_eq!(followed.unwrap_err(), std::io::ErrorKind::WouldBlock);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_by_itself_for_a_url_of_another_host() {
    let elsewhere = TestService::start().await;
    let (tag, mut inlay) = elsewhere.bottle().await;
    let url = format!("{}{}", elsewhere.base(), inlay.url(&tag));
    let installation = Installation::new();
    let shell = installation.ready().await;
    for to in [Destination::Url, Destination::Service] {
        let read = read(&inlay.chip.uid.to_string());
        let refused = send(&shell, &url, to, read).await.unwrap_err();
        assert!(
            refused.contains("127.0.0.1, which is not this service"),
            "{refused}"
        );
    }
    assert_eq!(elsewhere.scan_count(&tag).await, 0);
    // A click is a person's decision, so the host is not checked.
    send(&shell, &url, Destination::Url, None).await.unwrap();
    assert_eq!(elsewhere.scan_count(&tag).await, 1);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn taps_go_by_themselves_to_the_remote_service_that_was_chosen() {
    let shop = TestService::start().await;
    let (tag, mut inlay) = shop.bottle().await;
    let uid = inlay.chip.uid.to_string();
    let mut url = || format!("{}{}", shop.base(), inlay.url(&tag));
    let installation = Installation::new();
    let shell = installation.ready().await;
    let secret = Zeroizing::new(shop.admin_token().to_owned());
    let added = shell.add_connection("Shop", shop.base(), secret).await;
    shell.connect(&added.unwrap().id).await.unwrap();
    for to in [Destination::Service, Destination::Url] {
        let sent = send(&shell, &url(), to, read(&uid)).await.unwrap();
        assert_eq!(sent.payload.unwrap()["tag_verified"], true, "{to:?}");
    }
    assert_eq!(shop.scan_count(&tag).await, 2);
    // Once it is no longer shown, it is a host like any other.
    shell.connect("embedded").await.unwrap();
    let refused = send(&shell, &url(), Destination::Url, read(&uid)).await;
    assert!(refused.is_err());
    assert_eq!(shop.scan_count(&tag).await, 2);
    shell.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copied_url_is_not_sent_by_itself() {
    let shop = TestService::start().await;
    let (tag, mut inlay) = shop.bottle().await;
    let installation = Installation::new();
    let shell = installation.ready().await;
    let secret = Zeroizing::new(shop.admin_token().to_owned());
    let added = shell.add_connection("Shop", shop.base(), secret).await;
    shell.connect(&added.unwrap().id).await.unwrap();
    let url = format!("{}{}", shop.base(), inlay.url(&tag));
    let own = inlay.chip.uid.to_string();
    let other_make = Chip {
        technology: Some("ntag215".to_owned()),
        ..read(&own)
    };
    let without_codes = Chip {
        makes_codes: Some(false),
        ..read(&own)
    };
    for copy in [read("04112233445566"), other_make, without_codes] {
        for to in [Destination::Service, Destination::Url] {
            let refused = send(&shell, &url, to, copy.clone()).await.unwrap_err();
            assert!(refused.contains("copied"), "{refused}");
            assert!(
                refused.ends_with("Send the tap yourself to allow it."),
                "{refused}"
            );
        }
    }
    assert_eq!(shop.scan_count(&tag).await, 0);
    // A random UID does not prove a copy.
    let sent = send(&shell, &url, Destination::Service, read("08112233")).await;
    assert_eq!(sent.unwrap().payload.unwrap()["tag_verified"], true);
    shell.stop().await;
}

/// The URL of a chip at a template whose host no name server knows.
async fn of_template(service: &TestService) -> (i64, String, String) {
    let text = "https://tags.not-on-the-network.example/v?p={picc}&c={mac}";
    let key = "11".repeat(16);
    let new = serde_json::json!({
        "name": "Batch", "technology": "ntag424dna", "template": text, "meta_keys": [key],
    });
    let template = service.admin_create("/url-templates", new).await;
    let tag = service.tag_to("https://owner.example/", Value::Null).await;
    let uid = "04112233445580";
    let inlay = serde_json::json!({
        "uid": uid, "technology": "ntag424dna", "url_template_id": template["id"], "tag_id": tag.id,
        "meta_key": key, "file_key": "22".repeat(16),
    });
    service.inlay(inlay).await;
    let settings = TemplateSettings::new(text, Technology::Ntag424Dna);
    let template = Template::new(settings).unwrap();
    let keys = InlayKeys::Aes(Keys {
        meta: Some(AesKey::from_bytes([0x11; 16])),
        file: AesKey::from_bytes([0x22; 16]),
    });
    let read = Read {
        uid: uid.parse().unwrap(),
        counter: 1,
        keys: &keys,
        picc: None,
        tamper: "",
        file_data: &[],
        random: [3; 24],
    };
    let url = template.url(None, &template.make_code(None, &read).unwrap());
    (tag.id, uid.to_owned(), url)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_of_a_template_goes_to_the_service_under_its_host_and_never_to_the_network() {
    let shop = TestService::start().await;
    let (tag, uid, url) = of_template(&shop).await;
    let installation = Installation::new();
    let shell = installation.ready().await;
    // For a service without the template, it is a URL like any other.
    let refused = send(&shell, &url, Destination::Url, read(&uid)).await;
    assert!(refused.unwrap_err().contains("which is not this service"));
    let secret = Zeroizing::new(shop.admin_token().to_owned());
    let added = shell.add_connection("Shop", shop.base(), secret).await;
    shell.connect(&added.unwrap().id).await.unwrap();
    let copied = send(&shell, &url, Destination::Url, read("04112233445566")).await;
    assert!(copied.unwrap_err().contains("copied"));
    let sent = send(&shell, &url, Destination::Url, read(&uid)).await;
    let sent = sent.unwrap();
    assert_eq!(sent.status, 302);
    let payload = sent.payload.unwrap();
    assert_eq!(payload["tag_verified"], true);
    assert_eq!(payload["metadata"]["tag_id"], tag);
    let again = send(&shell, &url, Destination::Service, None).await;
    assert_eq!(again.unwrap().payload.unwrap()["tag_verified"], false);
    shell.stop().await;
}

/// Apps append parameters without a question mark, and put a slash at the end.
#[tokio::test(flavor = "multi_thread")]
async fn a_url_that_an_app_changed_is_sent_as_the_service_reads_it() {
    let shop = TestService::start().await;
    let (tag, mut inlay) = shop.bottle().await;
    let installation = Installation::new();
    let shell = installation.ready().await;
    let secret = Zeroizing::new(shop.admin_token().to_owned());
    let added = shell.add_connection("Shop", shop.base(), secret).await;
    shell.connect(&added.unwrap().id).await.unwrap();
    for between in ["?", "/?", "&", "/&", "&brid=abc&", "/&brid=abc?"] {
        let url = inlay.url(&tag).replace('?', between);
        for host in ["https://somewhere.example", shop.base()] {
            let sent = send(&shell, &format!("{host}{url}"), Destination::Service, None).await;
            let payload = sent.unwrap().payload.unwrap();
            // The second one opens the same code again.
            assert_eq!(payload["tag_verified"], host != shop.base(), "{host}{url}");
            assert_eq!(payload["metadata"]["tag_id"], tag.id, "{host}{url}");
        }
    }
    shell.stop().await;
}

/// The path of a URL template is the template's own, also with the slug as its first segment.
#[tokio::test(flavor = "multi_thread")]
async fn a_slug_as_first_segment_is_sent_under_the_host_of_its_template() {
    let shop = TestService::start().await;
    let tag = shop.redirecting_tag(Value::Null).await;
    let new = serde_json::json!({
        "name": "Short links", "technology": "ntag424dna",
        "template": "https://m.not-on-the-network.example/{slug}?p={picc}&c={mac}",
    });
    shop.admin_create("/url-templates", new).await;
    let installation = Installation::new();
    let shell = installation.ready().await;
    let secret = Zeroizing::new(shop.admin_token().to_owned());
    let added = shell.add_connection("Shop", shop.base(), secret).await;
    shell.connect(&added.unwrap().id).await.unwrap();
    for end in ["", "/", "&brid=abc", "/&brid=abc"] {
        let url = format!("https://m.not-on-the-network.example/{}{end}", tag.slug);
        let sent = send(&shell, &url, Destination::Service, None)
            .await
            .unwrap();
        assert_eq!(sent.status, 302, "{url}");
        assert_eq!(sent.payload.unwrap()["metadata"]["tag_id"], tag.id, "{url}");
    }
    shell.stop().await;
}
