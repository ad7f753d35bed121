//! Who may write a chip.

/// Who may write a chip, as far as its memory shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Access {
    /// Anyone may write, without a key or a password.
    Open,
    /// Only holders of a key or a password may write.
    Key,
    /// A part of the memory is locked permanently, or needs a password.
    Partly,
    /// The chip is only marked as read-only: any tool can still write.
    Marked,
    /// The whole chip is locked permanently.
    Locked,
    /// The chip does not show it.
    Unknown,
}
