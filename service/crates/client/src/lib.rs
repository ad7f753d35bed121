//! Parts of clients of a running Tapdesk service, shared by the command line and the desktop. They
//! share no code with the service.
//!
//! [`resumable`] finds the rows of an interrupted export that are complete, so that a download can
//! resume after them.

pub mod resumable;
