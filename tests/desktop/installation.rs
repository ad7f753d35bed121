//! A shell in its own folder, on a system without a keychain.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::http::{Method, Request};
use serde_json::Value;
use tapdesk::backend::Backend;
use tapdesk::folders::Folders;
use tapdesk::keychain::{Keychain, Secret, SecretStore};
use tapdesk::preferences::Preferences;
use tapdesk::shell::Shell;
use tapdesk::state::{Ready, ShellState, StartProblem};
use tapdesk_tests::base_port;
use tempfile::TempDir;

/// A folder with all files of an installation.
pub(crate) struct Installation {
    folder: PathBuf,
    /// Deletes the folder at the end, if this installation owns it.
    _temporary: Option<TempDir>,
}

/// A system without a keychain.
struct NoKeychain;

impl SecretStore for NoKeychain {
    fn get(&self, _: &str) -> Result<Option<Secret>, String> {
        Err("there is none".to_owned())
    }
    fn set(&self, _: &str, _: &str) -> Result<(), String> {
        Err("there is none".to_owned())
    }
    fn remove(&self, _: &str) -> Result<(), String> {
        Err("there is none".to_owned())
    }
}

impl Installation {
    pub(crate) fn new() -> Self {
        let temporary = tempfile::tempdir().expect("a temporary folder can be made");
        Self {
            folder: temporary.path().to_owned(),
            _temporary: Some(temporary),
        }
    }

    /// The installation of another process.
    pub(crate) fn at(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            _temporary: None,
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn folders(&self) -> Folders {
        Folders::around(&self.folder().join("tapdesk.db")).expect("the folder has a path")
    }

    /// Stores choices before the start, like an earlier run.
    pub(crate) fn prefer(&self, choice: impl FnOnce(&mut Preferences)) {
        let mut preferences = Preferences::load(&self.folders().preferences);
        choice(&mut preferences);
        preferences
            .save(&self.folders().preferences)
            .expect("the choices can be written");
    }

    /// A shell after an attempt to start its service.
    pub(crate) async fn start(&self) -> Arc<Shell> {
        self.start_at(None).await
    }

    /// The same with an address from an argument or the environment.
    pub(crate) async fn start_at(&self, listen: Option<SocketAddr>) -> Arc<Shell> {
        let keychain = Keychain::new(NoKeychain, Duration::from_secs(30));
        self.start_as(keychain, listen).await
    }

    /// The same on a system with this keychain.
    pub(crate) async fn start_with(&self, keychain: Keychain) -> Arc<Shell> {
        self.start_as(keychain, None).await
    }

    async fn start_as(&self, keychain: Keychain, listen: Option<SocketAddr>) -> Arc<Shell> {
        if !self.folders().preferences.exists() {
            // Parallel tests would all try the same first port. The system would give another
            // program a port that it has chosen itself, as soon as this one is being restarted.
            self.prefer(|preferences| preferences.last_port = Some(base_port()));
        }
        let shell = Arc::new(Shell::new(self.folders(), keychain, listen));
        shell.start().await;
        shell
    }

    /// A shell with a running service.
    pub(crate) async fn ready(&self) -> Arc<Shell> {
        let shell = self.start().await;
        ready(&shell);
        shell
    }
}

/// The state of a running service.
#[track_caller]
pub(crate) fn ready(shell: &Shell) -> Ready {
    match shell.state() {
        ShellState::Ready(ready) => *ready,
        other => panic!("{other:?}"),
    }
}

/// The reason why a service does not run.
#[track_caller]
pub(crate) fn problem(shell: &Shell) -> StartProblem {
    match shell.state() {
        ShellState::Failed { problem } => problem,
        other => panic!("{other:?}"),
    }
}

/// A call of the page, as the scheme forwards it.
pub(crate) async fn call(shell: &Shell, method: Method, path: &str, body: Value) -> (u16, Value) {
    let backend = shell.backend().await.expect("there is a service");
    call_backend(&backend, method, path, body).await
}

pub(crate) async fn call_backend(
    backend: &Backend,
    method: Method,
    path: &str,
    body: Value,
) -> (u16, Value) {
    let body = if body.is_null() {
        Vec::new()
    } else {
        body.to_string().into_bytes()
    };
    let request = Request::builder()
        .method(method)
        .uri(format!("tapdesk://localhost{path}"))
        .header("content-type", "application/json")
        .body(body)
        .expect("a request of the test is one");
    let response = backend.request(request).await;
    let status = response.status().as_u16();
    let body = serde_json::from_slice(response.body()).unwrap_or(Value::Null);
    (status, body)
}

/// Creates a tag with this name, and returns its id.
pub(crate) async fn make_tag(shell: &Shell, name: &str) -> i64 {
    let tag = serde_json::json!({"name": name});
    let (status, tag) = call(shell, Method::POST, "/admin/v1/tags", tag).await;
    assert_eq!(status, 201, "{tag}");
    tag["id"].as_i64().expect("a tag has an id")
}

/// The names of all tags.
pub(crate) async fn tag_names(shell: &Shell) -> Vec<String> {
    let (status, tags) = call(shell, Method::GET, "/admin/v1/tags", Value::Null).await;
    assert_eq!(status, 200, "{tags}");
    let tags = tags["items"].as_array().expect("a list has items");
    let name = |tag: &Value| tag["name"].as_str().expect("a tag has a name").to_owned();
    tags.iter().map(name).collect()
}
