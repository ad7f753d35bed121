//! A malicious chip: whatever it answers, the reader must neither fail nor wait for ever.

use tapdesk_service::entropy::{Entropy as _, SeededEntropy, bytes};

use super::{VirtualCard, answer};

/// Answers by its seed: at random, too long, too short, well-formed with false lengths, or not at
/// all.
pub struct HostileCard {
    entropy: SeededEntropy,
    type2: bool,
}

impl HostileCard {
    /// The chip with this seed.
    pub fn new(seed: u64) -> Self {
        Self {
            entropy: SeededEntropy::new(seed),
            type2: seed % 2 == 1,
        }
    }

    fn random(&self, length: usize) -> Vec<u8> {
        let mut random = vec![0; length];
        self.entropy.fill(&mut random);
        random
    }

    /// Well-formed data, as in a capability container or at the beginning of a file, with arbitrary
    /// lengths.
    fn lie(&self) -> Vec<u8> {
        let [which, a, b] = bytes(&self.entropy);
        match which % 5 {
            0 => [
                &[0x00, 0x17, 0x20, a, b, 0x00, 0xFF, 0x04, 0x06, 0xE1, 0x04],
                &self.random(4)[..],
            ]
            .concat(),
            1 => vec![a, b],
            2 => [
                &[0xD1, 0x01, a, b'U', b],
                &self.random(usize::from(b) % 60)[..],
            ]
            .concat(),
            3 => [&[0xE1, 0x10, a, b, 0x03, 0xFF, a, b], &self.random(8)[..]].concat(),
            _ => [
                &[0x03, a, 0xC1, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, b'S', b'p'],
                &self.random(6)[..],
            ]
            .concat(),
        }
    }
}

impl VirtualCard for HostileCard {
    fn atr(&self) -> Vec<u8> {
        if self.type2 {
            let mut atr = vec![0x3B, 0x8F, 0x80, 0x01, 0x80, 0x4F, 0x0C];
            atr.extend([
                0xA0, 0x00, 0x00, 0x03, 0x06, 0x03, 0x00, 0x03, 0, 0, 0, 0, 0x68,
            ]);
            atr
        } else {
            vec![0x3B, 0x81, 0x80, 0x01, 0x80, 0x80]
        }
    }

    fn power_on(&mut self) {}

    fn transmit(&mut self, _: &[u8]) -> Option<Vec<u8>> {
        let [which, length] = bytes(&self.entropy);
        Some(match which % 16 {
            0 => return None,
            1 => self.random(usize::from(length)),
            2 => self.random(usize::from(length % 2)),
            3 => answer(&self.random(256), 0x9000),
            4 => answer(&[], 0x9000),
            5 => answer(&self.random(usize::from(length)), 0x91AF),
            6 => answer(&[], 0x6982),
            // Longer than the answer to any short command.
            7 => answer(&self.random(256 * (1 + usize::from(length))), 0x9000),
            _ => answer(
                &self.lie(),
                if length.is_multiple_of(8) {
                    0x9100
                } else {
                    0x9000
                },
            ),
        })
    }
}
