//! One thread that holds the card in one transaction, and does what it is told, command by
//! command. A card that does not answer keeps this thread, and nobody else.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use tapdesk_service::clock::Stopwatch;
use tokio::sync::mpsc as answers;
use tokio::time::timeout;

use super::super::card::{Card, Context as _, Fault, Stack};
use super::turn::Command;

/// How long a card may take for a command (the admin API's rule).
const COMMAND_TIME: Duration = Duration::from_secs(5);
/// How long another program may keep the card for itself before that.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// How often a card that waits is asked whether it is there: Windows resets one that is held for
/// 5 seconds without a question.
const KEEP_ALIVE: Duration = Duration::from_secs(2);
/// Longest short command (ISO 7816-4): header, length, 255 bytes, expected length.
const COMMAND_MAX: usize = 261;

/// Something to be done with the card.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Order {
    Send(Vec<u8>),
    Reset,
}

impl Order {
    /// What a command asks for; `None` if it is none for a card: of the reader's own commands only
    /// the UID and the reading and writing of pages are let through (PC/SC part 3).
    pub(super) fn of(command: &Command) -> Option<Self> {
        if command.reset {
            return Some(Self::Reset);
        }
        let apdu = base16ct::mixed::decode_vec(command.apdu.as_ref()?).ok()?;
        let allowed = matches!(*apdu, [0xFF, 0xCA | 0xB0 | 0xD6, ..] | [0x00 | 0x90, _, ..]);
        (allowed && (4..=COMMAND_MAX).contains(&apdu.len())).then_some(Self::Send(apdu))
    }
}

type Outcome = Result<Vec<u8>, Fault>;

/// The thread, from outside. Dropped, it lets the card go.
pub(super) struct Hand {
    orders: Sender<Order>,
    outcomes: answers::UnboundedReceiver<Outcome>,
}

impl Hand {
    /// Takes the card of a reader.
    pub(super) async fn take<S: Stack + Send + 'static>(
        stack: S,
        reader: &str,
    ) -> Result<Self, Fault> {
        let (orders, to_do) = mpsc::channel();
        let (done, outcomes) = answers::unbounded_channel();
        let reader = reader.to_owned();
        let started: io::Result<_> = thread::Builder::new()
            .name("encoder".to_owned())
            .spawn(move || hold(stack, &reader, &to_do, &done));
        started.map_err(|error| Fault::Other(error.to_string()))?;
        let mut hand = Self { orders, outcomes };
        // The first outcome says that the card is held.
        hand.outcome(CONNECT_TIME).await?;
        Ok(hand)
    }

    /// Does one thing; what came of it, and how long that took in microseconds.
    pub(super) async fn carry(&mut self, order: Order) -> (Outcome, u64) {
        let watch = Stopwatch::start();
        let outcome = match self.orders.send(order) {
            Ok(()) => self.outcome(COMMAND_TIME).await,
            Err(_) => Err(Fault::Removed),
        };
        let micros = u64::try_from(watch.elapsed().as_micros()).unwrap_or(u64::MAX);
        (outcome, micros)
    }

    async fn outcome(&mut self, patience: Duration) -> Outcome {
        match timeout(patience, self.outcomes.recv()).await {
            Ok(Some(outcome)) => outcome,
            Ok(None) => Err(Fault::Removed),
            Err(_) => {
                // What it answers later is the answer to nothing.
                self.outcomes.close();
                Err(Fault::Mute)
            }
        }
    }
}

fn hold(
    mut stack: impl Stack,
    reader: &str,
    orders: &Receiver<Order>,
    done: &answers::UnboundedSender<Outcome>,
) {
    let held = stack.establish().and_then(|mut context| {
        context.with_card(reader, |card| {
            if done.send(Ok(Vec::new())).is_ok() {
                obey(card, orders, done);
            }
        })
    });
    if let Err(fault) = held {
        // Nobody waits for it any more.
        let _ = done.send(Err(fault));
    }
}

fn obey(card: &mut dyn Card, orders: &Receiver<Order>, done: &answers::UnboundedSender<Outcome>) {
    loop {
        let outcome = match orders.recv_timeout(KEEP_ALIVE) {
            Ok(Order::Send(command)) => card.transmit(&command),
            Ok(Order::Reset) => card.reset(),
            Err(RecvTimeoutError::Timeout) => {
                // If it is gone, the next command says so.
                let _ = card.keep_alive();
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        };
        // A card that leaves may answer with nothing at all.
        let outcome = outcome.and_then(|answer| match answer.len() {
            0 | 1 => Err(Fault::Removed),
            _ => Ok(answer),
        });
        if done.send(outcome).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(apdu: &str) -> Option<Order> {
        Order::of(&Command {
            apdu: Some(apdu.to_owned()),
            expect: Vec::new(),
            reset: false,
            name: String::new(),
        })
    }

    #[test]
    fn only_commands_for_the_card_are_let_through() {
        for apdu in [
            "00A4040007D276000085010100",
            "9060000000",
            "ffca000000",
            "FFB0000410",
            "FFD600040401020304",
        ] {
            assert!(order(apdu).is_some(), "{apdu}");
        }
        let long = format!("90{}", "00".repeat(COMMAND_MAX));
        // A load of the reader's keys, its own escape, an unknown class, no hex, nothing.
        for apdu in [
            "FF82000006FFFFFFFFFFFF",
            "FF00000002D402",
            "8060000000",
            "90600000zz",
            "9060",
            "",
            &long,
        ] {
            assert_eq!(order(apdu), None, "{apdu}");
        }
    }
}
