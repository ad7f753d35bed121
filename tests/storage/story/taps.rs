//! Recording a tap: everything about it commits together.

use serde_json::json;
use tapdesk_service::clock::{Millis, Timestamp};
use tapdesk_service::id::InteractionId;
use tapdesk_service::inlay::Technology;
use tapdesk_service::inlay::template::{Template, TemplateSettings};
use tapdesk_service::interaction::{Claim, Refusal, TapOrigin, Tech, Verdict};
use tapdesk_service::inventory::{UnlistedRule, UrlTemplateFields};
use tapdesk_service::report::{Buckets, ReportRange, ReportStep, TestTapCounts, TimeZone};
use tapdesk_service::rolling_key::KeyHash;
use tapdesk_service::storage::{Event, InteractionFilter, TagKey};
use tapdesk_service::text::Name;
use tapdesk_service::world::World;

use crate::storage::backend::{Backend, Database, START, Tap};

pub(crate) async fn what_a_key_was_issued_for_is_found_by_its_id<B: Backend>(db: Database<B>) {
    let tag = db.tag(json!({})).await;
    let inlay = db.inlay_on(tag, 1).await;
    let refused = |refusal| Tap {
        claim: Claim::Decided(Verdict::NotVerified(refusal)),
        ..Tap::of(tag)
    };
    let uid = crate::storage::backend::inlay(7, None).uid;
    for tap in [
        Tap::code(tag, inlay, 9),
        Tap::code(tag, inlay, 9),
        Tap::code(tag, inlay, 8),
        Tap::of(tag).with_code(inlay, 2, 10),
        Tap::of(tag),
        refused(Refusal::NoCode),
        refused(Refusal::Malformed),
        refused(Refusal::UnknownInlay { uid: Some(uid) }),
        refused(Refusal::UnknownInlay { uid: None }),
        refused(Refusal::WrongMac { counter: Some(77) }),
    ] {
        let tapped = db.tap(tap).await;
        let (key, interaction) = db.issued_key(tapped.id).await.unwrap().expect("a key");
        assert_eq!(key.hash, tapped.hash);
        assert_eq!(key.issued_at, START);
        assert!(key.consumed.is_none());
        assert_eq!(interaction.id, tapped.id);
        assert_eq!(interaction.at, tapped.recorded.at);
        assert_eq!(interaction.tag_id, tag);
        assert_eq!(interaction.verdict, tapped.verdict());
        assert_eq!(interaction.returning, tapped.recorded.returning);
        assert_eq!(
            (interaction.tech, interaction.simulated),
            (Tech::Nfc, false)
        );
        assert_eq!(
            (interaction.country.as_str(), interaction.url_digest),
            ("CH", [7; 8])
        );
        let by_inlay = matches!(tap.claim, Claim::Counter { .. });
        assert_eq!(interaction.inlay_id, by_inlay.then_some(inlay));
    }
    let newest = db.tap(Tap::of(tag)).await.id;
    let unused = InteractionId::new(newest.get() + 1);
    assert!(db.issued_key(unused).await.unwrap().is_none());
}

pub(crate) async fn a_tap_without_a_key_leaves_none<B: Backend>(db: Database<B>) {
    let tag = db.tag(json!({})).await;
    let mut tap = Tap::of(tag).interaction(KeyHash([0; 16]));
    tap.key = None;
    let id = db.record_tap(tap).await.unwrap().id;
    assert!(db.issued_key(id).await.unwrap().is_none());
    let tag = db.storage().tag(tag).await.unwrap().unwrap();
    assert_eq!(tag.scan_count, 1);
}

pub(crate) async fn taps_are_counted_where_they_were_made<B: Backend>(db: Database<B>) {
    let tag = db.tag(json!({})).await;
    let other = db.tag(json!({"slug": "another"})).await;
    let twin = db.simulated_tag(json!({"slug": "my-twin"})).await;
    for _ in 0..3 {
        db.advance(1_000);
        db.tap(Tap::of(tag)).await;
    }
    let simulated = db.tap(Tap::of(twin).simulated(60_000)).await;
    assert_eq!(simulated.recorded.at, db.now().plus(Millis::new(60_000)));

    for (id, scans, last) in [
        (tag, 3, Some(db.now())),
        (other, 0, None),
        (twin, 1, Some(simulated.recorded.at)),
    ] {
        let found = db.storage().tag(id).await.unwrap().unwrap();
        assert_eq!((found.scan_count, found.last_scan_at), (scans, last));
        let slug = found.fields.slug.as_str();
        let by_slug = db.tag_tap(TagKey::Slug(slug)).await.unwrap().unwrap();
        assert_eq!(by_slug.tag.id, id);
    }
}

pub(crate) async fn the_first_tap_at_a_template_is_noted_with_it_or_not_at_all<B: Backend>(
    db: Database<B>,
) {
    let mut templates = Vec::new();
    for name in ["one", "two"] {
        let text = format!("https://tags.example/{name}?p={{picc}}&c={{mac}}");
        let template = Template::new(TemplateSettings::new(text, Technology::Ntag424Dna)).unwrap();
        let fields = UrlTemplateFields {
            name: Name::new("A URL template", name).unwrap(),
            template,
            keys: Vec::new(),
            unlisted: UnlistedRule::default(),
        };
        templates.push(db.insert_url_template(fields).await.unwrap().id);
    }
    let noted = async || {
        let mut noted = Vec::new();
        for id in &templates {
            let template = db.url_template(*id).await.unwrap().unwrap();
            noted.push(template.first_tap_at);
        }
        noted
    };
    let tag = db.tag(json!({})).await;
    let at_first = |hash| {
        let mut tap = Tap::of(tag).interaction(hash);
        tap.first_at_template = Some(templates[1]);
        tap
    };
    db.tap(Tap::of(tag)).await;
    assert_eq!(noted().await, [None, None]);
    // If one of the two writes fails, the other is not written either.
    for table in ["interactions", "url_templates"] {
        db.backend().refuse(table, true).await;
        let refused = db.record_tap(at_first(KeyHash([1; 16]))).await;
        assert!(refused.is_err(), "{table}: {refused:?}");
        db.backend().refuse(table, false).await;
        assert_eq!(noted().await, [None, None], "{table}");
        let taps = InteractionFilter::default();
        let taps = db.interactions(taps, None, 10).await.unwrap();
        assert_eq!(taps.found.len(), 1, "{table}: the tap at no template");
    }
    db.record_tap(at_first(KeyHash([2; 16]))).await.unwrap();
    assert_eq!(noted().await, [None, Some(START)]);
    db.advance(1_000);
    let recorded = db.record_tap(at_first(KeyHash([3; 16]))).await.unwrap();
    assert!(recorded.at > START);
    assert_eq!(noted().await, [None, Some(START)], "the first one counts");
}

/// The test tap and its mark are one commit, so that nobody can come in between.
pub(crate) async fn a_test_tap_is_known_from_its_commit_on<B: Backend>(db: Database<B>) {
    let tag = db.tag(json!({})).await;
    let inlay = db.inlay_on(tag, 1).await;
    let twin = db.simulated_tag(json!({"slug": "its-twin"})).await;
    let mut events = db.events();
    let taps = [
        (Tap::code(tag, inlay, 1), TapOrigin::Visitor),
        (
            Tap::code(tag, inlay, 2).made_by(TapOrigin::Reader),
            TapOrigin::Reader,
        ),
        (
            Tap::code(tag, inlay, 2).made_by(TapOrigin::Kiosk),
            TapOrigin::Kiosk,
        ),
        (
            Tap::of(twin).simulated(0).made_by(TapOrigin::Reader),
            TapOrigin::Simulator,
        ),
    ];
    for (tap, expected) in taps {
        let tapped = db.tap(tap).await;
        let received = events.try_recv().expect("told before it is acknowledged");
        let Event::Interaction { origin, .. } = *received else {
            panic!("{received:?}");
        };
        assert_eq!(origin, expected);
        let kept = db.interaction(tapped.id).await.unwrap().unwrap();
        assert_eq!(kept.interaction.origin, expected);
    }

    let range = |since: Timestamp| {
        let until = since.plus(Millis::hours(1));
        ReportRange {
            buckets: Buckets::new(ReportStep::Hour, TimeZone::UTC, since, until).unwrap(),
            experience: None,
            group: None,
            tag: None,
            world: World::Both,
            clients_since: START.minus(Millis::days(30)),
        }
    };
    let tests = TestTapCounts {
        reader: 1,
        kiosk: 1,
    };
    for _ in 0..2 {
        let report = db.report(range(START)).await.unwrap();
        assert_eq!(report.totals().0.taps, 2, "a visitor's and a simulated one");
        assert_eq!(report.test_taps, (tests, TestTapCounts::default()));
        while db.fold_reports().await.unwrap() {}
    }
    let later = range(START.plus(Millis::hours(1)));
    let before = db.report(later).await.unwrap().test_taps;
    assert_eq!(before, (TestTapCounts::default(), tests));
    let shown = db.storage().tag(tag).await.unwrap().unwrap();
    assert_eq!((shown.scan_count, shown.test_scan_count), (3, 2));
}
