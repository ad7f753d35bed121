//! NFC Forum Type 4 tags: files that are selected and read (Type 4 Tag 1.2). The NTAG 424 DNA is
//! one; its version identifies it.

use super::super::apdu::Recorder;
use super::super::card::Fault;
use super::settings::FileSettings;
use super::{Chip, Codes, Contents, Lock, MESSAGE_MAX, Message, Original};

const SELECT_APPLICATION: [u8; 13] = [
    0x00, 0xA4, 0x04, 0x00, 0x07, 0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01, 0x00,
];
const GET_VERSION: [u8; 5] = [0x90, 0x60, 0x00, 0x00, 0x00];
const MORE: [u8; 5] = [0x90, 0xAF, 0x00, 0x00, 0x00];
/// Gets the settings of file 2, which holds the message.
const GET_FILE_SETTINGS: [u8; 7] = [0x90, 0xF5, 0x00, 0x00, 0x01, 0x02, 0x00];
/// `Read_Sig`: its answer ends in `9190`.
const READ_SIGNATURE: [u8; 7] = [0x90, 0x3C, 0x00, 0x00, 0x01, 0x00, 0x00];
/// Length of a signature in bytes: two numbers of the curve secp224r1.
const SIGNATURE: usize = 56;
const CAPABILITY_CONTAINER: [u8; 2] = [0xE1, 0x03];
/// Length of the part of the capability container that every version has.
const CONTAINER_LENGTH: u8 = 15;

/// The last step before the reads that raise the chip's counter.
pub(super) const SELECT_MESSAGE: &str = "Select the message's file";

/// The capability container's information on the message file.
struct Container {
    /// `MLe`: most bytes of one answer.
    at_once: u16,
    file: [u8; 2],
    /// The file's size in bytes, including its two bytes of length.
    size: usize,
    readable: bool,
    lock: Lock,
}

/// Reads a Type 4 tag; `None` if the card is something else.
pub(super) fn read(card: &mut Recorder<'_>) -> Result<Option<Contents>, Fault> {
    let selected = card.send("Select the application for messages", &SELECT_APPLICATION)?;
    if selected.ok().is_none() {
        return Ok(None);
    }
    let (chip, uid) = chip(card)?;
    let (settings, original) = if matches!(chip, Chip::Ntag424Dna | Chip::Ntag424DnaTt) {
        (settings(card)?, original(card, uid)?)
    } else {
        (None, Original::Unknown)
    };
    // The capability container does not follow changes of the settings, so the settings have
    // priority.
    let lock = settings.as_ref().map(FileSettings::lock);
    let codes = |file: &[u8]| {
        let codes = settings.as_ref().map(|settings| settings.codes(file));
        codes.unwrap_or(Codes::Unknown)
    };
    let container = match container(card)? {
        Ok(container) => container,
        Err(message) => {
            return Ok(Some(Contents {
                chip,
                memory: None,
                lock: lock.unwrap_or(Lock::Unknown),
                message,
                codes: codes(&[]),
                uid,
                original,
            }));
        }
    };
    let mut file = Vec::new();
    let message = if container.readable {
        message(card, &container, &mut file)?
    } else {
        Message::Protected
    };
    Ok(Some(Contents {
        chip,
        memory: container.size.checked_sub(2),
        lock: lock.unwrap_or(container.lock),
        message,
        codes: codes(&file),
        uid,
        original,
    }))
}

/// The kind of chip, and the UID that it reports; none if it hides the UID (all zeros).
fn chip(card: &mut Recorder<'_>) -> Result<(Chip, Option<[u8; 7]>), Fault> {
    let hardware = card.send("Ask for the version: hardware", &GET_VERSION)?;
    if hardware.status != 0x91AF {
        return Ok((Chip::OtherType4, None));
    }
    let mut last = Vec::new();
    for part in ["software", "production"] {
        let asked = format!("Ask for the version: {part}");
        let answer = card.send(&asked, &MORE)?;
        let is_last = answer.status != 0x91AF;
        last = answer.data;
        if is_last {
            break;
        }
    }
    // Vendor NXP, type NTAG. The low half of the subtype is 2 for DNA and 8 for TagTamper; its high
    // half is the capacitance (data sheets NT4H2421Gx and NT4H2421Tx rev 3.0, section 10.5.2).
    let chip = match hardware.data[..] {
        [0x04, 0x04, subtype, ..] => match subtype & 0x0F {
            0x02 => Chip::Ntag424Dna,
            0x08 => Chip::Ntag424DnaTt,
            _ => Chip::OtherType4,
        },
        _ => Chip::OtherType4,
    };
    let uid = last.first_chunk().copied().filter(|uid| *uid != [0; 7]);
    // The last part contains UID, batch and date: 14 bytes.
    Ok((chip, uid.filter(|_| last.len() >= 14)))
}

/// Whether the chip's maker signed its UID. A chip with random UIDs reveals the signature only in
/// an authenticated session.
fn original(card: &mut Recorder<'_>, uid: Option<[u8; 7]>) -> Result<Original, Fault> {
    let answer = card.send("Ask for the maker's signature", &READ_SIGNATURE)?;
    // An answer of another length is no signature, and so no evidence against the chip.
    let is_signature = answer.status == 0x9190 && answer.data.len() == SIGNATURE;
    let signature = is_signature.then_some(&*answer.data);
    Ok(Original::of(uid, signature))
}

fn settings(card: &mut Recorder<'_>) -> Result<Option<FileSettings>, Fault> {
    let settings = card.send(
        "Ask for the settings of the message's file",
        &GET_FILE_SETTINGS,
    )?;
    Ok(FileSettings::parse(&settings.ok().unwrap_or_default()))
}

/// The capability container, or the message state that its absence means.
fn container(card: &mut Recorder<'_>) -> Result<Result<Container, Message>, Fault> {
    if let Some(refused) = select(
        card,
        "Select the capability container",
        CAPABILITY_CONTAINER,
    )? {
        return Ok(Err(refused));
    }
    let read = [0x00, 0xB0, 0x00, 0x00, CONTAINER_LENGTH];
    let answer = card.send("Read the capability container", &read)?;
    if answer.is_locked() {
        return Ok(Err(Message::Protected));
    }
    let Some(data) = answer.ok() else {
        return Ok(Err(Message::Unformatted));
    };
    let parsed = parse_container(&data);
    Ok(parsed.ok_or_else(|| Message::broken("The capability container is invalid.")))
}

fn parse_container(data: &[u8]) -> Option<Container> {
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
    ] = data
    else {
        return None;
    };
    let at_once = u16::from_be_bytes([le0, le1]);
    let is_ours = version >> 4 != 0 && at_once >= 0x0F && [tag, length] == [0x04, 0x06];
    is_ours.then_some(Container {
        at_once,
        file: [f0, f1],
        size: usize::from(u16::from_be_bytes([s0, s1])),
        readable: read == 0x00,
        lock: match write {
            0x00 => Lock::Open,
            // For an unknown chip only this mark is known, not whether the chip is locked.
            0xFF => Lock::Marked,
            _ => Lock::Key,
        },
    })
}

/// Reads the message. The bytes that were read of its file, including its length, are left in
/// `file`.
fn message(
    card: &mut Recorder<'_>,
    container: &Container,
    file: &mut Vec<u8>,
) -> Result<Message, Fault> {
    if let Some(refused) = select(card, SELECT_MESSAGE, container.file)? {
        return Ok(refused);
    }
    // From here on only reads, one after the other, so that the counter rises once.
    let length = match read_binary(card, 0, 2)? {
        Ok(length) => {
            file.extend(&length);
            usize::from(u16::from_be_bytes([length[0], length[1]]))
        }
        Err(refused) => return Ok(refused),
    };
    if length + 2 > container.size {
        return Ok(Message::broken(format!(
            "It claims {length} bytes, more than its memory holds."
        )));
    }
    if length > MESSAGE_MAX {
        return Ok(Message::broken(format!(
            "It has {length} bytes; up to {MESSAGE_MAX} are read."
        )));
    }
    while file.len() < length + 2 {
        let part = (length + 2 - file.len()).min(usize::from(container.at_once.min(0xFF)));
        match read_binary(card, file.len(), part)? {
            Ok(data) => file.extend(data),
            Err(refused) => return Ok(refused),
        }
    }
    Ok(Message::parse(&file[2..]))
}

/// Selects a file. If that is refused, returns the message state that follows.
fn select(card: &mut Recorder<'_>, asked: &str, file: [u8; 2]) -> Result<Option<Message>, Fault> {
    let command = [0x00, 0xA4, 0x00, 0x0C, 0x02, file[0], file[1]];
    let answer = card.send(asked, &command)?;
    Ok(match answer.status {
        0x9000 => None,
        _ if answer.is_locked() => Some(Message::Protected),
        _ => Some(Message::Unformatted),
    })
}

/// Reads exactly `length` bytes, at most 255, or returns the message state that follows.
fn read_binary(
    card: &mut Recorder<'_>,
    offset: usize,
    length: usize,
) -> Result<Result<Vec<u8>, Message>, Fault> {
    let [.., high, low] = offset.to_be_bytes();
    let [.., le] = length.to_be_bytes();
    let asked = format!("Read {length} bytes from {offset}");
    let answer = card.send(&asked, &[0x00, 0xB0, high, low, le])?;
    if answer.is_locked() {
        return Ok(Err(Message::Protected));
    }
    let data = answer.ok().filter(|data| data.len() == length);
    Ok(data.ok_or_else(|| Message::broken("The memory cannot be read to its end.")))
}
