//! Who calls the admin API. A request carries it to the database, so that no route can forget
//! it: the database shows a caller what they may reach, and records what they change.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tokio::task::JoinHandle;

use crate::audit::Salt;
use crate::id::TokenId;
use crate::scope::Reach;

/// Who makes a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A stored token, and its name.
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

/// The request that is at work.
#[derive(Debug)]
pub struct Caller {
    /// Who makes it.
    pub actor: Actor,
    /// From where: a loopback address if it was made in this process.
    pub address: IpAddr,
    /// What it does: `tags.update`.
    pub action: Arc<str>,
    /// What it does it to, as a path within the admin API: `tags/41`.
    pub object: String,
    /// The experiences it is limited to.
    pub reach: Reach,
    /// Random bytes for its row in the audit log.
    pub salt: Salt,
    state: State,
}

/// What becomes of a request while it is at work.
#[derive(Debug, Default)]
struct State {
    /// What it asks for, in short, if no change can tell.
    asked: OnceLock<Value>,
    /// Whether its row is in the audit log.
    recorded: AtomicBool,
}

impl Caller {
    /// A request that has changed nothing yet.
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

    /// What it asks for, if it said so.
    pub(crate) fn asked(&self) -> Option<Value> {
        self.state.asked.get().cloned()
    }

    /// Whether its row is in the audit log. A request that changes much makes several commits
    /// and one row, in the first of them.
    pub(crate) fn is_recorded(&self) -> bool {
        self.state.recorded.load(Ordering::Acquire)
    }

    /// Its row is on disk.
    pub(crate) fn set_recorded(&self) {
        self.state.recorded.store(true, Ordering::Release);
    }
}

tokio::task_local! {
    static CALLER: Arc<Caller>;
}

/// The request at work; `None` for what the service does by itself, taps included.
pub(crate) fn current() -> Option<Arc<Caller>> {
    CALLER.try_with(Arc::clone).ok()
}

/// The experiences that the request at work is limited to.
pub(crate) fn reach() -> Reach {
    CALLER
        .try_with(|caller| caller.reach.clone())
        .unwrap_or_default()
}

/// Tells the audit log what the request at work asks for, without secrets: for one that makes
/// many changes, none of which can tell.
pub(crate) fn asks(what: Value) {
    let _ = CALLER.try_with(|caller| caller.state.asked.set(what));
}

/// Does `work` for `caller`.
pub(crate) async fn on_behalf_of<T>(caller: Arc<Caller>, work: impl Future<Output = T>) -> T {
    CALLER.scope(caller, work).await
}

/// Does `work` beside the request at work, for the same caller.
pub(crate) fn spawn<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    match current() {
        Some(caller) => tokio::spawn(CALLER.scope(caller, work)),
        None => tokio::spawn(work),
    }
}

/// Goes on with work for `caller` that was begun elsewhere: with the body of an answer.
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
