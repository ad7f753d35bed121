//! Lists of inlays: the SQL of their filters.

use super::{BOUND_COLUMNS, BOUND_FROM, COLUMNS, EXHAUSTED, FROM, carried, read};
use crate::shared::dialect::Dialect;
use crate::shared::{Query, callers};
use crate::value::Value;
use crate::{BoundInlay, InlayFilter, OtherInlays, StorageError, TagInlays};
use domain::id::{InlayId, TagId};
use domain::inventory::Inlay;
use domain::scope::Reach;
use inlay::Technology;

/// The condition that the inlay `i` is on a tag within reach, to append to a statement's
/// conditions.
fn reached(reach: &Reach) -> String {
    match callers::tags(reach, "t.") {
        condition if condition.is_empty() => condition,
        condition => {
            format!(" AND EXISTS (SELECT 1 FROM tags t WHERE t.id = i.tag_id{condition})")
        }
    }
}

/// The conditions of a filter for a caller with `reach`, for an alias `i`, and their values.
fn conditions<'f>(
    filter: &'f InlayFilter,
    dialect: Dialect,
    reach: &Reach,
) -> (String, Vec<Value<'f>>) {
    let mut sql = format!("i.deleted_at IS NULL{}", reached(reach));
    let mut values = Vec::new();
    let equal = [
        ("i.tag_id", filter.tag_id.into()),
        ("i.uid", filter.uid.into()),
        ("i.master_key_id", filter.master_key_id.into()),
        ("i.url_template_id", filter.url_template_id.into()),
        ("(i.tag_id IS NULL)", filter.unbound.into()),
        ("i.simulated", filter.simulated.into()),
        ("(i.blocked_at IS NOT NULL)", filter.blocked.into()),
        (
            "i.technology",
            filter.technology.map(Technology::as_str).into(),
        ),
        ("i.factory_keys", filter.factory_keys.into()),
        (EXHAUSTED.as_str(), filter.exhausted.into()),
    ];
    for (what, value) in equal {
        if value != Value::Null {
            values.push(value);
            sql = format!("{sql} AND {what} = ?{}", values.len());
        }
    }
    if let Some(part) = &filter.uid_part {
        values.push(part.into());
        let has_part = uid_part(dialect, values.len());
        sql = format!("{sql} AND {has_part}");
    }
    if let Some(tag_url) = &filter.carried_tag_url {
        values.push(tag_url.into());
        let carried = carried::by_inlay(dialect);
        sql = format!("{sql} AND {carried} = ?{}", values.len());
    }
    (sql, values)
}

/// The condition that the UID of an inlay `i` contains the hexadecimal digits in a parameter.
fn uid_part(dialect: Dialect, parameter: usize) -> String {
    match dialect {
        // Scans the whole index of UIDs, which is much smaller than the table.
        Dialect::Sqlite => {
            format!("i.id IN (SELECT n.id FROM inlays n WHERE instr(hex(n.uid), ?{parameter}) > 0)")
        }
        Dialect::Postgres => format!("strpos(upper(encode(i.uid, 'hex')), ?{parameter}) > 0"),
    }
}

pub(super) async fn page(
    db: &mut dyn Query,
    filter: &InlayFilter,
    after: Option<InlayId>,
    limit: usize,
) -> Result<Vec<Inlay>, StorageError> {
    let (conditions, mut values) = conditions(filter, db.dialect(), db.reach());
    values.extend([after.map_or(0, InlayId::get).into(), Value::limit(limit)]);
    let sql = format!(
        "SELECT {COLUMNS} FROM {FROM} WHERE {conditions} AND i.id > ?{} ORDER BY i.id LIMIT ?{}",
        values.len() - 1,
        values.len(),
    );
    let found = db.query(&sql, &values).await?;
    let found = found.into_iter();
    found.map(|mut row| read(db, &mut row)).collect()
}

pub(super) async fn count(db: &mut dyn Query, filter: &InlayFilter) -> Result<u64, StorageError> {
    let (conditions, values) = conditions(filter, db.dialect(), db.reach());
    // Only this filter reads counters: a count of all inlays needs no join.
    let from = if filter.exhausted.is_some() {
        FROM
    } else {
        "inlays i"
    };
    let sql = format!("SELECT count(*) FROM {from} WHERE {conditions}");
    db.count(&sql, &values).await
}

pub(super) async fn others(
    db: &mut dyn Query,
    which: OtherInlays,
    except: Option<TagId>,
) -> Result<Vec<BoundInlay>, StorageError> {
    let (condition, value) = match which {
        OtherInlays::Uid(uid) => ("AND i.uid = ?2", uid.into()),
        OtherInlays::Newest(limit) => ("ORDER BY i.id DESC LIMIT ?2", Value::limit(limit)),
    };
    let reached = reached(db.reach());
    let sql = format!(
        "SELECT {BOUND_COLUMNS} FROM {BOUND_FROM}
         WHERE i.tag_id IS DISTINCT FROM ?1 AND i.mirror IS NOT NULL AND i.deleted_at IS NULL{reached}
             {condition}"
    );
    let found = db.query(&sql, &[except.into(), value]).await?;
    let mut others = TagInlays::default();
    for row in found {
        others.add(row)?;
    }
    Ok(others.rolling)
}
