//! Tags as CSV: UTF-8, a header row, a tag a row.

mod column;
mod table;

pub(super) use column::{Column, EXPERIENCE, TEMPLATE, is_of_tag};
pub(in crate::http::admin) use table::separator;
pub(super) use table::{Row, Table};
