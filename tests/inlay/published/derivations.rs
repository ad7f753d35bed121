//! Keys derived from master keys.

use tapdesk_service::inlay::derivation::{
    Derivation, MasterSecret, SdmBackendVersion, boltcard_keys,
};
use tapdesk_service::inlay::diversify::diversify;
use tapdesk_service::inlay::key::{AesKey, cmac};

use super::{array, bytes, key, maybe, number, one, text, uid, vectors};

fn an10922(id: &str) {
    one("kdf-an10922", id, |_, inputs, expected| {
        let (master, input) = (key(inputs, "master"), bytes(text(inputs, "m")));
        assert_eq!(diversify(&master, &input), Ok(key(expected, "key")));
        if maybe(expected, "wrong_plain_cmac").is_some() {
            let plain = cmac(&master, &[&[0x01][..], &input].concat());
            assert_eq!(AesKey::from_bytes(plain), key(expected, "wrong_plain_cmac"));
            let scheme = derivation(r#"{"scheme": "plain_cmac", "input": "01{uid}"}"#);
            let master = MasterSecret::from_bytes(master.expose());
            let uid = text(inputs, "m").parse().unwrap();
            assert_eq!(scheme.keys(&master, uid).unwrap().file.expose(), &plain);
        }
        if let Some(system_id) = maybe(inputs, "system_identifier") {
            let slot = number(&inputs["key_no"]).unwrap();
            let scheme = derivation(&format!(
                r#"{{"scheme": "ntag424_crate", "system_id": "{system_id}", "file_slot": {slot}}}"#
            ));
            let master = MasterSecret::from_bytes(master.expose());
            let keys = scheme.keys(&master, uid(inputs).unwrap()).unwrap();
            assert_eq!(keys.file, key(expected, "key"));
        }
        if input == *b"PICC" {
            let scheme = derivation(r#"{"scheme": "ntag424_crate", "system_id": ""}"#);
            let master = MasterSecret::from_bytes(master.expose());
            let shared = scheme.shared_meta_key(&master).unwrap();
            assert_eq!(shared, Some(key(expected, "key")));
        }
    });
}

fn derivation(json: &str) -> Derivation {
    serde_json::from_str(json).unwrap()
}

fn boltcard(id: &str) {
    one("kdf-boltcard", id, |_, inputs, expected| {
        let version = number(&inputs["version"]).unwrap();
        let (issuer, uid) = (key(inputs, "issuer_key"), uid(inputs).unwrap());
        let keys = boltcard_keys(&issuer, uid, version);
        assert_eq!(keys.card, key(expected, "card_key"));
        assert_eq!(keys.k0, key(expected, "k0"));
        assert_eq!(keys.k1, key(expected, "k1"));
        assert_eq!(keys.k2, key(expected, "k2"));
        assert_eq!(keys.k3, key(expected, "k3"));
        assert_eq!(keys.k4, key(expected, "k4"));
        assert_eq!(keys.id, array(text(expected, "card_id")));

        let scheme = derivation(&format!(
            r#"{{"scheme": "boltcard", "version": {version}}}"#
        ));
        let master = MasterSecret::from_bytes(issuer.expose());
        let found = scheme.keys(&master, uid).unwrap();
        assert_eq!((found.meta, found.file), (Some(keys.k1), keys.k2));
    });
}

fn sdm_backend(id: &str) {
    one("kdf-sdm-backend", id, |_, inputs, expected| {
        let version = match text(inputs, "version") {
            "legacy (v1)" => SdmBackendVersion::Legacy,
            _ => SdmBackendVersion::Standard,
        };
        let slot = u8::try_from(number(&inputs["key_no"]).unwrap()).unwrap();
        let master = bytes(text(inputs, "master"));
        let found = match uid(inputs) {
            Some(uid) => version.tag_key(&master, uid, slot),
            None => version.shared_key(&master, slot),
        };
        assert_eq!(found, key(expected, "key"));
    });
}

#[test]
fn the_slow_scheme_is_known_as_slow() {
    for (version, slow) in [(1, true), (2, false)] {
        let scheme = derivation(&format!(
            r#"{{"scheme": "sdm_backend", "version": {version}}}"#
        ));
        assert_eq!(scheme.is_slow(), slow);
    }
    let error = serde_json::from_str::<Derivation>(r#"{"scheme": "sdm_backend", "version": 3}"#);
    assert!(error.is_err());
}

vectors! {
    an10922 {
        an10922_2_2_1 "kdf-an10922/an10922-2.2.1",
        short_bare_uid "kdf-an10922/short-bare-uid",
        gen_len1 "kdf-an10922/gen-len1",
        gen_len16 "kdf-an10922/gen-len16",
        gen_len31 "kdf-an10922/gen-len31",
        gen_ntag424_crate_layout_key0 "kdf-an10922/gen-ntag424-crate-layout-key0",
        gen_ntag424_crate_picc_key_0 "kdf-an10922/gen-ntag424-crate-picc-key-0",
    }
    boltcard {
        bolty_cpp_vector1 "kdf-boltcard/bolty-cpp-vector1",
        boltcard_spec "kdf-boltcard/boltcard-spec",
        recovery_v0 "kdf-boltcard/recovery-v0",
        a2_11 "kdf-boltcard/a2-11",
        a2_16 "kdf-boltcard/a2-16",
        a2_20 "kdf-boltcard/a2-20",
        a2_26 "kdf-boltcard/a2-26",
    }
    sdm_backend {
        v2_k1_undiv "kdf-sdm-backend/v2-k1-undiv",
        v2_k1_a "kdf-sdm-backend/v2-k1-a",
        v2_k2_a "kdf-sdm-backend/v2-k2-a",
        v2_zero_master "kdf-sdm-backend/v2-zero-master",
        v1_gen_0 "kdf-sdm-backend/v1-gen-0",
        v1_gen_1 "kdf-sdm-backend/v1-gen-1",
        v1_gen_4 "kdf-sdm-backend/v1-gen-4",
    }
}
