//! `/admin/v1/simulator`: virtual inlays, which tap simulated tags, the clock of the simulated world,
//! and samples of events.

mod clock;
mod create;
mod delete;
mod get;
mod list;
mod sample;
mod tap;
mod view;

pub(super) use clock::*;
pub(super) use create::*;
pub(super) use delete::*;
pub(super) use get::*;
pub(super) use list::*;
pub(super) use sample::*;
pub(super) use tap::*;
