use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::clock::Timestamp;
use crate::experience::{Content, LedBy, PublishedExperience};
use crate::id::{ExperienceId, GroupId, InteractionId, TagId};
use crate::interaction::{Refusal, Returning, TagName, Tech, Unchecked, Verdict, VersionRef};
use crate::macros::Target;
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
            recalled_by: None,
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
                pass_query: false,
                target,
                rules: Vec::new(),
            }),
        }),
        update: None,
        refused_update: None,
        payload_reads: None,
        left_out: Vec::new(),
        led_by: None,
        groups: BTreeMap::new(),
        staff_note: None,
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
            "rule 2 (country: FR, BE, scan_count: at_least 3): https://owner.example/fr".to_owned(),
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
fn groups_in_rules_and_recalls_are_named_if_the_caller_may_see_them() {
    let content = r#"{"kind": "redirect", "target_url": "https://owner.example/nfc", "rules": [
        {"when": [{"type": "group", "any_of": [3, 7]}], "target_url": "https://owner.example/wine"}]}"#;
    let mut traced = verified();
    let experience = traced.experience.as_mut().unwrap();
    experience.content = Arc::new(Content::from_json(content).unwrap());
    traced.led_by = Some(LedBy::Rule(1));
    traced.groups = [(GroupId::new(3), "Wines".to_owned())].into();
    let redirect = |traced: &TracedInteraction| {
        let steps = after_counter(traced, KeyState::Expired);
        steps[2].1.clone()
    };
    let to = "rule 1 (group: Wines, 7): https://owner.example/wine · Register, version 2";
    assert_eq!(redirect(&traced), to);
    traced.interaction.recalled_by = Some(GroupId::new(3));
    let recalled = format!("{to} · the group Wines was recalled");
    assert_eq!(redirect(&traced), recalled);
    // Without a page of the recall, there is no key.
    traced.interaction.key_issued = false;
    traced.interaction.experience = None;
    assert_eq!(redirect(&traced), "the group Wines was recalled");
    traced.interaction.recalled_by = Some(GroupId::new(7));
    assert_eq!(redirect(&traced), "a group of the tag was recalled");
}

#[test]
fn an_expired_key_leaves_nothing_to_wait_for() {
    let steps = after_counter(&verified(), KeyState::Expired);
    assert_eq!(steps[3], (StepVerdict::NotChecked, "never read".to_owned()));
    assert_eq!(steps[4], (StepVerdict::NotChecked, "none".to_owned()));
}

#[test]
fn a_code_of_another_inlay_says_whose_it_is() {
    let uid = Uid::from_bytes([4, 1, 2, 3, 4, 5, 6]);
    let mut chip = traced(Verdict::NotChecked(Unchecked::OtherUid { uid }));
    chip.named = Some(NamedInlay::OfTag(tag()));
    assert_eq!(
        of(&chip, KeyState::Expired)[1].detail,
        "the chip makes no MAC, and the UID is not that of an inlay of this tag: \
         it is the inlay of the tag Bottle 41 (k3v9qa)"
    );
    let mut traced = traced(Verdict::NotVerified(Refusal::UnknownInlay {
        uid: Some(uid),
    }));
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
