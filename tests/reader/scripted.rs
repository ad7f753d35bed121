//! Cases that the virtual driver cannot produce, through the traits: readers that come and go,
//! slots of security modules, quick swaps, and rare errors.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tapdesk::reader::board::{OnReader, Table};
use tapdesk::reader::card::{Card, Context, Fault, Occupant, Slot, Stack};
use tapdesk::reader::doctor::{self, Sight};
use tapdesk::reader::monitor::Monitor;
use tapdesk_service::clock::SystemClock;
use tapdesk_service::inlay::Uid;
use tapdesk_tests::virtual_card::VirtualCard;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;

use crate::chips::bottle;
use crate::readings::Direct;
use crate::table::Watch;

/// A step of the scripted service.
#[derive(Clone, Debug)]
enum Says {
    /// The slots that the stack reports next.
    Slots(Vec<Slot>),
    /// A fault that ends the connection.
    Fault(Fault),
}

/// The outcomes of connecting to a card. By default it is read.
type Cards = Arc<Mutex<VecDeque<Result<(), Fault>>>>;

#[derive(Clone, Default)]
struct Script {
    says: Arc<Mutex<VecDeque<Says>>>,
    cards: Cards,
    /// The number of connection attempts.
    connected: Arc<AtomicUsize>,
    /// A card that replaces the present one, unnoticed by the service.
    swapped: Arc<Mutex<Option<VirtualNtag424>>>,
}

struct Scripted {
    script: Script,
    last: Vec<Slot>,
    card: Direct<VirtualNtag424>,
}

impl Stack for Script {
    type Context = Scripted;

    fn establish(&mut self) -> Result<Scripted, Fault> {
        self.connected.fetch_add(1, Ordering::Relaxed);
        Ok(Scripted {
            script: self.clone(),
            last: Vec::new(),
            card: Direct(bottle()),
        })
    }
}

impl Context for Scripted {
    fn slots(&mut self, _: Duration) -> Result<Vec<Slot>, Fault> {
        match self.script.says.lock().unwrap().pop_front() {
            Some(Says::Slots(slots)) => self.last = slots,
            Some(Says::Fault(fault)) => return Err(fault),
            // A real stack blocks until a reader changes, or its time is over.
            None => std::thread::sleep(Duration::from_millis(5)),
        }
        Ok(self.last.clone())
    }

    fn with_card<T>(&mut self, _: &str, work: impl FnOnce(&mut dyn Card) -> T) -> Result<T, Fault> {
        if let Some(card) = self.script.swapped.lock().unwrap().take() {
            self.card = Direct(card);
        }
        match self.script.cards.lock().unwrap().pop_front() {
            Some(Err(fault)) => Err(fault),
            _ => Ok(work(&mut self.card)),
        }
    }
}

fn slot(reader: &str, occupant: Occupant, events: u32) -> Slot {
    Slot {
        reader: reader.to_owned(),
        occupant,
        events,
    }
}

fn card() -> Occupant {
    Occupant::Card {
        atr: bottle().atr(),
    }
}

fn watch(says: impl IntoIterator<Item = Says>, cards: &[Result<(), Fault>]) -> (Watch, Script) {
    let script = Script::default();
    script.says.lock().unwrap().extend(says);
    script.cards.lock().unwrap().extend(cards.iter().cloned());
    let clock = Arc::new(SystemClock::start());
    let monitor = Monitor::start(script.clone(), clock).unwrap();
    (Watch::of(monitor), script)
}

fn names(table: &Table) -> Vec<&str> {
    table
        .readers
        .iter()
        .map(|place| place.name.as_str())
        .collect()
}

#[test]
fn readers_come_and_go() {
    let empty = |name| slot(name, Occupant::Nothing, 0);
    let (mut watch, script) = watch(
        [
            Says::Slots(vec![]),
            Says::Slots(vec![empty("A")]),
            Says::Slots(vec![empty("A"), empty("B")]),
        ],
        &[],
    );
    watch.table("two readers", |table| {
        (names(&table) == ["A", "B"]).then_some(())
    });
    script
        .says
        .lock()
        .unwrap()
        .push_back(Says::Slots(vec![empty("B")]));
    watch.table("one is unplugged", |table| {
        (names(&table) == ["B"]).then_some(())
    });
}

#[test]
fn a_reader_unplugged_with_a_card_on_it_takes_the_card_along() {
    let (mut watch, script) = watch([Says::Slots(vec![slot("A", card(), 1)])], &[]);
    watch.until_inlay();
    script.says.lock().unwrap().push_back(Says::Slots(vec![]));
    watch.table("nothing is left", |table| {
        table.readers.is_empty().then_some(())
    });
    script
        .says
        .lock()
        .unwrap()
        .push_back(Says::Slots(vec![slot("A", card(), 0)]));
    assert_eq!(watch.until_inlay().insertion, 2, "laid down again");
}

#[test]
fn a_quick_swap_is_a_removal_and_an_insertion() {
    let (mut watch, script) = watch([Says::Slots(vec![slot("A", card(), 1)])], &[]);
    let first = watch.until_inlay();
    script
        .says
        .lock()
        .unwrap()
        .push_back(Says::Slots(vec![slot("A", card(), 3)]));
    watch.until_empty();
    let second = watch.until_inlay();
    assert_eq!(second.insertion, first.insertion + 1);
    assert_ne!(second.reading.url, first.reading.url);
}

#[test]
fn a_swap_that_the_service_misses_is_told_and_read_only_when_it_is_laid_down_again() {
    let (mut watch, script) = watch([Says::Slots(vec![slot("A", card(), 1)])], &[]);
    let first = watch.until_inlay();
    let other = VirtualNtag424::new(Uid::from_bytes([0x04, 9, 9, 9, 9, 9, 9]));
    *script.swapped.lock().unwrap() = Some(other);
    let failed = watch.until("it is told", |on| matches!(on, OnReader::Failed(_)));
    assert!(matches!(&failed, OnReader::Failed(failed)
        if failed.trouble.kind == "swapped" && failed.insertion == first.insertion + 1));
    let again = Says::Slots(vec![slot("A", card(), 3)]);
    script.says.lock().unwrap().push_back(again);
    assert_eq!(
        watch.until_inlay().reading.uid.as_deref(),
        Some("04090909090909")
    );
}

#[test]
fn a_card_that_stops_answering_is_gone_though_the_service_does_not_say_so() {
    let slots = Says::Slots(vec![slot("A", card(), 1)]);
    let gone = vec![Err(Fault::Removed); 8];
    let (mut watch, script) = watch([slots], &[vec![Ok(())], gone].concat());
    let first = watch.until_inlay();
    watch.until_empty();
    assert!(script.cards.lock().unwrap().is_empty());
    // The card that answers now was placed unnoticed.
    let failed = watch.until("it is told", |on| matches!(on, OnReader::Failed(_)));
    assert!(matches!(&failed, OnReader::Failed(failed)
        if failed.trouble.kind == "swapped" && failed.insertion == first.insertion + 1));
}

#[test]
fn a_card_that_stays_is_read_once_however_often_the_service_tells_of_it() {
    let same = Says::Slots(vec![slot("A", card(), 1)]);
    let (mut watch, script) = watch(vec![same; 20], &[]);
    watch.until_inlay();
    script
        .says
        .lock()
        .unwrap()
        .push_back(Says::Slots(vec![slot("A", Occupant::Nothing, 2)]));
    watch.until_empty();
    script
        .says
        .lock()
        .unwrap()
        .push_back(Says::Slots(vec![slot("A", card(), 3)]));
    assert_eq!(watch.until_inlay().insertion, 2);
}

#[test]
fn a_card_that_another_program_holds_is_read_as_soon_as_it_lets_go() {
    let held = [Err(Fault::Sharing), Err(Fault::Sharing), Ok(())];
    let (mut watch, _) = watch([Says::Slots(vec![slot("A", card(), 1)])], &held);
    let held = watch.until("it is held", |on| matches!(on, OnReader::Failed(_)));
    assert!(matches!(&held, OnReader::Failed(failed) if failed.trouble.kind == "sharing"));
    watch.until_inlay();
}

#[test]
fn each_rare_error_is_told_in_words_and_the_next_card_is_read() {
    for (fault, kind) in [
        (Fault::Reset, "reset"),
        (Fault::Unsupported, "unsupported"),
        (Fault::Mute, "mute"),
        (Fault::Removed, "removed"),
        (Fault::Other("Card protocol mismatch".to_owned()), "other"),
    ] {
        let (mut watch, script) = watch([Says::Slots(vec![slot("A", card(), 1)])], &[Err(fault)]);
        let failed = watch.until("it fails", |on| matches!(on, OnReader::Failed(_)));
        assert!(
            matches!(&failed, OnReader::Failed(failed) if failed.trouble.kind == kind && failed.trouble.text.ends_with('.'))
        );
        script
            .says
            .lock()
            .unwrap()
            .push_back(Says::Slots(vec![slot("A", card(), 3)]));
        watch.until_inlay();
    }
}

#[test]
fn a_card_that_does_not_answer_and_a_reader_that_does_not_are_told_apart() {
    let says = [Says::Slots(vec![
        slot("A", Occupant::Mute, 1),
        slot("B", Occupant::Unavailable, 0),
    ])];
    let (mut watch, _) = watch(says, &[]);
    watch.table("both", |table| {
        let [a, b] = &table.readers[..] else {
            return None;
        };
        let mute = matches!(&a.on, OnReader::Failed(failed) if failed.trouble.kind == "mute");
        (mute && b.on == OnReader::Unavailable).then_some(())
    });
}

#[test]
fn a_slot_of_a_security_module_is_never_read() {
    let sam = "ACS ACR1252 1S CL Reader [ACR1252 SAM Interface] 01 00";
    let says = [Says::Slots(vec![slot(sam, card(), 1)])];
    let (mut watch, _) = watch(says.clone(), &[]);
    watch.until("the module's slot", |on| *on == OnReader::Module);
    let mut script = Script::default();
    script.says.lock().unwrap().extend(says);
    assert_eq!(doctor::look(&mut script), [Sight::Module(sam.to_owned())]);
}

/// The answer to reset of an NXP module: its historical bytes are "MIFARE Plus SAM".
const SAM: &str = "3BDF18FF81F1FE43003F03834D494641524520506C75732053414D3B";

fn hex(text: &str) -> Vec<u8> {
    let pair = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(pair).collect()
}

#[test]
fn a_security_module_is_told_by_its_answer_to_reset_whatever_its_slot_is_called() {
    for (name, atr) in [
        ("ACS ACR1252 1S CL Reader 00 01", SAM),
        ("ACS ACR1252 1S CL Reader(1)", SAM),
        ("ACS ACR1252 1S CL Reader(2)", SAM),
        ("ACS ACR1281 1S Dual Reader 00 02", SAM),
        // Modules and cards with other texts, or without one.
        (
            "ACS ACR1281 1S Dual Reader 00 00",
            "3BDF18FF81F1FE43001F034D494641524520506C75732053414D98",
        ),
        ("ACS ACR122U PICC Interface 00 00", "3B00"),
        ("Reader 01", "3B6800000073C84013009000"),
        ("Reader 01", "3F65250052096A9000"),
    ] {
        let module = Occupant::Card { atr: hex(atr) };
        let inlay_at = |events, occupant| slot("ACS ACR1252 1S CL Reader 00 00", occupant, events);
        let both = |events, occupant| {
            Says::Slots(vec![
                inlay_at(events, occupant),
                slot(name, module.clone(), 1),
            ])
        };
        let (mut watch, script) = watch([both(0, Occupant::Nothing)], &[]);
        watch.until("the module's slot", |on| *on == OnReader::Module);
        // Inlays on the other slot are read as usual, and the module is never connected to.
        for events in [1_u32, 3] {
            let laid = both(events, card());
            script.says.lock().unwrap().push_back(laid);
            assert_eq!(
                watch.until_inlay().insertion,
                u64::from(events.div_ceil(2)),
                "{name}"
            );
            let taken = both(events + 1, Occupant::Nothing);
            script.says.lock().unwrap().push_back(taken);
            watch.table("it is taken away", |table| {
                let on = table.readers.iter().map(|place| &place.on);
                let on: Vec<_> = on.collect();
                (on == [&OnReader::Nothing, &OnReader::Module]).then_some(())
            });
        }
        let mut script = Script::default();
        let says = both(0, Occupant::Nothing);
        script.says.lock().unwrap().push_back(says);
        let reader = "ACS ACR1252 1S CL Reader 00 00".to_owned();
        let seen = doctor::look(&mut script);
        assert_eq!(
            seen,
            [Sight::Reader(reader), Sight::Module(name.to_owned())]
        );
        assert!(script.cards.lock().unwrap().is_empty());
    }
}

#[test]
fn a_contactless_card_is_read_whatever_its_answer_to_reset_says_behind_its_head() {
    for atr in [
        "3B8180018080",
        "3B80800101",
        "3B8F8001804F0CA000000306030001000000006A",
        "3B8B8001004D49464152452053414DAA",
    ] {
        let laid = Occupant::Card { atr: hex(atr) };
        let (mut watch, _) = watch([Says::Slots(vec![slot("A", laid, 1)])], &[]);
        assert_eq!(watch.until_inlay().reading.atr, atr);
    }
}

#[test]
fn a_connection_that_ended_is_never_used_again_and_its_cards_are_gone() {
    let (mut watch, script) = watch([Says::Slots(vec![slot("A", card(), 1)])], &[]);
    watch.until_inlay();
    script
        .says
        .lock()
        .unwrap()
        .push_back(Says::Fault(Fault::NoService));
    let fault = watch.table("the service is gone", |table| {
        table.readers.is_empty().then_some(table.fault)
    });
    assert_eq!(fault.unwrap().kind, "no_service");
    script
        .says
        .lock()
        .unwrap()
        .push_back(Says::Slots(vec![slot("A", card(), 1)]));
    watch.until_inlay();
    assert_eq!(script.connected.load(Ordering::Relaxed), 2);
}

#[test]
fn the_doctor_raises_no_counter() {
    struct Untouchable;
    struct Slots;
    impl Stack for Untouchable {
        type Context = Slots;
        fn establish(&mut self) -> Result<Slots, Fault> {
            Ok(Slots)
        }
    }
    impl Context for Slots {
        fn slots(&mut self, _: Duration) -> Result<Vec<Slot>, Fault> {
            Ok(vec![slot("A", card(), 1)])
        }
        fn with_card<T>(
            &mut self,
            _: &str,
            work: impl FnOnce(&mut dyn Card) -> T,
        ) -> Result<T, Fault> {
            struct NeverAsked;
            impl Card for NeverAsked {
                fn transmit(&mut self, _: &[u8]) -> Result<Vec<u8>, Fault> {
                    panic!("the doctor asks a card nothing")
                }

                fn reset(&mut self) -> Result<Vec<u8>, Fault> {
                    panic!("the doctor resets no card")
                }

                fn keep_alive(&mut self) -> Result<(), Fault> {
                    panic!("the doctor holds no card")
                }
            }
            Ok(work(&mut NeverAsked))
        }
    }
    assert_eq!(
        doctor::look(&mut Untouchable),
        [Sight::Reader("A".to_owned())]
    );
}
