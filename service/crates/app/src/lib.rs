//! The use cases of the Tapdesk service. Start reading at [`tap`]: from a tap of an inlay to its
//! answer.
//!
//! [`Service`] has what all of them share: storage, keys, settings and caches. It knows nothing of
//! the use cases around it; they are given it.

// # A tap

pub mod payload;
pub mod studio;
pub mod tap;

// # Encoding

pub mod encode;
pub mod prove_address;
pub mod tag_address;

// # Beside requests

pub mod backup;
pub mod deliver;
pub mod housekeeping;
pub mod rotate;

// # On request

pub mod demo;
pub mod visitor_data;

// # The common parts

pub(crate) mod http_client;
pub mod metrics;
pub mod service;

pub use service::{Parts, Service};
pub use tap::TapUrl;
