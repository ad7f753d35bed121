//! The mail server that notifications are sent by, and addresses of mail.

mod address;
mod server;

pub use address::{InvalidMailAddress, MailAddress};
pub use server::{MailFields, MailSecurity, MailStep, check_password};
