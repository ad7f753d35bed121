//! Test sheets of the reader: their SQL.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::{Query, Transaction, audit, batches, staff_notes};
use crate::value::{Row, Value, unreadable, values};
use crate::{Access, Conflict, InUse, SheetEdit, StorageError};
use domain::audit::Note;
use domain::clock::Millis;
use domain::field_error::FieldError;
use domain::id::SheetId;
use domain::image_type::ImageType;
use domain::interaction::StaffPhoto;
use domain::recorder::Recorder;
use domain::sheet::{Expected, ROWS_MAX, RowFields, Sheet, SheetFields, SheetRow, SignOff};

/// The time within which two presses without a counter are one: a person needs longer for a new tap.
const PRESSED_TWICE: Millis = Millis::seconds(2);

/// The operations on test sheets.
impl Access {
    /// Stores a new sheet.
    pub async fn insert_sheet(
        &self,
        fields: SheetFields,
        expected: Expected,
    ) -> Result<Sheet, StorageError> {
        self.change(
            "insert_sheet",
            (fields, expected),
            |tx, (fields, expected)| Box::pin(insert(tx, fields, expected)),
        )
        .await
    }

    /// The sheet with this id.
    pub async fn sheet(&self, id: SheetId) -> Result<Option<Sheet>, StorageError> {
        self.read("sheet", id, |db, id| Box::pin(sheet(db, *id)))
            .await
    }

    /// At most `limit` sheets, the newest first, after the sheet `after`.
    pub async fn sheets(
        &self,
        after: Option<SheetId>,
        limit: usize,
    ) -> Result<Vec<Sheet>, StorageError> {
        self.read("sheets", (after, limit), |db, (after, limit)| {
            Box::pin(list(db, *after, *limit))
        })
        .await
    }

    /// At most `limit` sheets that are not closed, the newest first.
    pub async fn open_sheets(&self, limit: usize) -> Result<Vec<Sheet>, StorageError> {
        self.read("open_sheets", limit, |db, limit| Box::pin(open(db, *limit)))
            .await
    }

    /// How many sheets there are.
    pub async fn count_sheets(&self) -> Result<u64, StorageError> {
        self.read("count_sheets", (), |db, ()| {
            db.count("SELECT count(*) FROM sheets", &[])
        })
        .await
    }

    /// Applies `edit` to a sheet, and sets or clears its closing time accordingly.
    ///
    /// # Errors
    ///
    /// The error of `edit`, and [`InUse::SignedOff`](crate::InUse::SignedOff).
    pub async fn edit_sheet(
        &self,
        id: SheetId,
        edit: SheetEdit,
    ) -> Result<Option<Sheet>, StorageError> {
        self.change("edit_sheet", (id, edit), |tx, (id, edit)| {
            Box::pin(self::edit(tx, *id, edit))
        })
        .await
    }

    /// Closes a sheet for good: `signer` confirms its rows. `row_count` is the number of rows that
    /// the signer saw.
    ///
    /// # Errors
    ///
    /// [`InUse::SignedOff`](crate::InUse::SignedOff), [`InUse::OtherRows`](crate::InUse::OtherRows), and
    /// [`Invalid::Edit`](crate::Invalid::Edit) for a sheet without rows.
    pub async fn sign_off_sheet(
        &self,
        id: SheetId,
        signer: String,
        row_count: u64,
    ) -> Result<Option<Sheet>, StorageError> {
        let by = self.recorder();
        self.change(
            "sign_off_sheet",
            (id, signer, row_count, by),
            |tx, (id, signer, row_count, by)| {
                Box::pin(sign_off(tx, *id, (signer, by.as_ref()), *row_count))
            },
        )
        .await
    }

    /// Appends a row to an open sheet.
    ///
    /// # Errors
    ///
    /// [`InUse::Closed`](crate::InUse::Closed), [`InUse::Full`](crate::InUse::Full) and
    /// [`InUse::SignedOff`](crate::InUse::SignedOff).
    pub async fn append_sheet_row(
        &self,
        id: SheetId,
        row: RowFields,
    ) -> Result<Option<SheetRow>, StorageError> {
        let by = self.recorder();
        self.change("append_sheet_row", (id, row, by), |tx, (id, row, by)| {
            Box::pin(append(tx, *id, (row, None), by.as_ref()))
        })
        .await
    }

    /// Adds a row with its photo, unless the newest one of the same inlay is the same press of the same
    /// person: that one is returned then. `None` if there is no such sheet.
    pub async fn append_sheet_row_once(
        &self,
        id: SheetId,
        row: RowFields,
        photo: Option<(ImageType, Vec<u8>)>,
    ) -> Result<Option<SheetRow>, StorageError> {
        let by = self.recorder();
        self.change(
            "append_sheet_row_once",
            (id, row, photo, by),
            |tx, (id, row, photo, by)| {
                Box::pin(append_once(tx, *id, (row, photo.as_ref()), by.as_ref()))
            },
        )
        .await
    }

    /// The photo of a row, and its bytes.
    pub async fn sheet_photo(
        &self,
        id: SheetId,
        position: u32,
    ) -> Result<Option<(StaffPhoto, Vec<u8>)>, StorageError> {
        self.read("sheet_photo", (id, position), |db, (id, position)| {
            Box::pin(photo(db, *id, *position))
        })
        .await
    }

    /// All rows of a sheet, in their order; `None` if there is no such sheet.
    pub async fn sheet_rows(&self, id: SheetId) -> Result<Option<Vec<SheetRow>>, StorageError> {
        self.read("sheet_rows", id, |db, id| Box::pin(rows(db, *id)))
            .await
    }

    /// The sender of the request, for records.
    fn recorder(&self) -> Option<Recorder> {
        let (actor, name) = audit::actor(&self.caller()?.actor);
        Some(Recorder::of_actor(&actor, name))
    }
}

/// Rows are never removed, so the highest position is the number of rows.
const SELECT: &str = "SELECT s.id, s.name, s.planned, s.created_at, s.closed_at, s.expected, s.signed_off, \
        (SELECT coalesce(max(position), 0) FROM sheet_rows WHERE sheet_id = s.id) \
    FROM sheets s";

fn read(mut row: Row) -> Result<Sheet, StorageError> {
    let id = row.take()?;
    let (fields, created_at, closed_at) = batches::read(&mut row)?;
    Ok(Sheet {
        id,
        fields,
        expected: row.json("sheet")?,
        signed_off: optional(row.take()?)?,
        row_count: row.take()?,
        created_at,
        closed_at,
    })
}

/// Parses a column with JSON that can be empty.
fn optional<T: DeserializeOwned>(json: Option<String>) -> Result<Option<T>, StorageError> {
    let parsed = json.map(|json| serde_json::from_str(&json)).transpose();
    parsed.map_err(|_| unreadable("sheet"))
}

fn written(value: &impl Serialize) -> Result<String, StorageError> {
    serde_json::to_string(value).map_err(|_| unreadable("sheet"))
}

async fn sheet(db: &mut dyn Query, id: SheetId) -> Result<Option<Sheet>, StorageError> {
    let sql = format!("{SELECT} WHERE s.id = ?1");
    db.row(&sql, &values![id]).await?.map(read).transpose()
}

async fn list(
    db: &mut dyn Query,
    after: Option<SheetId>,
    limit: usize,
) -> Result<Vec<Sheet>, StorageError> {
    let sql = format!("{SELECT} WHERE s.id < ?1 ORDER BY s.id DESC LIMIT ?2");
    let values = values![after.map_or(i64::MAX, SheetId::get), Value::limit(limit)];
    db.query(&sql, &values)
        .await?
        .into_iter()
        .map(read)
        .collect()
}

async fn open(db: &mut dyn Query, limit: usize) -> Result<Vec<Sheet>, StorageError> {
    let sql = format!("{SELECT} WHERE s.closed_at IS NULL ORDER BY s.id DESC LIMIT ?1");
    let found = db.query(&sql, &values![Value::limit(limit)]).await?;
    found.into_iter().map(read).collect()
}

async fn insert(
    tx: &mut dyn Transaction,
    fields: &SheetFields,
    expected: &Expected,
) -> Result<Sheet, StorageError> {
    let expected = written(expected)?;
    let id: SheetId = batches::insert(tx, "sheets", fields, ("expected", expected)).await?;
    tx.note(Note::created(format!("sheets/{id}"), fields));
    let stored = sheet(tx, id).await?;
    stored.ok_or_else(|| unreadable("sheet"))
}

async fn edit(
    tx: &mut dyn Transaction,
    id: SheetId,
    edit: &SheetEdit,
) -> Result<Option<Sheet>, StorageError> {
    let Some(before) = sheet(tx, id).await? else {
        return Ok(None);
    };
    let fields = edit(before.fields.clone())?;
    if before.signed_off.is_some() && fields != before.fields {
        return Err(InUse::SignedOff.into());
    }
    let stored = (&before.fields, before.closed_at);
    batches::update(tx, "sheets", id, stored, &fields).await?;
    sheet(tx, id).await
}

async fn sign_off(
    tx: &mut dyn Transaction,
    id: SheetId,
    (signer, by): (&str, Option<&Recorder>),
    row_count: u64,
) -> Result<Option<Sheet>, StorageError> {
    let Some(before) = sheet(tx, id).await? else {
        return Ok(None);
    };
    if before.signed_off.is_some() {
        return Err(InUse::SignedOff.into());
    }
    if before.row_count != row_count {
        return Err(InUse::OtherRows(before.row_count).into());
    }
    if row_count == 0 {
        let why = "A sheet without rows has nothing to confirm. Add a row, then sign it off.";
        return Err(Conflict::from(FieldError::of("row_count", why)).into());
    }
    let now = tx.now();
    let signed_off = SignOff {
        signer: signer.to_owned(),
        by: by.cloned(),
        at: now,
    };
    tx.note(Note::done(
        &json!({"signer": signer, "row_count": row_count}),
    ));
    tx.execute(
        "UPDATE sheets SET signed_off = ?2, closed_at = coalesce(closed_at, ?3) WHERE id = ?1",
        &values![id, written(&signed_off)?, now],
    )
    .await?;
    sheet(tx, id).await
}

/// The fields of a row with its photo.
type Sent<'a> = (&'a RowFields, Option<&'a (ImageType, Vec<u8>)>);

async fn append(
    tx: &mut dyn Transaction,
    id: SheetId,
    (fields, photo): Sent<'_>,
    by: Option<&Recorder>,
) -> Result<Option<SheetRow>, StorageError> {
    let Some(sheet) = sheet(tx, id).await? else {
        return Ok(None);
    };
    // A sheet that is signed off is closed, too, but is not opened again.
    if sheet.signed_off.is_some() {
        return Err(InUse::SignedOff.into());
    }
    if sheet.fields.closed {
        return Err(InUse::Closed.into());
    }
    if sheet.row_count >= ROWS_MAX {
        return Err(InUse::Full.into());
    }
    let row = SheetRow {
        position: sheet.row_count + 1,
        at: tx.now(),
        by: by.cloned(),
        photo: photo.map(|(media_type, bytes)| StaffPhoto::of(*media_type, bytes)),
        fields: fields.clone(),
    };
    let recorder = by.map(written).transpose()?;
    tx.execute(
        "INSERT INTO sheet_rows (sheet_id, position, at, row, recorder) VALUES (?1, ?2, ?3, ?4, ?5)",
        &values![id, row.position, row.at, written(fields)?, recorder],
    )
    .await?;
    if let (Some(photo), Some((_, bytes))) = (&row.photo, photo) {
        let sql = "INSERT INTO sheet_photos (sheet_id, position, media_type, digest, bytes)
             VALUES (?1, ?2, ?3, ?4, ?5)";
        let media_type = photo.media_type.as_str();
        let values = values![id, row.position, media_type, &photo.digest, bytes];
        tx.execute(sql, &values).await?;
    }
    Ok(Some(row))
}

async fn append_once(
    tx: &mut dyn Transaction,
    id: SheetId,
    (fields, photo): Sent<'_>,
    by: Option<&Recorder>,
) -> Result<Option<SheetRow>, StorageError> {
    let rows = rows(tx, id).await?.unwrap_or_default();
    let now = tx.now();
    let (uid, tag) = (fields.uid.as_deref(), fields.tag_id);
    let before = rows.into_iter().rfind(|row| row.fields.is_about(uid, tag));
    let sent = photo.map(|(media_type, bytes)| StaffPhoto::of(*media_type, bytes));
    // Without a counter, two rows may be about two copies of one code.
    let is_same = |row: &SheetRow| {
        let is_one_press = fields.counter.is_some() || now.since(row.at) < PRESSED_TWICE;
        let is_alike = row.fields == *fields && row.photo == sent;
        is_alike && row.by.as_ref() == by && is_one_press
    };
    match before.filter(is_same) {
        Some(row) => Ok(Some(row)),
        None => append(tx, id, (fields, photo), by).await,
    }
}

async fn rows(db: &mut dyn Query, id: SheetId) -> Result<Option<Vec<SheetRow>>, StorageError> {
    if sheet(db, id).await?.is_none() {
        return Ok(None);
    }
    let sql = "SELECT r.position, r.at, r.recorder, r.row, p.media_type, p.digest
         FROM sheet_rows r
         LEFT JOIN sheet_photos p ON p.sheet_id = r.sheet_id AND p.position = r.position
         WHERE r.sheet_id = ?1 ORDER BY r.position";
    let found = db.query(sql, &values![id]).await?;
    let rows = found.into_iter().map(|mut row| {
        Ok(SheetRow {
            position: row.take()?,
            at: row.take()?,
            by: optional(row.take()?)?,
            fields: row.json("row")?,
            photo: staff_notes::photo_of(&mut row)?,
        })
    });
    rows.collect::<Result<_, StorageError>>().map(Some)
}

async fn photo(
    db: &mut dyn Query,
    id: SheetId,
    position: u32,
) -> Result<Option<(StaffPhoto, Vec<u8>)>, StorageError> {
    let sql = "SELECT media_type, digest, bytes FROM sheet_photos
         WHERE sheet_id = ?1 AND position = ?2";
    let Some(mut row) = db.row(sql, &values![id, position]).await? else {
        return Ok(None);
    };
    let photo = staff_notes::photo_of(&mut row)?;
    Ok(photo.zip(Some(row.take()?)))
}
