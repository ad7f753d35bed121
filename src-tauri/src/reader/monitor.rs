//! A thread that owns the connection to the PC/SC service. It notices when readers and cards come
//! and go, and reads each card once per insertion.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tapdesk_service::clock::{Clock, Stopwatch};

use super::board::{Board, Failed, OnReader, PlacedInlay, ReaderSlot, Table, Trouble};
use super::card::{Context, Fault, Occupant, Slot, Stack};
use super::inlay;
use super::profile::{self, Profile};
use super::signals::{Signal, set_own_beep};

/// Longest wait for changes. Requests to the thread (to stop, to try again) are delayed by at most
/// this.
const WAIT: Duration = Duration::from_secs(1);
/// How often a card on the reader is checked: the service looks for cards every 400 ms, so a quick
/// swap can escape it.
const GLANCE: Duration = Duration::from_millis(250);
/// How many glances in a row a card may leave unanswered: after two seconds it counts as removed. A
/// card that was just removed misses one or two before the service reports it.
const MISSES_MAX: u8 = 8;

/// A handle to the thread. Dropping it ends the thread after its present wait.
pub struct Monitor {
    board: Arc<Board>,
    stopped: Arc<AtomicBool>,
}

impl Monitor {
    /// Starts a thread that watches the readers of `stack`.
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
            beeps: HashMap::new(),
            insertions: 0,
            glanced: Stopwatch::start(),
        };
        thread::Builder::new()
            .name("readers".to_owned())
            .spawn(move || watcher.run(stack))?;
        Ok(monitor)
    }

    /// The board that the thread keeps up to date.
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
    /// The slots as they were last seen, by reader name.
    seen: HashMap<String, Seen>,
    /// Whether the own beep of each reader was last switched on, by reader name.
    beeps: HashMap<String, bool>,
    insertions: u64,
    /// Time since the last glance at the cards on the readers.
    glanced: Stopwatch,
}

/// A slot, and the state of its card.
struct Seen {
    slot: Slot,
    /// Whether another program used the card exclusively, so that it is yet to be read.
    waiting: bool,
    /// The UID of the card that was read; `None` if the UID is random.
    uid: Option<String>,
    /// How many glances in a row it did not answer.
    misses: u8,
}

impl Watcher {
    fn run(mut self, mut stack: impl Stack) {
        while !self.is_stopped() {
            let fault = match stack.establish() {
                Ok(context) => self.watch(context),
                Err(fault) => fault,
            };
            // Cards are unknown while the service is away: they count as removed, and every card
            // that is there afterwards is a new insertion.
            self.seen.clear();
            self.beeps.clear();
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

    /// Watches until the connection is no longer usable.
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

    /// Compares the slots with their last state, and reads new cards.
    fn look(&mut self, context: &mut impl Context, slots: Vec<Slot>) -> Result<(), Fault> {
        let is_there = |name: &str| slots.iter().any(|slot| slot.reader == name);
        self.seen.retain(|name, _| is_there(name));
        self.beeps.retain(|name, _| is_there(name));
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
                // A look would wait for the encoding, and could break its transaction.
                continue;
            }
            if self.board.take_done(&slot.reader) && is_card {
                self.follow(context, &slot)?;
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
                // The card was swapped between two looks: report its removal before the new card.
                self.place(&slot.reader, OnReader::Nothing);
            }
            let (on, waiting) = self.occupant(context, &slot)?;
            let uid = match &on {
                OnReader::Inlay(placed) if !placed.reading.random_uid => placed.reading.uid.clone(),
                _ => None,
            };
            let signal = Signal::of(&on).filter(|_| !waiting);
            if !(waited && waiting) {
                self.place(&slot.reader, on);
            }
            // After the screen, because a light blinks for a while.
            if let Some(signal) = signal {
                self.signal(context, &slot.reader, signal)?;
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

    /// Accepts the present state of a slot whose card was encoded, if the same card is still there.
    /// Activating the card again may have changed the slot's number of events, as a new card does.
    fn follow(&mut self, context: &mut impl Context, slot: &Slot) -> Result<(), Fault> {
        let Some(seen) = self.seen.get_mut(&slot.reader) else {
            return Ok(());
        };
        if seen.slot == *slot || seen.uid.is_none() {
            return Ok(());
        }
        let now = context.with_card(&slot.reader, |card| inlay::uid(card));
        match now.and_then(|now| now) {
            Ok(now) if now == seen.uid => seen.slot = slot.clone(),
            Err(fault) if fault.ends_connection() => return Err(fault),
            Ok(_) | Err(_) => {}
        }
        Ok(())
    }

    /// Checks whether the card that was read is still on the reader. A card that came unnoticed is
    /// not read: the person is asked to place it again.
    fn glance(&mut self, context: &mut impl Context, reader: &str) -> Result<(), Fault> {
        let Some(seen) = self.seen.get_mut(reader) else {
            return Ok(());
        };
        let Some(uid) = &seen.uid else {
            return Ok(());
        };
        let uid_now = context.with_card(reader, |card| inlay::uid(card));
        let is_gone = seen.misses >= MISSES_MAX;
        match uid_now.and_then(|result| result) {
            Ok(Some(now)) if now == *uid && !is_gone => seen.misses = 0,
            Ok(Some(_)) => {
                seen.uid = None;
                let on = self.failed(&Fault::Swapped, Vec::new());
                self.place(reader, on);
            }
            // Another program uses the card, or has used it in the meantime.
            Err(Fault::Sharing | Fault::Reset) => {}
            Err(fault) if fault.ends_connection() => return Err(fault),
            Ok(None) | Err(_) if is_gone => {}
            Ok(None) | Err(_) => {
                seen.misses += 1;
                if seen.misses == MISSES_MAX {
                    self.place(reader, OnReader::Nothing);
                }
            }
        }
        Ok(())
    }

    /// The content of a slot. A card is read; the flag says whether it has to wait for another
    /// program.
    fn occupant(
        &mut self,
        context: &mut impl Context,
        slot: &Slot,
    ) -> Result<(OnReader, bool), Fault> {
        if is_module(slot) {
            return Ok((OnReader::Module, false));
        }
        let atr = match &slot.occupant {
            Occupant::Nothing => return Ok((OnReader::Nothing, false)),
            Occupant::Unavailable => return Ok((OnReader::Unavailable, false)),
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
                let placed = PlacedInlay {
                    insertion,
                    at,
                    reading,
                    log,
                };
                Ok((OnReader::Inlay(Box::new(placed)), false))
            }
            Err(fault) if fault.ends_connection() => Err(fault),
            Err(fault) => {
                // Nothing has been read yet, so another attempt does not raise the counter.
                let waiting = fault == Fault::Sharing && log.is_empty();
                Ok((self.failed(&fault, log), waiting))
            }
        }
    }

    /// Shows on a reader whether its card was read, unless readers are to be quiet.
    fn signal(
        &mut self,
        context: &mut impl Context,
        reader: &str,
        signal: Signal,
    ) -> Result<(), Fault> {
        let Some(by) = Profile::of(reader).signalling else {
            return Ok(());
        };
        if self.board.is_held(reader) {
            // A signal would wait for the encoding.
            return Ok(());
        }
        let is_on = !self.board.is_quiet();
        let is_set = self.beeps.insert(reader.to_owned(), is_on) == Some(is_on);
        if is_set && !is_on {
            return Ok(());
        }
        let shown = context.with_card(reader, |card| {
            if !is_set {
                set_own_beep(card, by, is_on);
            }
            if is_on {
                signal.show(card, by);
            }
        });
        match shown {
            Err(fault) if fault.ends_connection() => Err(fault),
            // The card was removed meanwhile, or another program uses it.
            Err(_) => {
                self.beeps.remove(reader);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    fn failed(&mut self, fault: &Fault, log: Vec<super::apdu::Exchange>) -> OnReader {
        OnReader::Failed(Box::new(Failed {
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

    fn place(&self, reader: &str, on: OnReader) {
        self.board.change(|table| {
            let place = table.readers.iter_mut().find(|place| place.name == reader);
            match place {
                Some(place) => place.on = on,
                None => table.readers.push(ReaderSlot {
                    name: reader.to_owned(),
                    on,
                }),
            }
        });
    }
}

/// Whether a slot takes a security module and no inlay, by the reader's name or by the answer to
/// reset of its card. The driver chooses the names of slots, which are often only numbers.
pub fn is_module(slot: &Slot) -> bool {
    let has_contacts = matches!(&slot.occupant, Occupant::Card { atr } if !is_contactless(atr));
    has_contacts || profile::is_module(&slot.reader)
}

/// Whether an answer to reset is in the form that readers use for contactless cards of any kind
/// (PC/SC part 3, section 3.1.3.2.3), which its first bytes show. A module or a card in a contact
/// slot answers with its own (ISO/IEC 7816-3).
fn is_contactless(atr: &[u8]) -> bool {
    matches!(atr, [0x3B, format, 0x80, 0x01, ..] if format & 0xF0 == 0x80)
}
