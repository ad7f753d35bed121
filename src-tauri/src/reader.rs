//! The reader: inlays are laid down, read once, and told to whoever listens.
//!
//! | Module | Subject |
//! |---|---|
//! | [`card`] | what everything here stands on: a card, a slot, the service |
//! | [`pcsc`] | the same on the system's PC/SC service |
//! | [`apdu`] | commands and answers, noted |
//! | [`ndef`] | messages; pure over bytes |
//! | [`inlay`] | which chip, what memory, what it says |
//! | [`monitor`] | one thread owns the connection; readers and cards come and go |
//! | [`board`] | what lies where, for screens |
//! | [`exercise`] | sends a tap where it belongs, and tells what came of it |
//! | [`doctor`] | why nothing can be read, and what to do |
//!
//! Nothing here writes to a card, and nothing holds a key.

pub mod apdu;
pub mod board;
pub mod card;
pub mod doctor;
pub mod exercise;
pub mod inlay;
pub mod monitor;
pub mod ndef;
pub mod pcsc;
