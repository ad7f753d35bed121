//! The history of interactions: its SQL.

mod erase;
mod overview;
mod stream;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use rusqlite::{Connection, OptionalExtension as _};

use super::{SqliteStorage, row};
use crate::interactions::row::{COLUMNS, interaction};
use crate::interactions::row_of;
use crate::shared::callers;
use crate::shared::groups::chosen;
use crate::{InteractionFilter, LOOKED_AT_MAX, Overview, StorageError, Stretch};
use domain::clock::{Millis, Timestamp};
use domain::id::{GroupId, InteractionId, TagId};
use domain::interaction::{Interaction, TagName};
use domain::scope::Reach;
use domain::world::World;

impl SqliteStorage {
    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn interactions(
        &self,
        filter: InteractionFilter,
        from: Option<InteractionId>,
        limit: usize,
        reach: &Reach,
    ) -> Result<Stretch, StorageError> {
        let tag = filter.history();
        let from = from.or_else(|| tag.and_then(|tag| self.writer.folded().newest(tag)));
        let reach = reach.clone();
        self.read_long(move |connection| {
            let snapshot = connection.unchecked_transaction()?;
            stretch(&snapshot, &filter, &reach, from, limit)
        })
        .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn overview(
        &self,
        since: Timestamp,
        until: Timestamp,
        world: World,
    ) -> Result<Overview, StorageError> {
        let folded = self.writer.folded().clone();
        self.read_long(move |connection| overview::read(connection, &folded, since, until, world))
            .await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn erase_visitors(
        &self,
        tag: Option<TagId>,
    ) -> Result<Option<bool>, StorageError> {
        self.write(move |write| erase::visitors(write, tag)).await
    }

    #[tracing::instrument(level = "debug", skip_all)]
    pub(crate) async fn erase_history(
        &self,
        tag: Option<TagId>,
        from: Option<InteractionId>,
    ) -> Result<Option<InteractionId>, StorageError> {
        if from.is_none() {
            self.store_notes().await?;
        }
        self.write(move |write| erase::newest_history(write, tag, from))
            .await
    }
}

static BY_ID: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {COLUMNS} FROM interactions i WHERE i.id = ?1"));

static NEWEST_FIRST: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT {COLUMNS} FROM interactions i WHERE i.id <= ?1 ORDER BY i.id DESC")
});

/// Passes the history from `from` on to `f`, the newest first, until `f` returns false.
fn newest_first(
    connection: &Connection,
    from: Option<InteractionId>,
    mut f: impl FnMut(Interaction) -> bool,
) -> Result<(), StorageError> {
    let mut statement = connection.prepare_cached(&NEWEST_FIRST)?;
    let mut rows = statement.query([from.map_or(i64::MAX, InteractionId::get)])?;
    while let Some(row) = rows.next()? {
        if !f(interaction(row)?) {
            break;
        }
    }
    Ok(())
}

/// Passes the history of a tag, or of taps without one, from `from` on to `f`, the newest first,
/// until `f` returns false.
fn tag_history(
    connection: &Connection,
    tag: Option<TagId>,
    from: Option<InteractionId>,
    mut f: impl FnMut(Interaction) -> bool,
) -> Result<(), StorageError> {
    let mut find = connection.prepare_cached(&BY_ID)?;
    let mut next = match from {
        Some(id) => Some(id),
        None => newest_of(connection, tag)?,
    };
    while let Some(id) = next {
        let found = find.query_row([id.get()], |row| Ok(interaction(row)));
        // The chain ends where older interactions were removed.
        let Some(interaction) = found.optional()?.transpose()? else {
            break;
        };
        next = interaction.previous;
        if interaction.tag_id != tag || !f(interaction) {
            break;
        }
    }
    Ok(())
}

fn newest_of(
    connection: &Connection,
    tag: Option<TagId>,
) -> Result<Option<InteractionId>, StorageError> {
    let newest = connection
        .prepare_cached("SELECT last_interaction FROM visits WHERE tag_id = ?1 AND client = x''")?
        .query_row([row_of(tag)], |row| row::id(row, 0))
        .optional()?;
    Ok(newest)
}

/// How far the times of interactions may deviate from the order of their ids: an id is reserved
/// before the interaction's time is decided.
const DISORDER: Millis = Millis::minutes(1);

/// Whether all earlier interactions of `world` are older than `since`. Simulated time runs ahead,
/// so a simulated interaction proves nothing.
fn is_before(interaction: &Interaction, since: Timestamp, world: World) -> bool {
    world == World::Real && !interaction.simulated && interaction.at.plus(DISORDER) < since
}

fn stretch(
    connection: &Connection,
    filter: &InteractionFilter,
    reach: &Reach,
    from: Option<InteractionId>,
    limit: usize,
) -> Result<Stretch, StorageError> {
    let mut looked_at = 0;
    let mut found = Vec::new();
    let mut next = None;
    let mut groups = InGroup::of(connection, filter.group_id, reach)?;
    let mut failed = None;
    let look = |interaction: Interaction| {
        if filter
            .since
            .is_some_and(|since| is_before(&interaction, since, filter.world))
        {
            return false;
        }
        if found.len() == limit || looked_at == LOOKED_AT_MAX {
            next = Some(interaction.id);
            return false;
        }
        looked_at += 1;
        let within = reach.groups().is_some() || interaction.is_within(reach);
        if within && filter.selects(&interaction) {
            match groups.has(interaction.tag_id) {
                Ok(true) => found.push(interaction),
                Ok(false) => {}
                Err(error) => {
                    failed = Some(error);
                    return false;
                }
            }
        }
        true
    };
    match filter.history() {
        Some(tag) => tag_history(connection, tag, from, look)?,
        None => newest_first(connection, from, look)?,
    }
    if let Some(error) = failed {
        return Err(error);
    }
    let found = found.into_iter().map(|interaction| {
        let tag = match interaction.tag_id {
            Some(tag) if is_reached(connection, tag, reach)? => Some(tag_name(connection, tag)?),
            _ => None,
        };
        Ok((interaction, tag))
    });
    Ok(Stretch {
        found: found.collect::<Result<_, StorageError>>()?,
        next,
    })
}

/// Whether tags are in the groups that a filter and the reach leave. Each tag is looked up once.
struct InGroup<'c> {
    connection: &'c Connection,
    /// `None` if every tag counts.
    groups: Option<HashSet<i64>>,
    tags: HashMap<TagId, bool>,
}

impl<'c> InGroup<'c> {
    fn of(
        connection: &'c Connection,
        group: Option<GroupId>,
        reach: &Reach,
    ) -> Result<Self, StorageError> {
        let groups = match chosen(group, reach) {
            Some(chosen) => {
                let mut chosen = connection.prepare(&chosen)?;
                let ids = chosen.query_map([], |row| row.get(0))?;
                Some(ids.collect::<Result<_, _>>()?)
            }
            None => None,
        };
        Ok(Self {
            connection,
            groups,
            tags: HashMap::new(),
        })
    }

    fn has(&mut self, tag: Option<TagId>) -> Result<bool, StorageError> {
        let (Some(groups), Some(tag)) = (&self.groups, tag) else {
            return Ok(self.groups.is_none());
        };
        if let Some(known) = self.tags.get(&tag) {
            return Ok(*known);
        }
        let group: Option<Option<i64>> = self
            .connection
            .prepare_cached("SELECT group_id FROM tags WHERE id = ?1")?
            .query_row([tag.get()], |row| row.get(0))
            .optional()?;
        let is_in = group.flatten().is_some_and(|group| groups.contains(&group));
        self.tags.insert(tag, is_in);
        Ok(is_in)
    }
}

/// Whether a tag is within the caller's reach; otherwise its name is hidden.
fn is_reached(connection: &Connection, tag: TagId, reach: &Reach) -> Result<bool, StorageError> {
    if reach.limit().is_none() {
        return Ok(true);
    }
    let reached = callers::tags(reach, "");
    let sql = format!("SELECT 1 FROM tags WHERE id = ?1{reached}");
    Ok(connection.prepare_cached(&sql)?.exists([tag.get()])?)
}

/// A tag's slug and name; the tag may be deleted.
fn tag_name(connection: &Connection, tag: TagId) -> Result<TagName, StorageError> {
    let name = connection
        .prepare_cached("SELECT slug, name FROM tags WHERE id = ?1")?
        .query_row([tag.get()], |row| {
            Ok(TagName {
                tag_id: tag,
                slug: row.get(0)?,
                tag_name: row.get(1)?,
            })
        })
        .optional()?;
    name.ok_or_else(|| row::unreadable("tag"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::migrate;

    /// A history of `taps` interactions, alternating between the tags 1 and 2.
    fn history(taps: i64) -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate::run(migrate::ours(), &mut connection).unwrap();
        connection
            .execute_batch(
                "INSERT INTO tags (slug, name, title, description, language_code, status, verifier_enabled,
                     updates_require_verified, track_location, has_qr_code, simulated, widget_settings,
                     created_at, updated_at, folded)
                 VALUES ('one111', '', '', '', '', 'active', 1, 0, 0, 0, 0, '{}', 0, 0, ''),
                        ('two222', '', '', '', '', 'active', 1, 0, 0, 0, 0, '{}', 0, 0, '')",
            )
            .unwrap();
        connection
            .execute(
                "WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < ?1)
                 INSERT INTO interactions (id, at, tag_id, previous, reason, tech, client, country,
                     returning_month, returning_day, key_issued, simulated)
                 SELECT id, id, 2 - id % 2, iif(id > 2, id - 2, NULL), 'static', 'u', x'01', 'DE', 1, 1, 0, 0
                 FROM n",
                [taps],
            )
            .unwrap();
        connection
            .execute(
                "INSERT INTO visits (tag_id, client, scans, last_at, last_interaction)
                 SELECT tag_id, x'', count(*), max(at), max(id) FROM interactions GROUP BY tag_id",
                [],
            )
            .unwrap();
        connection
    }

    fn all(connection: &Connection, filter: InteractionFilter) -> (Vec<usize>, Vec<i64>) {
        let (mut lengths, mut ids, mut from) = (Vec::new(), Vec::new(), None);
        loop {
            let page = stretch(connection, &filter, &Reach::EVERYTHING, from, 500).unwrap();
            lengths.push(page.found.len());
            ids.extend(
                page.found
                    .iter()
                    .map(|(interaction, _)| interaction.id.get()),
            );
            from = page.next;
            if from.is_none() {
                return (lengths, ids);
            }
        }
    }

    #[test]
    fn a_page_ends_after_as_many_interactions_as_it_may_look_at() {
        let many = i64::try_from(LOOKED_AT_MAX).unwrap();
        let connection = history(2 * many + 10);
        let oldest = InteractionFilter {
            until: Some(Timestamp::from_millis(4)),
            ..InteractionFilter::default()
        };
        assert_eq!(all(&connection, oldest), (vec![0, 0, 3], vec![3, 2, 1]));
        let of_one = InteractionFilter {
            tag_id: Some(TagId::new(1)),
            ..oldest
        };
        assert_eq!(all(&connection, of_one), (vec![0, 2], vec![3, 1]));
    }

    #[test]
    fn a_tags_history_ends_where_older_interactions_were_removed() {
        let connection = history(10);
        connection
            .execute("DELETE FROM interactions WHERE id < 5", [])
            .unwrap();
        let of_two = InteractionFilter {
            tag_id: Some(TagId::new(2)),
            ..InteractionFilter::default()
        };
        assert_eq!(all(&connection, of_two), (vec![3], vec![10, 8, 6]));
    }

    #[test]
    fn a_long_history_is_erased_step_by_step() {
        let connection = history(5_000);
        let (mut from, mut steps) = (None, 0);
        loop {
            from = erase::history(&connection, Some(TagId::new(1)), from).unwrap();
            steps += 1;
            if from.is_none() {
                break;
            }
        }
        assert_eq!(steps, 3, "2,500 interactions, 1,000 a step");
        let left: Vec<i64> = connection
            .prepare("SELECT DISTINCT tag_id FROM interactions WHERE client IS NOT NULL OR country <> ''")
            .and_then(|mut left| left.query_map([], |row| row.get(0))?.collect())
            .unwrap();
        assert_eq!(left, [2]);
    }
}
