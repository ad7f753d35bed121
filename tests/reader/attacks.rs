//! Malicious chips: every read ends, without a panic.

use tapdesk::reader::board::OnReader;
use tapdesk::reader::inlay::read;
use tapdesk_tests::length;
use tapdesk_tests::virtual_card::VirtualCard as _;
use tapdesk_tests::virtual_card::hostile::HostileCard;
use tapdesk_tests::virtual_reader::in_own_process;

use crate::chips::bottle;
use crate::readings::Direct;
use crate::table::Watch;

/// Most commands to any card: a message of 4,096 bytes in parts of 15.
const COMMANDS_MAX: usize = 300;

#[test]
fn whatever_a_card_answers_reading_it_ends() {
    for seed in 0..length(1_000, 100_000) {
        let card = HostileCard::new(seed);
        let atr = card.atr();
        let (_, log) = read(&mut Direct(card), &atr);
        assert!((1..COMMANDS_MAX).contains(&log.len()), "seed {seed}");
    }
}

#[test]
fn whatever_a_card_answers_the_reader_reads_the_next_one() {
    in_own_process(|pcscd| {
        let mut watch = Watch::start();
        for seed in 0..length(50, 500) {
            let card = pcscd.lay_down(HostileCard::new(seed));
            // It is read, or fails, or was removed before either.
            watch.until(&format!("the card of seed {seed} is over"), |on| {
                matches!(on, OnReader::Inlay(_) | OnReader::Failed(_))
            });
            drop(card);
            watch.until_empty();
        }
        let card = pcscd.lay_down(bottle());
        watch.until_inlay();
        assert_eq!(card.take_away().counter(), 1);
    });
}
