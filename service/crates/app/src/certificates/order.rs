//! Orders a certificate: account, order, challenge, key, chain.

use std::time::Duration;

use instant_acme::{
    Account, AccountCredentials, AuthorizationStatus, ChallengeType, Error, Identifier, NewAccount,
    NewOrder, Order, OrderStatus, Problem, RetryPolicy,
};
use zeroize::Zeroizing;

use super::Certificates;
use super::external_account::ExternalAccount;
use super::read::{certified, usable};
use super::words::{is, words};
use crate::service::Service;
use storage::panics::Panicked;
use storage::{ClaimedDomain, StorageError, StoredCertificate};

/// How often a request is repeated whose nonce the authority did not take. Each is a new one, and the
/// library itself repeats it twice before.
const AGAIN: usize = 10;
/// How the authority is asked whether it has decided. Most decide within seconds.
const POLLING: RetryPolicy = RetryPolicy::new()
    .initial_delay(Duration::from_millis(250))
    .backoff(1.5)
    .timeout(Duration::from_mins(2));

/// Why a certificate was not obtained.
#[derive(Debug, thiserror::Error)]
pub(super) enum OrderError {
    /// The database refused or did not answer.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The authority refused, or cannot be reached.
    #[error(transparent)]
    Authority(#[from] Error),
    /// The attempt ended with a panic.
    #[error("the attempt panicked")]
    Panicked,
    /// Something else, a sentence for people.
    #[error("{0}")]
    Other(String),
}

impl OrderError {
    /// The reason, a sentence for people; the database's own failure as an `Err`.
    pub(super) fn for_people(self) -> Result<String, StorageError> {
        match self {
            Self::Storage(error) => Err(error),
            Self::Authority(error) => Ok(words(&error)),
            Self::Panicked => Ok("The service has an error of its own; its log has it.".to_owned()),
            Self::Other(why) => Ok(why),
        }
    }
}

impl From<Panicked> for OrderError {
    fn from(_: Panicked) -> Self {
        Self::Panicked
    }
}

/// Obtains a certificate for a claimed domain, with a new key.
pub(super) async fn obtain(
    service: &Service,
    certificates: &Certificates,
    claimed: &ClaimedDomain,
) -> Result<StoredCertificate, OrderError> {
    let domain = &claimed.domain;
    let mut order = begin(service, certificates, domain).await?;
    if let Some((token, answer)) = again(async || challenge(&mut order).await).await? {
        let directory = certificates.acme.directory.clone();
        service
            .storage
            .offer_challenge(claimed.clone(), directory, token, answer)
            .await?;
        again(async || set_ready(&mut order).await).await?;
    }
    match again(async || order.poll_ready(&POLLING).await).await? {
        OrderStatus::Ready | OrderStatus::Valid => {}
        _ => return Err(refusal(&mut order).await?),
    }
    let key = again(async || order.finalize().await).await?;
    let key = Zeroizing::new(key);
    let chain = again(async || order.poll_certificate(&POLLING).await).await?;
    let now = service.storage.now().await?;
    let validity = certified(&chain, key.as_bytes())
        .and_then(|certified| usable(&certified, domain, now))
        .map_err(|why| {
            OrderError::Other(format!("The authority's certificate is unusable: {why}."))
        })?;
    let wrapped = service
        .keyring
        .wrap_secret(key.as_bytes(), &*service.entropy)
        .map_err(|error| OrderError::Other(error.to_string()))?;
    Ok(StoredCertificate {
        domain: domain.clone(),
        directory: certificates.acme.directory.clone(),
        chain,
        key: wrapped,
        validity,
    })
}

/// Begins an order. An account that the authority does not know any more is replaced.
async fn begin(
    service: &Service,
    certificates: &Certificates,
    domain: &str,
) -> Result<Order, OrderError> {
    let names = [Identifier::Dns(domain.to_owned())];
    let wanted = NewOrder::new(&names);
    let known = account(service, certificates).await?;
    if let Some(account) = known {
        match again(async || account.new_order(&wanted).await).await {
            Err(Error::Api(problem)) if is(&problem, "accountDoesNotExist") => {
                tracing::info!("the authority does not know the account; a new one is made");
            }
            begun => return Ok(begun?),
        }
    }
    let account = new_account(service, certificates).await?;
    Ok(again(async || account.new_order(&wanted).await).await?)
}

/// The stored account, if it can be opened.
pub(super) async fn account(
    service: &Service,
    certificates: &Certificates,
) -> Result<Option<Account>, OrderError> {
    let directory = certificates.acme.directory.clone();
    let Some(stored) = service.storage.acme_account(directory).await? else {
        return Ok(None);
    };
    let opened = service.keyring.unwrap_secret(&stored).ok();
    let credentials = opened.and_then(|json| serde_json::from_slice(&json).ok());
    let Some(credentials) = credentials else {
        return Ok(None);
    };
    let builder = Account::builder_with_http(Box::new(certificates.authority.clone()));
    Ok(Some(builder.from_credentials(credentials).await?))
}

/// Makes an account, and stores it.
async fn new_account(
    service: &Service,
    certificates: &Certificates,
) -> Result<Account, OrderError> {
    let acme = &certificates.acme;
    let contact = acme.mail.as_ref().map(|mail| format!("mailto:{mail}"));
    let contact: Vec<_> = contact.iter().map(String::as_str).collect();
    let wanted = NewAccount {
        contact: &contact,
        // Whoever sets --acme agrees to them.
        terms_of_service_agreed: true,
        only_return_existing: false,
    };
    let bound = certificates.external_account.as_ref();
    let bound = bound.map(ExternalAccount::key);
    let (account, credentials) = again(async || {
        let builder = Account::builder_with_http(Box::new(certificates.authority.clone()));
        let created = builder.create(&wanted, acme.directory.clone(), bound.as_ref());
        created.await
    })
    .await?;
    let wrapped = wrap(service, &credentials)?;
    let stored = service
        .storage
        .set_acme_account(acme.directory.clone(), wrapped);
    stored.await?;
    Ok(account)
}

fn wrap(service: &Service, credentials: &AccountCredentials) -> Result<Vec<u8>, OrderError> {
    let json = serde_json::to_vec(credentials).map_err(Error::from)?;
    let wrapped = service
        .keyring
        .wrap_secret(&Zeroizing::new(json), &*service.entropy);
    wrapped.map_err(|error| OrderError::Other(error.to_string()))
}

/// The token of the challenge and the answer to it; `None` if the authority has proof already.
async fn challenge(order: &mut Order) -> Result<Option<(String, String)>, Error> {
    let mut authorizations = order.authorizations();
    // An order for one name has one authorization.
    let Some(authorization) = authorizations.next().await else {
        return Ok(None);
    };
    let mut authorization = authorization?;
    if authorization.status == AuthorizationStatus::Valid {
        return Ok(None);
    }
    let challenge = authorization.challenge(ChallengeType::Http01);
    let challenge = challenge.ok_or(Error::Str("challenge of the type http-01"))?;
    let answer = challenge.key_authorization().as_str().to_owned();
    Ok(Some((challenge.token.clone(), answer)))
}

/// Lets the authority ask for the answer.
async fn set_ready(order: &mut Order) -> Result<(), Error> {
    let mut authorizations = order.authorizations();
    let Some(authorization) = authorizations.next().await else {
        return Ok(());
    };
    let mut authorization = authorization?;
    match authorization.challenge(ChallengeType::Http01) {
        Some(mut challenge) => challenge.set_ready().await,
        None => Ok(()),
    }
}

/// Why the authority refused the order, as the challenge says it.
async fn refusal(order: &mut Order) -> Result<OrderError, Error> {
    let problem = again(async || problem(order).await).await?;
    Ok(match problem {
        Some(problem) => Error::Api(problem).into(),
        None => OrderError::Other("The authority refused the order, and does not say why.".into()),
    })
}

async fn problem(order: &mut Order) -> Result<Option<Problem>, Error> {
    let mut authorizations = order.authorizations();
    let Some(authorization) = authorizations.next().await else {
        return Ok(None);
    };
    let mut authorization = authorization?;
    let state = authorization.refresh().await?;
    let mut problems = state.challenges.iter();
    Ok(problems.find_map(|challenge| challenge.error.clone()))
}

/// The result of a request that is repeated while the authority does not take its nonce: it did
/// nothing then.
async fn again<T>(mut request: impl AsyncFnMut() -> Result<T, Error>) -> Result<T, Error> {
    for _ in 1..AGAIN {
        match request().await {
            Err(Error::Api(problem)) if is(&problem, "badNonce") => {}
            ended => return ended,
        }
    }
    request().await
}
