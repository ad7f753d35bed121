//! State of the shell for the screens; `ui/src/lib/shell/types.ts` is generated from these types.

use serde::{Deserialize, Serialize};

use crate::carriers::Carriers;
use crate::keychain::KeyStore;
use crate::release::Releases;
use crate::rotation::RotationProgress;

/// The id of the connection to the service in this process.
pub const EMBEDDED: &str = "embedded";

/// State of the shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum ShellState {
    /// The service is starting.
    Starting,
    /// An interrupted rotation of the key that wraps secrets is finished before the start.
    Rotating {
        /// Progress of the rotation.
        progress: RotationProgress,
    },
    /// The service cannot start.
    Failed {
        /// The reason, and the ways out.
        problem: StartProblem,
    },
    /// A service is available to the screens.
    Ready(Box<Ready>),
}

/// A reason why the service cannot start, with the ways out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StartProblem {
    /// The kind of problem, which decides about the ways out.
    pub kind: ProblemKind,
    /// A sentence that names the problem.
    pub title: String,
    /// The possible remedies, as sentences.
    pub text: String,
    /// The path of the affected database; none if no database is affected.
    pub path: Option<String>,
    /// A port that is free; none if the problem is not the port.
    pub free_port: Option<u16>,
    /// Counts of everything that leads to the wanted port, and to no other port.
    pub carriers: Option<Carriers>,
}

/// The kinds of problems at a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// The owner's port is used by another program.
    PortInUse,
    /// Another process owns the database.
    DatabaseInUse,
    /// The database's content is damaged or missing.
    Damaged,
    /// A newer version of Tapdesk wrote the database.
    Newer,
    /// The file is not a Tapdesk database.
    Foreign,
    /// The key that wraps inlay keys cannot be used, or its rotation cannot be finished.
    Keys,
    /// Any other problem, which has no specific way out.
    Other,
}

/// State of a running service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Ready {
    /// The version of this program.
    pub version: &'static str,
    /// The connection that the screens show.
    pub connection: Connection,
    /// All connections that the screens can show.
    pub connections: Vec<Connection>,
    /// Server URL of the embedded service on this computer.
    pub address: String,
    /// Base of the tags' URLs of the embedded service.
    pub tag_url: String,
    /// Whether other devices, such as phones on this network, can reach the embedded service.
    pub phones: bool,
    /// URLs by which phones on this network reach the embedded service. Empty if it listens only on
    /// loopback, or if this computer is on no network.
    pub lan: Vec<String>,
    /// Whether an argument or the environment sets the address, so that the owner's choices have no
    /// effect.
    pub listen_fixed: bool,
    /// The port that the owner fixed; none if the service chooses.
    pub port_fixed: Option<u16>,
    /// Counts of everything that led to the former port when the service moved to this one. If all
    /// are zero, the service moved automatically.
    pub moved: Option<Carriers>,
    /// Why the remote service that the screens show does not answer, as a sentence; none if it
    /// answers.
    pub lost: Option<String>,
    /// The place of the key that wraps inlay keys.
    pub key_store: KeyStore,
    /// Path of the embedded service's SQLite file.
    pub database: String,
    /// Where to look for newer versions of this program, and the newer one that was found.
    pub releases: Releases,
}

/// A service that the screens can show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Connection {
    /// Its id in commands.
    pub id: String,
    /// The name that people see.
    pub name: String,
    /// Whether it is embedded or remote.
    pub kind: ConnectionKind,
    /// Its server URL, without a slash at its end.
    pub url: String,
}

/// The place where a service runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ConnectionKind {
    /// The service of this program.
    Embedded,
    /// In another process, usually on another computer.
    Remote,
}
