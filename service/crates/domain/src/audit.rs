//! The audit log: who changed what, and when. Rows are chained: the hash of each row covers the row
//! before, and a digest of the changed values. So values can be erased, because they may contain
//! personal data, but no row can be changed, removed or inserted without a trace.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::clock::Timestamp;

/// A hash of the chain.
pub type Hash = [u8; 32];
/// Makes the digest of values impossible to guess once the values are erased.
pub type Salt = [u8; 16];

/// The start of the chain if no row was ever removed.
pub const GENESIS: Hash = [0; 32];
/// Longest stored value of a member, in bytes of JSON. A row records which members changed, but is
/// not a second copy of large values.
const MEMBER_MAX: usize = 4096;

/// The facts about a change that an operation gives to the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// The resource, as a path within the admin API; `None` for the addressed one.
    pub object: Option<String>,
    /// The resource before the change, without secrets.
    pub before: Option<Value>,
    /// The resource after the change, without secrets.
    pub after: Option<Value>,
}

impl Note {
    /// A resource was created.
    pub fn created(object: String, after: &impl Serialize) -> Self {
        Self {
            object: Some(object),
            before: None,
            after: shown(after),
        }
    }

    /// A resource was changed. Unchanged members are left out.
    pub fn changed(before: &impl Serialize, after: &impl Serialize) -> Self {
        let (mut before, mut after) = (shown(before), shown(after));
        if let (Some(Value::Object(before)), Some(Value::Object(after))) = (&mut before, &mut after)
        {
            let same = |before: &Map<_, _>, after: &Map<_, _>| {
                let names = before
                    .keys()
                    .filter(|name| after.get(*name) == before.get(*name));
                names.cloned().collect::<Vec<String>>()
            };
            for name in same(before, after) {
                before.remove(&name);
                after.remove(&name);
            }
        }
        Self {
            object: None,
            before,
            after,
        }
    }

    /// A resource was deleted.
    pub fn deleted(before: &impl Serialize) -> Self {
        Self {
            object: None,
            before: shown(before),
            after: None,
        }
    }

    /// An action was done, with these parameters.
    pub fn done(with: &impl Serialize) -> Self {
        Self {
            object: None,
            before: None,
            after: shown(with),
        }
    }
}

/// The form of a value in a row.
fn shown(value: &impl Serialize) -> Option<Value> {
    let mut value = serde_json::to_value(value).ok()?;
    if let Value::Object(members) = &mut value {
        for member in members.values_mut() {
            shorten(member);
        }
    } else {
        shorten(&mut value);
    }
    Some(value)
}

fn shorten(value: &mut Value) {
    let bytes = value.to_string().len();
    if bytes > MEMBER_MAX {
        *value = Value::String(format!("({bytes} bytes)"));
    }
}

/// The values of a row's change, with secrets left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Values {
    /// The resource before the change.
    pub before: Option<Value>,
    /// Resource after the change.
    pub after: Option<Value>,
}

/// A row of the audit log, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Number of the row; numbers rise by one.
    pub id: i64,
    /// Time of the change.
    pub at: Timestamp,
    /// The actor: `token:3`, `phone:3`, `desktop`, `encoder`, `command_line` or `installation`.
    pub actor: String,
    /// The name of the token or phone at that time.
    pub name: Option<String>,
    /// The address of the client.
    pub address: String,
    /// The action, such as `tags.update`.
    pub action: String,
    /// The target of the action, as a path within the admin API: `tags/41`.
    pub object: String,
    /// The digest of the values.
    pub digest: Hash,
    /// The hash of the whole row and of the row before.
    pub hash: Hash,
    /// The values in JSON, and their salt; `None` once they are erased.
    pub values: Option<(Salt, String)>,
}

impl Row {
    /// The row's hash if the row before has the hash `previous`.
    pub fn hash_after(&self, previous: &Hash) -> Hash {
        let who = (&self.actor, &self.name, &self.address);
        let members = (self.id, self.at.millis(), who, &self.action, &self.object);
        // Numbers and texts can always be written as JSON; the result begins with a bracket.
        let members = serde_json::to_vec(&members).unwrap_or_default();
        Sha256::new()
            .chain_update(previous)
            .chain_update(self.digest)
            .chain_update(members)
            .finalize()
            .into()
    }
}

/// The digest of values.
pub fn digest(salt: &Salt, values: &str) -> Hash {
    Sha256::new()
        .chain_update(salt)
        .chain_update(values)
        .finalize()
        .into()
}

/// Both ends of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The last row that was removed because of its age, and its hash.
    pub anchor: (i64, Hash),
    /// The newest row, and its hash.
    pub head: (i64, Hash),
}

impl Ends {
    /// The ends of a log without rows.
    pub const NONE: Self = Self {
        anchor: (0, GENESIS),
        head: (0, GENESIS),
    };
}

/// An error in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A row is missing.
    #[error("Row {0} of the audit log is missing.")]
    Missing(i64),
    /// A row was changed after it was written.
    #[error("Row {0} of the audit log was changed after it was written.")]
    Changed(i64),
    /// The separate record of the newest row does not fit that row.
    #[error("The end of the audit log was changed: its newest row is noted as {0}.")]
    End(i64),
}

/// Checks rows one after the other.
#[derive(Debug)]
pub struct Check {
    ends: Ends,
    last: (i64, Hash),
}

impl Check {
    /// Begins after the anchor.
    pub const fn begin(ends: Ends) -> Self {
        Self {
            ends,
            last: ends.anchor,
        }
    }

    /// Checks the next row.
    pub fn row(&mut self, row: &Row) -> Result<(), Fault> {
        let expected = self.last.0 + 1;
        if row.id != expected {
            return Err(Fault::Missing(expected));
        }
        let whole = row.hash_after(&self.last.1) == row.hash;
        let values = row.values.as_ref();
        if !whole || values.is_some_and(|(salt, json)| digest(salt, json) != row.digest) {
            return Err(Fault::Changed(row.id));
        }
        self.last = (row.id, row.hash);
        Ok(())
    }

    /// The number of the last checked row.
    pub const fn checked(&self) -> i64 {
        self.last.0
    }

    /// Checks that no row is missing at the end.
    pub fn end(self) -> Result<(), Fault> {
        let (head, hash) = self.ends.head;
        if self.last.0 < head {
            Err(Fault::Missing(self.last.0 + 1))
        } else if self.last == (head, hash) {
            Ok(())
        } else {
            Err(Fault::End(head))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn log(rows: i64) -> (Ends, Vec<Row>) {
        let mut previous = GENESIS;
        let rows = (1..=rows).map(|id| {
            let values = json!({"before": id}).to_string();
            let mut row = Row {
                id,
                at: Timestamp::from_millis(id * 1_000),
                actor: "desktop".to_owned(),
                name: None,
                address: "127.0.0.1".to_owned(),
                action: "tags.update".to_owned(),
                object: format!("tags/{id}"),
                digest: digest(&[7; 16], &values),
                hash: GENESIS,
                values: Some(([7; 16], values)),
            };
            row.hash = row.hash_after(&previous);
            previous = row.hash;
            row
        });
        let rows: Vec<_> = rows.collect();
        let head = rows.last().map_or((0, GENESIS), |row| (row.id, row.hash));
        let ends = Ends { head, ..Ends::NONE };
        (ends, rows)
    }

    fn check(ends: Ends, rows: &[Row]) -> Result<(), Fault> {
        let mut check = Check::begin(ends);
        rows.iter().try_for_each(|row| check.row(row))?;
        check.end()
    }

    #[test]
    fn whatever_is_changed_in_a_row_is_named_by_it() {
        let (ends, rows) = log(5);
        assert_eq!(check(ends, &rows), Ok(()));
        let changes: [fn(&mut Row); 10] = [
            |row| row.at = Timestamp::from_millis(1),
            |row| row.actor.push('1'),
            |row| row.name = Some(String::new()),
            |row| row.address.clear(),
            |row| row.action = "tags.delete".to_owned(),
            |row| row.object = "tags/4".to_owned(),
            |row| row.digest[31] ^= 1,
            |row| row.hash[0] ^= 1,
            |row| row.values.as_mut().unwrap().0[3] ^= 1,
            |row| row.values.as_mut().unwrap().1.push(' '),
        ];
        for change in changes {
            let mut rows = rows.clone();
            change(&mut rows[2]);
            assert_eq!(check(ends, &rows), Err(Fault::Changed(3)));
        }
    }

    #[test]
    fn a_row_that_is_left_out_put_in_or_cut_off_is_named() {
        let (ends, rows) = log(5);
        let without = |at| {
            let mut rows = rows.clone();
            rows.remove(at);
            rows
        };
        assert_eq!(check(ends, &without(0)), Err(Fault::Missing(1)));
        assert_eq!(check(ends, &without(2)), Err(Fault::Missing(3)));
        assert_eq!(check(ends, &without(4)), Err(Fault::Missing(5)));
        assert_eq!(check(ends, &[]), Err(Fault::Missing(1)));
        let (_, longer) = log(6);
        assert_eq!(check(ends, &longer), Err(Fault::End(5)));
        let mut moved = rows.clone();
        moved.swap(1, 2);
        assert_eq!(check(ends, &moved), Err(Fault::Missing(2)));
    }

    #[test]
    fn what_is_erased_or_too_old_leaves_the_chain_whole() {
        let (ends, mut rows) = log(5);
        rows[3].values = None;
        assert_eq!(check(ends, &rows), Ok(()));
        let anchor = (rows[1].id, rows[1].hash);
        assert_eq!(check(Ends { anchor, ..ends }, &rows[2..]), Ok(()));
        assert_eq!(check(ends, &rows[2..]), Err(Fault::Missing(1)));
        assert_eq!(check(Ends::NONE, &[]), Ok(()));
    }

    #[test]
    fn a_note_tells_what_differs_and_is_short() {
        let long = "x".repeat(MEMBER_MAX);
        let note = Note::changed(
            &json!({"name": "A", "slug": "a", "text": ""}),
            &json!({"name": "B", "slug": "a", "text": long}),
        );
        assert_eq!(note.before, Some(json!({"name": "A", "text": ""})));
        assert_eq!(
            note.after,
            Some(json!({"name": "B", "text": "(4098 bytes)"}))
        );
    }
}
