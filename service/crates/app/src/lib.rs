//! The use cases of the Tapdesk service. Start reading at [`tap`]: from a tap of an inlay to its
//! answer.
//!
//! | Modules | Subject |
//! |---|---|
//! | [`tap`], [`studio`] | a tap, and the pages that the service itself serves |
//! | [`payload`] | the data that the owner's page gets for a key |
//! | [`encoder`] | encodes inlays through a relay that holds the reader |
//! | [`tag_address`], [`prove_address`] | the address in chips' URLs, and its proofs |
//! | [`webhook_delivery`], [`backup`], [`housekeeping`] | webhooks, backups, expired data |
//! | [`rotate`] | wraps all secrets by a new key, while no service runs |
//! | [`demo`], [`visitor_data`] | demo data; the data about one visitor |
//!
//! [`Service`] has the parts that all of them share: storage, keys, settings and caches. It knows
//! none of the use cases; each gets it as an argument.

// # A tap

pub mod payload;
pub mod studio;
pub mod tap;

// # Encoding

pub mod encoder;
pub mod prove_address;
pub mod tag_address;

// # Beside requests

pub mod backup;
pub mod housekeeping;
pub mod rotate;
pub mod webhook_delivery;

// # On request

pub mod demo;
pub mod visitor_data;

// # The common parts

pub(crate) mod http_client;
pub mod metrics;
pub mod service;

pub use service::{Parts, Service};
pub use tap::TapUrl;
