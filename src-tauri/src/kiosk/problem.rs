//! Reasons why the kiosk does not run, for visitors and for staff.

use serde::Serialize;

use crate::state::{ProblemKind, StartProblem};

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
            ..Self::passing(title, text.to_owned())
        }
    }

    /// A problem that can pass without anyone's help.
    pub(super) fn passing(title: &str, text: String) -> Self {
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
        Self::passing("The service is starting.", text.to_owned())
    }
}

impl From<StartProblem> for Problem {
    fn from(problem: StartProblem) -> Self {
        Self {
            passes: can_pass(problem.kind),
            ..Self::passing(&problem.title, problem.text)
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
