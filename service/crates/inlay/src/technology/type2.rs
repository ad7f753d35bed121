//! Which NFC Forum Type 2 chip is on a reader, as far as the chip can be identified.
//!
//! The size in the capability container decides nothing: NTAG 203, NTAG 213, NTAG 213 TT, NTAG 223
//! DNA, Ultralight C and SIC43NT all state 144 bytes. The chips differ in the first byte of the
//! UID, in the last page of their memory, and in the answer to `GET_VERSION`.

use super::Technology;

/// The first byte of a UID of NXP (ISO/IEC 7816-6). Silicon Craft has 39.
pub const NXP: u8 = 0x04;
/// `GET_VERSION` (data sheet NTAG213/215/216 rev 3.2, section 10.1). NTAG 203, Ultralight and
/// Ultralight C do not know it, and stop answering.
pub const GET_VERSION: u8 = 0x60;

/// The chip that gives this answer to `GET_VERSION`; `None` if it is not a known chip of inlays.
///
/// Sources: data sheets NTAG210/212 rev 3.0 table 14, NTAG213/215/216 rev 3.2 table 28,
/// NTAG213F/216F rev 3.4, NTAG213 TT rev 3.0, `MF0ULx1` rev 3.3 table 15; for NTAG 223 and 224 DNA
/// the tables of public tools, because their data sheets are not public.
pub fn of_version(version: &[u8]) -> Option<Technology> {
    // Header, vendor NXP, type, subtype, major and minor version, size, protocol.
    let &[0x00, NXP, kind, subtype, major, minor, size, 0x03] = version else {
        return None;
    };
    Some(match (kind, subtype, major, minor, size) {
        // Ultralight EV1, Nano and AES: they write no values into their data.
        (0x03, ..) => Technology::Ultralight,
        (0x04, 0x01, 0x01, 0x00, 0x0B) => Technology::Ntag210,
        (0x04, 0x01, 0x01, 0x00, 0x0E) => Technology::Ntag212,
        // Subtype 4 has field detection, too.
        (0x04, 0x02 | 0x04, 0x01, 0x00, 0x0F) => Technology::Ntag213,
        (0x04, 0x02, 0x01, 0x00, 0x11) => Technology::Ntag215,
        (0x04, 0x02 | 0x04, 0x01, 0x00, 0x13) => Technology::Ntag216,
        (0x04, 0x02, 0x03, 0x00, 0x0F) => Technology::Ntag213Tt,
        // Subtype 8 has StatusDetect, too.
        (0x04, 0x02 | 0x08, 0x04, 0x00, 0x0F) => Technology::Ntag223Dna,
        (0x04, 0x02 | 0x08, 0x05, 0x00, 0x10) => Technology::Ntag224Dna,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_names_one_chip_or_none() {
        for (version, chip) in [
            ([0x00, 0x04, 0x04, 0x01, 0x01, 0x00, 0x0B, 0x03], "ntag210"),
            ([0x00, 0x04, 0x04, 0x01, 0x01, 0x00, 0x0E, 0x03], "ntag212"),
            ([0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x0F, 0x03], "ntag213"),
            ([0x00, 0x04, 0x04, 0x04, 0x01, 0x00, 0x0F, 0x03], "ntag213"),
            ([0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x11, 0x03], "ntag215"),
            ([0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x13, 0x03], "ntag216"),
            (
                [0x00, 0x04, 0x04, 0x02, 0x03, 0x00, 0x0F, 0x03],
                "ntag213tt",
            ),
            (
                [0x00, 0x04, 0x04, 0x02, 0x04, 0x00, 0x0F, 0x03],
                "ntag223dna",
            ),
            (
                [0x00, 0x04, 0x04, 0x08, 0x04, 0x00, 0x0F, 0x03],
                "ntag223dna",
            ),
            (
                [0x00, 0x04, 0x04, 0x02, 0x05, 0x00, 0x10, 0x03],
                "ntag224dna",
            ),
            (
                [0x00, 0x04, 0x04, 0x08, 0x05, 0x00, 0x10, 0x03],
                "ntag224dna",
            ),
            (
                [0x00, 0x04, 0x03, 0x01, 0x01, 0x00, 0x0B, 0x03],
                "ultralight",
            ),
            (
                [0x00, 0x04, 0x03, 0x01, 0x04, 0x00, 0x0F, 0x03],
                "ultralight",
            ),
        ] {
            assert_eq!(of_version(&version).map(Technology::as_str), Some(chip));
        }
        for other in [
            // NTAG I2C, and its plus variant.
            &[0x00, 0x04, 0x04, 0x05, 0x02, 0x01, 0x13, 0x03][..],
            &[0x00, 0x04, 0x04, 0x05, 0x02, 0x02, 0x13, 0x03],
            // Another maker.
            &[0x00, 0x53, 0x04, 0x02, 0x01, 0x00, 0x0F, 0x03],
            &[0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x0F],
            &[],
        ] {
            assert_eq!(of_version(other), None, "{other:02X?}");
        }
    }
}
