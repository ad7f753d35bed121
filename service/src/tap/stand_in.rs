//! The built-in stand-in for the owner's domain, where simulated taps lead unless
//! the owner asks otherwise. Its page is for them alone: an address that no
//! simulated tap was sent to leads nowhere.

use crate::service::{CachedTag, Service};
use crate::settings::SimulatedTargets;

/// Most of the owner's URL that the page names, in bytes. It is ASCII.
const FOR_MAX: usize = 1000;

/// Where a tap leads in place of `location`. `None` if it leads there.
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

/// Whether a simulated tap was sent to the stand-in with this query.
pub(crate) fn is_stand_in(service: &Service, query: &str) -> bool {
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
