//! The update call (specification 4.2 and 7).

use serde_json::{Value, json};

use super::payload::{is_nothing, with_key};
use super::protocol::is_refused;
use super::shape::both;
use super::tap::{NO_KEY, NO_TAP};
use super::taps::Tap;
use super::{Contract, UNKNOWN, encoded};
use crate::cli::conformance::check::{Check, Judged, Verdict, failed, judged, not_checked};
use crate::cli::conformance::web::{Answer, at_once};

/// The detail of the checks of an expired key without one.
const NO_OLD_KEY: &str = "It needs an expired key: give --old-landing, the address of a page that a \
                          tap opened more than five minutes ago.";
/// Updates that are sent at once. Enough that some overlap, on a slow machine, too.
const AT_ONCE: usize = 6;

pub(super) fn checks() -> Vec<Check<Contract>> {
    vec![
        Check::new(
            "update-invalid-key",
            "specification 7, row 2",
            |service: &mut Contract| {
                let key = encoded("tapdesk-conformance-never-issued");
                let answer = service.update(&key, &service.data("true"))?;
                Ok(is_invalid(&answer, "An invalid key"))
            },
        ),
        Check::new(
            "update-raw-key",
            "specification 2.5, row rolling_key",
            |service: &mut Contract| {
                with_key(service, |service, key| {
                    let answer = service.update(key, &service.data("true"))?;
                    Ok(is_invalid(&answer, "A key that is not Base64-encoded"))
                })
            },
        ),
        malformed("update-not-json", "{"),
        malformed(
            "update-without-key",
            &json!({"data": {"a": "b"}}).to_string(),
        ),
        malformed(
            "update-without-data",
            &json!({"rolling_key": encoded("x")}).to_string(),
        ),
        Check::new(
            "update-unknown-variable",
            "specification 4.2, row 5",
            |service: &mut Contract| {
                let data = json!({UNKNOWN: "true"});
                with_key(service, |service, key| {
                    let answer = service.update(&encoded(key), &data)?;
                    Ok(is_invalid(&answer, "An unknown variable"))
                })
            },
        ),
        Check::new(
            "update-creates-nothing",
            "specification 1, configuration 2",
            creates_nothing,
        ),
        Check::new(
            "update-partly-unknown",
            "specification 4.2, row 1",
            partly_unknown,
        ),
        // A service that takes it uses up the key of the checks before.
        Check::new(
            "update-content-type",
            "specification 4.2, row Request header",
            content_type,
        ),
        Check::new(
            "update-after-refusal",
            "decisions, rolling key: Does a refused update consume the key?",
            after_refusal,
        ),
        Check::new(
            "payload-after-update",
            "decisions, rolling key: Which operation consumes a key?",
            payload_after_update,
        ),
        Check::new("update-once", "specification 4.2, rows 1 and 3", once),
        Check::new(
            "update-at-once",
            "decisions, rolling key: Two updates at once with one key",
            updates_at_once,
        ),
        Check::new(
            "tap-keys-differ",
            "specification 1, one-time key",
            keys_differ,
        ),
    ]
}

/// The checks that may move the time.
pub(super) fn last_checks() -> Vec<Check<Contract>> {
    vec![
        Check::new(
            "payload-late-key",
            "specification 8, row 1",
            |service: &mut Contract| {
                let Some(key) = service.late_key()? else {
                    return Ok(not_checked(
                        "It needs a key of four minutes ago: give --simulated.",
                    ));
                };
                let answer = service.payload(&encoded(&key))?;
                Ok(judged(
                    answer.json().is_object(),
                    "A key is valid four minutes after its tap.",
                    format!("A key of four minutes ago answers {}.", answer.shown()),
                ))
            },
        ),
        Check::new(
            "payload-expired-key",
            "specification 4.1, row 2",
            |service: &mut Contract| {
                let Some(key) = service.old_key()? else {
                    return Ok(not_checked(NO_OLD_KEY));
                };
                let answer = service.payload(&encoded(&key))?;
                Ok(is_nothing(&answer, "An expired key"))
            },
        ),
        Check::new(
            "update-expired-key",
            "specification 4.2, row 4",
            |service: &mut Contract| {
                let Some(key) = service.old_key()? else {
                    return Ok(not_checked(NO_OLD_KEY));
                };
                let answer = service.update(&encoded(&key), &service.data("true"))?;
                Ok(is_invalid(&answer, "An expired key"))
            },
        ),
    ]
}

fn invalid() -> Value {
    json!({"error": true, "message": "Invalid rolling key"})
}

fn updated() -> Value {
    json!({"success": true, "message": "User Data updated"})
}

/// The one answer to all refusals of specification 7.
fn is_invalid(answer: &Answer, subject: &str) -> Verdict {
    let holds = answer.status == 400 && answer.json() == invalid();
    let bad = format!(
        "{subject} answers {}, not 400 {}.",
        answer.shown(),
        invalid()
    );
    judged(holds, format!("{subject} answers 400."), bad)
}

/// A check of a body that is no update. The contract is silent on it, except that an error has two
/// members.
fn malformed(name: &'static str, body: &str) -> Check<Contract> {
    let source = "specification 7; decisions, update: Which values are accepted?";
    let body = body.to_owned();
    Check::new(name, source, move |service: &mut Contract| {
        let answer = service.send(&body)?;
        let said = answer.json();
        let holds = (400..500).contains(&answer.status)
            && said["error"] == true
            && said["message"].is_string();
        let bad = format!(
            "It answers {}, which is no error of the contract.",
            answer.shown()
        );
        Ok(judged(holds, format!("It answers {}.", answer.status), bad))
    })
}

/// The first refusal could have created the variable, so a second one shows that it did not.
fn creates_nothing(service: &mut Contract) -> Judged {
    with_key(service, |service, key| {
        let data = json!({UNKNOWN: "true"});
        let first = service.update(&encoded(key), &data)?;
        let second = service.update(&encoded(key), &data)?;
        let holds = first.status == 400 && second.status == 400;
        let bad = format!(
            "Repeated updates of an unknown variable answer {} and {}.",
            first.status, second.status
        );
        Ok(judged(holds, "An update creates no variable.", bad))
    })
}

/// A page of another origin can send `text/plain` without a preflight. The update is right
/// otherwise, so a service that takes the type shows it.
fn content_type(service: &mut Contract) -> Judged {
    with_key(service, |service, key| {
        let body = json!({"rolling_key": encoded(key), "data": service.data("true")}).to_string();
        let answer = service.send_as("text/plain", &body)?;
        Ok(is_refused(&answer, "A body of text/plain"))
    })
}

fn partly_unknown(service: &mut Contract) -> Judged {
    with_key(service, |service, key| {
        let mut data = service.data("true");
        data[UNKNOWN] = "true".into();
        let answer = service.update(&encoded(key), &data)?;
        Ok(is_invalid(&answer, "A known and an unknown variable"))
    })
}

/// A page corrects its values, and sends them with the key of the updates that were refused.
fn after_refusal(service: &mut Contract) -> Judged {
    with_key(service, |service, key| {
        if service.has_updated.get() {
            return Ok(not_checked(
                "An update that should be refused was accepted, and used up the key.",
            ));
        }
        let answer = service.update(&encoded(key), &service.data("true"))?;
        let holds = answer.status == 200 && answer.json() == updated();
        let bad = format!(
            "After updates that were refused, one of {} answers {}; --variable names another variable.",
            service.variable,
            answer.shown()
        );
        Ok(judged(
            holds,
            "After updates that were refused, a right one succeeds.",
            bad,
        ))
    })
}

/// A page that was updated can still show what it is about.
fn payload_after_update(service: &mut Contract) -> Judged {
    with_key(service, |service, key| {
        if !service.has_updated.get() {
            return Ok(not_checked("No update was accepted."));
        }
        Ok(judged(
            service.payload_of(key)?.is_object(),
            "The payload can be read after an update.",
            "After an update the key answers no payload.",
        ))
    })
}

/// An update that succeeds, then the same again, and another one: the key is consumed.
fn once(service: &mut Contract) -> Judged {
    let Some(tap) = service.fresh_tap()? else {
        return Ok(not_checked(NO_TAP));
    };
    let Some(key) = tap.key() else {
        return Ok(not_checked(NO_KEY));
    };
    let key = encoded(&key);
    let first = service.update(&key, &service.data("true"))?;
    if first.status != 200 || first.json() != updated() {
        let variable = &service.variable;
        let bad = format!(
            "An update of {variable} answers {}; --variable names another variable.",
            first.shown()
        );
        return Ok(failed(bad));
    }
    let same = service.update(&key, &service.data("true"))?;
    let other = service.update(&key, &service.data("false"))?;
    Ok(both(
        is_invalid(&same, "A consumed key with the same values"),
        || is_invalid(&other, "A consumed key"),
    ))
}

fn updates_at_once(service: &mut Contract) -> Judged {
    let Some(tap) = service.fresh_tap()? else {
        return Ok(not_checked(NO_TAP));
    };
    let Some(key) = tap.key() else {
        return Ok(not_checked(NO_KEY));
    };
    let (key, data) = (encoded(&key), service.data("true"));
    let (web, url) = (&service.web, service.operation(super::UPDATE));
    let body = json!({"rolling_key": key, "data": data}).to_string();
    let send = || web.post(&url, &[("content-type", "application/json")], &body);
    let answers = at_once(AT_ONCE, send);
    let succeeded = answers
        .iter()
        .flatten()
        .filter(|answer| answer.status == 200);
    let succeeded = succeeded.count();
    let bad = format!("{succeeded} of {AT_ONCE} updates at once succeed with one key.");
    Ok(judged(
        succeeded == 1,
        "Of updates at once, one succeeds.",
        bad,
    ))
}

fn keys_differ(service: &mut Contract) -> Judged {
    let first = service.shared_key()?;
    let second = service.spare_tap().and_then(Tap::key);
    Ok(match (first, second) {
        (Some(first), Some(second)) => judged(
            first != second,
            "Each tap has a key of its own.",
            "Two taps have the same key.",
        ),
        _ => not_checked("It needs the keys of two taps: give another --tap-url."),
    })
}
