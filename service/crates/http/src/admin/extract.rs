//! The parts of a request that many handlers read, and the answers that belong to them.
//!
//! | Module | Subject |
//! |---|---|
//! | `path`, `query`, `body` | the ids, the parameters and the body of a request |
//! | `page` | a page of a list |
//! | `edited` | `ETag` and `If-Match` |
//! | `period` | a period, divided into buckets |

pub(super) mod body;
pub(super) mod edited;
pub(super) mod page;
pub(super) mod path;
pub(super) mod period;
pub(super) mod query;
