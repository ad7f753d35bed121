//! The domain of the Tapdesk service: tags, experiences, interactions, inlays as their owner
//! configures them, keys and settings. It knows the functions of chips in [`inlay`], but no
//! database, no network and no runtime.
//!
//! | Modules | Subject |
//! |---|---|
//! | [`tag`], [`tag_url`] | a tag, its properties, and the address in chips' URLs |
//! | [`group`] | products, batches and folders of tags, and the values that tags get from them |
//! | [`experience`], [`macros`] | a redirect or a page for visitors, and the placeholders in it |
//! | [`image_type`] | the types of images of pages and groups |
//! | [`interaction`], [`trace`], [`visitor`] | a tap, its steps in words, its visitor |
//! | [`rolling_key`], [`inventory`], [`keyring`] | keys of taps and inlays; wrapped keys |
//! | [`report`], [`sheet`], [`submission`] | counts of taps, test sheets, sent forms |
//! | [`webhook`], [`audit`], [`recorder`] | events for owners' servers; the log of changes, and authors in records |
//! | [`notification`], [`mail`] | alerts and reports for people; the mail server |
//! | [`admin_token`], [`phone`], [`scope`], [`caller`] | tokens and staff phones, their rights, and the caller of a request |
//! | [`resource_kind`] | the kinds of resources in the admin API, for events about their changes |
//! | [`settings`], [`table`] | an operator's settings; tables of spreadsheets |
//! | [`certificate`] | when certificates of the service are renewed |
//!
//! The only readers of the world are [`clock`], [`entropy`], [`private_file`] and [`temporary_folder`].
//! All other code gets time, randomness and files as arguments.

// # Words that all modules use

pub mod field_error;
pub mod id;
pub mod plural;
mod retry;
pub mod revision;
pub mod schema;
pub mod strict_json;
pub mod text;
pub mod world;

// # What is read of the world

pub mod clock;
pub mod entropy;
pub mod private_file;
pub mod temporary_folder;

// # Keys

pub mod inventory;
pub mod keyring;
pub mod rolling_key;

// # Tags, and what their visitors see

pub mod experience;
pub mod group;
pub mod image_type;
pub mod macros;
pub mod tag;
pub mod tag_url;
pub mod visitor;

// # What is recorded

pub mod batch;
pub mod interaction;
pub mod recorder;
pub mod report;
pub mod sheet;
pub mod submission;
pub mod trace;

// # Owners and operators

pub mod admin_token;
pub mod audit;
pub mod caller;
pub mod certificate;
pub mod mail;
pub mod notification;
pub mod phone;
pub mod resource_kind;
pub mod scope;
pub mod settings;
pub mod table;
pub mod webhook;
