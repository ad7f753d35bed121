//! Starting and stopping the embedded service.

use tapdesk_service::start::StartError;

use super::{Shell, blocking};
use crate::embedded::Embedded;
use crate::folders::Folders;
use crate::keychain::Keychain;
use crate::listener::Wish;
use crate::problem::StartFailure;
use crate::state::{ShellState, StartProblem};

impl Shell {
    /// Starts the embedded service, or sets the state to the reason why it cannot start. A running
    /// service is stopped first.
    pub async fn start(&self) {
        let mut running = self.embedded.write().await;
        let started = self.launch(&mut running).await;
        self.publish(running.as_ref(), started.err());
    }

    /// Starts the embedded service if it failed. Unlike [`Self::start`], it leaves a running service
    /// as it is, so retries that wait for a long start do not undo it.
    pub async fn start_again(&self) {
        let mut running = self.embedded.write().await;
        if !matches!(self.state(), ShellState::Failed { .. }) {
            return;
        }
        let started = self.launch(&mut running).await;
        self.publish(running.as_ref(), started.err());
    }

    /// The same as [`Self::start`] on another port, which becomes the fixed one. The counts of
    /// everything that leads to the unavailable port are remembered.
    pub async fn start_on(&self, port: u16) {
        let left = match self.state() {
            ShellState::Failed { problem } => problem.carriers,
            _ => None,
        };
        self.choose(|preferences| preferences.move_to(port, left));
        self.start().await;
    }

    /// Stops the embedded service: open requests end, and the database is closed.
    pub async fn stop(&self) {
        if let Some(embedded) = self.embedded.write().await.take() {
            embedded.stop().await;
        }
    }

    /// Stops the service, lets `work` change the files, and starts the service again, even if the
    /// work failed.
    pub(super) async fn start_after<T: Send + 'static, E: From<String> + Send + 'static>(
        &self,
        work: impl FnOnce(&Folders, &Keychain) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let mut running = self.embedded.write().await;
        if let Some(embedded) = running.take() {
            embedded.stop().await;
        }
        let (folders, keychain) = (self.folders.clone(), self.keychain.clone());
        let done = blocking(move || work(&folders, &keychain)).await;
        let started = self.launch(&mut running).await;
        let outcome = match &started {
            Ok(()) => done,
            Err(problem) => done.and(Err(problem.to_string().into())),
        };
        self.publish(running.as_ref(), started.err());
        outcome
    }

    /// Stops the running service, and starts it with the present choices.
    pub(super) async fn launch(&self, running: &mut Option<Embedded>) -> Result<(), StartProblem> {
        if let Some(embedded) = running.take() {
            embedded.stop().await;
        }
        let wish = {
            let preferences = self.preferences();
            Wish {
                at: self.listen,
                fixed: preferences.port,
                last: preferences.last_port,
                phones: preferences.phones,
                left: preferences.left_port,
            }
        };
        let embedded = match Embedded::start(&self.folders, &self.keychain, wish).await {
            Err(StartFailure::Start(StartError::Rotating(_))) => {
                self.finish_rotation().await?;
                Embedded::start(&self.folders, &self.keychain, wish).await?
            }
            started => started?,
        };
        let port = embedded.address.port();
        if self.listen.is_none() {
            self.choose(|preferences| {
                preferences.last_port = Some(port);
                preferences.left_port.take_if(|left| left.port == port);
            });
        }
        *running = Some(embedded);
        Ok(())
    }
}
