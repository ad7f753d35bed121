//! The key that wraps secrets is rotated.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use tapdesk_service::caller::Actor;
use tapdesk_service::entropy::{Entropy, OsEntropy};
use tapdesk_service::inlay::key::AesKey;
use tapdesk_service::inlay::technology::Mode;
use tapdesk_service::inlay::{MacFrom, Mirror, Technology, Uid};
use tapdesk_service::inventory::{InlayFields, NewInlay, SealedKey, SealedKeys};
use tapdesk_service::keyring::Keyring;
use tapdesk_service::rotate::{AT_ONCE, Keys, Observer, Phase, RotateError, done, rotate};

use crate::storage::backend::{Backend, Database};

fn ring(byte: u8) -> Arc<Keyring> {
    Arc::new(Keyring::open(&[byte; 32]))
}

fn keys() -> Keys {
    Keys {
        former: Some(ring(1)),
        new: ring(2),
    }
}

fn entropy() -> Arc<dyn Entropy> {
    Arc::new(OsEntropy)
}

fn sealed(keyring: &Keyring) -> SealedKey {
    SealedKey::seal(&AesKey::from_bytes([7; 16]), keyring, &OsEntropy).unwrap()
}

/// Stores inlays with their own keys, and a root.
async fn fill<B: Backend>(db: &Database<B>, inlays: usize, keyring: &Keyring) {
    for number in 0..inlays {
        let [high, low] = u16::try_from(number).unwrap().to_be_bytes();
        let inlay = NewInlay {
            uid: Uid::from_bytes([4, 0, 0, 0, 0, high, low]),
            fields: InlayFields {
                technology: Technology::Ntag424Dna,
                mode: Mode::Aes,
                url_template_id: None,
                tag_id: None,
                mirror: Some(Mirror::Encrypted),
                mac_from: MacFrom::None,
                keys: Some(SealedKeys::Own {
                    meta: Some(sealed(keyring)),
                    file: sealed(keyring),
                }),
                other_keys: None,
                blocked_at: None,
            },
            simulated: false,
            last_counter: 0,
        };
        db.insert_inlay(inlay).await.unwrap();
    }
    db.insert_encoding_root(sealed(keyring)).await.unwrap();
}

/// Ends a rotation after this number of changing commits, like a crash.
struct EndedAt {
    commits: u32,
    wraps: bool,
}

impl Observer for EndedAt {
    fn begin(&mut self, phase: Phase, _: u64) {
        self.wraps = phase == Phase::Wrapping;
    }

    fn advance(&mut self, _: &'static str, rows: u64) {
        if self.wraps && rows > 0 {
            assert!(self.commits > 0, "a test's own crash");
            self.commits -= 1;
        }
    }

    fn end(&mut self) {}
}

/// A rotation that is not interrupted.
const WHOLE: EndedAt = EndedAt {
    commits: u32::MAX,
    wraps: false,
};

pub(crate) async fn a_rotation_goes_on_wherever_it_was_ended<B: Backend>(mut db: Database<B>) {
    let inlays = AT_ONCE + 3;
    fill(&db, inlays, &ring(1)).await;
    let rows = u64::try_from(inlays).unwrap() + 1;
    assert_eq!(db.count_wrapped().await.unwrap(), rows);
    // Three commits: two of inlays, one of the root.
    for commits in 0..3 {
        let mut ended = EndedAt {
            commits,
            wraps: false,
        };
        let (keys, entropy) = (keys(), entropy());
        let rotation = AssertUnwindSafe(rotate(
            &db.database,
            &keys,
            Actor::CommandLine,
            &entropy,
            &mut ended,
        ));
        assert!(rotation.catch_unwind().await.is_err(), "{commits}");
        db.crash().await;
        assert!(db.key_rotation().await.unwrap().is_some(), "{commits}");
    }
    let rotated = rotate(
        &db.database,
        &keys(),
        Actor::CommandLine,
        &entropy(),
        &mut { WHOLE },
    )
    .await;
    assert_eq!(rotated.unwrap(), rows);
    // Only the new key opens everything; the former one opens nothing.
    let alone = |new| Keys { former: None, new };
    let again = rotate(
        &db.database,
        &alone(ring(2)),
        Actor::CommandLine,
        &entropy(),
        &mut { WHOLE },
    )
    .await;
    assert_eq!(again.unwrap(), rows);
    let former = rotate(
        &db.database,
        &alone(ring(1)),
        Actor::CommandLine,
        &entropy(),
        &mut { WHOLE },
    )
    .await;
    assert!(matches!(former, Err(RotateError::Unknown { .. })));
    assert!(db.key_rotation().await.unwrap().is_some());
    done(&db.database).await.unwrap();
    assert_eq!(db.key_rotation().await.unwrap(), None);
}

pub(crate) async fn a_secret_that_no_key_opens_is_told_before_anything_is_changed<B: Backend>(
    db: Database<B>,
) {
    fill(&db, 1, &ring(1)).await;
    let lost = sealed(&ring(9));
    db.replace_encoding_root(lost, false).await.unwrap();
    let refused = rotate(
        &db.database,
        &keys(),
        Actor::CommandLine,
        &entropy(),
        &mut { WHOLE },
    )
    .await;
    let said = refused.unwrap_err().to_string();
    assert!(
        said.contains("1 secret of the table encoding_roots"),
        "{said}"
    );
    assert_eq!(db.key_rotation().await.unwrap(), None);
    let wrapped = db.any_wrapped_key().await.unwrap().unwrap();
    assert!(ring(1).unwrap(&wrapped).is_ok());
}
