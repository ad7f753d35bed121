//! Tags as a table: a header row, then one row per tag. Imports and exports.
//!
//! | Module | Subject |
//! |---|---|
//! | `column` | the columns of a table |
//! | `chip` | the chip of a row |
//! | [`preset`] | tables of other services, and the meaning of their columns |
//! | `layout` | maps the columns of a file to columns of tags |
//! | `headings` | the headings of a file, for messages about its rows |
//! | `table` | reads the rows of a file |
//! | [`view`] | shows a file as an import reads it |
//! | [`import`] | imports tags |
//! | [`export`] | exports tags |

mod chip;
mod column;
pub mod export;
mod headings;
pub mod import;
mod layout;
pub mod preset;
mod table;
pub mod view;

pub use view::TableView;
