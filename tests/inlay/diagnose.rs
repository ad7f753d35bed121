//! Each wrong configuration of an inlay, and the setting that the diagnosis names.

mod window;

use tapdesk_service::inlay::code::Malformed;
use tapdesk_service::inlay::diagnose::{
    Diagnosis, Finding, KeyIs, Known, Maker, NamedMasterKey, Slot, Window, diagnose,
};
use tapdesk_service::inlay::diversify::MasterKey;
use tapdesk_service::inlay::key::{AesKey, Keys};

use tapdesk_service::inlay::verify::{Candidate, verify};
use tapdesk_service::inlay::virtual_inlay::{OneTimeCode, VirtualInlay};
use tapdesk_service::inlay::{MacFrom, Mirror, Uid};

const COUNTER: u32 = 0x00_0102;

fn key(byte: u8) -> AesKey {
    AesKey::from_bytes([byte; 16])
}

fn uid(last: u8) -> Uid {
    Uid::from_bytes([0x04, 0xDE, 0x5F, 0x1E, 0xAC, 0xC0, last])
}

/// An inlay as configured in the service.
fn configured(mirror: Mirror) -> Candidate {
    Candidate {
        uid: uid(0x40),
        mirror,
        mac_from: MacFrom::None,
        keys: keys(mirror, key(1), key(2)),
    }
}

fn keys(mirror: Mirror, meta: AesKey, file: AesKey) -> Keys {
    let meta = (mirror == Mirror::Encrypted).then_some(meta);
    Keys { meta, file }
}

/// The code of a chip that is encoded with these settings.
fn tap(chip: &Candidate) -> OneTimeCode {
    let Candidate {
        uid,
        mirror,
        mac_from,
        keys,
    } = chip.clone();
    let counter = 0;
    let inlay = VirtualInlay {
        uid,
        mirror,
        mac_from,
        keys,
        counter,
    };
    inlay.code_at(COUNTER, [7; 5])
}

/// A copy of these settings with a change.
fn but(candidate: &Candidate, change: impl FnOnce(&mut Candidate)) -> Candidate {
    let mut changed = candidate.clone();
    change(&mut changed);
    changed
}

fn master(diversify_meta: bool) -> NamedMasterKey {
    let input = "{uid}3042F54E585020416275".parse().unwrap();
    NamedMasterKey {
        name: "autumn".into(),
        key: MasterKey {
            key: key(9),
            input,
            diversify_meta,
        },
    }
}

/// The findings about a code of `chip`, at a tag whose inlay is configured as `configured`.
fn found(chip: &Candidate, configured: &Candidate) -> Vec<Finding> {
    let master_keys = [master(false)];
    let known = Known {
        inlays: std::slice::from_ref(configured),
        other_inlays: &[],
        master_keys: &master_keys,
    };
    let code = tap(chip);
    let diagnosis = diagnose(&code.uid, &code.token, None, &known);
    assert_eq!(diagnosis.maker, Some(Maker::Inlay(0)), "{diagnosis:?}");
    assert_eq!(diagnosis.counter, Some(COUNTER));
    let verifies = verify(&code.uid, &code.token, std::slice::from_ref(configured)).is_ok();
    assert_eq!(diagnosis.findings.is_empty(), verifies, "{diagnosis:?}");
    diagnosis.findings
}

fn wrong(slot: Slot, is: KeyIs) -> Finding {
    Finding::Key { slot, is }
}

const MIRRORS: [Mirror; 2] = [Mirror::Plain, Mirror::Encrypted];

#[test]
fn a_code_that_verifies_has_no_findings() {
    for mirror in MIRRORS {
        for mac_from in [MacFrom::None, MacFrom::Uid] {
            let inlay = but(&configured(mirror), |c| c.mac_from = mac_from);
            assert_eq!(found(&inlay, &inlay), []);
        }
    }
}

#[test]
fn swapped_keys() {
    let inlay = configured(Mirror::Encrypted);
    let chip = but(&inlay, |c| c.keys = keys(c.mirror, key(2), key(1)));
    assert_eq!(found(&chip, &inlay), [Finding::KeysSwapped]);
}

#[test]
fn one_key_in_both_slots_of_the_chip() {
    let inlay = configured(Mirror::Encrypted);
    let chip = but(&inlay, |c| c.keys = keys(c.mirror, key(1), key(1)));
    assert_eq!(found(&chip, &inlay), [wrong(Slot::File, KeyIs::OtherSlot)]);
    let chip = but(&inlay, |c| c.keys = keys(c.mirror, key(2), key(2)));
    assert_eq!(found(&chip, &inlay), [wrong(Slot::Meta, KeyIs::OtherSlot)]);
}

#[test]
fn factory_keys_in_either_slot_or_in_both() {
    let factory = || AesKey::FACTORY;
    let (meta, file) = (
        wrong(Slot::Meta, KeyIs::Factory),
        wrong(Slot::File, KeyIs::Factory),
    );
    let inlay = configured(Mirror::Plain);
    let chip = but(&inlay, |c| c.keys.file = factory());
    assert_eq!(found(&chip, &inlay), std::slice::from_ref(&file));

    let inlay = configured(Mirror::Encrypted);
    let chip = but(&inlay, |c| c.keys.file = factory());
    assert_eq!(found(&chip, &inlay), std::slice::from_ref(&file));
    let chip = but(&inlay, |c| c.keys.meta = Some(factory()));
    assert_eq!(found(&chip, &inlay), std::slice::from_ref(&meta));
    let chip = but(&inlay, |c| c.keys = keys(c.mirror, factory(), factory()));
    assert_eq!(found(&chip, &inlay), [meta, file]);
}

#[test]
fn keys_of_a_master_key_diversified_or_not() {
    let name = || "autumn".to_owned();
    let itself = |slot| wrong(slot, KeyIs::MasterKey { name: name() });
    let diversified = |slot| wrong(slot, KeyIs::Diversified { name: name() });
    let (raw, derived) = (key(9), master(false).key.diversified(uid(0x40)));
    let [plain, inlay] = MIRRORS.map(configured);

    let chip = but(&plain, |c| c.keys.file = derived.clone());
    assert_eq!(found(&chip, &plain), [diversified(Slot::File)]);
    let chip = but(&plain, |c| c.keys.file = raw.clone());
    assert_eq!(found(&chip, &plain), [itself(Slot::File)]);

    let chip = but(&inlay, |c| {
        c.keys = keys(c.mirror, raw.clone(), derived.clone());
    });
    let findings = [itself(Slot::Meta), diversified(Slot::File)];
    assert_eq!(found(&chip, &inlay), findings);
    let chip = but(&inlay, |c| {
        c.keys = keys(c.mirror, derived.clone(), derived.clone());
    });
    let findings = [diversified(Slot::Meta), diversified(Slot::File)];
    assert_eq!(found(&chip, &inlay), findings);

    // An inlay of this master key whose meta key is diversified although the setting says
    // otherwise, and the reverse.
    let with = |diversify_meta| {
        but(&inlay, |c| {
            c.keys = master(diversify_meta).key.keys_for(c.uid, c.mirror);
        })
    };
    assert_eq!(found(&with(false), &with(true)), [itself(Slot::Meta)]);
    // The diversified meta key equals the diversified file key.
    assert_eq!(
        found(&with(true), &with(false)),
        [wrong(Slot::Meta, KeyIs::OtherSlot)]
    );
}

#[test]
fn the_other_mirror() {
    let [plain, encrypted] = MIRRORS.map(configured);
    let chip = but(&encrypted, |c| c.mirror = Mirror::Plain);
    assert_eq!(
        found(&chip, &encrypted),
        [Finding::Mirror {
            sent: Mirror::Plain
        }]
    );
    // The file key is used for both, because a plain inlay has no other key.
    let chip = but(&plain, |c| c.mirror = Mirror::Encrypted);
    assert_eq!(
        found(&chip, &plain),
        [Finding::Mirror {
            sent: Mirror::Encrypted
        }]
    );
}

#[test]
fn the_other_mac_window() {
    for mirror in MIRRORS {
        let (none, from_uid) = (
            configured(mirror),
            but(&configured(mirror), |c| c.mac_from = MacFrom::Uid),
        );
        assert_eq!(found(&from_uid, &none), [Finding::MacWindow(Window::Uid)]);
        assert_eq!(found(&none, &from_uid), [Finding::MacWindow(Window::Empty)]);
    }
}

#[test]
fn several_settings_at_once() {
    let inlay = configured(Mirror::Encrypted);
    let chip = but(&inlay, |c| {
        c.keys = keys(c.mirror, key(2), AesKey::FACTORY);
        c.mac_from = MacFrom::Uid;
    });
    let findings = [
        wrong(Slot::Meta, KeyIs::OtherSlot),
        wrong(Slot::File, KeyIs::Factory),
        Finding::MacWindow(Window::Uid),
    ];
    assert_eq!(found(&chip, &inlay), findings);
}

#[test]
fn another_tags_inlay() {
    for mirror in MIRRORS {
        let inlay = configured(mirror);
        let other = but(&inlay, |c| {
            c.uid = uid(0x41);
            c.keys = keys(mirror, key(3), key(4));
        });
        let known = Known {
            inlays: std::slice::from_ref(&inlay),
            other_inlays: std::slice::from_ref(&other),
            master_keys: &[],
        };
        let code = tap(&other);
        let diagnosis = diagnose(&code.uid, &code.token, None, &known);
        assert_eq!(diagnosis.maker, Some(Maker::OtherInlay(0)));
        assert_eq!(diagnosis.findings, [Finding::OtherInlay { uid: other.uid }]);

        // This tag's inlay with the keys of the other one.
        let chip = but(&other, |c| c.uid = inlay.uid);
        let code = tap(&chip);
        let diagnosis = diagnose(&code.uid, &code.token, None, &known);
        assert_eq!(diagnosis.maker, Some(Maker::Inlay(0)));
        let of_other = |slot| wrong(slot, KeyIs::OfInlay { uid: other.uid });
        let slots = if mirror == Mirror::Plain {
            vec![Slot::File]
        } else {
            vec![Slot::Meta, Slot::File]
        };
        let findings: Vec<_> = slots.into_iter().map(of_other).collect();
        assert_eq!(diagnosis.findings, findings);
    }
}

#[test]
fn the_right_keys_with_the_wrong_uid() {
    for mirror in MIRRORS {
        let inlay = configured(mirror);
        let chip = but(&inlay, |c| c.uid = uid(0x41));
        let (configured, actual) = (inlay.uid, chip.uid);
        assert_eq!(
            found(&chip, &inlay),
            [Finding::OtherUid { configured, actual }]
        );
    }
}

#[test]
fn a_chip_that_is_not_configured_but_made_from_a_known_master_key() {
    let chip = Candidate {
        uid: uid(0x42),
        mirror: Mirror::Encrypted,
        mac_from: MacFrom::Uid,
        keys: master(false).key.keys_for(uid(0x42), Mirror::Encrypted),
    };
    let master_keys = [master(false)];
    let known = Known {
        master_keys: &master_keys,
        ..Known::default()
    };
    let code = tap(&chip);
    let diagnosis = diagnose(&code.uid, &code.token, None, &known);
    assert_eq!(diagnosis.maker, Some(Maker::Unconfigured(chip.uid)));
    assert_eq!(
        diagnosis.findings[0],
        Finding::NotConfigured { uid: chip.uid }
    );
    assert!(
        diagnosis
            .findings
            .contains(&Finding::MacWindow(Window::Uid))
    );
}

#[test]
fn what_cannot_be_explained_is_told_as_far_as_it_can_be_read() {
    let [plain, encrypted] = MIRRORS.map(configured);
    let at = |inlay: &Candidate, code: &OneTimeCode| {
        let known = Known {
            inlays: std::slice::from_ref(inlay),
            ..Known::default()
        };
        diagnose(&code.uid, &code.token, None, &known)
    };
    let unknown = |counter, findings| Diagnosis {
        maker: None,
        counter,
        findings,
    };
    let fits_nothing = Finding::MacFitsNothing { uid: plain.uid };

    let strange = but(&plain, |c| c.keys.file = key(8));
    let expected = unknown(Some(COUNTER), vec![fits_nothing.clone()]);
    assert_eq!(at(&plain, &tap(&strange)), expected);

    let strange_mac = but(&encrypted, |c| c.keys.file = key(8));
    let expected = unknown(Some(COUNTER), vec![fits_nothing]);
    assert_eq!(at(&encrypted, &tap(&strange_mac)), expected);

    let strange_meta = but(&encrypted, |c| c.keys.meta = Some(key(8)));
    let expected = unknown(None, vec![Finding::PiccDataFitsNoKey]);
    assert_eq!(at(&encrypted, &tap(&strange_meta)), expected);

    let sent = Mirror::Encrypted;
    let expected = unknown(
        None,
        vec![Finding::Mirror { sent }, Finding::PiccDataFitsNoKey],
    );
    assert_eq!(at(&plain, &tap(&strange_meta)), expected);

    let malformed = Malformed::UidLength { length: 0 };
    let diagnosis = diagnose("", "", None, &Known::default());
    assert_eq!(
        diagnosis,
        unknown(None, vec![Finding::Malformed(malformed)])
    );
}

#[test]
fn each_finding_names_the_setting_and_what_to_set() {
    let name = || "autumn".to_owned();
    let words = [
        (
            Finding::Malformed(Malformed::UidNotHex),
            "uid is not all hex digits",
        ),
        (
            Finding::OtherInlay { uid: uid(0x41) },
            "04DE5F1EACC041 of another tag: bind it",
        ),
        (
            Finding::NotConfigured { uid: uid(0x41) },
            "04DE5F1EACC041, which is not added here: add it",
        ),
        (
            Finding::OtherUid {
                configured: uid(0x40),
                actual: uid(0x41),
            },
            "create an inlay with the uid 04DE5F1EACC041",
        ),
        (
            Finding::Mirror {
                sent: Mirror::Plain,
            },
            r#"set mirror to "plain""#,
        ),
        (
            Finding::Mirror {
                sent: Mirror::Encrypted,
            },
            r#"set mirror to "encrypted" and meta_key"#,
        ),
        (Finding::KeysSwapped, "exchange meta_key and file_key"),
        (
            wrong(Slot::Meta, KeyIs::OtherSlot),
            "set meta_key to the value of file_key",
        ),
        (
            wrong(Slot::File, KeyIs::OtherSlot),
            "set file_key to the value of meta_key",
        ),
        (
            wrong(Slot::File, KeyIs::Factory),
            "file_key is still the all-zero factory key",
        ),
        (
            wrong(Slot::Meta, KeyIs::OfInlay { uid: uid(0x41) }),
            "meta_key is a key of the inlay 04DE5F1EACC041",
        ),
        (
            wrong(Slot::Meta, KeyIs::MasterKey { name: name() }),
            r#""autumn" itself, not diversified: use this master key with diversify_meta set to false"#,
        ),
        (
            wrong(Slot::File, KeyIs::MasterKey { name: name() }),
            r#""autumn" itself, not diversified: set file_key"#,
        ),
        (
            wrong(Slot::Meta, KeyIs::Diversified { name: name() }),
            "diversify_meta set to true",
        ),
        (
            wrong(Slot::File, KeyIs::Diversified { name: name() }),
            r#"set master_key_id to that of "autumn""#,
        ),
        (Finding::CounterByteOrder, "it is MSB first in the URL"),
        (
            Finding::MacWindow(Window::Empty),
            r#"set mac_from to "none""#,
        ),
        (Finding::MacWindow(Window::Uid), r#"set mac_from to "uid""#),
        (
            Finding::MacWindow(Window::Host),
            "from the host as input: create a URL template",
        ),
        (
            Finding::MacFitsNothing { uid: uid(0x41) },
            "file_key is not the chip's SDMFileReadKey",
        ),
        (
            Finding::PiccDataFitsNoKey,
            "meta_key is not the chip's SDMMetaReadKey",
        ),
    ];
    for (finding, part) in words {
        let text = finding.to_string();
        assert!(text.contains(part), "{text}");
        assert!(text.ends_with('.'), "{text}");
    }
}
