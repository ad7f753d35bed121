//! Variables that an experience's page writes and its tags lack.

use rusqlite::Connection;

use crate::id::ExperienceId;
use crate::storage::sqlite::writer::Write;
use crate::storage::{Conflict, MissingVariables, StorageError};
use crate::tag::{InvalidProperty, PROPERTIES_MAX, PropertyKey};

/// Each lacking variable of each tag in use: `?1` the experience, `?2` the keys as a JSON list.
const LACKING: &str = "FROM tags t JOIN json_each(?2) k
    WHERE t.experience_id = ?1 AND t.deleted_at IS NULL AND t.status = 'active'
      AND NOT EXISTS (SELECT 1 FROM properties p
                      WHERE p.tag_id = t.id AND p.class = 'variable' AND p.key = k.value)";

fn list(keys: &[PropertyKey]) -> String {
    let keys: Vec<&str> = keys.iter().map(PropertyKey::as_str).collect();
    serde_json::json!(keys).to_string()
}

pub(super) fn variables(
    connection: &Connection,
    experience: ExperienceId,
    keys: &[PropertyKey],
) -> Result<MissingVariables, StorageError> {
    let keys = list(keys);
    let mut missing = MissingVariables::default();
    let mut statement = connection.prepare_cached(&format!(
        "SELECT DISTINCT k.value {LACKING} ORDER BY k.value"
    ))?;
    let mut rows = statement.query((experience.0, &keys))?;
    while let Some(row) = rows.next()? {
        let key: String = row.get(0)?;
        missing.keys.extend(PropertyKey::parse(&key));
    }
    let tags: i64 = connection
        .prepare_cached(&format!("SELECT count(DISTINCT t.id) {LACKING}"))?
        .query_row((experience.0, &keys), |row| row.get(0))?;
    missing.tags = tags.unsigned_abs();
    Ok(missing)
}

pub(super) fn add(
    write: &mut Write<'_>,
    experience: ExperienceId,
    keys: &[PropertyKey],
    limit: usize,
) -> Result<u64, StorageError> {
    let keys = list(keys);
    let connection = write.connection;
    let tags: Vec<i64> = connection
        .prepare_cached(&format!("SELECT DISTINCT t.id {LACKING} LIMIT ?3"))?
        .query_map((experience.0, &keys, limit), |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO properties (tag_id, class, key, value) SELECT ?1, 'variable', value, '' FROM json_each(?2)
         WHERE true ON CONFLICT DO NOTHING",
    )?;
    let mut count = connection.prepare_cached(
        "SELECT count(*) FROM properties WHERE tag_id = ?1 AND class = 'variable'",
    )?;
    for tag in &tags {
        insert.execute((tag, &keys))?;
        let present: usize = count.query_row([tag], |row| row.get(0))?;
        if present > PROPERTIES_MAX {
            return Err(Conflict::Invalid(InvalidProperty::TooMany.to_string()).into());
        }
        super::touch(write, crate::id::TagId(*tag))?;
    }
    Ok(tags.len() as u64)
}
