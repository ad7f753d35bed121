//! The id and the key that bind a new account to one that the operator has at the authority (RFC
//! 8555, section 7.3.4).

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use instant_acme::ExternalAccountKey;
use zeroize::Zeroizing;

/// Authorities show the key without padding, in the alphabet for URLs.
const FOR_URLS: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// An account that the operator has at the authority.
pub(super) struct ExternalAccount {
    id: String,
    key: Zeroizing<Vec<u8>>,
}

impl ExternalAccount {
    /// Reads a file with both. An error is a sentence for people, without the key.
    pub(super) fn read(file: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(file).map(Zeroizing::new);
        let text = text.map_err(|error| format!("{} cannot be read: {error}.", file.display()))?;
        Self::parse(&text).ok_or_else(|| {
            format!(
                "{} has no account of an authority. It needs two words: the id, and the key in Base64.",
                file.display()
            )
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let (id, key) = (words.next()?, words.next()?);
        if words.next().is_some() {
            return None;
        }
        let decoded = FOR_URLS
            .decode(key)
            .or_else(|_| STANDARD.decode(key))
            .ok()?;
        (!decoded.is_empty()).then(|| Self {
            id: id.to_owned(),
            key: Zeroizing::new(decoded),
        })
    }

    /// The key that signs the request for a new account.
    pub(super) fn key(&self) -> ExternalAccountKey {
        ExternalAccountKey::new(self.id.clone(), &self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_an_id_and_a_key_in_one_of_the_usual_forms_of_base64() {
        for text in ["kid-1 -_-_YQ\n", "kid-1\n-_-_YQ==\n", "  kid-1\t+/+/YQ== "] {
            let account = ExternalAccount::parse(text).expect("an account");
            assert_eq!(account.id, "kid-1");
            assert_eq!(*account.key, [0xfb, 0xff, 0xbf, b'a'], "{text}");
        }
        for text in ["", "kid-1", "kid-1 a*b=", "kid-1 YWFh more"] {
            assert!(ExternalAccount::parse(text).is_none(), "{text}");
        }
    }
}
