//! A thread that holds the card in one transaction, and executes orders one by one. A card that
//! does not answer blocks only this thread.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use tapdesk_service::clock::Stopwatch;
use tapdesk_service::inlay::technology::ntag21x::PWD_AUTH;
use tapdesk_service::inlay::technology::type2::GET_VERSION;
use tokio::sync::mpsc as answers;
use tokio::time::timeout;

use super::super::card::{Card, Context as _, Fault, Stack};
use super::super::passed;
use super::turn::Command;

/// Time limit for a command to the card (a rule of the admin API).
const COMMAND_TIME: Duration = Duration::from_secs(5);
/// Time limit for another program to release the card before that.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// How often an idle card is asked whether it is present: Windows resets a card that is held for 5
/// seconds without a request.
const KEEP_ALIVE: Duration = Duration::from_secs(2);
/// Longest short command (ISO 7816-4): header, length, 255 bytes, expected length.
const COMMAND_MAX: usize = 261;

/// An order for the thread.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Order {
    Send(Vec<u8>),
    /// A command of the chip itself.
    Native(Vec<u8>),
    Reset,
}

impl Order {
    /// The order of a command; `None` if it is not for a card. Of the reader's own commands, only
    /// those that get the UID and read and write pages are allowed (PC/SC part 3). Of the chip's own
    /// commands, only those that ask for its version and prove a password are passed on.
    pub(super) fn of(command: &Command) -> Option<Self> {
        if command.reset {
            return Some(Self::Reset);
        }
        if let Some(native) = &command.native {
            let native = base16ct::mixed::decode_vec(native).ok()?;
            let allowed = matches!(*native, [GET_VERSION] | [PWD_AUTH, _, _, _, _]);
            return allowed.then_some(Self::Native(native));
        }
        let apdu = base16ct::mixed::decode_vec(command.apdu.as_ref()?).ok()?;
        let allowed = matches!(*apdu, [0xFF, 0xCA | 0xB0 | 0xD6, ..] | [0x00 | 0x90, _, ..]);
        (allowed && (4..=COMMAND_MAX).contains(&apdu.len())).then_some(Self::Send(apdu))
    }
}

type Executed = Result<Vec<u8>, Fault>;

/// A handle to the thread. Dropping it releases the card.
pub(super) struct Relay {
    orders: Sender<Order>,
    outcomes: answers::UnboundedReceiver<Executed>,
}

impl Relay {
    /// Starts the thread, which takes the card of a reader.
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
        let mut relay = Self { orders, outcomes };
        // The first outcome means that the card is held.
        relay.outcome(CONNECT_TIME).await?;
        Ok(relay)
    }

    /// Executes one order. Returns its outcome and its duration in microseconds.
    pub(super) async fn carry(&mut self, order: Order) -> (Executed, u64) {
        let watch = Stopwatch::start();
        let outcome = match self.orders.send(order) {
            Ok(()) => self.outcome(COMMAND_TIME).await,
            Err(_) => Err(Fault::Removed),
        };
        let micros = u64::try_from(watch.elapsed().as_micros()).unwrap_or(u64::MAX);
        (outcome, micros)
    }

    async fn outcome(&mut self, patience: Duration) -> Executed {
        match timeout(patience, self.outcomes.recv()).await {
            Ok(Some(outcome)) => outcome,
            Ok(None) => Err(Fault::Removed),
            Err(_) => {
                // A late answer must not be taken for the answer to a later command.
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
    done: &answers::UnboundedSender<Executed>,
) {
    let held = stack.establish().and_then(|mut context| {
        context.with_card(reader, |card| {
            if done.send(Ok(Vec::new())).is_ok() {
                obey(card, orders, done);
            }
        })
    });
    if let Err(fault) = held {
        // If the handle is gone, nobody receives this.
        let _ = done.send(Err(fault));
    }
}

fn obey(card: &mut dyn Card, orders: &Receiver<Order>, done: &answers::UnboundedSender<Executed>) {
    loop {
        let outcome = match orders.recv_timeout(KEEP_ALIVE) {
            Ok(Order::Send(command)) => card.transmit(&command),
            Ok(Order::Native(command)) => passed::relay(card, &command),
            Ok(Order::Reset) => card.reset(),
            Err(RecvTimeoutError::Timeout) => {
                // If the card is gone, the next command fails.
                let _ = card.keep_alive();
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        };
        // A card that is being removed may give an empty answer.
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
            native: None,
            expect: Vec::new(),
            reset: false,
            name: String::new(),
        })
    }

    #[test]
    fn only_the_version_and_a_password_are_passed_on_to_the_chip() {
        let native = |native: &str| {
            Order::of(&Command {
                apdu: None,
                native: Some(native.to_owned()),
                expect: Vec::new(),
                reset: false,
                name: String::new(),
            })
        };
        for allowed in ["60", "1B01020304"] {
            assert!(native(allowed).is_some(), "{allowed}");
        }
        // A write, a read, a counter, a password of the wrong length, bad hex, nothing.
        for refused in ["A20401020304", "3004", "3902", "1B0102", "6z", ""] {
            assert_eq!(native(refused), None, "{refused}");
        }
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
        // A load of the reader's keys, its own escape, an unknown class, bad hex, nothing.
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
