//! A tap in steps, each with its verdict and the reason in words. Every view of a tap shows the
//! same steps, so that people learn one picture.

mod recorded;

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

pub use recorded::of;

use crate::experience::{LedBy, PublishedExperience};
use crate::id::GroupId;
use crate::interaction::{
    Interaction, RecordedReads, RecordedRefusal, RecordedUpdate, Refusal, StaffNote, TagName,
    Unchecked, Verdict,
};
use inlay::counter::{DAILY_RISE_MAX, FIRST_MAX};
use inlay::{MacFrom, Uid};

/// One step of a tap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Step {
    /// Name of the step.
    pub name: StepName,
    /// Result of the step.
    pub verdict: StepVerdict,
    /// The reason in words. It contains no rolling key.
    pub detail: String,
}

/// The steps, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepName {
    /// The tag that the URL names, and the code of the inlay.
    Url,
    /// Whether the code is authentic.
    Mac,
    /// Whether the code was not used before and came in order.
    Counter,
    /// The interaction is on disk.
    Record,
    /// A rolling key was issued.
    Key,
    /// The visitor was sent to this destination.
    Redirect,
    /// The payload was read with the key.
    Payload,
    /// Variables were updated with the key.
    Update,
}

/// The verdict of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepVerdict {
    /// The step succeeded without remarks.
    Ok,
    /// The step succeeded, but earlier reads of the inlay never reached the service.
    Gap,
    /// The step is why the tap is not verified, or stops here.
    Failed,
    /// The step had nothing to check, because of an earlier step or the tag's configuration.
    NotChecked,
    /// The step may still happen.
    Pending,
}

impl Step {
    /// A step with its reason in words.
    pub fn new(name: StepName, verdict: StepVerdict, detail: impl Into<String>) -> Self {
        Self {
            name,
            verdict,
            detail: detail.into(),
        }
    }
}

/// The facts about the inlay that made a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeInlay {
    /// UID of the inlay.
    pub uid: Uid,
    /// Where the MAC's input begins in the canonical form; `None` if the inlay has a URL template.
    pub mac_from: Option<MacFrom>,
}

/// An interaction with all facts that are stored about it.
#[derive(Clone, Debug)]
pub struct TracedInteraction {
    /// Interaction itself, without related rows.
    pub interaction: Interaction,
    /// Its tag; `None` if the inlay that made the code was on no tag, or if the tag is not within
    /// the caller's reach any more.
    pub tag: Option<TagName>,
    /// The inlay that made an authentic code, with its present configuration.
    pub inlay: Option<CodeInlay>,
    /// The place of the inlay that the code names, if that inlay is not on this tag.
    pub named: Option<NamedInlay>,
    /// The experience and version that the visitor got.
    pub experience: Option<PublishedExperience>,
    /// The update made with its key.
    pub update: Option<RecordedUpdate>,
    /// The last update that was refused although its key was valid.
    pub refused_update: Option<RecordedRefusal>,
    /// The reads of its payload.
    pub payload_reads: Option<RecordedReads>,
    /// The macros without a value in the answer: they did not fit into the URL, or, if no key was
    /// issued, they had no value.
    pub left_out: Vec<String>,
    /// The rule that decided the target, if its redirect has rules and the rule is known.
    pub led_by: Option<LedBy>,
    /// The names of the groups that the recall and the rules name, as far as the groups exist and
    /// are within the caller's reach.
    pub groups: BTreeMap<GroupId, String>,
    /// The note and the photo that staff added.
    pub staff_note: Option<StaffNote>,
}

/// An inlay that a code names, looked up when the interaction is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedInlay {
    /// It is on this tag.
    OfTag(TagName),
    /// It is on no tag.
    Unbound,
}

/// The steps URL, MAC and counter of a tap of the tag `slug`, if it had one. `inlay` is the inlay
/// that made the code, if it is known.
pub fn verdict_steps(slug: Option<&str>, verdict: Verdict, inlay: Option<CodeInlay>) -> [Step; 3] {
    [
        url_step(slug, verdict, inlay),
        mac_step(verdict, inlay),
        counter_step(verdict),
    ]
}

fn url_step(slug: Option<&str>, verdict: Verdict, inlay: Option<CodeInlay>) -> Step {
    let (step, what) = match verdict {
        Verdict::NotVerified(Refusal::NoCode) => (
            StepVerdict::Failed,
            "no code, though the tag's inlay makes one on every tap".to_owned(),
        ),
        Verdict::NotVerified(Refusal::Malformed) => (
            StepVerdict::Failed,
            "uid or token is missing, repeated or malformed".to_owned(),
        ),
        Verdict::NotChecked(Unchecked::NoCode) => (StepVerdict::Ok, "no code".to_owned()),
        Verdict::NotChecked(Unchecked::VerifierOff) => {
            (StepVerdict::Ok, "codes are not checked".to_owned())
        }
        Verdict::NotVerified(Refusal::UnknownInlay { uid }) => {
            let uid = uid.map_or_else(|| "uid encrypted".to_owned(), |uid| format!("uid {uid}"));
            (StepVerdict::Ok, uid)
        }
        Verdict::NotChecked(Unchecked::OtherUid { uid }) => (StepVerdict::Ok, format!("uid {uid}")),
        Verdict::NotVerified(
            Refusal::WrongMac { counter: None }
            | Refusal::Blocked { counter: None }
            | Refusal::CounterOff
            | Refusal::Guessed,
        )
        | Verdict::NotChecked(Unchecked::SameCode | Unchecked::NoMac { counter: None, .. }) => {
            let uid =
                inlay.map_or_else(|| "no uid".to_owned(), |inlay| format!("uid {}", inlay.uid));
            (StepVerdict::Ok, format!("{uid} · no counter"))
        }
        Verdict::Verified { counter, .. }
        | Verdict::NotChecked(
            Unchecked::NoMac {
                counter: Some(counter),
                ..
            }
            | Unchecked::Jumped { counter, .. },
        )
        | Verdict::NotVerified(
            Refusal::WrongMac {
                counter: Some(counter),
            }
            | Refusal::Blocked {
                counter: Some(counter),
            }
            | Refusal::Replayed { counter, .. }
            | Refusal::OutOfOrder { counter, .. }
            | Refusal::KeysReplaced { counter },
        ) => {
            let uid = inlay.map_or_else(String::new, |inlay| format!("uid {} · ", inlay.uid));
            (StepVerdict::Ok, format!("{uid}counter {counter}"))
        }
    };
    let slug = slug.unwrap_or("no tag");
    Step::new(StepName::Url, step, format!("{slug} · {what}"))
}

fn mac_step(verdict: Verdict, inlay: Option<CodeInlay>) -> Step {
    let (step, detail) = match verdict {
        Verdict::Verified { .. }
        | Verdict::NotVerified(
            Refusal::Replayed { .. } | Refusal::OutOfOrder { .. } | Refusal::KeysReplaced { .. },
        ) => (
            StepVerdict::Ok,
            match inlay.and_then(|inlay| inlay.mac_from) {
                Some(MacFrom::None) => "authentic (MAC input: empty)",
                Some(MacFrom::Uid) => "authentic (MAC input: from uid)",
                None => "authentic",
            },
        ),
        Verdict::NotVerified(Refusal::WrongMac { .. }) => (
            StepVerdict::Failed,
            "not authentic: the code was altered, or the inlay's keys or MAC input differ from the settings",
        ),
        Verdict::NotVerified(Refusal::UnknownInlay { uid: Some(_) }) => {
            (StepVerdict::Failed, "the inlay is not of this tag")
        }
        Verdict::NotVerified(Refusal::UnknownInlay { uid: None }) => {
            (StepVerdict::Failed, "not made by an inlay of this tag")
        }
        Verdict::NotVerified(Refusal::NoCode | Refusal::Malformed) => {
            (StepVerdict::NotChecked, "no code to check")
        }
        Verdict::NotVerified(Refusal::CounterOff) | Verdict::NotChecked(Unchecked::SameCode) => {
            (StepVerdict::Ok, "authentic")
        }
        Verdict::NotVerified(Refusal::Blocked { .. }) => (
            StepVerdict::Failed,
            "the owner blocked this inlay: it was lost or cloned",
        ),
        Verdict::NotVerified(Refusal::Guessed) => (
            StepVerdict::Failed,
            "not checked: over 100 wrong codes came for this chip within an hour",
        ),
        Verdict::NotChecked(Unchecked::NoMac { .. } | Unchecked::Jumped { .. }) => (
            StepVerdict::NotChecked,
            "the chip makes no MAC: anyone can write the next number",
        ),
        Verdict::NotChecked(Unchecked::OtherUid { .. }) => (
            StepVerdict::NotChecked,
            "the chip makes no MAC, and the UID is not that of an inlay of this tag",
        ),
        Verdict::NotChecked(Unchecked::VerifierOff) => {
            (StepVerdict::NotChecked, "the tag's verifier is off")
        }
        Verdict::NotChecked(Unchecked::NoCode) => (
            StepVerdict::NotChecked,
            "a QR code or static URL contains no code",
        ),
    };
    Step::new(StepName::Mac, step, detail)
}

/// Why a code comes twice. A program that scans mail claims to be a browser.
const USED_BEFORE: &str = "this one-time URL was used before. If it was sent by mail or chat, a \
                           program that checks links may have opened it first";

fn counter_step(verdict: Verdict) -> Step {
    let (step, detail) = match verdict {
        Verdict::Verified { counter, previous } => accepted(counter, previous),
        Verdict::NotVerified(Refusal::Replayed { counter, last }) => (
            StepVerdict::Failed,
            if counter == last {
                format!("{counter} again: {USED_BEFORE}")
            } else {
                format!("{counter} again, after {last}: {USED_BEFORE}")
            },
        ),
        Verdict::NotVerified(Refusal::OutOfOrder { counter, last }) => (
            StepVerdict::Failed,
            format!("{counter} after {last}: a later code of this inlay arrived first"),
        ),
        Verdict::NotVerified(Refusal::KeysReplaced { counter }) => (
            StepVerdict::Failed,
            format!("{counter}: the inlay's keys were replaced during the tap"),
        ),
        Verdict::NotVerified(
            Refusal::NoCode
            | Refusal::Malformed
            | Refusal::UnknownInlay { .. }
            | Refusal::Guessed
            | Refusal::Blocked { .. }
            | Refusal::WrongMac { .. },
        ) => (
            StepVerdict::NotChecked,
            "checked only for authentic codes".to_owned(),
        ),
        Verdict::NotVerified(Refusal::CounterOff) => (
            StepVerdict::Failed,
            "the chip's counter is switched off, so its code is always the same".to_owned(),
        ),
        Verdict::NotChecked(Unchecked::OtherUid { .. }) => (
            StepVerdict::NotChecked,
            "counted only for inlays of this tag".to_owned(),
        ),
        Verdict::NotChecked(Unchecked::SameCode) => (
            StepVerdict::NotChecked,
            "always the same code: the inlay shows no counter".to_owned(),
        ),
        Verdict::NotChecked(Unchecked::NoMac {
            counter: Some(counter),
            last: Some(last),
        }) => shown(counter, last),
        Verdict::NotChecked(Unchecked::Jumped { counter, last: 0 }) => (
            StepVerdict::Gap,
            format!(
                "{counter} as the first: more than {FIRST_MAX}, so it is not kept until the owner accepts it"
            ),
        ),
        Verdict::NotChecked(Unchecked::Jumped { counter, last }) => (
            StepVerdict::Gap,
            format!(
                "{counter} after {last}: more than {DAILY_RISE_MAX} in a day, so {last} stays until the owner accepts it"
            ),
        ),
        Verdict::NotChecked(
            Unchecked::VerifierOff | Unchecked::NoCode | Unchecked::NoMac { .. },
        ) => (StepVerdict::NotChecked, "no code".to_owned()),
    };
    Step::new(StepName::Counter, step, detail)
}

/// The counter of a chip without a MAC.
fn shown(counter: u32, last: u32) -> (StepVerdict, String) {
    if counter > last {
        accepted(counter, last)
    } else {
        let detail = format!("{counter} after {last}: it did not rise");
        (StepVerdict::Gap, detail)
    }
}

fn accepted(counter: u32, previous: u32) -> (StepVerdict, String) {
    let missed = counter.saturating_sub(previous).saturating_sub(1);
    match (previous, missed) {
        (0, 0) => (
            StepVerdict::Ok,
            format!("{counter}, the first of this inlay"),
        ),
        (_, 0) => (StepVerdict::Ok, format!("{counter} after {previous}")),
        (0, 1) => (
            StepVerdict::Gap,
            format!("{counter}, the first seen: one read never reached the service"),
        ),
        (0, _) => (
            StepVerdict::Gap,
            format!("{counter}, the first seen: {missed} reads never reached the service"),
        ),
        (_, 1) => (
            StepVerdict::Gap,
            format!("{counter} after {previous}: one read never reached the service"),
        ),
        _ => (
            StepVerdict::Gap,
            format!("{counter} after {previous}: {missed} reads never reached the service"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INLAY: CodeInlay = CodeInlay {
        uid: Uid::from_bytes([0x04, 0xDE, 0x5F, 0x1E, 0xAC, 0xC0, 0x40]),
        mac_from: Some(MacFrom::None),
    };

    fn steps_of(verdict: Verdict) -> Vec<(StepVerdict, String)> {
        verdict_steps(Some("k3v9qa"), verdict, Some(INLAY))
            .into_iter()
            .map(|step| (step.verdict, step.detail))
            .collect()
    }

    #[test]
    fn a_verified_tap_with_a_gap_reads_as_the_one_picture_shows_it() {
        let verdict = Verdict::Verified {
            counter: 61,
            previous: 58,
        };
        let expected = [
            (StepVerdict::Ok, "k3v9qa · uid 04DE5F1EACC040 · counter 61"),
            (StepVerdict::Ok, "authentic (MAC input: empty)"),
            (
                StepVerdict::Gap,
                "61 after 58: 2 reads never reached the service",
            ),
        ];
        assert_eq!(
            steps_of(verdict),
            expected.map(|(verdict, detail)| (verdict, detail.to_owned()))
        );
    }

    #[test]
    fn exactly_one_step_of_a_tap_that_is_not_verified_has_failed() {
        let (counter, last) = (5, 9);
        for refusal in [
            Refusal::NoCode,
            Refusal::Malformed,
            Refusal::UnknownInlay { uid: None },
            Refusal::UnknownInlay {
                uid: Some(INLAY.uid),
            },
            Refusal::WrongMac {
                counter: Some(counter),
            },
            Refusal::WrongMac { counter: None },
            Refusal::CounterOff,
            Refusal::Guessed,
            Refusal::Blocked {
                counter: Some(counter),
            },
            Refusal::Blocked { counter: None },
            Refusal::Replayed { counter, last },
            Refusal::OutOfOrder { counter, last },
            Refusal::KeysReplaced { counter },
        ] {
            let steps = steps_of(Verdict::NotVerified(refusal));
            let failed = steps
                .iter()
                .position(|(verdict, _)| *verdict == StepVerdict::Failed);
            let failed = failed.unwrap_or_else(|| panic!("{refusal:?}: nothing failed"));
            for (position, (verdict, _)) in steps.iter().enumerate() {
                let expected = match position.cmp(&failed) {
                    std::cmp::Ordering::Less => StepVerdict::Ok,
                    std::cmp::Ordering::Equal => StepVerdict::Failed,
                    std::cmp::Ordering::Greater => StepVerdict::NotChecked,
                };
                assert_eq!(*verdict, expected, "{refusal:?}, step {position}");
            }
        }
    }

    #[test]
    fn a_tap_that_is_not_checked_has_no_failed_step() {
        let jumped = Unchecked::Jumped {
            counter: 5_000,
            last: 9,
        };
        let shown_before = Unchecked::NoMac {
            counter: Some(5),
            last: Some(9),
        };
        for unchecked in [
            Unchecked::VerifierOff,
            Unchecked::NoCode,
            Unchecked::SameCode,
            Unchecked::OtherUid { uid: INLAY.uid },
            jumped,
            shown_before,
        ] {
            let steps = steps_of(Verdict::NotChecked(unchecked));
            assert!(
                steps
                    .iter()
                    .all(|(verdict, _)| *verdict != StepVerdict::Failed),
                "{unchecked:?}"
            );
        }
    }

    #[test]
    fn the_first_tap_is_no_gap_and_a_later_first_one_is() {
        let counter = |counter, previous| {
            let [.., step] = verdict_steps(
                Some("k3v9qa"),
                Verdict::Verified { counter, previous },
                None,
            );
            (step.verdict, step.detail)
        };
        assert_eq!(counter(1, 0).0, StepVerdict::Ok);
        assert_eq!(counter(8, 7), (StepVerdict::Ok, "8 after 7".to_owned()));
        assert_eq!(
            counter(9, 7),
            (
                StepVerdict::Gap,
                "9 after 7: one read never reached the service".to_owned()
            )
        );
        assert_eq!(
            counter(4, 0),
            (
                StepVerdict::Gap,
                "4, the first seen: 3 reads never reached the service".to_owned()
            )
        );
    }
}
