//! The virtual chip, read through the real PC/SC service by the `ntag424` crate, which shares only
//! AES with ours.

use std::ffi::CStr;

use ntag424::types::file_settings::{
    Access, AccessRights, CryptoMode, CtrRetAccess, EncryptedContent, FileRead, FileSettingsUpdate,
    MacWindow, Offset, PiccData, ReadCtrFeatures, Sdm,
};
use ntag424::types::{CommMode, File, KeyNumber, NonMasterKeyNumber};
use ntag424::{AuthenticatedSession as _, Response, Session, Transport};
use pcsc::{Context, Protocols, Scope, ShareMode};
use tapdesk_service::inlay::key::{AesKey, Keys};
use tapdesk_service::inlay::verify::{Candidate, verify};
use tapdesk_service::inlay::{MacFrom, Mirror, Uid};
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::virtual_reader::in_own_process;
use tokio::runtime::Runtime;

const FACTORY: [u8; 16] = [0; 16];
const UID: Uid = Uid::from_bytes([0x04, 0xC7, 0x67, 0xF2, 0x06, 0x61, 0x80]);
const URL: &[u8] =
    b"127.0.0.1:8787/t/k3v9qa?uid=00000000000000000000000000000000&token=0000000000000000";

pub(crate) struct Pcsc(pcsc::Card);

impl Transport for Pcsc {
    type Error = pcsc::Error;
    type Data = Vec<u8>;

    async fn transmit(&mut self, apdu: &[u8]) -> Result<Response<Vec<u8>>, pcsc::Error> {
        let mut buffer = [0; pcsc::MAX_BUFFER_SIZE];
        let answer = self.0.transmit(apdu, &mut buffer)?;
        let (data, [sw1, sw2]) = answer.split_last_chunk().ok_or(pcsc::Error::RemovedCard)?;
        Ok(Response {
            data: data.to_vec(),
            sw1: *sw1,
            sw2: *sw2,
        })
    }

    async fn get_uid(&mut self) -> Result<Vec<u8>, pcsc::Error> {
        Ok(self.transmit(&[0xFF, 0xCA, 0, 0, 0]).await?.data)
    }
}

/// Waits for a card on a reader, and connects to it.
pub(crate) fn connect(context: &Context) -> Pcsc {
    loop {
        let readers = context.list_readers_owned().unwrap_or_default();
        let connect = |reader: &CStr| context.connect(reader, ShareMode::Shared, Protocols::ANY);
        if let Some(card) = readers.iter().find_map(|reader| connect(reader).ok()) {
            return Pcsc(card);
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// UID and counter encrypted with key 1, the MAC with key 2, in the file of [`URL`].
fn sdm() -> Sdm {
    let offset = |at: usize| Offset::new(u32::try_from(at).unwrap()).unwrap();
    let head = 7;
    let mac = head + URL.len() - 16;
    let uid = mac - "&token=".len() - 32;
    let counter = ReadCtrFeatures {
        limit: None,
        ret_access: CtrRetAccess::NoAccess,
    };
    let picc_data = PiccData::Encrypted {
        key: KeyNumber::Key1,
        offset: offset(uid),
        content: EncryptedContent::Both(counter),
    };
    let file_read = FileRead::MacOnly {
        key: KeyNumber::Key2,
        window: MacWindow {
            input: offset(mac),
            mac: offset(mac),
        },
    };
    Sdm::try_new(picc_data, Some(file_read), None, CryptoMode::Aes).unwrap()
}

#[test]
fn another_implementation_encodes_the_chip_and_our_verification_accepts_its_codes() {
    in_own_process(|pcscd| {
        let laid = pcscd.lay_down(VirtualNtag424::new(UID));
        let context = Context::establish(Scope::User).unwrap();
        let mut card = connect(&context);
        Runtime::new().unwrap().block_on(encode_and_read(&mut card));
        drop(card);
        let chip = laid.take_away();
        assert_eq!(chip.key(0), &AesKey::from_bytes([9; 16]));
        assert_eq!(chip.counter(), 2, "two runs of reads");
    });
}

async fn encode_and_read(card: &mut Pcsc) {
    let version = Session::new().get_version(card).await.unwrap();
    assert_eq!((version.hw_type(), version.uid()), (0x04, &UID.bytes()));

    // Writes the message without a key, which a new chip allows.
    let mut message = vec![0x00, 0x00, 0xD1, 0x01, 0x00, b'U', 0x03];
    message.extend_from_slice(URL);
    message[1] = u8::try_from(message.len() - 2).unwrap();
    message[4] = u8::try_from(URL.len() + 1).unwrap();
    let mut plain = Session::new();
    let written = plain.write_file_unauthenticated(card, File::Ndef, 0, &message);
    written.await.unwrap();

    let session = plain.authenticate_aes(card, KeyNumber::Key0, &[0; 16], [0x13; 16]);
    let session = session.await.unwrap();
    let (uid, session) = session.get_uid(card).await.unwrap();
    assert_eq!(uid, UID.bytes());
    let rights = AccessRights {
        read: Access::Free,
        write: Access::NoAccess,
        read_write: Access::Key(KeyNumber::Key0),
        change: Access::Key(KeyNumber::Key0),
    };
    let settings = FileSettingsUpdate::new(CommMode::Plain, rights).with_sdm(sdm());
    let session = session
        .change_file_settings(card, File::Ndef, &settings)
        .await
        .unwrap();
    let mut session = session;
    for (number, key) in [
        (NonMasterKeyNumber::Key1, [1; 16]),
        (NonMasterKeyNumber::Key2, [2; 16]),
    ] {
        let changed = session.change_key(card, number, &key, 1, &FACTORY);
        session = changed.await.unwrap();
    }
    session.change_master_key(card, &[9; 16], 1).await.unwrap();

    let candidate = Candidate {
        uid: UID,
        mirror: Mirror::Encrypted,
        mac_from: MacFrom::None,
        keys: Keys {
            meta: Some(AesKey::from_bytes([1; 16])),
            file: AesKey::from_bytes([2; 16]),
        },
    };
    for counter in 1..=2 {
        let mut file = vec![0; message.len()];
        let mut session = Session::new();
        let seen = session.get_file_settings(card, File::Ndef).await.unwrap();
        assert!(seen.sdm.is_some());
        let read = session.read_file_unauthenticated(card, File::Ndef, 0, &mut file);
        assert_eq!(read.await.unwrap(), message.len());
        let url = String::from_utf8(file[7..].to_vec()).unwrap();
        let (_, query) = url.split_once("?uid=").unwrap();
        let (uid, token) = query.split_once("&token=").unwrap();
        let authentic = verify(uid, token, std::slice::from_ref(&candidate)).unwrap();
        assert_eq!(authentic.counter, counter);
    }
}
