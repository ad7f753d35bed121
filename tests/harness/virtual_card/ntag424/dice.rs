//! The chip's randomness: reproducible, or from a published transcript.

use std::collections::VecDeque;

use tapdesk_service::entropy::{SeededEntropy, bytes};

#[derive(Clone)]
pub(super) struct Dice {
    seed: u64,
    draws: u64,
    scripted: VecDeque<Vec<u8>>,
}

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            draws: 0,
            scripted: VecDeque::new(),
        }
    }

    pub(super) fn next(&mut self, random: &[u8]) {
        self.scripted.push_back(random.to_vec());
    }

    pub(super) fn draw<const N: usize>(&mut self) -> [u8; N] {
        if let Some(scripted) = self.scripted.pop_front() {
            return scripted.try_into().expect("as long as the chip draws");
        }
        self.draws += 1;
        bytes(&SeededEntropy::new(self.seed ^ self.draws << 8))
    }
}
