//! A second implementation of the chips and key schemes that the `ntag424` crate does not support.
//! It is written directly from the documents, and compared with ours on random URLs.

mod sdm_backend;

use aes::Aes128;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use tapdesk_service::entropy::{SeededEntropy, bytes};
use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::derivation::{Derivation, MasterSecret};
use tapdesk_service::inlay::key::{AesKey, InlayKeys, Keys, Sic43ntKey};
use tapdesk_service::inlay::technology::Technology;
use tapdesk_service::inlay::template::{Request, Template, TemplateSettings};
use tapdesk_tests::fixtures::hex;
use tapdesk_tests::length;

/// The number of URLs of each chip.
fn urls() -> u32 {
    length(3_000, 100_000)
}

fn encrypt(key: &[u8; 16], block: [u8; 16]) -> [u8; 16] {
    let mut block = aes::Block::from(block);
    Aes128::new(key.into()).encrypt_block(&mut block);
    block.0
}

/// AES-CMAC, written like RFC 4493.
fn aes_cmac(key: &[u8; 16], message: &[u8]) -> [u8; 16] {
    let shifted = |block: [u8; 16]| {
        let mut shifted = [0; 16];
        let mut carry = 0;
        for at in (0..16).rev() {
            shifted[at] = block[at] << 1 | carry;
            carry = block[at] >> 7;
        }
        if carry == 1 {
            shifted[15] ^= 0x87;
        }
        shifted
    };
    let k1 = shifted(encrypt(key, [0; 16]));
    let k2 = shifted(k1);
    let whole = !message.is_empty() && message.len().is_multiple_of(16);
    let mut padded = message.to_vec();
    if !whole {
        padded.push(0x80);
        while !padded.len().is_multiple_of(16) {
            padded.push(0);
        }
    }
    let last = padded.len() - 16;
    let subkey = if whole { k1 } else { k2 };
    for (byte, of_key) in padded[last..].iter_mut().zip(subkey) {
        *byte ^= of_key;
    }
    padded.chunks(16).fold([0; 16], |state, block| {
        let mut mixed = state;
        for (byte, other) in mixed.iter_mut().zip(block) {
            *byte ^= other;
        }
        encrypt(key, mixed)
    })
}

/// MICKEY version 1, with a `bool` per stage. The tables are 32-bit words: bit i of word w is stage
/// 32w + i.
struct Mickey {
    r: [bool; 80],
    s: [bool; 80],
}

const RTAPS: [u32; 3] = [0x1d53_63d5, 0x415a_0aac, 0x0000_d2a8];
const COMP0: [u32; 3] = [0x6aa9_7a30, 0x7942_a809, 0x0000_3fea];
const COMP1: [u32; 3] = [0xdd62_9e9a, 0xe3a2_1d63, 0x0000_3dd7];
const FB0: [u32; 3] = [0x9ffa_7faf, 0xaf4a_9381, 0x0000_5802];
const FB1: [u32; 3] = [0x4c8c_b877, 0x4911_b063, 0x0000_c52b];

fn stage(table: [u32; 3], at: usize) -> bool {
    table[at / 32] >> (at % 32) & 1 == 1
}

impl Mickey {
    fn clock(&mut self, mixing: bool, input: bool) {
        let control_r = self.s[27] ^ self.r[53];
        let control_s = self.s[53] ^ self.r[26];
        let input_r = if mixing { input ^ self.s[40] } else { input };
        let (r, s) = (self.r, self.s);
        let feedback = r[79] ^ input_r;
        for at in 0..80 {
            let before = at > 0 && r[at - 1];
            self.r[at] = before ^ (feedback && stage(RTAPS, at)) ^ (control_r && r[at]);
        }
        let feedback = s[79] ^ input;
        for at in 0..80 {
            let moved = match at {
                0 => false,
                79 => s[78],
                _ => s[at - 1] ^ ((s[at] ^ stage(COMP0, at)) && (s[at + 1] ^ stage(COMP1, at))),
            };
            let table = if control_s { FB1 } else { FB0 };
            self.s[at] = moved ^ (feedback && stage(table, at));
        }
    }

    /// The first four bytes of the key stream.
    fn code(key: &[u8; 10], time_stamp: u32) -> [u8; 4] {
        let mut mickey = Self {
            r: [false; 80],
            s: [false; 80],
        };
        let loaded = time_stamp.to_be_bytes();
        for byte in loaded.iter().rev().chain(key.iter().rev()) {
            for bit in 0..8 {
                mickey.clock(true, byte >> bit & 1 == 1);
            }
        }
        for _ in 0..80 {
            mickey.clock(true, false);
        }
        let mut code = [0; 4];
        for bit in 0..32 {
            let out = mickey.r[0] ^ mickey.s[0];
            code[bit / 8] = code[bit / 8] << 1 | u8::from(out);
            mickey.clock(false, false);
        }
        code
    }
}

/// The odd bytes of a CMAC (its truncated form).
fn shortened(mac: [u8; 16]) -> Vec<u8> {
    mac.iter().skip(1).step_by(2).copied().collect()
}

/// The values of a read by the second implementation, before its MAC.
struct Draw {
    uid: [u8; 7],
    counter: u32,
    key: [u8; 16],
    rolling: [u8; 10],
    /// The index of the loop's letters.
    state: usize,
}

/// Our verdict on a chip's URL: the counter if it is authentic.
fn ours(template: &Template, url: &str, uid: [u8; 7], keys: &InlayKeys) -> Option<u32> {
    let addressed = template.read(&Request::of_url(url)?)?;
    let code = addressed.code.ok()??;
    let found = template.check(None, &code, Uid::from_bytes(uid), keys);
    found.counter.filter(|_| found.is_authentic())
}

/// Random URLs of a chip, created by the second implementation: ours accepts each of them, and none
/// with a changed digit.
fn both_agree(
    cases: u32,
    template: &str,
    technology: Technology,
    keys: impl Fn(&Draw) -> InlayKeys,
    chip: impl Fn(&Draw) -> String,
) {
    let template = Template::new(TemplateSettings::new(template, technology)).unwrap();
    let entropy = SeededEntropy::new(43);
    let wide = technology.counter_max();
    for case in 0..cases {
        let draw = Draw {
            uid: bytes(&entropy),
            counter: u32::from_le_bytes(bytes(&entropy)) & wide,
            key: bytes(&entropy),
            rolling: bytes(&entropy),
            state: usize::from(bytes::<1>(&entropy)[0]),
        };
        let keys = keys(&draw);
        let url = chip(&draw);
        let found = ours(&template, &url, draw.uid, &keys);
        assert_eq!(found, Some(draw.counter), "case {case}: {url}");

        // A digit in the UID or PICC data, which come first, or in the code, which comes last. A
        // plain flag is not always covered.
        let first = url.find('=').unwrap() + 1;
        let digits: Vec<usize> = (first..first + 14)
            .chain(url.len() - 8..url.len())
            .collect();
        let [at, by] = bytes::<2>(&entropy).map(usize::from);
        let at = digits[at % digits.len()];
        let old = (url.as_bytes()[at] as char).to_digit(16).unwrap();
        let new = (old + 1 + u32::try_from(by % 15).unwrap()) % 16;
        let new = char::from_digit(new, 16).unwrap().to_ascii_uppercase();
        let mut forged = url.clone();
        forged.replace_range(at..=at, &new.to_string());
        let found = ours(&template, &forged, draw.uid, &keys);
        assert_eq!(found, None, "case {case}: {forged} instead of {url}");
    }
}

/// The values of an NTAG 424 DNA: PICC data, and the MAC over nothing (AN12196, sections 3.4.2 and
/// 3.4.4).
fn dynamic(draw: &Draw, meta: &[u8; 16], file: &[u8; 16]) -> (String, String) {
    let mut block = [0; 16];
    block[0] = 0xC7;
    block[1..8].copy_from_slice(&draw.uid);
    block[8..11].copy_from_slice(&draw.counter.to_le_bytes()[..3]);
    block[11..].copy_from_slice(&draw.rolling[..5]);
    let mut vector = [0; 16];
    vector[..6].copy_from_slice(&[0x3C, 0xC3, 0x00, 0x01, 0x00, 0x80]);
    vector[6..].copy_from_slice(&block[1..11]);
    let mac = shortened(aes_cmac(&aes_cmac(file, &vector), &[]));
    (hex(&encrypt(meta, block)), hex(&mac))
}

fn one_key(draw: &Draw) -> InlayKeys {
    InlayKeys::Aes(Keys {
        meta: None,
        file: AesKey::from_bytes(draw.key),
    })
}

#[test]
fn ntag_22x_dna() {
    let run = "https://n.example/?m={uid}x{counter}x{mac}";
    both_agree(urls(), run, Technology::Ntag223Dna, one_key, |draw| {
        let counter = &draw.counter.to_be_bytes()[1..];
        let mac = aes_cmac(&draw.key, &[&draw.uid, counter].concat());
        let mac = hex(&shortened(mac));
        format!(
            "https://n.example/?m={}x{}x{mac}",
            hex(&draw.uid),
            hex(counter)
        )
    });
}

#[test]
fn ntag_22x_dna_with_status_detect() {
    let run = "https://n.example/?m={uid}x{counter}x{tamper}x{mac}";
    both_agree(urls(), run, Technology::Ntag224Dna, one_key, |draw| {
        let counter = &draw.counter.to_be_bytes()[1..];
        let (letters, byte) =
            [("CC", 0x33), ("OC", 0xF3), ("OO", 0xFF), ("CO", 0x3F)][draw.state % 4];
        let measured = &draw.rolling[..4];
        let input = [&draw.uid, counter, &[byte], measured].concat();
        let mac = hex(&shortened(aes_cmac(&draw.key, &input)));
        let (uid, counter, measured) = (hex(&draw.uid), hex(counter), hex(measured));
        format!("https://n.example/?m={uid}x{counter}x{letters}{measured}x{mac}")
    });
}

#[test]
fn sic43nt() {
    let run = "https://s.example/?d={uid}{tamper}{counter}{mac}";
    let keys = |draw: &Draw| InlayKeys::Rolling(Sic43ntKey::from_bytes(draw.rolling));
    both_agree(urls(), run, Technology::Sic43Nt, keys, |draw| {
        let code = Mickey::code(&draw.rolling, draw.counter);
        let (uid, counter) = (hex(&draw.uid), hex(&draw.counter.to_be_bytes()));
        format!("https://s.example/?d={uid}00{counter}{}", hex(&code))
    });
}

#[test]
fn sic43s1() {
    let run = "https://s.example/?U={uid}&TF={tamper}&TS={counter}&SAC={mac}";
    both_agree(urls(), run, Technology::Sic43S1, one_key, |draw| {
        let flag = ["00", "AA"][draw.state % 2];
        let time_stamp = draw.counter.to_be_bytes();
        let input = [&time_stamp[..], &draw.uid, flag.as_bytes()].concat();
        let mac = hex(&aes_cmac(&draw.key, &input));
        let (uid, time_stamp) = (hex(&draw.uid), hex(&time_stamp));
        format!("https://s.example/?U={uid}&TF={flag}&TS={time_stamp}&SAC={mac}")
    });
}

/// The card's keys and code, computed with only AES-CMAC and AES.
#[test]
fn boltcard() {
    let run = "https://card.example/scan?p={picc}&c={mac}";
    let scheme = |draw: &Draw| Derivation::Boltcard {
        version: u32::try_from(draw.state).unwrap(),
    };
    let keys = |draw: &Draw| {
        let issuer = MasterSecret::from_bytes(&draw.key);
        let keys = scheme(draw).keys(&issuer, Uid::from_bytes(draw.uid));
        InlayKeys::Aes(keys.unwrap())
    };
    both_agree(urls(), run, Technology::Ntag424Dna, keys, |draw| {
        let version = u32::try_from(draw.state).unwrap().to_le_bytes();
        let label = |last: u8, rest: &[u8]| [&[0x2D, 0x00, 0x3F, last], rest].concat();
        let card = aes_cmac(&draw.key, &label(0x75, &[&draw.uid[..], &version].concat()));
        let k1 = aes_cmac(&draw.key, &label(0x77, &[]));
        let k2 = aes_cmac(&card, &label(0x78, &[]));
        let (picc, mac) = dynamic(draw, &k1, &k2);
        format!("https://card.example/scan?p={picc}&c={mac}")
    });
}
