//! The virtual Type 2 chips: their writable pages, permanent changes, and interrupted writes (data
//! sheet NTAG213/215/216 rev 3.2, section 8.5).

use tapdesk_tests::virtual_card::type2::{Type2Chip, VirtualType2};
use tapdesk_tests::virtual_card::{Tear, TornOut, VirtualCard as _};

const UID: [u8; 7] = [0x04, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66];
const DONE: [u8; 2] = [0x90, 0x00];
const REFUSED: [u8; 2] = [0x63, 0x00];

fn write(page: u8, data: [u8; 4]) -> Vec<u8> {
    [&[0xFF, 0xD6, 0x00, page, 4][..], &data].concat()
}

fn read(card: &mut VirtualType2, page: u8) -> Vec<u8> {
    let mut answer = card.apdu(&[0xFF, 0xB0, 0x00, page, 16]);
    assert_eq!(answer.split_off(16), DONE);
    answer
}

/// The page of the dynamic lock bytes.
fn locks(chip: Type2Chip) -> u8 {
    match chip {
        Type2Chip::Ntag213 => 0x28,
        Type2Chip::Ntag215 => 0x82,
        _ => 0xE2,
    }
}

const NTAGS: [Type2Chip; 3] = [Type2Chip::Ntag213, Type2Chip::Ntag215, Type2Chip::Ntag216];

#[test]
fn a_page_is_written_and_read_back_and_the_uid_is_not() {
    for chip in NTAGS {
        let mut card = VirtualType2::factory(chip, UID);
        assert_eq!(card.apdu(&write(4, [3, 0, 0xFE, 9])), DONE);
        assert_eq!(read(&mut card, 4)[..4], [3, 0, 0xFE, 9]);
        for page in [0, 1] {
            assert_eq!(card.apdu(&write(page, [0xFF; 4])), REFUSED);
        }
        assert_eq!(card.apdu(&[0xFF, 0xD6, 0, 4, 2, 1, 2]), [0x67, 0x00]);
        assert_eq!(card.apdu(&write(0xF0, [0; 4])), [0x6A, 0x82]);
        assert_eq!(card.writes(), 1);
    }
}

#[test]
fn a_new_ntag213_says_where_its_lock_bytes_are() {
    let mut card = VirtualType2::factory(Type2Chip::Ntag213, UID);
    assert_eq!(
        read(&mut card, 4)[..8],
        [0x01, 0x03, 0xA0, 0x0C, 0x34, 0x03, 0x00, 0xFE]
    );
    let mut card = VirtualType2::factory(Type2Chip::Ntag215, UID);
    assert_eq!(read(&mut card, 4)[..3], [0x03, 0x00, 0xFE]);
}

#[test]
fn bits_of_locks_and_of_the_capability_container_are_set_and_never_cleared() {
    for chip in NTAGS {
        let mut card = VirtualType2::factory(chip, UID);
        let before = card.page(2).to_vec();
        card.apdu(&write(2, [0xAA, 0xBB, 0x10, 0x00]));
        card.apdu(&write(2, [0, 0, 0x20, 0x00]));
        assert_eq!(card.page(2), [before[0], before[1], 0x30, 0x00]);
        card.apdu(&write(3, [0, 0, 0, 0x0F]));
        card.apdu(&write(3, [0; 4]));
        assert_eq!(card.page(3)[3], 0x0F);
        let page = locks(chip);
        card.apdu(&write(page, [0x01, 0, 0, 0xBD]));
        card.apdu(&write(page, [0x02, 0, 0, 0]));
        assert_eq!(
            card.page(usize::from(page)),
            [0x03, 0, 0, 0],
            "its last byte is not there"
        );
        // Pages 4 and 5, and the first page after 15, are locked; page 6 is not.
        assert_eq!(card.apdu(&write(4, [1; 4])), REFUSED);
        assert_eq!(card.apdu(&write(5, [1; 4])), REFUSED);
        assert_eq!(card.apdu(&write(16, [1; 4])), REFUSED);
        assert_eq!(card.apdu(&write(6, [1; 4])), DONE);
        assert_eq!(
            card.apdu(&write(if page == 0x28 { 20 } else { 64 }, [1; 4])),
            DONE
        );
    }
}

#[test]
fn a_changed_configuration_holds_from_the_next_activation_on() {
    for chip in NTAGS {
        let mut card = VirtualType2::blank(chip, UID);
        let cfg0 = locks(chip) + 1;
        // UID and counter from byte 1 of page 5 on; the counter is on.
        card.apdu(&write(cfg0, [0xD4, 0, 5, 0xFF]));
        card.apdu(&write(cfg0 + 1, [0x10, 5, 0, 0]));
        assert!(
            read(&mut card, 4)[5..]
                .iter()
                .all(|byte| *byte == 0 || *byte == 0xFE)
        );
        for counter in 1..=3 {
            card.power_on();
            let mut seen = read(&mut card, 4);
            seen.extend(read(&mut card, 8));
            let text = format!("04112233445566x{counter:06X}");
            assert_eq!(
                seen[5..26],
                *text.as_bytes(),
                "counted once in an activation"
            );
            assert_eq!(card.counter(), counter);
        }
        assert_eq!(card.page(5)[1], card.page(5)[2], "what is stored stays");
        // Locked permanently from the next activation on.
        card.apdu(&write(cfg0 + 1, [0x50, 5, 0, 0]));
        assert_eq!(card.apdu(&write(cfg0, [0x04, 0, 0, 0xFF])), DONE);
        card.power_on();
        assert_eq!(card.apdu(&write(cfg0, [0x04, 0, 0, 0xFF])), REFUSED);
        assert_eq!(card.apdu(&write(cfg0 + 1, [0, 5, 0, 0])), REFUSED);
        assert_eq!(
            read(&mut card, cfg0 + 2)[..8],
            [0; 8],
            "a password is never read"
        );
    }
}

#[test]
fn pages_behind_a_password_are_not_written_and_with_protection_not_read() {
    let mut card = VirtualType2::factory(Type2Chip::Ntag215, UID);
    card.apdu(&write(0x83, [0x04, 0, 0, 6]));
    card.power_on();
    assert_eq!(card.apdu(&write(5, [1; 4])), DONE);
    assert_eq!(card.apdu(&write(6, [1; 4])), REFUSED);
    assert_eq!(read(&mut card, 6)[..4], [0; 4]);
    let mut card = card.protect_from(6);
    card.power_on();
    assert_eq!(card.apdu(&[0xFF, 0xB0, 0, 6, 4]), REFUSED);
}

#[test]
fn a_torn_page_has_its_first_new_bytes_and_a_torn_lock_is_none() {
    let torn = |tear: Tear, command: &[u8]| {
        let mut card = TornOut::new(tear, VirtualType2::factory(Type2Chip::Ntag215, UID));
        assert_eq!(card.transmit(command), None);
        card.into_card()
    };
    let page = |tear, page: u8| torn(tear, &write(page, [9; 4])).page(page.into()).to_vec();
    assert_eq!(page(Tear::before(0), 5), [0, 0, 0, 0]);
    assert_eq!(page(Tear::after(0), 5), [9, 9, 9, 9]);
    assert_eq!(page(Tear::within(0, 7), 5), [9, 9, 0, 0]);
    assert_eq!(page(Tear::within(0, 7), 2)[2..], [0, 0]);
    assert_eq!(page(Tear::within(0, 9), 0x82), [0, 0, 0, 0]);
    assert_eq!(page(Tear::within(0, 8), 3)[3], 0);
}
