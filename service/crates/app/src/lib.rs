//! The use cases of the Tapdesk service. Start reading at [`tap`]: from a tap of an inlay to its
//! answer.
//!
//! | Modules | Subject |
//! |---|---|
//! | [`tap`], [`studio`] | a tap, and the pages that the service itself serves |
//! | [`staff`] | the pages of staff phones, and the actions of their forms |
//! | [`payload`] | the data that the owner's page gets for a key |
//! | [`encoder`] | encodes inlays through a relay that holds the reader |
//! | [`tag_address`], [`prove_address`] | the address in chips' URLs, and its proofs |
//! | [`webhook_delivery`], [`backup`], [`housekeeping`] | webhooks, backups, expired data |
//! | [`certificates`] | certificates of the service's own domains |
//! | [`notifications`] | alerts and reports for people, by mail or to a chat |
//! | [`rotate`] | wraps all secrets by a new key, while no service runs |
//! | [`tag_table`] | imports and exports of tags |
//! | [`csv_file`], [`xlsx_file`] | files for spreadsheets |
//! | [`labels`] | labels with QR codes, for printers |
//! | [`sheet_report`] | a test sheet as PDF |
//! | [`inlays`] | new inlays, and their keys |
//! | [`kiosk`] | the state of a kiosk in the same process |
//! | [`integrity`] | the hashes by which pages load scripts |
//! | [`demo`], [`visitor_data`] | demo data; the data about one visitor |
//!
//! [`Service`] has the parts that all of them share: storage, keys, settings and caches. It knows
//! none of the use cases; each gets it as an argument.

// # A tap

pub mod payload;
pub mod staff;
pub mod studio;
pub mod tap;

// # Encoding

pub mod encoder;
pub mod prove_address;
pub mod tag_address;

// # Beside requests

pub mod backup;
pub mod certificates;
pub mod housekeeping;
pub mod notifications;
pub mod rotate;
pub mod webhook_delivery;

// # On request

pub mod csv_file;
pub mod demo;
pub mod inlays;
pub mod integrity;
pub mod kiosk;
pub mod labels;
pub mod sheet_report;
pub mod tag_table;
pub mod visitor_data;
pub mod xlsx_file;

// # The common parts

pub(crate) mod http_client;
mod kept;
pub(crate) mod mail_breaker;
pub mod metrics;
pub(crate) mod outage;
pub mod s3_server;
pub mod service;

pub use service::{Parts, Service};
pub use tap::TapUrl;
