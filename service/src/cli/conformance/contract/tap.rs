//! The tap: the redirect with its key (specification 1 and 2.1).

use url::Url;

use super::Contract;
use super::taps::Tap;
use crate::cli::conformance::check::{Check, Judged, Verdict, failed, judged, not_checked, passed};

/// The detail of a check that got no tap.
pub(super) const NO_TAP: &str = "It needs another tap: give a --tap-url.";
/// The detail of a check whose tap has no key.
pub(super) const NO_KEY: &str = "It needs the rolling key of a tap, and the tap gave none.";

pub(super) fn checks() -> Vec<Check<Contract>> {
    vec![
        Check::new(
            "tap-redirects",
            "specification 1, flow 2",
            |service: &mut Contract| with_tap(service, redirects),
        ),
        Check::new(
            "tap-key",
            "specification 2.1, row 1",
            |service: &mut Contract| {
                with_tap(service, |tap| {
                    judged(
                        tap.key().is_some(),
                        "The redirect has the query parameter rk.",
                        format!("No parameter rk in the redirect of {}.", tap.url),
                    )
                })
            },
        ),
        Check::new(
            "tap-static-not-checked",
            "decisions, tap: How is tag_verified set?",
            static_tap,
        ),
        Check::new(
            "tap-replay",
            "specification 1, one-time URL; decisions, tap: How is tag_verified set?",
            replay,
        ),
    ]
}

fn with_tap(service: &mut Contract, see: impl Fn(&Tap) -> Verdict) -> Judged {
    let tap = service.shared_tap()?;
    Ok(tap.map_or_else(|| not_checked(NO_TAP), |tap| see(&tap)))
}

fn redirects(tap: &Tap) -> Verdict {
    let status = tap.answer.status;
    if matches!(status, 301 | 308) {
        return failed(format!(
            "The status {status} is permanent, so a browser keeps the key of the first tap."
        ));
    }
    let Some(target) = tap.answer.target() else {
        return failed(format!("The tap answers {}.", tap.answer.shown()));
    };
    let host = Url::parse(target).ok();
    let host = host.as_ref().and_then(Url::host_str);
    host.map_or_else(
        || failed("The destination of the redirect is no absolute URL."),
        |host| passed(format!("It answers {status}, to {host}.")),
    )
}

/// A URL without a code proves nothing, and denies nothing either.
fn static_tap(service: &mut Contract) -> Judged {
    let Some(tap) = service.shared_tap()? else {
        return Ok(not_checked(NO_TAP));
    };
    if tap.url.contains('?') {
        return Ok(not_checked(
            "The tap URL has a code; give a static one first.",
        ));
    }
    let Some(key) = tap.key() else {
        return Ok(not_checked(NO_KEY));
    };
    let payload = service.payload_of(&key)?;
    let verified = &payload["tag_verified"];
    let is_null = payload.is_object() && verified.is_null();
    let bad = format!("tag_verified of a URL without a code is {verified}, not null.");
    Ok(judged(is_null, "tag_verified is null.", bad))
}

/// A one-time URL verifies once, also for another visitor.
fn replay(service: &mut Contract) -> Judged {
    let Some(tap) = service.shared_tap()? else {
        return Ok(not_checked(NO_TAP));
    };
    let Some(key) = tap.key() else {
        return Ok(not_checked(NO_KEY));
    };
    if service.payload_of(&key)?["tag_verified"] != true {
        return Ok(not_checked(
            "The tap was not verified, so its URL is no one-time URL.",
        ));
    }
    let again = Contract::open_tap(&tap.url)?;
    let Some(key) = again.key() else {
        return Ok(passed("The same URL opens no page a second time."));
    };
    // A page must not say "not checked" of a copy.
    let payload = service.payload_of(&key)?;
    let verified = &payload["tag_verified"];
    let bad = format!("tag_verified of the same URL is {verified} a second time, not false.");
    Ok(judged(
        *verified == false,
        "The same URL does not verify a second time.",
        bad,
    ))
}
