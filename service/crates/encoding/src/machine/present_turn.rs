//! The present turn of an encoding, as a relay gets it.

use crate::turn::{Finished, Turn};
use crate::{Encoding, EncodingOutcome, Goal};

impl Encoding {
    /// The present turn of the encoding; `None` before the encoding is stored.
    pub fn turn(&self) -> Option<Turn> {
        let slug = self.form.as_ref().map(|form| form.slug.clone());
        let result = match (self.goal, self.state.outcome()) {
            (Goal::Tag(tag_id), Some(EncodingOutcome { counter, .. })) => Some(Finished {
                tag_id,
                slug: slug.unwrap_or_default(),
                url: self
                    .progress
                    .as_ref()
                    .and_then(|of| of.url.clone())
                    .unwrap_or_default(),
                counter: *counter,
            }),
            _ => None,
        };
        let commands = self.progress.as_ref().map(|progress| &progress.commands);
        Some(Turn {
            id: self.id?,
            seq: self.seq,
            state: self.state.word(),
            commands: commands.cloned().unwrap_or_default(),
            step: super::step(self),
            reason: self.state.reason(),
            result,
        })
    }
}
