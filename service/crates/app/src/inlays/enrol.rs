//! Unlisted chips become inlays: with the keys of the URL template that made their codes.

use std::sync::Arc;

use super::InlayError;
use crate::service::{KeysOfChip, Service, TapTemplate, tag_of_chip};
use domain::field_error::FieldError;
use domain::id::TagId;
use domain::inventory::{ChipPlace, Inlay, NewInlay, UnlistedChip};
use inlay::Uid;
use storage::{EnrolOn, StorageError, UnlistedFilter};

/// The tag for a chip.
#[derive(Clone, Copy, Debug)]
pub enum ChipTag {
    /// A tag that already exists.
    Existing(TagId),
    /// A new tag, named after the UID, at this place.
    New(ChipPlace),
    /// A new tag at the place that the URL template states.
    OfTemplate,
}

/// Makes the unlisted chip with this UID an inlay on a tag. Its counter continues. `None` if no
/// such chip is listed.
pub async fn enrol(service: &Service, uid: Uid, on: ChipTag) -> Result<Option<Inlay>, InlayError> {
    let filter = UnlistedFilter {
        uid: Some(uid),
        ..UnlistedFilter::default()
    };
    let Some(chip) = service.storage.unlisted_chips(filter, None, 1).await?.pop() else {
        return Ok(None);
    };
    // Reads the database instead of the cache, so that a change made a moment ago already counts.
    let templates = service.templates.read().await?;
    let template = templates.get(chip.url_template_id);
    let template = template.ok_or_else(other_keys)?;
    let entropy = &*service.entropy;
    let new = |place| EnrolOn::New(Box::new(tag_of_chip(uid, place, entropy)));
    let on = match on {
        ChipTag::Existing(tag) => EnrolOn::Existing(tag),
        ChipTag::New(place) => new(place),
        ChipTag::OfTemplate => new(template.place),
    };
    let keys = keys_of(template, &chip).await?.ok_or_else(other_keys)?;
    let inlay = NewInlay {
        last_counter: chip.last_counter,
        ..template.new_inlay(uid, &keys, &service.keyring, entropy)?
    };
    Ok(service.storage.enrol_unlisted_chip(inlay, on).await?)
}

/// The keys that made the latest code of a chip, if the template still has them.
async fn keys_of(
    template: &Arc<TapTemplate>,
    chip: &UnlistedChip,
) -> Result<Option<KeysOfChip>, InlayError> {
    let (of, uid, prints) = (Arc::clone(template), chip.uid, chip.keys);
    let find = move || {
        let all = of.chip_keys()?.all(&of.template, uid);
        Ok(all.into_iter().find(|keys| keys.prints() == prints))
    };
    if !template.chip_keys()?.is_slow() {
        return find();
    }
    // Deriving takes milliseconds for each master key; other tasks must not wait for it.
    let found = tokio::task::spawn_blocking(find).await;
    found.map_err(|error| StorageError::Failed(error.to_string()))?
}

/// The template's keys were replaced since the chip's latest tap.
fn other_keys() -> InlayError {
    let why = "The keys of the URL template do not make the codes of this chip any more. Add the former keys to the template, or create the inlay with its keys.";
    FieldError::whole(why).into()
}
