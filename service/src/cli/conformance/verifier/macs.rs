//! Wrong MACs of codes that are right otherwise.

use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::key::{AesKey, Keys};
use tapdesk_service::inlay::template::{Field, Filled};

use super::Verifier;
use super::code::{self, Tap};
use crate::cli::conformance::check::{Check, Judged};

/// The rule of the MAC in the data sheet.
const MAC: &str = "NT4H2421Gx 9.3.8";

pub(super) fn checks() -> Vec<Check<Verifier>> {
    vec![
        with_mac("mac-inverted", "A MAC with all bits inverted", inverted),
        with_mac("mac-zero", "A MAC of zeros", |mac| "0".repeat(mac.len())),
        with_mac("mac-ones", "A MAC of FFh", |mac| "F".repeat(mac.len())),
        Check::new("mac-each-byte", MAC, each_byte),
        Check::new("mac-truncated", MAC, truncated),
        with_mac("mac-odd-length", "A MAC of 15 digits", |mac| {
            mac[..mac.len() - 1].to_owned()
        }),
        with_mac("mac-overlong", "A MAC of 9 bytes", |mac| format!("{mac}00")),
        Check::new("mac-full", MAC, full),
        with_mac("mac-empty", "An empty MAC", |_| String::new()),
        with_mac("mac-not-hex", "A MAC that is not hex digits", |mac| {
            "Z".repeat(mac.len())
        }),
        Check::new("mac-of-another-read", "NT4H2421Gx 9.3.9.1", of_another_read),
        Check::new("mac-of-another-chip", "NT4H2421Gx 9.3.9.1", of_another_chip),
        Check::new("mac-of-another-key", "NT4H2421Gx 9.3.9.1", of_another_key),
    ]
}

/// A check that a fresh code with another MAC is refused.
fn with_mac(
    name: &'static str,
    subject: &'static str,
    mac: impl Fn(&str) -> String + 'static,
) -> Check<Verifier> {
    Check::new(name, MAC, move |verifier: &mut Verifier| {
        let code = verifier.with_mac(&mac);
        verifier.must_refuse_code(subject, &code)
    })
}

/// The MAC with all bits inverted.
pub(super) fn inverted(mac: &str) -> String {
    let digits = mac.chars().filter_map(|digit| digit.to_digit(16));
    digits
        .map(|digit| format!("{:X}", 15 - digit))
        .collect::<Vec<_>>()
        .concat()
}

/// The MAC with one byte inverted, counted from 0.
fn with_byte(mac: &str, byte: usize) -> String {
    let (before, rest) = mac.split_at(2 * byte);
    let (byte, after) = rest.split_at(2);
    format!("{before}{}{after}", inverted(byte))
}

/// Each byte of the MAC counts: a comparison could end early, or skip some.
fn each_byte(verifier: &mut Verifier) -> Judged {
    let urls: Vec<_> = (0..8)
        .map(|byte| {
            let code = verifier.with_mac(|mac| with_byte(mac, byte));
            (format!("byte {} changed", byte + 1), verifier.url(&code))
        })
        .collect();
    verifier.must_refuse("A MAC with one wrong byte", &urls)
}

fn truncated(verifier: &mut Verifier) -> Judged {
    let urls: Vec<_> = [2, 8, 14]
        .map(|digits| {
            let code = verifier.with_mac(|mac| mac[..digits].to_owned());
            (format!("the first {digits} digits"), verifier.url(&code))
        })
        .into();
    verifier.must_refuse("A part of the MAC", &urls)
}

/// The whole CMAC, of which the MAC is one half.
fn full(verifier: &mut Verifier) -> Judged {
    let (counter, rule, uid) = (verifier.fresh(), verifier.rule, verifier.uid);
    let code = verifier.code(counter);
    let tap = Tap { uid, counter, rule };
    let mac = code::full_mac(&verifier.template, &verifier.keys, &tap, &code);
    let code = code.with(Field::Mac, &mac);
    verifier.must_refuse_code("The whole CMAC of 16 bytes", &code)
}

/// The code with the MAC of another one.
fn mixed(verifier: &mut Verifier, other: &Filled, subject: &str) -> Judged {
    let counter = verifier.fresh();
    let mac = other.get(Field::Mac).unwrap_or_default();
    let code = verifier.code(counter).with(Field::Mac, mac);
    verifier.must_refuse_code(subject, &code)
}

fn of_another_read(verifier: &mut Verifier) -> Judged {
    let counter = verifier.fresh();
    let other = verifier.code(counter);
    mixed(verifier, &other, "The MAC of another read")
}

fn of_another_chip(verifier: &mut Verifier) -> Judged {
    let (counter, rule) = (verifier.counter, verifier.rule);
    let other = verifier.code_of(neighbour(verifier.uid), rule, code::next_counter(counter));
    mixed(verifier, &other, "The MAC of another chip")
}

fn of_another_key(verifier: &mut Verifier) -> Judged {
    let counter = code::next_counter(verifier.counter);
    let (uid, rule) = (verifier.uid, verifier.rule);
    let keys = Keys {
        meta: verifier.keys.meta.clone(),
        file: AesKey::from_bytes(verifier.keys.file.expose().map(|byte| !byte)),
    };
    let other = code::make(&verifier.template, &keys, &Tap { uid, counter, rule });
    mixed(verifier, &other, "The MAC of another file key")
}

/// The UID of a chip beside this one.
pub(super) fn neighbour(uid: Uid) -> Uid {
    let mut bytes = uid.bytes();
    bytes[6] ^= 0x10;
    Uid::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_or_all_are_inverted() {
        assert_eq!(inverted("0F94"), "F06B");
        assert_eq!(with_byte("0011223344556677", 2), "0011DD3344556677");
    }

    #[test]
    fn a_neighbour_has_another_uid() {
        let uid: Uid = "04DE5F1EACC040".parse().unwrap();
        assert_eq!(neighbour(uid).to_string(), "04DE5F1EACC050");
    }
}
