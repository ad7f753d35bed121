//! NXP NTAG 210 to 216, NTAG 213 TT and MIFARE Ultralight: the ASCII mirror of UID and counter
//! (NTAG213/215/216 data sheet section 8.7). It has no MAC: anyone can write the next number, so
//! nothing here is ever authentic.

mod memory;
mod mirror;

use crate::assessment::{Assessment, Authenticity, Tamper};
use crate::template::{Field, Filled};

pub use memory::Memory;
pub use mirror::{MirrorConfig, MirrorContent, Written};

/// Reads the values of a code. A counter of 0 is switched off, or has not counted yet.
pub fn check(code: &Filled) -> Assessment {
    Assessment {
        authenticity: Authenticity::NotCheckable,
        uid: code.uid(),
        counter: code.counter(),
        tamper: code.get(Field::Tamper).map(|_| Tamper::Unknown),
        file_data: None,
    }
}
