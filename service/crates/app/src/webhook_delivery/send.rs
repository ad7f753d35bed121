//! Makes the attempts. Slow and failing endpoints use separate places, so that they never delay the
//! others. Each endpoint has at most a few attempts at a time.

mod on_the_way;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::client::{ClientError, WebhookClient};
use super::event;
use crate::outage::Outage;
use crate::service::Service;
use domain::clock::{Stopwatch, Timestamp};
use domain::entropy;
use domain::id::WebhookId;
use domain::keyring::{Keyring, KeyringError};
use domain::revision::Precondition;
use domain::webhook::{AttemptOutcome, Failure, Happening, Secret, Signed, origin};
use on_the_way::OnTheWay;
use storage::panics::Panicked;
use storage::{Claimed, Finished, Settled, StorageError};

/// Maximum number of simultaneous attempts of one endpoint.
const EACH: usize = 8;
/// The same for an endpoint that is slow or fails.
const EACH_HELD_BACK: usize = 2;
/// An endpoint that takes longer than this is slow.
const SLOW: Duration = Duration::from_secs(2);
/// Interval between two searches for due deliveries.
const LOOK: Duration = Duration::from_millis(500);
/// Pause after an error.
const PAUSE: Duration = Duration::from_secs(1);
/// How long results are collected, to store many of them in one commit.
const GATHERED: Duration = Duration::from_millis(20);
/// Maximum number of results per commit.
const AT_ONCE: usize = 32;

/// Makes attempts until the future is dropped.
pub(super) async fn run(service: &Service) -> Infallible {
    let mut outage = Outage::default();
    loop {
        let Err(error) = sending(service, &mut outage).await;
        service.metrics.webhook_failure();
        if outage.begins() {
            tracing::warn!("webhooks have to wait: {error}");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

#[derive(Debug, thiserror::Error)]
enum SendError {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Client(#[from] ClientError),
}

/// An attempt that has ended.
struct Made {
    claimed: Claimed,
    outcome: AttemptOutcome,
}

/// Makes attempts until an error. The first successful round ends the outage.
async fn sending(service: &Service, outage: &mut Outage) -> Result<Infallible, SendError> {
    let client = Arc::new(WebhookClient::new(service.settings().private_webhooks)?);
    let mut sender = Sender {
        service,
        client,
        on_the_way: OnTheWay::default(),
    };
    loop {
        let mut begun = false;
        for held_back in [false, true] {
            begun |= sender.begin(held_back).await?;
        }
        outage.ends();
        if begun {
            continue;
        }
        tokio::select! {
            Some(made) = sender.on_the_way.next() => sender.finish(made).await?,
            _ = timeout(LOOK, service.webhooks.due.notified()) => {}
        }
    }
}

struct Sender<'a> {
    service: &'a Service,
    client: Arc<WebhookClient>,
    on_the_way: OnTheWay<Made>,
}

impl Sender<'_> {
    /// Begins due attempts while places are free. Returns whether any began.
    async fn begin(&mut self, held_back: bool) -> Result<bool, StorageError> {
        let each = if held_back { EACH_HELD_BACK } else { EACH };
        let free = self.on_the_way.free(held_back);
        if free == 0 {
            return Ok(false);
        }
        let full = self.on_the_way.full(each);
        let storage = &self.service.storage;
        let due = storage
            .due_webhooks(held_back, full, free.div_ceil(each))
            .await?;
        if due.is_empty() {
            return Ok(false);
        }
        let claimed = storage.claim_deliveries(due, each).await?;
        let begun = !claimed.is_empty();
        let now = storage.now().await?;
        for claimed in claimed {
            let webhook = claimed.webhook_id;
            let client = Arc::clone(&self.client);
            let keyring = Arc::clone(&self.service.keyring);
            self.on_the_way.begin(webhook, held_back, async move {
                let outcome = attempt(&client, &keyring, &claimed, now).await;
                Made { claimed, outcome }
            });
        }
        Ok(begun)
    }

    /// Stores the results of this attempt and of others that end within a moment.
    async fn finish(&mut self, first: Result<Made, Panicked>) -> Result<(), StorageError> {
        let mut made = Vec::new();
        self.take(first, &mut made);
        let gathering = Stopwatch::start();
        while made.len() < AT_ONCE && gathering.elapsed() < GATHERED && !self.on_the_way.is_empty()
        {
            let rest = GATHERED.saturating_sub(gathering.elapsed());
            match timeout(rest, self.on_the_way.next()).await {
                Ok(Some(one)) => self.take(one, &mut made),
                Ok(None) | Err(_) => break,
            }
        }
        let finished = made.into_iter();
        let finished = finished.map(|one| judge(self.service, &one.claimed, one.outcome));
        let finished: Vec<Finished> = finished.collect();
        let attempted: Vec<WebhookId> = finished.iter().map(|one| one.webhook_id).collect();
        // If this fails, all of them are sent again after their lease expires.
        store(self.service, finished).await?;
        for id in attempted {
            self.service.webhooks.attempted(id);
        }
        Ok(())
    }

    /// Takes an attempt that has ended. If it panicked, it has no result, and is repeated after its
    /// lease expires.
    fn take(&self, ended: Result<Made, Panicked>, made: &mut Vec<Made>) {
        match ended {
            Ok(one) => made.push(one),
            Err(Panicked) => self.service.metrics.task_panic(),
        }
    }
}

/// Stores the results of attempts. If an endpoint was switched off, listeners of the event stream
/// get an alert. If an endpoint is back, the deliveries that it refused while it was down are sent
/// again.
async fn store(service: &Service, finished: Vec<Finished>) -> Result<(), StorageError> {
    let at = finished.last().map(|one| one.outcome.at);
    let Settled {
        alerts,
        back,
        given_up,
    } = service.storage.finish_attempts(finished).await?;
    for alert in alerts {
        service.storage.tell(event(&alert, at.unwrap_or_default()));
    }
    service.metrics.webhooks_given_up(given_up);
    for (webhook, since) in back {
        service.storage.wake_deliveries(webhook, since).await?;
    }
    Ok(())
}

/// The effect of an attempt's result on its delivery.
pub(super) fn judge(service: &Service, claimed: &Claimed, outcome: AttemptOutcome) -> Finished {
    let [chance] = entropy::bytes::<1>(&*service.entropy);
    if let Some(failure) = &outcome.failure {
        tracing::debug!(
            webhook = %claimed.webhook_id,
            endpoint = %origin(&claimed.url),
            "a webhook was not delivered: {}", failure.why
        );
    }
    Finished {
        delivery: claimed.id,
        webhook_id: claimed.webhook_id,
        slow: outcome.took > SLOW,
        outcome,
        chance: Some(chance),
    }
}

/// Signs and sends a delivery.
pub(super) async fn attempt(
    client: &WebhookClient,
    keyring: &Keyring,
    claimed: &Claimed,
    now: Timestamp,
) -> AttemptOutcome {
    let secrets = claimed.secrets.iter();
    let secrets: Result<Vec<Secret>, KeyringError> = secrets
        .map(|wrapped| Secret::unwrap(wrapped, keyring))
        .collect();
    match secrets {
        Ok(secrets) => {
            let body = claimed.body.clone();
            let signed = Signed::new(&claimed.event_id, now, body.as_bytes(), &secrets);
            client.send(&claimed.url, &signed, body, now).await
        }
        Err(error) => AttemptOutcome {
            at: now,
            took: Duration::ZERO,
            status: None,
            response: String::new(),
            failure: Some(Failure::new(error.to_string())),
        },
    }
}

/// Sends a test event to an endpoint that still matches `expected`, and returns the result; `None`
/// if the endpoint does not exist.
pub async fn test(
    service: &Service,
    id: WebhookId,
    expected: Precondition,
) -> Result<Option<(String, AttemptOutcome)>, TestError> {
    let client = WebhookClient::new(service.settings().private_webhooks)?;
    let now = service.storage.now().await?;
    let number = u64::from_le_bytes(entropy::bytes::<8>(&*service.entropy));
    let event = Happening::test(now, number);
    let Some(claimed) = service.storage.claim_test(id, event, expected).await? else {
        return Ok(None);
    };
    let outcome = attempt(&client, &service.keyring, &claimed, now).await;
    let finished = Finished {
        // A test event is not repeated.
        chance: None,
        ..judge(service, &claimed, outcome.clone())
    };
    store(service, vec![finished]).await?;
    Ok(Some((claimed.event_id, outcome)))
}

/// Why a test event was not sent.
#[derive(Debug, thiserror::Error)]
pub enum TestError {
    /// The database returned an error.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The HTTP client could not be created.
    #[error(transparent)]
    Client(#[from] ClientError),
}
