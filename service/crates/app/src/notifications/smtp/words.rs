//! Failures of a mail server in words.

use std::error::Error;

use super::Broken;
use super::wire::TooMuch;
use crate::http_client::{causes, certificate_fault};
use crate::notifications::one_line::one_line;
use domain::mail::{MailFields, MailStep};

/// Most characters of a server's answer that are kept.
const ANSWER_KEPT: usize = 300;

/// A failure in words, without the user name and the password.
pub(super) fn words(fields: &MailFields, step: MailStep, broken: &Broken) -> String {
    let error: &(dyn Error + 'static) = match broken {
        Broken::Said(why) => return why.clone(),
        Broken::Late => return "The mail server did not answer within two minutes.".to_owned(),
        Broken::Unconfirmed => {
            return "The mail server got the mail, and did not say in time whether it took it."
                .to_owned();
        }
        Broken::Io(error) => error,
        Broken::Smtp(error) => error,
    };
    if let Some(why) = causes(error).find_map(|cause| certificate_fault(cause, "the mail server")) {
        return why;
    }
    let Some((code, answer)) = broken.answer() else {
        return no_answer(fields, step, error);
    };
    if step == MailStep::Login {
        // Some servers repeat what they got, so only the number is shown.
        return format!("The mail server refused the user name or the password ({code}).");
    }
    let refused = match step {
        MailStep::Settings | MailStep::Connect => "refused the connection",
        MailStep::Encrypt => "refused STARTTLS",
        MailStep::Login => "refused the login",
        MailStep::Sender => "refused the sender's address",
        MailStep::Recipient => "refused the recipient's address",
        MailStep::Message => "refused the mail",
    };
    format!("The mail server {refused}: {code} {}", clean(&answer))
        .trim_end()
        .to_owned()
}

/// Words for an error without an answer of the server.
fn no_answer(fields: &MailFields, step: MailStep, error: &(dyn Error + 'static)) -> String {
    if causes(error).any(<dyn std::error::Error>::is::<TooMuch>) {
        return "The mail server sent more than a mail server does. Check the host and the port."
            .to_owned();
    }
    if step == MailStep::Login {
        return "The mail server offers no login with a password that Tapdesk knows (PLAIN or LOGIN), or ended the connection.".to_owned();
    }
    let innermost = causes(error)
        .last()
        .map_or_else(String::new, |cause| clean(&cause.to_string()));
    let MailFields { host, port, .. } = fields;
    match step {
        MailStep::Settings | MailStep::Connect => {
            format!("The mail server {host} cannot be reached at port {port}: {innermost}.")
        }
        MailStep::Encrypt => format!("The connection could not be encrypted: {innermost}."),
        MailStep::Login | MailStep::Sender | MailStep::Recipient | MailStep::Message => {
            format!("The mail server ended the connection: {innermost}.")
        }
    }
}

/// The beginning of a stranger's text, in one line.
fn clean(text: &str) -> String {
    let line: String = one_line(text).chars().take(ANSWER_KEPT).collect();
    line.trim().trim_end_matches('.').to_owned()
}
