//! Checks, and their results.

use super::web;

/// The result of a check, with one sentence that explains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) outcome: Outcome,
    pub(super) detail: String,
}

/// Whether a rule holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The rule holds for the subject.
    Passed,
    /// The subject breaks the rule.
    Failed,
    /// The run has no means to see it, or the rule does not concern the subject.
    NotChecked,
}

impl Outcome {
    /// The word for it in the report.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            // In capitals, because it must be found in a long list without colour.
            Self::Failed => "FAILED",
            Self::NotChecked => "not checked",
        }
    }
}

/// The verdict of a check, or the reason why a request got no answer.
pub(super) type Judged = Result<Verdict, ureq::Error>;

type Run<C> = Box<dyn Fn(&mut C) -> Judged>;

/// A check of a subject `C`.
pub(super) struct Check<C> {
    /// The name, which stays the same in later versions: people filter reports by it.
    pub(super) name: &'static str,
    /// The document and section that has the rule.
    pub(super) source: &'static str,
    run: Run<C>,
}

impl<C> Check<C> {
    pub(super) fn new(
        name: &'static str,
        source: &'static str,
        run: impl Fn(&mut C) -> Judged + 'static,
    ) -> Self {
        Self {
            name,
            source,
            run: Box::new(run),
        }
    }

    /// Runs it. A subject that gives no answer to one request fails this check only.
    pub(super) fn find(&self, subject: &mut C) -> Finding {
        let verdict = (self.run)(subject);
        Finding {
            name: self.name,
            source: self.source,
            verdict: verdict.unwrap_or_else(|error| failed(web::unanswered(&error))),
        }
    }
}

/// A check that has run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) name: &'static str,
    pub(super) source: &'static str,
    pub(super) verdict: Verdict,
}

pub(super) fn passed(detail: impl Into<String>) -> Verdict {
    verdict(Outcome::Passed, detail)
}

pub(super) fn failed(detail: impl Into<String>) -> Verdict {
    verdict(Outcome::Failed, detail)
}

pub(super) fn not_checked(detail: impl Into<String>) -> Verdict {
    verdict(Outcome::NotChecked, detail)
}

/// Passed if `holds`; `good` or `bad` explains it.
pub(super) fn judged(holds: bool, good: impl Into<String>, bad: impl Into<String>) -> Verdict {
    if holds { passed(good) } else { failed(bad) }
}

fn verdict(outcome: Outcome, detail: impl Into<String>) -> Verdict {
    let detail = detail.into();
    Verdict { outcome, detail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_that_gives_no_answer_fails_one_check() {
        let check = Check::new("a", "b", |(): &mut ()| Err(ureq::Error::HostNotFound));
        let found = check.find(&mut ());
        assert_eq!(found.verdict.outcome, Outcome::Failed);
        assert!(found.verdict.detail.starts_with("It gives no answer: "));
    }
}
