//! NFC Forum Type 4 tags: files that are selected and read (Type 4 Tag 1.2). The NTAG 424 DNA is
//! one; its version identifies it.

use tapdesk_service::inlay::ev2::{
    self, GET_VERSION, MORE, NDEF_FILE, READ_SIGNATURE, SELECT_APPLICATION, Status,
    get_file_settings,
};
use tapdesk_service::inlay::technology::ntag424::file_settings::FileSettings;
use tapdesk_service::inlay::technology::ntag424::{SIGNATURE_LENGTH, of_version};
use tapdesk_service::inlay::technology::type4::{CONTAINER_FILE, CapabilityContainer, select_file};
use tapdesk_service::inlay::technology::{Access, Family, Technology};

use super::super::apdu::Recorder;
use super::super::card::Fault;
use super::{Chip, Codes, Contents, MESSAGE_MAX, Message, Original};

/// The last step before the reads that raise the chip's counter.
pub(super) const SELECT_MESSAGE: &str = "Select the message's file";

/// Reads a Type 4 tag; `None` if the card is something else.
pub(super) fn read(card: &mut Recorder<'_>) -> Result<Option<Contents>, Fault> {
    let selected = card.send("Select the application for messages", &SELECT_APPLICATION)?;
    if selected.ok().is_none() {
        return Ok(None);
    }
    let (chip, uid) = chip(card)?;
    let family = chip.technology().map(Technology::family);
    let (settings, original) = if family == Some(Family::Ntag424) {
        (settings(card)?, original(card, uid)?)
    } else {
        (None, Original::Unknown)
    };
    // The capability container does not follow changes of the settings, so the settings have
    // priority.
    let lock = settings.as_ref().map(FileSettings::access);
    let codes = |file: &[u8]| {
        let codes = settings.as_ref().map(|settings| Codes::of(settings, file));
        codes.unwrap_or(Codes::Unknown)
    };
    let container = match container(card)? {
        Ok(container) => container,
        Err(message) => {
            return Ok(Some(Contents {
                chip,
                memory: None,
                lock: lock.unwrap_or(Access::Unknown),
                message,
                codes: codes(&[]),
                uid,
                original,
            }));
        }
    };
    let mut file = Vec::new();
    let message = if container.readable {
        message(card, container, &mut file)?
    } else {
        Message::Protected
    };
    Ok(Some(Contents {
        chip,
        memory: usize::from(container.size).checked_sub(2),
        lock: lock.unwrap_or(container.access),
        message,
        codes: codes(&file),
        uid,
        original,
    }))
}

/// The kind of chip, and the UID that it reports; none if it hides the UID (all zeros).
fn chip(card: &mut Recorder<'_>) -> Result<(Chip, Option<[u8; 7]>), Fault> {
    let hardware = card.send("Ask for the version: hardware", &GET_VERSION)?;
    if hardware.status != Status::MORE.0 {
        return Ok((Chip::OtherType4, None));
    }
    let mut last = Vec::new();
    for part in ["software", "production"] {
        let asked = format!("Ask for the version: {part}");
        let answer = card.send(&asked, &MORE)?;
        let is_last = answer.status != Status::MORE.0;
        last = answer.data;
        if is_last {
            break;
        }
    }
    let chip = of_version(&hardware.data).map_or(Chip::OtherType4, Chip::Known);
    let uid = last.first_chunk().copied().filter(|uid| *uid != [0; 7]);
    // The last part contains UID, batch and date: 14 bytes.
    Ok((chip, uid.filter(|_| last.len() >= 14)))
}

/// Whether the chip's maker signed its UID. A chip with random UIDs reveals the signature only in
/// an authenticated session.
fn original(card: &mut Recorder<'_>, uid: Option<[u8; 7]>) -> Result<Original, Fault> {
    let answer = card.send("Ask for the maker's signature", &READ_SIGNATURE)?;
    // An answer of another length is no signature, and so no evidence against the chip.
    let is_signature =
        answer.status == Status::SIGNATURE.0 && answer.data.len() == SIGNATURE_LENGTH;
    let signature = is_signature.then_some(&*answer.data);
    Ok(Original::of(uid, signature))
}

fn settings(card: &mut Recorder<'_>) -> Result<Option<FileSettings>, Fault> {
    let settings = card.send(
        "Ask for the settings of the message's file",
        &get_file_settings(NDEF_FILE),
    )?;
    Ok(FileSettings::parse(&settings.ok().unwrap_or_default()))
}

/// The capability container, or the message state that its absence means.
fn container(card: &mut Recorder<'_>) -> Result<Result<CapabilityContainer, Message>, Fault> {
    if let Some(refused) = select(card, "Select the capability container", CONTAINER_FILE)? {
        return Ok(Err(refused));
    }
    let read = ev2::read_binary(0, CapabilityContainer::LENGTH);
    let answer = card.send("Read the capability container", &read)?;
    if answer.is_locked() {
        return Ok(Err(Message::Protected));
    }
    let Some(data) = answer.ok() else {
        return Ok(Err(Message::Unformatted));
    };
    let parsed = CapabilityContainer::parse(&data);
    Ok(parsed.ok_or_else(|| Message::broken("The capability container is invalid.")))
}

/// Reads the message. The bytes that were read of its file, including its length, are left in
/// `file`.
fn message(
    card: &mut Recorder<'_>,
    container: CapabilityContainer,
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
    if length + 2 > usize::from(container.size) {
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
    let answer = card.send(asked, &select_file(file))?;
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
    let answer = card.send(
        &asked,
        &ev2::read_binary(u16::from_be_bytes([high, low]), le),
    )?;
    if answer.is_locked() {
        return Ok(Err(Message::Protected));
    }
    let data = answer.ok().filter(|data| data.len() == length);
    Ok(data.ok_or_else(|| Message::broken("The memory cannot be read to its end.")))
}
