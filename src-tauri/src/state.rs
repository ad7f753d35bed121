//! What the screens know of the shell. `ui/src/lib/shell/types.ts` is made from it.

use serde::{Deserialize, Serialize};

use crate::rotation::RotationProgress;

/// The name of the connection to the service in this process.
pub const EMBEDDED: &str = "embedded";

/// Where the shell stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum ShellState {
    /// The service is being started.
    Starting,
    /// A rotation of the key that wraps secrets is finished first.
    Rotating {
        /// How far it is.
        progress: RotationProgress,
    },
    /// The service cannot be started.
    Failed {
        /// Why, and what can be done.
        problem: StartProblem,
    },
    /// The screens have a service to speak to.
    Ready(Box<Ready>),
}

/// Something that keeps the service from starting, and the ways out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StartProblem {
    /// Which ways out there are.
    pub kind: ProblemKind,
    /// One sentence that names the thing.
    pub title: String,
    /// What can be done.
    pub text: String,
    /// The database concerned, if it is one.
    pub path: Option<String>,
    /// A port that is free, if the wanted one cannot be had.
    pub free_port: Option<u16>,
}

/// What a start can fail at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// The owner's port is used by another program.
    PortInUse,
    /// Another process owns the database.
    DatabaseInUse,
    /// The database's content is damaged, or gone.
    Damaged,
    /// A newer version made the database.
    Newer,
    /// The file is no database of ours.
    Foreign,
    /// The key that wraps inlay keys cannot be used, or its rotation not be finished.
    Keys,
    /// Anything else.
    Other,
}

/// The service runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Ready {
    /// The version of this program.
    pub version: &'static str,
    /// The service that the screens show.
    pub connection: Connection,
    /// Every service they can show.
    pub connections: Vec<Connection>,
    /// Where the embedded service listens.
    pub address: String,
    /// Base of the tags' URLs of the embedded service.
    pub tag_url: String,
    /// Addresses by which phones on this network reach the embedded service;
    /// empty while it listens on loopback alone.
    pub lan: Vec<String>,
    /// Whether an argument or the environment says where it listens: the choices do not.
    pub listen_fixed: bool,
    /// The port that the owner fixed.
    pub port_fixed: Option<u16>,
    /// Where the key that wraps inlay keys is kept.
    pub key_store: KeyStore,
    /// The SQLite file of the embedded service.
    pub database: String,
}

/// A service that the screens can speak to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Connection {
    /// Its name for commands.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Which kind it is.
    pub kind: ConnectionKind,
    /// Its address.
    pub url: String,
}

/// Where a service runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ConnectionKind {
    /// In this process.
    Embedded,
    /// Elsewhere.
    Remote,
}

/// Where the key that wraps inlay keys is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct KeyStore {
    /// Which kind of place it is.
    pub kind: KeyStoreKind,
    /// The place in words, and why it is not the keychain if it is not.
    pub text: String,
}

/// Kinds of places for secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum KeyStoreKind {
    /// The system's keychain.
    Keychain,
    /// A file of mode 0600.
    File,
    /// None that can be reached: codes of rolling-code inlays cannot be checked.
    Locked,
}
