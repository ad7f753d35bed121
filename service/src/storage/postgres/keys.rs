//! Rolling keys when the database's clock goes back: nobody can tell then how
//! old a key is. Keys are expired for good, so that none comes back to life when the
//! clock gets there again.

use super::row::{column, time};
use super::session::Session;
use crate::clock::Timestamp;
use crate::storage::StorageError;

/// By how much a clock may go back without an effect, in milliseconds.
const UNFELT: i64 = 1_000;

/// Whether the clock went back between two looks at it.
pub(super) fn went_back(before: Timestamp, now: Timestamp) -> bool {
    before.millis_since(now) > UNFELT
}

/// Expires all keys.
pub(super) async fn expire(
    session: &Session,
    before: Timestamp,
    now: Timestamp,
) -> Result<(), StorageError> {
    session.one("SELECT expire_keys(false)", &[]).await?;
    tracing::warn!(
        "the database's clock ({now}) was at {before} before: \
         rolling keys issued until now count as expired"
    );
    Ok(())
}

/// What a start does: if the clock is behind the newest interaction, all
/// keys are expired; so are those of the simulated world if something is dated later than its
/// time, which runs ahead and proves nothing about other keys.
pub(super) async fn at_start(session: &Session) -> Result<(), StorageError> {
    // The clock is asked once: compared with each row, it would be asked for each row.
    let moment = session
        .one(
            "SELECT present(), (SELECT at FROM interactions WHERE NOT simulated ORDER BY id DESC LIMIT 1),
                 coalesce((SELECT max(at) FROM interactions) > present() + simulated_ahead(), false)",
            &[],
        )
        .await?;
    let now = time(&moment, 0)?;
    let newest: Option<i64> = column(&moment, 1)?;
    if let Some(newest) = newest.map(Timestamp::from_millis)
        && newest > now
    {
        expire(session, newest, now).await?;
    }
    if column::<bool>(&moment, 2)? {
        session.one("SELECT expire_keys(true)", &[]).await?;
    }
    session.one("SELECT look_again()", &[]).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_goes_back_by_less_than_a_second_is_let_be() {
        let now = Timestamp::from_millis(1_000_000);
        for (before, back) in [(-5_000, false), (0, false), (1_000, false), (1_001, true)] {
            assert_eq!(went_back(now.plus_millis(before), now), back, "{before}");
        }
    }
}
