//! The caller of the admin API. A request passes it to the database, so that no route can forget
//! it: the database shows a caller only data within reach, and records the caller's changes.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tokio::task::JoinHandle;

use crate::audit::Salt;
use crate::id::TokenId;
use crate::scope::Reach;

/// The sender of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A stored token, with its name.
    Token(TokenId, String),
    /// The window of the desktop that runs the service.
    Desktop,
    /// The encoder of the desktop that runs the service.
    Encoder,
    /// The command line, with the installation's own token.
    CommandLine,
    /// Another program with the installation's own token.
    Installation,
}

/// The current request of the admin API.
#[derive(Debug)]
pub struct Caller {
    /// Sender of the request.
    pub actor: Actor,
    /// The address of the sender: a loopback address for requests from this process.
    pub address: IpAddr,
    /// The action, such as `tags.update`.
    pub action: Arc<str>,
    /// The target of the action, as a path within the admin API: `tags/41`.
    pub object: String,
    /// The experiences to which the caller is limited.
    pub reach: Reach,
    /// Random bytes for its row in the audit log.
    pub salt: Salt,
    state: State,
}

/// The state of a request while it is handled.
#[derive(Debug, Default)]
struct State {
    /// A short form of the request, for the audit log if no single change shows it.
    asked: OnceLock<Value>,
    /// Whether its row is in the audit log.
    recorded: AtomicBool,
}

impl Caller {
    /// A request that has not changed anything yet.
    pub(crate) fn new(
        actor: Actor,
        address: IpAddr,
        (action, object): (Arc<str>, String),
        reach: Reach,
        salt: Salt,
    ) -> Self {
        Self {
            actor,
            address,
            action,
            object,
            reach,
            salt,
            state: State::default(),
        }
    }

    /// The short form of the request, if it was set.
    pub(crate) fn asked(&self) -> Option<Value> {
        self.state.asked.get().cloned()
    }

    /// Whether its row is in the audit log. A request with many changes makes several commits but
    /// only one row, in the first of them.
    pub(crate) fn is_recorded(&self) -> bool {
        self.state.recorded.load(Ordering::Acquire)
    }

    /// Records that its row is on disk.
    pub(crate) fn set_recorded(&self) {
        self.state.recorded.store(true, Ordering::Release);
    }
}

tokio::task_local! {
    static CALLER: Arc<Caller>;
}

/// The current request; `None` for the service's own work, which includes taps.
pub(crate) fn current() -> Option<Arc<Caller>> {
    CALLER.try_with(Arc::clone).ok()
}

/// The experiences to which the current request is limited.
pub(crate) fn reach() -> Reach {
    CALLER
        .try_with(|caller| caller.reach.clone())
        .unwrap_or_default()
}

/// Gives the audit log a short form of the current request, without secrets. Needed for a request
/// with many changes, none of which shows the whole.
pub(crate) fn asks(what: Value) {
    let _ = CALLER.try_with(|caller| caller.state.asked.set(what));
}

/// Does `work` for `caller`.
pub(crate) async fn on_behalf_of<T>(caller: Arc<Caller>, work: impl Future<Output = T>) -> T {
    CALLER.scope(caller, work).await
}

/// Runs `work` concurrently with the current request, for the same caller.
pub(crate) fn spawn<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    match current() {
        Some(caller) => tokio::spawn(CALLER.scope(caller, work)),
        None => tokio::spawn(work),
    }
}

/// Continues work for `caller` that began in another place, such as the body of an answer.
pub(crate) fn going_on_for<T>(caller: Arc<Caller>, work: impl FnOnce() -> T) -> T {
    CALLER.sync_scope(caller, work)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::ExperienceId;
    use crate::scope::{Rights, Scope};

    fn limited() -> Arc<Caller> {
        let rights = Rights {
            scopes: [Scope::Read].into(),
            experience_ids: Some([ExperienceId(7)].into()),
        };
        Arc::new(Caller::new(
            Actor::Desktop,
            IpAddr::from([127, 0, 0, 1]),
            ("tags.export".into(), "tags/export".to_owned()),
            rights.reach(),
            [0; 16],
        ))
    }

    #[tokio::test]
    async fn what_a_request_begins_stays_its_callers() {
        assert_eq!(reach(), Reach::default());
        let spawned = on_behalf_of(limited(), async { spawn(async { reach() }).await });
        assert_eq!(spawned.await.unwrap(), limited().reach);
        assert_eq!(going_on_for(limited(), reach), limited().reach);
        assert_eq!(reach(), Reach::default());
    }
}
