//! Encodes the inlay on a reader. The service generates every command; the desktop sends the
//! commands in order and returns the answers. It holds no keys, and understands none of the
//! commands.
//!
//! | Module | Subject |
//! |---|---|
//! | `turn` | the service's next commands, as the admin API returns them |
//! | `relay` | one thread that holds the card in one transaction |
//! | `service` | the calls, repeated while their answers are lost |
//! | `progress` | the reports to the page: states, names of steps, statuses and times, never data |
//!
//! Each encoding has its own connection and its own thread, so that readers work in parallel.

mod progress;
mod relay;
mod service;
mod turn;

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tapdesk_service::inlay::Technology;
use tapdesk_service::inlay::technology::Family;

use super::board::{Board, OnReader};
use super::card::{Fault, Stack};
use super::inlay::{Message, Reading};
use crate::backend::Backend;
pub use progress::{Line, Progress};
use relay::{Order, Relay};
use service::{Calls, NoTurn};
use turn::{Command, Turn};

/// Most turns of one encoding, so that a faulty service cannot keep an inlay for ever. An encoding
/// needs about eight.
const TURNS_MAX: usize = 500;

/// An inlay to encode, and its target.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The name of the reader that has the inlay.
    pub reader: String,
    /// The insertion: if another inlay has replaced it, nothing is encoded.
    pub insertion: u64,
    /// The members of a new encoding in the admin API, without the UID.
    pub target: Map<String, Value>,
}

/// Why a turn stopped early, with the admin API's words for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stopped {
    Removed,
    Timeout,
}

impl From<&Fault> for Stopped {
    fn from(fault: &Fault) -> Self {
        match fault {
            Fault::Mute | Fault::Sharing | Fault::Unsupported | Fault::Other(_) => Self::Timeout,
            // The session is lost, even if a card is on the reader now.
            _ => Self::Removed,
        }
    }
}

impl Stopped {
    fn word(self) -> &'static str {
        match self {
            Self::Removed => "removed",
            Self::Timeout => "timeout",
        }
    }
}

/// Encodes the inlay of an insertion, and reports each step. An `Err` is a sentence for people: the
/// inlay or the service could not be reached, so another attempt may succeed. The last report says
/// how the encoding ended, or why the service refuses it.
pub async fn encode<S: Stack + Send + 'static>(
    stack: S,
    board: &Arc<Board>,
    backend: &Backend,
    wanted: Wanted,
    tell: impl Fn(&Progress),
) -> Result<Progress, String> {
    let Wanted {
        reader,
        insertion,
        mut target,
    } = wanted;
    let Known {
        uid,
        chip,
        has_message,
    } = known(board, &reader, insertion).ok_or(
        "The inlay is no longer on the reader, or its UID is unknown. Place it on the reader again.",
    )?;
    let held = board
        .hold(&reader, insertion)
        .ok_or("The inlay on the reader is being encoded, or was exchanged.")?;
    let mut relay = Relay::take(stack, &reader)
        .await
        .map_err(|fault| fault.to_string())?;
    target.insert("uid".to_owned(), uid.into());
    // A chip of any technology can be wiped, but the commands differ between chips of pages and of
    // files, so the service has to know which it is.
    if let Some(technology) = chip.filter(|_| target.get("wipe") == Some(&Value::Bool(true))) {
        target.insert("technology".to_owned(), json!(technology));
    }
    if has_message && chip.is_some_and(|chip| chip.family() == Family::Ntag424) {
        target.insert("has_message".to_owned(), true.into());
    }
    let calls = Calls::new(backend);
    let mut progress = Progress::new(reader, insertion);
    let mut next = calls.begin(&target).await;
    for _ in 0..TURNS_MAX {
        let turn = match next {
            Ok(turn) => turn,
            Err(NoTurn::Failed(why)) => return Err(why),
            Err(NoTurn::Refused(why)) => {
                progress.is_refused(why);
                tell(&progress);
                return Ok(progress);
            }
        };
        progress.at(&turn);
        tell(&progress);
        if turn.commands.is_empty() {
            let is_written = ["verified", "reset"].contains(&turn.state.as_str());
            if is_written || turn.state == "rejected" {
                held.done(is_written);
            }
            return Ok(progress);
        }
        let (answers, stopped) = carry_out(&mut relay, &turn.commands, &mut progress, &tell).await;
        next = calls.answer(&turn, &answers, stopped).await;
    }
    Err("The service sends too many commands. The inlay was not finished.".to_owned())
}

/// The results of the monitor's read of a card.
struct Known {
    uid: String,
    chip: Option<Technology>,
    has_message: bool,
}

fn known(board: &Board, reader: &str, insertion: u64) -> Option<Known> {
    let table = board.table();
    let place = table
        .readers
        .into_iter()
        .find(|place| place.name == reader)?;
    match place.on {
        OnReader::Inlay(placed) if placed.insertion == insertion => {
            let Reading {
                uid, chip, message, ..
            } = placed.reading;
            Some(Known {
                uid: uid?,
                chip: chip.technology(),
                has_message: matches!(message, Message::Records { .. } | Message::Broken { .. }),
            })
        }
        OnReader::Failed(failed) if failed.insertion == insertion => Some(Known {
            uid: failed.uid?,
            chip: None,
            has_message: false,
        }),
        _ => None,
    }
}

/// Sends the commands of a turn in order, up to the first unexpected answer.
async fn carry_out(
    relay: &mut Relay,
    commands: &[Command],
    progress: &mut Progress,
    tell: &impl Fn(&Progress),
) -> (Vec<Vec<u8>>, Option<Stopped>) {
    let mut answers = Vec::with_capacity(commands.len());
    for command in commands {
        progress.begins(&command.name);
        tell(progress);
        let Some(order) = Order::of(command) else {
            tracing::warn!("the service sent a command that no reader is asked");
            return (answers, Some(Stopped::Timeout));
        };
        let (outcome, micros) = relay.carry(order).await;
        match outcome {
            Ok(answer) => {
                let expected = command.is_expected(&answer);
                progress.noted(command, Some(&answer), micros);
                answers.push(answer);
                if !expected {
                    return (answers, None);
                }
            }
            Err(fault) => {
                progress.noted(command, None, micros);
                return (answers, Some(Stopped::from(&fault)));
            }
        }
    }
    (answers, None)
}
