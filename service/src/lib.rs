//! The Tapdesk service: from a tap of an NFC inlay to an updated tag variable.
//!
//! Start reading at `tap.rs`, the use case. `http.rs` has every public route on one
//! screen. [`storage`] says what can race, and is decided in one operation.
//!
//! Modules depend on those above them under the same heading, and on other headings
//! in one direction: running it -> the edge -> what can be done -> what a tap is made
//! of; the databases implement [`storage`], which names only what a tap is made of.
//! A test checks that no two modules depend on each other.
//!
//! Absent by design: a reader of time outside [`clock`], of randomness outside
//! [`entropy`], of statuses outside `http/error.rs`, of SQL outside the backends'
//! folders in [`storage`].

// # What a tap is made of: pure, without input or output

// What is wrong with a request, and with which field of it.
pub mod field_error;
// Numbers that name a tag, an inlay, an experience and the others.
pub mod id;
// What chips do: codes, session keys, MACs, diversified keys, the virtual inlay.
pub mod inlay;
// Placeholders in the owner's texts and URLs, and how their values are encoded.
pub mod macros;
// JSON objects, read as nothing but objects.
pub(crate) mod object;
// The revision of a resource that is edited, for `If-Match`.
pub(crate) mod revision;
// Rolling keys: how they are issued, masked, hashed, and how long they live.
pub mod rolling_key;
// A tag: its fields, its properties, its row in a CSV file.
pub mod tag;
// What a browser says of its visitor: languages, operating system.
pub(crate) mod visitor;
// The real world and the simulated one.
pub mod world;

// What a tag leads to: redirects, pages of blocks, conditions, rules, themes.
pub mod experience;
// One tap, its verdict, and what is kept of it.
pub mod interaction;
// Inlays and master keys as their owner configures them; keys are sealed.
pub mod inventory;
// Wraps inlay keys at rest.
pub mod keyring;
// What taps come to, counted by the hour and the day.
pub mod report;
// What a form sent: a record of its own.
pub mod submission;

// The encoding of an inlay: what is sent to a chip, from what it answered.
pub mod encoding;
// Test sheets of the reader.
pub mod sheet;
// The steps of a tap, in words.
pub(crate) mod trace;

// # What can be done

// Backups that the service makes by itself.
pub(crate) mod backup;
// Sends webhooks to the owner's servers.
pub(crate) mod deliver;
// Makes and removes the demonstration.
pub mod demo;
// Encodes inlays by way of whoever holds the reader.
pub(crate) mod encode;
// Removes what is due, from time to time.
pub mod housekeeping;
// A database's secrets under another key.
pub mod rotate;
// A whole database from one kind to the other.
#[cfg(feature = "postgres")]
pub mod migrate_store;
// What the owner's page learns for a key.
pub(crate) mod payload;
// What every use case needs: storage, keys, settings, the cache of tags.
pub(crate) mod service;
// Pages that the service itself serves.
pub(crate) mod studio;
// A tap, from its URL to its answer.
pub(crate) mod tap;
// What is kept of one visitor, for whoever holds the tag.
pub(crate) mod visitor_data;
// What happens, told to the owner's servers.
pub mod webhook;

// # Databases

// What the service needs of a database, and the two that there are.
pub mod storage;

// # The edge

// Every route, what they share, and the only map from errors to statuses.
pub(crate) mod http;

// # Running it

// Admin tokens: made, read and hashed.
pub mod admin_token;
// The audit log: its rows, and their chain.
pub mod audit;
// Who calls the admin API, for the database.
pub mod caller;
// The only reader of time.
pub mod clock;
// The only reader of randomness.
pub mod entropy;
// What is counted for operators.
pub(crate) mod metrics;
// Panics, contained.
pub(crate) mod panics;
// Numbers of things, in sentences.
pub mod plural;
// Files that only their owner reads, and that a crash leaves whole.
pub mod private_file;
// What a token may do, and with which experiences.
pub mod scope;
// What an operator decides.
pub mod settings;
// From files and settings to a service.
pub mod start;
// The whole rows of an export that was broken off.
pub mod whole_rows;

pub use http::{AppState, Countries, Exposure, Peer, openapi, router, serve};
pub use service::{Parts, Service};
pub use tap::TapUrl;
