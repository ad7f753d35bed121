//! One thread owns the connection to the PC/SC service. It sees readers and
//! cards come and go, and reads each card once per insertion.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tapdesk_service::clock::{Clock, Stopwatch};

use super::board::{Board, Failed, Laid, Lying, Place, Table, Trouble};
use super::card::{Context, Fault, Occupant, Slot, Stack};
use super::inlay;

/// How long a wait for changes lasts: what the thread is asked meanwhile (to
/// stop, to try again) waits as long.
const WAIT: Duration = Duration::from_secs(1);
/// How often a card that lies there is looked at: the service looks for cards
/// every 400 ms, so that a quick swap can escape it.
const GLANCE: Duration = Duration::from_millis(250);
/// Glances in a row that a card may leave unanswered: one that was just taken
/// away leaves one or two, before the service says so. After two seconds it is gone.
const MISSES_MAX: u8 = 8;

/// The thread. Dropped, it ends after its present wait.
pub struct Monitor {
    board: Arc<Board>,
    stopped: Arc<AtomicBool>,
}

impl Monitor {
    /// Begins to watch.
    pub fn start(stack: impl Stack + Send + 'static, clock: Arc<dyn Clock>) -> io::Result<Self> {
        let monitor = Self {
            board: Arc::default(),
            stopped: Arc::default(),
        };
        let watcher = Watcher {
            board: Arc::clone(&monitor.board),
            clock,
            stopped: Arc::clone(&monitor.stopped),
            seen: HashMap::new(),
            insertions: 0,
            glanced: Stopwatch::start(),
        };
        thread::Builder::new()
            .name("readers".to_owned())
            .spawn(move || watcher.run(stack))?;
        Ok(monitor)
    }

    /// What lies where.
    pub fn board(&self) -> &Arc<Board> {
        &self.board
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

struct Watcher {
    board: Arc<Board>,
    clock: Arc<dyn Clock>,
    stopped: Arc<AtomicBool>,
    /// The slots as they were last seen.
    seen: HashMap<String, Seen>,
    insertions: u64,
    /// Since the cards that lie there were last looked at.
    glanced: Stopwatch,
}

/// A slot, and whether its card still waits to be read.
struct Seen {
    slot: Slot,
    /// Another program had the card for itself.
    waiting: bool,
    /// The UID of the card that was read, if it stays the same while it lies there.
    uid: Option<String>,
    /// Glances in a row that it did not answer.
    misses: u8,
}

impl Watcher {
    fn run(mut self, mut stack: impl Stack) {
        while !self.is_stopped() {
            let fault = match stack.establish() {
                Ok(context) => self.watch(context),
                Err(fault) => fault,
            };
            // Whatever lay there cannot be known any more: it is gone, and what
            // lies there afterwards is a new insertion.
            self.seen.clear();
            self.board.change(|table| {
                *table = Table {
                    fault: Some(Trouble::from(&fault)),
                    readers: Vec::new(),
                };
            });
            tracing::debug!("the readers cannot be watched: {fault}");
            if !self.is_stopped() {
                thread::sleep(WAIT);
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Watches until the connection is of no more use.
    fn watch(&mut self, mut context: impl Context) -> Fault {
        while !self.is_stopped() {
            let lies = self.board.is_judged() && self.seen.values().any(|seen| seen.uid.is_some());
            let soon = lies || self.board.any_held();
            match context.slots(if soon { GLANCE } else { WAIT }) {
                Ok(slots) => {
                    if let Err(fault) = self.look(&mut context, slots) {
                        return fault;
                    }
                }
                Err(fault) => return fault,
            }
        }
        Fault::NoService
    }

    /// Compares the slots with what was seen, and reads what is new.
    fn look(&mut self, context: &mut impl Context, slots: Vec<Slot>) -> Result<(), Fault> {
        let is_there = |name: &str| slots.iter().any(|slot| slot.reader == name);
        self.seen.retain(|name, _| is_there(name));
        self.board.change(|table| {
            table.fault = None;
            table.readers.retain(|place| is_there(&place.name));
        });
        let glances = self.board.is_judged() && self.glanced.elapsed() >= GLANCE;
        if glances {
            self.glanced = Stopwatch::start();
        }
        for slot in slots {
            let is_card = matches!(slot.occupant, Occupant::Card { .. });
            if is_card && self.board.is_held(&slot.reader) {
                // Whoever holds it would be waited for, and its transaction be broken.
                continue;
            }
            let before = self.seen.get(&slot.reader);
            let same = before.is_some_and(|seen| seen.slot == slot);
            let waited = same && before.is_some_and(|seen| seen.waiting);
            if same && !waited {
                if glances {
                    self.glance(context, &slot.reader)?;
                }
                continue;
            }
            if before.is_some_and(|seen| seen.slot.occupant != Occupant::Nothing) && !same {
                // Swapped between two looks: one went before the other came.
                self.place(&slot.reader, Lying::Nothing);
            }
            let (on, waiting) = self.occupant(context, &slot)?;
            let uid = match &on {
                Lying::Inlay(laid) if !laid.reading.random_uid => laid.reading.uid.clone(),
                _ => None,
            };
            if !(waited && waiting) {
                self.place(&slot.reader, on);
            }
            let seen = Seen {
                slot,
                waiting,
                uid,
                misses: 0,
            };
            self.seen.insert(seen.slot.reader.clone(), seen);
        }
        Ok(())
    }

    /// Whether the card that was read still lies there. One that came unseen is
    /// not read: whoever laid it down is told to do so again.
    fn glance(&mut self, context: &mut impl Context, reader: &str) -> Result<(), Fault> {
        let Some(seen) = self.seen.get_mut(reader) else {
            return Ok(());
        };
        let Some(uid) = &seen.uid else {
            return Ok(());
        };
        let told = context.with_card(reader, |card| inlay::uid(card));
        let is_gone = seen.misses >= MISSES_MAX;
        match told.and_then(|told| told) {
            Ok(Some(now)) if now == *uid && !is_gone => seen.misses = 0,
            Ok(Some(_)) => {
                seen.uid = None;
                let on = self.failed(&Fault::Swapped, Vec::new());
                self.place(reader, on);
            }
            // Another program has the card, or had it.
            Err(Fault::Sharing | Fault::Reset) => {}
            Err(fault) if fault.ends_connection() => return Err(fault),
            Ok(None) | Err(_) if is_gone => {}
            Ok(None) | Err(_) => {
                seen.misses += 1;
                if seen.misses == MISSES_MAX {
                    self.place(reader, Lying::Nothing);
                }
            }
        }
        Ok(())
    }

    /// What lies on a slot, read if it is a card, and whether it waits.
    fn occupant(
        &mut self,
        context: &mut impl Context,
        slot: &Slot,
    ) -> Result<(Lying, bool), Fault> {
        if is_module(&slot.reader) {
            return Ok((Lying::Module, false));
        }
        let atr = match &slot.occupant {
            Occupant::Nothing => return Ok((Lying::Nothing, false)),
            Occupant::Unavailable => return Ok((Lying::Unavailable, false)),
            Occupant::Mute => return Ok((self.failed(&Fault::Mute, Vec::new()), false)),
            Occupant::Card { atr } => atr,
        };
        let read = context.with_card(&slot.reader, |card| inlay::read(card, atr));
        let (read, log) = match read {
            Ok((read, log)) => (read, log),
            Err(fault) => (Err(fault), Vec::new()),
        };
        match read {
            Ok(reading) => {
                let insertion = self.next_insertion();
                let at = self.clock.now();
                let laid = Laid {
                    insertion,
                    at,
                    reading,
                    log,
                };
                Ok((Lying::Inlay(Box::new(laid)), false))
            }
            Err(fault) if fault.ends_connection() => Err(fault),
            Err(fault) => {
                // Nothing was read yet, so trying again costs the card nothing.
                let waiting = fault == Fault::Sharing && log.is_empty();
                Ok((self.failed(&fault, log), waiting))
            }
        }
    }

    fn failed(&mut self, fault: &Fault, log: Vec<super::apdu::Exchange>) -> Lying {
        Lying::Failed(Box::new(Failed {
            insertion: self.next_insertion(),
            at: self.clock.now(),
            trouble: Trouble::from(fault),
            uid: inlay::uid_in(&log),
            may_have_counted: inlay::may_have_counted(&log),
            log,
        }))
    }

    fn next_insertion(&mut self) -> u64 {
        self.insertions += 1;
        self.insertions
    }

    fn place(&self, reader: &str, on: Lying) {
        self.board.change(|table| {
            let place = table.readers.iter_mut().find(|place| place.name == reader);
            match place {
                Some(place) => place.on = on,
                None => table.readers.push(Place {
                    name: reader.to_owned(),
                    on,
                }),
            }
        });
    }
}

/// Whether a slot takes a security module and no inlay, by its name, which is
/// all that readers tell of it.
pub fn is_module(reader: &str) -> bool {
    reader
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| word.eq_ignore_ascii_case("SAM"))
}
