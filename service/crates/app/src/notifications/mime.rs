//! A message as a mail: text and HTML, and the chart that the HTML shows.

use std::time::{Duration, UNIX_EPOCH};

use lettre::Address;
use lettre::message::header::{ContentType, Header, HeaderName, HeaderValue};
use lettre::message::{Attachment, Mailbox, MultiPart, SinglePart};

use domain::clock::Timestamp;
use domain::mail::MailAddress;
use domain::notification::Message;

/// Name of the sender beside its address.
const SENDER: &str = "Tapdesk";
/// Name of the chart within the mail, as the HTML refers to it.
const CHART: &str = "chart";

/// Says that no person wrote the mail, so that no program answers it (RFC 3834).
#[derive(Clone)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}

/// The bytes of a mail. `key` names the mail: it is the same in each attempt, so that a server that
/// gets it twice can notice.
pub(super) fn bytes(
    from: &MailAddress,
    to: &MailAddress,
    key: &str,
    at: Timestamp,
    message: &Message,
) -> Result<Vec<u8>, String> {
    let millis = u64::try_from(at.millis()).unwrap_or_default();
    let builder = lettre::Message::builder()
        .from(Mailbox::new(Some(SENDER.to_owned()), address(from)?))
        .to(Mailbox::new(None, address(to)?))
        .subject(message.subject.clone())
        .date(UNIX_EPOCH + Duration::from_millis(millis))
        .message_id(Some(format!("<{key}@{}>", from.domain())))
        .header(AutoSubmitted);
    let html = SinglePart::html(message.html.clone());
    let parts = MultiPart::alternative().singlepart(SinglePart::plain(message.text.clone()));
    let parts = match &message.chart {
        Some(chart) => {
            let png = ContentType::parse("image/png").map_err(|error| error.to_string())?;
            let chart = Attachment::new_inline(CHART.to_owned()).body(chart.clone(), png);
            parts.multipart(MultiPart::related().singlepart(html).singlepart(chart))
        }
        None => parts.singlepart(html),
    };
    let mail = builder.multipart(parts);
    Ok(mail.map_err(|error| error.to_string())?.formatted())
}

/// An address in the form of the mail library.
pub(super) fn address(address: &MailAddress) -> Result<Address, String> {
    let parsed: Result<Address, _> = address.as_str().parse();
    parsed.map_err(|_| format!("No mail can be sent to or from {address}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_has_text_html_and_its_chart() {
        let [from, to] = ["tapdesk@example.com", "anna@example.org"]
            .map(|text| MailAddress::parse(text).unwrap());
        let message = Message {
            subject: "Tapdesk: 3 taps, größer".to_owned(),
            text: "Text".to_owned(),
            html: "<p>Page</p><img src=\"cid:chart\">".to_owned(),
            chart: Some(vec![0x89, b'P', b'N', b'G']),
        };
        let at = Timestamp::from_millis(1_774_742_400_000);
        let mail = bytes(&from, &to, "tapdesk.1", at, &message).unwrap();
        let mail = String::from_utf8(mail).unwrap();
        assert!(mail.is_ascii(), "{mail}");
        for part in [
            "From: Tapdesk <tapdesk@example.com>\r\n",
            "To: anna@example.org\r\n",
            "Message-ID: <tapdesk.1@example.com>\r\n",
            "Auto-Submitted: auto-generated\r\n",
            "multipart/alternative",
            "multipart/related",
            "text/plain",
            "text/html",
            "image/png",
            "Content-ID: <chart>",
            "Content-Disposition: inline",
        ] {
            assert!(mail.contains(part), "{part} is missing in {mail}");
        }
        assert!(!mail.contains("Bcc"));
    }
}
