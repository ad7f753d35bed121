//! Tags that can still get an inlay, for encoding runs and factory orders.

use std::collections::{HashMap, HashSet};

use super::Query;
use crate::value::{Value, values};
use crate::{Conflict, StorageError};
use domain::id::TagId;

/// The indexes in `tags` of tags without an inlay, each tag once, in their order.
///
/// # Errors
///
/// [`Conflict::MissingInList`] for the first tag that does not exist or is deleted, and
/// [`Conflict::OtherWorld`] for a simulated tag: no real chip is encoded for it.
pub(super) async fn free_tags(
    db: &mut dyn Query,
    tags: &[TagId],
) -> Result<Vec<usize>, StorageError> {
    let sql = "SELECT t.id, t.simulated, \
            EXISTS (SELECT 1 FROM inlays i WHERE i.tag_id = t.id AND i.deleted_at IS NULL) \
        FROM tags t WHERE t.id IN ids(?1) AND t.deleted_at IS NULL";
    let found = db.query(sql, &values![Value::list(tags)]).await?;
    let mut has_inlay: HashMap<TagId, bool> = HashMap::with_capacity(found.len());
    for mut row in found {
        let tag = row.take()?;
        if row.take()? {
            let simulated = false;
            return Err(Conflict::OtherWorld { tag, simulated }.into());
        }
        has_inlay.insert(tag, row.take()?);
    }
    let mut seen = HashSet::with_capacity(tags.len());
    let mut free = Vec::with_capacity(tags.len());
    for (place, tag) in tags.iter().enumerate() {
        match has_inlay.get(tag) {
            None => {
                let field = format!("tag_ids[{place}]").into();
                let (noun, id) = ("tag", tag.get());
                return Err(Conflict::MissingInList { field, noun, id }.into());
            }
            Some(false) if seen.insert(tag) => free.push(place),
            Some(_) => {}
        }
    }
    Ok(free)
}
