//! The list of unlisted chips.

use crate::shared::Query;
use crate::value::{Row, Value};
use crate::{StorageError, UnlistedFilter};
use domain::inventory::{KeyPrints, UnlistedChip};
use inlay::Technology;

fn conditions(filter: UnlistedFilter) -> (String, Vec<Value<'static>>) {
    let mut sql = "TRUE".to_owned();
    let mut values = Vec::new();
    let equal = [
        ("url_template_id", filter.url_template_id.into()),
        ("uid", filter.uid.into()),
    ];
    for (column, value) in equal {
        if value != Value::Null {
            values.push(value);
            sql = format!("{sql} AND {column} = ?{}", values.len());
        }
    }
    (sql, values)
}

/// How many chips match the filter.
pub(super) async fn count(db: &mut dyn Query, filter: UnlistedFilter) -> Result<u64, StorageError> {
    let (conditions, values) = conditions(filter);
    let sql = format!("SELECT count(*) FROM unlisted_chips WHERE {conditions}");
    db.count(&sql, &values).await
}

/// Chips before the one with the number `after`, the newest first.
pub(super) async fn list(
    db: &mut dyn Query,
    filter: UnlistedFilter,
    after: Option<i64>,
    limit: usize,
) -> Result<Vec<UnlistedChip>, StorageError> {
    let (mut conditions, mut values) = conditions(filter);
    if let Some(after) = after {
        values.push(after.into());
        conditions = format!("{conditions} AND id < ?{}", values.len());
    }
    values.push(Value::limit(limit));
    let sql = format!(
        "SELECT id, uid, url_template_id, technology, meta_key_print, file_key_print, last, first_seen_at,
             last_seen_at, taps FROM unlisted_chips WHERE {conditions} ORDER BY id DESC LIMIT ?{}",
        values.len()
    );
    let found = db.query(&sql, &values).await?.into_iter();
    found.map(chip).collect()
}

fn chip(mut row: Row) -> Result<UnlistedChip, StorageError> {
    Ok(UnlistedChip {
        number: row.take()?,
        uid: row.take()?,
        url_template_id: row.take()?,
        technology: row.text("technology", |name| name.parse::<Technology>().ok())?,
        keys: KeyPrints {
            meta: row.take()?,
            file: row.take()?,
        },
        last_counter: row.take()?,
        first_seen_at: row.take()?,
        last_seen_at: row.take()?,
        taps: row.take()?,
    })
}
