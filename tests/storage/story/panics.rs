//! Panicking operations. The test provides them: edits of a tag.

use serde_json::json;
use tapdesk_service::storage::{StorageError, TagEdit};

use crate::storage::backend::{Backend, Database, Tap, is_ready};

pub(crate) async fn an_operation_that_panics_fails_alone<B: Backend>(db: Database<B>) {
    let tag = db.tag(json!({})).await;
    for count in 1..=20 {
        let edit: TagEdit = Box::new(|_| panic!("a test's own panic"));
        let edited = db.edit_tag(tag, edit).await;
        assert!(matches!(edited, Err(StorageError::Panicked)), "{edited:?}");
        assert_eq!(db.metrics().panics(), count);
    }
    is_ready(&db).await;
    db.tap(Tap::of(tag)).await;
    let edit: TagEdit = Box::new(|mut fields| {
        "later".clone_into(&mut fields.title);
        Ok(fields)
    });
    db.edit_tag(tag, edit).await.unwrap();
    let tag = db.storage().tag(tag).await.unwrap().unwrap();
    assert_eq!((tag.scan_count, tag.fields.title.as_str()), (1, "later"));
}
