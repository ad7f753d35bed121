//! Previews that programs fetched, by the hour.

use std::collections::BTreeMap;

use crate::value::values;
use crate::{Access, StorageError};

/// The operations on counts of previews.
impl Access {
    /// Adds `previews` that programs fetched in an hour; `hour` is its number since 1970.
    pub async fn note_previews(&self, hour: i64, previews: u64) -> Result<(), StorageError> {
        let added = "INSERT INTO previews (hour, previews) VALUES (?1, ?2) \
            ON CONFLICT (hour) DO UPDATE SET previews = previews.previews + excluded.previews";
        self.change_at_once("note_previews", added, values![hour, previews].to_vec())
            .await
            .map(drop)
    }

    /// How many previews programs fetched in each hour from `first` up to, but not including, `end`.
    /// Previews that are not stored yet are missing.
    pub async fn previews(&self, first: i64, end: i64) -> Result<BTreeMap<i64, u64>, StorageError> {
        self.read("previews", (first, end), |db, (first, end)| {
            Box::pin(async move {
                let sql = "SELECT hour, previews FROM previews WHERE hour >= ?1 AND hour < ?2";
                let found = db.query(sql, &values![*first, *end]).await?.into_iter();
                let hours = found.map(|mut row| Ok((row.take()?, row.take()?)));
                hours.collect()
            })
        })
        .await
    }
}
