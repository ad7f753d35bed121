//! Other keys for an inlay.

use crate::inventory::{InvalidInlay, SealedKey, SealedKeys};

/// What a request says of an inlay's keys, sealed. `None` leaves what is there,
/// `Some(None)` takes it away.
#[derive(Clone, Debug, Default)]
pub struct KeyChange {
    /// The meta read key.
    pub meta: Option<Option<SealedKey>>,
    /// The file read key.
    pub file: Option<Option<SealedKey>>,
    /// The keys from a master key.
    pub master: Option<Option<SealedKeys>>,
}

impl KeyChange {
    /// The keys of an inlay whose keys are `present` until now.
    pub fn apply(self, present: Option<SealedKeys>) -> Result<Option<SealedKeys>, InvalidInlay> {
        let own_sent = self.sent().next().is_some();
        let (meta, file) = match (self.master, present) {
            (Some(Some(_)), _) if own_sent => return Err(InvalidInlay::TwoSources),
            (Some(Some(keys)), _) => return Ok(Some(keys)),
            (None, Some(keys @ SealedKeys::Diversified { .. })) if !own_sent => {
                return Ok(Some(keys));
            }
            (_, Some(SealedKeys::Own { meta, file })) => (meta, Some(file)),
            (_, _) => (None, None),
        };
        let meta = self.meta.unwrap_or(meta);
        match (meta, self.file.unwrap_or(file)) {
            (meta, Some(file)) => Ok(Some(SealedKeys::Own { meta, file })),
            (None, None) => Ok(None),
            (Some(_), None) => Err(InvalidInlay::NoFileKey),
        }
    }

    /// Whether it brings a key that everyone knows.
    pub fn brings_factory_key(&self) -> bool {
        let master = self.master.iter().flatten();
        self.sent().any(|key| key.fingerprint.is_factory())
            || master.into_iter().any(SealedKeys::factory)
    }

    fn sent(&self) -> impl Iterator<Item = &SealedKey> {
        [&self.meta, &self.file].into_iter().flatten().flatten()
    }
}
