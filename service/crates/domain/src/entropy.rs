//! The only source of randomness. All other code gets an [`Entropy`].

use std::fmt;

/// Random bytes. In production they come from the operating system ([`OsEntropy`]).
pub trait Entropy: Send + Sync + fmt::Debug {
    /// Fills `buffer` with random bytes.
    fn fill(&self, buffer: &mut [u8]);
}

/// The operating system's random source.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    /// # Panics
    /// If the operating system provides no randomness: no secret can be made then, and an invented
    /// value would be unsafe.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the source of randomness"
    )]
    fn fill(&self, buffer: &mut [u8]) {
        getrandom::fill(buffer).expect("the operating system's random source answers");
    }
}

/// Draws `N` random bytes.
pub fn bytes<const N: usize>(entropy: &dyn Entropy) -> [u8; N] {
    let mut buffer = [0; N];
    entropy.fill(&mut buffer);
    buffer
}

/// `LENGTH` characters drawn uniformly from `alphabet` (at most 256 of them).
pub fn text(entropy: &dyn Entropy, alphabet: &[u8], length: usize) -> String {
    // Rejection sampling: a byte past the last whole multiple of the alphabet
    // would favour its first characters.
    let limit = 256 - 256 % alphabet.len();
    let mut out = String::with_capacity(length);
    while out.len() < length {
        for byte in bytes::<64>(entropy) {
            if usize::from(byte) < limit && out.len() < length {
                out.push(char::from(alphabet[usize::from(byte) % alphabet.len()]));
            }
        }
    }
    out
}

/// A repeatable source for tests and seeded simulations. Never a source of secrets.
#[derive(Debug)]
pub struct SeededEntropy(std::sync::Mutex<u64>);

impl SeededEntropy {
    /// A source whose bytes depend only on `seed`.
    pub fn new(seed: u64) -> Self {
        Self(std::sync::Mutex::new(seed))
    }
}

impl Entropy for SeededEntropy {
    /// `SplitMix64` (Steele, Lea, Flood 2014).
    fn fill(&self, buffer: &mut [u8]) {
        let mut state = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        for chunk in buffer.chunks_mut(8) {
            *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = *state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^= z >> 31;
            chunk.copy_from_slice(&z.to_le_bytes()[..chunk.len()]);
        }
    }
}
