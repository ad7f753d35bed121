//! The headless binary: the service, and the commands that speak to a running one.

mod cli;
mod options;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
