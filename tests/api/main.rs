//! The admin API, seen from outside.

mod clock;
mod settings;
mod tokens;
