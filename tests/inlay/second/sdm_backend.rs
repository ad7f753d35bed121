//! The two key schemes of sdm-backend, computed with only a hash: HMAC by RFC 2104 and PBKDF2 by
//! RFC 8018.

use sha2::{Digest, Sha256, Sha512};
use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::derivation::{Derivation, MasterSecret, SdmBackendVersion};
use tapdesk_service::inlay::key::InlayKeys;
use tapdesk_service::inlay::technology::Technology;
use tapdesk_tests::length;

use super::{Draw, aes_cmac, both_agree, dynamic, urls};

const TEMPLATE: &str = "https://sdm.example/tag?picc_data={picc}&cmac={mac}";

/// HMAC over a hash whose blocks have `block` bytes.
fn hmac<H: Digest>(block: usize, key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut padded = if key.len() > block {
        H::digest(key).to_vec()
    } else {
        key.to_vec()
    };
    padded.resize(block, 0);
    let masked = |by: u8| padded.iter().map(move |byte| byte ^ by);
    let inner: Vec<u8> = masked(0x36).chain(message.iter().copied()).collect();
    let outer: Vec<u8> = masked(0x5C).chain(H::digest(&inner)).collect();
    H::digest(&outer).to_vec()
}

fn sixteen(bytes: &[u8]) -> [u8; 16] {
    bytes[..16].try_into().unwrap()
}

/// The older scheme: the first 16 bytes of PBKDF2-HMAC-SHA512 after 5,000 rounds.
fn legacy(master: &[u8], salt: &[u8]) -> [u8; 16] {
    let mut u = hmac::<Sha512>(128, master, &[salt, &[0, 0, 0, 1]].concat());
    let mut sum = u.clone();
    for _ in 2..=5_000 {
        u = hmac::<Sha512>(128, master, &u);
        for (sum, byte) in sum.iter_mut().zip(&u) {
            *sum ^= byte;
        }
    }
    sixteen(&sum)
}

/// The newer scheme: the key of a slot of one chip.
fn standard(master: &[u8], uid: [u8; 7], slot: u8) -> [u8; 16] {
    let of_slot = hmac::<Sha256>(64, master, &[&b"SlotMasterKey"[..], &[slot]].concat());
    let base = hmac::<Sha256>(64, master, b"DivBaseKey");
    let of_chip = hmac::<Sha256>(64, &base, &uid);
    aes_cmac(&sixteen(&of_slot), &[&[0x01], &of_chip[..16]].concat())
}

/// A master key of any allowed length.
fn master(draw: &Draw) -> Vec<u8> {
    let bytes = [&draw.key[..], &draw.rolling].concat();
    let length = 1 + (draw.state * 7 + usize::from(draw.uid[6])) % 64;
    bytes.iter().copied().cycle().take(length).collect()
}

/// Our keys, with the slots drawn for the chip.
fn keys(draw: &Draw, version: SdmBackendVersion) -> InlayKeys {
    let [meta_slot, file_slot] = slots(draw);
    let scheme = Derivation::SdmBackend {
        version,
        meta_slot,
        file_slot,
    };
    let secret = MasterSecret::from_bytes(&master(draw));
    InlayKeys::Aes(scheme.keys(&secret, Uid::from_bytes(draw.uid)).unwrap())
}

fn slots(draw: &Draw) -> [u8; 2] {
    [draw.uid[1], draw.uid[2]].map(|byte| byte % 5)
}

#[test]
fn its_newer_scheme() {
    let ours = |draw: &Draw| keys(draw, SdmBackendVersion::Standard);
    both_agree(urls(), TEMPLATE, Technology::Ntag424Dna, ours, |draw| {
        let master = master(draw);
        let [_, file_slot] = slots(draw);
        // The meta key is the same in every slot.
        let meta = sixteen(&hmac::<Sha256>(64, &master, b"PICCDataKey"));
        let (picc, mac) = dynamic(draw, &meta, &standard(&master, draw.uid, file_slot));
        format!("https://sdm.example/tag?picc_data={picc}&cmac={mac}")
    });
}

/// A chip takes 20,000 hashes on each side, so the number of chips is limited to a second or two.
#[test]
fn its_older_scheme() {
    let ours = |draw: &Draw| keys(draw, SdmBackendVersion::Legacy);
    let cases = length(20, 1_000);
    both_agree(cases, TEMPLATE, Technology::Ntag424Dna, ours, |draw| {
        let master = master(draw);
        let [meta_slot, file_slot] = slots(draw);
        let meta = legacy(&master, &[&b"key_no_uid"[..], &[meta_slot]].concat());
        let file = legacy(&master, &[&b"key"[..], &draw.uid, &[file_slot]].concat());
        let (picc, mac) = dynamic(draw, &meta, &file);
        format!("https://sdm.example/tag?picc_data={picc}&cmac={mac}")
    });
}
