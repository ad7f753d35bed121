//! Attempts the deliveries of messages.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _};
use futures_util::stream::{FuturesUnordered, StreamExt as _};

use super::compose::host;
use super::smtp::{Server, TAKEN_WITHIN, Unsent};
use super::{chat, digest, mime};
use crate::outage::Outage;
use crate::service::Service;
use crate::webhook_delivery::WebhookClient;
use domain::clock::Timestamp;
use domain::entropy;
use domain::keyring::KeyringError;
use domain::mail::{MailAddress, MailStep};
use domain::notification::{Message, SendFailure, next_attempt};
use domain::revision::{Revised as _, Revision};
use storage::{ClaimedMessage, DeliveryEnd, Lane, StorageError, Tried};

/// Pause between two searches for due deliveries.
const LOOK: Duration = Duration::from_millis(500);
/// Pause after an error.
const PAUSE: Duration = Duration::from_secs(1);
/// Deliveries of a lane attempted at once. Each holds its message in memory, some ten kilobytes.
const AT_ONCE: usize = 4;

/// Attempts in progress. Each stores its own result.
type Attempts<'a> = FuturesUnordered<BoxFuture<'a, ()>>;

/// Attempts deliveries of a lane until the future is dropped. One that is interrupted is repeated
/// after its lease.
pub(super) async fn run(service: &Service, lane: Lane) -> Infallible {
    let mut outage = Outage::default();
    loop {
        let pause = match due(service, lane).await {
            Ok(_) => {
                outage.ends();
                LOOK
            }
            Err(error) => {
                if outage.begins() {
                    tracing::warn!("notifications cannot be sent: {error}");
                }
                service.metrics.notification_failure();
                PAUSE
            }
        };
        tokio::time::sleep(pause).await;
    }
}

/// Attempts due deliveries of a lane until none is left that may be attempted now. Returns whether
/// there were any. A slow one holds only its own place.
pub(super) async fn due(service: &Service, lane: Lane) -> Result<bool, StorageError> {
    let mut attempts = Attempts::new();
    let mut open = None;
    let mut any = false;
    loop {
        let claim = claim(service, lane, &mut open, attempts.len());
        match beside(claim, &mut attempts).await {
            Ok(begun) => {
                any |= !begun.is_empty();
                attempts.extend(begun);
            }
            Err(error) if attempts.is_empty() => return Err(error),
            // The attempts in progress end first, so that their results are not lost.
            Err(_) => {}
        }
        if attempts.is_empty() {
            return Ok(any);
        }
        tokio::select! {
            _ = attempts.next() => {}
            () = tokio::time::sleep(LOOK) => {}
        }
    }
}

/// The output of `work`, which may wait for the database. The attempts in progress go on meanwhile:
/// mail servers limit the time of a conversation, too.
async fn beside<T>(work: impl Future<Output = T>, attempts: &mut Attempts<'_>) -> T {
    let mut work = pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            Some(()) = attempts.next() => {}
        }
    }
}

/// Claims due deliveries for the places that `busy` attempts leave free. Returns their attempts.
async fn claim<'a>(
    service: &'a Service,
    lane: Lane,
    open: &mut Option<Arc<Channels>>,
    busy: usize,
) -> Result<Vec<BoxFuture<'a, ()>>, StorageError> {
    let all = match lane {
        Lane::Mail => mails_at_once(service).await?,
        Lane::Chat => AT_ONCE,
    };
    let free = all.saturating_sub(busy);
    if free == 0 {
        return Ok(Vec::new());
    }
    // Most rounds find nothing, and need no transaction, for which taps wait.
    if !service.storage.are_messages_due(lane).await? {
        return Ok(Vec::new());
    }
    // Nothing fails between the claim and the attempts: what was claimed would wait for its lease.
    let channels = Channels::current(service, open).await?;
    let claimed = service.storage.claim_messages(lane, free).await?;
    let attempts = claimed
        .into_iter()
        .map(|one| delivery(service, Arc::clone(&channels), one));
    Ok(attempts.collect())
}

/// A delivery. A panic is one failure, and the delivery is repeated after its lease.
fn delivery(
    service: &Service,
    channels: Arc<Channels>,
    claimed: ClaimedMessage,
) -> BoxFuture<'_, ()> {
    let delivered = AssertUnwindSafe(deliver(service, channels, claimed)).catch_unwind();
    Box::pin(async move {
        if delivered.await.is_err() {
            service.metrics.task_panic();
        }
    })
}

/// How many mails may be attempted at once.
async fn mails_at_once(service: &Service) -> Result<usize, StorageError> {
    let breaker = &service.mail_breaker;
    if breaker.is_open() {
        let server = service.storage.mail_server().await?;
        breaker.follow(server.map(|server| server.revision()));
    }
    Ok(breaker.places(service.storage.now().await?, AT_ONCE))
}

/// Attempts a delivery and stores the result. That is repeated until the database takes it, because
/// the message would be sent a second time otherwise.
async fn deliver(service: &Service, channels: Arc<Channels>, claimed: ClaimedMessage) {
    let era = service.mail_breaker.era();
    let sent = attempt(service, &channels, &claimed).await;
    let mut outage = Outage::default();
    let now = loop {
        match finish(service, &channels, &claimed, &sent).await {
            Ok(now) => break now,
            Err(error) => {
                if outage.begins() {
                    tracing::warn!("the result of a message cannot be stored yet: {error}");
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    };
    if claimed.recipient.is_empty() {
        return;
    }
    match sent {
        Err(unsent) if unsent.is_of_all() => {
            if service.mail_breaker.fails(era, now, channels.server) {
                // Its answer may name a person, so it is shown on the screen only.
                let step = unsent.step;
                tracing::warn!("mails have to wait: the mail server fails at the step {step:?}");
            }
        }
        _ => service.mail_breaker.works(),
    }
}

async fn attempt(
    service: &Service,
    channels: &Channels,
    claimed: &ClaimedMessage,
) -> Result<(), Unsent> {
    if claimed.recipient.is_empty() {
        let now = service.storage.now().await;
        let now = now.map_err(|error| Unsent::new(MailStep::Settings, error.to_string()))?;
        let url = chat_url(service, claimed.chat.as_deref());
        return channels.post(url, &claimed.message, now).await;
    }
    let digest = digest::of_joined(claimed, &host(service));
    let digest = digest.map_err(|error| Unsent::new(MailStep::Settings, error.to_string()))?;
    let message = digest.as_ref().unwrap_or(&claimed.message);
    // With another alert it is another mail, so the newest part names it.
    let own = (claimed.message_id, claimed.delivery, claimed.at);
    let joined = claimed.joined.iter();
    let joined = joined.map(|mail| (mail.message_id, mail.delivery, mail.at));
    let (message_id, delivery, at) = joined.fold(own, std::cmp::max);
    let key = format!("tapdesk.{message_id}.{delivery}.{}", at.millis());
    channels
        .mail(&claimed.recipient, &key, at, message, TAKEN_WITHIN)
        .await
}

/// Stores the result of an attempt for each of its deliveries. Returns the time at which it ended,
/// from which the next pause counts.
async fn finish(
    service: &Service,
    channels: &Channels,
    claimed: &ClaimedMessage,
    sent: &Result<(), Unsent>,
) -> Result<Timestamp, StorageError> {
    let now = service.storage.now().await?;
    // Somebody set the mail server right during the attempt, and expects the mail.
    let is_due = match sent {
        Err(Unsent { failure, .. }) if !failure.unsure => {
            channels.are_former(service, claimed).await?
        }
        _ => false,
    };
    let end = |since: Timestamp, attempt: u32| match sent {
        Ok(()) => DeliveryEnd::Delivered,
        Err(Unsent { failure, .. }) => {
            let [chance] = entropy::bytes::<1>(&*service.entropy);
            match next_attempt(since, attempt, now, failure, chance) {
                Some(at) => DeliveryEnd::Again {
                    at: if is_due { now } else { at },
                    unsure: failure.unsure,
                    error: failure.why.clone(),
                },
                None => DeliveryEnd::GivenUp(failure.why.clone()),
            }
        }
    };
    let own = (claimed.delivery, claimed.at, claimed.attempt);
    let joined = claimed.joined.iter();
    let joined = joined.map(|mail| (mail.delivery, mail.at, mail.attempt));
    let tried = joined.chain([own]).map(|(delivery, since, attempt)| Tried {
        delivery,
        attempt,
        at: now,
        end: end(since, attempt),
    });
    let tried: Vec<Tried> = tried.collect();
    let is_given_up = |one: &Tried| matches!(one.end, DeliveryEnd::GivenUp(_));
    let is_given_up = tried.iter().any(is_given_up);
    service.storage.finish_messages(tried).await?;
    if is_given_up {
        // The reason may name a person, so it is shown on the screen only.
        tracing::warn!(notification = %claimed.notification, "a message was given up");
    }
    Ok(now)
}

/// The ways to the recipients.
pub(super) struct Channels {
    mail: Result<Server, String>,
    chat: Result<WebhookClient, String>,
    /// The revision of the mail server; `None` if there is none.
    server: Option<Revision>,
    /// Whether chats may be at private addresses.
    private: bool,
}

impl Channels {
    /// The ways as they are now.
    pub(super) async fn open(service: &Service) -> Result<Arc<Self>, StorageError> {
        Self::current(service, &mut None).await
    }

    /// The ways as they are now: those that are `open`, unless the settings changed since. Each reads
    /// the system's certificates when it is made.
    async fn current(
        service: &Service,
        open: &mut Option<Arc<Self>>,
    ) -> Result<Arc<Self>, StorageError> {
        let stored = service.storage.mail_server().await?;
        let server = stored.as_ref().map(storage::MailServer::revision);
        let private = service.settings().private_webhooks;
        let is_same = |open: &Arc<Self>| (open.server, open.private) == (server, private);
        // A client that could not be made is tried again.
        let same = open
            .take()
            .filter(|open| is_same(open) && open.chat.is_ok());
        let channels = same.unwrap_or_else(|| {
            let mail = match &stored {
                Some(stored) => {
                    Server::open(stored, &service.keyring).map_err(|error| error.to_string())
                }
                None => {
                    Err("There is no mail server. Set one up, and the mail is sent.".to_owned())
                }
            };
            let chat = WebhookClient::new(private).map_err(|error| error.to_string());
            Arc::new(Self {
                mail,
                chat,
                server,
                private,
            })
        });
        *open = Some(Arc::clone(&channels));
        Ok(channels)
    }

    /// Whether a mail was sent by settings that were replaced since.
    async fn are_former(
        &self,
        service: &Service,
        claimed: &ClaimedMessage,
    ) -> Result<bool, StorageError> {
        if claimed.recipient.is_empty() {
            return Ok(false);
        }
        let stored = service.storage.mail_server().await?;
        Ok(stored.map(|stored| stored.revision()) != self.server)
    }

    /// Sends a mail. `taken_within` bounds the wait for the server to say that it took it.
    pub(super) async fn mail(
        &self,
        to: &str,
        key: &str,
        at: Timestamp,
        message: &Message,
        taken_within: Duration,
    ) -> Result<(), Unsent> {
        let settings = |why: String| Unsent::new(MailStep::Settings, why);
        let server = self.mail.as_ref().map_err(|why| settings(why.clone()))?;
        let to = MailAddress::parse(to).map_err(|error| settings(error.to_string()))?;
        let mail = mime::bytes(server.sender(), &to, key, at, message).map_err(settings)?;
        server.send(&to, &mail, taken_within).await
    }

    pub(super) async fn post(
        &self,
        url: Result<String, KeyringError>,
        message: &Message,
        now: Timestamp,
    ) -> Result<(), Unsent> {
        let failed = |failure: SendFailure| Unsent {
            step: MailStep::Message,
            failure,
            timed_out: false,
        };
        let url = url.map_err(|error| Unsent::new(MailStep::Settings, error.to_string()))?;
        let client = match &self.chat {
            Ok(client) => client,
            Err(why) => return Err(Unsent::new(MailStep::Settings, why.clone())),
        };
        chat::post(client, &url, &message.text, now)
            .await
            .map_err(failed)
    }
}

/// The URL of a chat, from its stored form; empty for mail.
pub(super) fn chat_url(service: &Service, wrapped: Option<&[u8]>) -> Result<String, KeyringError> {
    let Some(wrapped) = wrapped else {
        return Ok(String::new());
    };
    let url = service.keyring.unwrap_secret(wrapped)?;
    Ok(String::from_utf8_lossy(&url).into_owned())
}
