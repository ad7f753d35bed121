use super::*;

fn roots() -> Roots {
    let root = |id, retired| Root {
        id: EncodingRootId::new(id),
        key: AesKey::from_bytes([u8::try_from(id).unwrap(); 16]),
        retired,
    };
    Roots(vec![root(2, false), root(1, true)])
}

#[test]
fn a_key_is_another_one_in_each_slot_generation_chip_and_root() {
    let roots = roots();
    let mut seen = Vec::new();
    for root in &roots.0 {
        for uid in [[4, 1, 2, 3, 4, 5, 6], [4, 1, 2, 3, 4, 5, 7]] {
            for (slot, generation) in [(0, 1), (1, 1), (0, 2)] {
                let key = root.key(Uid::from_bytes(uid), slot, generation);
                assert!(!seen.contains(&key));
                seen.push(key);
            }
        }
    }
}

/// `service/docs/reference/decisions/encoding-keys.md` has the first one of these values.
#[test]
fn a_write_password_is_derived_from_root_and_uid() {
    let root = |key| Root {
        id: EncodingRootId::new(1),
        key: AesKey::from_bytes(key),
        retired: false,
    };
    let counting = std::array::from_fn(|at| u8::try_from(at).unwrap());
    for (key, uid, password, acknowledgement) in [
        (counting, "04E141124C2880", 0xD290_ECFD_u32, 0xB36E_u16),
        (counting, "04E141124C2881", 0x9BF5_EFF6, 0x8AB6),
        ([1; 16], "04010203040506", 0x39BD_05F2, 0x43C6),
    ] {
        let derived = root(key).write_password(uid.parse().unwrap());
        assert_eq!(derived.password, password.to_be_bytes(), "{uid}");
        assert_eq!(
            derived.acknowledgement,
            acknowledgement.to_be_bytes(),
            "{uid}"
        );
    }
}

#[test]
fn a_generation_is_never_used_twice_nor_one_that_the_chip_shows() {
    let mut journal = Journal::new(Uid::from_bytes([4; 7]));
    assert_eq!(journal.next_generation(&[0; 5]), Some(1));
    assert_eq!(journal.next_generation(&[0, 1, 2, 0, 0]), Some(3));
    for number in [1, 3, 255] {
        journal.generations.push(Generation {
            number,
            source: Source::Root(EncodingRootId::new(1)),
            slots: [SlotState::Planned; 5],
        });
    }
    assert_eq!(journal.next_generation(&[2, 0, 0, 0, 0]), Some(4));
    for number in 1..=254 {
        if journal.generation(number).is_none() {
            journal.generations.push(Generation {
                number,
                source: Source::Root(EncodingRootId::new(1)),
                slots: [SlotState::Planned; 5],
            });
        }
    }
    assert_eq!(journal.next_generation(&[0; 5]), None);
}

#[test]
fn an_unknown_chip_is_asked_for_the_key_of_an_older_root_and_for_the_factory_key() {
    let journal = Journal::new(Uid::from_bytes([4; 7]));
    let roots = roots();
    let older = Candidate::Derived {
        root: EncodingRootId::new(1),
        generation: 9,
    };
    let asked = journal.candidates_of_key_0(Some(9), &roots);
    assert_eq!(asked[..2], [older, Candidate::Factory]);
    let asked = journal.candidates_of_key_0(Some(0), &roots);
    assert_eq!(asked, [Candidate::Factory]);
    let mut confirmed = Journal::new(journal.uid);
    confirmed.opened(0, older);
    let asked = confirmed.candidates_of_key_0(Some(0), &roots);
    assert_eq!(asked, [Candidate::Recorded(9), Candidate::Factory]);
}

#[test]
fn an_imported_key_0_is_asked_for_first_until_another_is_proved() {
    let mut journal = Journal::new(Uid::from_bytes([4; 7]));
    journal.imported.0[0] = Some(AesKey::from_bytes([7; 16]));
    let roots = roots();
    let of_root = |root| Candidate::Derived {
        root: EncodingRootId::new(root),
        generation: 1,
    };
    for (shown, expected) in [
        (Some(0), vec![Candidate::Imported, Candidate::Factory]),
        (
            Some(1),
            vec![
                Candidate::Imported,
                Candidate::Factory,
                of_root(1),
                of_root(2),
            ],
        ),
        (None, vec![Candidate::Imported, Candidate::Factory]),
    ] {
        assert_eq!(journal.candidates_of_key_0(shown, &roots), expected);
    }
    journal.opened(0, of_root(2));
    let asked = journal.candidates_of_key_0(Some(1), &roots);
    assert_eq!(asked, [Candidate::Recorded(1), Candidate::Factory]);
}
