//! Test sheets of the reader.

use async_trait::async_trait;

use super::{Conflict, StorageError};
use domain::id::SheetId;
use domain::sheet::{Expected, RowFields, Sheet, SheetFields, SheetRow};

/// An edit of a sheet, applied inside the operation that stores it. An `Err` stores nothing; its
/// message is a sentence for people.
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

    /// The sheet with this id.
    async fn sheet(&self, id: SheetId) -> Result<Option<Sheet>, StorageError>;

    /// At most `limit` sheets, the newest first, after the sheet `after`.
    async fn sheets(
        &self,
        after: Option<SheetId>,
        limit: usize,
    ) -> Result<Vec<Sheet>, StorageError>;

    /// How many sheets there are.
    async fn count_sheets(&self) -> Result<u64, StorageError>;

    /// Applies `edit` to a sheet, and sets or clears its closing time accordingly.
    ///
    /// # Errors
    ///
    /// The error of `edit`.
    async fn edit_sheet(&self, id: SheetId, edit: SheetEdit)
    -> Result<Option<Sheet>, StorageError>;

    /// Appends a row to an open sheet.
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
