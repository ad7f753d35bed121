//! Changes of the mail server.

use super::{Conflict, MailServer};

/// An edit of the mail server, applied inside the operation that stores it. It gets the present
/// server, if there is one. An `Err` stores nothing.
pub type MailServerEdit =
    Box<dyn Fn(Option<&MailServer>) -> Result<MailServer, Conflict> + Send + Sync>;
