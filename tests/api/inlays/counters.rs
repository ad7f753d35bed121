//! Counters of inlays: a spent code stays spent.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::entropy::{self, OsEntropy};
use tapdesk_service::inlay::key::AesKey;
use tapdesk_service::inlay::virtual_inlay::VirtualInlay;
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::{TestInlay, TestService};

use super::{accepts, get, keys, patch, refused, tag};

/// The same chip encoded with other keys; its counter is 0 again.
fn re_encoded(chip: &VirtualInlay) -> VirtualInlay {
    let mut encoded = chip.clone();
    let key = || AesKey::from_bytes(entropy::bytes(&OsEntropy));
    encoded.keys.file = key();
    encoded.keys.meta = encoded.keys.meta.map(|_| key());
    encoded.counter = 0;
    encoded
}

#[tokio::test]
async fn replaced_keys_start_the_counter_from_0_and_old_codes_no_longer_verify() {
    let service = TestService::start().await;
    for mirror in [Mirror::Plain, Mirror::Encrypted] {
        let tag = tag(&service).await;
        let old = service.rolling_inlay(&tag, mirror, MacFrom::None).await;
        assert!(accepts(&service, &tag, &old, 50).await);
        let new = TestInlay {
            chip: re_encoded(&old.chip),
            ..old.clone()
        };
        let replaced = patch(&service, &new, keys(&new.chip)).await;
        assert_eq!(replaced["last_counter"], json!(0));
        assert_eq!(
            replaced["file_key_check"],
            json!(new.chip.keys.file.check().to_string())
        );
        assert!(!accepts(&service, &tag, &old, 51).await, "{mirror}");
        assert!(accepts(&service, &tag, &new, 1).await, "{mirror}");
    }
}

#[tokio::test]
async fn the_same_keys_again_reopen_no_spent_code() {
    let service = TestService::start().await;
    for mirror in [Mirror::Plain, Mirror::Encrypted] {
        let tag = tag(&service).await;
        let inlay = service.rolling_inlay(&tag, mirror, MacFrom::None).await;
        assert!(accepts(&service, &tag, &inlay, 50).await);
        let same = patch(&service, &inlay, keys(&inlay.chip)).await;
        assert_eq!(same["last_counter"], json!(50));
        assert!(!accepts(&service, &tag, &inlay, 50).await, "{mirror}");
        assert!(accepts(&service, &tag, &inlay, 51).await, "{mirror}");
    }
}

#[tokio::test]
async fn keys_that_come_back_find_their_counter() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let inlay = service
        .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None)
        .await;
    assert!(accepts(&service, &tag, &inlay, 50).await);
    let mistyped = TestInlay {
        chip: re_encoded(&inlay.chip),
        ..inlay.clone()
    };
    patch(&service, &inlay, keys(&mistyped.chip)).await;
    assert!(accepts(&service, &tag, &mistyped, 7).await);
    let mended = patch(&service, &inlay, keys(&inlay.chip)).await;
    assert_eq!(mended["last_counter"], json!(50));
    assert!(!accepts(&service, &tag, &inlay, 50).await);
    let back = patch(&service, &inlay, keys(&mistyped.chip)).await;
    assert_eq!(back["last_counter"], json!(7));
}

#[tokio::test]
async fn no_way_around_the_meta_key_reopens_a_spent_plain_code() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let plain = service
        .rolling_inlay(&tag, Mirror::Plain, MacFrom::None)
        .await;
    assert!(accepts(&service, &tag, &plain, 50).await);
    let meta = "0F0E0D0C0B0A09080706050403020100";
    patch(
        &service,
        &plain,
        json!({"mirror": "encrypted", "meta_key": meta}),
    )
    .await;
    let back = patch(&service, &plain, json!({"mirror": "plain"})).await;
    assert_eq!(back["last_counter"], json!(50));
    assert!(!accepts(&service, &tag, &plain, 50).await);
}

#[tokio::test]
async fn another_mirror_or_window_keeps_the_counter() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let mut inlay = service
        .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None)
        .await;
    assert!(accepts(&service, &tag, &inlay, 50).await);
    for (mirror, mac_from) in [
        (Mirror::Encrypted, MacFrom::Uid),
        (Mirror::Plain, MacFrom::Uid),
        (Mirror::Encrypted, MacFrom::None),
    ] {
        let changes = json!({"mirror": mirror.as_str(), "mac_from": mac_from.as_str()});
        let inlay_now = patch(&service, &inlay, changes).await;
        assert_eq!(inlay_now["last_counter"], json!(50));
        (inlay.chip.mirror, inlay.chip.mac_from) = (mirror, mac_from);
        assert!(
            !accepts(&service, &tag, &inlay, 50).await,
            "{mirror} {mac_from}"
        );
    }
    assert!(accepts(&service, &tag, &inlay, 51).await);
}

#[tokio::test]
async fn a_deleted_inlay_verifies_nothing_and_comes_back_with_its_counter() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let mut inlay = service
        .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None)
        .await;
    assert!(accepts(&service, &tag, &inlay, 50).await);
    let path = format!("/inlays/{}", inlay.id);
    let deleted = service.admin(Method::DELETE, &path, Value::Null).await;
    assert_eq!((deleted.status, deleted.body.as_str()), (204, ""));
    for method in [Method::GET, Method::DELETE] {
        assert_eq!(
            refused(&service, method, &path, Value::Null).await.status,
            404
        );
    }
    assert_eq!(service.admin_get("/inlays").await["items"], json!([]));
    service.tap(&tag.with(&inlay.code_at(51))).await;

    inlay.id = service.register(inlay.chip.clone(), &tag).await.id;
    assert_eq!(get(&service, &inlay).await["last_counter"], json!(50));
    assert!(!accepts(&service, &tag, &inlay, 50).await, "it was spent");
    assert!(
        accepts(&service, &tag, &inlay, 51).await,
        "it was not accepted while there was no inlay"
    );

    service
        .admin(Method::DELETE, &path, Value::Null)
        .await
        .expect(204);
    let re_encoded = re_encoded(&inlay.chip);
    let new = service.register(re_encoded, &tag).await;
    assert_eq!(get(&service, &new).await["last_counter"], json!(0));
    assert!(
        !accepts(&service, &tag, &inlay, 52).await,
        "its keys are gone"
    );
    assert!(accepts(&service, &tag, &new, 1).await);
}

#[tokio::test]
async fn an_inlay_at_its_counters_end_is_shown_as_used_up() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let inlay = service
        .rolling_inlay(&tag, Mirror::Plain, MacFrom::None)
        .await;
    assert!(accepts(&service, &tag, &inlay, 0xFF_FFFE).await);
    assert_eq!(get(&service, &inlay).await["used_up"], json!(false));
    assert!(accepts(&service, &tag, &inlay, 0xFF_FFFF).await);
    assert_eq!(get(&service, &inlay).await["used_up"], json!(true));
}
