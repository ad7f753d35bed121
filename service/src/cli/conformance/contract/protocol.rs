//! Methods, versions and headers of both operations (specification 4 and 9).

use serde_json::json;
use ureq::http::Method;

use super::payload::is_json;
use super::shape::both;
use super::{Contract, PAYLOAD, UPDATE, encoded};
use crate::cli::conformance::check::{Check, Judged, Verdict, failed, judged, passed};
use crate::cli::conformance::web::Answer;

/// The decision that lets pages of other origins call.
const ORIGINS: &str = "decisions, update: May browsers of other origins call?";
/// A page of another origin.
const ORIGIN: (&str, &str) = ("origin", "https://owner.example");

pub(super) fn checks() -> Vec<Check<Contract>> {
    vec![
        Check::new("version-prefix", "specification 9", version),
        Check::new(
            "payload-method",
            "specification 4.1, row Method",
            |service: &mut Contract| {
                let url = service.payload_url("x");
                let answer = service.web.call(Method::DELETE, &url, &[])?;
                Ok(is_refused(&answer, "DELETE"))
            },
        ),
        Check::new(
            "update-method",
            "specification 4.2, row Method",
            |service: &mut Contract| {
                let answer = service.web.get(&service.operation(UPDATE))?;
                Ok(is_refused(&answer, "GET"))
            },
        ),
        Check::new(
            "errors-are-json",
            "specification 7",
            |service: &mut Contract| Ok(is_json(&service.update("x", &json!({"a": "b"}))?)),
        ),
        Check::new(
            "answers-are-not-cached",
            ORIGINS,
            |service: &mut Contract| of_payloads(service, is_not_cached),
        ),
        Check::new("cors-payload", ORIGINS, |service: &mut Contract| {
            of_payloads(service, is_open)
        }),
        Check::new("cors-update", ORIGINS, |service: &mut Contract| {
            let headers = [("content-type", "application/json"), ORIGIN];
            let body = json!({"rolling_key": "x", "data": {"a": "b"}}).to_string();
            let url = service.operation(UPDATE);
            Ok(is_open(&service.web.post(&url, &headers, &body)?))
        }),
        Check::new("cors-update-preflight", ORIGINS, preflight),
    ]
}

fn version(service: &mut Contract) -> Judged {
    for prefix in ["", "/v1", "/v3"] {
        let path = PAYLOAD.trim_start_matches("/v2");
        let answer = service
            .web
            .get(&service.operation(&format!("{prefix}{path}?rk=x")))?;
        if answer.status == 200 && answer.json() == json!([]) {
            let prefix = if prefix.is_empty() {
                "no version"
            } else {
                prefix
            };
            let bad = format!("The payload call answers with {prefix}, too.");
            return Ok(failed(bad));
        }
    }
    Ok(passed("Only the prefix /v2 has the operations."))
}

pub(super) fn is_refused(answer: &Answer, method: &str) -> Verdict {
    let holds = (400..500).contains(&answer.status);
    let bad = format!("{method} answers {}.", answer.shown());
    judged(holds, format!("{method} answers {}.", answer.status), bad)
}

/// The verdict on the answer to a key that is not valid and, if there was a tap, on its payload.
fn of_payloads(service: &mut Contract, see: impl Fn(&Answer) -> Verdict) -> Judged {
    let nothing = see(&payload_for_a_page(service, "x")?);
    let Some(key) = service.shared_key()? else {
        return Ok(nothing);
    };
    let payload = payload_for_a_page(service, &encoded(&key))?;
    Ok(both(nothing, || see(&payload)))
}

/// The payload call of a page of another origin.
fn payload_for_a_page(service: &Contract, rk: &str) -> Result<Answer, ureq::Error> {
    let url = service.payload_url(rk);
    service.web.call(Method::GET, &url, &[ORIGIN])
}

fn is_not_cached(answer: &Answer) -> Verdict {
    let rule = answer.header("cache-control").unwrap_or("nothing");
    let bad = format!("Cache-Control is {rule}, so a browser may keep a payload.");
    judged(rule.contains("no-store"), "Answers are not cached.", bad)
}

fn is_open(answer: &Answer) -> Verdict {
    let origin = answer.header("access-control-allow-origin");
    let origin = origin.unwrap_or("missing");
    let holds = origin == "*" || origin == ORIGIN.1;
    let bad = format!("Access-Control-Allow-Origin is {origin}.");
    judged(holds, "Pages of other origins may read it.", bad)
}

fn preflight(service: &mut Contract) -> Judged {
    let headers = [
        ORIGIN,
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "content-type"),
    ];
    let url = service.operation(UPDATE);
    let answer = service.web.call(Method::OPTIONS, &url, &headers)?;
    let allowed = answer
        .header("access-control-allow-headers")
        .unwrap_or_default();
    let allowed = allowed.to_ascii_lowercase();
    let allows = allowed.contains("content-type") || allowed.trim() == "*";
    if !(200..300).contains(&answer.status) || !allows {
        let bad = format!(
            "The preflight answers {} and allows: {allowed}.",
            answer.status
        );
        return Ok(failed(bad));
    }
    Ok(is_open(&answer))
}
