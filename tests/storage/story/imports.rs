//! Imports that store all rows or none: their pieces, and the state after a crash.

use std::sync::Arc;

use serde_json::json;
use tapdesk_service::id::ImportId;
use tapdesk_service::storage::{
    Conflict, ImportRow, LEFT_AFTER, Put, ROWS_AT_ONCE, Staged, StorageError, TagChange, TagFilter,
    TagList, TagOrder, finish_import,
};
use tapdesk_service::tag::cell::Cell;
use tapdesk_service::tag::{Slug, Tag, TagColumn, TagRow};

use crate::storage::backend::{Backend, Database, Tap, inlay, tag_fields};

/// A row with these cells, including the slug.
fn row(cells: &[(&str, &str)]) -> Arc<ImportRow> {
    let columns = cells
        .iter()
        .map(|(name, _)| TagColumn::parse(name).unwrap());
    let (_, slug) = cells.iter().find(|(name, _)| *name == "slug").unwrap();
    let read = cells.iter().map(|(_, cell)| Cell::decode(cell));
    Arc::new(ImportRow {
        slug: Slug::parse(slug).unwrap(),
        named: true,
        row: TagRow::new(columns.collect(), read.collect()),
        new_name: String::new(),
        add_variables: false,
        inlay: None,
    })
}

fn bottles(numbers: std::ops::Range<usize>) -> Vec<Arc<ImportRow>> {
    let slug = |number| format!("bottle-{number:04}");
    numbers
        .map(|number| {
            row(&[
                ("slug", &slug(number)),
                ("name", &slug(number)),
                ("variable:a", ""),
            ])
        })
        .collect()
}

async fn all<B: Backend>(db: &Database<B>) -> Vec<Tag> {
    let list = TagList {
        filter: TagFilter::default(),
        order: TagOrder::Created,
        after: None,
        limit: 1_000,
    };
    let tags = db.tags(list).await.unwrap().into_iter();
    tags.map(|(tag, _)| tag).collect()
}

async fn staged<B: Backend>(db: &Database<B>, rows: Vec<Arc<ImportRow>>) -> ImportId {
    let import = db.begin_import().await.unwrap();
    for rows in rows.chunks(ROWS_AT_ONCE) {
        let staged = db.stage_rows(import, rows.to_vec(), true).await.unwrap();
        assert!(staged.iter().all(Result::is_ok), "{staged:?}");
    }
    import
}

pub(crate) async fn each_row_with_a_result_is_stored_and_no_other<B: Backend>(db: Database<B>) {
    let mut rest = bottles(0..250);
    let mut stored = 0;
    while !rest.is_empty() {
        let results = db.import_tags(rest.clone(), false).await.unwrap();
        assert!(results.iter().all(Result::is_ok), "{results:?}");
        assert!(results.len() >= ROWS_AT_ONCE.min(rest.len()), "it goes on");
        stored += results.len();
        rest.drain(..results.len());
        assert_eq!(all(&db).await.len(), stored);
    }
    let tags = all(&db).await;
    let slugs: Vec<_> = tags.iter().map(|tag| tag.fields.slug.as_str()).collect();
    assert!(slugs.len() == 250 && slugs.is_sorted(), "{slugs:?}");
}

pub(crate) async fn rows_become_tags_a_hundred_at_a_time_in_their_order<B: Backend>(
    db: Database<B>,
) {
    let import = staged(&db, bottles(0..250)).await;
    assert!(all(&db).await.is_empty(), "nothing is decided");
    db.decide_import(import).await.unwrap();
    let mut sizes = Vec::new();
    let mut places = Vec::new();
    loop {
        let applied = db.apply_import(import).await.unwrap();
        sizes.push(applied.len());
        places.extend(applied.iter().map(|(place, _)| *place));
        assert_eq!(all(&db).await.len(), places.len(), "each piece is there");
        if applied.is_empty() {
            break;
        }
    }
    assert_eq!(sizes, [100, 100, 50, 0]);
    assert!(places.into_iter().eq(0..250));
    let tags = all(&db).await;
    let slugs: Vec<_> = tags.iter().map(|tag| tag.fields.slug.as_str()).collect();
    assert!(slugs.is_sorted());
    assert_eq!(tags[0].fields.variables.get("a"), Some(""));
    db.clock.advance(LEFT_AFTER);
    assert_eq!(db.abandoned_imports().await.unwrap(), []);
}

pub(crate) async fn what_is_not_decided_leaves_nothing<B: Backend>(mut db: Database<B>) {
    let import = staged(&db, bottles(0..150)).await;
    db.crash().await;
    db.clock.advance(LEFT_AFTER);
    assert_eq!(db.abandoned_imports().await.unwrap(), [(import, false)]);
    finish_import(db.storage(), import, false).await.unwrap();
    assert_eq!(db.abandoned_imports().await.unwrap(), []);
    assert!(all(&db).await.is_empty());
    let again = db.import_tags(bottles(0..1), false).await.unwrap();
    assert!(again[0].is_ok(), "its slug is free: {again:?}");

    // A client that was only slow gets the reason.
    for refused in [
        db.stage_rows(import, bottles(1..2), false).await.err(),
        db.decide_import(import).await.err(),
    ] {
        let given_up = matches!(
            refused,
            Some(StorageError::Conflict(Conflict::ImportGivenUp))
        );
        assert!(given_up, "{refused:?}");
    }
}

pub(crate) async fn what_is_decided_is_finished_after_a_crash<B: Backend>(mut db: Database<B>) {
    let import = staged(&db, bottles(0..250)).await;
    db.decide_import(import).await.unwrap();
    db.apply_import(import).await.unwrap();
    db.crash().await;
    assert_eq!(all(&db).await.len(), 100);
    db.clock.advance(LEFT_AFTER);
    assert_eq!(db.abandoned_imports().await.unwrap(), [(import, true)]);
    finish_import(db.storage(), import, true).await.unwrap();
    assert_eq!(all(&db).await.len(), 250);
    assert_eq!(db.abandoned_imports().await.unwrap(), []);
    assert_eq!(db.apply_import(import).await.unwrap(), []);
}

pub(crate) async fn what_an_import_needs_nobody_else_gets<B: Backend>(db: Database<B>) {
    let experience = db.experience("landing").await;
    let mut with_inlay = (*row(&[
        ("slug", "bottle-0001"),
        ("name", "x"),
        ("experience_id", &experience.to_string()),
    ]))
    .clone();
    with_inlay.inlay = Some(inlay(1, None));
    let import = staged(&db, vec![Arc::new(with_inlay)]).await;

    let tag = tag_fields(json!({"slug": "bottle-0001"}));
    let reserved = Conflict::SlugInImport("bottle-0001".to_owned());
    let inserted = db.insert_tags(vec![tag], false).await.unwrap();
    assert_eq!(inserted[0], Err(reserved.clone()));
    let checked = db.check_rows(bottles(1..2), false).await.unwrap();
    assert_eq!(checked, [Err(reserved)]);
    let uid = inlay(1, None).uid.to_string();
    let inserted = db.insert_inlay(inlay(1, None)).await;
    let reserved = matches!(&inserted, Err(StorageError::Conflict(Conflict::UidInImport(taken))) if *taken == uid);
    assert!(reserved, "{inserted:?}");
    let deleted = db.delete_experience(experience).await;
    assert!(
        matches!(deleted, Err(StorageError::Conflict(Conflict::InUse(_)))),
        "{deleted:?}"
    );

    db.decide_import(import).await.unwrap();
    let applied = db.apply_import(import).await.unwrap();
    let (_, imported) = &applied[0];
    let stored = db.inlay(imported.inlay.unwrap()).await.unwrap().unwrap();
    assert_eq!(stored.fields, inlay(1, Some(imported.tag)).fields);
}

pub(crate) async fn what_happens_to_a_tag_meanwhile_is_not_lost<B: Backend>(db: Database<B>) {
    let tag = db.registrable("bottle-0001", json!({"title": "Old"})).await;
    let gone = db.tag(json!({"slug": "bottle-0002"})).await;
    let rows = ["bottle-0001", "bottle-0002"]
        .map(|slug| row(&[("slug", slug), ("title", "New"), ("variable:new", "")]));
    let checked = db.check_rows(rows.to_vec(), true).await.unwrap();
    let expected = Staged {
        slug: Slug::parse("bottle-0001").unwrap(),
        put: Put::Set,
        deleted: Vec::new(),
        kept: None,
    };
    assert_eq!(checked[0], Ok(expected));
    let import = staged(&db, rows.to_vec()).await;
    db.decide_import(import).await.unwrap();
    let tapped = db.tap(Tap::of(tag)).await;
    db.update_variables(tapped.update("yes")).await.unwrap();
    db.change_tags(vec![gone], TagChange::Delete).await.unwrap();
    finish_import(db.storage(), import, true).await.unwrap();
    assert_eq!(db.registered(tag).await, "yes");
    assert_eq!(
        db.storage().tag(tag).await.unwrap().unwrap().fields.title,
        "New"
    );
    assert_eq!(
        db.storage().tag(gone).await.unwrap(),
        None,
        "deleted, and changed"
    );
    db.change_tags(vec![gone], TagChange::Restore)
        .await
        .unwrap();
    assert_eq!(
        db.storage().tag(gone).await.unwrap().unwrap().fields.title,
        "New"
    );
}
