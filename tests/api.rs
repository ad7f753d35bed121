//! The admin API, seen from outside.

mod clock;
mod demo;
mod events;
mod experiences;
mod inlays;
mod interactions;
mod master_keys;
mod metrics;
mod openapi;
mod problems;
mod settings;
mod sheets;
mod simulator;
mod sqlite_backup;
mod stats;
mod tags;
mod tokens;
mod verification;
