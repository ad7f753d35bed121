//! The steps of a recorded tap, and of the events after it.

use super::{NamedInlay, Step, StepName, StepVerdict, TracedInteraction, verdict_steps};
use crate::clock::Millis;
use crate::experience::{Content, LedBy, Rule, conditions};
use crate::interaction::{
    Change, Interaction, RecordedReads, RecordedRefusal, RecordedUpdate, UpdateFault,
};
use crate::macros::{LOCATION_MAX, Target};
use crate::rolling_key::KeyState;

/// Longest value of a variable in a step, in characters.
const VALUE_SHOWN: usize = 60;
/// Longest text for the conditions of a rule, in characters. A condition can name 300 countries.
const CONDITIONS_SHOWN: usize = 120;

/// Every step of a recorded tap, in order. `key` is the present state of its key.
pub fn of(traced: &TracedInteraction, key: KeyState) -> Vec<Step> {
    let interaction = &traced.interaction;
    let slug = traced.tag.as_ref().map(|tag| tag.slug.as_str());
    let [url, mut mac, counter] = verdict_steps(slug, interaction.verdict, traced.inlay);
    if let Some(named) = &traced.named {
        mac.detail += &whose(named);
    }
    let record = Step::new(
        StepName::Record,
        StepVerdict::Ok,
        format!("interaction {}", interaction.id),
    );
    vec![
        url,
        mac,
        counter,
        record,
        key_step(key, traced),
        redirect_step(traced),
        payload_step(traced.payload_reads, key, interaction),
        update_step(traced.update.as_ref(), traced.refused_update.as_ref(), key),
    ]
}

fn whose(named: &NamedInlay) -> String {
    match named {
        NamedInlay::OfTag(tag) => {
            format!(
                ": it is the inlay of the tag {} ({})",
                tag.tag_name, tag.slug
            )
        }
        NamedInlay::Unbound => ": it is an inlay without a tag".to_owned(),
    }
}

fn key_step(key: KeyState, traced: &TracedInteraction) -> Step {
    let interaction = &traced.interaction;
    let (step, detail) = match key {
        KeyState::None => (
            StepVerdict::NotChecked,
            format!("none: {}", leads_nowhere(traced)),
        ),
        KeyState::Valid { remaining_ms } => (
            StepVerdict::Ok,
            format!("valid for {}", minutes(Millis::new(remaining_ms))),
        ),
        KeyState::Expired => (StepVerdict::Ok, "expired".to_owned()),
        KeyState::Consumed { consumed_at } => (
            StepVerdict::Ok,
            format!(
                "consumed {} after the tap",
                minutes(consumed_at.since(interaction.at))
            ),
        ),
    };
    Step::new(StepName::Key, step, detail)
}

fn redirect_step(traced: &TracedInteraction) -> Step {
    let (step, detail) = match &traced.experience {
        Some(experience) if traced.interaction.key_issued => {
            let to = match &*experience.content {
                Content::Redirect { target, rules } if rules.is_empty() => {
                    target.source().to_owned()
                }
                Content::Redirect { target, rules } => by_rules(target, rules, traced),
                Content::Studio { .. } => "a page of the service".to_owned(),
            };
            let (name, version) = (&experience.name, experience.version.version);
            let left_out = match &*traced.left_out {
                [] => String::new(),
                macros => format!(
                    " · the URL is limited to {LOCATION_MAX} bytes; left out: {}",
                    macros.join(", ")
                ),
            };
            let detail = format!("{to} · {name}, version {version}{left_out}");
            (StepVerdict::Ok, detail)
        }
        _ => (StepVerdict::NotChecked, leads_nowhere(traced)),
    };
    Step::new(StepName::Redirect, step, detail)
}

/// The destination that the rules of a redirect chose, and which rule did.
fn by_rules(target: &Target, rules: &[Rule], traced: &TracedInteraction) -> String {
    let unknown = country_unknown(rules, &traced.interaction);
    match traced.led_by {
        Some(LedBy::Default) => {
            format!("no rule applied: {}{unknown}", target.source())
        }
        Some(LedBy::Rule(number)) => {
            let rule = usize::try_from(number).ok();
            let rule = rule.and_then(|number| rules.get(number.checked_sub(1)?));
            let rule = rule.map_or_else(String::new, |rule| {
                let conditions = cut(&conditions(rule), CONDITIONS_SHOWN);
                format!(" ({conditions}): {}", rule.target_url.source())
            });
            format!("rule {number}{rule}{unknown}")
        }
        None => "by its rules; which one applied is not known".to_owned(),
    }
}

/// Names the rules that could not apply because the visitor's country is unknown.
fn country_unknown(rules: &[Rule], tap: &Interaction) -> String {
    // If the visitor's data were erased, no trait is known any more, not even the system.
    if !tap.country.is_empty() || tap.traits.system.is_none() {
        return String::new();
    }
    let asks = |rule: &Rule| rule.when.iter().any(|when| !when.countries().is_empty());
    let asking = (1..).zip(rules).filter(|(_, rule)| asks(rule));
    let asking: Vec<_> = asking
        .map(|(number, _): (u32, _)| number.to_string())
        .collect();
    match &asking[..] {
        [] => String::new(),
        [number] => {
            format!(" · the visitor's country is unknown, so rule {number} could not apply")
        }
        numbers => format!(
            " · the visitor's country is unknown, so rules {} could not apply",
            numbers.join(", ")
        ),
    }
}

/// Why a tap got no key.
fn leads_nowhere(traced: &TracedInteraction) -> String {
    if traced.interaction.tag_id.is_none() {
        "the inlay is on no tag".to_owned()
    } else if !traced.left_out.is_empty() {
        let macros = traced.left_out.join(", ");
        format!("the target URL is {macros}, which is not a URL for this tag")
    } else if traced.interaction.experience.is_some() {
        "the tag is archived".to_owned()
    } else {
        "the tag has no published experience".to_owned()
    }
}

fn payload_step(reads: Option<RecordedReads>, key: KeyState, interaction: &Interaction) -> Step {
    let (step, detail) = match (reads, key) {
        (Some(RecordedReads { first_at, reads }), _) => {
            let after = minutes(first_at.since(interaction.at));
            let detail = match reads {
                1 => format!("read once, {after} after the tap"),
                2 => format!("read twice, first {after} after the tap"),
                _ => format!("read {reads} times, first {after} after the tap"),
            };
            (StepVerdict::Ok, detail)
        }
        (None, KeyState::None) => (StepVerdict::NotChecked, "no key to read it with".to_owned()),
        (None, KeyState::Valid { .. }) => (StepVerdict::Pending, "not read yet".to_owned()),
        (None, _) => (StepVerdict::NotChecked, "never read".to_owned()),
    };
    Step::new(StepName::Payload, step, detail)
}

fn update_step(
    update: Option<&RecordedUpdate>,
    refused: Option<&RecordedRefusal>,
    key: KeyState,
) -> Step {
    if update.is_none()
        && let Some(refused) = refused
    {
        return Step::new(StepName::Update, StepVerdict::Failed, why_refused(refused));
    }
    let (step, detail) = match (update, key) {
        (Some(update), _) if update.changes.is_empty() => {
            (StepVerdict::Ok, "done; its values were erased".to_owned())
        }
        (Some(update), _) => {
            let changes: Vec<_> = update.changes.iter().map(change).collect();
            (StepVerdict::Ok, changes.join(", "))
        }
        (None, KeyState::None) => (StepVerdict::NotChecked, "no key to update with".to_owned()),
        (None, KeyState::Valid { .. }) => (StepVerdict::Pending, "none yet".to_owned()),
        (None, _) => (StepVerdict::NotChecked, "none".to_owned()),
    };
    Step::new(StepName::Update, step, detail)
}

fn why_refused(
    RecordedRefusal {
        fault, variable, ..
    }: &RecordedRefusal,
) -> String {
    match (fault, variable) {
        (UpdateFault::UnknownVariable, Some(variable)) => {
            format!("refused: the tag has no variable {variable}. Add it to the tag's properties")
        }
        (UpdateFault::UnknownVariable, None) => {
            "refused: the tag does not have a variable".to_owned()
        }
        (UpdateFault::NotAssigned, _) => {
            "refused: the tag is deleted, or has no experience".to_owned()
        }
        (UpdateFault::NotVerified, _) => {
            "refused: only verified taps may update this tag's variables".to_owned()
        }
    }
}

fn change(Change { key, old, new }: &Change) -> String {
    let old = old.as_deref().map_or_else(|| "(erased)".to_owned(), shown);
    format!("{key}: {old} → {}", shown(new))
}

/// A value, shortened if it is long.
fn shown(value: &str) -> String {
    if value.is_empty() {
        return "empty".to_owned();
    }
    cut(value, VALUE_SHOWN)
}

/// The first `max` characters of a text.
fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A length of time as minutes and seconds: `4:12`.
fn minutes(span: Millis) -> String {
    let seconds = span.get().max(0) / 1000;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clock::Timestamp;
    use crate::experience::PublishedExperience;
    use crate::id::{ExperienceId, InteractionId, TagId};
    use crate::interaction::{Refusal, Returning, TagName, Tech, Verdict, VersionRef};
    use crate::tag::PropertyKey;
    use inlay::Uid;

    const AT: Timestamp = Timestamp::from_millis(1_000_000);

    fn traced(verdict: Verdict) -> TracedInteraction {
        let version = VersionRef {
            experience_id: ExperienceId::new(7),
            version: 2,
        };
        let target = Target::parse("https://owner.example/nfc").unwrap();
        TracedInteraction {
            interaction: Interaction {
                id: InteractionId::new(90_412),
                at: AT,
                tag_id: Some(TagId::new(41)),
                inlay_id: None,
                verdict,
                tech: Tech::Nfc,
                experience: Some(version),
                country: String::new(),
                traits: crate::interaction::Traits::default(),
                returning: Returning::default(),
                tamper: None,
                file_data: None,
                key_issued: true,
                simulated: false,
                origin: crate::interaction::TapOrigin::Visitor,
                previous: None,
            },
            tag: Some(tag()),
            inlay: None,
            named: None,
            experience: Some(PublishedExperience {
                version,
                name: "Register".to_owned(),
                content: Arc::new(Content::Redirect {
                    target,
                    rules: Vec::new(),
                }),
            }),
            update: None,
            refused_update: None,
            payload_reads: None,
            left_out: Vec::new(),
            led_by: None,
        }
    }

    fn tag() -> TagName {
        TagName {
            tag_id: TagId::new(41),
            slug: "k3v9qa".to_owned(),
            tag_name: "Bottle 41".to_owned(),
        }
    }

    fn verified() -> TracedInteraction {
        traced(Verdict::Verified {
            counter: 61,
            previous: 58,
        })
    }

    fn after_counter(traced: &TracedInteraction, key: KeyState) -> Vec<(StepVerdict, String)> {
        let steps = of(traced, key).into_iter().skip(3);
        steps.map(|step| (step.verdict, step.detail)).collect()
    }

    fn expected(steps: [(StepVerdict, &str); 5]) -> Vec<(StepVerdict, String)> {
        steps
            .map(|(verdict, detail)| (verdict, detail.to_owned()))
            .into()
    }

    #[test]
    fn a_tap_whose_key_lives_waits_for_payload_and_update() {
        let key = KeyState::Valid {
            remaining_ms: 252_999,
        };
        let steps = [
            (StepVerdict::Ok, "interaction 90412"),
            (StepVerdict::Ok, "valid for 4:12"),
            (
                StepVerdict::Ok,
                "https://owner.example/nfc · Register, version 2",
            ),
            (StepVerdict::Pending, "not read yet"),
            (StepVerdict::Pending, "none yet"),
        ];
        assert_eq!(after_counter(&verified(), key), expected(steps));
    }

    #[test]
    fn a_tap_says_when_its_payload_was_read_and_what_its_key_changed() {
        let change = |key: &str, old: &str, new: String| Change {
            key: PropertyKey::parse(key).unwrap(),
            old: Some(old.to_owned()),
            new,
        };
        let mut traced = verified();
        traced.payload_reads = Some(RecordedReads {
            first_at: AT.plus(Millis::new(3_400)),
            reads: 1,
        });
        traced.update = Some(RecordedUpdate {
            at: AT.plus(Millis::seconds(75)),
            changes: vec![
                change("registered", "false", "true".to_owned()),
                change("name", "", "ä".repeat(61)),
            ],
        });
        let consumed_at = AT.plus(Millis::seconds(75));
        let update = format!(
            "registered: false → true, name: empty → {}…",
            "ä".repeat(60)
        );
        let steps = [
            (StepVerdict::Ok, "interaction 90412"),
            (StepVerdict::Ok, "consumed 1:15 after the tap"),
            (
                StepVerdict::Ok,
                "https://owner.example/nfc · Register, version 2",
            ),
            (StepVerdict::Ok, "read once, 0:03 after the tap"),
            (StepVerdict::Ok, update.as_str()),
        ];
        assert_eq!(
            after_counter(&traced, KeyState::Consumed { consumed_at }),
            expected(steps)
        );
    }

    #[test]
    fn a_tap_without_a_key_says_why() {
        for (experience, why) in [
            (None, "the tag has no published experience"),
            (verified().interaction.experience, "the tag is archived"),
        ] {
            let mut traced = verified();
            traced.interaction.key_issued = false;
            traced.interaction.experience = experience;
            let steps = after_counter(&traced, KeyState::None);
            assert_eq!(steps[1], (StepVerdict::NotChecked, format!("none: {why}")));
            assert_eq!(steps[2], (StepVerdict::NotChecked, why.to_owned()));
            assert_eq!(steps[3].0, StepVerdict::NotChecked);
            assert_eq!(steps[4].0, StepVerdict::NotChecked);
        }
    }

    #[test]
    fn a_tap_says_what_its_url_had_no_room_for_and_what_gave_none() {
        let mut traced = verified();
        traced.left_out = vec!["tag:variable:note".to_owned(), "tag:data:x".to_owned()];
        let steps = after_counter(&traced, KeyState::Expired);
        assert_eq!(steps[2].0, StepVerdict::Ok);
        assert_eq!(
            steps[2].1,
            "https://owner.example/nfc · Register, version 2 · \
             the URL is limited to 3584 bytes; left out: tag:variable:note, tag:data:x"
        );
        traced.left_out.truncate(1);
        traced.interaction.key_issued = false;
        let steps = after_counter(&traced, KeyState::None);
        let why = "the target URL is tag:variable:note, which is not a URL for this tag";
        assert_eq!(steps[1].1, format!("none: {why}"));
        assert_eq!(steps[2], (StepVerdict::NotChecked, why.to_owned()));
    }

    #[test]
    fn a_tap_names_the_rule_that_led_it_and_says_when_none_did() {
        let rules = [
            r#"{"when": [{"type": "language", "any_of": ["de"]}], "target_url": "https://owner.example/de"}"#,
            r#"{"when": [{"type": "country", "any_of": ["FR", "BE"]}, {"type": "scan_count", "at_least": 3}],
                "target_url": "https://owner.example/fr"}"#,
        ];
        let content = format!(
            r#"{{"kind": "redirect", "target_url": "https://owner.example/nfc", "rules": [{}]}}"#,
            rules.join(",")
        );
        let mut traced = verified();
        let experience = traced.experience.as_mut().unwrap();
        experience.content = Arc::new(Content::from_json(&content).unwrap());
        traced.interaction.traits.system = Some(crate::visitor::OperatingSystem::Ios);
        let unknown = " · the visitor's country is unknown, so rule 2 could not apply";
        for (led_by, country, words) in [
            (
                Some(LedBy::Rule(1)),
                "FR",
                "rule 1 (language: de): https://owner.example/de".to_owned(),
            ),
            (
                Some(LedBy::Rule(2)),
                "FR",
                "rule 2 (country: FR, BE, scan_count: at_least 3): https://owner.example/fr"
                    .to_owned(),
            ),
            (
                Some(LedBy::Default),
                "DE",
                "no rule applied: https://owner.example/nfc".to_owned(),
            ),
            (
                Some(LedBy::Default),
                "",
                format!("no rule applied: https://owner.example/nfc{unknown}"),
            ),
            // A version other than the recorded one.
            (Some(LedBy::Rule(9)), "FR", "rule 9".to_owned()),
            (
                None,
                "FR",
                "by its rules; which one applied is not known".to_owned(),
            ),
        ] {
            traced.led_by = led_by;
            country.clone_into(&mut traced.interaction.country);
            let detail = &after_counter(&traced, KeyState::Expired)[2].1;
            assert_eq!(*detail, format!("{words} · Register, version 2"));
        }
        // If the visitor's data were erased, the missing country does not explain the rule.
        traced.led_by = Some(LedBy::Default);
        traced.interaction.country.clear();
        traced.interaction.traits.system = None;
        let detail = &after_counter(&traced, KeyState::Expired)[2].1;
        assert!(!detail.contains("country"), "{detail}");
    }

    #[test]
    fn an_expired_key_leaves_nothing_to_wait_for() {
        let steps = after_counter(&verified(), KeyState::Expired);
        assert_eq!(steps[3], (StepVerdict::NotChecked, "never read".to_owned()));
        assert_eq!(steps[4], (StepVerdict::NotChecked, "none".to_owned()));
    }

    #[test]
    fn a_code_of_another_inlay_says_whose_it_is() {
        let uid = Some(Uid::from_bytes([4, 1, 2, 3, 4, 5, 6]));
        let mut traced = traced(Verdict::NotVerified(Refusal::UnknownInlay { uid }));
        for (named, words) in [
            (None, "the inlay is not of this tag"),
            (
                Some(NamedInlay::OfTag(tag())),
                "the inlay is not of this tag: it is the inlay of the tag Bottle 41 (k3v9qa)",
            ),
            (
                Some(NamedInlay::Unbound),
                "the inlay is not of this tag: it is an inlay without a tag",
            ),
        ] {
            traced.named = named;
            assert_eq!(of(&traced, KeyState::Expired)[1].detail, words);
        }
    }
}
