//! Tags as a CSV table: a header row, then one row per tag.

mod column;
mod layout;
mod table;

pub(super) use column::{Column, EXPERIENCE, TEMPLATE, URL};
pub(super) use layout::{Layout, Mapped};
pub(super) use table::{Row, Survey, Table};
