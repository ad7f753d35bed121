//! `/admin/v1/unlisted-chips`: chips that are no inlays, although the keys of a URL template make
//! their codes.

mod enrol;
mod list;

pub(super) use enrol::*;
pub(super) use list::*;
