//! The possible errors of a code, or of the settings that verify it. Each is a sentence for people
//! that names the setting and its right value.

use std::fmt;

use crate::code::Malformed;
use crate::diagnose::Window;
use crate::technology::Mode;
use crate::template::{MacStart, MalformedCode};
use crate::{Mirror, Uid};

/// A reason why a code does not verify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It is not a code at all.
    Malformed(Malformed),
    /// The code is of an inlay of another tag.
    OtherInlay {
        /// The chip that made it.
        uid: Uid,
    },
    /// The code is of a chip that is not configured as an inlay.
    NotConfigured {
        /// The chip that made it.
        uid: Uid,
    },
    /// The keys are those of an inlay of this tag, but the UID is not.
    OtherUid {
        /// The UID that is set.
        configured: Uid,
        /// The UID of the chip that made the code.
        actual: Uid,
    },
    /// The code has another mirror than the configured one.
    Mirror {
        /// The mirror of the code.
        sent: Mirror,
    },
    /// Meta key and file key are swapped.
    KeysSwapped,
    /// One key differs from the configured one.
    Key {
        /// Role of the wrong key.
        slot: Slot,
        /// The key that the chip uses instead.
        is: KeyIs,
    },
    /// The counter's bytes are in reverse order, in the URL or in the input of the MAC.
    CounterByteOrder,
    /// The MAC's input begins at another place than configured.
    MacWindow(Window),
    /// The code was made by an inlay with another URL template, or without one.
    OtherTemplate {
        /// The chip that made it.
        uid: Uid,
    },
    /// The inlay that made the code is on no tag.
    OnNoTag {
        /// The chip that made it.
        uid: Uid,
    },
    /// The keys of the URL template made the code, and its chip is no inlay.
    Unlisted {
        /// The chip that made it.
        uid: Uid,
    },
    /// The values in the URL do not have the shape that the URL template states.
    MalformedByTemplate(MalformedCode),
    /// The MAC's input begins at another place than the URL template states.
    MacStart(MacStart),
    /// The chip uses another cipher than the URL template states.
    Mode(Mode),
    /// UID and counter can be read, but the MAC fits no key and no window.
    MacFitsNothing {
        /// The chip that the code names.
        uid: Uid,
    },
    /// No key decrypts the encrypted `uid`.
    PiccDataFitsNoKey,
    /// The PICC data decrypt, but lack the UID or the counter.
    NotMirrored(Absent),
    /// The MAC is all zeros: the chip does not mirror it.
    NoMac,
    /// All values are zeros: the chip mirrors nothing.
    NothingWritten,
    /// The values of a code are in parameters that are not read at this address.
    OtherParameters {
        /// Names of these parameters.
        names: Vec<String>,
    },
}

/// A value that a chip does not mirror into its PICC data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// The UID: the code names no chip.
    Uid,
    /// The read counter: a code cannot be distinguished from a copy.
    Counter,
}

/// One of an inlay's two keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// `SDMMetaReadKey`, of the PICC data.
    Meta,
    /// `SDMFileReadKey`, of the MAC.
    File,
}

/// The key that a chip uses instead of the configured one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyIs {
    /// The key that is configured for the other slot.
    OtherSlot,
    /// The all-zero key of a new chip.
    Factory,
    /// A key of another inlay.
    OfInlay {
        /// UID of that inlay.
        uid: Uid,
    },
    /// A master key itself.
    MasterKey {
        /// Name that the owner gave it.
        name: String,
    },
    /// A key diversified from a master key.
    Diversified {
        /// The master key's name.
        name: String,
    },
}

impl Finding {
    /// Its stable name in the API.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Malformed(_) | Self::MalformedByTemplate(_) => "malformed",
            Self::OnNoTag { .. } => "on_no_tag",
            Self::Unlisted { .. } => "unlisted",
            Self::OtherInlay { .. } => "other_inlay",
            Self::NotConfigured { .. } => "not_configured",
            Self::OtherUid { .. } => "other_uid",
            Self::Mirror { .. } => "mirror",
            Self::KeysSwapped => "keys_swapped",
            Self::Key { slot, .. } => match slot {
                Slot::Meta => "meta_key",
                Slot::File => "file_key",
            },
            Self::CounterByteOrder => "counter_byte_order",
            Self::MacWindow(_) | Self::MacStart(_) => "mac_window",
            Self::OtherTemplate { .. } => "other_template",
            Self::Mode(_) => "mode",
            Self::MacFitsNothing { .. } => "mac_fits_nothing",
            Self::PiccDataFitsNoKey => "picc_data_fits_no_key",
            Self::NotMirrored(_) => "not_mirrored",
            Self::NoMac => "no_mac",
            Self::NothingWritten => "nothing_written",
            Self::OtherParameters { .. } => "other_parameters",
        }
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Meta => "meta_key",
            Self::File => "file_key",
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(malformed) => write!(f, "The code is malformed: {malformed}."),
            Self::MalformedByTemplate(malformed) => write!(f, "The code is malformed: {malformed}."),
            Self::OnNoTag { uid } => write!(
                f,
                "The inlay {uid} made the code, and is on no tag: bind it to one."
            ),
            Self::Unlisted { uid } => write!(
                f,
                "The code is authentic: the keys of the URL template made it for the chip {uid}, which is no inlay yet. Enrol the chip, or set unlisted of the template to \"create\"."
            ),
            Self::OtherInlay { uid } => write!(
                f,
                "The code was made by the inlay {uid} of another tag: bind it to this tag, or use its own tag's URL."
            ),
            Self::NotConfigured { uid } => write!(
                f,
                "The code was made by the chip {uid}, which is not added here: add it to this tag as an inlay."
            ),
            Self::OtherUid { configured, actual } => write!(
                f,
                "The code was made by the chip {actual} with the keys of the inlay {configured}: create an inlay with the uid {actual} and these keys, and delete {configured} if there is no such chip."
            ),
            Self::Mirror { sent } => {
                write!(f, "The code uses the {sent} mirror: set mirror to \"{sent}\"")?;
                f.write_str(match sent {
                    Mirror::Plain => ".",
                    Mirror::Encrypted => " and meta_key to the chip's SDMMetaReadKey.",
                })
            }
            Self::KeysSwapped => f.write_str(
                "The keys are swapped: exchange meta_key and file_key.",
            ),
            Self::Key { slot, is } => key_words(f, *slot, is),
            Self::CounterByteOrder => f.write_str(
                "The counter's bytes are in the wrong order: it is MSB first in the URL, and LSB first in the input of the session key. Fix the software that makes the codes; a chip does this right.",
            ),
            Self::MacWindow(Window::Empty) => f.write_str(
                "The MAC is authentic with an empty input: set mac_from to \"none\".",
            ),
            Self::MacWindow(Window::Uid) => f.write_str(
                "The MAC is authentic with the part of the URL from uid's value as input: set mac_from to \"uid\".",
            ),
            Self::MacWindow(window) => write!(
                f,
                "The MAC is authentic with the part of the URL from {window} as input: create a URL template whose mac_from begins there for these inlays, or encode them with mac_from \"uid\" or \"none\"."
            ),
            Self::OtherTemplate { uid } => write!(
                f,
                "The code was made by the inlay {uid}, which has another URL template: set its url_template_id to the one at this address."
            ),
            Self::MacStart(start) => {
                f.write_str("The MAC is authentic with another beginning of its input: create a URL template with mac_from ")?;
                match start {
                    MacStart::Offset(offset) => write!(f, "{{\"offset\": {offset}}}")?,
                    named => write!(f, "\"{}\"", format!("{named:?}").to_lowercase())?,
                }
                f.write_str(" for these inlays. It cannot change while inlays use the template.")
            }
            Self::Mode(mode) => write!(
                f,
                "The MAC is authentic in the mode \"{}\": create a URL template with this mode for these inlays.",
                mode.as_str()
            ),
            Self::MacFitsNothing { uid } => write!(
                f,
                "The code names the chip {uid}, but no key of this service gives its MAC with any part of the URL: the code was changed, or file_key is not the chip's SDMFileReadKey."
            ),
            Self::PiccDataFitsNoKey => f.write_str(
                "No key of this service decrypts the uid: the code was changed, or meta_key is not the chip's SDMMetaReadKey.",
            ),
            Self::NotMirrored(Absent::Uid) => f.write_str(
                "The keys are right, but the PICC data contain no UID, only the read counter: encode the inlay so that its PICC data mirror both (SDMOptions, bits 7 and 6).",
            ),
            Self::NotMirrored(Absent::Counter) => f.write_str(
                "The meta key is right, but the PICC data contain no read counter, only the UID: encode the inlay so that its PICC data mirror both (SDMOptions, bits 7 and 6). Without a counter, a tap cannot be distinguished from a copy.",
            ),
            Self::NoMac => f.write_str(
                "The MAC is all zeros, as it was written to the chip: the chip makes no MAC. Encode the inlay so that it does (SDMFileReadKey and SDMMACOffset).",
            ),
            Self::NothingWritten => f.write_str(
                "UID and MAC are all zeros, as they were written to the chip: the chip puts nothing into its URL. Encode the inlay so that it does (Secure Dynamic Messaging).",
            ),
            Self::OtherParameters { names } => write!(
                f,
                "The URL has a code in \"{}\", but at this address a code is in \"uid\" and \"token\". Add a URL template for inlays that write such URLs.",
                names.join("\", \"")
            ),
        }
    }
}

fn key_words(f: &mut fmt::Formatter<'_>, slot: Slot, is: &KeyIs) -> fmt::Result {
    match (slot, is) {
        (Slot::Meta, KeyIs::OtherSlot) => f.write_str(
            "The uid is encrypted with the file key: the chip uses one key for both, so set meta_key to the value of file_key.",
        ),
        (Slot::File, KeyIs::OtherSlot) => f.write_str(
            "The MAC is made with the meta key: the chip uses one key for both, so set file_key to the value of meta_key.",
        ),
        (slot, KeyIs::Factory) => write!(
            f,
            "The chip's {slot} is still the all-zero factory key, which proves nothing: write the configured key to the chip."
        ),
        (slot, KeyIs::OfInlay { uid }) => write!(
            f,
            "The chip's {slot} is a key of the inlay {uid}: set {slot} to it, or write the configured key to the chip."
        ),
        (Slot::Meta, KeyIs::MasterKey { name }) => write!(
            f,
            "The chip's meta_key is the master key \"{name}\" itself, not diversified: use this master key with diversify_meta set to false."
        ),
        (Slot::File, KeyIs::MasterKey { name }) => write!(
            f,
            "The chip's file_key is the master key \"{name}\" itself, not diversified: set file_key to it, or write the diversified key to the chip."
        ),
        (Slot::Meta, KeyIs::Diversified { name }) => write!(
            f,
            "The chip's meta_key is diversified from the master key \"{name}\": use this master key with diversify_meta set to true."
        ),
        (Slot::File, KeyIs::Diversified { name }) => write!(
            f,
            "The chip's file_key is diversified from the master key \"{name}\": set master_key_id to that of \"{name}\"."
        ),
    }
}
