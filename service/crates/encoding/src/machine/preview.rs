//! The steps of an encoding before any is taken, as far as they are known without the chip. Their
//! names are those of the commands, so that a test can compare them with the commands that are
//! sent.

use serde::Serialize;
use utoipa::ToSchema;

use super::pages::password::{authenticate, password_commands, probe, protect_command};
use super::pages::{Reads, lock_commands, read, write};
use super::write::CHUNK;
use crate::pages::Pages;
use crate::plan::Plan;
use crate::turn::Command;
use inlay::ev2::KEYS;
use inlay::technology::Mode;
use inlay::technology::ntag21x::WritePassword;
use inlay::technology::ntag424::file_settings;

/// A step of an encoding, for display.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = EncodingPreviewStep)]
pub struct PreviewStep {
    /// Name of the step.
    pub name: &'static str,
    /// Explains how and why the step is done.
    pub text: String,
    /// The names of its commands, in order.
    pub commands: Vec<String>,
}

/// The knowledge about a chip on which its steps depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Unknown chip, which is treated as a new one.
    Nothing,
    /// The chip has keys of this service or of a bureau, or some of them, or its key 0 was imported.
    Keys,
    /// The chip is finished: its tap is verified, and nothing is written.
    Finished,
}

/// The steps that write a chip. `opens` names the key that opens it, for display.
pub fn steps(plan: &Plan, known: Known, opens: &str) -> Vec<PreviewStep> {
    match &plan.pages {
        Some(pages) => of_pages(pages, known),
        None => of_files(plan, known, opens),
    }
}

fn step(
    name: &'static str,
    text: impl Into<String>,
    commands: impl IntoIterator<Item = impl Into<String>>,
) -> PreviewStep {
    PreviewStep {
        name,
        text: text.into(),
        commands: commands.into_iter().map(Into::into).collect(),
    }
}

fn of_files(plan: &Plan, known: Known, opens: &str) -> Vec<PreviewStep> {
    let lrp = plan.template().settings().mode == Mode::Lrp;
    let mut steps = vec![step(
        "Look at the chip",
        "Its UID, its version, and the versions of its keys. Nothing is written.",
        look(),
    )];
    let read_once = step(
        "Read it once",
        "The service verifies the code of this read. Only then is the inlay bound to its tag.",
        reads(plan),
    );
    if known == Known::Finished {
        steps.push(read_once);
        return steps;
    }
    steps.push(step(
        "Open it with key 0",
        format!("With {opens}. Until key 0 is changed, the same key opens the chip again."),
        halves(false),
    ));
    steps.push(step(
        "Check everything",
        "The chip proves its UID, its keys and its settings. If a key is not known, nothing is written at all.",
        checks(),
    ));
    if lrp {
        steps.push(step(
            "Switch it to LRP mode",
            "This cannot be undone: from then on the chip takes only URLs of LRP mode, and cannot be wiped.",
            [
                vec!["SetConfiguration, LRP mode".to_owned()],
                halves(true),
                checks(),
            ]
            .concat(),
        ));
    }
    steps.extend(writes_of_files(plan, known));
    let [half, second] = [&halves(lrp)[..1], &halves(lrp)[1..]].map(<[String]>::to_vec);
    steps.push(step(
        "Change key 0",
        "Last, as the only command of its step: if the chip is removed before, it opens with the key that it had.",
        [vec!["ChangeKey 0".to_owned()], half].concat(),
    ));
    steps.push(step(
        "Prove all of it",
        "The new keys, their versions and the settings are read back.",
        [second, checks()].concat(),
    ));
    steps.push(read_once);
    steps
}

fn writes_of_files(plan: &Plan, known: Known) -> Vec<PreviewStep> {
    let mut steps = Vec::new();
    if known == Known::Keys {
        steps.push(step(
            "Switch off its codes",
            "A chip that is half written makes no codes.",
            ["ChangeFileSettings, mirrors off"],
        ));
    }
    let chunks = plan.file[2..].chunks(CHUNK).map(|_| "WriteData, message");
    let message = ["WriteData, empty message"].into_iter().chain(chunks);
    steps.push(step(
        "Write the URL",
        "Its length comes last: a chip that is torn away reads as empty, never as a cut URL.",
        message.chain(["WriteData, length"]),
    ));
    steps.push(step(
        "Change keys 1 to 4",
        "To keys of only this chip, which are stored before they are sent. A key that the chip already has is left out.",
        (1..KEYS).map(|slot| format!("ChangeKey {slot}")),
    ));
    if file_settings::has_tamper(&plan.settings) {
        steps.push(step(
            "Measure the tamper loop",
            "This cannot be undone: each tap shows whether the loop is open, or was.",
            ["SetConfiguration, tamper loop"],
        ));
    }
    steps.push(step(
        "Switch on its codes",
        "The chip writes its code into the URL on each tap.",
        ["ChangeFileSettings, mirrors on"],
    ));
    steps.push(step(
        "Mark it read-only",
        "For phones. Key 0 can still change it.",
        ["WriteData, capability container"],
    ));
    steps
}

fn of_pages(pages: &Pages, known: Known) -> Vec<PreviewStep> {
    // Names reads of four pages; a reader that returns one page at a time gets one command per
    // page.
    let names = |commands: Vec<Command>| commands.into_iter().map(|command| command.name);
    let all = || names(Reads::Four.whole(pages));
    let look = || {
        let end = names(Reads::Four.end(pages.memory));
        let version = probe(pages).map(|command| command.name);
        let first = [read(0).name].into_iter().chain(all());
        first.chain(version).chain(end)
    };
    let mut steps = vec![step(
        "Look at the chip",
        "Its UID, its size, its data and its settings, and where its memory ends. Nothing is written.",
        look(),
    )];
    if pages.write_password && known == Known::Finished {
        let opened = authenticate(WritePassword::FACTORY).name;
        steps.push(step(
            "Open it with its password",
            "It is derived from the encoding root. The chip proves that it has it, too.",
            [opened].into_iter().chain(look()),
        ));
    }
    if known != Known::Finished {
        let blank = Pages::factory(pages.technology);
        let writes = pages.writes(blank.as_ref().map(|blank| &blank.data[..]));
        let writes = writes
            .into_iter()
            .map(|(page, bytes)| write("Write", page, bytes).name);
        steps.push(step(
            "Write the URL",
            "Its length comes last: a chip that is torn away reads as empty, never as a cut URL. A page that has its bytes already is left out.",
            writes,
        ));
        steps.push(step("Compare it", "What was written is read again.", all()));
        let at = pages.memory.locks + 1;
        let mirror = [
            write("Counter", at + 1, [0; 4]),
            write("Mirror", at, [0; 4]),
        ];
        steps.push(step(
            "Set its mirror",
            "Whether the chip writes UID and counter into the URL.",
            mirror.map(|command| command.name),
        ));
    }
    steps.push(step(
        "Read it as a phone does",
        "After a new activation. Only if it shows its URL is the inlay bound to its tag.",
        ["New activation".to_owned()].into_iter().chain(all()),
    ));
    if pages.write_password && known != Known::Finished {
        steps.extend(password_steps(pages));
    }
    if pages.lock && known != Known::Finished {
        let locks = lock_commands(pages, [0; 4]);
        let locks = locks.into_iter().map(|command| command.name);
        steps.push(step(
            "Lock it",
            "For ever: nobody can write its URL again.",
            locks.chain([read(0).name, read(pages.memory.locks).name]),
        ));
    }
    steps
}

fn password_steps(pages: &Pages) -> [PreviewStep; 2] {
    let names = |commands: Vec<Command>| commands.into_iter().map(|command| command.name);
    let password = password_commands(pages, WritePassword::FACTORY);
    let mut force = vec![protect_command(pages, [0; 4]), Command::reset()];
    force.extend(Reads::Four.whole(pages));
    [
        step(
            "Write its password",
            "Derived from the encoding root, for only this chip. It protects nothing yet, and the chip proves that it has it.",
            names(password.into()),
        ),
        step(
            "Put the password into force",
            "Then only this service writes the chip again. A chip that is torn away needs no password, or this one.",
            names(force),
        ),
    ]
}

fn look() -> Vec<String> {
    let names = [
        "Select application",
        "GetVersion 1",
        "GetVersion 2",
        "GetVersion 3",
    ];
    let names = names.into_iter().map(str::to_owned);
    names
        .chain((0..KEYS).map(|slot| format!("GetKeyVersion {slot}")))
        .collect()
}

fn halves(lrp: bool) -> Vec<String> {
    let first = if lrp {
        "Authenticate key 0, LRP"
    } else {
        "Authenticate key 0"
    };
    vec![
        first.to_owned(),
        "Authenticate key 0, second half".to_owned(),
    ]
}

fn checks() -> Vec<String> {
    let versions = (0..KEYS).map(|slot| format!("GetKeyVersion {slot}, with proof"));
    ["GetCardUID".to_owned()]
        .into_iter()
        .chain(versions)
        .chain(["GetFileSettings 2, with proof".to_owned()])
        .collect()
}

fn reads(plan: &Plan) -> Vec<String> {
    let commands = super::read_back::commands(plan.file.len());
    commands.into_iter().map(|command| command.name).collect()
}
