//! The figures of a period.

use std::sync::LazyLock;

use super::history::ids_since;
use crate::interactions::row::{last_counter, reason};
use crate::postgres::row::{self, column};
use crate::postgres::session::Session;
use crate::shared::groups::led_to;
use crate::shared::inlays::{EXHAUSTED, FROM};
use crate::{Overview, SAMPLE_MAX, StorageError};
use domain::clock::{Millis, Timestamp};
use domain::interaction::{Reason, TagName};
use domain::report::CountSpan;
use domain::world::World;

/// Tags that the overview names.
const TOP_TAGS: i64 = 10;

pub(super) async fn read(
    session: &Session,
    since: Timestamp,
    until: Timestamp,
    world: World,
) -> Result<Overview, StorageError> {
    let sample = Sample {
        since,
        until,
        world,
    };
    let (counter_gaps, unset_tags, complete) = sample.totals(session).await?;
    let (factory_keys, used_up, opened_tags) = standing(session, world).await?;
    Ok(Overview {
        counts: counts(session, since, until, world).await?,
        top_tags: sample.top_tags(session).await?,
        counter_gaps,
        unset_tags,
        complete,
        factory_keys,
        used_up,
        opened_tags,
    })
}

async fn counts(
    session: &Session,
    since: Timestamp,
    until: Timestamp,
    world: World,
) -> Result<Vec<(Timestamp, Reason, u64)>, StorageError> {
    let hour = |at| CountSpan::Hour.of(at);
    let (first, last) = (hour(since), hour(until.minus(Millis::new(1))));
    let rows = session
        .rows(
            "SELECT hour, reason, sum(taps)::BIGINT FROM tap_counts
             WHERE hour BETWEEN $1 AND $2 AND ($3::BOOLEAN IS NULL OR simulated = $3)
             GROUP BY hour, reason ORDER BY hour",
            &[&first, &last, &world.simulated()],
        )
        .await?;
    let counts = rows.iter().map(|found| {
        Ok((
            CountSpan::Hour.begin(column(found, 0)?),
            reason(found, 1)?,
            column::<i64>(found, 2)?.unsigned_abs(),
        ))
    });
    counts.collect()
}

/// Selects the newest part of the history, within the period and world.
struct Sample {
    since: Timestamp,
    until: Timestamp,
    world: World,
}

/// `looked_at` is the newest part, and `sample` the interactions in it that count.
const SAMPLE: &str = concat!(
    "WITH looked_at AS MATERIALIZED (
        SELECT i.id, i.at, i.tag_id, i.experience_id, i.reason, i.counter, ",
    last_counter!(),
    " AS last_counter, i.simulated FROM interactions i
        WHERE i.id >= (SELECT history_since($1)) ORDER BY i.id DESC LIMIT $5
    ), sample AS (
        SELECT * FROM looked_at WHERE at >= $2 AND at < $3 AND ($4::BOOLEAN IS NULL OR simulated = $4)
            AND NOT EXISTS (SELECT FROM test_taps o WHERE o.tap_id = looked_at.id)
    )"
);

static TOTALS: LazyLock<String> = LazyLock::new(|| {
    let led_to = led_to("t.");
    format!(
        "{SAMPLE}
         SELECT (SELECT count(*) FROM sample WHERE reason = 'verified' AND counter - last_counter > 1),
                (SELECT count(*) FROM tags t WHERE t.deleted_at IS NULL AND t.status = 'active'
                    AND {led_to} IS NULL AND t.id IN (SELECT tag_id FROM sample WHERE experience_id IS NULL)),
                NOT EXISTS (SELECT FROM interactions WHERE id >= (SELECT history_since($1))
                            ORDER BY id DESC OFFSET $5 LIMIT 1)"
    )
});

static TOP: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{SAMPLE}
         SELECT t.id, t.slug, t.name, top.taps FROM (
             SELECT tag_id, count(*) AS taps FROM sample WHERE tag_id <> 0 GROUP BY tag_id ORDER BY taps DESC, tag_id LIMIT $6
         ) top JOIN tags t ON t.id = top.tag_id ORDER BY top.taps DESC, t.id"
    )
});

impl Sample {
    /// The parameters of the sample: first reservation time, period, world, and most interactions.
    fn bounds(&self) -> (i64, i64, i64, Option<bool>, i64) {
        (
            ids_since(Some(self.since), self.world),
            self.since.millis(),
            self.until.millis(),
            self.world.simulated(),
            row::limit(SAMPLE_MAX),
        )
    }

    /// Counter gaps, tags without an experience, and whether the sample covers the whole period.
    async fn totals(&self, session: &Session) -> Result<(u64, u64, bool), StorageError> {
        let (ids, since, until, simulated, most) = self.bounds();
        let totals = session
            .one(&TOTALS, &[&ids, &since, &until, &simulated, &most])
            .await?;
        let number = |index| column::<i64>(&totals, index).map(i64::unsigned_abs);
        Ok((number(0)?, number(1)?, column(&totals, 2)?))
    }

    async fn top_tags(&self, session: &Session) -> Result<Vec<(TagName, u64)>, StorageError> {
        let (ids, since, until, simulated, most) = self.bounds();
        let rows = session
            .rows(&TOP, &[&ids, &since, &until, &simulated, &most, &TOP_TAGS])
            .await?;
        let tags = rows.iter().map(|found| {
            let name = TagName {
                tag_id: row::id(found, 0)?,
                slug: column(found, 1)?,
                tag_name: column(found, 2)?,
            };
            Ok((name, column::<i64>(found, 3)?.unsigned_abs()))
        });
        tags.collect()
    }
}

/// How many inlays have factory keys, how many have no codes left, and how many tags had an inlay
/// that reported an open tamper loop.
async fn standing(session: &Session, world: World) -> Result<(u64, u64, u64), StorageError> {
    let counts = session
        .one(
            &format!(
                "SELECT (SELECT count(*) FROM inlays WHERE factory_keys AND deleted_at IS NULL
                            AND ($1::BOOLEAN IS NULL OR simulated = $1)),
                        (SELECT count(*) FROM {FROM} WHERE {} AND i.deleted_at IS NULL
                            AND ($1 IS NULL OR i.simulated = $1)),
                        (SELECT count(*) FROM opened_tags o JOIN tags t ON t.id = o.tag_id
                         WHERE t.deleted_at IS NULL AND ($1 IS NULL OR t.simulated = $1))",
                *EXHAUSTED
            ),
            &[&world.simulated()],
        )
        .await?;
    let number = |index| column::<i64>(&counts, index).map(i64::unsigned_abs);
    Ok((number(0)?, number(1)?, number(2)?))
}
