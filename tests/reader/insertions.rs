//! Inlays that are placed, removed and torn out on the real PC/SC service.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, Sender, channel};

use tapdesk::reader::board::OnReader;
use tapdesk::reader::inlay::Chip;
use tapdesk_service::inlay::Technology;
use tapdesk_tests::length;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::virtual_card::type2::{Type2Chip, VirtualType2};
use tapdesk_tests::virtual_card::{TornOut, VirtualCard};
use tapdesk_tests::virtual_reader::in_own_process;

use crate::chips::{TAG_URL, bottle};
use crate::table::Watch;

#[test]
fn each_insertion_is_read_once_and_raises_the_counter_once() {
    in_own_process(|pcscd| {
        let mut watch = Watch::start();
        let mut card = bottle();
        let mut seen = BTreeSet::new();
        for counter in 1..=length(10, 300) {
            let laid = pcscd.lay_down(card);
            let read = watch.until_inlay();
            assert!(seen.insert(read.insertion), "read once");
            let url = read.reading.url.unwrap();
            assert!(url.starts_with(TAG_URL), "{url}");
            card = laid.take_away();
            assert_eq!(card.counter(), counter, "raised once");
            watch.until_empty();
        }
    });
}

#[test]
fn a_card_that_lay_there_before_the_start_is_read() {
    in_own_process(|pcscd| {
        let card = pcscd.lay_down(bottle());
        let mut watch = Watch::start();
        watch.until_inlay();
        assert_eq!(card.take_away().counter(), 1);
    });
}

#[test]
fn two_readers_are_read_at_once() {
    in_own_process(|pcscd| {
        let mut watch = Watch::start();
        let url = "https://example.com/static";
        let first = pcscd.lay_on(0, bottle());
        let second = pcscd.lay_on(1, VirtualType2::with_url(Type2Chip::Ntag215, [4; 7], url));
        let chips = watch.table("two inlays", |table| {
            let chips = table.readers.iter().map(|place| match &place.on {
                OnReader::Inlay(laid) => Some(laid.reading.chip),
                _ => None,
            });
            chips
                .collect::<Option<Vec<_>>>()
                .filter(|chips| chips.len() == 2)
        });
        assert!(
            chips.contains(&Chip::Known(Technology::Ntag424Dna))
                && chips.contains(&Chip::Known(Technology::Ntag215))
        );
        drop(second);
        watch.table("one goes, one stays", |table| {
            let on =
                |wanted: fn(&OnReader) -> bool| table.readers.iter().any(|place| wanted(&place.on));
            (on(|on| matches!(on, OnReader::Inlay(_))) && on(|on| *on == OnReader::Nothing))
                .then_some(())
        });
        assert_eq!(first.take_away().counter(), 1);
    });
}

#[test]
fn a_card_torn_out_after_any_command_is_told_and_the_next_is_read() {
    in_own_process(|pcscd| {
        let mut watch = Watch::start();
        let card = pcscd.lay_down(bottle());
        let whole = watch.until_inlay().log.len();
        drop(card);
        watch.until_empty();
        for answered in 0..whole {
            let torn = pcscd.lay_down(TornOut::after(answered, bottle()));
            let failed = watch.until("a card torn out", |on| matches!(on, OnReader::Failed(_)));
            let OnReader::Failed(failed) = failed else {
                panic!("{failed:?}");
            };
            assert_eq!(
                failed.trouble.kind, "removed",
                "after {answered}: {failed:?}"
            );
            assert_eq!(failed.uid.is_some(), answered > 0, "after {answered}");
            // The last two commands read the message.
            assert_eq!(
                failed.may_have_counted,
                answered >= whole - 2,
                "after {answered}"
            );
            drop(torn);
            watch.until_empty();
            let card = pcscd.lay_down(bottle());
            watch.until_inlay();
            assert_eq!(card.take_away().counter(), 1);
            watch.until_empty();
        }
    });
}

/// A chip that answers some commands, reports the next one, and then waits until its reader is
/// gone.
struct Stalling {
    card: VirtualNtag424,
    answered: usize,
    asked: Sender<()>,
    gone: Receiver<()>,
}

impl VirtualCard for Stalling {
    fn atr(&self) -> Vec<u8> {
        self.card.atr()
    }

    fn power_on(&mut self) {
        self.card.power_on();
    }

    fn transmit(&mut self, command: &[u8]) -> Option<Vec<u8>> {
        if self.answered == 0 {
            let _ = self.asked.send(());
            let _ = self.gone.recv();
            return None;
        }
        self.answered -= 1;
        self.card.transmit(command)
    }
}

#[test]
fn the_service_may_be_killed_and_come_back_while_waiting_and_while_reading() {
    in_own_process(|mut pcscd| {
        let mut watch = Watch::start();
        for round in 0..length(3, 10) {
            watch.until_empty();
            let (asked, was_asked) = channel();
            let (go, gone) = channel();
            let card = Stalling {
                card: bottle(),
                answered: 4,
                asked,
                gone,
            };
            let laid = (round % 2 == 1).then(|| pcscd.lay_down(card));
            if laid.is_some() {
                was_asked.recv().unwrap();
            }
            pcscd.kill();
            drop(go);
            drop(laid);
            let fault = watch.table("the service is gone", |table| {
                assert!(table.readers.is_empty() || table.fault.is_none());
                // If it is killed at the wrong moment, the service may first seem to refuse.
                table.fault.filter(|fault| fault.kind == "no_service")
            });
            assert!(fault.text.ends_with('.'));
            pcscd.restart(true);
            watch.until_empty();
            let card = pcscd.lay_down(bottle());
            watch.until_inlay();
            assert_eq!(card.take_away().counter(), 1);
        }
    });
}

#[test]
fn a_service_without_readers_is_no_fault_and_readers_may_come_later() {
    in_own_process(|mut pcscd| {
        pcscd.restart(false);
        let mut watch = Watch::start();
        watch.table("no readers", |table| {
            (table.readers.is_empty() && table.fault.is_none()).then_some(())
        });
        pcscd.restart(true);
        watch.until_empty();
    });
}
