//! The resulting content of a chip, in words.

use serde::Serialize;
use utoipa::ToSchema;

use super::preview::is_lrp;
use encoding::Form;
use inlay::Mirror;
use inlay::template::Field;

/// A name and a text, for display.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = EncodingPreviewFact)]
pub struct Fact {
    /// Subject of the fact.
    name: &'static str,
    /// The fact as a sentence.
    text: String,
}

/// The facts about a chip of this form, once it is encoded.
pub(super) fn facts(form: &Form) -> Vec<Fact> {
    let mut facts = vec![fact("On each tap", on_each_tap(form))];
    if form.has_keys() {
        facts.push(fact("Keys", keys(form)));
        facts.push(fact(
            "Write access",
            if is_lrp(form) {
                "Only with key 0. Phones show it as read-only. It can be encoded again for a URL of LRP mode."
            } else {
                "Only with key 0. Phones show it as read-only. It can be wiped and encoded again."
            },
        ));
    } else if form.lock {
        facts.push(fact(
            "Write access",
            "Nobody can write this chip again, ever: not its URL, and not another one. It cannot be wiped.",
        ));
    } else if form.write_password == Some(true) {
        facts.push(fact(
            "Write access",
            "Only with a password of this chip, derived from the encoding root. This service can write, wipe and open it again; phones cannot.",
        ));
    } else {
        facts.push(fact(
            "Write access",
            if form.write_password.is_some() {
                "Anyone with a phone can write this chip. Lock it, or wipe it later."
            } else {
                "Anyone with a phone can write this chip. Lock it, or wipe it later. A chip that has its write password from this service keeps it."
            },
        ));
    }
    if is_lrp(form) {
        facts.push(fact(
            "Mode",
            "LRP. This cannot be undone: from then on the chip takes only URLs of LRP mode, and it cannot be wiped.",
        ));
    }
    if form.template.tamper_at.is_some() || mentions(form, Field::Tamper) {
        facts.push(fact(
            "Tamper loop",
            "Measured from then on. This cannot be undone: each tap shows whether the loop is open, or was.",
        ));
    }
    facts
}

fn fact(name: &'static str, text: impl Into<String>) -> Fact {
    let text = text.into();
    Fact { name, text }
}

/// Whether the URL has a placeholder.
fn mentions(form: &Form, field: Field) -> bool {
    let placeholder = format!("{{{}}}", field.name());
    form.template.template.contains(&placeholder)
}

fn on_each_tap(form: &Form) -> &'static str {
    let counted = mentions(form, Field::Uid) || mentions(form, Field::Counter);
    match (form.has_keys(), form.mirror) {
        (true, Some(Mirror::Plain)) => {
            "The chip writes UID and counter into the URL, in clear, and a MAC that proves them."
        }
        (true, Some(Mirror::Encrypted)) => {
            "The chip writes UID and counter into the URL, encrypted, and a MAC that proves them."
        }
        (true, None) => "The chip writes its code into the URL, as the URL template says.",
        (false, _) if counted => {
            "The chip writes its UID or counter into the URL, in clear. Anyone can write the same: taps are counted, never verified."
        }
        (false, _) => "The URL is always the same. Its taps are not checked.",
    }
}

fn keys(form: &Form) -> String {
    let of = if form.own_keys {
        "random ones: only a backup made later can open the chip"
    } else {
        "derived from the encoding root"
    };
    let encrypts = if mentions(form, Field::Picc) {
        " Key 1 encrypts UID and counter;"
    } else {
        ""
    };
    format!(
        "All five become keys of only this chip, {of}.{encrypts} key 2 makes the MAC; key 0 changes the chip."
    )
    .replace(". key 2", ". Key 2")
}
