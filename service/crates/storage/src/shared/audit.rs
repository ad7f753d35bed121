//! The audit log's SQL, and the only place that writes to the log.

pub(super) mod shown;

use std::collections::BTreeSet;

use super::{Query, Transaction};
use crate::audit::AuditFilter;
use crate::value::{Row, Value, values};
use crate::{Access, StorageError};
use domain::audit::{self, Check, Ends, Fault, GENESIS, Note, Values};
use domain::caller::{Actor, Caller};
use domain::clock::Timestamp;
use domain::id::TagId;

/// Rows read or removed at once.
const AT_ONCE: usize = 1_000;

/// The operations on the audit log.
impl Access {
    /// At most `limit` rows that match `filter`, the newest first. With `before`, only rows before
    /// that row.
    pub async fn audit(
        &self,
        filter: AuditFilter,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<audit::Row>, StorageError> {
        let arguments = (filter, before, limit);
        self.read("audit", arguments, |db, (filter, before, limit)| {
            Box::pin(list(db, filter, *before, *limit))
        })
        .await
    }

    /// Records the current request in a commit of its own: for requests that do not change the
    /// configuration, before they are carried out.
    pub async fn record(&self, note: Note) -> Result<(), StorageError> {
        self.change("record", note, |tx, note| {
            Box::pin(async move {
                tx.note(note.clone());
                Ok(())
            })
        })
        .await
    }

    /// The first fault that a check of the log finds, if any.
    pub async fn check_audit(&self) -> Result<Option<Fault>, StorageError> {
        self.read_snapshot("check_audit", (), |db, ()| Box::pin(check(db)))
            .await
    }

    /// Erases the values in the rows of a tag and of objects below it, and records the current
    /// request. `None` if there is no such tag, not even a deleted one.
    pub async fn erase_audit(&self, tag: TagId) -> Result<Option<()>, StorageError> {
        self.change("erase_audit", tag, |tx, tag| Box::pin(erase(tx, *tag)))
            .await
    }

    /// Removes some rows older than `keep_since`, the oldest first; `true` if more are left.
    pub async fn prune_audit(&self, keep_since: Timestamp) -> Result<bool, StorageError> {
        self.change("prune_audit", keep_since, |tx, keep_since| {
            Box::pin(prune(tx, *keep_since))
        })
        .await
    }
}

/// Columns of a row, for [`read`].
const COLUMNS: &str = "id, at, actor, name, address, action, object, digest, hash, salt, changes";

/// At most ?2 rows after the row ?1.
pub(crate) const ROWS: &str =
    "SELECT id, at, actor, name, address, action, object, digest, hash, salt, changes FROM audit
     WHERE id > ?1 ORDER BY id LIMIT ?2";

/// Selects the ends of the chain.
pub(crate) const ENDS: &str = "SELECT anchor, anchor_hash, head, head_hash FROM audit_ends";

/// Stores a row, its columns in the order of [`ROWS`].
pub(crate) const INSERT: &str =
    "INSERT INTO audit (id, at, actor, name, address, action, object, digest, hash, salt, changes)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

/// Stores the ends of the chain, columns as in [`ENDS`].
pub(crate) const SET_ENDS: &str =
    "INSERT INTO audit_ends (id, anchor, anchor_hash, head, head_hash) VALUES (1, ?1, ?2, ?3, ?4)
     ON CONFLICT (id) DO UPDATE SET anchor = excluded.anchor,
         anchor_hash = excluded.anchor_hash, head = excluded.head, head_hash = excluded.head_hash";

/// Reads a row of [`ROWS`].
pub(crate) fn read(mut row: Row) -> Result<audit::Row, StorageError> {
    Ok(audit::Row {
        id: row.take()?,
        at: row.take()?,
        actor: row.take()?,
        name: row.take()?,
        address: row.take()?,
        action: row.take()?,
        object: row.take()?,
        digest: hash(&mut row)?,
        hash: hash(&mut row)?,
        values: {
            let (salt, json): (Option<Vec<u8>>, Option<String>) = (row.take()?, row.take()?);
            // A salt of another length was not written by Tapdesk: it will not match the digest.
            let salt = salt.map(|salt| salt.try_into().unwrap_or_default());
            match (salt, json) {
                (None, None) => None,
                (salt, json) => Some((salt.unwrap_or_default(), json.unwrap_or_default())),
            }
        },
    })
}

/// Reads a hash. One of another length was not written by Tapdesk, so it becomes one that matches
/// no row.
fn hash(row: &mut Row) -> Result<audit::Hash, StorageError> {
    let bytes: Vec<u8> = row.take()?;
    Ok(bytes.try_into().unwrap_or(GENESIS))
}

/// Reads the row of [`ENDS`].
pub(crate) fn read_ends(mut row: Row) -> Result<Ends, StorageError> {
    Ok(Ends {
        anchor: (row.take()?, hash(&mut row)?),
        head: (row.take()?, hash(&mut row)?),
    })
}

async fn ends(db: &mut dyn Query) -> Result<Ends, StorageError> {
    let found = db.row(ENDS, &[]).await?;
    found.map_or(Ok(Ends::NONE), read_ends)
}

async fn list(
    db: &mut dyn Query,
    filter: &AuditFilter,
    before: Option<i64>,
    limit: usize,
) -> Result<Vec<audit::Row>, StorageError> {
    let mut conditions = String::from("id < ?1");
    let mut values = values![before.unwrap_or(i64::MAX)].to_vec();
    let mut add = |condition: &str, value: Value<'static>| {
        values.push(value);
        let place = format!("?{}", values.len());
        conditions.push_str(" AND ");
        conditions.push_str(&condition.replace('@', &place));
    };
    if let Some(actor) = &filter.actor {
        add("actor = @", actor.clone().into());
    }
    if let Some(action) = &filter.action {
        let condition = "(action = @ OR substr(action, 1, length(@) + 1) = @ || '.')";
        add(condition, action.clone().into());
    }
    if let Some(object) = &filter.object {
        let condition = "(object = @ OR (object >= @ || '/' AND object < @ || '0'))";
        add(condition, object.clone().into());
    }
    if let Some(since) = filter.since {
        add("at >= @", since.into());
    }
    if let Some(until) = filter.until {
        add("at < @", until.into());
    }
    values.push(Value::limit(limit));
    let sql = format!(
        "SELECT {COLUMNS} FROM audit WHERE {conditions} ORDER BY id DESC LIMIT ?{}",
        values.len()
    );
    let found = db.query(&sql, &values).await?;
    found.into_iter().map(read).collect()
}

async fn check(db: &mut dyn Query) -> Result<Option<Fault>, StorageError> {
    let mut check = Check::begin(ends(db).await?);
    loop {
        let values = values![check.checked(), Value::limit(AT_ONCE)];
        let rows = db.query(ROWS, &values).await?;
        if rows.is_empty() {
            return Ok(check.end().err());
        }
        for row in rows {
            if let Err(fault) = check.row(&read(row)?) {
                return Ok(Some(fault));
            }
        }
    }
}

/// Writes the row of `caller`'s request. It needs no lock, because only one transaction at a time
/// writes configuration and the log.
pub(super) async fn record(
    tx: &mut dyn Transaction,
    caller: &Caller,
    note: Option<Note>,
) -> Result<(), StorageError> {
    let Ends { anchor, head } = ends(tx).await?;
    let row = next(head, tx.now(), caller, note);
    tx.execute(INSERT, &columns(&row)).await?;
    set_ends(
        tx,
        Ends {
            anchor,
            head: (row.id, row.hash),
        },
    )
    .await
}

/// The parameters of [`INSERT`], in its order.
pub(crate) fn columns(row: &audit::Row) -> [Value<'_>; 11] {
    let values = row.values.as_ref();
    let (salt, changes) = values.map(|(salt, changes)| (salt, changes)).unzip();
    values![
        row.id,
        row.at,
        &row.actor,
        row.name.as_deref(),
        &row.address,
        &row.action,
        &row.object,
        row.digest.as_slice(),
        row.hash.as_slice(),
        salt.map(audit::Salt::as_slice),
        changes
    ]
}

/// The parameters of [`SET_ENDS`], in its order.
pub(crate) fn end_columns(ends: &Ends) -> [Value<'_>; 4] {
    values![
        ends.anchor.0,
        ends.anchor.1.as_slice(),
        ends.head.0,
        ends.head.1.as_slice()
    ]
}

/// The row of `caller`'s request, following `head` in the chain.
pub(crate) fn next(
    head: (i64, audit::Hash),
    at: Timestamp,
    caller: &Caller,
    note: Option<Note>,
) -> audit::Row {
    let note = note.unwrap_or_default();
    let (kind, name) = actor(&caller.actor);
    // Values of other objects, changed on the way to the request's own object, are not recorded.
    let of_request = |object: &String| object.split('/').next() == caller.object.split('/').next();
    let is_recorded = note.object.as_ref().is_none_or(of_request);
    let (before, after) = if is_recorded {
        (note.before, note.after)
    } else {
        (None, None)
    };
    let changes = Values {
        before,
        after: after.or_else(|| caller.asked()),
    };
    // JSON values can always be serialized.
    let changes = serde_json::to_string(&changes).unwrap_or_default();
    let mut row = audit::Row {
        id: head.0 + 1,
        at,
        actor: kind,
        name,
        address: caller.address.to_canonical().to_string(),
        action: caller.action.to_string(),
        object: note
            .object
            .filter(of_request)
            .unwrap_or_else(|| caller.object.clone()),
        digest: audit::digest(&caller.salt, &changes),
        hash: GENESIS,
        values: Some((caller.salt, changes)),
    };
    row.hash = row.hash_after(&head.1);
    row
}

/// The form of an actor in a row, with the name of its token.
pub(super) fn actor(actor: &Actor) -> (String, Option<String>) {
    match actor {
        Actor::Token(id, name) => (format!("token:{id}"), Some(name.clone())),
        Actor::Phone(id, name) => (format!("phone:{id}"), Some(name.clone())),
        Actor::Desktop => ("desktop".to_owned(), None),
        Actor::Encoder => ("encoder".to_owned(), None),
        Actor::CommandLine => ("command_line".to_owned(), None),
        Actor::Installation => ("installation".to_owned(), None),
    }
}

async fn set_ends(tx: &mut dyn Transaction, ends: Ends) -> Result<(), StorageError> {
    tx.execute(SET_ENDS, &end_columns(&ends)).await.map(drop)
}

async fn erase(tx: &mut dyn Transaction, tag: TagId) -> Result<Option<()>, StorageError> {
    if !tx
        .exists("SELECT 1 FROM tags WHERE id = ?1", &values![tag])
        .await?
    {
        return Ok(None);
    }
    let object = format!("tags/{tag}");
    // Objects below the tag sort between `/` and `0`, the character after it.
    let (from, to) = (format!("{object}/"), format!("{object}0"));
    let sql = "UPDATE audit SET salt = NULL, changes = NULL
         WHERE object = ?1 OR (object >= ?2 AND object < ?3)";
    tx.execute(sql, &values![object, from, to]).await?;
    tx.note(Note::default());
    Ok(Some(()))
}

/// Erases the values of a tag's variables from rows of the log. A value that a visitor entered is
/// in the row of the person who changed it later, as the previous value. One digest covers all
/// values of a row, so all values of a change of the whole tag are erased together.
pub(super) async fn forget_variables(
    tx: &mut dyn Transaction,
    tag: TagId,
    variables: &BTreeSet<&str>,
) -> Result<(), StorageError> {
    if variables.is_empty() {
        return Ok(());
    }
    let object = format!("tags/{tag}");
    let of_one = variables
        .iter()
        .map(|variable| format!("{object}/variables/{variable}"));
    let sql = "UPDATE audit SET salt = NULL, changes = NULL WHERE object IN texts(?1)";
    tx.execute(sql, &values![Value::list(of_one)]).await?;
    let sql = "SELECT id, changes FROM audit WHERE object = ?1 AND changes IS NOT NULL";
    let mut going: Vec<i64> = Vec::new();
    for mut row in tx.query(sql, &values![object]).await? {
        let (id, changes): (i64, String) = (row.take()?, row.take()?);
        // Values that cannot be parsed may contain the variable.
        let changes = serde_json::from_str::<Values>(&changes);
        if changes.map_or(true, |changes| shows_a_change_of(&changes, variables)) {
            going.push(id);
        }
    }
    let sql = "UPDATE audit SET salt = NULL, changes = NULL WHERE id IN ids(?1)";
    tx.execute(sql, &values![Value::list(going)])
        .await
        .map(drop)
}

/// Whether the values of a change to a whole tag contain one of these variables. The values with
/// which a tag was created come from no visitor.
fn shows_a_change_of(changes: &Values, variables: &BTreeSet<&str>) -> bool {
    let of_tag = |side: &Option<serde_json::Value>| {
        let shown = side.as_ref().and_then(|tag| tag.get("variables"));
        shown.is_some_and(|shown| variables.iter().any(|name| shown.get(name).is_some()))
    };
    changes.before.is_some() && (of_tag(&changes.before) || of_tag(&changes.after))
}

async fn prune(tx: &mut dyn Transaction, keep_since: Timestamp) -> Result<bool, StorageError> {
    let Ends { anchor, head } = ends(tx).await?;
    let (mut last, mut removed) = (anchor, 0);
    let values = values![anchor.0, Value::limit(AT_ONCE)];
    let oldest = "SELECT id, at, hash FROM audit WHERE id > ?1 ORDER BY id LIMIT ?2";
    for mut row in tx.query(oldest, &values).await? {
        let (id, at): (i64, Timestamp) = (row.take()?, row.take()?);
        if at >= keep_since {
            break;
        }
        last = (id, hash(&mut row)?);
        removed += 1;
    }
    if removed == 0 {
        return Ok(false);
    }
    tx.execute("DELETE FROM audit WHERE id <= ?1", &values![last.0])
        .await?;
    set_ends(tx, Ends { anchor: last, head }).await?;
    Ok(removed == AT_ONCE)
}
