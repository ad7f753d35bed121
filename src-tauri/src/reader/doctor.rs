//! Why nothing can be read: each cause in words, with the command or the setting
//! that fixes it. Reads no card, so no counter rises.

mod machine;

use std::fmt;
use std::time::Duration;

use serde::Serialize;

pub use machine::Machine;

use super::board::{Lying, Table};
use super::card::{Context as _, Fault, Occupant, Slot, Stack};
use super::inlay::Chip;
use super::monitor::is_module;

/// Something that the doctor has to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "DoctorFinding"))]
pub struct Finding {
    /// What it is, by name.
    pub kind: Kind,
    /// What it is, in one sentence.
    pub title: String,
    /// Why it is so, and what to do.
    pub text: String,
    /// What to paste into a terminal, if that helps.
    pub command: Option<String>,
}

/// What can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "DoctorKind"))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A reader is ready.
    Ready,
    /// The PC/SC service does not run.
    NoService,
    /// The user may not use it.
    Permission,
    /// No reader is plugged in.
    NoReader,
    /// The kernel took the reader for itself.
    DriverTaken,
    /// Another program has the card for itself.
    Sharing,
    /// A slot of a security module is listed beside the reader's own.
    Module,
    /// The card is none that can be read.
    UnsupportedCard,
    /// The reader does not answer.
    Unavailable,
    /// The card does not answer.
    Mute,
}

impl Kind {
    /// Whether it keeps inlays from being read.
    pub fn is_problem(self) -> bool {
        !matches!(self, Self::Ready | Self::Module)
    }
}

/// What can be seen of the readers without reading a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sight {
    /// The service cannot be used at all.
    Closed(Fault),
    /// A reader that works, as far as can be seen.
    Reader(String),
    /// A slot of a security module.
    Module(String),
    /// A reader that does not answer.
    Unavailable(String),
    /// A card that cannot be used.
    Card(String, Fault),
    /// A card that is none of those that can be read.
    Foreign(String),
}

/// What the system's PC/SC service shows at this moment.
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
    let Slot {
        reader, occupant, ..
    } = slot;
    match occupant {
        _ if is_module(&reader) => Sight::Module(reader),
        Occupant::Unavailable => Sight::Unavailable(reader),
        Occupant::Mute => Sight::Card(reader, Fault::Mute),
        Occupant::Nothing => Sight::Reader(reader),
        Occupant::Card { .. } => match context.with_card(&reader, |_| ()) {
            Ok(()) => Sight::Reader(reader),
            Err(fault) => Sight::Card(reader, fault),
        },
    }
}

/// The same of a table.
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
            Lying::Module => Sight::Module(name),
            Lying::Unavailable => Sight::Unavailable(name),
            Lying::Inlay(laid) if laid.reading.chip == Chip::Unknown => Sight::Foreign(name),
            Lying::Nothing | Lying::Inlay(_) => Sight::Reader(name),
            Lying::Failed(failed) => match failed.trouble.kind {
                "sharing" => Sight::Card(name, Fault::Sharing),
                "mute" => Sight::Card(name, Fault::Mute),
                "unsupported" => Sight::Card(name, Fault::Unsupported),
                _ => Sight::Reader(name),
            },
        }
    });
    places.collect()
}

/// What is found, the worst first.
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
            no_reader()
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
            "Only some users may use readers. This rule allows the members of the group plugdev. \
             Sign out and in again afterwards.",
            Some(machine::POLKIT_RULE),
        ),
        Sight::Closed(_) => new(
            Kind::NoService,
            "The system's smart card service is not running.".to_owned(),
            machine.service_text(),
            machine.service_command(),
        ),
        Sight::Reader(name) => new(
            Kind::Ready,
            format!("{name} is ready."),
            "Place an inlay on it.",
            None,
        ),
        Sight::Module(name) => new(
            Kind::Module,
            format!("{name} is a slot for a security module."),
            "Some readers list it beside the slot for inlays. You need to do nothing.",
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
            "It has no message that phones can read. Tapdesk reads NTAG 424 DNA, NTAG213, NTAG215, NTAG216 and \
             MIFARE Ultralight, but no payment cards, key cards or MIFARE Classic.",
            None,
        ),
    }
}

fn no_reader() -> Finding {
    new(
        Kind::NoReader,
        "No reader is connected.".to_owned(),
        "Connect a USB reader for contactless cards, such as an ACR122U, an ACR1252U or a uTrust 3700 F. If it is \
         connected, install its driver: libccid for most readers, libacsccid1 for those of ACS.",
        cfg!(target_os = "linux").then_some("sudo apt-get install libccid libacsccid1"),
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

fn new(kind: Kind, title: String, text: &str, command: Option<&str>) -> Finding {
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
