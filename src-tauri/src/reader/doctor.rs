//! Explains why nothing can be read: each cause in words, with the command or the setting that
//! fixes it. It reads no card, so no counter rises.

mod machine;

use std::fmt;
use std::time::Duration;

use serde::Serialize;

pub use machine::{Machine, Packages};

use super::board::{OnReader, Table};
use super::card::{Context as _, Fault, Occupant, Slot, Stack};
use super::inlay::Chip;
use super::monitor::is_module;

/// A result of the doctor: a problem, or that a reader works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "DoctorFinding"))]
pub struct Finding {
    /// The kind of finding, for programs.
    pub kind: Kind,
    /// The finding in one sentence.
    pub title: String,
    /// The cause and the remedy.
    pub text: String,
    /// A command to paste into a terminal, if one helps.
    pub command: Option<String>,
}

/// The kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "DoctorKind"))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A reader works, so this is no problem.
    Ready,
    /// The PC/SC service is not running.
    NoService,
    /// The user may not use the PC/SC service.
    Permission,
    /// No reader is connected.
    NoReader,
    /// The kernel uses the reader itself.
    DriverTaken,
    /// Another program uses the card exclusively.
    Sharing,
    /// A slot of a security module, or of a card with contacts, is listed next to the reader's own.
    Module,
    /// The card is of an unsupported kind.
    UnsupportedCard,
    /// The reader does not answer.
    Unavailable,
    /// The card does not answer.
    Mute,
    /// The kiosk of this machine lacks a font. It concerns no reader.
    NoFont,
}

impl Kind {
    /// Whether inlays cannot be read because of it.
    pub fn is_problem(self) -> bool {
        !matches!(self, Self::Ready | Self::Module)
    }
}

/// A fact about the readers that is visible without reading a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sight {
    /// The PC/SC service cannot be used at all.
    Closed(Fault),
    /// A reader that seems to work.
    Reader(String),
    /// A slot of a security module.
    Module(String),
    /// A reader that does not answer.
    Unavailable(String),
    /// A card that cannot be used, and the reason.
    Card(String, Fault),
    /// A card of an unsupported kind.
    Foreign(String),
}

/// The facts that the system's PC/SC service shows at this moment.
pub fn look(stack: &mut impl Stack) -> Vec<Sight> {
    let context = stack.establish().and_then(|mut context| {
        let slots = context.slots(Duration::ZERO)?;
        Ok((context, slots))
    });
    match context {
        Err(fault) => vec![Sight::Closed(fault)],
        Ok((mut context, slots)) => {
            let sights = slots.into_iter().map(|slot| sight(&mut context, slot));
            sights.collect()
        }
    }
}

fn sight(context: &mut impl super::card::Context, slot: Slot) -> Sight {
    let is_module = is_module(&slot);
    let Slot {
        reader, occupant, ..
    } = slot;
    match occupant {
        _ if is_module => Sight::Module(reader),
        Occupant::Unavailable => Sight::Unavailable(reader),
        Occupant::Mute => Sight::Card(reader, Fault::Mute),
        Occupant::Nothing => Sight::Reader(reader),
        Occupant::Card { .. } => match context.with_card(&reader, |_| ()) {
            Ok(()) => Sight::Reader(reader),
            Err(fault) => Sight::Card(reader, fault),
        },
    }
}

/// The facts that a table of the board shows.
pub fn sights(table: &Table) -> Vec<Sight> {
    if let Some(trouble) = &table.fault {
        return vec![Sight::Closed(match trouble.kind {
            "denied" => Fault::Denied,
            _ => Fault::NoService,
        })];
    }
    let places = table.readers.iter().map(|place| {
        let name = place.name.clone();
        match &place.on {
            OnReader::Module => Sight::Module(name),
            OnReader::Unavailable => Sight::Unavailable(name),
            OnReader::Inlay(placed) if placed.reading.chip == Chip::Unknown => Sight::Foreign(name),
            OnReader::Nothing | OnReader::Inlay(_) => Sight::Reader(name),
            OnReader::Failed(failed) => match failed.trouble.kind {
                "sharing" => Sight::Card(name, Fault::Sharing),
                "mute" => Sight::Card(name, Fault::Mute),
                "unsupported" => Sight::Card(name, Fault::Unsupported),
                _ => Sight::Reader(name),
            },
        }
    });
    places.collect()
}

/// The findings for `sights`, with the problems first.
pub fn examine(sights: &[Sight], machine: Machine) -> Vec<Finding> {
    let mut findings: Vec<_> = sights.iter().map(|sight| finding(sight, machine)).collect();
    let has_reader = sights
        .iter()
        .any(|sight| !matches!(sight, Sight::Closed(_) | Sight::Module(_)));
    let is_closed = matches!(sights, [Sight::Closed(_)]);
    if !has_reader && !is_closed {
        findings.push(if machine.kernel_driver {
            driver_taken()
        } else {
            no_reader(machine)
        });
    }
    findings.sort_by_key(|finding| !finding.kind.is_problem());
    findings
}

fn finding(sight: &Sight, machine: Machine) -> Finding {
    match sight {
        Sight::Closed(Fault::Denied) => new(
            Kind::Permission,
            "You are not allowed to use the smart card service.".to_owned(),
            machine.permission_text(),
            machine.permission_command(),
        ),
        Sight::Closed(_) => new(
            Kind::NoService,
            "The system's smart card service is not running.".to_owned(),
            machine.service_text(),
            machine.service_command().as_deref(),
        ),
        Sight::Reader(name) => new(
            Kind::Ready,
            format!("{name} is ready."),
            "Place an inlay on it.",
            None,
        ),
        Sight::Module(name) => new(
            Kind::Module,
            format!("{name} is no slot for inlays."),
            "It is for a security module, or for a card with contacts. Some readers list it beside the slot for inlays. \
             You need to do nothing.",
            None,
        ),
        Sight::Unavailable(name) => new(
            Kind::Unavailable,
            format!("{name} does not answer."),
            "Unplug it, wait a moment, and plug it in again without a hub.",
            machine.restart_command(),
        ),
        Sight::Card(name, Fault::Sharing) => new(
            Kind::Sharing,
            format!("Another program has exclusive use of the card on {name}."),
            "Often it is GnuPG, which opens every card. End it, or close the other program that uses cards. \
             Tapdesk then reads the inlay by itself.",
            machine.sharing_command(),
        ),
        Sight::Card(name, Fault::Mute) => new(
            Kind::Mute,
            format!("The card on {name} does not answer."),
            "Place only this card flat on the middle of the reader, away from metal. If no inlay can be read, the chip may be broken.",
            None,
        ),
        Sight::Card(name, fault) => new(
            Kind::UnsupportedCard,
            format!("The card on {name} cannot be used."),
            &fault.to_string(),
            None,
        ),
        Sight::Foreign(name) => new(
            Kind::UnsupportedCard,
            format!("The card on {name} is not a tag."),
            "It has no message that phones can read. Tapdesk reads NFC tags such as NTAG 424 DNA, NTAG213, NTAG215, \
             NTAG216 and MIFARE Ultralight, but no payment cards, key cards or MIFARE Classic.",
            None,
        ),
    }
}

fn no_reader(machine: Machine) -> Finding {
    new(
        Kind::NoReader,
        "No reader is connected.".to_owned(),
        "Connect a USB reader for contactless cards, such as an ACR122U, an ACR1252U or a uTrust 3700 F. If it is \
         connected, install its driver: CCID for most readers, that of ACS for some of theirs.",
        machine.driver_command().as_deref(),
    )
}

fn driver_taken() -> Finding {
    new(
        Kind::DriverTaken,
        "A kernel driver uses the reader.".to_owned(),
        "The module pn533_usb uses readers with a PN533 chip, such as the ACR122U, so the smart card service \
         cannot. Block the module, then unplug the reader and plug it in again.",
        Some(machine::FREE_THE_READER),
    )
}

/// A part of a reader's name comes from the device, and the doctor prints titles to a terminal: so
/// control characters are left out.
fn new(kind: Kind, mut title: String, text: &str, command: Option<&str>) -> Finding {
    title.retain(|c| !c.is_control());
    Finding {
        kind,
        title,
        text: text.to_owned(),
        command: command.map(str::to_owned),
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.kind.is_problem() { "✗" } else { "✓" };
        write!(f, "{mark} {}\n  {}", self.title, self.text)?;
        match &self.command {
            Some(command) => write!(f, "\n\n    {}\n", command.replace('\n', "\n    ")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: Machine = Machine {
        kernel_driver: false,
        has_daemon: true,
        hides_processes: false,
        packages: Packages::Apt,
    };

    fn kinds(sights: &[Sight], machine: Machine) -> Vec<Kind> {
        let findings = examine(sights, machine);
        findings.into_iter().map(|finding| finding.kind).collect()
    }

    #[test]
    fn each_cause_is_told_apart() {
        let name = || "ACS ACR122U 00 00".to_owned();
        for (sights, kind) in [
            (vec![Sight::Closed(Fault::NoService)], Kind::NoService),
            (vec![Sight::Closed(Fault::Denied)], Kind::Permission),
            (vec![], Kind::NoReader),
            (vec![Sight::Unavailable(name())], Kind::Unavailable),
            (vec![Sight::Card(name(), Fault::Sharing)], Kind::Sharing),
            (vec![Sight::Card(name(), Fault::Mute)], Kind::Mute),
            (
                vec![Sight::Card(name(), Fault::Unsupported)],
                Kind::UnsupportedCard,
            ),
            (vec![Sight::Foreign(name())], Kind::UnsupportedCard),
            (vec![Sight::Reader(name())], Kind::Ready),
        ] {
            assert_eq!(kinds(&sights, MACHINE), [kind], "{sights:?}");
        }
    }

    #[test]
    fn no_name_of_a_reader_controls_the_terminal() {
        let name = || "Reader\u{1b}[2J\r\n(\u{9b}31m) 00 00".to_owned();
        for sight in [
            Sight::Reader(name()),
            Sight::Module(name()),
            Sight::Unavailable(name()),
            Sight::Card(name(), Fault::Sharing),
            Sight::Foreign(name()),
        ] {
            for Finding { title, .. } in examine(&[sight], MACHINE) {
                assert!(!title.contains(char::is_control), "{title:?}");
            }
        }
    }

    #[test]
    fn a_reader_that_the_kernel_took_is_not_merely_missing() {
        let taken = Machine {
            kernel_driver: true,
            ..MACHINE
        };
        assert_eq!(kinds(&[], taken), [Kind::DriverTaken]);
        let seen = [Sight::Reader("uTrust 3700 F".to_owned())];
        assert_eq!(
            kinds(&seen, taken),
            [Kind::Ready],
            "another reader is there"
        );
    }

    #[test]
    fn the_slot_of_a_module_is_no_reader_and_no_problem() {
        let module = Sight::Module("ACS ACR1252 [SAM Interface] 01 00".to_owned());
        let reader = Sight::Reader("ACS ACR1252 [PICC Interface] 00 00".to_owned());
        assert_eq!(
            kinds(std::slice::from_ref(&module), MACHINE),
            [Kind::NoReader, Kind::Module]
        );
        assert_eq!(
            kinds(&[module, reader], MACHINE),
            [Kind::Module, Kind::Ready]
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_rule_needs_no_group_and_is_not_promised_where_processes_are_hidden() {
        let finding = |machine| {
            let [finding] = &examine(&[Sight::Closed(Fault::Denied)], machine)[..] else {
                panic!("one finding");
            };
            finding.clone()
        };
        for packages in [
            Packages::Apt,
            Packages::Dnf,
            Packages::Pacman,
            Packages::Other,
        ] {
            let machine = Machine {
                packages,
                ..MACHINE
            };
            let finding = finding(machine);
            let command = finding.command.unwrap();
            // A group of Debian does not exist on Fedora and Arch.
            assert!(!command.contains("isInGroup") && !command.contains("usermod"));
            assert!(command.contains("subject.user === \"$USER\""), "{command}");
            // The shell inserts the user's name, so the text must not be quoted as a whole.
            assert!(command.contains("<<END\n"), "{command}");
            assert!(!finding.text.contains("plugdev") && !finding.text.contains("Sign out"));
        }
        let hidden = finding(Machine {
            hides_processes: true,
            ..MACHINE
        });
        assert_eq!(hidden.kind, Kind::Permission);
        assert!(hidden.text.contains("hidepid"), "{hidden}");
        assert!(
            !hidden
                .command
                .unwrap_or_default()
                .contains("polkit.addRule")
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn packages_are_installed_by_the_program_of_the_distribution() {
        let without_daemon = |packages| Machine {
            has_daemon: false,
            packages,
            ..MACHINE
        };
        for (packages, paste) in [
            (Packages::Apt, Some("sudo apt-get install pcscd libccid")),
            (
                Packages::Dnf,
                Some("sudo dnf install pcsc-lite pcsc-lite-ccid"),
            ),
            (Packages::Pacman, Some("sudo pacman -S pcsclite ccid")),
            (Packages::Other, None),
        ] {
            let machine = without_daemon(packages);
            let findings = examine(&[Sight::Closed(Fault::NoService)], machine);
            let command = findings[0].command.as_deref();
            assert!(
                command.map(|command| command.lines().next().unwrap()) == paste,
                "{command:?}"
            );
            let findings = examine(&[], machine);
            let command = findings[0].command.as_deref();
            assert_eq!(command.is_some(), paste.is_some(), "{command:?}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_can_be_mended_in_a_terminal_comes_with_what_to_paste() {
        let name = || "ACS ACR122U 00 00".to_owned();
        let taken = Machine {
            kernel_driver: true,
            ..MACHINE
        };
        let without_daemon = Machine {
            has_daemon: false,
            ..MACHINE
        };
        let closed = |fault| vec![Sight::Closed(fault)];
        for (sights, machine, paste) in [
            (closed(Fault::NoService), MACHINE, "enable --now pcscd"),
            (
                closed(Fault::NoService),
                without_daemon,
                "apt-get install pcscd",
            ),
            (closed(Fault::Denied), MACHINE, "polkit.addRule"),
            (vec![], MACHINE, "apt-get install libccid"),
            (vec![], taken, "blacklist pn533_usb"),
            (
                vec![Sight::Card(name(), Fault::Sharing)],
                MACHINE,
                "pcsc-shared",
            ),
            (vec![Sight::Unavailable(name())], MACHINE, "restart pcscd"),
        ] {
            let [finding] = &examine(&sights, machine)[..] else {
                panic!("one finding");
            };
            let command = finding.command.as_deref().unwrap_or_default();
            assert!(command.contains(paste), "{finding}");
        }
    }
}
