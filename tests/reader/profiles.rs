//! Known readers: each profile reads every chip, a wrong one is recognised by the reader's answers,
//! and beep and light are the owner's.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tapdesk::reader::board::OnReader;
use tapdesk::reader::card::{Card, Context, Fault, Occupant, Slot, Stack};
use tapdesk::reader::inlay::{Chip, read};
use tapdesk::reader::monitor::Monitor;
use tapdesk::reader::profile::{Profile, Way};
use tapdesk_service::clock::SystemClock;
use tapdesk_service::inlay::Technology;
use tapdesk_tests::eventually;
use tapdesk_tests::virtual_card::VirtualCard;
use tapdesk_tests::virtual_card::type2::{PassesOn, Type2Chip, VirtualType2};
use tapdesk_tests::virtual_reader::in_own_process;
use tokio::runtime::Runtime;

use crate::chips::bottle;
use crate::readings::Direct;
use crate::table::Watch;

const UID: [u8; 7] = [0x04, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66];
const URL: &str = "https://tags.example/t/bottle-41";

/// A chip on a reader that has, or claims to have, this profile.
struct Profiled<C> {
    card: Direct<C>,
    profile: &'static Profile,
}

impl<C: VirtualCard> Card for Profiled<C> {
    fn transmit(&mut self, command: &[u8]) -> Result<Vec<u8>, Fault> {
        self.card.transmit(command)
    }

    fn reset(&mut self) -> Result<Vec<u8>, Fault> {
        self.card.reset()
    }

    fn keep_alive(&mut self) -> Result<(), Fault> {
        self.card.keep_alive()
    }

    fn profile(&self) -> &'static Profile {
        self.profile
    }
}

/// Every profile with every kind of reader, right and wrong ones.
fn pairs() -> Vec<(&'static Profile, PassesOn)> {
    let profiles = Profile::known().iter().chain([Profile::generic()]);
    let ways = [
        PassesOn::InSession,
        PassesOn::ByController,
        PassesOn::PassThrough,
    ];
    let pairs = profiles.flat_map(|profile| ways.map(|way| (profile, way)));
    pairs.collect()
}

/// Whether a profile finds the way of a reader, at once or by falling back.
fn finds(profile: &Profile, passes_on: PassesOn) -> bool {
    let way = match passes_on {
        PassesOn::InSession => Way::Session,
        PassesOn::ByController => Way::Controller,
        PassesOn::PassThrough => Way::PassThrough,
    };
    profile.ways().any(|one| one == way)
}

#[test]
fn each_profile_reads_every_chip_and_a_wrong_one_falls_back() {
    for (profile, passes_on) in pairs() {
        let what = format!("{} {passes_on:?}", profile.name);
        for (kind, technology, shows_its_kind) in [
            (Type2Chip::Ntag213, Technology::Ntag213, true),
            (Type2Chip::Ntag215, Technology::Ntag215, true),
            (Type2Chip::Ntag216, Technology::Ntag216, true),
            (Type2Chip::Ultralight, Technology::Ultralight, true),
            (Type2Chip::UltralightEv1, Technology::Ultralight, false),
            (Type2Chip::Ntag210, Technology::Ntag210, false),
            (Type2Chip::Ntag212, Technology::Ntag212, false),
            (Type2Chip::Ntag213Tt, Technology::Ntag213Tt, false),
            (Type2Chip::Ntag223Dna, Technology::Ntag223Dna, false),
            (Type2Chip::Ntag224Dna, Technology::Ntag224Dna, false),
        ] {
            let card = VirtualType2::with_url(kind, UID, URL).on_reader(passes_on);
            let atr = card.atr();
            let card = Direct(card);
            let mut card = Profiled { card, profile };
            let reading = read(&mut card, &atr).0.unwrap();
            let expected = if shows_its_kind || finds(profile, passes_on) {
                Chip::Known(technology)
            } else {
                Chip::OtherType2
            };
            assert_eq!(
                (reading.chip, reading.url.as_deref()),
                (expected, Some(URL)),
                "{what} {kind:?}"
            );
            // It can be written afterwards.
            assert!(!card.card.0.in_session, "{what} {kind:?}");
            let answer = card.transmit(&[0xFF, 0xB0, 0x00, 0x04, 0x10]).unwrap();
            assert_eq!(answer.len(), 18, "{what} {kind:?}");
        }
        let card = bottle();
        let atr = card.atr();
        let card = Direct(card);
        let reading = read(&mut Profiled { card, profile }, &atr).0.unwrap();
        assert_eq!(reading.chip, Chip::Known(Technology::Ntag424Dna), "{what}");
    }
}

#[test]
fn a_chip_that_does_not_know_a_question_is_awake_afterwards_on_each_reader() {
    for (profile, passes_on) in pairs() {
        let card = VirtualType2::with_url(Type2Chip::Ntag203, UID, URL).on_reader(passes_on);
        let atr = card.atr();
        let card = Direct(card);
        let mut card = Profiled { card, profile };
        let reading = read(&mut card, &atr).0.unwrap();
        assert_eq!(reading.chip, Chip::OtherType2);
        let answer = card.transmit(&[0xFF, 0xB0, 0x00, 0x04, 0x10]).unwrap();
        assert_eq!(answer.len(), 18, "{} {passes_on:?}", profile.name);
    }
}

/// An ACR1252U with two slots. It answers escape commands, which the virtual driver does not.
#[derive(Clone, Default)]
struct Acr1252 {
    /// Whether an inlay is on it.
    is_placed: Arc<AtomicBool>,
    /// The escape commands that it got.
    escapes: Arc<Mutex<Vec<Vec<u8>>>>,
}

const PICC: &str = "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00";
const SAM: &str = "ACS ACR1252 Dual Reader [ACR1252 Dual Reader SAM] 01 00";

impl Stack for Acr1252 {
    type Context = Self;

    fn establish(&mut self) -> Result<Self, Fault> {
        Ok(self.clone())
    }
}

impl Context for Acr1252 {
    fn slots(&mut self, _: Duration) -> Result<Vec<Slot>, Fault> {
        // A real stack blocks until a reader changes, or its time is over.
        std::thread::sleep(Duration::from_millis(5));
        let atr = bottle().atr();
        let card = Occupant::Card { atr };
        let is_placed = self.is_placed.load(Ordering::Relaxed);
        let slot = |reader: &str, occupant, events| Slot {
            reader: reader.to_owned(),
            occupant,
            events,
        };
        let on_picc = if is_placed {
            card.clone()
        } else {
            Occupant::Nothing
        };
        Ok(vec![
            slot(PICC, on_picc, u32::from(is_placed)),
            slot(SAM, card, 1),
        ])
    }

    fn with_card<T>(
        &mut self,
        reader: &str,
        work: impl FnOnce(&mut dyn Card) -> T,
    ) -> Result<T, Fault> {
        assert_eq!(reader, PICC, "a module is asked nothing");
        let mut card = Escaping {
            card: Direct(bottle()),
            reader: self.clone(),
        };
        Ok(work(&mut card))
    }
}

/// A chip on an [`Acr1252`].
struct Escaping<C> {
    card: Direct<C>,
    reader: Acr1252,
}

impl<C: VirtualCard> Card for Escaping<C> {
    fn transmit(&mut self, command: &[u8]) -> Result<Vec<u8>, Fault> {
        self.card.transmit(command)
    }

    fn reset(&mut self) -> Result<Vec<u8>, Fault> {
        self.card.reset()
    }

    fn keep_alive(&mut self) -> Result<(), Fault> {
        self.card.keep_alive()
    }

    fn control(&mut self, command: &[u8]) -> Result<Vec<u8>, Fault> {
        let mut escapes = self.reader.escapes.lock().unwrap();
        escapes.push(command.to_vec());
        // The behaviour of a new reader is 7F.
        let value = match *command {
            [0xE0, 0x00, 0x00, 0x21, 0x00] => 0x7F,
            _ => *command.last().unwrap(),
        };
        Ok(vec![0xE1, 0x00, 0x00, 0x00, 0x01, value])
    }

    fn profile(&self) -> &'static Profile {
        Profile::of(PICC)
    }
}

#[test]
fn an_acr1252u_is_controlled_by_escape_commands_and_its_module_is_left_out() {
    let runtime = Runtime::new().unwrap();
    let read_behaviour = vec![0xE0, 0x00, 0x00, 0x21, 0x00];
    let behaviour = |bits: u8| vec![0xE0, 0x00, 0x00, 0x21, 0x01, bits];
    let light = |lights: u8| vec![0xE0, 0x00, 0x00, 0x29, 0x01, lights];
    for (is_quiet, expected) in [
        // It beeps already, so nothing is stored in it. A light stays until it is switched off.
        (
            false,
            vec![read_behaviour.clone(), light(0x02), light(0x00)],
        ),
        // Only the bit of its own beep changes, and the light goes out.
        (true, vec![read_behaviour, behaviour(0x77), light(0x00)]),
    ] {
        let reader = Acr1252::default();
        let clock = Arc::new(SystemClock::start());
        let mut watch = Watch::of(Monitor::start(reader.clone(), clock).unwrap());
        watch.until("the module's slot", |on| *on == OnReader::Module);
        watch.board().be_quiet(is_quiet);
        reader.is_placed.store(true, Ordering::Relaxed);
        watch.until_inlay();
        let got = eventually("the signals", || async {
            let escapes = reader.escapes.lock().unwrap().clone();
            (escapes.len() >= expected.len()).then_some(escapes)
        });
        assert_eq!(runtime.block_on(got), expected);
    }
}

#[test]
fn an_acr122u_beeps_and_shows_lights_unless_readers_are_to_be_quiet() {
    in_own_process(|mut pcscd| {
        let runtime = Runtime::new().unwrap();
        pcscd.restart_as("ACS ACR122U PICC Interface");
        let mut watch = Watch::start();
        let own_beep = |switch: u8| vec![0xFF, 0x00, 0x52, switch, 0x00];
        let green = vec![0xFF, 0x00, 0x40, 0xAA, 0x04, 0x01, 0x01, 0x01, 0x00];
        for (is_quiet, expected) in [
            (false, vec![own_beep(0xFF), green.clone()]),
            // Its own beep is switched once.
            (false, vec![green.clone()]),
            (true, vec![own_beep(0x00)]),
            (true, vec![]),
            (false, vec![own_beep(0xFF), green]),
        ] {
            watch.board().be_quiet(is_quiet);
            let chip = VirtualType2::with_url(Type2Chip::Ntag213, UID, URL);
            let signals = chip.signals();
            let laid = pcscd.lay_down(chip.on_reader(PassesOn::ByController));
            watch.until_inlay();
            let got = eventually("the signals", || async {
                let all = signals.all();
                (all.len() >= expected.len()).then_some(all)
            });
            assert_eq!(runtime.block_on(got), expected);
            drop(laid);
            watch.until_empty();
            assert_eq!(signals.all(), expected, "and no more");
        }
    });
}
