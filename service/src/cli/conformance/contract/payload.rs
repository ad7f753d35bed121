//! The payload call (specification 4.1): keys, statuses and repetitions.

use serde_json::json;
use ureq::http::Method;

use super::tap::{NO_KEY, NO_TAP};
use super::{Contract, encoded};
use crate::cli::conformance::check::{Check, Judged, Verdict, failed, judged, not_checked};
use crate::cli::conformance::web::Answer;

pub(super) fn checks() -> Vec<Check<Contract>> {
    vec![
        Check::new("payload-valid-key", "specification 4.1, row 1", valid),
        Check::new(
            "payload-is-json",
            "specification 4.1",
            |service: &mut Contract| {
                with_key(service, |service, key| {
                    let answer = service.payload(&encoded(key))?;
                    Ok(is_json(&answer))
                })
            },
        ),
        Check::new(
            "payload-padding",
            "specification 2.1, row 2",
            |service: &mut Contract| {
                // The padding as it is in the text, not percent-encoded.
                with_key(service, |service, key| {
                    let url = service.operation(&format!("{}?rk={}", super::PAYLOAD, encoded(key)));
                    let found = service.web.get(&url)?.json().is_object();
                    let bad = "A key whose padding is not percent-encoded is refused.";
                    Ok(judged(
                        found,
                        "Padding may stand in the query as it is.",
                        bad,
                    ))
                })
            },
        ),
        Check::new(
            "payload-raw-key",
            "specification 2.1, row 2",
            |service: &mut Contract| {
                with_key(service, |service, key| {
                    let answer = service.payload(key)?;
                    Ok(is_nothing(&answer, "A key that is not Base64-encoded"))
                })
            },
        ),
        Check::new(
            "payload-twice",
            "decisions, rolling key: Which operation consumes a key?",
            twice,
        ),
        Check::new(
            "payload-invalid-key",
            "specification 4.1, row 2",
            |service: &mut Contract| {
                let answer = service.payload(&encoded("tapdesk-conformance-never-issued"))?;
                Ok(is_nothing(&answer, "An invalid key"))
            },
        ),
        Check::new(
            "payload-empty-key",
            "specification 4.1, row 2",
            |service: &mut Contract| Ok(is_nothing(&service.payload("")?, "An empty key")),
        ),
        Check::new(
            "payload-missing-key",
            "decisions, payload: A missing or repeated rk parameter",
            |service: &mut Contract| {
                let answer = service.web.get(&service.operation(super::PAYLOAD))?;
                Ok(is_nothing(&answer, "A missing key"))
            },
        ),
        Check::new(
            "payload-not-base64",
            "specification 4.1, row 2",
            |service: &mut Contract| {
                Ok(is_nothing(
                    &service.payload("%%%")?,
                    "A key that is no Base64",
                ))
            },
        ),
        Check::new("payload-post", "specification 4.2, flow example", post),
        Check::new("payload-without-credential", "specification 5", credential),
        Check::new(
            "payload-expires-in",
            "specification 8, row 1; decisions, payload: How long is the key of a payload still valid?",
            expires_in,
        ),
    ]
}

/// Runs a check that only reads with the key of the shared tap.
pub(super) fn with_key(service: &mut Contract, see: impl Fn(&Contract, &str) -> Judged) -> Judged {
    let Some(tap) = service.shared_tap()? else {
        return Ok(not_checked(NO_TAP));
    };
    match tap.key() {
        Some(key) => see(service, &key),
        None => Ok(not_checked(NO_KEY)),
    }
}

fn valid(service: &mut Contract) -> Judged {
    with_key(service, |service, key| {
        let answer = service.payload(&encoded(key))?;
        let holds = answer.status == 200 && answer.json().is_object();
        let bad = format!("A valid key answers {}.", answer.shown());
        Ok(judged(holds, "A valid key answers 200 and an object.", bad))
    })
}

pub(super) fn is_json(answer: &Answer) -> Verdict {
    let kind = answer.header("content-type").unwrap_or("nothing");
    let essence = kind.split(';').next().unwrap_or_default().trim();
    let holds = essence.eq_ignore_ascii_case("application/json");
    let bad = format!("The content type is {kind}.");
    judged(holds, "The content type is application/json.", bad)
}

/// The contract's answer to a key that is not valid: 200 and an empty array.
pub(super) fn is_nothing(answer: &Answer, key: &str) -> Verdict {
    let holds = answer.status == 200 && answer.json() == json!([]);
    let bad = format!("{key} answers {}, not 200 [].", answer.shown());
    judged(holds, format!("{key} answers 200 []."), bad)
}

fn twice(service: &mut Contract) -> Judged {
    with_key(service, |service, key| {
        let (first, second) = (service.payload_of(key)?, service.payload_of(key)?);
        if !first.is_object() {
            return Ok(failed("The first call answers no payload."));
        }
        let bad = "The second call of a key answers another payload, or none.";
        Ok(judged(first == second, "A payload can be read again.", bad))
    })
}

fn post(service: &mut Contract) -> Judged {
    with_key(service, |service, key| {
        let answer = service
            .web
            .post(&service.payload_url(&encoded(key)), &[], "")?;
        let holds = answer.status == 200 && answer.json() == service.payload_of(key)?;
        let bad = format!("POST answers {}, unlike GET.", answer.shown());
        Ok(judged(holds, "POST answers as GET does.", bad))
    })
}

/// The key is the only proof of access: a credential neither helps nor harms.
fn credential(service: &mut Contract) -> Judged {
    with_key(service, |service, key| {
        let url = service.payload_url(&encoded(key));
        let headers = [("authorization", "Bearer tapdesk-conformance")];
        let answer = service.web.call(Method::GET, &url, &headers)?;
        let holds = answer.status == 200 && answer.json().is_object();
        let bad = format!("With a credential it answers {}.", answer.shown());
        Ok(judged(holds, "A credential makes no difference.", bad))
    })
}

/// Seconds that a service may leave out of the rest of a key's life, because it rounds.
const ROUNDED: u64 = 2;

fn expires_in(service: &mut Contract) -> Judged {
    let tap = service.shared_tap()?;
    with_key(service, |service, key| {
        let answer = service.payload(&encoded(key))?;
        let Some(seconds) = answer.header("tapdesk-expires-in") else {
            return Ok(not_checked(
                "The answer does not say how long the key is valid.",
            ));
        };
        let passed = tap.as_ref().map_or(0, |tap| tap.since.elapsed().as_secs());
        let least = 300_u64.saturating_sub(passed + ROUNDED).max(1);
        let holds = seconds
            .parse()
            .is_ok_and(|seconds: u64| (least..=300).contains(&seconds));
        let bad = format!("Tapdesk-Expires-In is {seconds}, not {least} to 300 seconds.");
        Ok(judged(
            holds,
            format!("The key is valid for {seconds} seconds."),
            bad,
        ))
    })
}
