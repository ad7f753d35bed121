//! Command-line arguments of the desktop.

use std::net::SocketAddr;

use clap::Parser;

/// Tapdesk: a desktop for people who own NFC tags.
///
/// Without options it opens its window on your own data. Without a display it only runs the
/// service.
#[derive(Debug, Parser)]
#[command(name = "tapdesk", version, after_help = ENVIRONMENT)]
pub(crate) struct Arguments {
    /// Explain why inlays cannot be read, print the command that fixes it, and exit.
    #[arg(long, conflicts_with = "kiosk")]
    pub doctor: bool,

    /// Show the kiosk of this computer instead of the window. Only on Linux so far.
    #[arg(long)]
    pub kiosk: bool,

    /// Address and port of the listener. Default: the stored settings.
    #[arg(long, env = "TAPDESK_LISTEN", value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
}

/// Further environment variables, listed at the end of `--help`.
const ENVIRONMENT: &str = "\
Environment:
  TAPDESK_DATABASE  sqlite:PATH of another database; everything is kept beside it";

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use clap::error::ErrorKind;

    use super::*;

    #[test]
    fn the_options_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn help_and_what_is_not_known_start_nothing() {
        let kind = |argument| {
            Arguments::try_parse_from(["tapdesk", argument])
                .unwrap_err()
                .kind()
        };
        assert_eq!(kind("--help"), ErrorKind::DisplayHelp);
        assert_eq!(kind("-h"), ErrorKind::DisplayHelp);
        assert_eq!(kind("--version"), ErrorKind::DisplayVersion);
        assert_eq!(kind("--kisok"), ErrorKind::UnknownArgument);
        assert_eq!(kind("serve"), ErrorKind::UnknownArgument);
    }
}
