//! Is this code of this inlay? An authentic code may still have been used before: the
//! [counter](crate::counter) decides that.
//!
//! MACs are compared in constant time, and an unknown inlay costs the same cryptography as a known
//! one: the response time reveals neither.

use subtle::ConstantTimeEq;

use crate::code::{Code, Malformed, Mirrored};
use crate::key::{AesKey, Keys};
use crate::technology::ntag424::session::{PiccData, mac_session_key, sdmmac};
use crate::{MacFrom, Mirror, Uid};

/// An inlay that makes rolling codes, with its configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// UID of the chip.
    pub uid: Uid,
    /// How it shows UID and counter.
    pub mirror: Mirror,
    /// Where the MAC's input begins.
    pub mac_from: MacFrom,
    /// Meta key and file key of the chip.
    pub keys: Keys,
}

impl AsRef<Self> for Candidate {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// A code that one of the candidates made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Authentic {
    /// Which of the candidates.
    pub index: usize,
    /// The read counter the code was made at, at most
    /// [`COUNTER_MAX`](crate::code::COUNTER_MAX).
    pub counter: u32,
}

/// Why a code is not authentic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeError {
    /// `uid` and `token` do not form a code.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// No candidate has this UID with the mirror that the code shows. UID and counter are known
    /// with the plain mirror. With the encrypted mirror they are known if a candidate's key
    /// decrypts the code of another chip.
    #[error("the code is of no inlay that is configured here for the mirror it uses")]
    UnknownInlay {
        /// The UID that the code claims.
        uid: Option<Uid>,
        /// The counter that the code claims.
        counter: Option<u32>,
    },
    /// The code names a candidate, but its MAC was not made with that candidate's keys.
    #[error(
        "the code's MAC is not authentic: the code was altered, or the inlay's keys or MAC input differ from the settings"
    )]
    WrongMac {
        /// Which of the candidates.
        index: usize,
        /// The counter that the code claims.
        counter: u32,
    },
}

/// Replaces the keys of an unknown inlay, so that the work stays the same. Its code is never
/// authentic: see [`verify`].
static NOBODY: Keys = Keys {
    meta: None,
    file: AesKey::FACTORY,
};

/// Which of the `candidates` made the code in `uid` and `token`, and at which counter.
///
/// # Errors
///
/// [`CodeError`] if the texts are not a code, if it is of none of the candidates, or if its MAC is
/// wrong.
pub fn verify<C: AsRef<Candidate>>(
    uid: &str,
    token: &str,
    candidates: &[C],
) -> Result<Authentic, CodeError> {
    let code = Code::parse(uid, token)?;
    let Origin { index, said } = match code.mirrored {
        Mirrored::Plain { uid, counter } => {
            let of_claim = |c: &Candidate| c.mirror == Mirror::Plain && c.uid == uid;
            let said = Some(PiccData { uid, counter });
            let index = candidates.iter().position(|c| of_claim(c.as_ref()));
            Origin { index, said }
        }
        Mirrored::Encrypted { picc } => decrypt(picc, candidates),
    };

    // For an unknown inlay, the MAC input begins as it does for a known inlay of the tag.
    let like = candidates.get(index.unwrap_or(0));
    let mac_from = like.map_or(MacFrom::None, |c| c.as_ref().mac_from);
    let keys = index.map_or(&NOBODY, |index| &candidates[index].as_ref().keys);
    let PiccData { uid, counter } = said.unwrap_or(PiccData {
        uid: Uid::from_bytes([0; 7]),
        counter: 0,
    });
    let session_key = mac_session_key(&keys.file, uid, counter);
    let mac = sdmmac(&session_key, &code.mirrored.mac_input(mac_from));
    let authentic = bool::from(mac.ct_eq(&code.mac));

    match index {
        Some(index) if authentic => Ok(Authentic { index, counter }),
        Some(index) => Err(CodeError::WrongMac { index, counter }),
        None => Err(CodeError::UnknownInlay {
            uid: said.map(|said| said.uid),
            counter: said.map(|said| said.counter),
        }),
    }
}

/// The maker of a code, as the code claims.
struct Origin {
    /// Which of the candidates.
    index: Option<usize>,
    /// The UID and counter it states, if they can be read.
    said: Option<PiccData>,
}

/// Tries every candidate's key, even if an early one fits; without candidates, a key that never
/// fits.
fn decrypt<C: AsRef<Candidate>>(picc: [u8; 16], candidates: &[C]) -> Origin {
    let mut origin = Origin {
        index: None,
        said: None,
    };
    let mut tried = false;
    for (index, candidate) in candidates.iter().map(AsRef::as_ref).enumerate() {
        if candidate.mirror != Mirror::Encrypted {
            continue;
        }
        tried = true;
        let Some(said) = PiccData::decrypt(candidate.keys.for_picc_data(), picc) else {
            continue;
        };
        if said.uid == candidate.uid && origin.index.is_none() {
            origin.index = Some(index);
            origin.said = Some(said);
        } else if origin.index.is_none() && said.uid.is_nxp() {
            origin.said = Some(said);
        }
    }
    if !tried {
        std::hint::black_box(PiccData::decrypt(&NOBODY.file, picc));
    }
    origin
}
