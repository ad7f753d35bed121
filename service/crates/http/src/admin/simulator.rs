//! `/admin/v1/simulator`: virtual inlays, which tap simulated tags, and the clock of the simulated
//! world.

mod clock;
mod create;
mod delete;
mod get;
mod list;
mod tap;
mod view;

pub(super) use clock::*;
pub(super) use create::*;
pub(super) use delete::*;
pub(super) use get::*;
pub(super) use list::*;
pub(super) use tap::*;
