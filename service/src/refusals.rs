//! The limit on refusals: valid calls are never slowed, and a client whose
//! calls are refused more than so many times a minute hears 429 instead
//! (decisions, "Limits, retention, exposure").

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, PoisonError, RwLock};

use governor::clock::{Clock as GovernorClock, Reference};
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};

use crate::client::network;
use crate::clock::Clock;

/// What a client is refused. Many clients may share one address: what one of
/// them does to one operation does not change what the others hear of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Payload retrieval.
    Payload,
    /// Tag variable update, a form without JavaScript included.
    Update,
    /// The admin API.
    Admin,
}

type Key = (Operation, u128);
type Limiter = RateLimiter<Key, DashMapStateStore<Key>, ServiceClock, NoOpMiddleware<Nanos>>;

/// Refusals by client.
pub struct Refusals {
    clock: Arc<dyn Clock>,
    limiter: RwLock<Option<(u32, Arc<Limiter>)>>,
}

/// The service's clock as the limiter wants it.
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

impl Refusals {
    /// No refusals yet.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            limiter: RwLock::new(None),
        }
    }

    /// Counts a refusal of a call from `address`. If it is past `limit` a minute,
    /// the seconds after which the client may be refused again.
    pub fn count(&self, operation: Operation, address: IpAddr, limit: Option<u32>) -> Option<u64> {
        let limit = NonZeroU32::new(limit?)?;
        let limiter = self.limiter(limit);
        let not_until = limiter.check_key(&(operation, network(address))).err()?;
        let wait = not_until
            .earliest_possible()
            .duration_since(ServiceClock(Arc::clone(&self.clock)).now());
        Some(u64::from(wait).div_ceil(1_000_000_000).max(1))
    }

    /// Forgets clients that were not refused lately.
    pub fn sweep(&self) {
        if let Some((_, limiter)) = &*self.limiter.read().unwrap_or_else(PoisonError::into_inner) {
            limiter.retain_recent();
            limiter.shrink_to_fit();
        }
    }

    /// The limiter for `limit`; a changed setting starts a new count.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{ManualClock, Timestamp};

    const PAYLOAD: Operation = Operation::Payload;

    fn refusals(clock: &Arc<ManualClock>) -> Refusals {
        Refusals::new(Arc::clone(clock) as Arc<dyn Clock>)
    }

    fn clock() -> Arc<ManualClock> {
        Arc::new(ManualClock::new(Timestamp::from_millis(1_000_000)))
    }

    #[test]
    fn the_61st_refusal_in_a_minute_is_past_a_limit_of_60() {
        let clock = clock();
        let refusals = refusals(&clock);
        let one = "192.0.2.1".parse().unwrap();
        for _ in 0..60 {
            assert_eq!(refusals.count(PAYLOAD, one, Some(60)), None);
        }
        assert_eq!(refusals.count(PAYLOAD, one, Some(60)), Some(1));
        let another = "192.0.2.2".parse().unwrap();
        assert_eq!(refusals.count(PAYLOAD, another, Some(60)), None);
        assert_eq!(refusals.count(PAYLOAD, one, None), None, "no limit");
        clock.advance(60_000);
        assert_eq!(refusals.count(PAYLOAD, one, Some(60)), None);
    }

    #[test]
    fn each_operation_of_an_address_is_counted_by_itself() {
        let refusals = refusals(&clock());
        let one = "192.0.2.1".parse().unwrap();
        for operation in [PAYLOAD, Operation::Update, Operation::Admin] {
            assert_eq!(refusals.count(operation, one, Some(1)), None);
            assert!(refusals.count(operation, one, Some(1)).is_some());
        }
    }

    #[test]
    fn addresses_of_one_ipv6_network_are_one_client() {
        let refusals = refusals(&clock());
        let refused = |address: &str| refusals.count(PAYLOAD, address.parse().unwrap(), Some(1));
        assert_eq!(refused("2001:db8::1"), None);
        assert!(refused("2001:db8::2").is_some());
        assert_eq!(refused("2001:db8:0:1::1"), None);
    }
}
