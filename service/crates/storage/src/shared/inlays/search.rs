//! Finds inlays by a part of their UID, as people read it from a label, a reader or a scanner. Both
//! databases have an index of three-digit pieces of UIDs.

use crate::StorageError;
use crate::search::{self, containing};
use crate::shared::dialect::Dialect;
use crate::shared::{Query, Transaction};
use crate::value::{Value, values};
use domain::id::{InlayId, TagId};
use inlay::Uid;

/// Fewest digits of a part of a UID. Fewer are a number rather than a UID, and are in too many UIDs.
const DIGITS: usize = 4;

/// Fewest digits that are also looked for in the opposite order of bytes, in which some readers show
/// a UID. Half of a UID is enough to tell the chips of a reel apart; fewer digits would only find
/// further chips by chance.
const REVERSED_DIGITS: usize = 8;

/// Fewest digits that are looked for in any place of a UID if none of them is a letter. Fewer are
/// more often a year or another number, which hundreds of a million UIDs have by chance. They are
/// looked for at the end of a UID, which people read from a label.
const NUMBER_DIGITS: usize = 6;

/// Adds inlays to SQLite's index; a condition follows.
pub(crate) const INDEX_INLAYS: &str =
    "INSERT INTO inlays_search (rowid, uid) SELECT id, lower(hex(uid)) FROM inlays";

/// Adds new inlays to SQLite's index. In PostgreSQL the index is part of the table.
pub(super) async fn index(tx: &mut dyn Transaction, new: &[InlayId]) -> Result<(), StorageError> {
    if tx.dialect() == Dialect::Sqlite && !new.is_empty() {
        let sql = format!("{INDEX_INLAYS} WHERE id IN ids(?1)");
        tx.execute(&sql, &values![Value::list(new)]).await?;
    }
    Ok(())
}

/// Digits that are in a UID: one or the other of these, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::shared) struct UidPart {
    digits: Vec<String>,
    /// Whether they must be the last ones.
    at_end: bool,
}

impl UidPart {
    /// The part of a UID that a folded word of a search may be; `None` if it is none.
    pub(in crate::shared) fn of(word: &str) -> Option<Self> {
        let digits = word.replace([':', '-', ' '], "");
        let is_part = (DIGITS..=2 * Uid::LENGTH).contains(&digits.len());
        if !is_part || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let is_number = digits == word && digits.bytes().all(|digit| digit.is_ascii_digit());
        let at_end = is_number && digits.len() < NUMBER_DIGITS;
        let bytes = digits.as_bytes().rchunks(2);
        let reversed: String = bytes.flatten().copied().map(char::from).collect();
        let is_read_backwards = digits.len() >= REVERSED_DIGITS && digits.len().is_multiple_of(2);
        let mut digits = vec![digits];
        if is_read_backwards && !digits.contains(&reversed) {
            digits.push(reversed);
        }
        Some(Self { digits, at_end })
    }

    /// The whole UIDs that it may be; `None` if it is a part of them.
    fn whole(&self) -> Option<Vec<Uid>> {
        self.digits.iter().map(|uid| uid.parse().ok()).collect()
    }

    /// The condition that the UID of an inlay `i` has the part. `bind` adds a value to the statement
    /// and returns its placeholder.
    pub(in crate::shared) fn is_in_uid(
        &self,
        dialect: Dialect,
        mut bind: impl FnMut(Value<'static>) -> String,
    ) -> String {
        if let Some(uids) = self.whole() {
            let uids: Vec<_> = uids.into_iter().map(|uid| bind(uid.into())).collect();
            return format!("i.uid IN ({})", uids.join(", "));
        }
        let parts = self.digits.iter().map(|part| match (dialect, self.at_end) {
            (Dialect::Sqlite, false) => {
                format!(
                    "instr(lower(hex(i.uid)), {}) > 0",
                    bind(part.clone().into())
                )
            }
            (Dialect::Sqlite, true) => {
                let end = bind(format!("%{part}").into());
                format!("lower(hex(i.uid)) LIKE {end}")
            }
            (Dialect::Postgres, at_end) => {
                let pattern = if at_end {
                    format!("%{part}")
                } else {
                    containing(part)
                };
                format!("encode(i.uid, 'hex') LIKE {}", bind(pattern.into()))
            }
        });
        format!("({})", parts.collect::<Vec<_>>().join(" OR "))
    }

    /// The tags of inlays whose UID has the part; `None` if more than `most` inlays have it.
    pub(in crate::shared) async fn tags(
        &self,
        db: &mut dyn Query,
        most: usize,
    ) -> Result<Option<Vec<TagId>>, StorageError> {
        let dialect = db.dialect();
        let mut values = Vec::<Value<'_>>::new();
        let mut bind = |value: Value<'static>| {
            values.push(value);
            format!("?{}", values.len())
        };
        let is_in_uid = self.is_in_uid(dialect, &mut bind);
        let from = match (dialect, self.pieces()) {
            (Dialect::Sqlite, Some(pieces)) => {
                let pieces = bind(pieces.into());
                format!(
                    "inlays_search s CROSS JOIN inlays i ON i.id = s.rowid
                     WHERE inlays_search MATCH {pieces} AND"
                )
            }
            _ => "inlays i WHERE".to_owned(),
        };
        // Inlays without a tag and deleted ones count for the limit, so that few rows are read
        // however many there are.
        let limit = bind(Value::limit(most + 1));
        let sql =
            format!("SELECT i.tag_id, i.deleted_at IS NULL FROM {from} {is_in_uid} LIMIT {limit}");
        let found = db.query_once(&sql, &values).await?;
        if found.len() > most {
            return Ok(None);
        }
        let mut tags = Vec::new();
        for mut row in found {
            if let (Some(tag), true) = (row.take::<Option<TagId>>()?, row.take()?) {
                tags.push(tag);
            }
        }
        tags.sort_unstable();
        tags.dedup();
        Ok(Some(tags))
    }

    /// The query for SQLite's index; `None` for whole UIDs, which another index has.
    fn pieces(&self) -> Option<String> {
        if self.whole().is_some() {
            return None;
        }
        let parts = self.digits.iter().map(String::as_str);
        search::pieces(&[parts.collect()], search::of_uid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_to_fourteen_digits_are_a_part_of_a_uid_and_eight_are_read_in_both_orders() {
        for word in ["04d", "04d:", "bottle", "04de5g", "04de5f1e:aabbccddeeff0"] {
            assert_eq!(UidPart::of(word), None, "{word}");
        }
        for (word, parts) in [
            ("c040", vec!["c040"]),
            ("04:de:5f", vec!["04de5f"]),
            ("04-de-5f-1", vec!["04de5f1"]),
            ("04 de 5f 1e", vec!["04de5f1e", "1e5fde04"]),
            ("04de5f1ea", vec!["04de5f1ea"]),
            ("0102020102010201", vec![]),
            ("04de5f1eacc040", vec!["04de5f1eacc040", "40c0ac1e5fde04"]),
            ("12344312", vec!["12344312", "12433412"]),
            ("12343412", vec!["12343412"]),
        ] {
            let digits: Vec<_> = parts.iter().map(|part| (*part).to_owned()).collect();
            let at_end = false;
            let expected = (!parts.is_empty()).then_some(UidPart { digits, at_end });
            assert_eq!(UidPart::of(word), expected, "{word}");
        }
    }

    #[test]
    fn four_or_five_digits_without_letters_are_the_end_of_a_uid() {
        for (word, at_end) in [
            ("2021", true),
            ("20210", true),
            ("202104", false),
            ("20e1", false),
            // It is written as a UID.
            ("20:21", false),
        ] {
            let part = UidPart::of(word).unwrap();
            assert_eq!(part.at_end, at_end, "{word}");
            let condition = part.is_in_uid(Dialect::Sqlite, |_| "?1".to_owned());
            assert_eq!(condition.contains("LIKE"), at_end, "{condition}");
        }
    }

    #[test]
    fn a_whole_uid_is_looked_up_in_the_index_of_uids() {
        let part = UidPart::of("04:de:5f:1e:ac:c0:40").unwrap();
        let mut values = Vec::new();
        let condition = part.is_in_uid(Dialect::Sqlite, |value| {
            values.push(value);
            format!("?{}", values.len())
        });
        assert_eq!(condition, "i.uid IN (?1, ?2)");
        assert_eq!(part.pieces(), None);
        assert!(UidPart::of("04de5f1eacc04").unwrap().pieces().is_some());
    }
}
