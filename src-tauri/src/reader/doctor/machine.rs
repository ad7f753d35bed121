//! What the doctor knows of this machine, and the commands that suit it.

use std::path::Path;

/// Keeps the kernel from taking readers, and makes it let go of this one.
pub(super) const FREE_THE_READER: &str = "echo 'blacklist pn533_usb' | sudo tee /etc/modprobe.d/tapdesk-reader.conf\n\
     sudo modprobe -r pn533_usb\n\
     sudo systemctl restart pcscd";
/// Lets a group use readers.
pub(super) const POLKIT_RULE: &str = "sudo tee /etc/polkit-1/rules.d/50-tapdesk-reader.rules <<'END'\n\
     polkit.addRule(function (action, subject) {\n  \
       if (action.id.indexOf(\"org.debian.pcsc-lite.\") === 0 && subject.isInGroup(\"plugdev\")) return polkit.Result.YES;\n\
     });\n\
     END\n\
     sudo usermod -aG plugdev \"$USER\"";

/// What is to be known of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Whether the kernel drives a reader itself.
    pub kernel_driver: bool,
    /// Whether the PC/SC service is installed.
    pub has_daemon: bool,
}

impl Machine {
    /// This machine.
    pub fn this() -> Self {
        Self {
            kernel_driver: Path::new("/sys/module/pn533_usb").exists(),
            has_daemon: ["/usr/sbin/pcscd", "/usr/bin/pcscd", "/usr/local/sbin/pcscd"]
                .iter()
                .any(|path| Path::new(path).exists()),
        }
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

    pub(super) fn service_command(self) -> Option<&'static str> {
        if cfg!(target_os = "windows") {
            Some("Start-Service SCardSvr")
        } else if cfg!(target_os = "macos") {
            None
        } else if self.has_daemon {
            Some("sudo systemctl enable --now pcscd.socket")
        } else {
            Some("sudo apt-get install pcscd libccid")
        }
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
