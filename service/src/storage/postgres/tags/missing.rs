//! Variables that an experience's page writes and its tags lack.

use crate::id::ExperienceId;
use crate::storage::postgres::row::{self, column};
use crate::storage::postgres::session::Session;
use crate::storage::postgres::transaction::Write;
use crate::storage::{Conflict, MissingVariables, StorageError};
use crate::tag::{InvalidProperty, PROPERTIES_MAX, PropertyKey};

/// Each lacking variable of each tag in use: `$1` the experience, `$2` the keys.
const LACKING: &str = "FROM tags t CROSS JOIN unnest($2::TEXT[]) AS k (key)
    WHERE t.experience_id = $1 AND t.deleted_at IS NULL AND t.status = 'active'
      AND NOT EXISTS (SELECT FROM properties p
                      WHERE p.tag_id = t.id AND p.class = 'variable' AND p.key = k.key)";

fn list(keys: &[PropertyKey]) -> Vec<&str> {
    keys.iter().map(PropertyKey::as_str).collect()
}

pub(super) async fn variables(
    session: &Session,
    experience: ExperienceId,
    keys: &[PropertyKey],
) -> Result<MissingVariables, StorageError> {
    let keys = list(keys);
    let named = format!("SELECT DISTINCT k.key {LACKING} ORDER BY k.key");
    let rows = session.rows(&named, &[&experience.0, &keys]).await?;
    let mut missing = MissingVariables::default();
    for found in &rows {
        missing.keys.extend(PropertyKey::parse(column(found, 0)?));
    }
    let counted = format!("SELECT count(DISTINCT t.id) {LACKING}");
    let tags = session.one(&counted, &[&experience.0, &keys]).await?;
    missing.tags = row::count(&tags)?;
    Ok(missing)
}

pub(super) async fn add(
    write: &mut Write,
    experience: ExperienceId,
    keys: &[PropertyKey],
    limit: usize,
) -> Result<u64, StorageError> {
    let keys = list(keys);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let found = format!("SELECT DISTINCT t.id {LACKING} ORDER BY t.id LIMIT $3");
    let rows = write.rows(&found, &[&experience.0, &keys, &limit]).await?;
    let tags: Vec<i64> = rows
        .iter()
        .map(|row| column(row, 0))
        .collect::<Result<_, _>>()?;
    write
        .run(
            "INSERT INTO properties (tag_id, class, key, value)
             SELECT t, 'variable', k, '' FROM unnest($1::BIGINT[]) AS t CROSS JOIN unnest($2::TEXT[]) AS k
             ON CONFLICT DO NOTHING",
            &[&tags, &keys],
        )
        .await?;
    let full = write
        .one(
            "SELECT count(*) FROM (SELECT FROM properties WHERE tag_id = ANY ($1) AND class = 'variable'
                                   GROUP BY tag_id HAVING count(*) > $2) AS full_tags",
            &[&tags, &i64::try_from(PROPERTIES_MAX).unwrap_or(i64::MAX)],
        )
        .await?;
    if row::count(&full)? > 0 {
        return Err(Conflict::Invalid(InvalidProperty::TooMany.to_string()).into());
    }
    write
        .run(
            "UPDATE tags SET updated_at = $2 WHERE id = ANY ($1)",
            &[&tags, &write.now.millis()],
        )
        .await?;
    Ok(tags.len() as u64)
}
