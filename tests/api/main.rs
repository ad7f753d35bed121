//! The admin API, seen from outside.

mod backup;
mod clock;
mod events;
mod inlays;
mod settings;
mod sheets;
mod tags;
mod tokens;
