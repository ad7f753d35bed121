//! The caller of a request: its address and identity, and the rights that its token gives.
//!
//! | Module | Subject |
//! |---|---|
//! | `access` | the routes that need no token, and the check of all others |
//! | `tied` | ends a request with its token |
//! | `origin` | the address, and what the request says about its visitor |

pub(super) mod access;
pub(super) mod origin;
pub(super) mod tied;
