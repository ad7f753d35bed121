//! Every step with every fault, and random faults on thousands of chips.

use tapdesk_service::encoding::{Goal, Imported, State};
use tapdesk_service::entropy::{SeededEntropy, bytes};
use tapdesk_service::id::TagId;
use tapdesk_service::inlay::key::AesKey;
use tapdesk_tests::length;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;

use super::bench::{Bench, Trouble, lrp_form, tamper_form, uid};

const TROUBLES: [Trouble; 7] = [
    Trouble::TornBefore,
    Trouble::TornAfter,
    Trouble::DeskKilledBefore,
    Trouble::DeskKilledAfter,
    Trouble::Killed,
    Trouble::Lost,
    Trouble::Swapped,
];

/// The kinds of encodings.
#[derive(Clone, Copy, Debug)]
enum Story {
    /// A chip in its factory state.
    Blank,
    /// One of our chips, with other keys.
    Again,
    /// Back to the factory state.
    Wipe,
    /// A blank chip with a tamper loop.
    Loop,
    /// A blank chip that is switched to LRP mode.
    Lrp,
    /// One of our chips in AES mode that is switched to LRP mode.
    AgainLrp,
    /// A chip with five keys of another program, which were imported.
    Imported,
    /// The same, back to the factory state.
    ImportedWipe,
}

impl Story {
    fn begin(self, seed: u64) -> (Bench, VirtualNtag424) {
        let uid = uid(u32::try_from(seed & 0xFFFF_FFFF).unwrap());
        let mut bench = Bench::new(uid, seed);
        let mut chip = VirtualNtag424::new(uid);
        match self {
            Self::Blank => return (bench, chip),
            Self::Loop => {
                return (
                    Bench::of(uid, seed, tamper_form),
                    VirtualNtag424::tag_tamper(uid),
                );
            }
            Self::Lrp => return (Bench::of(uid, seed, lrp_form), chip),
            Self::AgainLrp => {
                bench.lay(&mut chip, |_| None);
                bench.form = lrp_form;
                bench.anew(Goal::Tag(TagId::new(42)));
            }
            Self::Again => {
                bench.lay(&mut chip, |_| None);
                bench.anew(Goal::Tag(TagId::new(42)));
            }
            Self::Wipe => {
                bench.lay(&mut chip, |_| None);
                bench.anew(Goal::Factory);
            }
            Self::Imported | Self::ImportedWipe => {
                let keys =
                    [0x10, 0x21, 0x32, 0x43, 0x54].map(|byte| AesKey::from_bytes([byte; 16]));
                bench.journal.imported = Imported(keys.clone().map(Some));
                // The versions that other programs write say nothing.
                chip = chip.with_keys(keys, u8::try_from(seed % 3).unwrap());
                if matches!(self, Self::ImportedWipe) {
                    bench.anew(Goal::Factory);
                }
            }
        }
        (bench, chip)
    }

    fn ended_well(self, bench: &Bench, chip: &VirtualNtag424) -> bool {
        match self {
            Self::Blank | Self::Again | Self::Imported => {
                bench.is_whole(chip) && !chip.speaks_lrp()
            }
            Self::Loop => bench.is_whole(chip) && chip.measures_loop(),
            Self::Lrp | Self::AgainLrp => bench.is_whole(chip) && chip.speaks_lrp(),
            Self::Wipe | Self::ImportedWipe => {
                bench.encoding.state == State::Reset
                    && (0..5).all(|slot| chip.key(slot).is_factory() && chip.key_version(slot) == 0)
                    && !chip.ndef_settings().has_sdm()
            }
        }
    }
}

#[test]
fn every_step_with_every_trouble_is_finished_when_the_chip_is_laid_down_again() {
    for story in [
        Story::Blank,
        Story::Again,
        Story::Wipe,
        Story::Loop,
        Story::Lrp,
        Story::AgainLrp,
        Story::Imported,
        Story::ImportedWipe,
    ] {
        let (mut bench, mut chip) = story.begin(1);
        let commands = bench.lay(&mut chip, |_| None);
        assert!(story.ended_well(&bench, &chip), "{:?}", bench.encoding);
        assert!(commands > 30, "{commands}");
        for trouble in TROUBLES {
            for at in 0..commands {
                let (mut bench, mut chip) = story.begin(2);
                let before = chip.tally().refusals;
                bench.lay(&mut chip, |number| (number == at).then_some(trouble));
                assert!(bench.knows(&chip), "{story:?} {trouble:?} at {at}");
                if !bench.encoding.state.is_open() && !story.ended_well(&bench, &chip) {
                    // Another chip was refused; a new encoding of this chip begins.
                    assert_eq!(trouble, Trouble::Swapped);
                    bench.anew(bench.encoding.goal);
                }
                if bench.encoding.state.is_open() {
                    bench.lay(&mut chip, |_| None);
                }
                let told = format!("{story:?} {trouble:?} at {at}: {:?}", bench.encoding.turn());
                assert!(story.ended_well(&bench, &chip), "{told}");
                assert!(chip.tally().refusals - before <= 2, "{told}");
            }
        }
    }
}

/// Places one chip until it is done, with faults at up to 30 % of its commands in the first ten
/// insertions. Returns how many proofs of key 0 had failed in a row at the end.
fn through_random_trouble(number: u64) -> u16 {
    let entropy = SeededEntropy::new(number);
    // LRP takes about thirty times the work of AES.
    let story = match (number % 128, number % 4) {
        (126, _) => Story::Lrp,
        (127, _) => Story::AgainLrp,
        (112..=118, _) => Story::Imported,
        (119..=125, _) => Story::ImportedWipe,
        (_, 0 | 1) => Story::Blank,
        (_, 2) => Story::Again,
        _ => Story::Wipe,
    };
    let (mut bench, mut chip) = story.begin(number);
    let [rate] = bytes::<1>(&entropy);
    let rate = rate % 77;
    let mut worst = 0;
    let mut insertions = 0;
    while !story.ended_well(&bench, &chip) {
        insertions += 1;
        if !bench.encoding.state.is_open() {
            bench.anew(bench.encoding.goal);
        }
        let before = chip.tally().refusals;
        bench.lay(&mut chip, |_| {
            let [dice, which] = bytes::<2>(&entropy);
            let trouble = TROUBLES[usize::from(which) % TROUBLES.len()];
            (insertions <= 10 && dice < rate).then_some(trouble)
        });
        let turn = bench.encoding.turn().unwrap();
        let told = || format!("chip {number}, {story:?}, insertion {insertions}: {turn:?}");
        assert!(bench.knows(&chip), "{}", told());
        assert!(chip.tally().refusals - before <= 2, "{}", told());
        assert!(insertions <= 11, "{}", told());
        worst = worst.max(chip.failures(0).in_a_row);
    }
    worst
}

#[test]
fn no_chip_is_lost_to_random_trouble() {
    let chips = length(2_000, 1_000_000);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let worst = std::thread::scope(|scope| {
        let of_thread = |first: usize| {
            let numbers = (first..chips).step_by(threads);
            let worst = numbers.map(|number| through_random_trouble(number as u64));
            worst.max().unwrap_or_default()
        };
        let all: Vec<_> = (0..threads)
            .map(|first| scope.spawn(move || of_thread(first)))
            .collect();
        let worst = all.into_iter().map(|thread| thread.join().unwrap());
        worst.max().unwrap_or_default()
    });
    // The chip begins to delay at 50 failures.
    assert!(worst < 50, "{worst}");
}
