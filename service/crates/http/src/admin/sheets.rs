//! `/admin/v1/sheets`: sheets for tests of the reader.

mod create;
mod export;
mod get;
mod list;
mod photo;
mod report;
mod rows;
mod sign_off;
mod update;

pub(super) use create::*;
pub(super) use export::*;
pub(super) use get::*;
pub(super) use list::*;
pub(super) use photo::*;
pub(super) use report::*;
pub(super) use rows::*;
pub(super) use sign_off::*;
pub(super) use update::*;
