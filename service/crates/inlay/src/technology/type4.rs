//! NFC Forum Type 4 tags: files that are selected and read (Type 4 Tag 1.2). The NTAG 424 DNA is
//! one.

use super::access::Access;

/// The id of the capability container's file (Type 4 Tag 1.2, section 4.3).
pub const CONTAINER_FILE: [u8; 2] = [0xE1, 0x03];

/// `ISOSelectFile` by a file's id, without an answer of its description (ISO/IEC 7816-4).
pub const fn select_file([high, low]: [u8; 2]) -> [u8; 7] {
    [0x00, 0xA4, 0x00, 0x0C, 0x02, high, low]
}

/// The capability container's information on the message file (Type 4 Tag 1.2, section 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapabilityContainer {
    /// `MLe`: most bytes of one answer.
    pub at_once: u16,
    /// The id of the message file.
    pub file: [u8; 2],
    /// The file's size in bytes, including its two bytes of length.
    pub size: u16,
    /// Whether anyone may read the file.
    pub readable: bool,
    /// Who may write the file. Of an unknown chip only the mark is known, not whether it is locked.
    /// An NTAG 424 DNA does not change it with its file settings, so those have priority.
    pub access: Access,
}

impl CapabilityContainer {
    /// Bytes of the part that every version has.
    pub const LENGTH: u8 = 15;

    /// Parses the first [`LENGTH`](Self::LENGTH) bytes; `None` if they are no capability container.
    ///
    /// ```
    /// use inlay::technology::type4::CapabilityContainer;
    ///
    /// // The container of a new NTAG 424 DNA (data sheet section 8.2.3.2).
    /// let bytes = [0, 0x17, 0x20, 1, 0, 0, 0xFF, 4, 6, 0xE1, 4, 1, 0, 0, 0];
    /// let container = CapabilityContainer::parse(&bytes);
    /// assert_eq!(container.map(|container| container.size), Some(256));
    /// ```
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let &[
            _,
            _,
            version,
            le0,
            le1,
            _,
            _,
            tag,
            length,
            f0,
            f1,
            s0,
            s1,
            read,
            write,
        ] = bytes
        else {
            return None;
        };
        let at_once = u16::from_be_bytes([le0, le1]);
        let is_ours = version >> 4 != 0 && at_once >= 0x0F && [tag, length] == [0x04, 0x06];
        is_ours.then_some(Self {
            at_once,
            file: [f0, f1],
            size: u16::from_be_bytes([s0, s1]),
            readable: read == 0x00,
            access: match write {
                0x00 => Access::Open,
                0xFF => Access::Marked,
                _ => Access::Key,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: [u8; 15] = [0, 0x17, 0x20, 1, 0, 0, 0xFF, 4, 6, 0xE1, 4, 1, 0, 0, 0];

    #[test]
    fn the_last_byte_shows_who_may_write() {
        for (write, access) in [
            (0x00, Access::Open),
            (0x80, Access::Key),
            (0xFF, Access::Marked),
        ] {
            let mut bytes = NEW;
            bytes[14] = write;
            let container = CapabilityContainer::parse(&bytes).unwrap();
            assert_eq!(
                (container.access, container.readable),
                (access, true),
                "{write:02X}"
            );
            assert_eq!((container.at_once, container.file), (256, [0xE1, 0x04]));
        }
    }

    #[test]
    fn a_container_of_another_shape_is_none() {
        for (at, byte) in [(2, 0x00), (3, 0x00), (7, 0x05), (8, 0x08)] {
            let mut bytes = NEW;
            bytes[at] = byte;
            assert_eq!(CapabilityContainer::parse(&bytes), None, "{at}");
        }
        assert_eq!(CapabilityContainer::parse(&NEW[..14]), None);
        assert_eq!(CapabilityContainer::parse(&[&NEW[..], &[0]].concat()), None);
    }
}
