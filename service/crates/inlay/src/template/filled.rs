//! The values of a template's placeholders.

use super::Field;
use crate::Uid;
use crate::technology::Family;
use crate::text::hex;

/// The values of a code's placeholders, as the chip wrote them, in upper case. They prove nothing
/// until they are checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// Indexed by the position of the placeholder in [`Field::ALL`].
    values: [Option<String>; Field::ALL.len()],
}

/// Why the values in a URL do not form a code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MalformedCode {
    /// Some placeholders have a value, but this one has none.
    #[error("{0} is missing")]
    Missing(Field),
    /// A parameter was sent twice.
    #[error("the parameter \"{0}\" was sent twice")]
    Repeated(String),
    /// A parameter does not have the shape that the template states.
    #[error("the parameter \"{0}\" does not have the length or the text of the template")]
    Shape(String),
    /// A value has characters that the chip never writes there.
    #[error("{0} is not all hex digits")]
    NotHex(Field),
}

impl Filled {
    /// Sets a value, in upper case. If the loop is not mirrored, a chip leaves its owner's text in
    /// the place of `{tamper}`. Its MAC covers that text unchanged, so the text keeps its case.
    pub fn set(&mut self, field: Field, value: &str) {
        let written = |b: u8| b.is_ascii_hexdigit() || b"COI".contains(&b.to_ascii_uppercase());
        let is_as_it_is = field == Field::Tamper && !value.bytes().all(written);
        self.values[field as usize] = Some(if is_as_it_is {
            value.to_owned()
        } else {
            value.to_ascii_uppercase()
        });
    }

    /// The same values with one more.
    #[must_use]
    pub fn with(mut self, field: Field, value: &str) -> Self {
        self.set(field, value);
        self
    }

    /// The value of a placeholder, in upper case if a chip mirrored it.
    pub fn get(&self, field: Field) -> Option<&str> {
        self.values[field as usize].as_deref()
    }

    /// `N` bytes from a placeholder's hex digits.
    pub fn bytes<const N: usize>(&self, field: Field) -> Option<[u8; N]> {
        hex(self.get(field)?)
    }

    /// All bytes of a placeholder's hex digits.
    pub fn all_bytes(&self, field: Field) -> Option<Vec<u8>> {
        base16ct::mixed::decode_vec(self.get(field)?).ok()
    }

    /// The UID in clear.
    pub fn uid(&self) -> Option<Uid> {
        self.bytes(Field::Uid).map(Uid::from_bytes)
    }

    /// The counter in clear, most significant digit first.
    pub fn counter(&self) -> Option<u32> {
        u32::from_str_radix(self.get(Field::Counter)?, 16).ok()
    }

    /// Checks that all characters are ones that a chip writes. In place of a tamper state an NTAG
    /// 424 DNA can have any text; for other chips the MAC covers each of these characters.
    pub(super) fn well_formed(&self, family: Family) -> Result<(), MalformedCode> {
        for field in Field::ALL {
            let Some(value) = self.get(field) else {
                continue;
            };
            let legal = |b: u8| match field {
                Field::Tamper if family == Family::Ntag424 => b.is_ascii_graphic(),
                // States are letters: C, O, I.
                Field::Tamper => b.is_ascii_alphanumeric(),
                _ => b.is_ascii_hexdigit(),
            };
            if !value.bytes().all(legal) {
                return Err(MalformedCode::NotHex(field));
            }
        }
        Ok(())
    }
}
