//! The token of a form. Another site cannot make one, and one that leaves its page is of no use
//! without the cookie of its phone, at another tag, or later.

use crate::service::Service;
use domain::clock::{Millis, Timestamp};
use domain::id::{PhoneId, TagId};
use domain::interaction::Interaction;

/// How long a form can be sent. Staff put a tag aside, and decide about it later.
const LIFETIME: Millis = Millis::hours(1);

/// A token for the forms on the page of this tap on this phone.
pub(super) fn of(service: &Service, phone: PhoneId, tap: &Interaction, now: Timestamp) -> String {
    let end = now.plus(LIFETIME);
    let proof = service.staff_forms.of(&text(phone, tap, end));
    format!("{}.{proof}", end.millis())
}

/// Whether it is such a token, and has not expired.
pub(super) fn holds(
    service: &Service,
    (phone, tap): (PhoneId, &Interaction),
    token: &str,
    now: Timestamp,
) -> bool {
    let Some((end, proof)) = token.split_once('.') else {
        return false;
    };
    let Ok(end) = end.parse().map(Timestamp::from_millis) else {
        return false;
    };
    now < end && service.staff_forms.holds(&text(phone, tap, end), proof)
}

/// The text that a token proves.
fn text(phone: PhoneId, tap: &Interaction, end: Timestamp) -> String {
    let tag = tap.tag_id.map_or(0, TagId::get);
    format!("{phone}:{}:{tag}:{}", tap.id, end.millis())
}
