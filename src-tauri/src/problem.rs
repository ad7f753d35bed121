//! Reasons why the service cannot start, as sentences with the ways out.

use std::fmt;
use std::io::ErrorKind;

use tapdesk_service::start::StartError;
use tapdesk_service::storage::StorageError;
use tapdesk_service::storage::sqlite::OpenError;

use crate::listener::BindError;
use crate::state::{ProblemKind, StartProblem};

/// The reason why the embedded service does not run.
#[derive(Debug)]
pub enum StartFailure {
    /// The listener cannot be bound.
    Bind(BindError),
    /// The service cannot be assembled.
    Start(StartError),
    /// The chips and codes that lead to its port cannot be counted.
    Count(StorageError),
}

impl From<BindError> for StartFailure {
    fn from(error: BindError) -> Self {
        Self::Bind(error)
    }
}

impl From<StartError> for StartFailure {
    fn from(error: StartError) -> Self {
        Self::Start(error)
    }
}

impl fmt::Display for StartProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.title, self.text)
    }
}

impl From<StartFailure> for StartProblem {
    fn from(failure: StartFailure) -> Self {
        match failure {
            StartFailure::Bind(error) => port(&error),
            StartFailure::Start(StartError::Sqlite(error)) => database(error),
            StartFailure::Start(StartError::KeyFile(error)) => Self::new(
                ProblemKind::Keys,
                "The key that unlocks your inlay keys cannot be used.",
                format!("{error} Restore the file from a backup, then try again."),
            ),
            StartFailure::Start(error) => Self::other(error.to_string()),
            StartFailure::Count(error) => Self::other(error.to_string()),
        }
    }
}

impl StartProblem {
    /// A rotation that cannot be finished now, and the reason.
    pub(crate) fn rotating(why: &str) -> Self {
        Self::new(
            ProblemKind::Keys,
            "The key that unlocks your inlay keys was being replaced, and that is not finished.",
            format!("Nothing is lost. {why}"),
        )
    }

    fn new(kind: ProblemKind, title: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            kind,
            title: title.into(),
            text: text.into(),
            path: None,
            free_port: None,
            carriers: None,
        }
    }

    /// A problem without a specific way out.
    pub(crate) fn other(text: String) -> Self {
        Self::new(ProblemKind::Other, "The service cannot start.", text)
    }
}

fn port(refused: &BindError) -> StartProblem {
    let BindError {
        port,
        error,
        free,
        carriers,
        ..
    } = refused;
    let instead = match (carriers, free) {
        (Some(carriers), _) => format!(
            "{} Close the other program and try again.",
            carriers.sentence()
        ),
        (None, Some(free)) => {
            format!("Use {free} instead, or close the other program and try again.")
        }
        (None, None) if refused.from_outside => "It is named by --listen or TAPDESK_LISTEN. \
             Name another one there, or end the other program and try again."
            .to_owned(),
        (None, None) => "Choose another port.".to_owned(),
    };
    let problem = match error.kind() {
        ErrorKind::AddrInUse => StartProblem::new(
            ProblemKind::PortInUse,
            format!("Port {port} is used by another program."),
            instead,
        ),
        ErrorKind::PermissionDenied => StartProblem::new(
            ProblemKind::Other,
            format!("The system does not let you use port {port}."),
            "Choose one of 1024 or above.",
        ),
        _ => StartProblem::new(
            ProblemKind::Other,
            format!("The service cannot listen on port {port}."),
            error.to_string(),
        ),
    };
    StartProblem {
        free_port: *free,
        carriers: *carriers,
        ..problem
    }
}

fn database(error: OpenError) -> StartProblem {
    use ProblemKind::{Damaged, DatabaseInUse, Foreign, Newer};
    let (kind, title, text, path) = match error {
        OpenError::Taken(path) => (
            DatabaseInUse,
            "The database is in use by another Tapdesk.".to_owned(),
            "Close it, then try again.".to_owned(),
            path,
        ),
        OpenError::Empty(path) => (
            Damaged,
            "The database is empty.".to_owned(),
            "A Tapdesk database is never empty, so this file is damaged. \
             Restore a backup, or create a new database."
                .to_owned(),
            path,
        ),
        OpenError::Foreign(path) => (
            Foreign,
            "The file is not a Tapdesk database.".to_owned(),
            "The file is unchanged. Restore a backup, or create a new database.".to_owned(),
            path,
        ),
        OpenError::Damaged(path, what) => (
            Damaged,
            "The database is damaged.".to_owned(),
            format!("The file is unchanged. Restore a backup, or create a new database. ({what})"),
            path,
        ),
        OpenError::Newer {
            path,
            found,
            known,
            backup,
        } => (
            Newer,
            "The database was made by a newer Tapdesk.".to_owned(),
            format!(
                "It has format {found}, and this version supports {known}. The file is unchanged: \
                 install the newer version, restore an older backup, or create a new database.{}",
                backup.map_or_else(String::new, |backup| format!(
                    " The backup from before the upgrade is {}.",
                    backup.display()
                ))
            ),
            path,
        ),
        other => return StartProblem::other(other.to_string()),
    };
    StartProblem {
        path: Some(path.display().to_string()),
        ..StartProblem::new(kind, title, text)
    }
}
