//! Starting and stopping the embedded service.

use tapdesk_service::start::StartError;

use super::{Shell, blocking};
use crate::embedded::Embedded;
use crate::folders::Folders;
use crate::keychain::Keychain;
use crate::listener::Wish;
use crate::problem::StartFailure;
use crate::state::StartProblem;

impl Shell {
    /// Starts the embedded service, or says in the state why it cannot be
    /// started. One that runs is stopped first.
    pub async fn start(&self) {
        let mut running = self.embedded.write().await;
        let started = self.launch(&mut running).await;
        self.publish(running.as_ref(), started.err());
    }

    /// The same on another port, which becomes the fixed one.
    pub async fn start_on(&self, port: u16) {
        self.choose(|preferences| preferences.port = Some(port));
        self.start().await;
    }

    /// Stops the embedded service: open requests end, the database is closed.
    pub async fn stop(&self) {
        if let Some(embedded) = self.embedded.write().await.take() {
            embedded.stop().await;
        }
    }

    /// Stops the service, lets `work` see to the files, and starts it again,
    /// whatever came of the work.
    pub(super) async fn start_after<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Folders, &Keychain) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let mut running = self.embedded.write().await;
        if let Some(embedded) = running.take() {
            embedded.stop().await;
        }
        let (folders, keychain) = (self.folders.clone(), self.keychain.clone());
        let done = blocking(move || work(&folders, &keychain)).await;
        let started = self.launch(&mut running).await;
        let outcome = match &started {
            Ok(()) => done,
            Err(problem) => done.and(Err(problem.to_string())),
        };
        self.publish(running.as_ref(), started.err());
        outcome
    }

    /// Stops what runs and starts the service by the present choices.
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
            }
        };
        let embedded = match Embedded::start(&self.folders, &self.keychain, wish).await {
            Err(StartFailure::Start(StartError::Rotating(_))) => {
                self.finish_rotation().await?;
                Embedded::start(&self.folders, &self.keychain, wish).await?
            }
            started => started?,
        };
        if self.listen.is_none() {
            let port = embedded.address.port();
            self.choose(|preferences| preferences.last_port = Some(port));
        }
        *running = Some(embedded);
        Ok(())
    }
}
