//! The desktop: see the library of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    tapdesk::run()
}
