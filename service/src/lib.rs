//! The Tapdesk service: from a tap of an NFC inlay to an updated tag variable.
//!
//! Its parts are crates in `service/crates`. Each depends on those before it: [`inlay`], `domain`,
//! [`encoding`], [`storage`], `app`, `http`. The crate [`client`] calls a running
//! service, and depends on `domain` only. This crate starts the service and has its command line.
//! Programs that embed the service use only this crate.
//!
//! Start reading at `tap.rs` in `app`, the use case. `http` has every public route on one screen.
//! [`storage`] names the operations that can race, and decides each in one step.
//!
//! Absent by design: a reader of time outside [`clock`], of randomness outside [`entropy`], of
//! statuses outside `error.rs` in `http`, of SQL outside [`storage`].

pub use app::{
    Parts, Service, TapUrl, backup, certificates, demo, housekeeping, kiosk, notifications, rotate,
    s3_server,
};
pub use domain::{
    admin_token, audit, caller, clock, entropy, experience, field_error, id, interaction,
    inventory, keyring, macros, plural, private_file, report, revision, rolling_key, scope,
    settings, sheet, submission, tag, tag_url, temporary_folder, text, webhook, world,
};
pub use http::{
    AppState, Arrival, Countries, Exposure, Limits, listen, openapi, plain_router, router, serve,
    serve_tls, with_hsts,
};
#[cfg(feature = "postgres")]
pub use storage::migrate_store;
pub use {client, encoding, inlay, storage};

// Builds a service from files and settings.
pub mod start;
