//! The chips of a run, with their last results.

use crate::StorageError;
use crate::shared::{Query, encodings};
use crate::value::{Row, values};
use domain::id::EncodingRunId;
use encoding::StateWord;
use encoding::run::RunRow;

/// The chips of a run; `None` if there is no such run.
pub(super) async fn rows(
    db: &mut dyn Query,
    id: EncodingRunId,
) -> Result<Option<Vec<RunRow>>, StorageError> {
    if super::run(db, id).await?.is_none() {
        return Ok(None);
    }
    // The newest encoding of each chip in the run, and whether the chip was wiped since.
    let sql = "SELECT t.position, e.tag_id, g.slug, g.name, e.id, e.uid, \
            EXISTS (SELECT 1 FROM encodings n WHERE n.uid = e.uid AND n.id > e.id AND n.state = 'reset'), \
            e.state, e.reason, e.outcome, e.generation, e.updated_at \
        FROM encodings e \
        LEFT JOIN encoding_run_tags t ON t.run_id = e.run_id AND t.uid = e.uid \
        LEFT JOIN tags g ON g.id = e.tag_id \
        WHERE e.run_id = ?1 \
            AND NOT EXISTS (SELECT 1 FROM encodings n WHERE n.uid = e.uid AND n.run_id = e.run_id AND n.id > e.id) \
        ORDER BY e.id";
    let found = db.query(sql, &values![id]).await?;
    let rows = found.into_iter().map(row);
    rows.collect::<Result<_, _>>().map(Some)
}

fn row(mut row: Row) -> Result<RunRow, StorageError> {
    let (position, tag_id) = (row.take()?, row.take()?);
    let (slug, name) = (row.take()?, row.take()?);
    let (encoding_id, uid) = (row.take()?, row.take()?);
    let is_wiped: bool = row.take()?;
    let state = encodings::read_state(&mut row)?;
    let generation: Option<u32> = row.take()?;
    let outcome = state.outcome();
    Ok(RunRow {
        position,
        tag_id,
        slug,
        name,
        encoding_id,
        uid,
        technology: outcome.and_then(|outcome| outcome.technology),
        mode: outcome.and_then(|outcome| outcome.mode),
        state: if is_wiped {
            StateWord::Reset
        } else {
            state.word()
        },
        reason: state.reason(),
        generation: generation.and_then(|number| number.try_into().ok()),
        counter: outcome.map(|outcome| outcome.counter),
        at: row.take()?,
    })
}
