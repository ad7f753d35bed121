//! The reader: each inlay is read once per insertion, and listeners get the result.
//!
//! | Module | Subject |
//! |---|---|
//! | [`card`] | the traits of a card, a slot and the service |
//! | [`pcsc`] | the same on the system's PC/SC service |
//! | [`profile`] | known readers, and how they differ from PC/SC |
//! | `passed` | commands of the chip itself, which a reader passes on |
//! | `signals` | beep and light of readers |
//! | [`apdu`] | commands and responses, logged |
//! | [`inlay`] | chip, memory and message of an inlay |
//! | [`monitor`] | one thread owns the connection; readers and cards come and go |
//! | [`board`] | the readers and the cards on them, for screens |
//! | [`copy_check`] | whether a URL was copied to the chip on which it was found |
//! | [`send_tap`] | sends a tap to its service, and returns the result |
//! | `own_reads` | reports our own reads to the service, because each raises a counter |
//! | [`encode`] | relays the commands by which the service encodes an inlay |
//! | [`doctor`] | why inlays cannot be read, and how to fix it |
//!
//! The crate `inlay` knows the chips: their commands, memory, settings and messages. This module has
//! the readers: PC/SC, transactions, the order and the log of commands.
//!
//! This module holds no keys. It writes to a card only the commands of a service that was asked to
//! encode it.

pub mod apdu;
pub mod board;
pub mod card;
pub mod copy_check;
pub mod doctor;
pub mod encode;
pub mod inlay;
pub mod monitor;
pub(crate) mod own_reads;
mod passed;
pub mod pcsc;
pub mod profile;
pub mod send_tap;
mod signals;
