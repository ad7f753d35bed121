//! Finds how the verifier answers a code that it accepts, and by which rule it accepts codes.
//!
//! A verifier with a mistake refuses genuine codes. Codes with the same mistake are then tried, so
//! that the other checks still find something out, and the report names the mistake.

use tapdesk_service::inlay::template::Field;

use super::Verifier;
use super::code::{Input, Kept, Rule, SessionRule, Shown, Slots};
use super::signal::{Seen, Signal};

const SESSIONS: [SessionRule; 7] = [
    SessionRule::Sv2,
    SessionRule::FileKey,
    SessionRule::Sv1,
    SessionRule::NoUid,
    SessionRule::NoCounter,
    SessionRule::UidReversed,
    SessionRule::CounterMsbFirst,
];
const KEPT: [Kept; 4] = [Kept::Odd, Kept::Even, Kept::First, Kept::Last];

/// The rules to try: the chip's, then those with mistakes of the MAC, then with one other mistake.
fn rules() -> Vec<Rule> {
    let mut rules = Vec::new();
    for kept in KEPT {
        rules.extend(SESSIONS.map(|session| Rule {
            session,
            kept,
            ..Rule::CHIP
        }));
    }
    rules.extend([Input::Empty, Input::Url].map(|input| Rule {
        input,
        ..Rule::CHIP
    }));
    rules.extend(
        [Shown::UidReversed, Shown::CounterReversed].map(|shown| Rule {
            shown,
            ..Rule::CHIP
        }),
    );
    rules.extend(
        [Slots::Swapped, Slots::MetaTwice, Slots::FileTwice].map(|slots| Rule {
            slots,
            ..Rule::CHIP
        }),
    );
    rules
}

impl Verifier {
    /// Compares answers. Leaves the rule and the signal as they are if nothing is accepted.
    pub(super) fn find_baseline(&mut self) -> Result<(), ureq::Error> {
        let wrong = [self.ask_wrong()?, self.ask_wrong()?];
        for rule in rules() {
            if self.try_rule(rule, &wrong)? {
                self.rule = rule;
                return Ok(());
            }
        }
        // It does not look at the MAC, or not at all of it: then only a malformed code is wrong.
        let malformed = [
            self.ask_malformed("")?,
            self.ask_malformed("not-hex-digits")?,
        ];
        self.try_rule(Rule::CHIP, &malformed)?;
        Ok(())
    }

    /// Whether two codes of this rule are answered unlike the wrong ones. Keeps the signal.
    fn try_rule(&mut self, rule: Rule, wrong: &[Seen]) -> Result<bool, ureq::Error> {
        let first = self.ask_right(rule)?;
        if let Some(Signal::Text(_)) = &self.signal {
            return Ok(self
                .signal
                .as_ref()
                .is_some_and(|signal| signal.accepts(&first)));
        }
        // Most rules are refused, and then one request is enough.
        if Signal::find(std::slice::from_ref(&first), wrong).is_none() {
            return Ok(false);
        }
        let right = [first, self.ask_right(rule)?];
        self.signal = Signal::find(&right, wrong);
        Ok(self.signal.is_some())
    }

    fn ask_right(&mut self, rule: Rule) -> Result<Seen, ureq::Error> {
        let counter = self.fresh();
        self.ask(&self.url(&self.code_by(rule, counter)))
    }

    /// The answer to a code with a MAC that is wrong in each byte.
    fn ask_wrong(&mut self) -> Result<Seen, ureq::Error> {
        let code = self.with_mac(super::macs::inverted);
        self.ask(&self.url(&code))
    }

    fn ask_malformed(&mut self, value: &str) -> Result<Seen, ureq::Error> {
        let counter = self.fresh();
        let mut code = self.code_by(Rule::CHIP, counter);
        for field in [Field::Uid, Field::Picc, Field::Mac] {
            if self.template.has(field) {
                code.set(field, value);
            }
        }
        self.ask(&self.url(&code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chips_own_rule_is_tried_first_and_no_rule_twice() {
        let rules = rules();
        assert_eq!(rules.first(), Some(&Rule::CHIP));
        for (index, rule) in rules.iter().enumerate() {
            assert!(!rules[..index].contains(rule), "{rule:?}");
        }
    }
}
