//! The members of a payload and their types (specification 2.2 to 2.4).

use serde_json::Value;

use super::Contract;
use super::payload::with_key;
use crate::cli::conformance::check::{Check, Outcome, Verdict, failed, judged};

/// The type of a member, by the specification's names.
#[derive(Clone, Copy)]
enum Kind {
    Array,
    Boolean,
    Integer,
    Number,
    Object,
    Text,
}

use Kind::{Array, Boolean, Integer, Number, Object, Text};

type Members = &'static [(&'static str, Kind)];

/// `tag_verified` and `rk` have checks of their own.
const PAYLOAD: Members = &[
    ("campaigns", Array),
    ("metadata", Object),
    ("app_id", Integer),
    ("social", Object),
    ("location", Object),
    ("interaction_ids", Array),
    ("impression_ids", Array),
    ("track_location", Boolean),
    ("payloads", Array),
    ("device", Object),
];
const METADATA: Members = &[
    ("name", Text),
    ("title", Text),
    ("description", Text),
    ("url", Text),
    ("tag_id", Integer),
    ("studio_id", Text),
    ("widget_settings", Object),
    ("language_code", Text),
    ("verified", Text),
    ("tag_verifier_enabled", Text),
    ("device_id", Integer),
];
const LOCATION: Members = &[
    ("id", Integer),
    ("street", Text),
    ("dma", Integer),
    ("lat", Number),
    ("lon", Number),
    ("stationary", Boolean),
    ("data", Object),
    ("user_data", Array),
    ("system", Array),
    ("venue", Object),
    ("asset", Object),
];
const PLACE: Members = &[("id", Integer), ("name", Text), ("stationary", Integer)];
const DEVICE: Members = &[("r", Boolean), ("rd", Boolean), ("country", Text)];

pub(super) fn checks() -> Vec<Check<Contract>> {
    vec![
        of_payload("payload-members", "specification 2.2", |payload, _| {
            members(payload, PAYLOAD)
        }),
        of_payload(
            "payload-tag-verified",
            "specification 2.2, row tag_verified",
            verified,
        ),
        of_payload("payload-rk", "specification 2.2, row rk", |payload, key| {
            let bad = "The member rk is not the key as received in the redirect.";
            judged(
                payload["rk"] == key,
                "The member rk is the key as received.",
                bad,
            )
        }),
        of_payload(
            "payload-interaction-ids",
            "specification 2.2, row interaction_ids",
            |payload, _| {
                let ids = payload["interaction_ids"].as_array();
                let holds = ids.is_some_and(|ids| !ids.is_empty() && ids.iter().all(is_integer));
                let bad = format!("interaction_ids is {}.", payload["interaction_ids"]);
                judged(holds, "interaction_ids has integers.", bad)
            },
        ),
        of_payload(
            "payload-social",
            "specification 2.2, row social",
            |payload, _| members(&payload["social"], &[("blacklist", Object)]),
        ),
        of_payload(
            "payload-device",
            "specification 2.2, row device",
            |payload, _| members(&payload["device"], DEVICE),
        ),
        of_payload("payload-metadata", "specification 2.3", |payload, _| {
            members(&payload["metadata"], METADATA)
        }),
        of_payload("payload-location", "specification 2.4", |payload, _| {
            members(&payload["location"], LOCATION)
        }),
        of_payload(
            "payload-venue",
            "specification 2.4, row venue",
            |payload, _| {
                let venue = &payload["location"]["venue"];
                both(members(venue, &[("name", Text)]), || {
                    members(&venue["type"], PLACE)
                })
            },
        ),
        of_payload(
            "payload-asset",
            "specification 2.4, row asset",
            |payload, _| {
                let asset = &payload["location"]["asset"];
                both(members(asset, &[("id", Text)]), || {
                    members(&asset["type"], PLACE)
                })
            },
        ),
    ]
}

/// A check of the payload of the shared tap, and of its key as received.
fn of_payload(
    name: &'static str,
    source: &'static str,
    see: impl Fn(&Value, &str) -> Verdict + 'static,
) -> Check<Contract> {
    Check::new(name, source, move |service: &mut Contract| {
        with_key(service, |service, key| {
            let payload = service.payload_of(key)?;
            if !payload.is_object() {
                return Ok(failed("The key answers no payload."));
            }
            Ok(see(&payload, key))
        })
    })
}

fn verified(payload: &Value, _: &str) -> Verdict {
    let shown = payload.get("tag_verified");
    let holds = shown.is_some_and(|shown| shown.is_boolean() || shown.is_null());
    let shown = shown.map_or_else(|| "missing".to_owned(), Value::to_string);
    let bad = format!("tag_verified is {shown}, not true, false or null.");
    judged(holds, format!("tag_verified is {shown}."), bad)
}

/// The second verdict, if the first is good.
pub(super) fn both(first: Verdict, second: impl FnOnce() -> Verdict) -> Verdict {
    match first.outcome {
        Outcome::Passed => second(),
        _ => first,
    }
}

/// Names the members that are missing or of another type. More members are no fault.
fn members(object: &Value, expected: Members) -> Verdict {
    let wrong = expected.iter().filter(|(name, kind)| {
        let member = object.get(name);
        member.is_none_or(|member| !kind.has(member))
    });
    let wrong: Vec<&str> = wrong.map(|(name, _)| *name).collect();
    let bad = format!("Missing, or of another type: {}.", wrong.join(", "));
    judged(
        wrong.is_empty(),
        format!("All {} members are there.", expected.len()),
        bad,
    )
}

impl Kind {
    fn has(self, value: &Value) -> bool {
        match self {
            Array => value.is_array(),
            Boolean => value.is_boolean(),
            Integer => is_integer(value),
            Number => value.is_number(),
            Object => value.is_object(),
            Text => value.is_string(),
        }
    }
}

fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_of_another_type_are_named() {
        let device = json!({"r": true, "rd": null, "country": 1, "more": 2});
        let found = members(&device, DEVICE);
        let expected = failed("Missing, or of another type: rd, country.");
        assert_eq!(found, expected);
        assert_eq!(members(&json!([]), DEVICE).outcome, expected.outcome);
    }

    #[test]
    fn null_is_a_value_of_tag_verified_and_a_text_is_none() {
        for (payload, holds) in [
            (json!({"tag_verified": null}), true),
            (json!({"tag_verified": false}), true),
            (json!({"tag_verified": "true"}), false),
            (json!({}), false),
        ] {
            let found = verified(&payload, "");
            assert_eq!(found.outcome == Outcome::Passed, holds);
        }
    }
}
