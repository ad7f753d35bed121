//! A thread that prints labels. A PDF that is being written cannot change its thread.

use tokio::sync::mpsc;

use super::LabelError;
use label::{Label, Lettering, PrintError, Printer, Ready};

/// The printing thread. It ends when this value is dropped.
pub(super) struct Bench {
    jobs: mpsc::Sender<Job>,
    pieces: mpsc::Receiver<Result<Vec<u8>, PrintError>>,
}

enum Job {
    Print(Vec<Label>),
    Finish,
}

impl Bench {
    pub(super) fn new(ready: Ready, lettering: Lettering, files: u64) -> Self {
        let (jobs, mut asked) = mpsc::channel(1);
        let (done, pieces) = mpsc::channel(1);
        tokio::task::spawn_blocking(move || {
            let mut printer = Printer::new(ready, lettering, files);
            while let Some(job) = asked.blocking_recv() {
                let piece = match job {
                    Job::Print(labels) => printer.print(&labels),
                    Job::Finish => {
                        // Nobody may wait for it any more.
                        let _ = done.blocking_send(printer.finish());
                        return;
                    }
                };
                if done.blocking_send(piece).is_err() {
                    return;
                }
            }
        });
        Self { jobs, pieces }
    }

    /// Adds labels, and returns the next piece of the file.
    pub(super) async fn print(&mut self, labels: Vec<Label>) -> Result<Vec<u8>, LabelError> {
        self.run(Job::Print(labels)).await
    }

    /// The last piece of the file.
    pub(super) async fn finish(&mut self) -> Result<Vec<u8>, LabelError> {
        self.run(Job::Finish).await
    }

    async fn run(&mut self, job: Job) -> Result<Vec<u8>, LabelError> {
        let ended = || LabelError::Failed("The printing thread ended.".to_owned());
        self.jobs.send(job).await.map_err(|_| ended())?;
        let piece = self.pieces.recv().await.ok_or_else(ended)?;
        Ok(piece?)
    }
}
