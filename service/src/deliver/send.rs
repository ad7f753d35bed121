//! Makes the attempts. Endpoints that are slow or failing have places of their own, so that they
//! never hold up the others, and each endpoint has a few at a time.

mod on_the_way;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::event;
use crate::clock::{Stopwatch, Timestamp};
use crate::entropy;
use crate::id::WebhookId;
use crate::keyring::{Keyring, KeyringError};
use crate::panics::Panicked;
use crate::service::Service;
use crate::storage::{Claimed, Finished, Settled, StorageError};
use crate::webhook::{
    AttemptOutcome, ClientError, Failure, Happening, Secret, Signed, WebhookClient, origin,
};
use on_the_way::OnTheWay;

/// Attempts at once of one endpoint.
const EACH: usize = 8;
/// The same of one that is slow or fails.
const EACH_HELD_BACK: usize = 2;
/// An endpoint that takes longer is slow.
const SLOW: Duration = Duration::from_secs(2);
/// Between two looks for what is due.
const LOOK: Duration = Duration::from_millis(500);
/// After an error.
const PAUSE: Duration = Duration::from_secs(1);
/// How long results are gathered, so that many are one commit.
const GATHERED: Duration = Duration::from_millis(20);
/// Results of one commit.
const AT_ONCE: usize = 32;

/// Makes attempts until it is dropped.
pub(super) async fn run(service: &Service) -> Infallible {
    let mut failing = false;
    loop {
        let Err(error) = sending(service, &mut failing).await;
        service.metrics.webhook_failure();
        if !failing {
            tracing::warn!("webhooks have to wait: {error}");
        }
        failing = true;
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

/// An attempt that was made.
struct Made {
    claimed: Claimed,
    outcome: AttemptOutcome,
}

/// Makes attempts until that fails. The first good round ends a time of failures.
async fn sending(service: &Service, failing: &mut bool) -> Result<Infallible, SendError> {
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
        *failing = false;
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
    /// Begins attempts that are due, as far as there are places. Whether any began.
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

    /// Stores what attempts came to: this one, and those that end within a moment.
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
        // If it fails, all of them are sent again when their lease is over.
        store(self.service, finished).await?;
        for id in attempted {
            self.service.webhooks.attempted(id);
        }
        Ok(())
    }

    /// Takes an attempt that ended. One that panicked came to nothing, and is made again when its
    /// lease is over.
    fn take(&self, ended: Result<Made, Panicked>, made: &mut Vec<Made>) {
        match ended {
            Ok(one) => made.push(one),
            Err(Panicked) => self.service.metrics.task_panic(),
        }
    }
}

/// Stores what attempts came to. If an endpoint was switched off, those who listen to events hear of
/// it, too; if one is back, what was refused while it was down is sent.
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

/// What an attempt means for its delivery.
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

/// Signs a delivery and sends it.
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

/// Sends a test event to an endpoint, and answers what came of it; `None` if there is none.
pub(crate) async fn test(
    service: &Service,
    id: WebhookId,
) -> Result<Option<(String, AttemptOutcome)>, TestError> {
    let client = WebhookClient::new(service.settings().private_webhooks)?;
    let now = service.storage.now().await?;
    let number = u64::from_le_bytes(entropy::bytes::<8>(&*service.entropy));
    let event = Happening::test(now, number);
    let Some(claimed) = service.storage.claim_test(id, event).await? else {
        return Ok(None);
    };
    let outcome = attempt(&client, &service.keyring, &claimed, now).await;
    let finished = Finished {
        // It is not repeated.
        chance: None,
        ..judge(service, &claimed, outcome.clone())
    };
    store(service, vec![finished]).await?;
    Ok(Some((claimed.event_id, outcome)))
}

/// Why a test event was not sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TestError {
    /// The database failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// There is no client.
    #[error(transparent)]
    Client(#[from] ClientError),
}
