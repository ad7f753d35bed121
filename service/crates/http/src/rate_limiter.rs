//! The rate limiter. It counts only refused calls, so valid calls are never slowed down. A client
//! that exceeds the limit of refused calls per minute gets 429 instead of the usual error
//! (decisions, "Limits, retention, exposure").

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse as _, Response};
use governor::clock::{Clock as GovernorClock, Reference};
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};

use super::clients::network;
use super::error::ApiError;
use domain::clock::{Clock, Millis};

/// Operations with a separate count. Many clients can share one address: refused calls of one
/// operation must not change the answers to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operation {
    /// Retrieval of a payload with a rolling key.
    Payload,
    /// Update of tag variables, also by a form without JavaScript.
    Update,
    /// All operations of the admin API.
    Admin,
}

type Key = (Operation, u128);
type Limiter = RateLimiter<Key, DashMapStateStore<Key>, ServiceClock, NoOpMiddleware<Nanos>>;

/// Interval between two removals of clients without recent refused calls. It is short enough that
/// made-up IPv6 networks cannot fill the memory, and long enough that the work does not matter.
const SWEEP: Millis = Millis::seconds(10);

/// Counts refused calls per client and operation.
pub(super) struct RateLimits {
    clock: Arc<dyn Clock>,
    limiter: RwLock<Option<(u32, Arc<Limiter>)>>,
    /// When clients were last removed, in milliseconds since the Unix epoch.
    swept: AtomicI64,
}

/// Adapts the service's clock to the limiter.
#[derive(Clone)]
struct ServiceClock(Arc<dyn Clock>);

impl GovernorClock for ServiceClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        Nanos::new(
            self.0
                .now()
                .millis()
                .unsigned_abs()
                .saturating_mul(1_000_000),
        )
    }
}

impl RateLimits {
    /// A limiter without any counted calls.
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            limiter: RwLock::new(None),
            swept: AtomicI64::new(0),
        }
    }

    /// Counts a refused call from `address`. If the client exceeds `limit` per minute, returns the
    /// seconds to wait.
    pub(super) fn count(
        &self,
        operation: Operation,
        address: IpAddr,
        limit: Option<u32>,
    ) -> Option<u64> {
        let limit = NonZeroU32::new(limit?)?;
        let limiter = self.limiter(limit);
        self.sweep(&limiter);
        let not_until = limiter.check_key(&(operation, network(address))).err()?;
        let wait = not_until
            .earliest_possible()
            .duration_since(ServiceClock(Arc::clone(&self.clock)).now());
        Some(u64::from(wait).div_ceil(1_000_000_000).max(1))
    }

    /// Removes clients without recent refused calls, if the interval is over.
    fn sweep(&self, limiter: &Limiter) {
        let now = self.clock.now().millis();
        let swept = self.swept.load(Ordering::Relaxed);
        // If the clock was set back, remove clients now: otherwise it could take hours until the
        // next time.
        let due = !(0..SWEEP.get()).contains(&now.saturating_sub(swept));
        let claim = |swept| {
            self.swept
                .compare_exchange(swept, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        };
        if due && claim(swept) {
            limiter.retain_recent();
            limiter.shrink_to_fit();
        }
    }

    /// The limiter for `limit`. A changed setting starts a new count.
    fn limiter(&self, limit: NonZeroU32) -> Arc<Limiter> {
        if let Some((of, limiter)) = &*self.limiter.read().unwrap_or_else(PoisonError::into_inner)
            && *of == limit.get()
        {
            return Arc::clone(limiter);
        }
        let clock = ServiceClock(Arc::clone(&self.clock));
        let store = DashMapStateStore::default();
        let limiter = Arc::new(RateLimiter::new(Quota::per_minute(limit), store, clock));
        *self.limiter.write().unwrap_or_else(PoisonError::into_inner) =
            Some((limit.get(), Arc::clone(&limiter)));
        limiter
    }
}

/// Marks an answer that rejects its call.
#[derive(Clone, Copy)]
struct Refused(Operation);

/// Marks an answer that rejects a call of `operation`, so that [`limited`] counts it.
pub(super) fn refused(operation: Operation, mut answer: Response) -> Response {
    answer.extensions_mut().insert(Refused(operation));
    answer
}

/// The layer around every route. It replaces the status of a marked answer by 429 if the client had
/// too many of them, and passes all other answers. `limit` is asked only for marked answers.
pub(super) fn limited(
    limits: &RateLimits,
    limit: impl FnOnce() -> Option<u32>,
    client: IpAddr,
    mut answer: Response,
) -> Response {
    let Some(Refused(operation)) = answer.extensions_mut().remove() else {
        return answer;
    };
    let Some(seconds) = limits.count(operation, client, limit()) else {
        return answer;
    };
    if operation == Operation::Admin {
        return ApiError::TooMany(seconds).into_response();
    }
    // Keep the body: a caller with a bad key learns no more from the 61st answer.
    *answer.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    answer.headers_mut().insert(RETRY_AFTER, seconds.into());
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::clock::{ManualClock, Timestamp};

    const PAYLOAD: Operation = Operation::Payload;

    fn limits(clock: &Arc<ManualClock>) -> RateLimits {
        RateLimits::new(Arc::clone(clock) as Arc<dyn Clock>)
    }

    fn clock() -> Arc<ManualClock> {
        Arc::new(ManualClock::new(Timestamp::from_millis(1_000_000)))
    }

    #[test]
    fn the_61st_refusal_in_a_minute_is_past_a_limit_of_60() {
        let clock = clock();
        let limits = limits(&clock);
        let one = "192.0.2.1".parse().unwrap();
        for _ in 0..60 {
            assert_eq!(limits.count(PAYLOAD, one, Some(60)), None);
        }
        assert_eq!(limits.count(PAYLOAD, one, Some(60)), Some(1));
        let another = "192.0.2.2".parse().unwrap();
        assert_eq!(limits.count(PAYLOAD, another, Some(60)), None);
        assert_eq!(limits.count(PAYLOAD, one, None), None, "no limit");
        clock.advance(Millis::minutes(1));
        assert_eq!(limits.count(PAYLOAD, one, Some(60)), None);
    }

    #[test]
    fn each_operation_of_an_address_is_counted_by_itself() {
        let limits = limits(&clock());
        let one = "192.0.2.1".parse().unwrap();
        for operation in [PAYLOAD, Operation::Update, Operation::Admin] {
            assert_eq!(limits.count(operation, one, Some(1)), None);
            assert!(limits.count(operation, one, Some(1)).is_some());
        }
    }

    #[test]
    fn addresses_of_one_ipv6_network_are_one_client() {
        let limits = limits(&clock());
        let refused = |address: &str| limits.count(PAYLOAD, address.parse().unwrap(), Some(1));
        assert_eq!(refused("2001:db8::1"), None);
        assert!(refused("2001:db8::2").is_some());
        assert_eq!(refused("2001:db8:0:1::1"), None);
    }
}
