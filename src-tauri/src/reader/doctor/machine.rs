//! Facts about this machine, and the commands that suit it.

use std::path::Path;

/// Keeps the kernel from using readers, and makes it release this one.
pub(super) const FREE_THE_READER: &str = "echo 'blacklist pn533_usb' | sudo tee /etc/modprobe.d/tapdesk-reader.conf\n\
     sudo modprobe -r pn533_usb\n\
     sudo systemctl restart pcscd";
/// Starts the smart card service, now and at each boot.
const START_SERVICE: &str = "sudo systemctl enable --now pcscd.socket";
/// Lets this user use readers. The shell inserts the user's name, because the groups for readers
/// differ between distributions.
const POLKIT_RULE: &str = "sudo tee /etc/polkit-1/rules.d/50-tapdesk-reader.rules <<END\n\
     polkit.addRule(function (action, subject) {\n  \
       if (action.id.indexOf(\"org.debian.pcsc-lite.\") === 0 && subject.user === \"$USER\") return polkit.Result.YES;\n\
     });\n\
     END";

/// Facts about this machine that the advice depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Whether the kernel has loaded its own driver for readers.
    pub kernel_driver: bool,
    /// Whether the PC/SC service is installed.
    pub has_daemon: bool,
    /// Whether users cannot see other users' processes: `/proc` is mounted with `hidepid`.
    pub hides_processes: bool,
    /// The package manager, which decides the commands of the advice.
    pub packages: Packages,
}

/// The package manager of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packages {
    /// Debian, Ubuntu and their derivatives.
    Apt,
    /// Fedora and its derivatives.
    Dnf,
    /// Arch and its derivatives.
    Pacman,
    /// Another package manager, or none.
    Other,
}

impl Packages {
    fn this() -> Self {
        let is_there = |path: &&str| Path::new(path).exists();
        let known = [
            ("/usr/bin/apt-get", Self::Apt),
            ("/usr/bin/dnf", Self::Dnf),
            ("/usr/bin/pacman", Self::Pacman),
        ];
        let found = known.iter().find(|(path, _)| is_there(path));
        found.map_or(Self::Other, |(_, packages)| *packages)
    }

    /// The command that installs packages. Each distribution has its own names for them: `names` are
    /// those for `Apt`, `Dnf` and `Pacman`, empty where there are none.
    pub(crate) fn install(self, names: [&str; 3]) -> Option<String> {
        let [apt, dnf, pacman] = names;
        let (install, names) = match self {
            Self::Apt => ("apt-get install", apt),
            Self::Dnf => ("dnf install", dnf),
            Self::Pacman => ("pacman -S", pacman),
            Self::Other => return None,
        };
        (!names.is_empty()).then(|| format!("sudo {install} {names}"))
    }
}

/// Whether a list of mounts has a `/proc` that hides other users' processes (proc(5)). The option
/// has a number or, since Linux 5.8, a name. The last mount of a folder is in force.
fn hides_processes(mounts: &str) -> bool {
    let mut of_proc = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (folder, _, options) = (fields.next()?, fields.next()?, fields.next()?);
        (folder == "/proc").then_some(options)
    });
    let Some(options) = of_proc.next_back() else {
        return false;
    };
    let mut hidepid = options
        .split(',')
        .filter_map(|option| option.strip_prefix("hidepid="));
    hidepid.any(|how| !matches!(how, "0" | "off"))
}

impl Machine {
    /// Collects the facts about this machine.
    pub fn this() -> Self {
        Self {
            kernel_driver: Path::new("/sys/module/pn533_usb").exists(),
            has_daemon: ["/usr/sbin/pcscd", "/usr/bin/pcscd", "/usr/local/sbin/pcscd"]
                .iter()
                .any(|path| Path::new(path).exists()),
            hides_processes: std::fs::read_to_string("/proc/self/mounts")
                .is_ok_and(|mounts| hides_processes(&mounts)),
            packages: Packages::this(),
        }
    }

    pub(super) fn permission_text(self) -> &'static str {
        if self.hides_processes {
            "This computer hides the processes of other users (/proc is mounted with hidepid), and the smart card \
             service runs as a user of its own: it cannot see who asks, and a polkit rule does not change that. \
             Whoever administers this computer can mount /proc without hidepid, or let the service see processes \
             by the group that the option gid of that mount names."
        } else {
            "Only some users may use readers. This rule allows you. It is in force at once."
        }
    }

    pub(super) fn permission_command(self) -> Option<&'static str> {
        (!self.hides_processes).then_some(POLKIT_RULE)
    }

    /// The command that installs the drivers of readers.
    pub(super) fn driver_command(self) -> Option<String> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let drivers = ["libccid libacsccid1", "pcsc-lite-ccid", "ccid"];
        self.packages.install(drivers)
    }

    pub(super) fn service_text(self) -> &'static str {
        if cfg!(target_os = "windows") {
            "Windows starts it when a reader is plugged in. If it was turned off, start it as an administrator."
        } else if cfg!(target_os = "macos") {
            "macOS starts it when a reader is plugged in. Unplug the reader and plug it in again."
        } else if self.has_daemon {
            "It is installed, but not running."
        } else {
            "It is not installed. Tapdesk needs it to use readers."
        }
    }

    pub(super) fn service_command(self) -> Option<String> {
        if cfg!(target_os = "windows") {
            return Some("Start-Service SCardSvr".to_owned());
        }
        if cfg!(target_os = "macos") {
            return None;
        }
        if self.has_daemon {
            return Some(START_SERVICE.to_owned());
        }
        let service = ["pcscd libccid", "pcsc-lite pcsc-lite-ccid", "pcsclite ccid"];
        let install = self.packages.install(service)?;
        // Debian starts the service when it is installed; others do not.
        Some(if self.packages == Packages::Apt {
            install
        } else {
            format!("{install}\n{START_SERVICE}")
        })
    }

    #[expect(clippy::unused_self, reason = "commands are asked of the machine")]
    pub(super) fn restart_command(self) -> Option<&'static str> {
        cfg!(target_os = "linux").then_some("sudo systemctl restart pcscd")
    }

    #[expect(clippy::unused_self, reason = "commands are asked of the machine")]
    pub(super) fn sharing_command(self) -> Option<&'static str> {
        cfg!(unix).then_some(
            "gpgconf --kill scdaemon\necho 'disable-ccid' >> ~/.gnupg/scdaemon.conf\necho 'pcsc-shared' >> ~/.gnupg/scdaemon.conf",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proc_that_hides_processes_is_known_by_the_mount_in_force() {
        for (mounts, hides) in [
            ("proc /proc proc rw,nosuid,relatime 0 0", false),
            ("proc /proc proc rw,nosuid,hidepid=2,gid=26 0 0", true),
            ("proc /proc proc rw,hidepid=invisible 0 0", true),
            ("proc /proc proc rw,hidepid=1 0 0", true),
            ("proc /proc proc rw,hidepid=ptraceable,subset=pid 0 0", true),
            ("proc /proc proc rw,hidepid=0 0 0", false),
            ("proc /proc proc rw,hidepid=off 0 0", false),
            (
                "proc /proc proc rw,hidepid=2 0 0\nproc /proc proc rw 0 0",
                false,
            ),
            (
                "proc /srv/proc proc rw,hidepid=2 0 0\nproc /proc proc rw 0 0",
                false,
            ),
            ("", false),
        ] {
            assert_eq!(hides_processes(mounts), hides, "{mounts}");
        }
    }
}
