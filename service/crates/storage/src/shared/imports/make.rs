//! Applies rows: creates and changes tags, and inserts inlays.

use std::collections::BTreeMap;

use crate::shared::webhooks::outbox;
use crate::shared::{Transaction, inlays, tags};
use crate::value::unreadable;
use crate::{Conflict, Imported, Put, StorageError};
use domain::id::TagId;
use domain::inventory::NewInlay;
use domain::tag::{TagFields, TagRow, deleted, former_cells};

/// The work for one row.
pub(super) struct Work<'a> {
    tag: RowTag<'a>,
    /// The new inlay for the row's tag.
    inlay: Option<NewInlay>,
}

enum RowTag<'a> {
    /// A tag to create with these fields.
    New(Box<TagFields>),
    /// An existing tag. If it is checked, it must break no rule afterwards.
    Present {
        id: TagId,
        row: &'a TagRow,
        checked: bool,
    },
}

impl<'a> Work<'a> {
    /// The work that creates a tag.
    pub(super) fn insert(fields: TagFields, inlay: Option<NewInlay>) -> Self {
        let tag = RowTag::New(Box::new(fields));
        Self { tag, inlay }
    }

    /// The work that changes a tag, and is refused if the tag would then break a rule.
    pub(super) fn change(id: TagId, row: &'a TagRow, inlay: Option<NewInlay>) -> Self {
        let checked = true;
        let tag = RowTag::Present { id, row, checked };
        Self { tag, inlay }
    }

    /// The work that changes a tag by a row whose import was decided before.
    pub(super) fn apply(id: TagId, row: &'a TagRow, inlay: Option<NewInlay>) -> Self {
        let checked = false;
        let tag = RowTag::Present { id, row, checked };
        Self { tag, inlay }
    }
}

/// The error for a row whose tag disappeared meanwhile.
pub(super) fn lost() -> StorageError {
    unreadable("tag")
}

/// Does the work for some rows, in their order. With `add_variables`, tags that are assigned to an
/// experience get the variables that its page writes.
pub(super) async fn make(
    tx: &mut dyn Transaction,
    mut work: Vec<Work<'_>>,
    add_variables: bool,
) -> Result<Vec<Result<Imported, Conflict>>, StorageError> {
    let mut written = tags::Written::default();
    let mut added_to_new = Vec::new();
    for work in &mut work {
        if let RowTag::New(fields) = &mut work.tag {
            written.predefine(tx, fields).await?;
            let added = if add_variables {
                written.fill(tx, fields).await?.len()
            } else {
                0
            };
            added_to_new.push(added);
        }
    }
    let mut added_to_new = added_to_new.into_iter();
    let new = work.iter().filter_map(|work| match &work.tag {
        RowTag::New(fields) => Some(&**fields),
        RowTag::Present { .. } => None,
    });
    let new: Vec<_> = new.collect();
    let all_new = new.len() == work.len();
    let mut new = tags::insert_rows(tx, &new, false).await?.into_iter();
    let mut results: Vec<Result<Imported, Conflict>> = Vec::with_capacity(work.len());
    let (mut inlays, mut added, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for Work { tag, inlay } in work {
        let mut variables_added = 0;
        let (tag, slug, put, deleted, before) = match tag {
            RowTag::New(fields) => {
                let tag = new.next().ok_or_else(lost)?;
                added.push(tag);
                variables_added = added_to_new.next().unwrap_or_default();
                (tag, fields.slug, Put::New, Vec::new(), BTreeMap::new())
            }
            RowTag::Present { id, row, checked } => {
                // The tag may have been deleted meanwhile: it stays deleted, but is still changed.
                let (before, _) = tags::locked(tx, id).await?.ok_or_else(lost)?;
                let before = before.fields;
                let mut after = if checked {
                    match row.change(before.clone()) {
                        Ok(after) => after,
                        // An earlier row changed the same tag, so that this row now breaks a rule.
                        Err(why) => {
                            results.push(Err(why.into()));
                            continue;
                        }
                    }
                } else {
                    let after = row.apply(before.clone());
                    after.map_err(|why| StorageError::Failed(why.message))?
                };
                let leads = |tag: &TagFields| (tag.experience_id, tag.group_id);
                if add_variables && leads(&after) != leads(&before) {
                    variables_added = written.fill(tx, &mut after).await?.len();
                }
                if tags::update_row(tx, id, &before, &after).await? {
                    texts.push(id);
                }
                let deleted = deleted(&before, &after);
                let former = former_cells(&before, &after);
                (id, after.slug, Put::Set, deleted, former)
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
            kept: None,
            deleted,
            before,
            variables_added,
        }));
    }
    let put: Vec<_> = inlays.iter().map(|(_, inlay)| inlay).collect();
    let ids = inlays::put_all(tx, &put, all_new).await?;
    for ((place, _), id) in inlays.iter().zip(ids) {
        if let Ok(imported) = &mut results[*place] {
            imported.inlay = Some(id);
        }
    }
    tags::index_new(tx, &added).await?;
    tags::index(tx, &texts).await?;
    let set = results.iter().flatten();
    let set = set.filter(|imported| imported.put == Put::Set);
    let set: Vec<_> = set.map(|imported| imported.tag).collect();
    outbox::tell_tags_updated(tx, &set).await?;
    Ok(results)
}
