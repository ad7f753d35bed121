//! The Tapdesk service: from a tap of an NFC inlay to an updated tag variable.
//!
//! ```text
//! http ──► tap, payload ──► experience, interaction, rolling_key, tag ──► inlay
//!                │
//!                └──► storage (trait) ◄── sqlite, postgres
//! ```
//!
//! Start reading at [`tap`], the use case. [`http`] has every route on one
//! screen. [`storage`] says what can race, and is decided in one operation.
//! Absent by design: a reader of time outside [`clock`], of randomness outside
//! [`entropy`], of statuses outside `http/error.rs`, of SQL outside
//! the backends' folders in `storage/`.

pub mod admin_token;
pub mod client;
pub mod clock;
pub mod countries;
pub mod demo;
pub mod entropy;
pub mod event;
pub mod experience;
pub mod housekeeping;
pub mod http;
pub mod id;
pub mod inlay;
pub mod interaction;
pub mod inventory;
pub mod keyring;
pub mod macros;
pub mod metrics;
pub mod migrate_store;
pub mod object;
pub mod payload;
pub mod picture;
pub mod private_file;
pub mod refusals;
pub mod revision;
pub mod rolling_key;
pub mod service;
pub mod settings;
pub mod sheet;
pub mod spreadsheet;
pub mod start;
pub mod storage;
pub mod studio;
pub mod tag;
pub mod tap;
pub mod trace;
pub mod verification;
pub mod visitor;
pub mod world;

pub use http::{Exposure, router, serve};
pub use service::{Parts, Service};
