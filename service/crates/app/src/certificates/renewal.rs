//! When a certificate is obtained or renewed, and by which node.

use std::convert::Infallible;
use std::time::Duration;

use instant_acme::{CertificateIdentifier, Error, SuggestedWindow};
use tokio::time::timeout;

use super::order::{OrderError, account, obtain};
use super::read::open;
use super::{Certificates, PAUSE};
use crate::outage::Outage;
use crate::service::Service;
use crate::webhook_delivery;
use domain::certificate::{LOOK, OBTAINED, is_due, is_replaced_early, next_attempt};
use domain::clock::{Millis, Timestamp};
use domain::entropy;
use storage::{AttemptEnd, ClaimedDomain, StorageError, StoredCertificate, panics};

/// Time limit of an attempt: half of the lease.
const ATTEMPT: Duration = Duration::from_mins(5);

/// Makes the attempts that are due.
pub(super) async fn run(service: &Service, certificates: &Certificates) -> Infallible {
    let mut outage = Outage::default();
    loop {
        match round(service, certificates).await {
            Ok(()) => {
                outage.ends();
            }
            Err(error) if outage.begins() => {
                tracing::warn!("certificates have to wait: {error}");
            }
            Err(_) => {}
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn round(service: &Service, certificates: &Certificates) -> Result<(), StorageError> {
    let acme = &certificates.acme;
    let states = service.storage.certificate_states().await?;
    let now = service.storage.now().await?;
    for domain in &acme.domains {
        let mut of_domain = states.iter();
        let state = of_domain.find(|one| one.domain == *domain && one.directory == acme.directory);
        let is_lost = certificates.present.has_lost(domain)
            && state.is_some_and(|state| {
                state.error.is_none() && is_replaced_early(state.next_at, now)
            });
        // Reading first spares a transaction, which other nodes would wait for.
        if is_lost || is_due(state.map(|state| state.next_at), now) {
            attend(service, certificates, domain, is_lost).await?;
        }
    }
    Ok(())
}

/// Makes the attempt for a domain, unless another node has claimed it.
async fn attend(
    service: &Service,
    certificates: &Certificates,
    domain: &str,
    is_lost: bool,
) -> Result<(), StorageError> {
    let directory = &certificates.acme.directory;
    let storage = &service.storage;
    let claimed = storage.claim_certificate(domain.to_owned(), directory.clone(), is_lost);
    let Some(claimed) = claimed.await? else {
        return Ok(());
    };
    // A pause of an earlier attempt is over.
    certificates.authority.take_pause();
    // A panic is a failure, too: it has its pause, and raises the alert.
    let attempt = panics::catch_async(attempt(service, certificates, &claimed));
    let attempt = timeout(ATTEMPT, attempt);
    let ended = attempt.await.unwrap_or_else(|_| {
        let why = "The authority did not decide within five minutes.".to_owned();
        Err(OrderError::Other(why))
    });
    let now = storage.now().await?;
    let end = match ended {
        Ok(end) => end,
        Err(error) => {
            if matches!(error, OrderError::Panicked) {
                service.metrics.task_panic();
            }
            let why = error.for_people()?;
            let asked = certificates.authority.take_pause();
            let [chance] = entropy::bytes::<1>(&*service.entropy);
            let next_at = next_attempt(claimed.attempt, now, asked, chance);
            service.metrics.certificate_failure();
            tracing::warn!(
                "no new certificate for {domain}: {why} The next attempt is at {next_at}"
            );
            AttemptEnd::Failed { why, next_at }
        }
    };
    let alert = storage.end_certificate_attempt(claimed, directory.clone(), end);
    if let Some(alert) = alert.await? {
        webhook_delivery::tell(service, &alert, now);
    }
    Ok(())
}

/// Looks at the present certificate, and replaces it if it is time.
async fn attempt(
    service: &Service,
    certificates: &Certificates,
    claimed: &ClaimedDomain,
) -> Result<AttemptEnd, OrderError> {
    let now = service.storage.now().await?;
    // A certificate whose key was wrapped by a lost key is as good as none.
    let present = claimed.present.as_ref();
    let present = present.filter(|present| open(service, present).is_ok());
    if let Some(present) = present
        && now < present.validity.renew_at()
    {
        let wanted = wanted_at(service, certificates, present).await?;
        let renew_at = wanted.map_or(present.validity.renew_at(), |wanted| {
            wanted.min(present.validity.renew_at())
        });
        if now < renew_at {
            let next_at = renew_at.min(now.plus(LOOK));
            return Ok(AttemptEnd::Stays { next_at });
        }
    }
    let certificate = obtain(service, certificates, claimed).await?;
    let validity = certificate.validity;
    let (domain, until) = (&claimed.domain, validity.until);
    tracing::info!("a certificate for {domain} was obtained, which is valid until {until}");
    let next_at = validity.renew_at().min(now.plus(LOOK));
    Ok(AttemptEnd::Obtained {
        certificate,
        next_at: next_at.max(now.plus(OBTAINED)),
    })
}

/// A random moment of the period in which the authority wants the certificate to be renewed (ARI, RFC
/// 9773), so that not all of its clients come at once; `None` if it names none. It is in the past for
/// a certificate that was revoked.
async fn wanted_at(
    service: &Service,
    certificates: &Certificates,
    present: &StoredCertificate,
) -> Result<Option<Timestamp>, OrderError> {
    let window = match window(service, certificates, present).await {
        Ok(window) => window,
        Err(OrderError::Storage(error)) => return Err(error.into()),
        // The certificate is good, so it is asked again at the next look.
        Err(error) => {
            tracing::debug!("the authority does not say when to renew: {error}");
            None
        }
    };
    Ok(window.map(|window| {
        let at = |seconds: i64| Timestamp::from_millis(seconds.saturating_mul(1_000));
        let start = at(window.start.unix_timestamp());
        let length = at(window.end.unix_timestamp()).since(start).get().max(0);
        let [chance] = entropy::bytes::<1>(&*service.entropy);
        start.plus(Millis::new(length / 255 * i64::from(chance)))
    }))
}

async fn window(
    service: &Service,
    certificates: &Certificates,
    present: &StoredCertificate,
) -> Result<Option<SuggestedWindow>, OrderError> {
    let Some(account) = account(service, certificates).await? else {
        return Ok(None);
    };
    let certified = open(service, present).map_err(OrderError::Other)?;
    let own = certified.end_entity_cert();
    let own = own.map_err(|error| OrderError::Other(error.to_string()))?;
    let id = CertificateIdentifier::try_from(own).map_err(OrderError::Other)?;
    match account.renewal_info(&id).await {
        Ok((info, _)) => Ok(Some(info.suggested_window)),
        Err(Error::Unsupported(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
