//! The caller for whom the current task works, so that no route can forget to pass it to the
//! database. The service's own work has no caller.

use std::sync::Arc;

use serde_json::Value;
use tokio::task::JoinHandle;

use domain::caller::Caller;
use domain::scope::Reach;

tokio::task_local! {
    static CALLER: Arc<Caller>;
}

/// The current request; `None` for the service's own work, which includes taps.
pub fn current() -> Option<Arc<Caller>> {
    CALLER.try_with(Arc::clone).ok()
}

/// The experiences to which the current request is limited.
pub fn reach() -> Reach {
    CALLER
        .try_with(|caller| caller.reach.clone())
        .unwrap_or_default()
}

/// Gives the audit log a short form of the current request, without secrets. Needed for a request
/// with many changes, none of which shows the whole.
pub fn asks(what: Value) {
    let _ = CALLER.try_with(|caller| caller.set_asked(what));
}

/// Does `work` for `caller`.
pub async fn on_behalf_of<T>(caller: Arc<Caller>, work: impl Future<Output = T>) -> T {
    CALLER.scope(caller, work).await
}

/// Runs `work` concurrently with the current request, for the same caller.
pub fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    match current() {
        Some(caller) => tokio::spawn(CALLER.scope(caller, work)),
        None => tokio::spawn(work),
    }
}

/// Continues work for `caller` that began in another place, such as the body of an answer.
pub fn going_on_for<T>(caller: Arc<Caller>, work: impl FnOnce() -> T) -> T {
    CALLER.sync_scope(caller, work)
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use domain::caller::Actor;
    use domain::id::ExperienceId;
    use domain::scope::{Rights, Scope};

    fn limited() -> Arc<Caller> {
        let rights = Rights {
            scopes: [Scope::Read].into(),
            experience_ids: Some([ExperienceId::new(7)].into()),
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
