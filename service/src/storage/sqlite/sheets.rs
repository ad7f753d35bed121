//! Test sheets of the reader, in SQL.

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::{SqliteStorage, row};
use crate::clock::Timestamp;
use crate::id::SheetId;
use crate::sheet::{Expected, ROWS_MAX, RowFields, Sheet, SheetFields, SheetRow};
use crate::storage::{Conflict, SheetEdit, Sheets, StorageError};

#[async_trait]
impl Sheets for SqliteStorage {
    async fn insert_sheet(
        &self,
        fields: SheetFields,
        expected: Expected,
    ) -> Result<Sheet, StorageError> {
        self.write(move |write| {
            let expected =
                serde_json::to_string(&expected).map_err(|_| row::unreadable("sheet"))?;
            let closed_at = fields.closed.then_some(write.now.millis());
            write.connection.execute(
                "INSERT INTO sheets (name, expected, planned, created_at, closed_at)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
                (
                    &fields.name,
                    expected,
                    fields.planned,
                    write.now.millis(),
                    closed_at,
                ),
            )?;
            let id = SheetId(write.connection.last_insert_rowid());
            sheet(write.connection, id)?.ok_or_else(|| row::unreadable("sheet"))
        })
        .await
    }

    async fn sheet(&self, id: SheetId) -> Result<Option<Sheet>, StorageError> {
        self.read(|connection| sheet(connection, id))
    }

    async fn sheets(
        &self,
        after: Option<SheetId>,
        limit: usize,
    ) -> Result<Vec<Sheet>, StorageError> {
        self.read(|connection| {
            let mut list = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM sheets s WHERE s.id < ?1 ORDER BY s.id DESC LIMIT ?2"
            ))?;
            let after = after.map_or(i64::MAX, |id| id.0);
            let sheets = list.query_and_then((after, limit), from_row)?;
            sheets.collect()
        })
    }

    async fn count_sheets(&self) -> Result<u64, StorageError> {
        self.read(|connection| {
            Ok(connection.query_row("SELECT count(*) FROM sheets", [], |row| row.get(0))?)
        })
    }

    async fn edit_sheet(
        &self,
        id: SheetId,
        edit: SheetEdit,
    ) -> Result<Option<Sheet>, StorageError> {
        self.write(move |write| {
            let Some(before) = sheet(write.connection, id)? else {
                return Ok(None);
            };
            let fields = edit(before.fields)?;
            let closed_at = fields
                .closed
                .then_some(before.closed_at.unwrap_or(write.now).millis());
            write.connection.execute(
                "UPDATE sheets SET name = ?2, planned = ?3, closed_at = ?4 WHERE id = ?1",
                (id.0, &fields.name, fields.planned, closed_at),
            )?;
            sheet(write.connection, id)
        })
        .await
    }

    async fn append_sheet_row(
        &self,
        id: SheetId,
        fields: RowFields,
    ) -> Result<Option<SheetRow>, StorageError> {
        self.write(move |write| {
            let Some(sheet) = sheet(write.connection, id)? else {
                return Ok(None);
            };
            if sheet.fields.closed {
                let why = "The sheet is closed. It takes rows again once it is opened.";
                return Err(Conflict::InUse(why.to_owned()).into());
            }
            if sheet.row_count >= ROWS_MAX {
                let why =
                    format!("The sheet has {ROWS_MAX} rows and takes no more. Begin another.");
                return Err(Conflict::InUse(why).into());
            }
            let position = sheet.row_count + 1;
            let json = serde_json::to_string(&fields).map_err(|_| row::unreadable("sheet"))?;
            write
                .connection
                .prepare_cached(
                    "INSERT INTO sheet_rows (sheet_id, position, at, row) VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute((id.0, position, write.now.millis(), json))?;
            Ok(Some(SheetRow {
                position,
                at: write.now,
                fields: fields.clone(),
            }))
        })
        .await
    }

    async fn sheet_rows(&self, id: SheetId) -> Result<Option<Vec<SheetRow>>, StorageError> {
        self.read_long(move |connection| {
            if sheet(connection, id)?.is_none() {
                return Ok(None);
            }
            let mut list = connection.prepare_cached(
                "SELECT position, at, row FROM sheet_rows WHERE sheet_id = ?1 ORDER BY position",
            )?;
            let rows = list.query_and_then([id.0], |r| {
                let json: String = r.get(2)?;
                Ok(SheetRow {
                    position: r.get(0)?,
                    at: Timestamp::from_millis(r.get(1)?),
                    fields: serde_json::from_str(&json).map_err(|_| row::unreadable("row"))?,
                })
            })?;
            rows.collect::<Result<_, StorageError>>().map(Some)
        })
        .await
    }
}

/// Rows are never removed, so the last position is their number.
const COLUMNS: &str = "s.id, s.name, s.expected, s.planned, s.created_at, s.closed_at, \
    (SELECT coalesce(max(position), 0) FROM sheet_rows WHERE sheet_id = s.id)";

fn sheet(connection: &Connection, id: SheetId) -> Result<Option<Sheet>, StorageError> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM sheets s WHERE s.id = ?1"))?
        .query_row([id.0], |row| Ok(from_row(row)))
        .optional()?
        .transpose()
}

fn from_row(r: &Row<'_>) -> Result<Sheet, StorageError> {
    let expected: String = r.get(2)?;
    let closed_at = r.get::<_, Option<i64>>(5)?.map(Timestamp::from_millis);
    Ok(Sheet {
        id: SheetId(r.get(0)?),
        fields: SheetFields {
            name: r.get(1)?,
            planned: r.get(3)?,
            closed: closed_at.is_some(),
        },
        expected: serde_json::from_str(&expected).map_err(|_| row::unreadable("sheet"))?,
        row_count: r.get(6)?,
        created_at: Timestamp::from_millis(r.get(4)?),
        closed_at,
    })
}
