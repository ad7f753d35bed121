//! The caller of the admin API. A request passes it to the database, so that no route can forget
//! it: the database shows a caller only data within reach, and records the caller's changes.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::audit::Salt;
use crate::id::{PhoneId, TokenId};
use crate::scope::Reach;

/// The sender of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A stored token, with its name.
    Token(TokenId, String),
    /// A staff phone, with its name.
    Phone(PhoneId, String),
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
    pub fn new(
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

    /// Sets the short form of the request, if none is set yet.
    pub fn set_asked(&self, asked: Value) {
        let _ = self.state.asked.set(asked);
    }

    /// The short form of the request, if it was set.
    pub fn asked(&self) -> Option<Value> {
        self.state.asked.get().cloned()
    }

    /// Whether its row is in the audit log. A request with many changes makes several commits but
    /// only one row, in the first of them.
    pub fn is_recorded(&self) -> bool {
        self.state.recorded.load(Ordering::Acquire)
    }

    /// Records that its row is on disk.
    pub fn set_recorded(&self) {
        self.state.recorded.store(true, Ordering::Release);
    }
}
