//! Rolling keys after the database's clock went back: the age of keys is then unknown. All keys
//! expire permanently, so that none becomes valid again when the clock has caught up.

use super::row::{column, time};
use super::session::Session;
use crate::StorageError;
use domain::clock::{Millis, Timestamp};

/// How far a clock may go back without an effect.
const UNFELT: Millis = Millis::seconds(1);

/// Whether the clock went back between two readings.
pub(super) fn went_back(before: Timestamp, now: Timestamp) -> bool {
    before.since(now) > UNFELT
}

/// Expires all keys, because the clock went back from `before` to `now`.
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

/// Expires keys at the start of a node. If the clock is behind the newest interaction, all keys
/// expire. If an interaction is dated after simulated time, all simulated keys expire; that time
/// runs ahead and proves nothing about other keys.
pub(super) async fn at_start(session: &Session) -> Result<(), StorageError> {
    // Read the clock once: a comparison with each row would read it for each row.
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
            assert_eq!(
                went_back(now.plus(Millis::new(before)), now),
                back,
                "{before}"
            );
        }
    }
}
