//! Encodes the inlay on a reader. The service makes every command; here they are sent in their
//! order, and the answers go back. Nothing here holds a key or understands what it sends.
//!
//! | Module | Subject |
//! |---|---|
//! | `turn` | what the service wants next, as it says it |
//! | `hand` | one thread that holds the card in one transaction |
//! | `service` | the calls, repeated while their answers are lost |
//! | `told` | what the page hears: states, names of steps, statuses and times, never data |
//!
//! Each encoding has a connection and a thread of its own: readers work side by side.

mod hand;
mod service;
mod told;
mod turn;

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tapdesk_service::inlay::Technology;

use super::board::{Board, Lying};
use super::card::{Fault, Stack};
use crate::backend::Backend;
use hand::{Hand, Order};
use service::{Calls, NoTurn};
pub use told::{Line, Told};
use turn::{Command, Turn};

/// Most turns of one encoding. One needs about eight; a service that asks for more for ever does
/// not keep the inlay for ever.
const TURNS_MAX: usize = 500;

/// What is encoded.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The reader's name.
    pub reader: String,
    /// The insertion: another inlay that lies there meanwhile is not encoded.
    pub insertion: u64,
    /// For what: the members of a new encoding in the admin API, without the UID.
    pub target: Map<String, Value>,
}

/// Why a turn was not carried out to its end: the admin API's word for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stopped {
    Removed,
    Timeout,
}

impl From<&Fault> for Stopped {
    fn from(fault: &Fault) -> Self {
        match fault {
            Fault::Mute | Fault::Sharing | Fault::Unsupported | Fault::Other(_) => Self::Timeout,
            // Whatever lies there now lost what the session was about.
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

/// Encodes the inlay of an insertion, and tells each step. An `Err` is a sentence for people: the
/// inlay or the service could not be reached, so that another attempt may do. How the encoding ended,
/// or why the service refuses it, is in what is told last.
pub async fn encode<S: Stack + Send + 'static>(
    stack: S,
    board: &Arc<Board>,
    backend: &Backend,
    wanted: Wanted,
    tell: impl Fn(&Told),
) -> Result<Told, String> {
    let Wanted {
        reader,
        insertion,
        mut target,
    } = wanted;
    let (uid, chip) = known(board, &reader, insertion).ok_or(
        "The inlay is no longer on the reader, or its UID is unknown. Place it on the reader again.",
    )?;
    let _held = board
        .hold(&reader, insertion)
        .ok_or("The inlay on the reader is being encoded, or was exchanged.")?;
    let mut hand = Hand::take(stack, &reader)
        .await
        .map_err(|fault| fault.to_string())?;
    target.insert("uid".to_owned(), uid.into());
    // Any chip is wiped, and a chip of pages is asked otherwise than one of files.
    if let Some(technology) = chip.filter(|_| target.get("wipe") == Some(&Value::Bool(true))) {
        target.insert("technology".to_owned(), json!(technology));
    }
    let calls = Calls::new(backend);
    let mut told = Told::new(reader, insertion);
    let mut next = calls.begin(&target).await;
    for _ in 0..TURNS_MAX {
        let turn = match next {
            Ok(turn) => turn,
            Err(NoTurn::Failed(why)) => return Err(why),
            Err(NoTurn::Refused(why)) => {
                told.is_refused(why);
                tell(&told);
                return Ok(told);
            }
        };
        told.at(&turn);
        tell(&told);
        if turn.commands.is_empty() {
            return Ok(told);
        }
        let (answers, stopped) = carry_out(&mut hand, &turn.commands, &mut told, &tell).await;
        next = calls.answer(&turn, &answers, stopped).await;
    }
    Err("The service sends too many commands. The inlay was not finished.".to_owned())
}

/// The UID that was read of the card of an insertion, and its chip if that was read, too.
fn known(board: &Board, reader: &str, insertion: u64) -> Option<(String, Option<Technology>)> {
    let table = board.table();
    let place = table
        .readers
        .into_iter()
        .find(|place| place.name == reader)?;
    match place.on {
        Lying::Inlay(laid) if laid.insertion == insertion => {
            Some((laid.reading.uid?, laid.reading.chip.technology()))
        }
        Lying::Failed(failed) if failed.insertion == insertion => Some((failed.uid?, None)),
        _ => None,
    }
}

/// Sends a turn's commands in their order, up to the first answer that is not expected.
async fn carry_out(
    hand: &mut Hand,
    commands: &[Command],
    told: &mut Told,
    tell: &impl Fn(&Told),
) -> (Vec<Vec<u8>>, Option<Stopped>) {
    let mut answers = Vec::with_capacity(commands.len());
    for command in commands {
        told.begins(&command.name);
        tell(told);
        let Some(order) = Order::of(command) else {
            tracing::warn!("the service sent a command that no reader is asked");
            return (answers, Some(Stopped::Timeout));
        };
        let (outcome, micros) = hand.carry(order).await;
        match outcome {
            Ok(answer) => {
                let expected = command.is_expected(&answer);
                told.noted(command, Some(&answer), micros);
                answers.push(answer);
                if !expected {
                    return (answers, None);
                }
            }
            Err(fault) => {
                told.noted(command, None, micros);
                return (answers, Some(Stopped::from(&fault)));
            }
        }
    }
    (answers, None)
}
