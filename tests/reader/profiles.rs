//! Known readers: each profile reads every chip, a wrong one is recognised by the reader's answers,
//! and beep and light are the owner's.

use tapdesk::reader::card::{Card, Fault};
use tapdesk::reader::inlay::{Chip, read};
use tapdesk::reader::profile::{Profile, Way};
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

#[test]
fn an_acr122u_beeps_and_shows_lights_unless_readers_are_to_be_quiet() {
    in_own_process(|mut pcscd| {
        let runtime = Runtime::new().unwrap();
        pcscd.restart_as("ACS ACR122U PICC Interface");
        let mut watch = Watch::start();
        let own_beep = |switch| vec![0xFF, 0x00, 0x52, switch, 0x00];
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
