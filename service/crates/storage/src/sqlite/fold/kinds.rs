//! The three kinds of folded entries, and their rows.

use std::hash::Hash;

use rusqlite::{Connection, OptionalExtension as _, Statement};

use super::changes::{Changes, Staged};
use super::layer::Layer;
use super::state::State;
use crate::interactions::{row_of, tag_of};
use crate::sqlite::row;
use domain::clock::Timestamp;
use domain::id::{InlayId, InteractionId, TagId};
use domain::interaction::{ClientId, Reason};
use inlay::counter::{CounterState, MirrorState};

/// An entry that is folded into one row.
pub(in crate::sqlite) trait Entry: Copy + 'static {
    /// The key of its row. Keys have the order of the table.
    type Key: Copy + Ord + Hash;

    /// The SQL for [`Self::find`].
    const FIND: &'static str;

    /// The entry in the row, and the row's `folded_to`.
    fn find(find: &mut Statement<'_>, key: Self::Key) -> rusqlite::Result<Option<(Self, i64)>>;

    /// Like [`Self::find`], for a single row.
    fn load(connection: &Connection, key: Self::Key) -> rusqlite::Result<Option<(Self, i64)>> {
        Self::find(&mut *connection.prepare_cached(Self::FIND)?, key)
    }

    /// Writes the row, which contains every tap of its key up to `folded_to`.
    fn store(self, connection: &Connection, key: Self::Key, folded_to: i64)
    -> rusqlite::Result<()>;

    /// A number of the key, which few others have.
    fn number(key: &Self::Key) -> u64;

    /// Whether readers use the entry, and not only the writer.
    fn is_shown(_: &Self::Key) -> bool {
        true
    }

    fn layer(state: &State) -> &Layer<Self>;
    fn layer_mut(state: &mut State) -> &mut Layer<Self>;
    fn staged(changes: &Changes) -> &Staged<Self>;
    fn staged_mut(changes: &mut Changes) -> &mut Staged<Self>;
}

/// An inlay's counter, under the inlay's current keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sqlite) struct Counter {
    pub(in crate::sqlite) key_version: u32,
    pub(in crate::sqlite) state: CounterState,
    /// For codes without a MAC: the day of the last rise, and the rise on that day.
    day: i64,
    risen: u32,
}

impl Counter {
    /// The counter after an authentic code.
    pub(in crate::sqlite) fn accepted(
        before: Option<Self>,
        key_version: u32,
        state: CounterState,
    ) -> Self {
        Self {
            key_version,
            state,
            day: before.map_or(0, |counter| counter.day),
            risen: before.map_or(0, |counter| counter.risen),
        }
    }

    /// The counter of a chip whose codes prove nothing.
    pub(in crate::sqlite) const fn mirror(self) -> MirrorState {
        MirrorState {
            last: self.state.last,
            day: self.day,
            risen: self.risen,
        }
    }

    /// The counter after a code that proves nothing.
    pub(in crate::sqlite) const fn shown(mut self, shown: MirrorState) -> Self {
        self.state.last = shown.last;
        self.day = shown.day;
        self.risen = shown.risen;
        self
    }
}

impl Entry for Counter {
    type Key = InlayId;

    const FIND: &'static str = "SELECT key_version, last, seen, risen_on, risen, folded_to
         FROM counters WHERE inlay_id = ?1";

    fn number(inlay: &InlayId) -> u64 {
        inlay.get().cast_unsigned()
    }

    fn find(find: &mut Statement<'_>, inlay: InlayId) -> rusqlite::Result<Option<(Self, i64)>> {
        find.query_row([inlay.get()], |row| {
            let state = CounterState {
                last: row.get(1)?,
                seen: row.get::<_, i64>(2)?.cast_unsigned(),
            };
            let counter = Self {
                key_version: row.get(0)?,
                state,
                day: row.get(3)?,
                risen: row.get(4)?,
            };
            Ok((counter, row.get(5)?))
        })
        .optional()
    }

    fn store(
        self,
        connection: &Connection,
        inlay: InlayId,
        folded_to: i64,
    ) -> rusqlite::Result<()> {
        let Self {
            key_version,
            state,
            day,
            risen,
        } = self;
        let seen = state.seen.cast_signed();
        connection
            .prepare_cached(
                "UPDATE counters SET last = ?3, seen = ?4, risen_on = ?5, risen = ?6, folded_to = ?7
                 WHERE inlay_id = ?1 AND key_version = ?2",
            )?
            .execute((
                inlay.get(),
                key_version,
                state.last,
                seen,
                day,
                risen,
                folded_to,
            ))?;
        Ok(())
    }

    fn layer(state: &State) -> &Layer<Self> {
        &state.counters
    }

    fn layer_mut(state: &mut State) -> &mut Layer<Self> {
        &mut state.counters
    }

    fn staged(changes: &Changes) -> &Staged<Self> {
        &changes.counters
    }

    fn staged_mut(changes: &mut Changes) -> &mut Staged<Self> {
        &mut changes.counters
    }
}

/// A client at a tag, or all clients of a tag together. Taps without a tag count as those of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::sqlite) struct Visitor {
    tag: i64,
    /// `None` stands for all clients: their row has the empty client, and precedes the others.
    client: Option<[u8; 16]>,
}

impl Visitor {
    pub(in crate::sqlite) fn everyone(tag: Option<TagId>) -> Self {
        Self {
            tag: row_of(tag),
            client: None,
        }
    }

    pub(in crate::sqlite) fn client(tag: Option<TagId>, client: ClientId) -> Self {
        Self {
            tag: row_of(tag),
            client: Some(client.0),
        }
    }

    /// The tag; `None` for taps without a tag.
    pub(in crate::sqlite) fn tag(self) -> Option<TagId> {
        tag_of(self.tag)
    }

    /// The tag id in its row.
    pub(in crate::sqlite) const fn tag_row(self) -> i64 {
        self.tag
    }

    pub(in crate::sqlite) const fn is_everyone(self) -> bool {
        self.client.is_none()
    }

    pub(in crate::sqlite) fn client_bytes(&self) -> &[u8] {
        self.client.as_ref().map_or(&[], |client| client)
    }
}

/// The taps of a client at a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sqlite) struct Visit {
    pub(in crate::sqlite) scans: u64,
    pub(in crate::sqlite) last_at: Timestamp,
    pub(in crate::sqlite) last_interaction: InteractionId,
}

impl Visit {
    /// Adds a tap to a visit.
    pub(in crate::sqlite) fn and(before: Option<Self>, at: Timestamp, id: InteractionId) -> Self {
        Self {
            scans: before.map_or(0, |visit| visit.scans) + 1,
            last_at: before.map_or(at, |visit| visit.last_at.max(at)),
            last_interaction: id,
        }
    }
}

impl Entry for Visit {
    type Key = Visitor;

    const FIND: &'static str = "SELECT scans, last_at, last_interaction, folded_to
         FROM visits WHERE tag_id = ?1 AND client = ?2";

    fn number(visitor: &Visitor) -> u64 {
        // One tag may have most of the clients.
        let client = visitor.client.map_or(0, |client| {
            u64::from_le_bytes(std::array::from_fn(|byte| client[byte]))
        });
        visitor.tag.cast_unsigned() ^ client
    }

    fn is_shown(visitor: &Visitor) -> bool {
        visitor.is_everyone()
    }

    fn find(find: &mut Statement<'_>, visitor: Visitor) -> rusqlite::Result<Option<(Self, i64)>> {
        find.query_row((visitor.tag, visitor.client_bytes()), |row| {
            let visit = Self {
                scans: row.get(0)?,
                last_at: Timestamp::from_millis(row.get(1)?),
                last_interaction: row::id(row, 2)?,
            };
            Ok((visit, row.get(3)?))
        })
        .optional()
    }

    fn store(
        self,
        connection: &Connection,
        visitor: Visitor,
        folded_to: i64,
    ) -> rusqlite::Result<()> {
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO visits
                     (tag_id, client, scans, last_at, last_interaction, folded_to)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute((
                visitor.tag,
                visitor.client_bytes(),
                self.scans,
                self.last_at.millis(),
                self.last_interaction.get(),
                folded_to,
            ))?;
        Ok(())
    }

    fn layer(state: &State) -> &Layer<Self> {
        &state.visits
    }

    fn layer_mut(state: &mut State) -> &mut Layer<Self> {
        &mut state.visits
    }

    fn staged(changes: &Changes) -> &Staged<Self> {
        &changes.visits
    }

    fn staged_mut(changes: &mut Changes) -> &mut Staged<Self> {
        &mut changes.visits
    }
}

/// Taps of one reason in one hour, of the real world or of the simulated one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::sqlite) struct Hour {
    /// Hours since the Unix epoch.
    pub(in crate::sqlite) number: i64,
    pub(in crate::sqlite) reason: Reason,
    pub(in crate::sqlite) simulated: bool,
}

impl Hour {
    pub(in crate::sqlite) const fn of(at: Timestamp, reason: Reason, simulated: bool) -> Self {
        Self {
            number: at.unix_seconds().div_euclid(3600),
            reason,
            simulated,
        }
    }
}

/// A number of taps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sqlite) struct Taps(pub(in crate::sqlite) u64);

impl Taps {
    /// The number after one more tap.
    pub(in crate::sqlite) fn and(before: Option<Self>) -> Self {
        Self(before.map_or(0, |taps| taps.0) + 1)
    }
}

impl Entry for Taps {
    type Key = Hour;

    const FIND: &'static str = "SELECT taps, folded_to
         FROM tap_counts WHERE hour = ?1 AND reason = ?2 AND simulated = ?3";

    fn number(hour: &Hour) -> u64 {
        hour.number.cast_unsigned()
    }

    fn find(find: &mut Statement<'_>, hour: Hour) -> rusqlite::Result<Option<(Self, i64)>> {
        find.query_row((hour.number, hour.reason.as_str(), hour.simulated), |row| {
            Ok((Self(row.get(0)?), row.get(1)?))
        })
        .optional()
    }

    fn store(self, connection: &Connection, hour: Hour, folded_to: i64) -> rusqlite::Result<()> {
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO tap_counts (hour, reason, simulated, taps, folded_to)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute((
                hour.number,
                hour.reason.as_str(),
                hour.simulated,
                self.0,
                folded_to,
            ))?;
        Ok(())
    }

    fn layer(state: &State) -> &Layer<Self> {
        &state.hours
    }

    fn layer_mut(state: &mut State) -> &mut Layer<Self> {
        &mut state.hours
    }

    fn staged(changes: &Changes) -> &Staged<Self> {
        &changes.hours
    }

    fn staged_mut(changes: &mut Changes) -> &mut Staged<Self> {
        &mut changes.hours
    }
}
