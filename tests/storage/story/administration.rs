//! The installation's own data: secrets, settings and tokens.

use tapdesk_service::admin_token::{NewStoredToken, TokenHash};
use tapdesk_service::id::TokenId;
use tapdesk_service::scope::Rights;
use tapdesk_service::storage::SettingsEdit;
use tapdesk_service::tag_url::{TagUrlCheck, TagUrlState};
use tapdesk_service::text::Name;

use crate::storage::backend::{Backend, Database};

fn app(id: i64) -> SettingsEdit {
    Box::new(move |mut settings| {
        settings.app_id = Some(id);
        Ok(settings)
    })
}

pub(crate) async fn secrets_and_settings_are_kept<B: Backend>(mut db: Database<B>) {
    let secrets = db.secrets().await.unwrap();
    assert_ne!(secrets.key_mask, [0; 32]);
    assert_ne!(secrets.key_mask, secrets.client);
    assert_eq!(db.settings().await.unwrap().app_id, None);
    for id in [7, 8] {
        let stored = db.edit_settings(app(id)).await.unwrap();
        assert_eq!(stored.app_id, Some(id));
    }
    let refused = db
        .edit_settings(Box::new(|_| Err("No.".to_owned().into())))
        .await;
    assert!(refused.is_err());

    assert!(db.tag_url_checks().await.unwrap().is_empty());
    let check = |tag_url: &str, state| TagUrlCheck {
        tag_url: tag_url.to_owned(),
        state,
        reason: None,
        detail: String::new(),
        checked_at: db.now(),
    };
    let first = check("https://a.example/t", TagUrlState::Failed);
    let others = (0..6).map(|n| check(&format!("https://{n}.example/t"), TagUrlState::Failed));
    let again = check("https://a.example/t", TagUrlState::Proved);
    let last = check("https://z.example/t", TagUrlState::Failed);
    let all = std::iter::once(first).chain(others);
    for check in all.chain([again.clone(), last.clone()]) {
        db.note_tag_url_check(check).await.unwrap();
    }
    let kept = db.tag_url_checks().await.unwrap();
    assert_eq!(kept.len(), 8, "one for each address");
    assert_eq!(kept[..2], [last, again]);
    db.note_tag_url_check(check("https://y.example/t", TagUrlState::Failed))
        .await
        .unwrap();

    db.reopen().await;
    let kept = db.tag_url_checks().await.unwrap();
    assert_eq!(kept.len(), 8, "no more than that");
    assert_eq!(kept[7].tag_url, "https://1.example/t");
    assert_eq!(db.settings().await.unwrap().app_id, Some(8));
    let again = db.secrets().await.unwrap();
    assert_eq!(
        (again.key_mask, again.client),
        (secrets.key_mask, secrets.client)
    );
}

/// A token with all rights.
pub(crate) fn token(name: &str, hash: TokenHash) -> NewStoredToken {
    NewStoredToken {
        name: Name::new("A token", name).unwrap(),
        hash,
        rights: Rights::all(),
        expires_at: None,
    }
}

pub(crate) async fn a_token_is_known_until_it_is_removed<B: Backend>(db: Database<B>) {
    let [first, second] = [TokenHash([1; 32]), TokenHash([2; 32])];
    let studio = db.insert_token(token("Studio", first)).await.unwrap();
    assert_eq!(studio.created_at, db.now());
    let press = db.insert_token(token("Press", second)).await.unwrap();
    let all = [studio.clone(), press.clone()];
    assert_eq!(db.tokens(None, 10).await.unwrap(), all);
    assert_eq!(db.tokens(None, 1).await.unwrap(), all[..1]);
    assert_eq!(db.tokens(Some(studio.id), 10).await.unwrap(), all[1..]);

    assert!(db.token(first).await.unwrap().is_some());
    assert_eq!(db.delete_token(studio.id).await.unwrap(), Some(()));
    assert_eq!(db.delete_token(studio.id).await.unwrap(), None);
    assert_eq!(db.delete_token(TokenId::new(99)).await.unwrap(), None);
    assert!(db.token(first).await.unwrap().is_none());
    assert!(db.token(second).await.unwrap().is_some());
}
