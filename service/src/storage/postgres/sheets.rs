//! Test sheets of the reader, in SQL.

use async_trait::async_trait;
use tokio_postgres::Row;

use super::PostgresStorage;
use super::row::{self, column, unreadable};
use super::session::Session;
use super::transaction::Write;
use crate::clock::Timestamp;
use crate::id::SheetId;
use crate::sheet::{Expected, ROWS_MAX, RowFields, Sheet, SheetFields, SheetRow};
use crate::storage::{Conflict, SheetEdit, Sheets, StorageError};

#[async_trait]
impl Sheets for PostgresStorage {
    async fn insert_sheet(
        &self,
        fields: SheetFields,
        expected: Expected,
    ) -> Result<Sheet, StorageError> {
        let write = self.begin().await?;
        let inserted = insert(&write, &fields, expected).await;
        self.end(write, inserted).await
    }

    async fn sheet(&self, id: SheetId) -> Result<Option<Sheet>, StorageError> {
        sheet(&self.session().await?, id).await
    }

    async fn sheets(
        &self,
        after: Option<SheetId>,
        limit: usize,
    ) -> Result<Vec<Sheet>, StorageError> {
        let session = self.session().await?;
        let sql =
            format!("SELECT {COLUMNS} FROM sheets s WHERE s.id < $1 ORDER BY s.id DESC LIMIT $2");
        let after = after.map_or(i64::MAX, |id| id.0);
        let found = session.rows(&sql, &[&after, &row::limit(limit)]).await?;
        found.iter().map(from_row).collect()
    }

    async fn count_sheets(&self) -> Result<u64, StorageError> {
        let session = self.session().await?;
        row::count(&session.one("SELECT count(*) FROM sheets", &[]).await?)
    }

    async fn edit_sheet(
        &self,
        id: SheetId,
        edit: SheetEdit,
    ) -> Result<Option<Sheet>, StorageError> {
        let write = self.begin().await?;
        let edited = self.contained(edit_sheet(&write, id, &edit)).await;
        self.end(write, edited).await
    }

    async fn append_sheet_row(
        &self,
        id: SheetId,
        row: RowFields,
    ) -> Result<Option<SheetRow>, StorageError> {
        let write = self.begin().await?;
        let appended = append(&write, id, row).await;
        self.end(write, appended).await
    }

    async fn sheet_rows(&self, id: SheetId) -> Result<Option<Vec<SheetRow>>, StorageError> {
        let session = self.session().await?;
        if sheet(&session, id).await?.is_none() {
            return Ok(None);
        }
        let found = session
            .rows(
                "SELECT position, at, row FROM sheet_rows WHERE sheet_id = $1 ORDER BY position",
                &[&id.0],
            )
            .await?;
        let rows = found.iter().map(|found| {
            Ok(SheetRow {
                position: row::number(found, 0)?.into(),
                at: row::time(found, 1)?,
                fields: serde_json::from_str(column(found, 2)?).map_err(|_| unreadable("row"))?,
            })
        });
        rows.collect::<Result<_, StorageError>>().map(Some)
    }
}

/// Rows are never removed, so the last position is their number.
const COLUMNS: &str = "s.id, s.name, s.expected, s.planned, s.created_at, s.closed_at, \
    (SELECT coalesce(max(position), 0) FROM sheet_rows WHERE sheet_id = s.id)";

async fn sheet(session: &Session, id: SheetId) -> Result<Option<Sheet>, StorageError> {
    let sql = format!("SELECT {COLUMNS} FROM sheets s WHERE s.id = $1");
    let found = session.row(&sql, &[&id.0]).await?;
    found.as_ref().map(from_row).transpose()
}

async fn insert(
    write: &Write,
    fields: &SheetFields,
    expected: Expected,
) -> Result<Sheet, StorageError> {
    let expected_json = serde_json::to_string(&expected).map_err(|_| unreadable("sheet"))?;
    let closed_at = fields.closed.then_some(write.now);
    let inserted = write
        .one(
            "INSERT INTO sheets (name, expected, planned, created_at, closed_at)
             VALUES ($1, $2, $3, $4, $5) RETURNING id",
            &[
                &fields.name,
                &expected_json,
                &fields.planned.map(u32::cast_signed),
                &write.now.millis(),
                &closed_at.map(Timestamp::millis),
            ],
        )
        .await?;
    Ok(Sheet {
        id: SheetId(column(&inserted, 0)?),
        fields: fields.clone(),
        expected,
        row_count: 0,
        created_at: write.now,
        closed_at,
    })
}

async fn edit_sheet(
    write: &Write,
    id: SheetId,
    edit: &SheetEdit,
) -> Result<Option<Sheet>, StorageError> {
    let Some(before) = sheet(write, id).await? else {
        return Ok(None);
    };
    let fields = edit(before.fields)?;
    let closed_at = fields
        .closed
        .then_some(before.closed_at.unwrap_or(write.now));
    write
        .run(
            "UPDATE sheets SET name = $2, planned = $3, closed_at = $4 WHERE id = $1",
            &[
                &id.0,
                &fields.name,
                &fields.planned.map(u32::cast_signed),
                &closed_at.map(Timestamp::millis),
            ],
        )
        .await?;
    Ok(Some(Sheet {
        fields,
        closed_at,
        ..before
    }))
}

async fn append(
    write: &Write,
    id: SheetId,
    fields: RowFields,
) -> Result<Option<SheetRow>, StorageError> {
    let Some(sheet) = sheet(write, id).await? else {
        return Ok(None);
    };
    if sheet.fields.closed {
        let why = "The sheet is closed. It takes rows again once it is opened.";
        return Err(Conflict::InUse(why.to_owned()).into());
    }
    if sheet.row_count >= ROWS_MAX {
        let why = format!("The sheet has {ROWS_MAX} rows and takes no more. Begin another.");
        return Err(Conflict::InUse(why).into());
    }
    let json = serde_json::to_string(&fields).map_err(|_| unreadable("sheet"))?;
    let inserted = write
        .one(
            "INSERT INTO sheet_rows (sheet_id, position, at, row)
             SELECT $1, coalesce(max(position), 0) + 1, $2, $3 FROM sheet_rows WHERE sheet_id = $1
             RETURNING position",
            &[&id.0, &write.now.millis(), &json],
        )
        .await?;
    Ok(Some(SheetRow {
        position: row::number(&inserted, 0)?.into(),
        at: write.now,
        fields,
    }))
}

fn from_row(found: &Row) -> Result<Sheet, StorageError> {
    let closed_at = row::optional_time(found, 5)?;
    Ok(Sheet {
        id: SheetId(column(found, 0)?),
        fields: SheetFields {
            name: column(found, 1)?,
            planned: row::optional_number(found, 3)?,
            closed: closed_at.is_some(),
        },
        expected: serde_json::from_str(column(found, 2)?).map_err(|_| unreadable("sheet"))?,
        row_count: row::number(found, 6)?.into(),
        created_at: row::time(found, 4)?,
        closed_at,
    })
}
