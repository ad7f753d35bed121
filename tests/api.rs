//! The admin API, seen from outside.

mod audit;
mod clock;
mod demo;
mod events;
mod experiences;
mod exports;
mod inlays;
mod interactions;
mod master_keys;
mod metrics;
mod openapi;
mod problems;
mod reports;
mod scopes;
mod settings;
mod sheets;
mod simulator;
mod sqlite_backup;
mod sqlite_cache;
mod sqlite_schedule;
mod stats;
mod submissions;
mod tags;
mod tokens;
mod verification;
mod webhooks;
