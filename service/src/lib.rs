//! The Tapdesk service: from a tap of an NFC inlay to an updated tag variable.
//!
//! Start reading at `tap.rs`, the use case. `http.rs` has every public route on one screen.
//! [`storage`] names the operations that can race, and decides each in one step.
//!
//! Modules depend on those above them under the same heading, and on other headings in one
//! direction: running it -> the edge -> use cases -> parts of a tap; the databases implement
//! [`storage`], which names only parts of a tap. A test checks that no two modules depend on each
//! other.
//!
//! Absent by design: a reader of time outside [`clock`], of randomness outside [`entropy`], of
//! statuses outside `http/error.rs`, of SQL outside the backends' folders in [`storage`].

// # Parts of a tap: pure, without input or output

// The functions of chips: codes, session keys, MACs, diversified keys, the virtual inlay.
pub mod inlay;
// An error in a request, and the field that has it.
pub mod field_error;
// Numbers that name a tag, an inlay, an experience and the others.
pub mod id;
// Reads JSON objects, and refuses other JSON values in their place.
pub(crate) mod object;
// Schemas in the OpenAPI document of types that derive none.
pub(crate) mod schema;
// The revision of a resource that is edited, for `If-Match`.
pub(crate) mod revision;
// Rolling keys: how they are issued, masked, hashed, and when they expire.
pub mod rolling_key;
// A tag: its fields, its properties, its row in a CSV file.
pub mod tag;
// Placeholders in the owner's texts and URLs, and how their values are encoded.
pub mod macros;
// Tables of spreadsheets and other services: bytes in, rows of text out.
pub(crate) mod table;
// A visitor's languages and operating system, from the browser's headers.
pub(crate) mod visitor;
// The real world and the simulated one.
pub mod world;

// The experience of a tag: redirects, pages of blocks, conditions, rules, themes.
pub mod experience;
// One tap, its verdict, and the facts that are stored about it.
pub mod interaction;
// Inlays and master keys as their owner configures them; keys are sealed.
pub mod inventory;
// Wraps inlay keys at rest.
pub mod keyring;
// The results of taps, counted by the hour and the day.
pub mod report;
// Submissions: a record of each sent form.
pub mod submission;

// The encoding of an inlay: commands to a chip, from its answers.
pub mod encoding;
// Test sheets of the reader.
pub mod sheet;
// Whether the address in chips' URLs is proved.
pub mod tag_url;
// The steps of a tap, in words.
pub(crate) mod trace;

// # Use cases

// Backups on a schedule.
pub(crate) mod backup;
// Sends webhooks to the owner's servers.
pub(crate) mod deliver;
// Makes and removes the demonstration.
pub mod demo;
// Encodes inlays through a relay that holds the reader.
pub(crate) mod encode;
// Removes expired data, from time to time.
pub mod housekeeping;
// Wraps a database's secrets by another key.
pub mod rotate;
// Moves a whole database from one kind to the other.
#[cfg(feature = "postgres")]
pub mod migrate_store;
// The data that the owner's page gets for a key.
pub(crate) mod payload;
// The address in chips' URLs, and test URLs below it.
pub(crate) mod tag_address;
// The common parts of all use cases: storage, keys, settings, the cache of tags.
pub(crate) mod service;
// Pages that the service itself serves.
pub(crate) mod studio;
// A tap, from its URL to its answer.
pub(crate) mod tap;
// Proofs of the address in chips' URLs.
pub(crate) mod prove_address;
// The data that are stored about one visitor, for the person who holds the tag.
pub(crate) mod visitor_data;
// Webhook events, sent to the owner's servers.
pub mod webhook;

// # Databases

// The interface to databases, and its two implementations.
pub mod storage;

// # The edge

// Every route, their common parts, and the only mapping from errors to statuses.
pub(crate) mod http;
// Parts of the HTTP clients with which the service calls other servers.
pub(crate) mod http_client;

// # Running it

// Admin tokens: made, read and hashed.
pub mod admin_token;
// The audit log: its rows, and their chain.
pub mod audit;
// Who calls the admin API, for the database.
pub mod caller;
// The caller for whom the current task works.
pub(crate) mod calling;
// The only reader of time.
pub mod clock;
// The only reader of randomness.
pub mod entropy;
// Metrics for operators.
pub(crate) mod metrics;
// Panics, contained.
pub(crate) mod panics;
// Numbers of things, in sentences.
pub mod plural;
// Files that only their owner reads, and that a crash leaves whole.
pub mod private_file;
// The rights of a token, and the experiences to which they are limited.
pub mod scope;
// The settings of an operator.
pub mod settings;
// Builds a service from files and settings.
pub mod start;
// Finds the whole rows of an interrupted export.
pub mod whole_rows;

pub use http::{AppState, Countries, Exposure, Limits, Peer, listen, openapi, router, serve};
pub use service::{Parts, Service};
pub use tap::TapUrl;
