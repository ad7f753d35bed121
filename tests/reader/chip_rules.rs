//! The refusals of an NTAG 424 DNA, its failure counters, and its state after a removal (data sheet
//! sections 8.6, 9.1.9, 10; AN12196, figures 11 and 12).

use ntag424::types::{KeyNumber, NonMasterKeyNumber, ResponseStatus};
use ntag424::{AuthenticatedSession as _, Session, SessionError};
use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::key::AesKey;
use tapdesk_tests::virtual_card::ntag424::{FREE, Failures, FileSettings, NEVER, VirtualNtag424};
use tapdesk_tests::virtual_card::{Tear, TornOut, VirtualCard};

use crate::whole_chip::{FACTORY, InProcess, RANDOM, UID, run};

const SELECT: [u8; 13] = [
    0x00, 0xA4, 0x04, 0x00, 0x07, 0xD2, 0x76, 0, 0, 0x85, 1, 1, 0,
];
const BEGIN: [u8; 8] = [0x90, 0x71, 0, 0, 2, 0, 0, 0];

fn status(answer: &[u8]) -> u16 {
    u16::from_be_bytes(*answer.last_chunk().unwrap())
}

/// The status of a command after the application was selected.
fn says(chip: &mut VirtualNtag424, command: &[u8]) -> u16 {
    chip.apdu(&SELECT);
    status(&chip.apdu(command))
}

fn wrong_proof(chip: &mut VirtualNtag424) -> u16 {
    let proof = [&[0x90, 0xAF, 0, 0, 32][..], &[7; 32], &[0]].concat();
    status(&chip.apdu(&proof))
}

fn authenticate(chip: &mut VirtualNtag424, key: KeyNumber) {
    let mut card = InProcess(chip);
    let session = Session::new().authenticate_aes(&mut card, key, &FACTORY, RANDOM);
    drop(run(session).unwrap());
}

#[test]
fn a_failure_is_counted_when_a_proof_begins_and_taken_back_when_it_is_right() {
    let mut chip = VirtualNtag424::new(UID);
    assert_eq!(says(&mut chip, &BEGIN), 0x91AF);
    let begun = Failures {
        total: 1,
        in_a_row: 1,
    };
    assert_eq!(chip.failures(0), begun, "torn away here, it has failed");
    assert_eq!(wrong_proof(&mut chip), 0x91AE);
    assert_eq!(chip.failures(0), begun, "the second half counts nothing");
    chip.set_failures(
        0,
        Failures {
            total: 30,
            in_a_row: 20,
        },
    );
    authenticate(&mut chip, KeyNumber::Key0);
    let after = Failures {
        total: 21,
        in_a_row: 0,
    };
    assert_eq!(
        (chip.failures(0), chip.failures(1)),
        (after, Failures::default())
    );
    assert_eq!(chip.tally().refusals, 1);
}

#[test]
fn fifty_failures_in_a_row_delay_a_proof_within_the_activation_and_a_thousand_lock_the_key() {
    let mut chip = VirtualNtag424::new(UID);
    for _ in 0..50 {
        chip.power_on();
        assert_eq!(says(&mut chip, &BEGIN), 0x91AF);
    }
    chip.power_on();
    for wait in 1..=3 {
        // Removing the chip does not shorten the delay.
        chip.power_on();
        for _ in 0..wait {
            assert_eq!(says(&mut chip, &BEGIN), 0x91AD);
        }
        assert_eq!(says(&mut chip, &BEGIN), 0x91AF, "the delay is spent");
    }
    chip.power_on();
    let delayed = |chip: &mut VirtualNtag424| says(chip, &BEGIN) == 0x91AD;
    while delayed(&mut chip) {}
    chip.power_on();
    assert_eq!(chip.failures(0).in_a_row, 54);
    // A new key starts without failures.
    chip.set_key(0, AesKey::FACTORY, 0);
    assert_eq!(chip.failures(0), Failures::default());

    chip.set_failures(
        0,
        Failures {
            total: 1000,
            in_a_row: 1,
        },
    );
    assert_eq!(says(&mut chip, &BEGIN), 0x919D);
    assert_eq!(
        says(&mut chip, &[0x90, 0x71, 0, 0, 2, 1, 0, 0]),
        0x91AF,
        "key 1 is not locked"
    );
}

#[test]
fn a_chip_in_lrp_mode_is_told_from_a_locked_one() {
    let mut chip = VirtualNtag424::new(UID).with_lrp();
    let lrp = [0x90, 0x71, 0, 0, 8, 0, 6, 2, 0, 0, 0, 0, 0, 0];
    assert_eq!(says(&mut chip, &BEGIN), 0x919D);
    chip.apdu(&SELECT);
    let answer = chip.apdu(&lrp);
    assert_eq!(
        (status(&answer), answer.len(), answer[0]),
        (0x91AF, 19, 0x01)
    );
    assert_eq!(says(&mut VirtualNtag424::new(UID), &lrp), 0x919D);
}

#[test]
fn each_refusal_has_its_status() {
    let mut chip = VirtualNtag424::new(UID);
    let change_key = [&[0x90, 0xC4, 0, 0, 41, 1][..], &[0; 40], &[0]].concat();
    let change_settings = [&[0x90, 0x5F, 0, 0, 25, 2][..], &[0; 24], &[0]].concat();
    for (command, refused) in [
        (&change_key[..], 0x91AE),
        (&change_settings, 0x91AE),
        (&[0x90, 0x51, 0, 0, 0], 0x91AE),
        (&[0x90, 0xF6, 0, 0, 1, 2, 0], 0x919D),
        (&[0x90, 0x77, 0, 0, 1, 0, 0], 0x919D),
        (&[0x90, 0x64, 0, 0, 1, 5, 0], 0x9140),
        (&[0x90, 0x71, 0, 0, 2, 5, 0, 0], 0x9140),
        (&[0x90, 0xF5, 0, 0, 1, 4, 0], 0x91F0),
        (&[0x90, 0xAD, 0, 0, 7, 2, 0, 1, 0, 0, 0, 0, 0], 0x91BE),
        (&[0x90, 0xAD, 0, 0, 7, 3, 0, 0, 0, 0, 0, 0, 0], 0x91AE),
        (&[0x90, 0x8D, 0, 0, 8, 2, 0, 0, 0, 0, 0, 0, 9, 0], 0x919E),
        (&[0x90, 0x8D, 0, 0, 8, 2, 255, 0, 0, 2, 0, 0, 9, 0], 0x917E),
        (&[0x90, 0x8D, 0, 0, 8, 1, 0, 0, 0, 1, 0, 0, 9, 0], 0x91AE),
        (&[0x90, 0xAF, 0, 0, 0], 0x911C),
        (&[0x90, 0xF7, 0, 0, 0], 0x911C),
        (&[0x90, 0x64, 0, 0, 1, 0, 0], 0x9100),
    ] {
        assert_eq!(says(&mut chip, command), refused, "{command:02X?}");
    }
    chip.set_ndef_settings(FileSettings::plain(FREE, NEVER, NEVER, NEVER));
    assert_eq!(says(&mut chip, &change_settings), 0x919D);
    let write = [0x90, 0x8D, 0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 9, 0];
    assert_eq!(says(&mut chip, &write), 0x919D);
    authenticate(&mut chip, KeyNumber::Key1);
    assert_eq!(status(&chip.apdu(&change_key)), 0x91AE, "not with key 1");
    // A command in the middle of another command.
    chip.apdu(&SELECT);
    chip.apdu(&[0x90, 0x60, 0, 0, 0]);
    assert_eq!(status(&chip.apdu(&BEGIN)), 0x91CA);
    // No command of the application works before it is selected.
    chip.power_on();
    assert_eq!(status(&chip.apdu(&BEGIN)), 0x919D);
    assert_eq!(status(&chip.apdu(&[0x90, 0x60, 0, 0, 0])), 0x91AF);
    assert_eq!(chip.tally().writes, 0);
}

#[test]
fn a_key_that_is_no_longer_the_old_one_is_an_integrity_error_and_costs_nothing() {
    let mut chip = VirtualNtag424::new(UID);
    chip.set_key(2, AesKey::from_bytes([9; 16]), 3);
    let refused = run(async {
        let mut card = InProcess(&mut chip);
        let session = Session::new().authenticate_aes(&mut card, KeyNumber::Key0, &FACTORY, RANDOM);
        let session = session.await.unwrap();
        let number = NonMasterKeyNumber::Key2;
        let changed = session.change_key(&mut card, number, &[5; 16], 4, &FACTORY);
        changed.await.err()
    });
    assert!(matches!(
        refused,
        Some(SessionError::ErrorResponse(ResponseStatus::IntegrityError))
    ));
    assert!(chip.session().is_none());
    assert_eq!(
        (chip.key(2), chip.key_version(2)),
        (&AesKey::from_bytes([9; 16]), 3)
    );
    assert_eq!(chip.failures(2), Failures::default());
}

/// A chip after a write of this number of bytes with this tear.
fn written(tear: Tear, bytes: u8) -> Vec<u8> {
    let update = [
        &[0x00, 0xD6, 0, 0, bytes][..],
        &vec![0xEE; usize::from(bytes)],
    ]
    .concat();
    let mut card = TornOut::new(tear, VirtualNtag424::new(UID));
    card.transmit(&SELECT).unwrap();
    card.transmit(&[0x00, 0xA4, 0, 0x0C, 2, 0xE1, 0x04])
        .unwrap();
    assert_eq!(card.transmit(&update), None);
    assert!(card.is_torn() && card.transmit(&SELECT).is_none());
    let chip = card.into_card();
    let file = chip.file(2);
    file.iter()
        .copied()
        .take_while(|byte| *byte == 0xEE)
        .collect()
}

#[test]
fn a_torn_write_is_whole_or_nothing_in_one_frame_and_may_stop_between_frames() {
    assert_eq!(written(Tear::before(2), 200).len(), 0);
    assert_eq!(written(Tear::after(2), 200).len(), 200);
    assert_eq!(written(Tear::within(2, 100), 200).len(), 0);
    assert_eq!(written(Tear::within(2, 130), 200).len(), 120);
    assert_eq!(written(Tear::within(2, 204), 200).len(), 120);
    assert_eq!(written(Tear::within(2, 100), 100).len(), 0);
}

#[test]
fn a_chip_whose_answer_was_lost_has_done_what_it_was_asked() {
    for (tear, changed) in [(Tear::before(3), false), (Tear::after(3), true)] {
        let uid = Uid::from_bytes([4, 9, 8, 7, 6, 5, 4]);
        let mut chip = VirtualNtag424::new(uid);
        // The commands that the crate would send, recorded on an equal chip.
        let mut seen = Vec::new();
        run(async {
            let mut card = Listening(&mut chip, &mut seen);
            let session = Session::new();
            let session = session.authenticate_aes(&mut card, KeyNumber::Key0, &FACTORY, RANDOM);
            let session = session.await.unwrap();
            session
                .change_master_key(&mut card, &[5; 16], 4)
                .await
                .unwrap();
        });
        assert_eq!(seen.len(), 4);
        let mut card = TornOut::new(tear, VirtualNtag424::new(uid));
        let answers: Vec<_> = seen.iter().map(|command| card.transmit(command)).collect();
        assert_eq!(answers.iter().filter(|answer| answer.is_some()).count(), 3);
        let mut chip = card.into_card();
        chip.power_on();
        assert_eq!(!chip.key(0).is_factory(), changed);
        assert_eq!(chip.key_version(0), if changed { 4 } else { 0 });
    }
}

/// A chip whose commands are recorded.
struct Listening<'c>(&'c mut VirtualNtag424, &'c mut Vec<Vec<u8>>);

impl ntag424::Transport for Listening<'_> {
    type Error = std::convert::Infallible;
    type Data = Vec<u8>;

    async fn transmit(&mut self, apdu: &[u8]) -> Result<ntag424::Response<Vec<u8>>, Self::Error> {
        self.1.push(apdu.to_vec());
        InProcess(self.0).transmit(apdu).await
    }

    async fn get_uid(&mut self) -> Result<Vec<u8>, Self::Error> {
        InProcess(self.0).get_uid().await
    }
}
