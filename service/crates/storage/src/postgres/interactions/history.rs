//! Walks the history in pieces, the newest interaction first.

use std::sync::LazyLock;

use super::tag_names;
use crate::interactions::row::{COLUMNS, interaction};
use crate::interactions::row_of;
use crate::postgres::row;
use crate::postgres::session::Session;
use crate::shared::groups;
use crate::{InteractionFilter, LOOKED_AT_MAX, StorageError, Stretch};
use domain::clock::{Millis, Timestamp};
use domain::id::{GroupId, InteractionId};
use domain::interaction::Interaction;
use domain::scope::Reach;
use domain::world::World;

/// Interactions in the first piece, and in later ones.
const FIRST: usize = 100;
const PIECE: usize = 2_000;

/// How far the times of interactions may deviate from the order of their ids: an id is reserved
/// before the interaction's time is decided.
const DISORDER: Millis = Millis::minutes(1);

/// The reservation time from which ids belong to interactions of `world` at `since` or later. For
/// simulated interactions it is 0, because their time runs ahead of ids and proves nothing.
pub(super) fn ids_since(since: Option<Timestamp>, world: World) -> i64 {
    match since {
        Some(since) if world == World::Real => since.minus(DISORDER).millis(),
        _ => 0,
    }
}

/// Whether the tag of a row is in one of the groups `$4`, or all rows count.
const IN_GROUPS: &str = "($4::BIGINT[] IS NULL OR coalesce(
    (SELECT t.group_id FROM tags t WHERE t.id = i.tag_id) = ANY ($4), FALSE))";

static NEWEST_FIRST: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {COLUMNS}, {IN_GROUPS} FROM interactions i
         WHERE i.id <= $1 AND i.id >= (SELECT history_since($2)) ORDER BY i.id DESC LIMIT $3"
    )
});

/// Walks a tag's chain, which ends where older interactions were removed.
static OF_TAG: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WITH RECURSIVE chain AS (
             SELECT i.*, 1::BIGINT AS place FROM interactions i
             WHERE i.id = $1 AND i.id >= (SELECT history_since($2)) AND i.tag_id = $5
             UNION ALL
             SELECT i.*, c.place + 1 FROM chain c JOIN interactions i ON i.id = c.previous
             WHERE i.id >= (SELECT history_since($2)) AND i.tag_id = $5 AND c.place < $3
         )
         SELECT {COLUMNS}, {IN_GROUPS} FROM chain i ORDER BY i.place"
    )
});

/// Passes the history to `f` until it returns false, or only the rows with the tag id `tag`: from
/// `from` on, back to ids
/// reserved at `ids_since`. `f` also gets whether the tag is in one of `groups`.
pub(super) async fn walk(
    session: &Session,
    tag: Option<i64>,
    from: Option<InteractionId>,
    ids_since: i64,
    groups: Option<&[i64]>,
    mut f: impl FnMut(Interaction, bool) -> bool,
) -> Result<(), StorageError> {
    let mut next = match (from, tag) {
        (Some(from), _) => Some(from.get()),
        (None, None) => Some(i64::MAX),
        (None, Some(tag)) => newest_of(session, tag).await?,
    };
    let mut piece = FIRST;
    while let Some(from) = next {
        let limit = row::limit(piece);
        let rows = match tag {
            None => {
                session
                    .rows(&NEWEST_FIRST, &[&from, &ids_since, &limit, &groups])
                    .await?
            }
            Some(tag) => {
                session
                    .rows(&OF_TAG, &[&from, &ids_since, &limit, &groups, &tag])
                    .await?
            }
        };
        next = None;
        for found in &rows {
            let interaction = interaction(found)?;
            next = match tag {
                None => Some(interaction.id.get() - 1),
                Some(_) => interaction.previous.map(InteractionId::get),
            };
            if !f(interaction, row::column(found, found.len() - 1)?) {
                return Ok(());
            }
        }
        if rows.len() < piece {
            return Ok(());
        }
        piece = PIECE;
    }
    Ok(())
}

/// The groups of the tags that a filter and the reach leave; `None` if they leave all tags.
async fn in_groups(
    session: &Session,
    group: Option<GroupId>,
    reach: &Reach,
) -> Result<Option<Vec<i64>>, StorageError> {
    let Some(chosen) = groups::chosen(group, reach) else {
        return Ok(None);
    };
    let rows = session.rows(&chosen, &[]).await?;
    let ids = rows.iter().map(|found| row::column(found, 0));
    ids.collect::<Result<_, _>>().map(Some)
}

async fn newest_of(session: &Session, tag: i64) -> Result<Option<i64>, StorageError> {
    let newest = session
        .row(
            "SELECT last_interaction FROM visits WHERE tag_id = $1 AND client = ''",
            &[&tag],
        )
        .await?;
    newest.map(|newest| row::column(&newest, 0)).transpose()
}

pub(super) async fn stretch(
    session: &Session,
    filter: &InteractionFilter,
    reach: &Reach,
    from: Option<InteractionId>,
    limit: usize,
) -> Result<Stretch, StorageError> {
    let mut looked_at = 0;
    let mut found = Vec::new();
    let mut next = None;
    let ids_since = ids_since(filter.since, filter.world);
    let history = filter.history().map(row_of);
    let groups = in_groups(session, filter.group_id, reach).await?;
    let groups = groups.as_deref();
    walk(
        session,
        history,
        from,
        ids_since,
        groups,
        |interaction, in_groups| {
            if found.len() == limit || looked_at == LOOKED_AT_MAX {
                next = Some(interaction.id);
                return false;
            }
            looked_at += 1;
            let within = reach.groups().is_some() || interaction.is_within(reach);
            if in_groups && within && filter.selects(&interaction) {
                found.push(interaction);
            }
            true
        },
    )
    .await?;
    let mut tags: Vec<i64> = found
        .iter()
        .filter_map(|interaction| Some(interaction.tag_id?.get()))
        .collect();
    tags.sort_unstable();
    tags.dedup();
    let names = tag_names(session, &tags, reach).await?;
    let found = found.into_iter().map(|interaction| {
        let name = interaction.tag_id.map(|tag| {
            let name = names.get(&tag).cloned();
            name.ok_or_else(|| row::unreadable("tag"))
        });
        Ok((interaction, name.transpose()?.flatten()))
    });
    Ok(Stretch {
        found: found.collect::<Result<_, StorageError>>()?,
        next,
    })
}
