//! Tests of the mail server and of notifications, which an owner asks for.

use super::compose::host;
use super::page::Page;
use super::send::{Channels, chat_url};
use super::smtp::{PATIENCE, Unsent};
use crate::service::Service;
use domain::clock::Timestamp;
use domain::entropy;
use domain::id::NotificationId;
use domain::mail::{MailAddress, MailStep};
use domain::notification::Message;
use storage::StorageError;

/// The result of a test for one recipient.
#[derive(Clone, Debug)]
pub struct Tested {
    /// The mail address; empty for a chat.
    pub recipient: String,
    /// The step that failed; `None` if the message was delivered.
    pub step: Option<MailStep>,
    /// The reason, for people; `None` if the message was delivered.
    pub error: Option<String>,
}

impl Tested {
    fn new(recipient: &str, sent: Result<(), Unsent>) -> Self {
        let (step, error) = match sent {
            Ok(()) => (None, None),
            Err(Unsent { step, failure, .. }) => (Some(step), Some(failure.why)),
        };
        Self {
            recipient: recipient.to_owned(),
            step,
            error,
        }
    }
}

/// Sends a test mail at once, once.
pub async fn test_mail(service: &Service, to: &MailAddress) -> Result<Tested, StorageError> {
    let channels = Channels::open(service).await?;
    let now = service.storage.now().await?;
    let message = test_message(service);
    let sent = channels
        .mail(
            to.as_str(),
            &test_key(service, now),
            now,
            &message,
            PATIENCE,
        )
        .await;
    Ok(Tested::new(to.as_str(), sent))
}

/// Sends a test message to all recipients of a notification at once, once, also if it is off. `None`
/// if there is no such notification.
pub async fn test(
    service: &Service,
    id: NotificationId,
) -> Result<Option<Vec<Tested>>, StorageError> {
    let Some(notification) = service.storage.notification(id).await? else {
        return Ok(None);
    };
    let channels = Channels::open(service).await?;
    let now = service.storage.now().await?;
    let message = test_message(service);
    let sealed = &notification.sealed;
    let mut tested = Vec::new();
    let mut of_all: Option<Tested> = None;
    for recipient in sealed.fields.channel.recipients() {
        // A server that cannot be used fails alike for all, and may take two minutes for each.
        if let Some(failed) = &of_all {
            tested.push(Tested {
                recipient: recipient.to_owned(),
                ..failed.clone()
            });
            continue;
        }
        let sent = if recipient.is_empty() {
            let url = chat_url(service, sealed.chat.as_deref());
            channels.post(url, &message, now).await
        } else {
            let key = test_key(service, now);
            channels
                .mail(recipient, &key, now, &message, PATIENCE)
                .await
        };
        let is_of_all = sent.as_ref().is_err_and(Unsent::is_of_all);
        let one = Tested::new(recipient, sent);
        of_all = is_of_all.then(|| one.clone());
        tested.push(one);
    }
    Ok(Some(tested))
}

fn test_key(service: &Service, now: Timestamp) -> String {
    let number = u64::from_le_bytes(entropy::bytes::<8>(&*service.entropy));
    format!("tapdesk.test.{}.{number:x}", now.millis())
}

fn test_message(service: &Service) -> Message {
    let page = Page {
        subject: "Tapdesk: test".to_owned(),
        title: "Test".to_owned(),
        lines: vec!["This message shows that notifications arrive.".to_owned()],
        chart: None,
        tables: Vec::new(),
        foot: format!("Sent by Tapdesk at {}.", host(service)),
    };
    page.message(true).unwrap_or_else(|error| {
        tracing::error!("the test message could not be written: {error}");
        Message {
            subject: "Tapdesk: test".to_owned(),
            text: "This message shows that notifications arrive.".to_owned(),
            html: String::new(),
            chart: None,
        }
    })
}
