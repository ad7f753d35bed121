//! Taps as the reader's screen sends them: to the service that is shown, or to
//! whatever host an inlay names.

use std::net::TcpListener;

use serde_json::Value;
use tapdesk::reader::copied::Chip;
use tapdesk::reader::send_tap::{Destination, SentTap, send_tap};
use tapdesk::shell::Shell;
use tapdesk_service::clock::SystemClock;
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::TestService;
use tapdesk_tests::fixtures::chip;
use zeroize::Zeroizing;

use crate::installation::Installation;

/// What a reader tells of an NTAG 424 DNA with this UID.
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
    let (backend, address) = shell.backend_at().await.expect("there is a service");
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
    // A click is a person's word.
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
    // Chosen no more, it is a host like any other.
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
    // A random UID is no sign of a copy.
    let sent = send(&shell, &url, Destination::Service, read("08112233")).await;
    assert_eq!(sent.unwrap().payload.unwrap()["tag_verified"], true);
    shell.stop().await;
}
