//! Test sheets of the reader.

use super::Conflict;
use domain::sheet::SheetFields;

/// An edit of a sheet, applied inside the operation that stores it. An `Err` stores nothing; its
/// message is a sentence for people.
pub type SheetEdit = Box<dyn Fn(SheetFields) -> Result<SheetFields, Conflict> + Send + Sync>;
