//! Notes and photos of staff: their SQL. Each belongs to one interaction, and ends with it.

use std::collections::BTreeMap;

use super::{Query, Transaction, interactions};
use crate::interactions::row::{COLUMNS, interaction};
use crate::value::{Row, Value, values};
use crate::{Access, StorageError};
use domain::audit::Note;
use domain::id::InteractionId;
use domain::image_type::ImageType;
use domain::interaction::{NoteEdit, PhotoEdit, StaffNote, StaffPhoto};

/// The operations on notes of staff.
impl Access {
    /// Changes the note and the photo of an interaction. `None` if there is no such interaction within
    /// reach. An edit that leaves neither removes the row.
    pub async fn set_staff_note(
        &self,
        id: InteractionId,
        edit: NoteEdit,
    ) -> Result<Option<()>, StorageError> {
        self.change("set_staff_note", (id, edit), |tx, (id, edit)| {
            Box::pin(set(tx, *id, edit))
        })
        .await
    }

    /// The notes of these interactions, which the caller has read. Interactions without a note are
    /// left out.
    pub async fn staff_notes(
        &self,
        of: Vec<InteractionId>,
    ) -> Result<BTreeMap<InteractionId, StaffNote>, StorageError> {
        self.read("staff_notes", of, |db, of| Box::pin(notes(db, of)))
            .await
    }

    /// The photo of an interaction within reach, and its bytes.
    pub async fn staff_photo(
        &self,
        id: InteractionId,
    ) -> Result<Option<(StaffPhoto, Vec<u8>)>, StorageError> {
        self.read_snapshot("staff_photo", id, |db, id| Box::pin(photo(db, *id)))
            .await
    }
}

/// Columns of a note, for [`read`].
const NOTE: &str = "at, phone, note, media_type, digest";

fn read(row: &mut Row) -> Result<StaffNote, StorageError> {
    Ok(StaffNote {
        at: row.take()?,
        phone: row.take()?,
        note: row.take()?,
        photo: photo_of(row)?,
    })
}

/// Takes the columns of a photo, its type and its digest.
pub(super) fn photo_of(row: &mut Row) -> Result<Option<StaffPhoto>, StorageError> {
    let media_type = row.optional_text("photo", ImageType::from_name)?;
    let digest: Option<String> = row.take()?;
    let both = media_type.zip(digest);
    Ok(both.map(|(media_type, digest)| StaffPhoto { media_type, digest }))
}

/// The note of an interaction.
pub(super) async fn of(
    db: &mut dyn Query,
    id: InteractionId,
) -> Result<Option<StaffNote>, StorageError> {
    let sql = format!("SELECT {NOTE} FROM staff_notes WHERE interaction_id = ?1");
    let found = db.row(&sql, &values![id]).await?;
    found.map(|mut row| read(&mut row)).transpose()
}

/// Whether there is such an interaction, and the caller reaches it and its tag.
async fn is_reached(db: &mut dyn Query, id: InteractionId) -> Result<bool, StorageError> {
    let sql = format!("SELECT {COLUMNS} FROM interactions i WHERE i.id = ?1");
    let Some(found) = db.row(&sql, &values![id]).await? else {
        return Ok(false);
    };
    let interaction = interaction(&found)?;
    if !interactions::is_visible(db, &interaction).await? {
        return Ok(false);
    }
    match interaction.tag_id {
        Some(tag) => interactions::is_reached(db, tag).await,
        None => Ok(true),
    }
}

async fn set(
    tx: &mut dyn Transaction,
    id: InteractionId,
    edit: &NoteEdit,
) -> Result<Option<()>, StorageError> {
    if !is_reached(tx, id).await? {
        return Ok(None);
    }
    let before = of(tx, id).await?;
    let kept_photo = before.is_some_and(|before| before.photo.is_some());
    let has_photo = match edit.photo {
        PhotoEdit::Keep => kept_photo,
        PhotoEdit::Remove => false,
        PhotoEdit::Set(..) => true,
    };
    // The audit log outlives the interaction, so it does not repeat the text.
    tx.note(Note::done(
        &serde_json::json!({"note": !edit.note.is_empty(), "photo": has_photo}),
    ));
    if edit.note.is_empty() && !has_photo {
        let sql = "DELETE FROM staff_notes WHERE interaction_id = ?1";
        tx.execute(sql, &values![id]).await?;
        return Ok(Some(()));
    }
    let sql = "INSERT INTO staff_notes (interaction_id, at, phone, note) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (interaction_id) DO UPDATE SET at = excluded.at, phone = excluded.phone,
             note = excluded.note";
    let row = values![id, tx.now(), &edit.phone, &edit.note];
    tx.execute(sql, &row).await?;
    match &edit.photo {
        PhotoEdit::Keep => {}
        PhotoEdit::Remove => {
            let sql = "UPDATE staff_notes SET media_type = NULL, digest = NULL, photo = NULL
                 WHERE interaction_id = ?1";
            tx.execute(sql, &values![id]).await?;
        }
        PhotoEdit::Set(media_type, bytes) => {
            let photo = StaffPhoto::of(*media_type, bytes);
            let sql = "UPDATE staff_notes SET media_type = ?2, digest = ?3, photo = ?4
                 WHERE interaction_id = ?1";
            let row = values![id, media_type.as_str(), &photo.digest, bytes];
            tx.execute(sql, &row).await?;
        }
    }
    Ok(Some(()))
}

async fn notes(
    db: &mut dyn Query,
    of: &[InteractionId],
) -> Result<BTreeMap<InteractionId, StaffNote>, StorageError> {
    let sql =
        format!("SELECT interaction_id, {NOTE} FROM staff_notes WHERE interaction_id IN ids(?1)");
    let found = db.query(&sql, &values![Value::list(of)]).await?;
    let notes = found.into_iter().map(|mut row| {
        let id = row.take()?;
        Ok((id, read(&mut row)?))
    });
    notes.collect()
}

async fn photo(
    db: &mut dyn Query,
    id: InteractionId,
) -> Result<Option<(StaffPhoto, Vec<u8>)>, StorageError> {
    if !is_reached(db, id).await? {
        return Ok(None);
    }
    let Some(photo) = of(db, id).await?.and_then(|note| note.photo) else {
        return Ok(None);
    };
    let sql = "SELECT photo FROM staff_notes WHERE interaction_id = ?1";
    let bytes = db.one(sql, &values![id]).await?.take()?;
    Ok(Some((photo, bytes)))
}
