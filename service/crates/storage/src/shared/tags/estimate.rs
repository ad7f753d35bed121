//! Estimates how many tags match, in a bounded time. It counts ranges of ids, and assumes that the
//! ranges it did not reach have as many matches on average. The order of the ranges spreads any
//! first few of them over all ids, because old tags may differ from new ones.

use super::list::count_of;
use super::select::Select;
use super::source::Source;
use super::wanted::Wanted;
use crate::shared::Query;
use crate::{COUNTING, Estimate, StorageError, TagFilter};
use domain::clock::Stopwatch;

/// Ids in a range: few enough that counting one takes some milliseconds with any filter.
const RANGE: u64 = 8_192;

impl Select {
    /// Restricts the selection to the ids of a range.
    pub(super) fn range(&mut self, range: u64) {
        self.between(range * RANGE + 1, (range + 1) * RANGE);
    }
}

/// Roughly how many tags match.
pub(super) async fn tags(db: &mut dyn Query, filter: &TagFilter) -> Result<Estimate, StorageError> {
    let stopwatch = Stopwatch::start();
    within(db, filter, || stopwatch.elapsed() < COUNTING).await
}

/// Like [`tags`], counting as long as `time` returns true, and at least one range.
async fn within(
    db: &mut dyn Query,
    filter: &TagFilter,
    time: impl Fn() -> bool + Send + Sync,
) -> Result<Estimate, StorageError> {
    let wanted = Wanted::of(db, filter).await?;
    let source = Source::of(db, filter, &wanted).await?;
    let ranges = ranges(db).await?;
    if ranges <= 1 || source.has_few(db).await? {
        let select = Select::new(filter, &wanted, db.reach(), source);
        let tags = count_of(db, &select).await?;
        return Ok(Estimate { tags, exact: true });
    }
    let (mut tags, mut counted) = (0, 0);
    for range in spread(ranges) {
        let mut select = Select::new(filter, &wanted, db.reach(), source.clone());
        select.range(range);
        let sql = format!("SELECT count(*) FROM {}", select.clauses());
        tags += db.count(&sql, &select.values).await?;
        counted += 1;
        if counted < ranges && !time() {
            let tags = two_digits(tags * ranges / counted);
            return Ok(Estimate { tags, exact: false });
        }
    }
    Ok(Estimate { tags, exact: true })
}

/// How many ranges all tags have.
pub(super) async fn ranges(db: &mut dyn Query) -> Result<u64, StorageError> {
    Ok(newest(db).await?.div_ceil(RANGE))
}

/// The id of the newest tag, 0 if there is none.
pub(super) async fn newest(db: &mut dyn Query) -> Result<u64, StorageError> {
    let newest = "SELECT coalesce(max(id), 0) FROM tags";
    db.count(newest, &[]).await
}

/// Every number below `end`, in the order of its reversed bits.
pub(super) fn spread(end: u64) -> impl Iterator<Item = u64> {
    let bits = end.next_power_of_two().ilog2();
    let backwards = move |number: u64| {
        let all = number.reverse_bits();
        all.checked_shr(u64::BITS - bits).unwrap_or_default()
    };
    (0..end.next_power_of_two())
        .map(backwards)
        .filter(move |number| *number < end)
}

/// Rounds to the first two digits; the others become zeros.
pub(super) fn two_digits(number: u64) -> u64 {
    let digit = 10_u64.pow(
        number
            .checked_ilog10()
            .unwrap_or_default()
            .saturating_sub(1),
    );
    (number + digit / 2) / digit * digit
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;

    use super::*;
    use crate::shared::dialect::Dialect;
    use crate::value::{Row, Value};

    /// A database of 100,000 tags, of which every fourth matches.
    struct Fourth;

    #[async_trait]
    impl Query for Fourth {
        fn dialect(&self) -> Dialect {
            Dialect::Postgres
        }

        async fn query(&mut self, _: &str, of: &[Value<'_>]) -> Result<Vec<Row>, StorageError> {
            let number = match of {
                [.., Value::Integer(first), Value::Integer(last)] => {
                    let last = (*last).min(100_000);
                    last / 4 - (first - 1) / 4
                }
                _ => 100_000,
            };
            Ok(vec![Row::new(vec![number.into()])])
        }
    }

    #[tokio::test]
    async fn what_there_is_no_time_for_is_estimated_and_said_to_be() {
        let filter = TagFilter::default();
        let exact = within(&mut Fourth, &filter, || true).await.unwrap();
        let counted = Estimate {
            tags: 25_000,
            exact: true,
        };
        assert_eq!(exact, counted);
        let estimated = within(&mut Fourth, &filter, || false).await.unwrap();
        let about = Estimate {
            tags: 27_000,
            exact: false,
        };
        assert_eq!(estimated, about);
    }

    #[test]
    fn every_range_comes_once_and_the_first_few_are_spread() {
        for end in 1..70 {
            let mut all: Vec<_> = spread(end).collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..end), "{end}");
        }
        assert_eq!(spread(8).take(4).collect::<Vec<_>>(), [0, 4, 2, 6]);
    }

    #[test]
    fn an_estimate_has_two_digits() {
        for (number, rounded) in [
            (0, 0),
            (7, 7),
            (94, 94),
            (949, 950),
            (944, 940),
            (995, 1_000),
            (987_654, 990_000),
        ] {
            assert_eq!(two_digits(number), rounded, "{number}");
        }
    }
}
