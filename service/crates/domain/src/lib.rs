//! What the Tapdesk service speaks of: tags, experiences, interactions, inlays as their owner
//! configures them, keys, settings. It depends on the chips' functions in `inlay` alone, and has no
//! database, no network and no runtime.
//!
//! The only readers of the world are [`clock`], [`entropy`] and [`private_file`]; all other code is
//! given what they read.

// # Words that all modules use

pub mod field_error;
pub mod id;
pub mod object;
pub mod plural;
pub mod revision;
pub mod schema;
pub mod world;

// # What is read of the world

pub mod clock;
pub mod entropy;
pub mod private_file;

// # Keys

pub mod inventory;
pub mod keyring;
pub mod rolling_key;

// # Tags, and what their visitors see

pub mod experience;
pub mod macros;
pub mod tag;
pub mod tag_url;
pub mod visitor;

// # What is recorded

pub mod interaction;
pub mod report;
pub mod sheet;
pub mod submission;
pub mod trace;

// # Owners and operators

pub mod admin_token;
pub mod audit;
pub mod caller;
pub mod scope;
pub mod settings;
pub mod table;
pub mod webhook;
