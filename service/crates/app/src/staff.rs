//! Staff phones: the page that a tap of a paired phone gets, and the actions of its forms.
//!
//! A tap is recorded by [`tap`](crate::tap) first. Its page is at an address of its own, so that a
//! reload does not send the one-time URL again. What a phone sees and changes is within its groups
//! and scopes: the service that works for it has the phone as its caller.

mod action;
mod form_token;
mod hosts;
mod open_sheet;
mod page;
mod pairing;
mod scan;
mod words;

use domain::id::InteractionId;
use domain::interaction::{Interaction, TapOrigin};
use domain::phone::Phone;
use domain::trace::TracedInteraction;
use storage::StorageError;

pub use action::{Acted, Action, Done, act};
pub use hosts::{TagHost, is_https_at, tag_hosts};
pub use page::{PHOTO_MAX, PairPage, Said, Shown, foreign_form, outside, page, pair_page, unsaved};
pub use pairing::Press;
pub use scan::SCAN_SCRIPT;
pub use words::StaffLanguage;

use crate::service::Service;

/// The tap that a staff page shows, as one phone sees it.
pub enum StaffTap {
    /// The tap and its tag.
    Within(Box<TracedInteraction>),
    /// The tap is of a staff phone, but its tag is not in the groups of this one.
    Outside,
    /// No staff phone made such a tap.
    Nothing,
}

/// The tap with this id. `own` works for the service itself, `service` for the phone.
pub async fn staff_tap(
    own: &Service,
    service: &Service,
    id: InteractionId,
) -> Result<StaffTap, StorageError> {
    if let Some(tap) = service.storage.interaction(id).await? {
        let is_staff = is_staff(&tap.interaction);
        return Ok(if is_staff {
            StaffTap::Within(Box::new(tap))
        } else {
            StaffTap::Nothing
        });
    }
    let recorded = own.storage.interaction(id).await?;
    let is_staff = recorded.is_some_and(|tap| is_staff(&tap.interaction));
    Ok(if is_staff {
        StaffTap::Outside
    } else {
        StaffTap::Nothing
    })
}

/// Whether a staff phone may have made the tap. Taps of the simulated world do not say who made
/// them.
fn is_staff(interaction: &Interaction) -> bool {
    matches!(interaction.origin, TapOrigin::Staff | TapOrigin::Simulator)
}

/// Whether a form with this token comes from the page of this tap on this phone, and is fresh.
pub async fn is_form_of(
    service: &Service,
    phone: &Phone,
    tap: &TracedInteraction,
    token: &str,
) -> Result<bool, StorageError> {
    let now = service.storage.now().await?;
    let of = (phone.id, &tap.interaction);
    Ok(form_token::holds(service, of, token, now))
}
