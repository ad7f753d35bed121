//! The verdict on the bytes of a code: who claims to have made it, and whether that is true. The
//! [counter](crate::counter) decides whether it was used before.

use std::fmt;

use zeroize::Zeroizing;

use crate::Uid;
use crate::word::word;

/// The assessment of a code with an inlay's keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    /// Whether the inlay made it.
    pub authenticity: Authenticity,
    /// The UID that the code names. `None` if it names none, or if it is encrypted under another
    /// key.
    pub uid: Option<Uid>,
    /// The read counter, or the time stamp of a SIC43 chip. `None` if the code names none.
    pub counter: Option<u32>,
    /// The state of the tamper loop; `None` if the code has no place for it.
    pub tamper: Option<Tamper>,
    /// The decrypted file data of an authentic code; `None` if the code contains none.
    pub file_data: Option<FileData>,
}

/// Whether an inlay made a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authenticity {
    /// It did: the MAC was made with its key.
    Authentic,
    /// It did not, or its settings differ from the configured ones.
    NotAuthentic(FailedStep),
    /// It cannot be checked: the chip makes no MAC.
    NotCheckable,
}

/// The first step of the verification that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FailedStep {
    /// The keys are not of the kind that the technology has, or a value that it needs is missing.
    #[error("the inlay's keys do not fit its technology")]
    Keys,
    /// The PICC data do not open with the meta key.
    #[error("the PICC data do not open with the meta key")]
    PiccData,
    /// The code names another chip.
    #[error("the code names another chip")]
    Uid,
    /// Not checked, because too many wrong codes came before.
    #[error("too many wrong codes came for this chip")]
    Guessed,
    /// The MAC was made with another key, or over other content.
    #[error("the MAC is not of this inlay's key")]
    Mac,
}

impl Assessment {
    /// Whether the code proves that the chip was tapped: it is authentic, and no earlier tap had
    /// the same code. A mirror without a counter always repeats one code, and a counter of 0 is
    /// switched off (the first read is 1).
    pub fn proves_tap(&self) -> bool {
        self.is_authentic() && self.counter.is_some_and(|counter| counter > 0)
    }

    /// Whether the inlay made the code.
    pub fn is_authentic(&self) -> bool {
        self.authenticity == Authenticity::Authentic
    }
}

/// The state of a tamper loop. A state that cannot be proved is `unknown`, never sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Tamper {
    /// Closed, and never seen open.
    Sealed,
    /// Closed now, and open at an earlier measurement.
    Reclosed,
    /// Open at this read.
    Open,
    /// The chip measures nothing, because the feature was never switched on.
    Off,
    /// The state is not authenticated, or not one that the chip writes.
    Unknown,
}

word!(Tamper);

impl Tamper {
    /// All states, in the order of declaration.
    pub const ALL: [Self; 5] = [
        Self::Sealed,
        Self::Reclosed,
        Self::Open,
        Self::Off,
        Self::Unknown,
    ];

    /// Whether the loop is still in the state of delivery; `None` if that is not known.
    pub const fn is_sealed(self) -> Option<bool> {
        match self {
            Self::Sealed => Some(true),
            Self::Reclosed | Self::Open => Some(false),
            Self::Off | Self::Unknown => None,
        }
    }

    /// Whether the loop is or was open. Its tag is then marked; `record_taps` makes the same
    /// decision in SQL.
    pub const fn is_broken(self) -> bool {
        matches!(self, Self::Reclosed | Self::Open)
    }

    /// The word for this state in the API and in storage.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sealed => "sealed",
            Self::Reclosed => "reclosed",
            Self::Open => "open",
            Self::Off => "off",
            Self::Unknown => "unknown",
        }
    }

    /// From the letters for the permanent and the current state: `C` closed, `O` open, `I` not
    /// measured (`NT4H2421Tx` section 10.2).
    pub(crate) fn from_letters(permanent: u8, current: u8) -> Self {
        match (permanent, current) {
            (b'C', b'C') => Self::Sealed,
            (b'O', b'C') => Self::Reclosed,
            // By section 10.2 CO is impossible, because an open loop is recorded at once. If a chip
            // writes it all the same, its loop is open.
            (b'O' | b'C', b'O') => Self::Open,
            (b'I', b'I') => Self::Off,
            _ => Self::Unknown,
        }
    }
}

/// Decrypted file data: the owner's content of the chip, possibly a serial number. Redacted in
/// `Debug` and wiped when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct FileData(Zeroizing<Vec<u8>>);

impl FileData {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The decrypted bytes, for display or storage.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for FileData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileData({} bytes)", self.0.len())
    }
}
