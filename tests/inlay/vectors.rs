//! Published vectors, with one test per vector, named after its source.

use std::sync::LazyLock;

use aes::cipher::{BlockCipherEncrypt, BlockModeDecrypt, KeyInit, KeyIvInit};
use serde_json::Value;
use tapdesk_service::inlay::diversify::{DiversificationInput, MasterKey, diversify};
use tapdesk_service::inlay::key::{AesKey, Keys, cmac};
use tapdesk_service::inlay::technology::ntag424::session::{
    PiccData, encryption_session_key, mac_session_key, sdmmac,
};
use tapdesk_service::inlay::verify::{Authentic, Candidate, verify};
use tapdesk_service::inlay::{MacFrom, Mirror, Uid};

static VECTORS: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../vectors/ntag424.json")).expect("the vectors are JSON")
});

/// The one vector of a section whose source has this prefix.
fn vector(section: &str, source: &str) -> &'static Value {
    let of_source = |v: &&Value| text(v, "source").starts_with(source);
    let mut found = VECTORS[section]
        .as_array()
        .unwrap()
        .iter()
        .filter(of_source);
    let vector = found.next().expect("the source is among the vectors");
    assert!(found.next().is_none(), "{source} is ambiguous");
    vector
}

fn text<'a>(vector: &'a Value, name: &str) -> &'a str {
    vector[name]
        .as_str()
        .unwrap_or_else(|| panic!("no text {name} in {vector}"))
}

fn bytes(hex: &str) -> Vec<u8> {
    let pair = |i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(pair).collect()
}

fn key(vector: &Value, name: &str) -> AesKey {
    AesKey::from_hex(text(vector, name)).unwrap()
}

fn uid(vector: &Value) -> Uid {
    text(vector, "uid").parse().unwrap()
}

fn counter(vector: &Value) -> u32 {
    vector["counter"].as_u64().unwrap().try_into().unwrap()
}

fn array<const N: usize>(vector: &Value, name: &str) -> [u8; N] {
    bytes(text(vector, name)).try_into().unwrap()
}

#[test]
fn session_keys_of_an12196_table_2() {
    let v = vector("session_keys", "NXP AN12196 rev 1.8, table 2");
    let [c0, c1, c2] = array(v, "counter_lsb");
    let counter = u32::from_le_bytes([c0, c1, c2, 0]);
    let file_key = key(v, "key");
    let encryption = encryption_session_key(&file_key, uid(v), counter);
    assert_eq!(encryption.expose(), &array(v, "enc_session_key"));
    let mac = mac_session_key(&file_key, uid(v), counter);
    assert_eq!(mac.expose(), &array(v, "mac_session_key"));
}

/// Checks a vector with encrypted PICC data: its content and its MAC.
fn picc_data_and_mac(v: &Value) {
    let encrypted: [u8; 16] = array(v, "picc_enc_data");
    let said = PiccData::decrypt(&key(v, "meta_key"), encrypted);
    let (uid, counter) = (uid(v), counter(v));
    assert_eq!(said, Some(PiccData { uid, counter }));

    let session_key = mac_session_key(&key(v, "file_key"), uid, counter);
    let input = v["mac_input"].as_str().unwrap().as_bytes();
    assert_eq!(sdmmac(&session_key, input), array(v, "sdmmac"));
    if v["mac_session_key"].is_string() {
        assert_eq!(session_key.expose(), &array(v, "mac_session_key"));
    }
    if v["full_cmac"].is_string() {
        assert_eq!(cmac(&session_key, input), array(v, "full_cmac"));
    }
}

/// Checks a vector with an empty MAC input as well: its URL verifies.
fn verifies(v: &Value) {
    let candidate = Candidate {
        uid: uid(v),
        mirror: Mirror::Encrypted,
        mac_from: MacFrom::None,
        keys: Keys {
            meta: Some(key(v, "meta_key")),
            file: key(v, "file_key"),
        },
    };
    let verdict = verify(text(v, "picc_enc_data"), text(v, "sdmmac"), &[candidate]);
    let (index, counter) = (0, counter(v));
    assert_eq!(verdict, Ok(Authentic { index, counter }));
}

#[test]
fn encrypted_picc_data_of_an12196_tables_3_and_5() {
    let v = vector("encrypted_picc_data", "NXP AN12196 rev 1.8, tables 3 and 5");
    picc_data_and_mac(v);
    verifies(v);

    let picc_data: [u8; 16] = array(v, "picc_data");
    let padding = picc_data[11..].try_into().unwrap();
    let (uid, counter) = (uid(v), counter(v));
    let encrypted = PiccData { uid, counter }.encrypt(&key(v, "meta_key"), padding);
    assert_eq!(encrypted, array(v, "picc_enc_data"));
}

#[test]
fn encrypted_file_data_of_an12196_table_4() {
    let v = vector("encrypted_picc_data", "NXP AN12196 rev 1.8, table 4");
    picc_data_and_mac(v);

    // The session key for encryption, checked by decrypting: the product's codes have no file data.
    let session_key = encryption_session_key(&key(v, "file_key"), uid(v), counter(v));
    assert_eq!(session_key.expose(), &array(v, "enc_session_key"));
    let mut iv = aes::Block::default();
    iv[..3].copy_from_slice(&counter(v).to_le_bytes()[..3]);
    aes::Aes128::new(session_key.expose().into()).encrypt_block(&mut iv);
    assert_eq!(iv.0, array(v, "iv"));
    let mut data = aes::Block::from(array(v, "enc_file_data"));
    cbc::Decryptor::<aes::Aes128>::new(session_key.expose().into(), &iv).decrypt_block(&mut data);
    assert_eq!(data.0, array(v, "file_data"));
}

#[test]
fn mac_over_encrypted_file_data_of_an12196_table_6() {
    picc_data_and_mac(vector(
        "encrypted_picc_data",
        "NXP AN12196 rev 1.8, table 6",
    ));
}

#[test]
fn a_real_card_of_boltcard() {
    let v = vector("encrypted_picc_data", "boltcard");
    picc_data_and_mac(v);
    verifies(v);
}

#[test]
fn key_diversification_of_an10922() {
    let v = vector("key_diversification_an10922", "NXP AN10922");
    let (master, expected) = (key(v, "master"), key(v, "key"));
    assert_eq!(
        diversify(&master, &bytes(text(v, "input"))),
        Ok(expected.clone())
    );

    // The same through a master key in the product: the input begins with the UID.
    let (uid, rest) = text(v, "input").split_at(14);
    let input: DiversificationInput = format!("{{uid}}{rest}").parse().unwrap();
    let master = MasterKey {
        key: master,
        input,
        diversify_meta: false,
    };
    let keys = master.keys_for(uid.parse().unwrap(), Mirror::Encrypted);
    assert_eq!(
        keys,
        Keys {
            meta: Some(master.key.clone()),
            file: expected
        }
    );
}

#[test]
fn every_vector_of_the_rolling_code_has_its_test() {
    let count = |section: &str| VECTORS[section].as_array().unwrap().len();
    assert_eq!(count("session_keys"), 1);
    assert_eq!(count("encrypted_picc_data"), 4);
    assert_eq!(count("key_diversification_an10922"), 1);
}
