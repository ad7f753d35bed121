//! The logo of plain pages: its SQL.

use super::{Query, Transaction};
use crate::value::values;
use crate::{Access, CachedPart, StorageError};
use domain::audit::Note;
use domain::image_type::ImageType;
use domain::settings::PageLogo;

/// The operations on the logo of plain pages.
impl Access {
    /// The logo; `None` if there is none.
    pub async fn page_logo(&self) -> Result<Option<PageLogo>, StorageError> {
        self.read("page_logo", (), |db, ()| Box::pin(find(db)))
            .await
    }

    /// The logo and its bytes.
    pub async fn page_logo_bytes(&self) -> Result<Option<(PageLogo, Vec<u8>)>, StorageError> {
        self.read_snapshot("page_logo_bytes", (), |db, ()| Box::pin(with_bytes(db)))
            .await
    }

    /// Sets the logo, in place of the one that there is.
    pub async fn set_page_logo(
        &self,
        media_type: ImageType,
        bytes: Vec<u8>,
    ) -> Result<PageLogo, StorageError> {
        let arguments = (media_type, bytes);
        self.change("set_page_logo", arguments, |tx, (media_type, bytes)| {
            Box::pin(set(tx, *media_type, bytes))
        })
        .await
    }

    /// Deletes the logo. `None` if there is none.
    pub async fn delete_page_logo(&self) -> Result<Option<()>, StorageError> {
        self.change("delete_page_logo", (), |tx, ()| Box::pin(delete(tx)))
            .await
    }
}

async fn find(db: &mut dyn Query) -> Result<Option<PageLogo>, StorageError> {
    let sql = "SELECT media_type, digest FROM page_logo WHERE id = 1";
    let Some(mut row) = db.row(sql, &[]).await? else {
        return Ok(None);
    };
    Ok(Some(PageLogo {
        media_type: row.text("logo", ImageType::from_name)?,
        digest: row.take()?,
    }))
}

async fn with_bytes(db: &mut dyn Query) -> Result<Option<(PageLogo, Vec<u8>)>, StorageError> {
    let Some(logo) = find(db).await? else {
        return Ok(None);
    };
    let sql = "SELECT bytes FROM page_logo WHERE id = 1";
    let bytes = db.one(sql, &[]).await?.take()?;
    Ok(Some((logo, bytes)))
}

async fn set(
    tx: &mut dyn Transaction,
    media_type: ImageType,
    bytes: &[u8],
) -> Result<PageLogo, StorageError> {
    let before = find(tx).await?;
    let after = PageLogo::of(media_type, bytes);
    if before.as_ref() == Some(&after) {
        return Ok(after);
    }
    let sql = "INSERT INTO page_logo (id, media_type, digest, created_at, bytes)
         VALUES (1, ?1, ?2, ?3, ?4)
         ON CONFLICT (id) DO UPDATE SET media_type = excluded.media_type,
             digest = excluded.digest, created_at = excluded.created_at, bytes = excluded.bytes";
    let row = values![media_type.as_str(), &after.digest, tx.now(), bytes];
    tx.execute(sql, &row).await?;
    tx.note(Note::changed(&before, &after));
    tx.changes(Some(CachedPart::Settings));
    Ok(after)
}

async fn delete(tx: &mut dyn Transaction) -> Result<Option<()>, StorageError> {
    let Some(before) = find(tx).await? else {
        return Ok(None);
    };
    let sql = "DELETE FROM page_logo WHERE id = 1";
    tx.execute(sql, &[]).await?;
    tx.note(Note::deleted(&before));
    tx.changes(Some(CachedPart::Settings));
    Ok(Some(()))
}
