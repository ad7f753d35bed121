//! The admin API, seen from outside.

mod clock;
mod events;
mod inlays;
mod settings;
mod tags;
mod tokens;
