//! What calls a running Tapdesk service: the command line, and the desktop. It shares no code with
//! the service.

pub mod whole_rows;
