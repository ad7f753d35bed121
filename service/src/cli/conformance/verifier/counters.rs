//! The read counter: a code is accepted once, and only after those before it.

use tapdesk_service::inlay::template::Field;

use super::Verifier;
use super::code::{self, COUNTER_END};
use super::macs::inverted;
use super::texts::lower;
use crate::cli::conformance::check::{Check, Judged, Verdict, failed, judged, not_checked};
use crate::cli::conformance::web::at_once;

/// The chip raises its counter at each read, so a repeated one is a copy.
const COUNTER: &str = "NT4H2421Gx 9.3.2, AN12196 section 3";
/// The rule about forged codes.
const FORGED: &str = "decisions, tap: How is tag_verified set?";
/// Requests that are sent at once. Enough that some overlap, on a slow machine, too.
const AT_ONCE: usize = 8;
/// Reads that never reach the verifier, for example without a connection.
const GAP: u32 = 20;

pub(super) fn checks() -> Vec<Check<Verifier>> {
    vec![
        Check::new("replay", COUNTER, replay),
        Check::new("replay-later", COUNTER, replay_later),
        Check::new("replay-lower-case", COUNTER, replay_lower_case),
        Check::new("replay-other-picc", COUNTER, replay_other_picc),
        Check::new("replay-at-once", COUNTER, replay_at_once),
        Check::new("replay-after-restart", COUNTER, replay_after_restart),
        Check::new("counter-gap", "decisions, inlays: The counter jumps", gap),
        Check::new("counter-backwards", COUNTER, backwards),
        Check::new("forgery-keeps-counter", FORGED, forgery_of_same),
        Check::new("forgery-ahead-keeps-counter", FORGED, forgery_ahead),
        Check::new("other-chip-own-counter", COUNTER, other_chip),
        Check::new("counter-third-byte", COUNTER, third_byte),
        Check::new(
            "counter-third-byte-backwards",
            COUNTER,
            third_byte_backwards,
        ),
    ]
}

/// Sends a fresh code that the verifier accepts, and returns its URL. The verdict explains why a
/// check cannot go on.
fn accepted(verifier: &mut Verifier) -> Result<Result<String, Verdict>, ureq::Error> {
    let counter = verifier.fresh();
    let url = verifier.url(&verifier.code(counter));
    if verifier.signal.is_none() {
        return Ok(Err(not_checked(super::NOTHING_ACCEPTED)));
    }
    if verifier.accepts_url(&url)? {
        return Ok(Ok(url));
    }
    Ok(Err(failed("A fresh code is refused before the check.")))
}

/// Goes on with the URL of an accepted code, or returns the verdict that there is none.
macro_rules! accepted {
    ($verifier:expr) => {
        match accepted($verifier)? {
            Ok(url) => url,
            Err(verdict) => return Ok(verdict),
        }
    };
}

fn named(name: &str, url: String) -> [(String, String); 1] {
    [(name.to_owned(), url)]
}

fn replay(verifier: &mut Verifier) -> Judged {
    let url = accepted!(verifier);
    verifier.must_refuse("The same URL a second time", &named("the second time", url))
}

fn replay_later(verifier: &mut Verifier) -> Judged {
    let url = accepted!(verifier);
    for _ in 0..3 {
        accepted!(verifier);
    }
    let urls = named("a URL from four reads before", url);
    verifier.must_refuse("An old URL", &urls)
}

/// A verifier that keeps URLs instead of counters takes it for another one.
fn replay_lower_case(verifier: &mut Verifier) -> Judged {
    let counter = verifier.fresh();
    let code = verifier.code(counter);
    let url = verifier.url(&code);
    if verifier.signal.is_none() || !verifier.accepts_url(&url)? {
        return Ok(not_checked(super::NOTHING_ACCEPTED));
    }
    let urls = named("the same code in lower case", lower(&url, &code));
    verifier.must_refuse("A replay in lower case", &urls)
}

/// The same counter in other PICC data. The chip draws new randomness, and the MAC may not cover it.
fn replay_other_picc(verifier: &mut Verifier) -> Judged {
    if !verifier.template.has(Field::Picc) || verifier.template.mac_covers(Field::Picc) {
        return Ok(not_checked(
            "The template has no PICC data, or its MAC covers them.",
        ));
    }
    let counter = verifier.fresh();
    let code = verifier.code(counter);
    if verifier.signal.is_none() || !verifier.accepts(&code)? {
        return Ok(not_checked(super::NOTHING_ACCEPTED));
    }
    let picc = code::other_picc(&verifier.keys, verifier.uid, counter);
    let code = code.with(Field::Picc, &picc);
    verifier.must_refuse_code("The same counter in other PICC data", &code)
}

/// Of copies that arrive at once, one is accepted.
#[expect(clippy::unnecessary_wraps, reason = "every check has this type")]
fn replay_at_once(verifier: &mut Verifier) -> Judged {
    if verifier.signal.is_none() {
        return Ok(not_checked(super::NOTHING_ACCEPTED));
    }
    let counter = verifier.fresh();
    let url = verifier.url(&verifier.code(counter));
    let subject = &*verifier;
    let answers = at_once(AT_ONCE, || subject.accepts_url(&url));
    let accepted = answers.iter().flatten().filter(|accepted| **accepted);
    let accepted = accepted.count();
    let bad = format!("{accepted} of {AT_ONCE} copies that arrive at once are accepted.");
    Ok(judged(
        accepted == 1,
        "Of copies that arrive at once, one is accepted.",
        bad,
    ))
}

#[expect(clippy::unnecessary_wraps, reason = "every check has this type")]
fn replay_after_restart(verifier: &mut Verifier) -> Judged {
    if verifier.used.is_empty() {
        return Ok(not_checked(
            "Give URLs that it accepted before it was restarted, with --used-url.",
        ));
    }
    let Some(signal) = &verifier.signal else {
        return Ok(not_checked(super::NOTHING_ACCEPTED));
    };
    let accepted = verifier.used.iter().filter(|seen| signal.accepts(seen));
    let accepted = accepted.count();
    let bad = format!("{accepted} of the URLs that were used before are accepted.");
    Ok(judged(
        accepted == 0,
        "A URL that was used before is refused.",
        bad,
    ))
}

fn gap(verifier: &mut Verifier) -> Judged {
    accepted!(verifier);
    verifier.counter = (verifier.counter + GAP).min(COUNTER_END);
    let counter = verifier.fresh();
    let code = verifier.code(counter);
    verifier.must_accept(&code, "A code after reads that never arrived")
}

/// A code that was never sent, from before one that was accepted.
fn backwards(verifier: &mut Verifier) -> Judged {
    let before = verifier.fresh();
    accepted!(verifier);
    let code = verifier.code(before);
    verifier.must_refuse_code("A counter below the last one", &code)
}

/// A forged code costs the real chip nothing.
fn forgery_of_same(verifier: &mut Verifier) -> Judged {
    let counter = verifier.fresh();
    after_forgery(verifier, counter, counter)
}

fn forgery_ahead(verifier: &mut Verifier) -> Judged {
    let counter = verifier.fresh();
    let forged = code::next_counter(counter + GAP);
    // The next checks are above it, so that they find their own faults.
    verifier.counter = (forged + 1).min(COUNTER_END);
    after_forgery(verifier, counter, forged)
}

/// Sends a wrong MAC with the counter `forged`, then the code of `counter`.
fn after_forgery(verifier: &mut Verifier, counter: u32, forged: u32) -> Judged {
    if verifier.signal.is_none() {
        return Ok(not_checked(super::NOTHING_ACCEPTED));
    }
    let code = verifier.code(forged);
    let mac = inverted(code.get(Field::Mac).unwrap_or_default());
    verifier.ask(&verifier.url(&code.with(Field::Mac, &mac)))?;
    let code = verifier.code(counter);
    verifier.must_accept(&code, "A genuine code after a forged one")
}

/// Each chip has a counter of its own, so that of another may be lower.
fn other_chip(verifier: &mut Verifier) -> Judged {
    let Some(other) = verifier.other_uid else {
        return Ok(not_checked(
            "Give the UID of another inlay, with --other-uid.",
        ));
    };
    let (counter, rule) = (verifier.fresh(), verifier.rule);
    accepted!(verifier);
    let code = verifier.code_of(other, rule, counter);
    verifier.must_accept(&code, "A lower counter of another chip")
}

/// A counter whose third byte is used: it has 24 bits.
fn third_byte(verifier: &mut Verifier) -> Judged {
    if verifier.signal.is_none() {
        return Ok(not_checked(super::NOTHING_ACCEPTED));
    }
    let next = ((verifier.counter >> 16) + 1) << 16;
    if next + 0x1_0000 > COUNTER_END {
        return Ok(not_checked(
            "The counter is near its end: begin with a lower --counter.",
        ));
    }
    verifier.counter = next + 0x0203;
    let counter = verifier.fresh();
    let code = verifier.code(counter);
    verifier.must_accept(&code, "A counter above FFFFh")
}

/// A lower counter whose two low bytes are higher.
fn third_byte_backwards(verifier: &mut Verifier) -> Judged {
    if verifier.signal.is_none() {
        return Ok(not_checked(super::NOTHING_ACCEPTED));
    }
    let last = verifier.counter;
    if last >> 16 == 0 {
        return Ok(not_checked("No counter above FFFFh was sent."));
    }
    let before = code::next_counter((last & 0x00FF_0000) - 0x100);
    let code = verifier.code(before);
    verifier.must_refuse_code("A lower counter with higher low bytes", &code)
}
