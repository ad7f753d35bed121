//! The built-in stand-in for the owner's domain. Simulated taps are redirected to it unless the
//! owner chose otherwise. Its page is only for them: an address to which no simulated tap was
//! redirected shows nothing.

use crate::service::{CachedTag, Service};
use domain::settings::SimulatedTargets;

/// Longest part of the owner's URL that the page shows, in bytes. The text is ASCII.
const FOR_MAX: usize = 1000;

/// The address of the stand-in that replaces `location`; `None` if the tap is redirected to
/// `location`.
pub(super) fn address(
    service: &Service,
    tag: &CachedTag,
    location: &str,
    rk: Option<&str>,
) -> Option<String> {
    if !tag.simulated() || !is_used(service) {
        return None;
    }
    let origin = service.settings().origin();
    let mut url = url::Url::parse(&origin).ok()?.join("/stand-in").ok()?;
    let place = location.split(['?', '#']).next().unwrap_or_default();
    let place = place.get(..FOR_MAX).unwrap_or(place);
    url.query_pairs_mut()
        .append_pair("for", place)
        .append_pair("proof", &service.stand_ins.of(place));
    if let Some(rk) = rk {
        url.query_pairs_mut().append_pair("rk", rk);
    }
    Some(url.into())
}

/// Whether a simulated tap was redirected to the stand-in with this query.
pub fn is_stand_in(service: &Service, query: &str) -> bool {
    let value = |wanted| {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        pairs.find_map(|(name, value)| (name == wanted).then_some(value))
    };
    let proved = value("for")
        .zip(value("proof"))
        .is_some_and(|(place, proof)| service.stand_ins.holds(&place, &proof));
    proved && is_used(service)
}

fn is_used(service: &Service) -> bool {
    service.settings().simulated_targets == SimulatedTargets::StandIn
}
