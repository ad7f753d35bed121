//! Checks the effect of rows, and the reasons against them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::imports::Seen;
use crate::shared::{Query, inlays, tags};
use crate::tags::SlugOwner;
use crate::{Conflict, ImportRow, StorageError};
use domain::id::TagId;
use domain::tag::Tag;

/// The effect of each row, or the conflict that stops it.
pub(super) async fn look(
    db: &mut dyn Query,
    rows: &[Arc<ImportRow>],
    upsert: bool,
) -> Result<Vec<Result<Seen, Conflict>>, StorageError> {
    let slugs: Vec<&str> = rows.iter().map(|row| row.slug.as_str()).collect();
    let known = tags::owners(db, &slugs).await?;
    let owners = owners(db, rows, &known).await?;
    let seen = rows.iter().map(|row| {
        let owner = row.named.then(|| owners.get(row.slug.as_str())).flatten();
        see(row, owner, upsert)
    });
    let mut seen: Vec<_> = seen.collect();
    let fields: Vec<_> = seen.iter().flatten().map(|seen| &seen.fields).collect();
    // A tag that a row changes may have another slug than the row, but nobody else has that one.
    let mut taken = tags::Taken::beside(db, known, &fields).await?;
    let good = rows.iter().zip(&seen).filter(|(_, seen)| seen.is_ok());
    let new: Vec<_> = good.filter_map(|(row, _)| row.inlay.as_ref()).collect();
    let mut taken_uids = inlays::Taken::look(db, &new).await?;
    for (row, seen) in rows.iter().zip(&mut seen) {
        let Ok(good) = seen else { continue };
        let itself = good.changes.as_ref().map(|(id, before)| (*id, before));
        let tag = itself.map(|(id, _)| id);
        let taken = taken.take(&good.fields, itself);
        let kept = taken.and_then(|()| match &row.inlay {
            Some(inlay) => taken_uids.keep_or_take(inlay, tag),
            None => Ok(None),
        });
        match kept {
            Ok(kept) => good.kept = kept,
            Err(conflict) => *seen = Err(conflict),
        }
    }
    Ok(seen)
}

/// The effect of `row` if `owner` has its slug. It does not check other reasons against the row.
fn see(row: &ImportRow, owner: Option<&Owner>, upsert: bool) -> Result<Seen, Conflict> {
    let Some((slug, tag, is_deleted)) = owner else {
        let (fields, changes) = (row.create()?, None);
        return Ok(Seen {
            fields,
            changes,
            kept: None,
        });
    };
    if !upsert || tag.simulated || *is_deleted {
        return Err(slug.refuses(&row.slug));
    }
    Ok(Seen {
        fields: row.change(&tag.fields)?,
        changes: Some((tag.id, tag.fields.clone())),
        kept: None,
    })
}

/// The owner of a slug, its tag, and whether the tag is deleted.
type Owner = (SlugOwner, Tag, bool);

/// The tags that own the slugs which the rows name. `known` has the owners of all slugs.
async fn owners(
    db: &mut dyn Query,
    rows: &[Arc<ImportRow>],
    known: &HashMap<String, SlugOwner>,
) -> Result<HashMap<String, Owner>, StorageError> {
    let named = rows.iter().filter(|row| row.named);
    let owners = named.filter_map(|row| {
        let slug = row.slug.as_str();
        Some((slug.to_owned(), *known.get(slug)?))
    });
    let owners: HashMap<String, SlugOwner> = owners.collect();
    if owners.is_empty() {
        return Ok(HashMap::new());
    }
    let ids: BTreeSet<TagId> = owners.values().filter_map(|owner| owner.tag).collect();
    let ids: Vec<TagId> = ids.into_iter().collect();
    let tags = tags::whole(db, &ids).await?.into_iter();
    let tags: HashMap<TagId, (Tag, bool)> = tags
        .map(|(tag, deleted)| (tag.id, (tag, deleted)))
        .collect();
    let owners = owners.into_iter().filter_map(|(slug, owner)| {
        let (tag, deleted) = tags.get(&owner.tag?)?.clone();
        Some((slug, (owner, tag, deleted)))
    });
    Ok(owners.collect())
}
