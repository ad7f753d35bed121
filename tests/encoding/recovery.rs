//! Recognizing a chip, and the ways to continue with it.

use tapdesk_service::encoding::journal::{TORN_MAX, UNPROVED_MAX};
use tapdesk_service::encoding::{
    Candidate, Generation, Goal, Imported, Journal, Reason, Root, SlotState, Source, Stage, State,
    StateWord,
};
use tapdesk_service::id::{EncodingRootId, TagId};
use tapdesk_service::inlay::key::AesKey;
use tapdesk_tests::virtual_card::ntag424::{FileSettings, VirtualNtag424};

use super::bench::{Bench, Trouble, uid};

fn chip() -> VirtualNtag424 {
    VirtualNtag424::new(uid(1))
}

/// Places a chip that must not be written. Returns the reason.
fn rejected(bench: &mut Bench, chip: &mut VirtualNtag424) -> Option<Reason> {
    let before = chip.tally();
    bench.lay(chip, |_| None);
    let after = chip.tally();
    assert!(after.refusals - before.refusals <= 2, "{after:?}");
    assert_eq!(after.writes, before.writes, "nothing is written");
    assert_eq!(bench.encoding.state.word(), StateWord::Rejected);
    bench.encoding.state.reason()
}

fn other_keys(byte: u8) -> [AesKey; 5] {
    std::array::from_fn(|slot| AesKey::from_bytes([byte + u8::try_from(slot).unwrap(); 16]))
}

#[test]
fn a_blank_chip_is_encoded_in_few_turns_without_a_refusal() {
    let (mut bench, mut chip) = (Bench::new(uid(1), 1), chip());
    bench.lay(&mut chip, |_| None);
    assert!(bench.is_whole(&chip), "{:?}", bench.encoding);
    assert_eq!(chip.tally().refusals, 0);
    assert_eq!(chip.counter(), 1);
    assert!(bench.encoding.seq <= 9, "{}", bench.encoding.seq);
    let keys: Vec<_> = (0..5).map(|slot| chip.key(slot).clone()).collect();
    for (index, key) in keys.iter().enumerate() {
        assert!(!key.is_factory() && !keys[..index].contains(key));
    }
}

#[test]
fn own_keys_are_random_and_in_the_journal() {
    let (mut bench, mut chip) = (Bench::new(uid(1), 1), chip());
    bench.own_keys = true;
    bench.lay(&mut chip, |_| None);
    assert!(bench.is_whole(&chip));
    assert_ne!(chip.key(1), &bench.roots.0[0].key(uid(1), 1, 1));
}

#[test]
fn a_foreign_chip_is_refused_after_two_questions_and_nothing_is_written() {
    for version in [0, 1, 77] {
        let mut bench = Bench::new(uid(1), 1);
        let mut chip = chip().with_keys(other_keys(3), version);
        let reason = rejected(&mut bench, &mut chip);
        assert_eq!(reason, Some(Reason::ForeignKey), "{version}");
    }
}

#[test]
fn a_chip_with_one_foreign_key_is_refused_before_the_first_write() {
    for slot in 1..5 {
        let (mut bench, mut chip) = (Bench::new(uid(1), 1), chip());
        chip.set_key(slot, AesKey::from_bytes([9; 16]), 5);
        let reason = rejected(&mut bench, &mut chip);
        assert_eq!(reason, Some(Reason::ForeignSlot), "{slot}");
    }
}

#[test]
fn zeros_with_a_version_of_another_tool_are_factory_keys() {
    let mut bench = Bench::new(uid(1), 1);
    let mut chip = chip().with_keys(std::array::from_fn(|_| AesKey::FACTORY), 1);
    bench.lay(&mut chip, |_| None);
    assert!(bench.is_whole(&chip), "{:?}", bench.encoding);
    assert!(chip.tally().refusals <= 2);
    assert_eq!(bench.encoding.generation, Some(2), "1 is another tool's");
}

#[test]
fn what_a_chip_cannot_be_is_told_before_a_key_is_asked_for() {
    for (mut chip, reason) in [
        (VirtualNtag424::new(uid(2)), Reason::UidMismatch),
        (chip().with_random_uid(), Reason::RandomId),
        (chip().with_lrp(), Reason::Lrp),
        (
            chip().with_version([[4, 1, 1, 1, 0, 0x13, 4], [4, 1, 1, 1, 0, 0x13, 4]], [0; 7]),
            Reason::NotEncodable,
        ),
    ] {
        let mut bench = Bench::new(uid(1), 1);
        assert_eq!(rejected(&mut bench, &mut chip), Some(reason));
    }
    let mut chip = chip();
    // These settings can never be changed again.
    chip.set_ndef_settings(FileSettings::plain(0xE, 0xE, 0xE, 0xF));
    let mut bench = Bench::new(uid(1), 1);
    assert_eq!(rejected(&mut bench, &mut chip), Some(Reason::ReadOnly));
}

#[test]
fn a_chip_whose_journal_is_lost_opens_by_its_version_and_gets_other_keys() {
    let (mut bench, mut chip) = (Bench::new(uid(1), 1), chip());
    bench.lay(&mut chip, |_| None);
    // A database from before the chip was restored: its root can only open chips.
    bench.journal = Journal::new(uid(1));
    bench.roots.0[0].retired = true;
    bench.roots.0.insert(
        0,
        Root {
            id: EncodingRootId::new(2),
            key: AesKey::from_bytes([0xB8; 16]),
            retired: false,
        },
    );
    bench.anew(Goal::Tag(TagId::new(41)));
    bench.lay(&mut chip, |_| None);
    assert!(bench.is_whole(&chip), "{:?}", bench.encoding);
    assert_eq!(bench.encoding.generation, Some(2));
    assert!(chip.tally().refusals <= 2);
    assert_eq!(chip.key(0), &bench.roots.0[0].key(uid(1), 0, 2));
}

#[test]
fn a_half_encoded_chip_whose_journal_is_lost_is_finished() {
    let whole = Bench::new(uid(1), 1).lay(&mut chip(), |_| None);
    for at in 0..whole {
        let (mut bench, mut chip) = (Bench::new(uid(1), 1), chip());
        bench.lay(&mut chip, |number| {
            (number == at).then_some(Trouble::TornAfter)
        });
        bench.journal = Journal::new(uid(1));
        bench.anew(Goal::Tag(TagId::new(41)));
        bench.lay(&mut chip, |_| None);
        assert!(bench.is_whole(&chip), "{at}: {:?}", bench.encoding.turn());
        assert!(chip.tally().refusals <= 2, "{at}");
    }
}

#[test]
fn an_imitation_of_a_known_chip_that_seems_blank_learns_nothing() {
    let (mut bench, mut known) = (Bench::new(uid(1), 1), chip());
    bench.lay(&mut known, |_| None);
    bench.anew(Goal::Tag(TagId::new(42)));
    let mut imitation = chip();
    let reason = rejected(&mut bench, &mut imitation);
    assert_eq!(reason, Some(Reason::NotGenuine));
    // A person with the right confirms it.
    bench.anew(Goal::Tag(TagId::new(42)));
    bench.replace = true;
    bench.lay(&mut imitation, |_| None);
    assert!(bench.is_whole(&imitation));
    assert_eq!(
        bench.encoding.generation,
        Some(2),
        "no generation is sent twice"
    );
}

#[test]
fn keys_that_another_chip_may_have_heard_are_never_sent_again() {
    // An imitation takes keys 1 to 4, or all five, and disappears. Then the chip itself comes.
    let whole = Bench::new(uid(1), 1).lay(&mut chip(), |_| None);
    for at in 0..whole {
        let (mut bench, mut imitation, mut itself) = (Bench::new(uid(1), 1), chip(), chip());
        bench.lay(&mut imitation, |number| {
            (number == at).then_some(Trouble::TornAfter)
        });
        let heard: Vec<_> = (0..5).map(|slot| imitation.key(slot).clone()).collect();
        bench.lay(&mut itself, |_| None);
        if let State::Rejected(reason) = bench.encoding.state {
            assert_eq!(reason, Reason::NotGenuine);
            continue;
        }
        assert!(bench.is_whole(&itself), "{at}: {:?}", bench.encoding.turn());
        for (slot, key) in (0..5).zip(&heard) {
            assert!(
                key.is_factory() || itself.key(slot) != key,
                "{at}, slot {slot}"
            );
        }
    }
}

#[test]
fn a_chip_that_delays_is_asked_until_it_answers() {
    use tapdesk_tests::virtual_card::ntag424::Failures;
    let (mut bench, mut chip) = (Bench::new(uid(1), 1), chip());
    let (total, in_a_row) = (60, 60);
    chip.set_failures(0, Failures { total, in_a_row });
    bench.lay(&mut chip, |_| None);
    assert!(bench.is_whole(&chip), "{:?}", bench.encoding.turn());
}

#[test]
fn a_locked_chip_is_named() {
    use tapdesk_tests::virtual_card::ntag424::Failures;
    let (mut bench, mut chip) = (Bench::new(uid(1), 1), chip());
    let (total, in_a_row) = (1_000, 0);
    chip.set_failures(0, Failures { total, in_a_row });
    assert_eq!(rejected(&mut bench, &mut chip), Some(Reason::Locked));
}

#[test]
fn a_wiped_chip_is_blank_and_can_be_encoded_again() {
    let (mut bench, mut chip) = (Bench::new(uid(1), 1), chip());
    bench.lay(&mut chip, |_| None);
    bench.anew(Goal::Factory);
    bench.lay(&mut chip, |_| None);
    assert_eq!(bench.encoding.state, State::Reset);
    for slot in 0..5 {
        assert_eq!(bench.name(&chip, slot), Some(Candidate::Factory));
        assert_eq!(chip.key_version(slot), 0);
    }
    let blank = VirtualNtag424::new(uid(1));
    for file in 1..=3 {
        assert_eq!(chip.file(file), blank.file(file), "{file}");
    }
    bench.anew(Goal::Tag(TagId::new(41)));
    bench.lay(&mut chip, |_| None);
    assert!(bench.is_whole(&chip), "{:?}", bench.encoding);
    assert_eq!(bench.encoding.generation, Some(2));
}

#[test]
fn a_chip_that_reads_back_otherwise_than_it_was_written_is_given_up() {
    for goal in [Goal::Tag(TagId::new(41)), Goal::Factory] {
        let (mut bench, mut chip) = (Bench::new(uid(1), 1), chip().with_other_settings_shown());
        bench.anew(goal);
        bench.lay(&mut chip, |_| None);
        let ended = &bench.encoding.state;
        let expected = &State::Rejected(Reason::NotEncodable);
        assert_eq!(ended, expected, "{goal:?}");
        let used = bench.journal.generations.len();
        assert!(used <= 4, "{used} generations of keys");
        assert!(bench.knows(&chip), "{goal:?}");
        assert_eq!(chip.tally().refusals, 0);
    }
}

#[test]
fn a_chip_that_is_never_proved_keeps_generations_for_whom_a_person_answers() {
    let (mut bench, mut chip) = (Bench::new(uid(1), 1), chip());
    let numbers = (1..=u8::MAX).take(UNPROVED_MAX);
    bench.journal.generations = numbers
        .map(|number| Generation {
            number,
            source: Source::Root(EncodingRootId::new(1)),
            slots: [SlotState::Planned; 5],
        })
        .collect();
    let reason = rejected(&mut bench, &mut chip);
    assert_eq!(reason, Some(Reason::NotEncodable));
    bench.anew(Goal::Tag(TagId::new(41)));
    bench.replace = true;
    bench.lay(&mut chip, |_| None);
    assert!(bench.is_whole(&chip), "{:?}", bench.encoding);
    // Once one key is verified, the other candidates do not matter.
    bench.anew(Goal::Tag(TagId::new(42)));
    bench.replace = false;
    bench.lay(&mut chip, |_| None);
    assert!(bench.is_whole(&chip), "{:?}", bench.encoding);
}

#[test]
fn who_may_replace_keys_gives_a_chip_its_chances_back() {
    for goal in [Goal::Tag(TagId::new(42)), Goal::Factory] {
        let ended_well = |bench: &Bench, chip: &VirtualNtag424| match goal {
            Goal::Tag(_) | Goal::NewTag => bench.is_whole(chip),
            Goal::Factory => bench.encoding.state == State::Reset,
        };
        let (mut bench, mut itself) = (Bench::new(uid(1), 1), chip());
        bench.lay(&mut itself, |_| None);
        // Another chip that has its UID, but not its keys.
        let mut other = chip().with_keys(other_keys(3), 1);
        for _ in 0..3 {
            bench.anew(goal);
            let reason = rejected(&mut bench, &mut other);
            assert_eq!(reason, Some(Reason::ForeignKey), "{goal:?}");
        }
        bench.anew(goal);
        let reason = rejected(&mut bench, &mut itself);
        assert_eq!(reason, Some(Reason::ForeignKey), "{goal:?}");
        bench.anew(goal);
        bench.replace = true;
        bench.lay(&mut itself, |_| None);
        assert!(ended_well(&bench, &itself), "{:?}", bench.encoding.turn());

        bench.replace = false;
        bench.journal.torn = TORN_MAX;
        bench.anew(goal);
        let reason = rejected(&mut bench, &mut itself);
        assert_eq!(reason, Some(Reason::Delayed), "{goal:?}");
        bench.anew(goal);
        bench.replace = true;
        bench.lay(&mut itself, |_| None);
        assert!(ended_well(&bench, &itself), "{:?}", bench.encoding.turn());
    }
}

#[test]
fn keys_that_a_chip_was_imported_with_open_its_slots() {
    let [_, meta, file, ..] = other_keys(3);
    let imported = || Imported([None, Some(meta.clone()), Some(file.clone()), None, None]);
    for version in [0, 1, 9] {
        let (mut bench, mut chip) = (Bench::new(uid(1), 1), chip());
        chip.set_key(1, meta.clone(), version);
        chip.set_key(2, file.clone(), version);
        bench.journal.imported = imported();
        bench.lay(&mut chip, |_| None);
        assert!(bench.is_whole(&chip), "{version}: {:?}", bench.encoding);
        assert_eq!(chip.tally().refusals, 0, "{version}");
    }
    // It has none of these keys any more, or only one of them.
    let mut one = chip();
    one.set_key(2, file.clone(), 0);
    for mut chip in [chip(), one] {
        let mut bench = Bench::new(uid(1), 1);
        bench.journal.imported = imported();
        bench.lay(&mut chip, |_| None);
        assert!(bench.is_whole(&chip), "{:?}", bench.encoding);
        assert!(chip.tally().refusals <= 1, "{:?}", chip.tally());
    }
}

#[test]
fn another_chip_that_lies_there_meanwhile_does_not_end_an_encoding() {
    let mut clean = Bench::new(uid(1), 1);
    clean.lay(&mut chip(), |_| None);
    let place = clean.sent.iter().position(|name| name == "ChangeKey 2");
    let (mut bench, mut itself) = (Bench::new(uid(1), 1), chip());
    bench.lay(&mut itself, |number| {
        (Some(number) == place).then_some(Trouble::Swapped)
    });
    let waits = State::Open(Stage::Interrupted, Some(Reason::UidMismatch));
    assert_eq!(bench.encoding.state, waits);
    for mut other in [
        VirtualNtag424::new(uid(2)),
        chip().with_random_uid(),
        chip().with_version([[4, 1, 1, 1, 0, 0x13, 4], [4, 1, 1, 1, 0, 0x13, 4]], [0; 7]),
    ] {
        bench.lay(&mut other, |_| None);
        assert_eq!(bench.encoding.state, waits);
        assert_eq!(other.tally().writes, 0);
    }
    bench.lay(&mut itself, |_| None);
    assert!(bench.is_whole(&itself), "{:?}", bench.encoding.turn());
}

/// Whether each change of key 0 follows, in the same session, the change of a key with a check sum.
fn is_guarded(sent: &[String]) -> bool {
    let mut checked = false;
    sent.iter().all(|name| {
        match &**name {
            "Authenticate key 0, second half" => checked = false,
            "ChangeKey 0" => return checked,
            name => checked |= name.starts_with("ChangeKey "),
        }
        true
    })
}

#[test]
fn key_0_is_changed_only_after_a_key_that_has_a_check_sum() {
    for goal in [Goal::Tag(TagId::new(42)), Goal::Factory] {
        let begin = || {
            let (mut bench, mut chip) = (Bench::new(uid(1), 1), chip());
            bench.lay(&mut chip, |_| None);
            assert!(is_guarded(&bench.sent));
            bench.anew(goal);
            (bench, chip)
        };
        let (mut bench, mut chip) = begin();
        for at in 0..bench.lay(&mut chip, |_| None) {
            let (mut bench, mut chip) = begin();
            bench.lay(&mut chip, |number| {
                (number == at).then_some(Trouble::TornBefore)
            });
            bench.lay(&mut chip, |_| None);
            assert!(is_guarded(&bench.sent), "{at}: {:?}", bench.sent);
        }
    }
}
