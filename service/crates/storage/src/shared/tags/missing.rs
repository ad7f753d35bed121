//! Variables that an experience's page writes and its tags do not have.

use std::collections::{BTreeSet, HashMap};

use crate::shared::{self, Query, Transaction, callers, groups};
use crate::value::{Value, values};
use crate::{Invalid, MissingVariables, StorageError};
use domain::id::{ExperienceId, TagId};
use domain::tag::{InvalidProperty, PROPERTIES_MAX, PropertyKey};

/// The condition for tags in use with the experience ?1.
fn in_use(db: &dyn Query) -> String {
    let leads_to = groups::leads_to(db.dialect(), "t.", "?1");
    format!("{leads_to} AND t.deleted_at IS NULL AND t.status = 'active'")
}

/// How many of the variables ?2 a tag has.
const PRESENT: &str = "(SELECT count(*) FROM properties p \
    WHERE p.tag_id = t.id AND p.class = 'variable' AND p.key IN texts(?2))";

/// The keys as a set, so that each counts once.
fn distinct(keys: &[PropertyKey]) -> BTreeSet<&str> {
    keys.iter().map(PropertyKey::as_str).collect()
}

pub(super) async fn variables(
    db: &mut dyn Query,
    experience: ExperienceId,
    keys: &[PropertyKey],
) -> Result<MissingVariables, StorageError> {
    let wanted = distinct(keys);
    let list = Value::list(&wanted);
    let in_use = in_use(db);
    let sql = format!("SELECT count(*) FROM tags t WHERE {in_use}");
    let tags_in_use = db.count(&sql, &values![experience]).await?;
    let sql = format!(
        "SELECT p.key, count(*) FROM tags t
         JOIN properties p ON p.tag_id = t.id AND p.class = 'variable' AND p.key IN texts(?2)
         WHERE {in_use} GROUP BY p.key"
    );
    let mut present = HashMap::new();
    for mut row in db.query(&sql, &[experience.into(), list.clone()]).await? {
        present.insert(row.take::<String>()?, row.take::<u64>()?);
    }
    let sql = format!("SELECT count(*) FROM tags t WHERE {in_use} AND {PRESENT} < ?3");
    let lacking = values![experience, list, wanted.len() as u64];
    let tags = db.count(&sql, &lacking).await?;
    let lacked = wanted
        .into_iter()
        .filter(|key| present.get(*key).copied().unwrap_or_default() < tags_in_use);
    Ok(MissingVariables {
        keys: lacked
            .filter_map(|key| PropertyKey::parse(key).ok())
            .collect(),
        tags,
    })
}

pub(super) async fn add(
    tx: &mut dyn Transaction,
    experience: ExperienceId,
    keys: &[PropertyKey],
    limit: usize,
) -> Result<u64, StorageError> {
    let wanted = distinct(keys);
    let reached = callers::tags(tx.reach(), "t.");
    let in_use = in_use(tx);
    let sql = format!(
        "SELECT t.id FROM tags t WHERE {in_use}{reached} AND {PRESENT} < ?3 ORDER BY t.id LIMIT ?4"
    );
    let (list, number) = (Value::list(&wanted), wanted.len() as u64);
    let values = values![experience, list, number, Value::limit(limit)];
    let tags = tx.query(&sql, &values).await?.into_iter();
    let tags: Vec<TagId> = tags.map(|mut row| row.take()).collect::<Result<_, _>>()?;
    let rows = tags.iter().flat_map(|tag| {
        let keys = wanted.iter();
        keys.map(|key| values![*tag, "variable", *key, ""].into())
    });
    let columns = ["tag_id", "class", "key", "value"];
    let present = "ON CONFLICT (tag_id, class, key) DO NOTHING";
    shared::insert_rows(tx, "properties", &columns, rows.collect(), present).await?;
    let full = "SELECT tag_id FROM properties WHERE tag_id IN ids(?1) AND class = 'variable'
         GROUP BY tag_id HAVING count(*) > ?2 LIMIT 1";
    let most = PROPERTIES_MAX as u64;
    if tx.exists(full, &values![Value::list(&tags), most]).await? {
        return Err(Invalid::from(InvalidProperty::TooMany).into());
    }
    let sql = "UPDATE tags SET updated_at = ?2 WHERE id IN ids(?1)";
    let now = tx.now();
    tx.execute(sql, &values![Value::list(&tags), now]).await?;
    Ok(tags.len() as u64)
}
