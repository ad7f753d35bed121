//! Makes the attempts. Endpoints that are slow or failing have places of their own, so that they
//! never hold up the others, and each endpoint has a few at a time.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::timeout;

use super::event;
use crate::clock::{Stopwatch, Timestamp};
use crate::entropy;
use crate::id::WebhookId;
use crate::keyring::{Keyring, KeyringError};
use crate::service::Service;
use crate::storage::{Claimed, Finished, StorageError};
use crate::webhook::{
    AttemptOutcome, ClientError, Failure, Happening, Secret, Signed, WebhookClient, next_attempt,
    origin,
};

/// Attempts at once, of endpoints that answer well, and of the others.
const PLACES: usize = 64;
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
        let Err(error) = sending(service).await;
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

/// An attempt that is on its way.
struct Made {
    claimed: Claimed,
    held_back: bool,
    outcome: AttemptOutcome,
}

async fn sending(service: &Service) -> Result<Infallible, SendError> {
    let client = Arc::new(WebhookClient::new(service.settings().private_webhooks)?);
    let mut sender = Sender {
        service,
        client,
        on_the_way: JoinSet::new(),
        busy: HashMap::new(),
        places: [PLACES; 2],
    };
    loop {
        let mut begun = false;
        for held_back in [false, true] {
            begun |= sender.begin(held_back).await?;
        }
        if begun {
            continue;
        }
        tokio::select! {
            Some(made) = sender.on_the_way.join_next() => {
                let made = made.ok();
                sender.finish(made).await?;
            }
            _ = timeout(LOOK, service.webhooks.due.notified()) => {}
        }
    }
}

struct Sender<'a> {
    service: &'a Service,
    client: Arc<WebhookClient>,
    on_the_way: JoinSet<Made>,
    /// How many attempts of an endpoint are on their way.
    busy: HashMap<WebhookId, usize>,
    /// Free places: of endpoints that answer well, and of those held back.
    places: [usize; 2],
}

impl Sender<'_> {
    /// Begins attempts that are due, as far as there are places. Whether any began.
    async fn begin(&mut self, held_back: bool) -> Result<bool, StorageError> {
        let each = if held_back { EACH_HELD_BACK } else { EACH };
        let free = self.places[usize::from(held_back)];
        if free == 0 {
            return Ok(false);
        }
        let full = self.busy.iter().filter(|(_, many)| **many >= each);
        let full = full.map(|(id, _)| *id).collect();
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
            // Another node may have left more than there are places for: they run all the same,
            // for they are leased.
            let places = &mut self.places[usize::from(held_back)];
            *places = places.saturating_sub(1);
            *self.busy.entry(claimed.webhook_id).or_default() += 1;
            let client = Arc::clone(&self.client);
            let keyring = Arc::clone(&self.service.keyring);
            self.on_the_way.spawn(async move {
                let outcome = attempt(&client, &keyring, &claimed, now).await;
                Made {
                    claimed,
                    held_back,
                    outcome,
                }
            });
        }
        Ok(begun)
    }

    /// Stores what attempts came to: this one, and those that end within a moment.
    async fn finish(&mut self, first: Option<Made>) -> Result<(), StorageError> {
        let mut made: Vec<Made> = first.into_iter().collect();
        let gathering = Stopwatch::start();
        while made.len() < AT_ONCE && gathering.elapsed() < GATHERED && !self.on_the_way.is_empty()
        {
            let rest = GATHERED.saturating_sub(gathering.elapsed());
            match timeout(rest, self.on_the_way.join_next()).await {
                Ok(Some(Ok(one))) => made.push(one),
                Ok(Some(Err(_))) => {}
                Ok(None) | Err(_) => break,
            }
        }
        let mut finished = Vec::with_capacity(made.len());
        for one in made {
            let places = &mut self.places[usize::from(one.held_back)];
            *places = (*places + 1).min(PLACES);
            let id = one.claimed.webhook_id;
            if let Some(many) = self.busy.get_mut(&id) {
                *many -= 1;
                if *many == 0 {
                    self.busy.remove(&id);
                }
            }
            finished.push(judge(self.service, &one.claimed, one.outcome));
        }
        let ended: Vec<WebhookId> = finished
            .iter()
            .filter(|one| one.next_at.is_none())
            .map(|one| one.webhook_id)
            .collect();
        // If it fails, all of them are sent again when their lease is over.
        store(self.service, finished).await?;
        for id in ended {
            self.service.webhooks.done(id);
        }
        Ok(())
    }
}

/// Stores what attempts came to. If an endpoint was switched off, those who listen to events hear of
/// it, too.
async fn store(service: &Service, finished: Vec<Finished>) -> Result<(), StorageError> {
    let at = finished.last().map(|one| one.outcome.at);
    for alert in service.storage.finish_attempts(finished).await? {
        service.storage.tell(event(&alert, at.unwrap_or_default()));
    }
    Ok(())
}

/// What an attempt means for its delivery.
pub(super) fn judge(service: &Service, claimed: &Claimed, outcome: AttemptOutcome) -> Finished {
    let [chance] = entropy::bytes::<1>(&*service.entropy);
    let next_at = outcome.failure.as_ref().and_then(|failure| {
        let attempts = claimed.attempts.saturating_add(1);
        next_attempt(attempts, outcome.at, failure.retry_after, chance)
    });
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
        next_at,
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
        next_at: None,
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
