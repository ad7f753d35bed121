//! Resolves the names of endpoints, to public addresses alone.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::address::is_public;

/// Why an address is refused.
pub(super) const NOT_PUBLIC: &str = "The address is not on the public internet.";

/// The addresses of a name, as somebody finds them.
pub(super) type LookingUp = BoxFuture<'static, io::Result<Vec<SocketAddr>>>;

/// Looks up the addresses of names.
pub(super) trait Lookup: Send + Sync {
    /// The addresses of `name` now. Their ports count for nothing: the port is the URL's.
    fn look_up(&self, name: String) -> LookingUp;
}

/// Looks names up as the system does.
pub(super) struct System;

impl Lookup for System {
    fn look_up(&self, name: String) -> LookingUp {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.collect()) })
    }
}

/// Leaves the public addresses of what is looked up, or all of them if `private` says so. What it
/// answers is connected to, and nothing is looked up again in between: a name that has another
/// address a moment later leads nowhere else.
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
    use super::*;

    /// Answers every name with the same addresses.
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
