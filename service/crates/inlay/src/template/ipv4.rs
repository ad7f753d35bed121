//! IPv4 addresses as browsers read them: a part can be octal or hexadecimal, and the last one stands
//! for all parts that are missing (URL Standard, section 3.5). Browsers send the usual spelling.

use std::net::Ipv4Addr;

/// Whether browsers read a host as an IPv4 address, because its last label is a number.
pub(super) fn is_meant(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_decimal = !last.is_empty() && last.bytes().all(|b| b.is_ascii_digit());
    let is_hexadecimal =
        hexadecimal(last).is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
    is_decimal || is_hexadecimal
}

/// The address that a host stands for; `None` if it is none.
pub(super) fn address(host: &str) -> Option<Ipv4Addr> {
    let parts: Vec<u32> = host.split('.').map(part).collect::<Option<_>>()?;
    let (last, bytes) = parts.split_last()?;
    if bytes.len() > 3 || bytes.iter().any(|byte| *byte > 0xFF) {
        return None;
    }
    let mut bits = 0;
    for (place, byte) in bytes.iter().enumerate() {
        bits |= byte << (24 - 8 * place);
    }
    // The last part has the bits that the bytes before it leave.
    let most = u32::MAX.checked_shr(8 * u32::try_from(bytes.len()).ok()?)?;
    (*last <= most).then(|| Ipv4Addr::from_bits(bits | last))
}

/// The digits of a hexadecimal number.
fn hexadecimal(text: &str) -> Option<&str> {
    text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))
}

/// The number that a part of an address stands for.
fn part(text: &str) -> Option<u32> {
    let (digits, radix) = match (hexadecimal(text), text.strip_prefix('0')) {
        (Some(""), _) => return Some(0),
        (Some(digits), _) => (digits, 16),
        (None, Some(digits)) if !digits.is_empty() => (digits, 8),
        (None, _) => (text, 10),
    };
    // Numbers can have a sign for the parser, but not in an address.
    let are_digits = digits.chars().all(|c| c.is_digit(radix));
    are_digits
        .then(|| u32::from_str_radix(digits, radix).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_in_each_spelling_of_browsers() {
        for (host, expected) in [
            ("192.0.2.1", Some("192.0.2.1")),
            ("3221225985", Some("192.0.2.1")),
            ("0xC0.0.2.1", Some("192.0.2.1")),
            ("0300.0.0x2.01", Some("192.0.2.1")),
            ("192.513", Some("192.0.2.1")),
            ("0x", Some("0.0.0.0")),
            ("255.255.255.255", Some("255.255.255.255")),
            ("256.0.2.1", None),
            ("192.0.2.256", None),
            ("192.0.2.1.5", None),
            ("192.0.08.1", None),
            ("192.0.+2.1", None),
            ("192..2.1", None),
            ("4294967296", None),
            ("0x100000000", None),
        ] {
            let found = address(host).map(|found| found.to_string());
            assert_eq!(found.as_deref(), expected, "{host}");
            assert!(is_meant(host), "{host}");
        }
        for name in ["tags.example", "tags-1", "my.v2", "x0.0xg", "1.2.3.a"] {
            assert!(!is_meant(name), "{name}");
        }
    }
}
