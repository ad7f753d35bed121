//! The write password of an NTAG 213, 215 or 216 (data sheet NTAG213/215/216 rev 3.2, sections
//! 8.5.7, 8.8 and 10.7).

use super::Memory;

/// `PWD_AUTH`; the four bytes of the password follow. The chip answers with the two bytes of its
/// acknowledgement.
pub const PWD_AUTH: u8 = 0x1B;
/// `AUTH0` of a chip with a write password: the page of the static lock bytes and all pages behind
/// it. From page 4 on, anyone could still lock the chip or mark it as read-only, which cannot be
/// undone.
pub const PROTECTED_FROM: u8 = 0x02;
/// `AUTH0` of a chip without a password: no chip has this page.
pub const NO_PASSWORD: u8 = 0xFF;
/// `PROT` in `ACCESS`: reading needs the password, too.
pub const PROT: u8 = 0x80;
/// `CFGLCK` in `ACCESS`: the configuration pages are locked permanently.
pub const CFGLCK: u8 = 0x40;
/// `AUTHLIM` in `ACCESS`: how many wrong passwords lock the protected pages permanently. A chip with
/// a write password keeps 0, no limit: otherwise anyone with a phone could make it unwritable, also
/// for its owner. Without a limit, guessing all 2^32 passwords over the air takes months.
pub const AUTHLIM: u8 = 0x07;

/// A password, and the acknowledgement by which the chip proves that it has it, too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct WritePassword {
    /// `PWD`: opens the chip.
    pub password: [u8; 4],
    /// `PACK`: the chip's answer to the password.
    pub acknowledgement: [u8; 2],
}

impl WritePassword {
    /// The values of a new chip.
    pub const FACTORY: Self = Self {
        password: [0xFF; 4],
        acknowledgement: [0; 2],
    };

    /// The command that opens a chip with this password.
    pub const fn command(self) -> [u8; 5] {
        let [a, b, c, d] = self.password;
        [PWD_AUTH, a, b, c, d]
    }

    /// Numbers and bytes of the two pages of a chip with this password. Both read as zeros.
    pub const fn pages(self, memory: Memory) -> [(u8, [u8; 4]); 2] {
        let [high, low] = self.acknowledgement;
        [
            (memory.locks + 3, self.password),
            (memory.locks + 4, [high, low, 0, 0]),
        ]
    }
}

impl std::fmt::Debug for WritePassword {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WritePassword(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Technology;

    #[test]
    fn the_password_is_in_the_last_two_pages_of_each_chip() {
        let password = WritePassword {
            password: [1, 2, 3, 4],
            acknowledgement: [5, 6],
        };
        assert_eq!(password.command(), [0x1B, 1, 2, 3, 4]);
        for (chip, first) in [
            (Technology::Ntag213, 0x2B),
            (Technology::Ntag215, 0x85),
            (Technology::Ntag216, 0xE5),
        ] {
            let memory = Memory::of(chip).unwrap();
            let pages = [(first, [1, 2, 3, 4]), (first + 1, [5, 6, 0, 0])];
            assert_eq!(password.pages(memory), pages, "{chip}");
            assert_eq!(memory.last_page(), first + 1, "{chip}");
        }
    }
}
