//! Rotation of the key that wraps secrets.

use super::Shell;
use crate::rotation::{self, RotationProgress};
use crate::state::{ShellState, StartProblem};

impl Shell {
    /// Rotates the key that wraps secrets, while the service is stopped, and reports progress. An
    /// interrupted rotation is finished at the next start.
    pub async fn rotate_key(
        &self,
        mut tell: impl FnMut(RotationProgress) + Send,
    ) -> Result<(), String> {
        let mut running = self.embedded.write().await;
        let Some(embedded) = running.take_if(|embedded| !embedded.is_locked()) else {
            return Err(match &*running {
                Some(locked) => locked.key_store.text.clone(),
                None => "The service is not running.".to_owned(),
            });
        };
        embedded.stop().await;
        let rotated = rotation::run(&self.folders, &self.keychain, &mut tell).await;
        // The start finishes an interrupted rotation.
        let started = self.launch(&mut running).await;
        let outcome = match (&started, rotated) {
            (Err(problem), _) => Err(problem.to_string()),
            (Ok(()), Err(stopped)) if !stopped.half_way => Err(stopped.why),
            (Ok(()), _) => Ok(()),
        };
        self.publish(running.as_ref(), started.err());
        outcome
    }

    /// Finishes an interrupted rotation.
    pub(super) async fn finish_rotation(&self) -> Result<(), StartProblem> {
        let state = &self.state;
        let mut tell = |progress| drop(state.send_replace(ShellState::Rotating { progress }));
        let finished = rotation::run(&self.folders, &self.keychain, &mut tell).await;
        finished.map_err(|stopped| StartProblem::rotating(&stopped.why))
    }
}
