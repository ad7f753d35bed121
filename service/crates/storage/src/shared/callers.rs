//! Applies the caller to the operations of `shared`: it sees only objects within the caller's reach, and its
//! changes are written to the audit log in the same commit. They reach the
//! database only through here, so that none can forget it. Operations that a backend implements by
//! itself apply the reach themselves.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;

use super::dialect::Dialect;
use super::operation::{Changing, Erased, Reading};
use super::{Query, Question, TagCounts, Transaction, audit, groups};
use crate::value::{Row, Value};
use crate::{CachedPart, Event, StorageError};
use domain::audit::Note;
use domain::caller::Caller;
use domain::clock::Timestamp;
use domain::id::{ExperienceId, InlayId, InteractionId, TagId};
use domain::interaction::{NewInteraction, Recorded};
use domain::scope::Reach;
use inlay::counter::{CounterState, MirrorState};

/// A reading operation for a caller with this reach.
pub(crate) struct Limited {
    pub(crate) operation: Box<dyn Reading>,
    pub(crate) reach: Reach,
}

impl Reading for Limited {
    fn run<'t>(
        &'t self,
        db: &'t mut (dyn Query + 't),
    ) -> BoxFuture<'t, Result<Erased, StorageError>> {
        Box::pin(async move {
            let mut db = Called::new(db, &self.reach);
            self.operation.run(&mut db).await
        })
    }
}

/// A writing operation for a caller. Its result is a [`Changed`].
pub(crate) struct OnBehalf {
    pub(crate) operation: Box<dyn Changing>,
    pub(crate) caller: Arc<Caller>,
}

/// The outcome of [`OnBehalf`].
pub(crate) struct Changed {
    /// The result of the operation.
    pub(crate) result: Erased,
    /// Whether it wrote a row to the audit log.
    pub(crate) recorded: bool,
    /// Whether it changed resources. An export has a row in the audit log, and changes nothing.
    pub(crate) wrote_rows: bool,
    /// The resource that the operation names itself, as a path within the admin API.
    pub(crate) object: Option<String>,
}

impl Changing for OnBehalf {
    fn run<'t>(
        &'t self,
        tx: &'t mut (dyn Transaction + 't),
    ) -> BoxFuture<'t, Result<Erased, StorageError>> {
        Box::pin(async move {
            let changed = self.change(tx).await?;
            Ok(Box::new(changed) as Erased)
        })
    }
}

impl OnBehalf {
    async fn change(&self, tx: &mut (dyn Transaction + '_)) -> Result<Changed, StorageError> {
        let Self { operation, caller } = self;
        let mut db = Called::new(tx, &caller.reach);
        let result = operation.run(&mut db).await?;
        let Called {
            wrote,
            wrote_rows,
            note,
            ..
        } = db;
        let object = note.as_ref().and_then(|note| note.object.clone());
        let recorded = wrote && !caller.is_recorded();
        if recorded {
            audit::record(tx, caller, note).await?;
        }
        Ok(Changed {
            result,
            recorded,
            wrote_rows,
            object,
        })
    }
}

/// A database as a caller sees it.
struct Called<'a, D: ?Sized> {
    db: &'a mut D,
    reach: &'a Reach,
    /// Whether the operation wrote rows whose change belongs in the audit log.
    wrote: bool,
    /// Whether the operation wrote such rows, and not only a note.
    wrote_rows: bool,
    note: Option<Note>,
    /// Whether the change stays out of the audit log, because it has no visible effect.
    silent: bool,
}

impl<'a, D: ?Sized> Called<'a, D> {
    fn new(db: &'a mut D, reach: &'a Reach) -> Self {
        Self {
            db,
            reach,
            wrote: false,
            wrote_rows: false,
            note: None,
            silent: false,
        }
    }

    fn has_written(&mut self, rows: bool) {
        let counts = rows && !self.silent;
        self.wrote |= counts;
        self.wrote_rows |= counts;
    }
}

#[async_trait]
impl<D: Query + ?Sized> Query for Called<'_, D> {
    fn dialect(&self) -> Dialect {
        self.db.dialect()
    }

    fn reach(&self) -> &Reach {
        self.reach
    }

    async fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StorageError> {
        self.db.query(sql, values).await
    }

    async fn query_once(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, StorageError> {
        self.db.query_once(sql, values).await
    }

    async fn query_all(&mut self, asked: &[Question<'_>]) -> Result<Vec<Vec<Row>>, StorageError> {
        self.db.query_all(asked).await
    }

    fn tag_counts(&self, tag: TagId) -> Option<TagCounts> {
        self.db.tag_counts(tag)
    }

    fn counter(&self, inlay: InlayId) -> Option<(u32, CounterState, MirrorState)> {
        self.db.counter(inlay)
    }
}

#[async_trait]
impl<D: Transaction + ?Sized> Transaction for Called<'_, D> {
    fn now(&self) -> Timestamp {
        self.db.now()
    }

    fn others_wait(&self) -> bool {
        self.db.others_wait()
    }

    async fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StorageError> {
        let rows = self.db.execute(sql, values).await?;
        self.has_written(rows > 0);
        Ok(rows)
    }

    async fn write(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StorageError> {
        let rows = self.db.write(sql, values).await?;
        self.has_written(!rows.is_empty());
        Ok(rows)
    }

    fn changes(&mut self, part: Option<CachedPart>) {
        self.db.changes(part);
    }

    fn takes_notes(&self) -> bool {
        true
    }

    fn note(&mut self, note: Note) {
        self.note = Some(note);
        self.wrote = true;
    }

    fn is_no_change(&mut self) {
        self.silent = true;
    }

    async fn lock_counter(&mut self, inlay: InlayId) -> Result<(), StorageError> {
        self.db.lock_counter(inlay).await
    }

    async fn record_tap(
        &mut self,
        id: Option<InteractionId>,
        tap: &NewInteraction,
    ) -> Result<(Recorded, Option<Event>), StorageError> {
        self.db.record_tap(id, tap).await
    }

    async fn forget_visitor(&mut self, tag: TagId, client: &[u8]) -> Result<(), StorageError> {
        self.db.forget_visitor(tag, client).await
    }
}

/// The condition that tags are within reach, to append to a statement's conditions. `of` is the
/// table or alias with a dot, or empty.
pub(crate) fn tags(reach: &Reach, of: &str) -> String {
    match (reach.groups(), reach.limit()) {
        (Some(groups), _) => format!(" AND {of}group_id IN ({})", groups::below_all(groups)),
        (None, Some(_)) => condition(reach, &groups::led_to(of)),
        (None, None) => String::new(),
    }
}

/// The condition that records of taps are within reach, by the columns of the experience that the
/// tap led to, and of the tag.
pub(super) fn taps(reach: &Reach, experience: &str, tag: &str) -> String {
    match reach.groups() {
        Some(groups) => format!(
            " AND {tag} IN (SELECT t.id FROM tags t WHERE t.group_id IN ({}))",
            groups::below_all(groups)
        ),
        None => condition(reach, experience),
    }
}

/// The condition that groups are within reach, by the column of their id. A caller who is limited
/// to experiences sees no groups: a change of one could affect tags of other experiences.
pub(super) fn groups(reach: &Reach, column: &str) -> String {
    match (reach.groups(), reach.limit()) {
        (Some(groups), _) => format!(" AND {column} IN ({})", groups::below_all(groups)),
        (None, Some(_)) => " AND FALSE".to_owned(),
        (None, None) => String::new(),
    }
}

/// The condition that `column` is within reach, to append to a statement's conditions.
pub(super) fn condition(reach: &Reach, column: &str) -> String {
    match reach.limit() {
        None => String::new(),
        // The ids are numbers, so nothing can be injected into the statement.
        Some([]) => " AND FALSE".to_owned(),
        Some(limit) => {
            let ids: Vec<_> = limit.iter().map(ExperienceId::to_string).collect();
            format!(" AND {column} IN ({})", ids.join(", "))
        }
    }
}
