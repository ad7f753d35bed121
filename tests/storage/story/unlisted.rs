//! Chips that are no inlays.

use serde_json::json;
use tapdesk_service::id::UrlTemplateId;
use tapdesk_service::inlay::template::{Template, TemplateSettings};
use tapdesk_service::inlay::{Technology, Uid};
use tapdesk_service::interaction::{Claim, Client, CounterRule, KnownAt, NewInteraction, Tech};
use tapdesk_service::inventory::{
    KeyPrints, NewInlay, SealedKeys, UnlistedMode, UnlistedRule, UrlTemplateFields,
};
use tapdesk_service::storage::{
    CreatedByTap, EnrolOn, InlayFilter, InteractionFilter, Precondition, TagFilter, UnlistedFilter,
    UnlistedOutcome, UnlistedTap,
};
use tapdesk_service::text::Name;

use crate::storage::backend::{Backend, Database, inlay, keys, sealed, tag_fields};

const ALL: UnlistedFilter = UnlistedFilter {
    url_template_id: None,
    uid: None,
};

async fn template<B: Backend>(db: &Database<B>, name: &str) -> UrlTemplateId {
    let text = format!("https://tags.example/{name}?u={{uid}}&n={{counter}}&c={{mac}}");
    let template = Template::new(TemplateSettings::new(text, Technology::Ntag424Dna)).unwrap();
    let fields = UrlTemplateFields {
        name: Name::new("A URL template", name).unwrap(),
        template,
        keys: Vec::new(),
        unlisted: UnlistedRule {
            mode: UnlistedMode::Create,
            file_key: Some(sealed(1, 2)),
            ..UnlistedRule::default()
        },
    };
    db.insert_url_template(fields).await.unwrap().id
}

fn chip(number: u8, counter: u32, template: UrlTemplateId) -> UnlistedTap {
    UnlistedTap {
        uid: Uid::from_bytes([0x04, 0, 0, 0, 0, 0, number]),
        technology: Technology::Ntag424Dna,
        url_template_id: template,
        keys: KeyPrints {
            meta: keys(number).meta(),
            file: keys(number).file(),
        },
        counter,
    }
}

/// The inlay of a chip at a template.
fn listed(number: u8, template: UrlTemplateId) -> NewInlay {
    let mut inlay = inlay(number, None);
    inlay.fields.url_template_id = Some(template);
    inlay.fields.mirror = None;
    inlay
}

fn created(number: u8, template: UrlTemplateId) -> CreatedByTap {
    CreatedByTap {
        tag: tag_fields(json!({"slug": format!("chip-{number}")})),
        inlay: listed(number, template),
        tap: Box::new(|new, counter| {
            let claim = Claim::Counter {
                inlay_id: new.inlay,
                key_version: new.key_version,
                counter,
                rule: CounterRule::Proof,
            };
            NewInteraction::new(KnownAt::Tag(new.tag), Client([7; 16]), claim, Tech::Nfc)
        }),
    }
}

async fn stored<B: Backend>(db: &Database<B>) -> (u64, u64, usize, u64) {
    let taps = db
        .interactions(InteractionFilter::default(), None, 10)
        .await
        .unwrap();
    (
        db.count_tags(TagFilter::default()).await.unwrap(),
        db.count_inlays(InlayFilter::default()).await.unwrap(),
        taps.found.len(),
        db.count_unlisted_chips(ALL).await.unwrap(),
    )
}

pub(crate) async fn what_a_tap_creates_is_created_with_its_record_or_not_at_all<B: Backend>(
    db: Database<B>,
) {
    let template = template(&db, "one").await;
    for table in ["interactions", "tap_made_inlays", "counters", "tags"] {
        db.backend().refuse(table, true).await;
        let tap = db.unlisted_tap(chip(1, 5, template), Some(created(1, template)));
        assert!(tap.await.is_err(), "{table}");
        db.backend().refuse(table, false).await;
        assert_eq!(stored(&db).await, (0, 0, 0, 0), "{table}");
    }
    let tap = db.unlisted_tap(chip(1, 5, template), Some(created(1, template)));
    let UnlistedOutcome::Created(tag, recorded) = tap.await.unwrap() else {
        panic!("it creates the tag");
    };
    assert_eq!(recorded.verdict.tag_verified(), Some(true));
    assert_eq!(stored(&db).await, (1, 1, 1, 0));
    assert_eq!(db.storage().tag(tag).await.unwrap().unwrap().scan_count, 1);
    let tap = db.unlisted_tap(chip(1, 6, template), Some(created(1, template)));
    let outcome = tap.await.unwrap();
    assert!(
        matches!(outcome, UnlistedOutcome::Listed { here: true }),
        "{outcome:?}"
    );
    assert_eq!(stored(&db).await, (1, 1, 1, 0));
}

pub(crate) async fn what_was_acknowledged_of_an_unlisted_chip_outlives_a_crash<B: Backend>(
    mut db: Database<B>,
) {
    let template = template(&db, "one").await;
    db.unlisted_tap(chip(1, 5, template), None).await.unwrap();
    let tap = db.unlisted_tap(chip(2, 7, template), Some(created(2, template)));
    assert!(matches!(tap.await.unwrap(), UnlistedOutcome::Created(..)));
    db.crash().await;
    let found = db.unlisted_chips(ALL, None, 10).await.unwrap();
    assert_eq!((found.len(), found[0].last_counter), (1, 5));
    let inlays = db.inlays(InlayFilter::default(), None, 10).await.unwrap();
    assert_eq!(inlays[0].last_counter, 7);
    // The counter continues, also under a code from before.
    let tap = db.unlisted_tap(chip(1, 5, template), Some(created(1, template)));
    assert!(matches!(tap.await.unwrap(), UnlistedOutcome::Kept));
    let on = EnrolOn::Existing(db.tag(json!({})).await);
    let enrolled = db
        .enrol_unlisted_chip(listed(1, template), on)
        .await
        .unwrap();
    assert_eq!(enrolled.unwrap().last_counter, 5);
}

pub(crate) async fn another_key_of_a_chip_has_another_counter<B: Backend>(db: Database<B>) {
    let template = template(&db, "one").await;
    db.unlisted_tap(chip(1, 5, template), None).await.unwrap();
    let mut other = listed(1, template);
    other.fields.keys = Some(SealedKeys::Own {
        meta: None,
        file: sealed(9, 2),
    });
    let id = db.insert_inlay(other).await.unwrap().id;
    assert_eq!(db.inlay(id).await.unwrap().unwrap().last_counter, 0);
    assert_eq!(db.count_unlisted_chips(ALL).await.unwrap(), 0);
    // The deleted inlay had another key, so its counter says nothing about this one.
    db.delete_inlay(id).await.unwrap();
    let tap = db.unlisted_tap(chip(1, 1, template), Some(created(1, template)));
    assert!(matches!(tap.await.unwrap(), UnlistedOutcome::Created(..)));
}

pub(crate) async fn the_newest_unlisted_chips_of_each_template_are_kept<B: Backend>(
    db: Database<B>,
) {
    let templates = [template(&db, "one").await, template(&db, "two").await];
    for number in 1..=6 {
        let at = templates[usize::from(number > 4)];
        db.unlisted_tap(chip(number, 5, at), None).await.unwrap();
    }
    while db.prune_unlisted_chips(3).await.unwrap() {}
    let kept = async || {
        let found = db.unlisted_chips(ALL, None, 10).await.unwrap();
        let uids = found.into_iter().map(|chip| chip.uid.bytes()[6]);
        uids.collect::<Vec<_>>()
    };
    assert_eq!(kept().await, [6, 5, 4, 3, 2]);
    let next = db.unlisted_chips(ALL, Some(4), 2).await.unwrap();
    assert_eq!(
        next.iter()
            .map(|chip| chip.uid.bytes()[6])
            .collect::<Vec<_>>(),
        [3, 2]
    );
    let gone = db
        .delete_url_template_if(templates[0], Precondition::default())
        .await;
    assert!(gone.unwrap().is_some());
    while db.prune_unlisted_chips(3).await.unwrap() {}
    assert_eq!(kept().await, [6, 5]);
}
