//! Making rows what they come to.

use crate::id::TagId;
use crate::inventory::NewInlay;
use crate::storage::plane::webhooks::outbox;
use crate::storage::plane::{Transaction, inlays, tags};
use crate::storage::value::unreadable;
use crate::storage::{Conflict, Imported, Put, StorageError};
use crate::tag::{TagFields, TagRow, deleted};

/// What is to be done for a row.
pub(super) struct Work<'a> {
    tag: Target<'a>,
    /// Its new inlay, on its tag.
    inlay: Option<NewInlay>,
}

enum Target<'a> {
    /// A new tag.
    New(Box<TagFields>),
    /// A tag that is there. If it is checked, it must break no rule afterwards.
    Present {
        id: TagId,
        row: &'a TagRow,
        checked: bool,
    },
}

impl<'a> Work<'a> {
    /// A new tag.
    pub(super) fn insert(fields: TagFields, inlay: Option<NewInlay>) -> Self {
        let tag = Target::New(Box::new(fields));
        Self { tag, inlay }
    }

    /// A change of a tag, which is refused if the tag would break a rule.
    pub(super) fn change(id: TagId, row: &'a TagRow, inlay: Option<NewInlay>) -> Self {
        let checked = true;
        let tag = Target::Present { id, row, checked };
        Self { tag, inlay }
    }

    /// A change of a tag that was decided before.
    pub(super) fn apply(id: TagId, row: &'a TagRow, inlay: Option<NewInlay>) -> Self {
        let checked = false;
        let tag = Target::Present { id, row, checked };
        Self { tag, inlay }
    }
}

/// A row's tag went missing on the way.
pub(super) fn lost() -> StorageError {
    unreadable("tag")
}

/// Does the work for some rows, in their order.
pub(super) async fn make(
    tx: &mut dyn Transaction,
    work: Vec<Work<'_>>,
) -> Result<Vec<Result<Imported, Conflict>>, StorageError> {
    let new = work.iter().filter_map(|work| match &work.tag {
        Target::New(fields) => Some(&**fields),
        Target::Present { .. } => None,
    });
    let new: Vec<_> = new.collect();
    let all_new = new.len() == work.len();
    let mut new = tags::insert_rows(tx, &new, false).await?.into_iter();
    let mut results: Vec<Result<Imported, Conflict>> = Vec::with_capacity(work.len());
    let mut inlays = Vec::new();
    for Work { tag, inlay } in work {
        let (tag, slug, put, deleted) = match tag {
            Target::New(fields) => {
                let tag = new.next().ok_or_else(lost)?;
                (tag, fields.slug, Put::New, Vec::new())
            }
            Target::Present { id, row, checked } => {
                // It may have been deleted since: then it is deleted, and changed.
                let (before, _) = tags::locked(tx, id).await?.ok_or_else(lost)?;
                let before = before.fields;
                let after = if checked {
                    match row.change(before.clone()) {
                        Ok(after) => after,
                        // An earlier row changed the same tag.
                        Err(why) => {
                            results.push(Err(why.into()));
                            continue;
                        }
                    }
                } else {
                    row.apply(before.clone()).map_err(StorageError::Failed)?
                };
                tags::update_row(tx, id, &before, &after).await?;
                let deleted = deleted(&before, &after);
                (id, after.slug, Put::Set, deleted)
            }
        };
        if let Some(inlay) = inlay {
            inlays.push((results.len(), inlay.on(tag)));
        }
        results.push(Ok(Imported {
            tag,
            slug,
            put,
            inlay: None,
            deleted,
        }));
    }
    let put: Vec<_> = inlays.iter().map(|(_, inlay)| inlay).collect();
    let ids = inlays::put_all(tx, &put, all_new).await?;
    for ((place, _), id) in inlays.iter().zip(ids) {
        if let Ok(imported) = &mut results[*place] {
            imported.inlay = Some(id);
        }
    }
    let written: Vec<_> = results
        .iter()
        .flatten()
        .map(|imported| imported.tag)
        .collect();
    tags::index(tx, &written).await?;
    let set = results.iter().flatten();
    let set = set.filter(|imported| imported.put == Put::Set);
    let set: Vec<_> = set.map(|imported| imported.tag).collect();
    outbox::tell_tags_updated(tx, &set).await?;
    Ok(results)
}
