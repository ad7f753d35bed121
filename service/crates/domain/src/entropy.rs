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

/// `length` characters drawn uniformly from `alphabet` (at most 256 of them).
pub fn text(entropy: &dyn Entropy, alphabet: &[u8], length: usize) -> String {
    // It may be a secret: a text that grows would leave parts of it in memory.
    let mut text = String::with_capacity(length);
    let characters = characters(entropy, alphabet).take(length);
    text.extend(characters.map(char::from));
    text
}

/// `N` characters drawn like those of [`text`], without an allocation.
///
/// It is inlined, because each character takes a division by the length of the alphabet, which is
/// fast only if the length is a constant.
#[inline]
pub fn array<const N: usize>(entropy: &dyn Entropy, alphabet: &[u8]) -> [u8; N] {
    let mut characters = characters(entropy, alphabet);
    std::array::from_fn(|_| characters.next().expect("the characters have no end"))
}

/// Draws characters without an end.
#[inline]
fn characters(entropy: &dyn Entropy, alphabet: &[u8]) -> impl Iterator<Item = u8> {
    // Rejection sampling: a byte past the last whole multiple of the alphabet would favour its
    // first characters.
    let limit = 256 - 256 % alphabet.len();
    std::iter::repeat_with(move || bytes::<64>(entropy))
        .flatten()
        .map(usize::from)
        .filter(move |byte| *byte < limit)
        .map(move |byte| alphabet[byte % alphabet.len()])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeded_characters_are_the_same_in_every_version_in_a_text_and_in_an_array() {
        const LETTERS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        const KEY: &str = "TDoRgdHbSeywTyE42gr042SiHf0fonwPW";
        let (one, other) = (SeededEntropy::new(7), SeededEntropy::new(7));
        assert_eq!(text(&one, LETTERS, 33), KEY);
        assert_eq!(array::<33>(&other, LETTERS), KEY.as_bytes());
        // The rest of what was drawn is not used again, and long texts draw once more.
        let digits = "73032244531682555155106491038658994343580136353015\
                      15571835674205418036598582603386646688484283378502";
        assert_eq!(text(&one, b"0123456789", 100), digits);
        assert_eq!(array::<100>(&other, b"0123456789"), digits.as_bytes());
        assert_eq!(text(&one, LETTERS, 0), "");
    }

    #[test]
    fn no_character_is_favoured() {
        // A seventh of 256 is no whole number, so some bytes stand for no character.
        let drawn = text(&SeededEntropy::new(1), b"abcdefg", 70_000);
        for letter in 'a'..='g' {
            let count = drawn.chars().filter(|drawn| *drawn == letter).count();
            assert!((9_500..10_500).contains(&count), "{count} of {letter}");
        }
    }
}
