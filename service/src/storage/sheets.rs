//! Test sheets of the reader.

use async_trait::async_trait;

use super::{Conflict, StorageError};
use crate::id::SheetId;
use crate::sheet::{Expected, RowFields, Sheet, SheetFields, SheetRow};

/// An edit of a sheet, applied inside the operation that stores it. An `Err` is
/// a sentence for people, and nothing is stored.
pub type SheetEdit = Box<dyn Fn(SheetFields) -> Result<SheetFields, Conflict> + Send + Sync>;

/// The operations on test sheets.
#[async_trait]
pub trait Sheets: Send + Sync {
    /// Stores a new sheet.
    async fn insert_sheet(
        &self,
        fields: SheetFields,
        expected: Expected,
    ) -> Result<Sheet, StorageError>;

    /// A sheet.
    async fn sheet(&self, id: SheetId) -> Result<Option<Sheet>, StorageError>;

    /// At most `limit` sheets, the newest first, beginning behind `after`.
    async fn sheets(
        &self,
        after: Option<SheetId>,
        limit: usize,
    ) -> Result<Vec<Sheet>, StorageError>;

    /// How many sheets there are.
    async fn count_sheets(&self) -> Result<u64, StorageError>;

    /// Applies `edit` to a sheet. Its time of closing follows.
    ///
    /// # Errors
    ///
    /// What `edit` refuses.
    async fn edit_sheet(&self, id: SheetId, edit: SheetEdit)
    -> Result<Option<Sheet>, StorageError>;

    /// Appends a row.
    ///
    /// # Errors
    ///
    /// [`InUse::Closed`](super::InUse::Closed) and [`InUse::Full`](super::InUse::Full).
    async fn append_sheet_row(
        &self,
        id: SheetId,
        row: RowFields,
    ) -> Result<Option<SheetRow>, StorageError>;

    /// All rows of a sheet, in their order; `None` if there is no such sheet.
    async fn sheet_rows(&self, id: SheetId) -> Result<Option<Vec<SheetRow>>, StorageError>;
}
