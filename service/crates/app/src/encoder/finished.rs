//! The inlay of a finished chip, and who may change the chip again.

use super::{Case, EncodeError};
use crate::service::Service;
use domain::id::EncodingRunId;
use domain::inventory::{Inlay, InlayFields, NewInlay, SealedKey, SealedKeys};
use encoding::{Candidate, Encoding, EncodingOutcome, Form, Goal, Plan};
use inlay::Uid;
use inlay::technology::ntag424::file_settings::{FILE_SLOT, META_SLOT};
use storage::{ChipState, Ending, StoredJournal};

/// Whether a chip is an inlay of a tag or has imported keys. Replacing such keys needs more
/// permission than encoding.
pub async fn is_finished(service: &Service, uid: Uid) -> Result<bool, EncodeError> {
    let state = service.storage.chip_state(uid).await?;
    let on_a_tag = |inlay: &Inlay| inlay.fields.tag_id.is_some();
    Ok(state.inlay.as_ref().is_some_and(on_a_tag) || is_imported(&state))
}

/// Whether an inlay has keys that neither this service nor its bureau wrote: Tapdesk may hold the
/// owner's only copy of them. Once key 0 is one of ours, so are the others.
pub(super) fn is_imported(state: &ChipState) -> bool {
    let has_keys = |inlay: &Inlay| inlay.fields.keys.is_some() || inlay.fields.other_keys.is_some();
    let ours = |journal: &StoredJournal| journal.confirmed.is_some() || journal.bureau.is_some();
    state.inlay.as_ref().is_some_and(has_keys) && !state.journal.as_ref().is_some_and(ours)
}

/// Whether wiping a chip undoes the work of a run: the chip is an inlay of a tag through this run,
/// the run is open, and nobody has tapped the chip since. So a token that only encodes can undo its
/// own mistake, but cannot wipe a chip in use.
pub async fn is_undo(service: &Service, run: EncodingRunId, uid: Uid) -> Result<bool, EncodeError> {
    let found = service.storage.encoding_run(run).await?;
    let found = found.ok_or(EncodeError::NotFound("encoding run"))?;
    let state = service.storage.chip_state(uid).await?;
    let (Some(finished), Some(inlay)) = (state.finished, state.inlay) else {
        return Ok(false);
    };
    let of_run = finished.run_id == Some(run);
    let untouched = finished.state.outcome().is_some_and(|outcome| {
        (outcome.inlay_id, outcome.counter) == (Some(inlay.id), inlay.last_counter)
    });
    if !of_run || !untouched || found.fields.closed {
        return Ok(false);
    }
    // A chip without keys may show no counter, so each tap of its tag since then counts as its own.
    let Some(tag) = inlay.fields.tag_id.filter(|_| inlay.fields.keys.is_none()) else {
        return Ok(true);
    };
    let tag = service.storage.tag(tag).await?;
    let last_tap = tag.and_then(|tag| tag.last_scan_at);
    Ok(last_tap.is_none_or(|at| at < finished.updated_at))
}

impl Case<'_> {
    /// Whether the chip was finished in a run other than this one.
    pub(super) fn is_of_another_run(&self, run: Option<EncodingRunId>) -> bool {
        let finished = self.state.finished.as_ref();
        let verified = finished.filter(|finished| finished.state.is_verified());
        let of = verified.and_then(|verified| verified.run_id);
        of.zip(run).is_some_and(|(of, run)| of != run)
    }

    /// The inlay to store for a chip whose tap was verified.
    pub(super) fn inlay(
        &self,
        service: &Service,
        encoding: &Encoding,
        outcome: &EncodingOutcome,
    ) -> Result<Ending, EncodeError> {
        let (Some(form), Goal::Tag(tag)) = (&encoding.form, encoding.goal) else {
            return Ok(Ending::None);
        };
        let keys = if form.has_keys() {
            let Some(number) = encoding.generation else {
                return Ok(Ending::None);
            };
            Some(self.keys(service, form, number)?)
        } else {
            None
        };
        let fields = InlayFields {
            technology: form.template.technology,
            mode: form.template.mode,
            url_template_id: form.url_template_id,
            tag_id: Some(tag),
            mirror: form.mirror,
            mac_from: form.mac_from,
            keys,
            // The journal has all keys of the chip.
            other_keys: None,
            // If the inlay was blocked meanwhile, storing it keeps the block.
            blocked_at: None,
        };
        Ok(Ending::Bound(Box::new(NewInlay {
            uid: encoding.uid,
            fields,
            simulated: false,
            last_counter: outcome.counter,
        })))
    }

    /// The keys of a chip's codes, in a generation.
    fn keys(&self, service: &Service, form: &Form, number: u8) -> Result<SealedKeys, EncodeError> {
        let plan = Plan::new(form).map_err(|_| EncodeError::Stale)?;
        let of = Candidate::Recorded(number);
        let key = |slot| self.journal.key(slot, of, &self.roots);
        let (Some(meta), Some(file)) = (key(META_SLOT), key(FILE_SLOT)) else {
            return Err(EncodeError::Stale);
        };
        let keys = plan.keys(meta, file);
        let seal = |key| SealedKey::seal(key, &service.keyring, &*service.entropy);
        Ok(SealedKeys::Own {
            meta: keys.meta.as_ref().map(seal).transpose()?,
            file: seal(&keys.file)?,
        })
    }
}
