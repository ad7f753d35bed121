//! The decisions: answers in, the next turn out.
//!
//! | Module | Subject |
//! |---|---|
//! | `facts` | facts that the chip states without a key, and which keys it may have |
//! | `open` | authentications and their cost |
//! | `check` | the check before the first write, and again after the last |
//! | `write` | the commands that change the chip |
//! | `read_back` | the read that proves a tap |
//! | `pages` | a chip that has pages instead of files, from its first read to its lock |
//! | `present_turn` | the present turn, as a relay gets it |
//! | [`preview`] | the steps before any is taken |
//!
//! Any error in a session ends the session, here as on the chip. The chip is then checked again
//! with the same steps, at most a few times in one insertion.

mod check;
mod facts;
mod open;
mod pages;
mod present_turn;
pub mod preview;
mod read_back;
mod write;

use super::plan::Proof;
use super::progress::{Chip, PageStep, Phase};
use super::turn::{Command, Step};
use super::{
    Answers, Candidate, Encoding, EncodingOutcome, Exchange, Goal, Journal, Plan, Progress, Reason,
    Roots, Stage, State,
};
use domain::entropy::Entropy;
use inlay::technology::{Family, Mode, Technology};

/// Number of all steps of an encoding, as the design counts them.
const STEPS: u32 = 33;
/// How often a chip is checked again in one insertion.
const ATTEMPTS_MAX: u8 = 4;
/// How often a chip is written in one insertion: once for each check. Without this limit, a chip
/// that reads back other data than was written would never end, and each write uses up a generation
/// of keys.
const WRITES_MAX: u8 = ATTEMPTS_MAX;

/// The inputs of the decisions.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a choice of its own that a person made"
)]
pub struct Means<'a> {
    /// Bytes to write; `None` to wipe.
    pub plan: Option<&'a Plan>,
    /// The roots of derived keys.
    pub roots: &'a Roots,
    /// Source of randomness for new keys and handshakes.
    pub entropy: &'a dyn Entropy,
    /// Whether new keys are random instead of derived.
    pub own_keys: bool,
    /// Whether an authorised person allowed replacing keys of this chip, for the insertion that
    /// begins. Later turns read it from the state that is kept between them.
    pub replace: bool,
    /// Whether the reader found a message on the chip in the insertion that begins.
    pub has_message: bool,
    /// The generation of the chip's keys if the chip is a finished inlay of the same tag.
    pub finished: Option<u8>,
    /// The highest accepted counter of the chip's inlay; 0 if there is none.
    pub last_counter: u32,
    /// Whether the chip is an inlay of the same tag.
    pub is_inlay: bool,
    /// The chip's technology, if its reader or its inlay states it before the chip is asked.
    pub technology: Option<Technology>,
}

/// One step of an encoding.
struct Machine<'a> {
    encoding: &'a mut Encoding,
    journal: &'a mut Journal,
    means: Means<'a>,
    /// Facts about the chip in this insertion.
    chip: Chip,
    rewrite: bool,
    /// Whether this encoding has changed the chip, in this insertion or an earlier one.
    wrote: bool,
    /// Whether keys of this chip may be replaced in this insertion.
    replace: bool,
}

/// The outcome of a phase.
enum Next {
    /// Send commands to the chip.
    Send(Phase, Vec<Command>),
    /// Check the chip again from the beginning.
    Again,
    /// This insertion is over, but the encoding is not.
    Interrupted(Option<Reason>),
    /// The encoding is over.
    Rejected(Reason),
    /// The tap is verified.
    Verified(Proof),
    /// The chip is in its factory state.
    Reset,
}

/// Begins an insertion: the chip was placed on the reader, and its first turn is made.
pub fn begin(encoding: &mut Encoding, journal: &mut Journal, means: Means<'_>) {
    let former = encoding.progress.take().unwrap_or_default();
    if means.replace {
        journal.forgive();
    }
    let machine = Machine {
        encoding,
        journal,
        means,
        chip: Chip {
            technology: means.technology.or(former.chip.technology),
            has_message: means.has_message,
            // If it was torn away without its password, it gets it again.
            had_password: former.chip.had_password,
            ..Chip::default()
        },
        rewrite: former.rewrite,
        wrote: former.wrote,
        replace: means.replace,
    };
    let next = machine.look();
    machine.turn(next, None);
}

/// Takes the answers to the present turn, and makes the next one.
pub fn go_on(
    encoding: &mut Encoding,
    journal: &mut Journal,
    means: Means<'_>,
    answers: &Answers,
) -> Vec<Exchange> {
    let progress = encoding.progress.take().unwrap_or_default();
    let Progress {
        phase,
        commands,
        chip,
        wrote,
        replace,
        rewrite,
        ..
    } = progress;
    let exchanges = exchanges(&commands, answers);
    let mut machine = Machine {
        encoding,
        journal,
        means,
        chip,
        rewrite,
        wrote,
        replace,
    };
    let next = machine.next(phase, answers);
    machine.turn(next, Some(answers.digest()));
    exchanges
}

/// Handles answers that came after the session ended. Another chip may be on the reader by now, so
/// the chip is checked again and no failure is counted.
pub fn expired(
    encoding: &mut Encoding,
    journal: &mut Journal,
    means: Means<'_>,
    answers: &Answers,
) -> Vec<Exchange> {
    let mut exchanges = Vec::new();
    if let Some(mut former) = encoding.progress.take() {
        exchanges = self::exchanges(&former.commands, answers);
        open::settle(std::mem::take(&mut former.phase), journal, answers);
        encoding.progress = Some(former);
    }
    begin(encoding, journal, means);
    if let Some(progress) = &mut encoding.progress {
        progress.answered = Some(answers.digest());
        if let Some(first) = progress.commands.first_mut() {
            first
                .name
                .push_str(", as the session expired after 60 seconds");
        }
    }
    exchanges
}

/// Names and statuses of commands, for the audit log.
fn exchanges(commands: &[Command], answers: &Answers) -> Vec<Exchange> {
    let lost = usize::from(answers.answers.len() < commands.len() && answers.fault.is_some());
    let sent = commands.iter().take(answers.answers.len() + lost);
    let status = |index| {
        let (high, low) = match answers.get(index)? {
            [.., high, low] => (*high, *low),
            _ => return None,
        };
        Some(u16::from_be_bytes([high, low]))
    };
    sent.enumerate()
        .map(|(index, command)| Exchange {
            name: command.name.clone(),
            status: if command.reset { None } else { status(index) },
        })
        .collect()
}

impl Machine<'_> {
    fn next(&mut self, phase: Phase, answers: &Answers) -> Next {
        match phase {
            Phase::Facts => self.facts(answers),
            Phase::LrpProbe => Self::probed(answers),
            Phase::Challenge(opening) => self.challenged(opening, answers.get(0), answers),
            Phase::Response(opening, handshake) => self.responded(opening, handshake, answers),
            Phase::Check {
                session,
                replies,
                read,
            } => self.checked(session, &replies, read, answers),
            Phase::Switch => self.switched(answers),
            Phase::Write { session, writes } => self.written(session, &writes, answers),
            Phase::Seal => self.sealed(answers),
            Phase::ReadBack => self.read_back(answers, 0),
            Phase::Pages(step) => self.page_step(step, answers),
            Phase::Over => Next::Interrupted(None),
        }
    }

    /// Makes the next turn from a decision.
    fn turn(mut self, mut next: Next, answered: Option<[u8; 32]>) {
        if matches!(next, Next::Again) {
            self.chip.attempts += 1;
            next = if self.chip.attempts < ATTEMPTS_MAX {
                self.chip = std::mem::take(&mut self.chip).kept();
                self.look()
            } else if self.rewrite && self.chip.writes >= WRITES_MAX {
                // The chip accepted its keys each time, but never reads back as written.
                Next::Rejected(Reason::NotEncodable)
            } else {
                Next::Interrupted(None)
            };
        }
        let Self {
            encoding,
            chip,
            rewrite,
            wrote,
            replace,
            ..
        } = self;
        encoding.seq += 1;
        let seen = chip.version;
        let writes = match &next {
            Next::Send(Phase::Switch | Phase::Write { .. } | Phase::Seal, _) => true,
            Next::Send(Phase::Pages(step), _) => step.writes(),
            _ => false,
        };
        let mut progress = Progress {
            phase: Phase::Over,
            commands: Vec::new(),
            answered,
            chip,
            wrote: wrote || writes,
            replace,
            rewrite,
            url: None,
        };
        encoding.state = match next {
            Next::Send(phase, commands) => {
                let stage = after(&phase, progress.wrote);
                // The turn holds only first halves, so the desktop app asks the operator to leave
                // the chip there.
                let waits = matches!(phase, Phase::Challenge(_)) && commands.len() > 1;
                progress.phase = phase;
                progress.commands = commands;
                State::Open(stage, waits.then_some(Reason::Delayed))
            }
            // The code above has already replaced `Again`.
            Next::Again => State::Open(Stage::Interrupted, None),
            Next::Interrupted(reason) => State::Open(Stage::Interrupted, reason),
            Next::Rejected(reason) => State::Rejected(reason),
            Next::Verified(Proof { url, counter }) => {
                let form = encoding.form.as_ref().map(|form| &form.template);
                let rolls = form.filter(|template| template.technology.family() == Family::Ntag424);
                progress.url = Some(url);
                State::Verified(EncodingOutcome {
                    inlay_id: None,
                    counter,
                    technology: seen.or(form.map(|template| template.technology)),
                    mode: rolls.map(|template| template.mode),
                    address: None,
                })
            }
            Next::Reset => State::Reset,
        };
        encoding.progress = Some(progress);
    }

    /// Whether the URL must be of LRP mode.
    fn wants_lrp(&self) -> bool {
        let settings = self.means.plan.map(|plan| plan.template().settings());
        settings.is_some_and(|settings| settings.mode == Mode::Lrp)
    }

    fn wipes(&self) -> bool {
        self.encoding.goal == Goal::Factory
    }

    fn key(&self, slot: u8, of: Candidate) -> Option<inlay::key::AesKey> {
        self.journal.key(slot, of, self.means.roots)
    }

    /// The chip does not fit this encoding. If the encoding has already changed a chip, another
    /// chip is on the reader now, and the encoding waits for its own.
    fn another(&self, reason: Reason) -> Next {
        if self.wrote {
            Next::Interrupted(Some(Reason::UidMismatch))
        } else {
            Next::Rejected(reason)
        }
    }

    /// The outcome when the answers stop early: the chip is gone.
    fn gone(answers: &Answers) -> Next {
        if answers.fault.is_some() {
            Next::Interrupted(None)
        } else {
            Next::Again
        }
    }
}

/// The stage during a turn with the commands of a phase.
fn after(phase: &Phase, wrote: bool) -> Stage {
    match phase {
        Phase::Switch | Phase::Write { .. } => Stage::Writing,
        Phase::Seal => Stage::Keyed,
        Phase::Pages(
            PageStep::Password { .. } | PageStep::Protected { .. } | PageStep::Locked { .. },
        ) => Stage::Sealing,
        Phase::Check { read: true, .. } | Phase::ReadBack => Stage::Sealed,
        // Only the proof of a new key 0 includes the read.
        Phase::Challenge(opening) | Phase::Response(opening, _) if opening.read => Stage::Sealing,
        _ if wrote => Stage::Writing,
        _ => Stage::Planned,
    }
}

/// The progress of an encoding, in steps.
fn step(encoding: &Encoding) -> Step {
    let at = match (&encoding.state, encoding.progress.as_ref()) {
        (State::Verified(_) | State::Reset, _) => STEPS,
        (_, None) => 0,
        (_, Some(progress)) => match &progress.phase {
            Phase::Facts | Phase::Over | Phase::LrpProbe | Phase::Pages(PageStep::Head) => 0,
            Phase::Challenge(opening) | Phase::Response(opening, _) if opening.read => 25,
            Phase::Challenge(_)
            | Phase::Response(..)
            | Phase::Pages(PageStep::Whole(_) | PageStep::Opening { .. }) => 10,
            Phase::Check { read: true, .. } => 26,
            Phase::Check { read: false, .. } => 12,
            Phase::Switch => 13,
            Phase::Write { .. } | Phase::Pages(PageStep::Unmirrored | PageStep::Written { .. }) => {
                14
            }
            Phase::Seal => 24,
            Phase::ReadBack
            | Phase::Pages(
                PageStep::Password { .. } | PageStep::Protected { .. } | PageStep::Locked { .. },
            ) => 30,
        },
    };
    Step { at, of: STEPS }
}
