//! The caller of a request: its address and identity, and the rights that its token gives.
//!
//! | Module | Subject |
//! |---|---|
//! | `access` | the routes that need no token, and the check of all others |
//! | `admins` | the valid tokens, and their rights |
//! | `tied` | ends a request with its token |
//! | `origin` | the address, and what the request says about its visitor |
//! | `clients` | an identity made from the address, which does not reveal it |

pub(super) mod access;
pub(super) mod admins;
pub(super) mod clients;
pub(super) mod origin;
pub(super) mod tied;
