//! Personal data: which taps belong to a visitor, the values that a person entered, and their
//! erasure.

use std::collections::{BTreeSet, HashSet};

use super::erased_events::{self, ErasedUpdate};
use super::submissions::{look, read, select};
use super::{Query, Transaction, audit, callers};
use crate::search::fold_case;
use crate::value::{Value, unreadable, values};
use crate::visitors::{Entered, FoundUpdates, TestTaps, UpdateFilter};
use crate::{Access, CachedPart, StorageError, erasure};
use domain::clock::{Millis, Timestamp};
use domain::id::{InteractionId, TagId};
use domain::interaction::{Change, Reason, TapOrigin};
use domain::report::CountSpan;
use domain::submission::Submission;
use domain::tag::PropertyClass;

async fn test_taps(
    db: &mut dyn Query,
    first: i64,
    last: i64,
) -> Result<Vec<TestTaps>, StorageError> {
    let sql = "SELECT hour, reason, origin, count(*) FROM test_taps
         WHERE hour BETWEEN ?1 AND ?2 GROUP BY hour, reason, origin ORDER BY hour";
    let rows = db.query(sql, &values![first, last]).await?;
    let taps = rows.into_iter().map(|mut row| {
        let hour: i64 = row.take()?;
        let reason: String = row.take()?;
        let origin: String = row.take()?;
        let taps: i64 = row.take()?;
        Ok(TestTaps {
            at: CountSpan::Hour.begin(hour),
            reason: Reason::from_name(&reason).ok_or_else(|| unreadable("reason"))?,
            origin: TapOrigin::from_stored(&origin).ok_or_else(|| unreadable("origin"))?,
            taps: taps.unsigned_abs(),
        })
    });
    taps.collect()
}

async fn staff_taps(db: &mut dyn Query, tag: TagId) -> Result<u64, StorageError> {
    let sql = "SELECT count(*) FROM test_taps WHERE tag_id = ?1 AND origin = 'staff'";
    db.count(sql, &values![tag]).await
}

/// Updates that one read searches.
const LOOKED_AT: usize = 5_000;

/// The operations on one visitor of a tag, and on the values that persons entered.
///
/// The steps of an erasure have a fixed order, so that an interrupted request can be sent again:
/// [`Self::forget_entered`], then [`Self::forget_before`] for each section of the tag's history,
/// and last the records themselves. After the first step, no later update records an erased value
/// as the previous one.
impl Access {
    /// The taps of the visitor who made `tap`: `tap` itself and the taps connected to it by the
    /// cookie of a rolling key, the newest first. Erased taps are left out.
    pub async fn taps_of_visitor(
        &self,
        tap: InteractionId,
    ) -> Result<Vec<InteractionId>, StorageError> {
        self.read("taps_of_visitor", tap, |db, tap| Box::pin(taps(db, *tap)))
            .await
    }

    /// Notes that the request of `tap` had the cookie of `earlier`, another tap of the same tag.
    pub async fn note_same_browser(
        &self,
        tap: InteractionId,
        earlier: InteractionId,
    ) -> Result<(), StorageError> {
        let sql = "INSERT INTO same_browser (interaction_id, earlier) VALUES (?1, ?2)";
        let values = values![tap, earlier].to_vec();
        self.change_at_once("note_same_browser", sql, values)
            .await
            .map(drop)
    }

    /// The test taps from one hour to another, by hour, reason and origin.
    pub async fn test_taps(
        &self,
        since: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<TestTaps>, StorageError> {
        let hours = (
            CountSpan::Hour.of(since),
            CountSpan::Hour.of(until.minus(Millis::new(1))),
        );
        self.read("test_taps", hours, |db, (first, last)| {
            Box::pin(test_taps(db, *first, *last))
        })
        .await
    }

    /// How many taps of a tag were made by phones of staff.
    pub async fn staff_taps(&self, tag: TagId) -> Result<u64, StorageError> {
        self.read("staff_taps", tag, |db, tag| Box::pin(staff_taps(db, *tag)))
            .await
    }

    /// The submissions from the pages of these taps.
    pub async fn submissions_of_taps(
        &self,
        taps: Vec<InteractionId>,
    ) -> Result<Vec<Submission>, StorageError> {
        self.read("submissions_of_taps", taps, |db, taps| {
            Box::pin(submissions(db, taps))
        })
        .await
    }

    /// The values entered with the keys of these taps of one tag; `None` if there were none.
    pub async fn entered_at_taps(
        &self,
        tag: TagId,
        taps: Vec<InteractionId>,
    ) -> Result<Option<Entered>, StorageError> {
        self.read("entered_at_taps", (tag, taps), |db, (tag, taps)| {
            Box::pin(entered(db, *tag, taps))
        })
        .await
    }

    /// Some updates after `after`, ordered by interaction, in which `text` is a whole value,
    /// ignoring case.
    pub async fn updates_with(
        &self,
        text: String,
        filter: UpdateFilter,
        after: Option<InteractionId>,
    ) -> Result<FoundUpdates, StorageError> {
        let arguments = (text, filter, after);
        self.read("updates_with", arguments, |db, (text, filter, after)| {
            Box::pin(updates_with(db, text, *filter, *after))
        })
        .await
    }

    /// Removes the entered values from stored and unsent webhook events of other taps, and from the
    /// audit log's values of these variables. A variable that still has such a value becomes empty;
    /// without `empty_variables`, it is only marked, so that no event contains it any more.
    pub async fn forget_entered(
        &self,
        entered: Entered,
        empty_variables: bool,
    ) -> Result<(), StorageError> {
        let arguments = (entered, empty_variables);
        self.change("forget_entered", arguments, |tx, (entered, empty)| {
            Box::pin(forget_entered(tx, entered, *empty))
        })
        .await
    }

    /// The interactions of `among` whose update shows one of the values as the previous one.
    pub async fn showing_before(
        &self,
        entered: Entered,
        among: Vec<InteractionId>,
    ) -> Result<Vec<InteractionId>, StorageError> {
        let arguments = (entered, among);
        self.read("showing_before", arguments, |db, (entered, among)| {
            Box::pin(async move {
                let found = without_before(db, entered, among).await?;
                Ok(found.into_iter().map(|(id, _)| id).collect())
            })
        })
        .await
    }

    /// Removes the values from these updates, where they are previous values.
    pub async fn forget_before(
        &self,
        entered: Entered,
        updates: Vec<InteractionId>,
    ) -> Result<(), StorageError> {
        let arguments = (entered, updates);
        self.change("forget_before", arguments, |tx, (entered, updates)| {
            Box::pin(forget_before(tx, entered, updates))
        })
        .await
    }

    /// Erases the updates and submissions made with the keys of these taps, and their webhook
    /// events. The fact that there was an update stays.
    pub async fn erase_updates(&self, taps: Vec<InteractionId>) -> Result<(), StorageError> {
        self.settle_notes().await?;
        self.change("erase_updates", taps, |tx, taps| {
            Box::pin(erase_updates(tx, taps))
        })
        .await
    }

    /// Erases the data of the visitor who made these taps of a tag: as [`Self::erase_updates`], and
    /// also the client, the webhook events of the taps, and the connection between the taps.
    /// Verdicts and counts stay.
    pub async fn erase_taps(
        &self,
        tag: TagId,
        taps: Vec<InteractionId>,
    ) -> Result<(), StorageError> {
        self.settle_notes().await?;
        self.change("erase_taps", (tag, taps), |tx, (tag, taps)| {
            Box::pin(erase_taps(tx, *tag, taps))
        })
        .await
    }
}

async fn taps(db: &mut dyn Query, tap: InteractionId) -> Result<Vec<InteractionId>, StorageError> {
    let sql = "WITH RECURSIVE person (id) AS (
             SELECT CAST(?1 AS BIGINT)
             UNION
             SELECT CASE WHEN s.interaction_id = person.id THEN s.earlier ELSE s.interaction_id END
             FROM same_browser s JOIN person ON s.interaction_id = person.id OR s.earlier = person.id
         )
         SELECT i.id FROM interactions i WHERE i.id IN (SELECT id FROM person)
             AND (i.client IS NOT NULL OR i.key_hash IS NOT NULL) ORDER BY i.id DESC";
    let found = db.query(sql, &values![tap]).await?;
    found.into_iter().map(|mut row| row.take()).collect()
}

async fn submissions(
    db: &mut dyn Query,
    taps: &[InteractionId],
) -> Result<Vec<Submission>, StorageError> {
    let sql = format!("{} WHERE s.interaction_id IN ids(?1)", select(db.reach()));
    let found = db.query(&sql, &values![Value::list(taps)]).await?;
    let found = found.into_iter().map(read);
    let mut found: Vec<_> = found.collect::<Result<_, _>>()?;
    look(db, &mut found).await?;
    Ok(found)
}

async fn entered(
    db: &mut dyn Query,
    tag: TagId,
    taps: &[InteractionId],
) -> Result<Option<Entered>, StorageError> {
    let sent = submissions(db, taps).await?;
    let mut entered = Entered::of_submissions(&sent).pop();
    let sql = "SELECT at, changes FROM updates WHERE interaction_id IN ids(?1)";
    for mut row in db.query(sql, &values![Value::list(taps)]).await? {
        let at: Timestamp = row.take()?;
        let entered = entered.get_or_insert_with(|| Entered::at(tag, at));
        entered.since = entered.since.min(at);
        let changes: Vec<Change> = row.json("change")?;
        for change in changes {
            entered.add(change.key.as_str(), &change.new);
        }
    }
    Ok(entered)
}

async fn updates_with(
    db: &mut dyn Query,
    text: &str,
    filter: UpdateFilter,
    after: Option<InteractionId>,
) -> Result<FoundUpdates, StorageError> {
    let reached = callers::taps(db.reach(), "i.experience_id", "i.tag_id");
    let sql = format!(
        "SELECT u.interaction_id, u.at, u.changes, i.tag_id, i.experience_id
         FROM updates u JOIN interactions i ON i.id = u.interaction_id
         WHERE u.interaction_id > ?1{reached} ORDER BY u.interaction_id LIMIT ?2"
    );
    let values = values![after.map_or(0, InteractionId::get), Value::limit(LOOKED_AT)];
    let rows = db.query(&sql, &values).await?;
    let is_full = rows.len() == LOOKED_AT;
    let (text, mut last) = (fold_case(text), None);
    let (mut all, mut before) = (Vec::new(), Vec::new());
    for mut row in rows {
        let (id, at): (InteractionId, Timestamp) = (row.take()?, row.take()?);
        let changes: Vec<Change> = row.json("change")?;
        let (tag, experience) = (row.take()?, row.take()?);
        last = Some(id);
        if filter.tag_id.is_some_and(|id| id != tag)
            || filter
                .experience_id
                .is_some_and(|id| Some(id) != experience)
        {
            continue;
        }
        let (mut of_update, mut old) = (Entered::at(tag, at), Entered::at(tag, at));
        for change in &changes {
            of_update.add(change.key.as_str(), &change.new);
            if let Some(value) = change.old.as_ref().filter(|old| fold_case(old) == text) {
                old.add(change.key.as_str(), value);
            }
        }
        if changes.iter().any(|change| fold_case(&change.new) == text) {
            all.push((id, of_update));
        } else if !old.values.is_empty() {
            before.push((id, old));
        }
    }
    Ok(FoundUpdates {
        entered: all,
        before,
        next: last.filter(|_| is_full),
    })
}

async fn forget_entered(
    tx: &mut dyn Transaction,
    entered: &Entered,
    empty_variables: bool,
) -> Result<(), StorageError> {
    erased_events::erases(tx).await?;
    let variables: BTreeSet<&str> = entered.values.keys().map(String::as_str).collect();
    audit::forget_variables(tx, entered.tag, &variables).await?;
    erased_events::forget_values(tx, entered).await?;
    let sql = if empty_variables {
        "UPDATE properties SET value = '', erased = FALSE
         WHERE tag_id = ?1 AND class = ?2 AND key = ?3 AND value IN texts(?4)"
    } else {
        "UPDATE properties SET erased = TRUE
         WHERE tag_id = ?1 AND class = ?2 AND key = ?3 AND value IN texts(?4)"
    };
    let class = PropertyClass::Variable.as_str();
    for (variable, values) in &entered.values {
        let values = values![entered.tag, class, variable, Value::list(values)];
        tx.execute(sql, &values).await?;
    }
    if empty_variables {
        tx.changes(Some(CachedPart::Tag(entered.tag)));
    }
    Ok(())
}

/// The updates that show one of the values as the previous one, with their changes after its
/// removal.
async fn without_before<Q: Query + ?Sized>(
    db: &mut Q,
    entered: &Entered,
    among: &[InteractionId],
) -> Result<Vec<(InteractionId, Vec<Change>)>, StorageError> {
    let sql = "SELECT interaction_id, changes FROM updates WHERE interaction_id IN ids(?1)";
    let mut found = Vec::new();
    for mut row in db.query(sql, &values![Value::list(among)]).await? {
        let id = row.take()?;
        let mut changes: Vec<Change> = row.json("change")?;
        let mut shows = false;
        for change in &mut changes {
            let key = change.key.as_str();
            if change.old.as_ref().is_some_and(|old| entered.has(key, old)) {
                change.old = None;
                shows = true;
            }
        }
        if shows {
            found.push((id, changes));
        }
    }
    Ok(found)
}

async fn forget_before(
    tx: &mut dyn Transaction,
    entered: &Entered,
    updates: &[InteractionId],
) -> Result<(), StorageError> {
    for (id, changes) in without_before(tx, entered, updates).await? {
        let sql = "UPDATE updates SET changes = ?2 WHERE interaction_id = ?1";
        let changes = serde_json::to_string(&changes);
        let changes = changes.map_err(|_| crate::value::unreadable("change"))?;
        tx.execute(sql, &values![id, changes]).await?;
    }
    Ok(())
}

async fn erase_updates(
    tx: &mut dyn Transaction,
    taps: &[InteractionId],
) -> Result<(), StorageError> {
    erased_events::erases(tx).await?;
    forget_update_events(tx, taps).await?;
    for sql in [
        // The fact that there was an update stays, because it is why the key is consumed.
        "UPDATE updates SET changes = '[]', request = NULL WHERE interaction_id IN ids(?1)",
        "UPDATE refused_updates SET variable = NULL WHERE interaction_id IN ids(?1)",
        "DELETE FROM submissions WHERE interaction_id IN ids(?1)",
    ] {
        tx.execute(sql, &values![Value::list(taps)]).await?;
    }
    Ok(())
}

async fn erase_taps(
    tx: &mut dyn Transaction,
    tag: TagId,
    taps: &[InteractionId],
) -> Result<(), StorageError> {
    erase_updates(tx, taps).await?;
    forget_tap_events(tx, tag, taps).await?;
    let sql = "SELECT DISTINCT client FROM interactions WHERE id IN ids(?1) AND client IS NOT NULL";
    let mut clients: Vec<Vec<u8>> = Vec::new();
    for mut row in tx.query(sql, &values![Value::list(taps)]).await? {
        clients.push(row.take()?);
    }
    for sql in erasure::clearing() {
        let sql = format!("{sql} IN ids(?1)");
        tx.execute(&sql, &values![Value::list(taps)]).await?;
    }
    for client in clients {
        tx.forget_visitor(tag, &client).await?;
    }
    Ok(())
}

/// Removes outbox events and webhook deliveries of updates with the keys of these taps.
async fn forget_update_events(
    tx: &mut dyn Transaction,
    taps: &[InteractionId],
) -> Result<(), StorageError> {
    let sql = "SELECT u.interaction_id, u.at, i.tag_id, s.id FROM updates u
         JOIN interactions i ON i.id = u.interaction_id
         LEFT JOIN submissions s ON s.interaction_id = u.interaction_id
         WHERE u.interaction_id IN ids(?1)";
    for mut row in tx.query(sql, &values![Value::list(taps)]).await? {
        let update = ErasedUpdate {
            interaction: row.take()?,
            at: row.take()?,
            tag: row.take()?,
            submission: row.take()?,
        };
        erased_events::forget_update(tx, &update).await?;
    }
    // The tap and its update may have been removed because of their age.
    let sql = "SELECT s.interaction_id, s.at, s.tag_id, s.id FROM submissions s
         WHERE s.interaction_id IN ids(?1)
             AND NOT EXISTS (SELECT 1 FROM updates u WHERE u.interaction_id = s.interaction_id)";
    for mut row in tx.query(sql, &values![Value::list(taps)]).await? {
        let update = ErasedUpdate {
            interaction: row.take()?,
            at: row.take()?,
            tag: row.take()?,
            submission: row.take()?,
        };
        erased_events::forget_update(tx, &update).await?;
    }
    Ok(())
}

/// Removes the deliveries of these taps' events.
async fn forget_tap_events(
    tx: &mut dyn Transaction,
    tag: TagId,
    taps: &[InteractionId],
) -> Result<(), StorageError> {
    let sql = "SELECT id, at FROM interactions WHERE id IN ids(?1)";
    let mut keys = HashSet::new();
    for mut row in tx.query(sql, &values![Value::list(taps)]).await? {
        let (id, at): (InteractionId, Timestamp) = (row.take()?, row.take()?);
        keys.insert(format!("{id}_{}", at.millis()));
    }
    let sql = "SELECT id, event_id FROM webhook_deliveries WHERE tag_id = ?1";
    let mut going = Vec::new();
    for mut row in tx.query(sql, &values![tag]).await? {
        let (id, event): (i64, String) = (row.take()?, row.take()?);
        if erased_events::tap_of(&event).is_some_and(|key| keys.contains(key)) {
            going.push(id);
        }
    }
    erased_events::forget_deliveries(tx, "id IN ids(?1)", &values![Value::list(going)]).await
}
