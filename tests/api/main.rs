//! The admin API, seen from outside.

mod clock;
mod events;
mod settings;
mod tokens;
