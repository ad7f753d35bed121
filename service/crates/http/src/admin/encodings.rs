//! `/admin/v1/encodings`: encoding of a chip, command by command.

mod abandon;
mod answer;
mod get;
mod list;
mod preview;
mod root;
mod start;
mod view;

pub(super) use abandon::*;
pub(super) use answer::*;
pub(super) use get::*;
pub(super) use list::*;
pub(super) use preview::*;
pub(super) use root::*;
pub(super) use start::*;
