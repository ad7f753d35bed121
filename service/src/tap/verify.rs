//! What sets `tag_verified`, in the order of the decisions.

use std::borrow::Cow;

use crate::inlay::verify::{CodeError, verify};
use crate::interaction::{Claim, Refusal, Tech, Unchecked, Verdict};
use crate::keyring::KeyringError;
use crate::service::CachedTag;

/// What a tag URL's query says of `uid` and `token`.
#[derive(Clone, Debug)]
pub(super) enum UrlCode<'a> {
    /// Neither was sent.
    Nothing,
    /// One of them is missing or repeated.
    Malformed,
    /// Each was sent once.
    Code {
        /// The value of `uid`.
        uid: Cow<'a, str>,
        /// The value of `token`.
        token: Cow<'a, str>,
    },
}

impl<'a> UrlCode<'a> {
    /// Whether it is a static URL, the same one at every scan.
    pub(super) const fn is_static(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// How a visitor of `tag` came who brought this.
    pub(super) fn tech(&self, tag: &CachedTag) -> Tech {
        match self {
            Self::Nothing if tag.tag().fields.has_qr_code => Tech::Qr,
            Self::Nothing if tag.has_static_inlay() => Tech::Nfc,
            Self::Nothing => Tech::Url,
            Self::Malformed | Self::Code { .. } => Tech::Nfc,
        }
    }

    /// Reads a query. Names are case sensitive; other parameters do not matter.
    pub(super) fn in_query(query: &'a str) -> Self {
        let (mut uid, mut token) = (None, None);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let slot = match &*name {
                "uid" => &mut uid,
                "token" => &mut token,
                _ => continue,
            };
            if slot.replace(value).is_some() {
                return Self::Malformed;
            }
        }
        match (uid, token) {
            (None, None) => Self::Nothing,
            (Some(uid), Some(token)) => Self::Code { uid, token },
            _ => Self::Malformed,
        }
    }
}

/// What can be said of a tap before its counter is looked at.
pub(super) fn classify(tag: &CachedTag, code: &UrlCode<'_>) -> Result<Claim, KeyringError> {
    let fields = &tag.tag().fields;
    let decided = |verdict| Ok(Claim::Decided(verdict));
    if !fields.verifier_enabled {
        return decided(Verdict::NotChecked(Unchecked::VerifierOff));
    }
    let (uid, token) = match code {
        UrlCode::Nothing if !tag.rolls() || fields.has_qr_code => {
            return decided(Verdict::NotChecked(Unchecked::NoCode));
        }
        UrlCode::Nothing => return decided(Verdict::NotVerified(Refusal::NoCode)),
        UrlCode::Malformed => return decided(Verdict::NotVerified(Refusal::Malformed)),
        UrlCode::Code { uid, token } => (uid, token),
    };
    match verify(uid, token, tag.candidates()?) {
        Ok(authentic) => {
            let (inlay_id, key_version) = tag.inlay(authentic.index);
            Ok(Claim::Counter {
                inlay_id,
                key_version,
                counter: authentic.counter,
            })
        }
        Err(CodeError::Malformed(_)) => decided(Verdict::NotVerified(Refusal::Malformed)),
        Err(CodeError::UnknownInlay { uid, .. }) => {
            decided(Verdict::NotVerified(Refusal::UnknownInlay { uid }))
        }
        Err(CodeError::WrongMac { counter, .. }) => {
            decided(Verdict::NotVerified(Refusal::WrongMac { counter }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(query: &str) -> &'static str {
        match UrlCode::in_query(query) {
            UrlCode::Nothing => "nothing",
            UrlCode::Malformed => "malformed",
            UrlCode::Code { .. } => "code",
        }
    }

    #[test]
    fn a_code_is_one_uid_and_one_token() {
        for (query, expected) in [
            ("", "nothing"),
            ("utm_source=poster", "nothing"),
            ("UID=1&TOKEN=2", "nothing"),
            ("uid=1&token=2", "code"),
            ("token=2&x=3&uid=1", "code"),
            ("uid=&token=", "code"),
            ("uid=1", "malformed"),
            ("token=1", "malformed"),
            ("uid=1&uid=1&token=2", "malformed"),
            ("uid=1&token=2&token=3", "malformed"),
            ("u%69d=1&uid=1&token=2", "malformed"),
        ] {
            assert_eq!(kind(query), expected, "{query}");
        }
    }
}
