//! The steps of a recorded tap, and of the events after it.

mod redirect;

use super::{NamedInlay, Step, StepName, StepVerdict, TracedInteraction, verdict_steps};
use crate::clock::Millis;
use crate::interaction::{
    Change, Interaction, RecordedReads, RecordedRefusal, RecordedUpdate, Refusal, UpdateFault,
    Verdict,
};
use crate::rolling_key::KeyState;

/// Longest value of a variable in a step, in characters.
const VALUE_SHOWN: usize = 60;

/// Every step of a recorded tap, in order. `key` is the present state of its key.
pub fn of(traced: &TracedInteraction, key: KeyState) -> Vec<Step> {
    let interaction = &traced.interaction;
    let slug = traced.tag.as_ref().map(|tag| tag.slug.as_str());
    let [url, mut mac, counter] = verdict_steps(slug, interaction.verdict, traced.inlay);
    if is_unlisted(interaction) {
        let made = "made with the keys of the URL template by a chip that was no inlay";
        mac = Step::new(StepName::Mac, StepVerdict::Ok, made);
    }
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
        redirect::step(traced),
        payload_step(traced.payload_reads, key, interaction),
        update_step(traced.update.as_ref(), traced.refused_update.as_ref(), key),
    ]
}

/// Whether the tap is of an unlisted chip: only an authentic code is recorded without a tag and
/// without an inlay.
fn is_unlisted(interaction: &Interaction) -> bool {
    interaction.tag_id.is_none()
        && matches!(
            interaction.verdict,
            Verdict::NotVerified(Refusal::UnknownInlay { uid: Some(_) })
        )
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

/// Why a tap got no key.
fn leads_nowhere(traced: &TracedInteraction) -> String {
    if is_unlisted(&traced.interaction) {
        "the chip was no inlay".to_owned()
    } else if traced.interaction.tag_id.is_none() {
        "the inlay is on no tag".to_owned()
    } else if !traced.left_out.is_empty() {
        let macros = traced.left_out.join(", ");
        format!("the target URL is {macros}, which is not a URL for this tag")
    } else if let Some(recall) = recall(traced) {
        recall
    } else if traced.interaction.experience.is_some() {
        "the tag is archived".to_owned()
    } else {
        "the tag has no published experience".to_owned()
    }
}

/// The recall that decided the visitor's page, if there was one.
fn recall(traced: &TracedInteraction) -> Option<String> {
    let group = traced.interaction.recalled_by?;
    Some(match traced.groups.get(&group) {
        Some(name) => format!("the group {name} was recalled"),
        None => "a group of the tag was recalled".to_owned(),
    })
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
    let seconds = span.whole_seconds().max(0);
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests;
