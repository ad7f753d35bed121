//! The names of verdicts.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The verdict of verification: `tag_verified` (specification 2.2) in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = VerificationState)]
pub enum VerificationState {
    /// `true`: the code proved the tap.
    Verified,
    /// `false`: the code is missing, wrong or used.
    NotVerified,
    /// `null`: there was nothing to check.
    NotChecked,
}

impl VerificationState {
    /// All verdicts, in the order of declaration.
    pub const ALL: [Self; 3] = [Self::Verified, Self::NotVerified, Self::NotChecked];

    /// The name in the API and in storage.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::NotVerified => "not_verified",
            Self::NotChecked => "not_checked",
        }
    }

    /// The verdict with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// The value of `tag_verified` for this verdict.
    pub const fn tag_verified(self) -> Option<bool> {
        match self {
            Self::Verified => Some(true),
            Self::NotVerified => Some(false),
            Self::NotChecked => None,
        }
    }

    /// The verdict for a value of `tag_verified`.
    pub const fn of(tag_verified: Option<bool>) -> Self {
        match tag_verified {
            Some(true) => Self::Verified,
            Some(false) => Self::NotVerified,
            None => Self::NotChecked,
        }
    }
}

/// How the counter in a tap's URL moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CounterMove {
    /// It rose, as it does at every tap.
    Rose,
    /// It did not rise: the URL, or a later one, was opened before.
    Repeated,
    /// It rose by more than is allowed in a day, and was not accepted.
    Jumped,
}

/// The reason of a tap's verdict: a stable name in the API and in storage.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Verified: an authentic code that was not used before and came in order.
    Verified,
    /// Not verified: the tag's inlay makes codes, but the URL has none.
    NoCode,
    /// Not verified: the code does not have the shape of a code.
    Malformed,
    /// Not verified: the code belongs to no inlay of this tag.
    UnknownInlay,
    /// Not verified: the MAC was not made with the inlay's key.
    WrongMac,
    /// Not verified: the code was accepted before.
    Replayed,
    /// Not verified: a later code was accepted before.
    OutOfOrder,
    /// Not verified: the inlay's keys were replaced while the tap was on its way.
    KeysReplaced,
    /// Not verified: the chip's counter is switched off.
    CounterOff,
    /// Not verified: there were too many wrong codes for this chip.
    Guessed,
    /// Not verified: the owner blocked the inlay, because it was lost or cloned.
    Blocked,
    /// Not checked: the tag's verifier is off.
    VerifierOff,
    /// Not checked: a QR code or a static URL contains no code.
    Static,
    /// Not checked: an authentic code, but always the same.
    SameCode,
    /// Not checked: the chip makes no MAC.
    NoMac,
    /// Not checked: the chip makes no MAC, and the UID is another chip's.
    OtherUid,
    /// Not checked: the chip makes no MAC, and its counter rose by more than is allowed.
    Jumped,
}

impl Reason {
    const ALL: [Self; 17] = [
        Self::Verified,
        Self::NoCode,
        Self::Malformed,
        Self::UnknownInlay,
        Self::WrongMac,
        Self::Replayed,
        Self::OutOfOrder,
        Self::KeysReplaced,
        Self::CounterOff,
        Self::Guessed,
        Self::Blocked,
        Self::VerifierOff,
        Self::Static,
        Self::SameCode,
        Self::NoMac,
        Self::OtherUid,
        Self::Jumped,
    ];

    /// The name in the API and in storage.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::NoCode => "no_code",
            Self::Malformed => "malformed",
            Self::UnknownInlay => "unknown_inlay",
            Self::WrongMac => "wrong_mac",
            Self::Replayed => "replayed",
            Self::OutOfOrder => "out_of_order",
            Self::KeysReplaced => "keys_replaced",
            Self::CounterOff => "counter_off",
            Self::Guessed => "guessed",
            Self::Blocked => "blocked",
            Self::VerifierOff => "verifier_off",
            Self::Static => "static",
            Self::SameCode => "same_code",
            Self::NoMac => "no_mac",
            Self::OtherUid => "other_uid",
            Self::Jumped => "jumped",
        }
    }

    /// The reason with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == name)
    }

    /// The verdict of verification.
    pub const fn verification(self) -> VerificationState {
        match self {
            Self::Verified => VerificationState::Verified,
            Self::NoCode
            | Self::Malformed
            | Self::UnknownInlay
            | Self::WrongMac
            | Self::Replayed
            | Self::OutOfOrder
            | Self::KeysReplaced
            | Self::CounterOff
            | Self::Guessed
            | Self::Blocked => VerificationState::NotVerified,
            Self::VerifierOff
            | Self::Static
            | Self::SameCode
            | Self::NoMac
            | Self::OtherUid
            | Self::Jumped => VerificationState::NotChecked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_one_name_in_storage_and_in_json() {
        for reason in Reason::ALL {
            assert_eq!(Reason::from_name(reason.as_str()), Some(reason));
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.as_str());
        }
    }
}
