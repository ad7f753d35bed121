//! The Tapdesk service: taps, verification, rolling keys, tag variables.

pub mod clock;
pub mod entropy;
pub mod inlay;
