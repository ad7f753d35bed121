//! Resolves the names of endpoints, only to public addresses.

use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::http_client::Lookup;
use domain::webhook::is_public;

/// Error message for an address that is not public.
pub(super) const NOT_PUBLIC: &str = "The address is not on the public internet.";

/// Removes addresses that are not public, unless `private` is true. The client connects to the
/// returned addresses without another lookup, so a name that changes a moment later has no effect.
pub(super) struct Resolver {
    pub(super) private: bool,
    pub(super) lookup: Arc<dyn Lookup>,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (private, found) = (self.private, self.lookup.look_up(name.as_str().to_owned()));
        Box::pin(async move {
            let mut allowed = found.await?;
            allowed.retain(|address| private || is_public(address.ip()));
            if allowed.is_empty() {
                return Err(NOT_PUBLIC.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;
    use crate::http_client::LookingUp;

    /// Resolves every name to the same addresses.
    struct Always(Vec<SocketAddr>);

    impl Lookup for Always {
        fn look_up(&self, _: String) -> LookingUp {
            let found = self.0.clone();
            Box::pin(async move { Ok(found) })
        }
    }

    #[tokio::test]
    async fn of_a_name_with_addresses_of_both_kinds_the_public_ones_are_left() {
        let all: Vec<SocketAddr> = ["127.0.0.1:0", "1.1.1.1:0", "[::1]:0", "10.0.0.1:0"]
            .map(|address| address.parse().unwrap())
            .to_vec();
        for (private, left) in [(false, &all[1..2]), (true, &all[..])] {
            let lookup = Arc::new(Always(all.clone()));
            let resolver = Resolver { private, lookup };
            let name = "rebinding.example".parse().unwrap();
            let found = resolver.resolve(name).await;
            let found: Vec<_> = found.ok().unwrap().collect();
            assert_eq!(found, left);
        }
    }
}
