//! Reasons why the kiosk does not run, for visitors and for staff.

use serde::Serialize;

use crate::state::{ProblemKind, StartProblem};

/// The end of a text about a start that is tried again, also if a person must help first: nobody has
/// to press anything afterwards.
const RETRIED: &str = "Tapdesk tries again by itself.";

/// A reason why the kiosk does not run, as its screen shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Problem {
    /// A sentence that names the missing thing.
    pub title: String,
    /// The steps that the owner can take.
    pub text: String,
    /// Whether a button may close the program, because no PIN is set that could.
    pub can_close: bool,
    /// Whether it can pass without anyone's help. Visitors are asked to wait then, and the reason is
    /// small, for staff.
    pub passes: bool,
}

impl Problem {
    /// A problem of a kiosk that cannot be left by its PIN.
    pub(super) fn closing(title: &str, text: &str) -> Self {
        Self {
            can_close: true,
            passes: false,
            ..Self::waiting(title, text.to_owned())
        }
    }

    /// A problem that can pass without anyone's help.
    pub(super) fn passing(title: &str, text: &str) -> Self {
        Self::waiting(title, format!("{text} {RETRIED}"))
    }

    fn waiting(title: &str, text: String) -> Self {
        Self {
            title: title.to_owned(),
            text,
            can_close: false,
            passes: true,
        }
    }

    /// A service that needs long for its start, for example after an update.
    pub(super) fn starting() -> Self {
        let text = "This can take some minutes after an update.";
        Self::waiting("The service is starting.", text.to_owned())
    }
}

impl From<StartProblem> for Problem {
    fn from(problem: StartProblem) -> Self {
        Self {
            passes: can_pass(problem.kind),
            ..Self::passing(&problem.title, &problem.text)
        }
    }
}

/// Whether a problem can pass without anyone's help: another process ends, a disk has room again, a
/// network is there. A file does not repair itself.
fn can_pass(kind: ProblemKind) -> bool {
    match kind {
        ProblemKind::PortInUse | ProblemKind::DatabaseInUse | ProblemKind::Other => true,
        ProblemKind::Damaged | ProblemKind::Newer | ProblemKind::Foreign | ProblemKind::Keys => {
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_start_that_is_tried_again_says_so() {
        let refused = Problem::from(StartProblem::other("No room.".to_owned()));
        assert_eq!(refused.text, "No room. Tapdesk tries again by itself.");
        let others = [Problem::starting(), Problem::closing("No PIN.", "Set one.")];
        for other in others {
            assert!(!other.text.contains(RETRIED), "{}", other.text);
        }
    }
}
