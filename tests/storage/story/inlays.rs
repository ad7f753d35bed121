//! Inlays, master keys, and the simulator's inlays.

use serde_json::json;
use tapdesk_service::id::{InlayId, TagId};
use tapdesk_service::inlay::Technology;
use tapdesk_service::inlay::derivation::Derivation;
use tapdesk_service::inlay::template::{Template, TemplateSettings};
use tapdesk_service::inventory::{
    InlayFields, KeptKeys, MasterKeyFields, SealedKey, SealedKeys, UnlistedRule, UrlTemplateFields,
};
use tapdesk_service::keyring::WrappedKeys;
use tapdesk_service::storage::{
    Conflict, InlayEdit, InlayFilter, OtherInlays, SimulatedTag, StorageError, TagFilter, TagKey,
};
use tapdesk_service::text::Name;
use tapdesk_service::world::World;

use crate::storage::backend::{Backend, Database, inlay, sealed, tag_fields};

fn bound_to(tag: Option<TagId>) -> InlayEdit {
    Box::new(move |mut fields| {
        fields.tag_id = tag;
        Ok(fields)
    })
}

fn conflict<T: std::fmt::Debug>(outcome: Result<T, StorageError>) -> Conflict {
    match outcome {
        Err(StorageError::Conflict(conflict)) => conflict,
        other => panic!("no conflict: {other:?}"),
    }
}

pub(crate) async fn an_inlay_is_found_on_its_tag_and_in_lists<B: Backend>(db: Database<B>) {
    let tag = db.tag(json!({})).await;
    let rolling = db.inlay_on(tag, 1).await;
    let mut fixed = inlay(2, Some(tag));
    fixed.fields = InlayFields {
        technology: Technology::Ntag213,
        mirror: None,
        keys: None,
        ..fixed.fields
    };
    let fixed = db.insert_inlay(fixed).await.unwrap().id;
    let loose = db.insert_inlay(inlay(3, None)).await.unwrap().id;

    let of_tag = db.tag_tap(TagKey::Id(tag)).await.unwrap().unwrap();
    assert!(of_tag.inlays.has_static);
    let [bound] = &of_tag.inlays.rolling[..] else {
        panic!("{of_tag:?}");
    };
    assert_eq!(
        (bound.id, bound.uid, bound.key_version),
        (rolling, inlay(1, None).uid, 1)
    );
    let WrappedKeys::Own { meta, file } = &bound.keys else {
        panic!("{bound:?}");
    };
    assert_eq!(*meta, Some(sealed(1, 1).wrapped));
    assert_eq!(*file, sealed(1, 2).wrapped);
    let stored = db.inlay(rolling).await.unwrap().unwrap();
    assert_eq!(stored.fields, inlay(1, Some(tag)).fields);
    assert_eq!((stored.simulated, stored.last_counter), (false, 0));

    let all = InlayFilter::default;
    for (filter, expected) in [
        (all(), vec![rolling, fixed, loose]),
        (
            InlayFilter {
                tag_id: Some(tag),
                ..all()
            },
            vec![rolling, fixed],
        ),
        (
            InlayFilter {
                unbound: Some(true),
                ..all()
            },
            vec![loose],
        ),
        (
            InlayFilter {
                uid: Some(inlay(2, None).uid),
                ..all()
            },
            vec![fixed],
        ),
        (
            InlayFilter {
                simulated: Some(true),
                ..all()
            },
            vec![],
        ),
    ] {
        let found = db.inlays(filter.clone(), None, 10).await.unwrap();
        let ids: Vec<_> = found.iter().map(|inlay| inlay.id).collect();
        assert_eq!(ids, expected, "{filter:?}");
        let count = db.count_inlays(filter).await.unwrap();
        assert_eq!(count, expected.len() as u64);
    }
    let second = db.inlays(all(), Some(rolling), 1).await.unwrap();
    assert_eq!(second[0].id, fixed);

    db.edit_inlay(rolling, bound_to(None))
        .await
        .unwrap()
        .unwrap();
    db.delete_inlay(fixed).await.unwrap().unwrap();
    let of_tag = db.tag_tap(TagKey::Id(tag)).await.unwrap().unwrap();
    assert!(of_tag.inlays.rolling.is_empty() && !of_tag.inlays.has_static);
    assert!(db.inlay(fixed).await.unwrap().is_none());
    assert!(db.delete_inlay(fixed).await.unwrap().is_none());
}

pub(crate) async fn the_tag_of_an_inlay_of_a_template_is_found_by_its_uid<B: Backend>(
    db: Database<B>,
) {
    let text = "https://tags.example/v?uid={uid}&n={counter}&c={mac}";
    let template = Template::new(TemplateSettings::new(text, Technology::Ntag424Dna)).unwrap();
    let template = db
        .insert_url_template(UrlTemplateFields {
            name: Name::new("A URL template", "v").unwrap(),
            template,
            keys: Vec::new(),
            unlisted: UnlistedRule::default(),
        })
        .await
        .unwrap()
        .id;
    let tag = db.tag(json!({})).await;
    let canonical = inlay(1, Some(tag));
    let mut of_template = inlay(2, Some(tag));
    of_template.fields.url_template_id = Some(template);
    of_template.fields.mirror = None;
    let uids = [canonical.uid, of_template.uid, inlay(3, None).uid];
    db.insert_inlay(canonical).await.unwrap();
    let id = db.insert_inlay(of_template).await.unwrap().id;

    let found = async || {
        let mut found = Vec::new();
        for uid in uids {
            let inlay = db.template_inlay(uid).await.unwrap();
            found.push(inlay.map(|inlay| inlay.tag_id));
        }
        found
    };
    assert_eq!(found().await, [None, Some(Some(tag)), None]);
    let alone = db.template_inlay(uids[1]).await.unwrap().unwrap();
    assert_eq!((alone.id, alone.tag_id), (id, Some(tag)));
    assert!(db.template_inlay(uids[0]).await.unwrap().is_none());

    db.edit_inlay(id, bound_to(None)).await.unwrap().unwrap();
    assert_eq!(found().await, [None, Some(None), None]);
    let alone = db.template_inlay(uids[1]).await.unwrap().unwrap();
    assert_eq!(alone.tag_id, None);
}

pub(crate) async fn a_uid_is_taken_until_its_inlay_is_deleted<B: Backend>(db: Database<B>) {
    let first = db.insert_inlay(inlay(1, None)).await.unwrap().id;
    let taken = conflict(db.insert_inlay(inlay(1, None)).await);
    assert_eq!(taken, Conflict::UidTaken("04000000000001".to_owned()));
    db.delete_inlay(first).await.unwrap().unwrap();
    let again = db.insert_inlay(inlay(1, None)).await.unwrap().id;
    assert!(db.inlay(again).await.unwrap().is_some());
}

pub(crate) async fn an_edit_that_is_refused_changes_nothing<B: Backend>(db: Database<B>) {
    let tag = db.tag(json!({})).await;
    let id = db.inlay_on(tag, 1).await;
    let refusing: InlayEdit = Box::new(|_| Err("No.".to_owned().into()));
    let unknown_master: InlayEdit = Box::new(|mut fields| {
        let keys = fields.keys.expect("it has keys");
        fields.tag_id = None;
        fields.keys = Some(SealedKeys::Diversified {
            kept: KeptKeys::default(),
            master_key_id: tapdesk_service::id::MasterKeyId::new(99),
            meta: keys.file(),
            file: keys.file(),
            factory: false,
        });
        Ok(fields)
    });
    for edit in [refusing, unknown_master, bound_to(Some(TagId::new(99)))] {
        conflict(db.edit_inlay(id, edit).await);
        let stored = db.inlay(id).await.unwrap().unwrap();
        assert_eq!(stored.fields, inlay(1, Some(tag)).fields);
    }
    let edit = bound_to(None);
    assert!(
        db.edit_inlay(InlayId::new(99), edit)
            .await
            .unwrap()
            .is_none()
    );
}

pub(crate) async fn inlays_go_on_tags_of_their_own_world_that_exist<B: Backend>(db: Database<B>) {
    let real = db.tag(json!({})).await;
    let twin = db.simulated_tag(json!({"slug": "my-twin"})).await;
    let on = |tag, simulated| {
        let mut new = inlay(1, Some(tag));
        new.simulated = simulated;
        db.insert_inlay(new)
    };
    for (tag, simulated) in [(real, true), (twin, false)] {
        let refused = conflict(on(tag, simulated).await);
        assert_eq!(refused, Conflict::OtherWorld { tag, simulated });
    }
    let missing = conflict(on(TagId::new(99), false).await);
    assert_eq!(
        missing,
        Conflict::Missing {
            noun: "tag",
            id: 99
        }
    );
    let id = on(real, false).await.unwrap().id;
    conflict(db.edit_inlay(id, bound_to(Some(twin))).await);
    assert_eq!(
        db.inlay(id).await.unwrap().unwrap().fields.tag_id,
        Some(real)
    );
}

pub(crate) async fn a_master_key_goes_when_no_inlay_uses_it<B: Backend>(db: Database<B>) {
    let key = MasterKeyFields {
        name: Name::new("A master key", "Vineyard").unwrap(),
        key: sealed(9, 1),
        derivation: Derivation::An10922 {
            input: "00112233{uid}".parse().unwrap(),
            diversify_meta: true,
        },
    };
    assert!(db.any_wrapped_key().await.unwrap().is_none());
    let id = db.insert_master_key(key.clone()).await.unwrap().id;
    assert!(db.any_wrapped_key().await.unwrap().is_some());
    let stored = db.master_key(id).await.unwrap().unwrap();
    assert_eq!(stored.fields.name, key.name);
    assert_eq!(stored.fields.key, key.key);
    assert_eq!(stored.fields.derivation, key.derivation);
    let mut user = inlay(1, None);
    user.fields.keys = Some(SealedKeys::Diversified {
        master_key_id: id,
        kept: KeptKeys {
            meta: Some(sealed(1, 1).wrapped),
            file: None,
        },
        meta: sealed(1, 1).fingerprint,
        file: sealed(1, 2).fingerprint,
        factory: false,
    });
    user.fields.other_keys = Some(sealed(1, 3));
    let fields = user.fields.clone();
    let user = db.insert_inlay(user).await.unwrap().id;
    assert_eq!(db.inlay(user).await.unwrap().unwrap().fields, fields);

    let in_use = conflict(db.delete_master_key(id).await);
    assert!(matches!(in_use, Conflict::InUse(_)), "{in_use}");
    let name = Name::new("A master key", "Cellar").unwrap();
    let renamed = db.rename_master_key(id, name.clone()).await.unwrap();
    assert_eq!(renamed.unwrap().fields.name, name);
    db.delete_inlay(user).await.unwrap().unwrap();
    assert_eq!(db.delete_master_key(id).await.unwrap(), Some(()));
    assert_eq!(db.delete_master_key(id).await.unwrap(), None);
    assert_eq!(db.count_master_keys().await.unwrap(), 0);
}

pub(crate) async fn the_other_keys_of_a_chip_are_keys_as_any<B: Backend>(db: Database<B>) {
    let mut card = inlay(1, None);
    (card.fields.mirror, card.fields.keys) = (None, None);
    card.fields.other_keys = Some(sealed(1, 3));
    let id = db.insert_inlay(card).await.unwrap().id;
    let wrapped = db.any_wrapped_key().await.unwrap();
    assert_eq!(wrapped, Some(sealed(1, 3).wrapped));

    // The same keys, wrapped again.
    let wrapped = vec![7, 7, 7];
    let again = SealedKey {
        wrapped: wrapped.clone(),
        ..sealed(1, 3)
    };
    let edit: InlayEdit = Box::new(move |mut fields| {
        fields.other_keys = Some(again.clone());
        Ok(fields)
    });
    db.edit_inlay(id, edit).await.unwrap().unwrap();
    let stored = db.inlay(id).await.unwrap().unwrap().fields.other_keys;
    assert_eq!(stored.unwrap().wrapped, wrapped);
}

pub(crate) async fn inlays_that_may_explain_a_code_are_those_of_other_tags<B: Backend>(
    db: Database<B>,
) {
    let tag = db.tag(json!({})).await;
    let own = db.inlay_on(tag, 1).await;
    let loose = db.insert_inlay(inlay(2, None)).await.unwrap().id;
    let other = db.tag(json!({"slug": "another"})).await;
    let others = db.inlay_on(other, 3).await;
    let mut silent = inlay(4, None);
    silent.fields.mirror = None;
    db.insert_inlay(silent).await.unwrap();
    let gone = db.insert_inlay(inlay(5, None)).await.unwrap().id;
    db.delete_inlay(gone).await.unwrap().unwrap();

    let uid = |number| OtherInlays::Uid(inlay(number, None).uid);
    for (which, except, expected) in [
        (OtherInlays::Newest(10), Some(tag), vec![others, loose]),
        (OtherInlays::Newest(1), Some(tag), vec![others]),
        (uid(2), Some(tag), vec![loose]),
        (uid(1), Some(tag), vec![]),
        (uid(1), Some(other), vec![own]),
        (OtherInlays::Newest(10), Some(other), vec![loose, own]),
        (uid(4), Some(tag), vec![]),
        (uid(5), Some(tag), vec![]),
    ] {
        let found = db.other_inlays(which, except).await.unwrap();
        let found: Vec<_> = found.iter().map(|inlay| inlay.id).collect();
        assert_eq!(found, expected, "{which:?} except {except:?}");
    }
}

pub(crate) async fn a_virtual_inlay_counts_its_reads_and_stays_simulated<B: Backend>(
    db: Database<B>,
) {
    let twin = SimulatedTag::New(Box::new(tag_fields(json!({"slug": "my-twin"}))));
    let mut chip = inlay(1, None);
    chip.simulated = true;
    let id = db.insert_virtual_inlay(twin, chip).await.unwrap().id;
    for counter in 1..=3 {
        let raised = db.raise_virtual_counter(id).await.unwrap().unwrap();
        assert_eq!(raised.counter, counter);
    }
    let stored = db.virtual_inlay(id).await.unwrap().unwrap();
    assert_eq!(
        (stored.counter, stored.slug.as_deref()),
        (3, Some("my-twin"))
    );
    assert!(stored.inlay.simulated);
    assert_eq!(stored.inlay.last_counter, 0, "no code came to the service");
    assert_eq!(db.count_tags(TagFilter::default()).await.unwrap(), 0);
    let live = InlayFilter {
        simulated: Some(false),
        ..InlayFilter::default()
    };
    assert_eq!(db.count_inlays(live).await.unwrap(), 0);

    db.delete_inlay(stored.inlay.id).await.unwrap().unwrap();
    assert!(db.virtual_inlay(id).await.unwrap().is_none());
    assert!(db.raise_virtual_counter(id).await.unwrap().is_none());
    assert_eq!(db.count_virtual_inlays().await.unwrap(), 0);
}

pub(crate) async fn what_makes_half_a_virtual_inlay_makes_nothing<B: Backend>(db: Database<B>) {
    db.insert_inlay(inlay(1, None)).await.unwrap();
    let twin = || SimulatedTag::New(Box::new(tag_fields(json!({"slug": "my-twin"}))));
    let mut chip = inlay(1, None);
    chip.simulated = true;
    let taken = conflict(db.insert_virtual_inlay(twin(), chip).await);
    assert!(matches!(taken, Conflict::UidTaken(_)), "{taken}");
    let both = TagFilter {
        world: World::Both,
        ..TagFilter::default()
    };
    assert_eq!(db.count_tags(both).await.unwrap(), 0, "not the tag either");

    let real = db.tag(json!({"slug": "real-1"})).await;
    let mut chip = inlay(2, None);
    chip.simulated = true;
    let refused = conflict(
        db.insert_virtual_inlay(SimulatedTag::Existing(real), chip)
            .await,
    );
    assert!(matches!(refused, Conflict::OtherWorld { .. }), "{refused}");
    assert_eq!(db.count_virtual_inlays().await.unwrap(), 0);
}
