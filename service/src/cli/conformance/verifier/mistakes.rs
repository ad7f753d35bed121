//! Codes that a verifier with a common mistake would accept.

use tapdesk_service::inlay::template::Field;

use super::Verifier;
use super::code::{Input, Kept, Rule, SessionRule, Shown, Slots};
use crate::cli::conformance::check::{Check, Judged, not_checked};

/// A change of a rule.
type Mistake = fn(Rule) -> Rule;

const SESSION: &str = "NT4H2421Gx 9.3.9.1, AN12196 table 2";
const MAC: &str = "NT4H2421Gx 9.3.8";
const PICC: &str = "NT4H2421Gx 9.3.4, AN12196 table 3";
const KEYS: &str = "NT4H2421Gx 9.3.4 and 9.3.9.1";

/// Name, source, and the mistake of each check. The first sentence of the detail is the subject.
const MISTAKES: [(&str, &str, &str, Mistake); 16] = [
    ("session-key", SESSION, "A MAC under the file key", |rule| {
        session(rule, SessionRule::FileKey)
    }),
    ("session-label", SESSION, "A session key of SV1", |rule| {
        session(rule, SessionRule::Sv1)
    }),
    (
        "session-uid",
        SESSION,
        "A session key without the UID",
        |rule| session(rule, SessionRule::NoUid),
    ),
    (
        "session-counter",
        SESSION,
        "A session key without the counter",
        |rule| session(rule, SessionRule::NoCounter),
    ),
    (
        "session-uid-order",
        SESSION,
        "A session key with the UID reversed",
        |rule| session(rule, SessionRule::UidReversed),
    ),
    (
        "session-counter-order",
        SESSION,
        "A session key with the counter MSB first",
        |rule| session(rule, SessionRule::CounterMsbFirst),
    ),
    ("mac-odd-bytes", MAC, "The even bytes of the CMAC", |rule| {
        kept(rule, Kept::Even)
    }),
    (
        "mac-not-first-half",
        MAC,
        "The first half of the CMAC",
        |rule| kept(rule, Kept::First),
    ),
    (
        "mac-not-last-half",
        MAC,
        "The last half of the CMAC",
        |rule| kept(rule, Kept::Last),
    ),
    (
        "mac-input-not-empty",
        MAC,
        "A MAC over an empty text",
        |rule| input(rule, Input::Empty),
    ),
    (
        "mac-input-not-url",
        MAC,
        "A MAC over the whole URL",
        |rule| input(rule, Input::Url),
    ),
    ("uid-order", PICC, "A UID in reversed order", |rule| {
        shown(rule, Shown::UidReversed)
    }),
    (
        "counter-order",
        PICC,
        "A counter in reversed order",
        |rule| shown(rule, Shown::CounterReversed),
    ),
    (
        "keys-not-swapped",
        KEYS,
        "A code with swapped keys",
        |rule| slots(rule, Slots::Swapped),
    ),
    (
        "file-key",
        KEYS,
        "A code with the meta key as file key",
        |rule| slots(rule, Slots::MetaTwice),
    ),
    (
        "meta-key",
        KEYS,
        "A code with the file key as meta key",
        |rule| slots(rule, Slots::FileTwice),
    ),
];

fn session(rule: Rule, session: SessionRule) -> Rule {
    Rule { session, ..rule }
}

fn kept(rule: Rule, kept: Kept) -> Rule {
    Rule { kept, ..rule }
}

fn input(rule: Rule, input: Input) -> Rule {
    Rule { input, ..rule }
}

fn shown(rule: Rule, shown: Shown) -> Rule {
    Rule { shown, ..rule }
}

fn slots(rule: Rule, slots: Slots) -> Rule {
    Rule { slots, ..rule }
}

pub(super) fn checks() -> Vec<Check<Verifier>> {
    let mistakes = MISTAKES.into_iter();
    let checks = mistakes.map(|(name, source, subject, mistake)| {
        Check::new(name, source, move |verifier: &mut Verifier| {
            refused(verifier, subject, mistake)
        })
    });
    let mut checks: Vec<_> = checks.collect();
    checks.push(Check::new(
        "picc-needs-counter",
        "NT4H2421Gx 9.3.4; without a counter, nothing stops a replay",
        without_counter,
    ));
    checks
}

/// A chip can leave its counter out of the PICC data, and then repeats one code.
fn without_counter(verifier: &mut Verifier) -> Judged {
    if !verifier.template.has(Field::Picc) {
        return Ok(not_checked("The template has no PICC data."));
    }
    let counter = verifier.fresh();
    let code = verifier.code_by(shown(verifier.rule, Shown::NoCounter), counter);
    verifier.must_refuse_code("A code of PICC data without a counter", &code)
}

/// Sends a code with this mistake, and one with it on top of the mistakes by which the verifier
/// accepts codes.
fn refused(verifier: &mut Verifier, subject: &str, mistake: Mistake) -> Judged {
    let counter = verifier.fresh();
    let wrong = verifier.code_by(mistake(Rule::CHIP), counter);
    if wrong == verifier.code_by(Rule::CHIP, counter) {
        return Ok(not_checked(
            "With these keys and this template, the mistake makes the right code.",
        ));
    }
    let mut urls = vec![(subject.to_owned(), verifier.url(&wrong))];
    if verifier.rule != Rule::CHIP {
        let counter = verifier.fresh();
        let more = verifier.code_by(mistake(verifier.rule), counter);
        urls.push((
            format!("{subject} beside another mistake"),
            verifier.url(&more),
        ));
    }
    verifier.must_refuse(subject, &urls)
}
