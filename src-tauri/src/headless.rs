//! The service without a window, over the same data.

use std::io::{self, Write as _};
use std::process::ExitCode;

use crate::carriers::Carriers;
use crate::shell::Shell;
use crate::signals;
use crate::state::ShellState;

/// Runs the service until the system asks the process to end.
pub(crate) async fn run(shell: &Shell) -> ExitCode {
    let asked = match signals::asked_to_end() {
        Ok(asked) => asked,
        Err(error) => {
            tracing::error!("signals cannot be received: {error}");
            return ExitCode::FAILURE;
        }
    };
    shell.start().await;
    let said = match shell.state() {
        ShellState::Ready(ready) => {
            if let Some(moved) = ready.moved {
                tracing::warn!("{}", left(moved));
            }
            writeln!(
                io::stdout(),
                "There is no display here, so Tapdesk runs without its window, on {}.\nlistening on {}",
                ready.database,
                ready.address
            )
        }
        ShellState::Failed { problem } => {
            let _ = writeln!(io::stderr(), "tapdesk: {problem}");
            return ExitCode::FAILURE;
        }
        ShellState::Starting | ShellState::Rotating { .. } => return ExitCode::FAILURE,
    };
    if let Err(error) = said {
        tracing::warn!("the address cannot be printed: {error}");
    }
    asked.await;
    shell.stop().await;
    ExitCode::SUCCESS
}

/// A sentence that says that the service left its port, and whether that matters.
fn left(moved: Carriers) -> String {
    if moved.any() {
        format!("{} The service listens on another one.", moved.sentence())
    } else {
        format!(
            "Port {} is used by another program. Nothing leads there yet, so another one is used.",
            moved.port
        )
    }
}
