//! NTAG 424 DNA: file data, MAC windows, `TagTamper`, boltcard; AES and LRP.

use serde_json::Value;
use tapdesk_service::inlay::assessment::{Authenticity, FailedStep, Tamper};
use tapdesk_service::inlay::derivation::{Derivation, MasterSecret, SdmBackendVersion};
use tapdesk_service::inlay::key::InlayKeys;
use tapdesk_service::inlay::technology::ntag424::session::{Purpose, session_key};
use tapdesk_service::inlay::technology::ntag424::{Message, MetaKey, Mirrored, Session, check};
use tapdesk_service::inlay::technology::{Mode, Technology};
use tapdesk_service::inlay::template::{Field, Filled, MacStart, Template, TemplateSettings};

use super::{
    aes, array, assert_as_expected, bytes, each, key, maybe, number, one, read, some_uid, template,
    text, uid, vectors,
};

fn mode(inputs: &Value) -> Mode {
    match inputs["mode"].as_str() {
        Some("LRP") => Mode::Lrp,
        _ => Mode::Aes,
    }
}

fn keys(inputs: &Value) -> InlayKeys {
    let meta = maybe(inputs, "meta_key").map(|_| key(inputs, "meta_key"));
    aes(meta, key(inputs, "file_key"))
}

/// The separate values of a vector.
fn values(inputs: &Value) -> Filled {
    let names = [
        ("picc_enc_data", Field::Picc),
        ("picc_data", Field::Picc),
        ("enc_file_data", Field::Enc),
        ("sdmmac", Field::Mac),
        ("plain_uid", Field::Uid),
        ("plain_counter", Field::Counter),
    ];
    let given = names
        .into_iter()
        .filter_map(|(name, field)| Some((field, maybe(inputs, name)?)));
    given.fold(Filled::default(), |code, (field, value)| {
        code.with(field, value)
    })
}

/// The verdict on the values, with the MAC's input as stated in the vector.
fn by_values(inputs: &Value, expected: &Value) {
    let InlayKeys::Aes(keys) = keys(inputs) else {
        unreachable!("these keys are AES keys");
    };
    let code = values(inputs);
    let tamper_at = inputs["tt_offset_in_file_data"].as_u64();
    let message = Message {
        code: &code,
        mac_input: text(inputs, "mac_input_ascii").as_bytes(),
        tamper_at: tamper_at.map(|at| at.try_into().unwrap()),
        tamper_covered: false,
    };
    let found = check(mode(inputs), &message, some_uid(expected), &keys);
    assert_as_expected(&found, expected);
    if let Some(letters) = maybe(expected, "permanent") {
        let state = [letters, text(expected, "current")].concat();
        assert_eq!(found.tamper, Some(tamper(&state)), "{state}");
    }
}

fn tamper(letters: &str) -> Tamper {
    match letters {
        "CC" => Tamper::Sealed,
        "OC" => Tamper::Reclosed,
        "OO" => Tamper::Open,
        "II" => Tamper::Off,
        _ => Tamper::Unknown,
    }
}

/// A vector's URL with placeholders such as `{picc}` instead of the values.
fn template_of_url(inputs: &Value, technology: Technology) -> TemplateSettings {
    let mut url = text(inputs, "url").to_owned();
    let code = values(inputs);
    for field in [
        Field::Picc,
        Field::Enc,
        Field::Uid,
        Field::Counter,
        Field::Mac,
    ] {
        if let Some(value) = code.get(field) {
            url = url.replacen(value, &field.to_string(), 1);
        }
    }
    TemplateSettings {
        mode: mode(inputs),
        enc_length: code.get(Field::Enc).map(str::len),
        ..TemplateSettings::new(url, technology)
    }
}

fn encrypted_file_data(id: &str) {
    one("ntag424-aes-encfile", id, |name, inputs, expected| {
        if name == "sdm-backend-bulk-kdf1" {
            return bulk(inputs, expected);
        }
        by_values(inputs, expected);
        if expected["authentic"] == true {
            let session = |purpose| {
                let mirrored = Mirrored {
                    uid: uid(expected),
                    counter: number(&expected["counter"]),
                };
                session_key(&key(inputs, "file_key"), purpose, mirrored)
            };
            assert_eq!(session(Purpose::Mac), key(expected, "mac_session_key"));
            assert_eq!(
                session(Purpose::Encryption),
                key(expected, "enc_session_key")
            );
            let settings = TemplateSettings {
                mac_from: MacStart::Enc,
                ..template_of_url(inputs, Technology::Ntag424Dna)
            };
            by_template(&template(settings), inputs, expected);
        }
    });
}

/// One parameter with PICC data, file data and MAC, and keys by sdm-backend's newer scheme.
fn bulk(inputs: &Value, expected: &Value) {
    let settings = TemplateSettings {
        mac_from: MacStart::Enc,
        enc_length: Some(128),
        ..TemplateSettings::new(
            "https://sdm.example/?e={picc}{enc}{mac}",
            Technology::Ntag424Dna,
        )
    };
    let template = template(settings);
    let code = read(
        &template,
        &format!("https://sdm.example/?{}", text(inputs, "query")),
    );
    let derivation = Derivation::SdmBackend {
        version: SdmBackendVersion::Standard,
        meta_slot: 1,
        file_slot: 2,
    };
    let master = MasterSecret::from_hex(text(inputs, "master_key")).unwrap();
    let keys = derivation.keys(&master, uid(expected).unwrap()).unwrap();
    assert_eq!(keys.file, key(expected, "file_key"));
    assert_eq!(*keys.for_picc_data(), key(expected, "meta_key"));
    let input = template.mac_input(None, &code);
    assert_eq!(input, text(inputs, "mac_input_ascii").as_bytes());
    let found = template.check(None, &code, uid(expected).unwrap(), &InlayKeys::Aes(keys));
    assert_as_expected(&found, expected);
}

/// The verdict on a vector's URL, through a template.
fn by_template(template: &Template, inputs: &Value, expected: &Value) {
    let code = read(template, text(inputs, "url"));
    let input = template.mac_input(None, &code);
    if let Some(stated) = maybe(inputs, "mac_input_ascii") {
        assert_eq!(input, stated.as_bytes());
    }
    if let Some(stated) = maybe(inputs, "mac_input_hex") {
        assert_eq!(input, bytes(stated));
    }
    // A browser may send the digits in lower case: the MAC still covers the template's text.
    let lower = text(inputs, "url").to_lowercase();
    let address = text(inputs, "url").split('?').next().unwrap();
    let lower = [address, &lower[address.len()..]].concat();
    if template.settings().template.contains('?') {
        assert_eq!(read(template, &lower), code);
    }
    let found = template.check(None, &code, some_uid(expected), &keys(inputs));
    assert_as_expected(&found, expected);
}

fn lrp(id: &str) {
    one("ntag424-lrp", id, |_, inputs, expected| {
        by_values(inputs, expected);
        if let Some(block) = maybe(expected, "picc_plain") {
            let opened = MetaKey::new(Mode::Lrp, &key(inputs, "meta_key")).open(&values(inputs));
            assert_eq!(opened, Mirrored::from_block(array(block)));
        }
    });
}

/// A MAC of AES mode does not verify in LRP mode, nor the other way round.
#[test]
fn modes_do_not_mix() {
    each("ntag424-lrp", |_, inputs, _| {
        let code = values(inputs);
        assert_eq!(
            MetaKey::new(Mode::Aes, &key(inputs, "meta_key")).open(&code),
            None
        );
    });
    each("sdm-mac-window", |_, inputs, expected| {
        let other = match mode(inputs) {
            Mode::Aes => Mode::Lrp,
            Mode::Lrp => Mode::Aes,
        };
        let mirrored = Mirrored {
            uid: uid(expected),
            counter: number(&expected["counter"]),
        };
        let input = inputs["mac_input_ascii"].as_str().unwrap_or("").as_bytes();
        let mac = Session::new(other, &key(inputs, "file_key"), mirrored).mac(input);
        assert_ne!(Some(mac), values(inputs).bytes(Field::Mac));
    });
}

/// The template with placeholders at the positions in a chip's settings.
fn template_of_file(inputs: &Value) -> Template {
    let offsets = &inputs["offsets"];
    let at = |name: &str| {
        offsets[name]
            .as_u64()
            .map(|at| usize::try_from(at).unwrap())
    };
    let file = bytes(text(inputs, "ndef_file_hex"));
    let enc_length = at("SDMENCLength");
    let picc = if mode(inputs) == Mode::Lrp { 48 } else { 32 };
    let mut fields: Vec<_> = [
        (at("UIDOffset"), Field::Uid, 14),
        (at("SDMReadCtrOffset"), Field::Counter, 6),
        (at("PICCDataOffset"), Field::Picc, picc),
        (at("SDMENCOffset"), Field::Enc, enc_length.unwrap_or(0)),
        (at("SDMMACOffset"), Field::Mac, 16),
    ]
    .into_iter()
    .filter_map(|(at, field, length)| Some((at?, field, length)))
    .collect();
    fields.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));

    let url = text(inputs, "url");
    // Bytes of the prefix that are not in the file.
    let prefix = url.len() - (file.len() - 7);
    let mut text = url.to_owned();
    for (at, field, length) in &fields {
        let at = at - 7 + prefix;
        text.replace_range(at..at + length, &field.to_string());
    }
    let needs_slug = fields
        .iter()
        .all(|(_, field, _)| !matches!(field, Field::Uid | Field::Picc));
    if needs_slug {
        text = text.replacen("/s/", "/{slug}/", 1);
    }
    template(TemplateSettings {
        mode: mode(inputs),
        mac_from: MacStart::Offset(at("SDMMACInputOffset").unwrap().try_into().unwrap()),
        ndef_prefix: Some(file[6]),
        enc_length,
        ..TemplateSettings::new(text, Technology::Ntag424Dna)
    })
}

fn mac_windows(id: &str) {
    one("sdm-mac-window", id, |name, inputs, expected| {
        if maybe(inputs, "sdmmac").is_some() {
            by_values(inputs, expected);
        }
        if maybe(inputs, "ndef_file_hex").is_none() || name == "aes-plain-ctr-only" {
            return;
        }
        let template = template_of_file(inputs);
        by_template(&template, inputs, expected);

        // The encoding sheet has the chip's offsets, and its file with the values filled in.
        let layout = template.layout(None).unwrap();
        let code = read(&template, text(inputs, "url"));
        assert_eq!(template.url(None, &code), text(inputs, "url"));
        let mut file = layout.file.clone();
        for (field, at) in &layout.offsets {
            let value = code.get(*field).unwrap();
            file[*at..at + value.len()].copy_from_slice(value.as_bytes());
        }
        assert_eq!(file, bytes(text(inputs, "ndef_file_hex")));
        let offset = inputs["offsets"]["SDMMACInputOffset"].as_u64();
        assert_eq!(layout.mac_input.map(|at| at as u64), offset);
    });
}

/// A counter without a UID identifies no chip: the tag is found by its slug. The slug in the
/// vector's URL is a single letter, shorter than ours, so the MAC's input is taken from the vector.
#[test]
fn a_counter_without_a_uid() {
    each("sdm-mac-window", |name, inputs, expected| {
        if name == "aes-plain-ctr-only" {
            let InlayKeys::Aes(keys) = keys(inputs) else {
                unreachable!("these keys are AES keys");
            };
            let code = Filled::default()
                .with(Field::Counter, "00012C")
                .with(Field::Mac, text(expected, "sdmmac"));
            let message = Message {
                code: &code,
                mac_input: text(inputs, "mac_input_ascii").as_bytes(),
                tamper_at: None,
                tamper_covered: false,
            };
            let found = check(Mode::Aes, &message, some_uid(expected), &keys);
            assert_as_expected(&found, expected);
            assert!(found.proves_tap());
        }
    });
}

#[test]
fn a_uid_without_a_counter_proves_no_tap() {
    each("sdm-mac-window", |name, inputs, expected| {
        if name.contains("uid-only") && maybe(inputs, "ndef_file_hex").is_some() {
            let template = template_of_file(inputs);
            let code = read(&template, text(inputs, "url"));
            let found = template.check(None, &code, some_uid(expected), &keys(inputs));
            assert!(found.is_authentic() && !found.proves_tap());
        }
    });
}

fn tag_tamper(id: &str) {
    one("ntag424-tagtamper", id, |_, inputs, expected| {
        let Some(parameter) = maybe(inputs, "tt_param") else {
            return by_values(inputs, expected);
        };
        let covered = expected["status_authenticated"] == true;
        let text =
            format!("https://t.example/tt?picc_data={{picc}}&{parameter}={{tamper}}&cmac={{mac}}");
        let template = template(TemplateSettings {
            mac_from: if covered {
                MacStart::Picc
            } else {
                MacStart::None
            },
            ..TemplateSettings::new(text, Technology::Ntag424DnaTt)
        });
        let code = read(&template, super::text(inputs, "url"));
        let found = template.check(None, &code, some_uid(expected), &keys(inputs));
        assert_as_expected(&found, expected);
        let letters = ["permanent", "current"]
            .map(|name| super::text(expected, name))
            .concat();
        let state = if covered {
            tamper(&letters)
        } else {
            Tamper::Unknown
        };
        assert_eq!(found.tamper, Some(state));

        // Changed letters: refused if the MAC covers them, and ignored if it does not.
        let edited = code.with(Field::Tamper, if letters == "CC" { "OC" } else { "CC" });
        let found = template.check(None, &edited, some_uid(expected), &keys(inputs));
        assert_eq!(found.is_authentic(), !covered);
        assert_eq!(found.tamper, Some(Tamper::Unknown));
    });
}

fn boltcard_taps(id: &str) {
    one("boltcard-tap", id, |_, inputs, expected| {
        let text = "lnurlw://card.example/boltcards/api/v1/scan?p={picc}&c={mac}";
        let template = template(TemplateSettings::new(text, Technology::Ntag424Dna));
        let url = format!(
            "lnurlw://card.example/boltcards/api/v1/scan?p={}&c={}",
            super::text(inputs, "p"),
            super::text(inputs, "c")
        );
        let code = read(&template, &url);
        let keys = aes(Some(key(inputs, "k1")), key(inputs, "k2"));
        let plain = Mirrored::from_block(array(super::text(expected, "picc_plain"))).unwrap();
        let found = template.check(None, &code, plain.uid.unwrap(), &keys);
        assert_eq!(found.uid, plain.uid);
        if expected["authentic"] == true {
            assert_as_expected(&found, expected);
            assert_eq!(found.proves_tap(), plain.counter != Some(0));
        } else {
            assert_eq!(
                found.authenticity,
                Authenticity::NotAuthentic(FailedStep::Mac)
            );
        }
    });
}

vectors! {
    boltcard_taps {
        real_ctr3 "boltcard-tap/real-ctr3",
        bolty_counter0 "boltcard-tap/bolty-counter0",
        a3_counter_max "boltcard-tap/a3-counter-max",
        a3_endian_le_1 "boltcard-tap/a3-endian-le-1",
        a3_neg_corrupt_c "boltcard-tap/a3-neg-corrupt-c",
    }
    encrypted_file_data {
        an12196_table4 "ntag424-aes-encfile/an12196-table4",
        an12196_table6 "ntag424-aes-encfile/an12196-table6",
        physical_tag_ctr2 "ntag424-aes-encfile/physical-tag-ctr2",
        physical_tag_ctr3 "ntag424-aes-encfile/physical-tag-ctr3",
        physical_tag_ctr11 "ntag424-aes-encfile/physical-tag-ctr11",
        sdm_backend_bulk_kdf1 "ntag424-aes-encfile/sdm-backend-bulk-kdf1",
        gen_16b_ctr000001 "ntag424-aes-encfile/gen-16B-ctr000001",
        gen_32b_ctrffffff "ntag424-aes-encfile/gen-32B-ctrFFFFFF",
        neg_swapped_enc "ntag424-aes-encfile/neg-swapped-enc",
    }
    lrp {
        ev2crypto_picc_cmac "ntag424-lrp/ev2crypto-picc-cmac",
        ev2crypto_picc_enc_cmac "ntag424-lrp/ev2crypto-picc-enc-cmac",
        gen_0b_ctr000001 "ntag424-lrp/gen-0B-ctr000001",
        gen_32b_ctr010203 "ntag424-lrp/gen-32B-ctr010203",
        gen_64b_ctr800000 "ntag424-lrp/gen-64B-ctr800000",
        gen_bulk_no_file "ntag424-lrp/gen-bulk-no-file",
        neg_aes_mac_on_lrp_picc "ntag424-lrp/neg-aes-mac-on-lrp-picc",
    }
    mac_windows {
        aes_empty_window "sdm-mac-window/aes-empty-window",
        aes_from_enc_through_param "sdm-mac-window/aes-from-enc-through-param",
        aes_from_host_offset7 "sdm-mac-window/aes-from-host-offset7",
        aes_mid_picc "sdm-mac-window/aes-mid-picc",
        aes_plain_uid_ctr_params_empty "sdm-mac-window/aes-plain-uid-ctr-params-empty",
        aes_plain_ctr_only "sdm-mac-window/aes-plain-ctr-only",
        lrp_from_picc "sdm-mac-window/lrp-from-picc",
        lrp_from_picc_with_enc "sdm-mac-window/lrp-from-picc-with-enc",
        lrp_from_file_start "sdm-mac-window/lrp-from-file-start",
        lrp_plain_uid_ctr_x "sdm-mac-window/lrp-plain-uid-ctr-x",
        lrp_plain_uid_only "sdm-mac-window/lrp-plain-uid-only",
        aes_enc_picc_uid_only "sdm-mac-window/aes-enc-picc-uid-only",
        lrp_plain_enc_file "sdm-mac-window/lrp-plain-enc-file",
        lrp_prefix_00_http "sdm-mac-window/lrp-prefix-00-http",
        hw_plain_uid_ctr "sdm-mac-window/hw-plain-uid-ctr",
        hw_plain_uid_only "sdm-mac-window/hw-plain-uid-only",
        hw_picc_uid_ctr "sdm-mac-window/hw-picc-uid-ctr",
        hw_picc_ctr33 "sdm-mac-window/hw-picc-ctr33",
        hw_enc_32b "sdm-mac-window/hw-enc-32B",
        hw_enc_32b_custom_keys_ctr8 "sdm-mac-window/hw-enc-32B-custom-keys-ctr8",
        hw_lrp_plain_ctr7 "sdm-mac-window/hw-lrp-plain-ctr7",
        hw_lrp_picc_ctr30 "sdm-mac-window/hw-lrp-picc-ctr30",
        an12196_table6_file "sdm-mac-window/an12196-table6-file",
    }
    tag_tamper {
        gen_aes_cc "ntag424-tagtamper/gen-aes-CC",
        gen_aes_oc "ntag424-tagtamper/gen-aes-OC",
        gen_aes_ii "ntag424-tagtamper/gen-aes-II",
        gen_aes_nt "ntag424-tagtamper/gen-aes-NT",
        gen_lrp_oo "ntag424-tagtamper/gen-lrp-OO",
        gen_lrp_cc "ntag424-tagtamper/gen-lrp-CC",
        plain_oc_covered "ntag424-tagtamper/plain-oc-covered",
        plain_cc_not_covered "ntag424-tagtamper/plain-cc-not-covered",
    }
}
