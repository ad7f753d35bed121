//! `generate`: writes the man pages and the completions of shells. Packages have them; a build
//! script would slow down each build instead.

use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Result, anyhow};
use clap::{Args, CommandFactory as _};
use clap_complete::aot::{Shell, generate_to};

use super::Cli;

#[derive(Args)]
pub(super) struct Options {
    /// The folder to write to. It is created if it is missing.
    folder: PathBuf,
}

pub(super) fn run(options: &Options) -> Result<()> {
    let folder = &options.folder;
    write(folder).map_err(|error| anyhow!("{} cannot be written to: {error}.", folder.display()))
}

fn write(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(Cli::command(), folder)?;
    for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
        generate_to(shell, &mut Cli::command(), "tapdesk-service", folder)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::*;

    /// The names of the pages for a command and for those below it that its help lists.
    fn pages(command: &Command, name: &str) -> Vec<String> {
        let listed = command
            .get_subcommands()
            .filter(|below| !below.is_hide_set());
        let below = listed.flat_map(|below| pages(below, &format!("{name}-{}", below.get_name())));
        std::iter::once(name.to_owned()).chain(below).collect()
    }

    #[test]
    fn each_listed_command_has_a_man_page_and_completions() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("not/there/yet");
        write(&folder).unwrap();

        let mut written: Vec<String> = fs::read_dir(&folder)
            .unwrap()
            .filter_map(|entry| {
                let name = entry.unwrap().file_name().into_string().unwrap();
                name.strip_suffix(".1").map(str::to_owned)
            })
            .collect();
        written.sort();
        let mut expected = pages(&Cli::command(), "tapdesk-service");
        expected.sort();
        assert_eq!(written, expected);
        assert!(
            written
                .iter()
                .any(|page| page == "tapdesk-service-token-create")
        );

        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let page = read("tapdesk-service-serve.1");
        assert!(page.contains("TAPDESK_LISTEN"), "{page}");
        for name in [
            "tapdesk-service.bash",
            "tapdesk-service.fish",
            "_tapdesk-service",
        ] {
            assert!(read(name).contains("migrate-store"), "{name}");
        }
    }
}
