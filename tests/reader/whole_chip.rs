//! Everything that the virtual NTAG 424 DNA supports, used by the `ntag424` crate: in AES mode, in
//! LRP mode, and with a tamper loop.

use std::convert::Infallible;

use ntag424::types::file_settings::{
    Access, AccessRights, CryptoMode, CtrRetAccess, EncFileData, EncLength, EncryptedContent,
    FileRead, FileSettingsUpdate, MacWindow, Offset, PiccData, ReadCtrFeatures, Sdm,
};
use ntag424::types::{
    CommMode, Configuration, File, KeyNumber, NonMasterKeyNumber, ResponseStatus, TagTamperStatus,
};
use ntag424::{AuthenticatedSession, Response, Session, SessionError, Transport};
use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::key::AesKey;
use tapdesk_service::inlay::technology::Mode;
use tapdesk_service::inlay::technology::ntag424::{MetaKey, Mirrored, Session as Verifier};
use tapdesk_tests::virtual_card::VirtualCard as _;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tokio::runtime::Runtime;

pub(crate) const UID: Uid = Uid::from_bytes([0x04, 0xC7, 0x67, 0xF2, 0x06, 0x61, 0x80]);
pub(crate) const FACTORY: [u8; 16] = [0; 16];
pub(crate) const RANDOM: [u8; 16] = [0x13; 16];
const HEAD: usize = 7;
const NUMBERS: [NonMasterKeyNumber; 4] = [
    NonMasterKeyNumber::Key1,
    NonMasterKeyNumber::Key2,
    NonMasterKeyNumber::Key3,
    NonMasterKeyNumber::Key4,
];

/// A transport to the chip in process.
pub(crate) struct InProcess<'c>(pub &'c mut VirtualNtag424);

impl Transport for InProcess<'_> {
    type Error = Infallible;
    type Data = Vec<u8>;

    async fn transmit(&mut self, apdu: &[u8]) -> Result<Response<Vec<u8>>, Infallible> {
        let answer = self.0.apdu(apdu);
        let (data, [sw1, sw2]) = answer.split_last_chunk().unwrap();
        Ok(Response {
            data: data.to_vec(),
            sw1: *sw1,
            sw2: *sw2,
        })
    }

    async fn get_uid(&mut self) -> Result<Vec<u8>, Infallible> {
        Ok(self.transmit(&[0xFF, 0xCA, 0, 0, 0]).await?.data)
    }
}

pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    Runtime::new().unwrap().block_on(work)
}

fn offset(at: usize) -> Offset {
    Offset::new(u32::try_from(at).unwrap()).unwrap()
}

/// A URL with encrypted UID and counter, encrypted file data, and a MAC over these.
struct Plan {
    mode: CryptoMode,
    url: String,
    picc: usize,
    enc: usize,
    mac: usize,
    tamper: bool,
}

impl Plan {
    fn new(mode: CryptoMode, tamper: bool) -> Self {
        let picc_length = match mode {
            CryptoMode::Aes => 32,
            CryptoMode::Lrp => 48,
        };
        let mut url = String::from("example.com/t?p=");
        let picc = HEAD + url.len();
        url += &"0".repeat(picc_length);
        url += "&e=";
        let enc = HEAD + url.len();
        url += "TTserial-number";
        url += &"0".repeat(17);
        url += "&m=";
        let mac = HEAD + url.len();
        url += &"0".repeat(16);
        Self {
            mode,
            url,
            picc,
            enc,
            mac,
            tamper,
        }
    }

    fn message(&self) -> Vec<u8> {
        let mut message = vec![0x00, 0x00, 0xD1, 0x01, 0x00, b'U', 0x04];
        message.extend_from_slice(self.url.as_bytes());
        message[1] = u8::try_from(message.len() - 2).unwrap();
        message[4] = u8::try_from(self.url.len() + 1).unwrap();
        message
    }

    fn settings(&self) -> FileSettingsUpdate {
        let counter = ReadCtrFeatures {
            limit: None,
            ret_access: CtrRetAccess::Key(KeyNumber::Key3),
        };
        let picc = PiccData::Encrypted {
            key: KeyNumber::Key1,
            offset: offset(self.picc),
            content: EncryptedContent::Both(counter),
        };
        let read = FileRead::MacAndEnc {
            key: KeyNumber::Key2,
            window: MacWindow {
                input: offset(self.enc),
                mac: offset(self.mac),
            },
            enc: EncFileData {
                start: offset(self.enc),
                length: EncLength::new(32).unwrap(),
            },
        };
        let tamper = self.tamper.then(|| offset(self.enc));
        let sdm = Sdm::try_new(picc, Some(read), tamper, self.mode).unwrap();
        let rights = AccessRights {
            read: Access::Free,
            write: Access::Key(KeyNumber::Key0),
            read_write: Access::Key(KeyNumber::Key0),
            change: Access::Key(KeyNumber::Key0),
        };
        FileSettingsUpdate::new(CommMode::Plain, rights).with_sdm(sdm)
    }

    /// The file data of a read; `None` if its code is not authentic, or has another counter.
    fn opened(&self, chip: &mut VirtualNtag424, counter: u32) -> Option<Vec<u8>> {
        chip.power_on();
        let mut file = vec![0; self.message().len()];
        let read = run(Session::new().read_file_unauthenticated(
            &mut InProcess(chip),
            File::Ndef,
            0,
            &mut file,
        ));
        assert_eq!(read.unwrap(), file.len());
        let hex = |from: usize, to: usize| {
            let text = std::str::from_utf8(&file[from..to]).unwrap();
            let pair = |i| u8::from_str_radix(&text[i..i + 2], 16).unwrap();
            (0..text.len()).step_by(2).map(pair).collect::<Vec<_>>()
        };
        let mode = match self.mode {
            CryptoMode::Aes => Mode::Aes,
            CryptoMode::Lrp => Mode::Lrp,
        };
        let mirrored = Mirrored::both(UID, counter);
        let random = hex(self.picc, self.enc - "&e=".len());
        let sealed = MetaKey::new(mode, &key(1)).seal(mirrored, {
            // LRP shows its randomness; AES uses it for padding.
            let mut seed = [0; 24];
            if mode == Mode::Lrp {
                seed[..8].copy_from_slice(&random[..8]);
            }
            seed
        });
        assert_eq!(sealed.len(), random.len());
        let session = Verifier::new(mode, &key(2), mirrored);
        let authentic = session.mac(&file[self.enc..self.mac]) == *hex(self.mac, self.mac + 16);
        authentic.then(|| session.decrypt(&hex(self.enc, self.enc + 32)))
    }
}

fn key(number: u8) -> AesKey {
    AesKey::from_bytes([number + 1; 16])
}

/// Encodes the chip in a session of key 0: first the message, then keys 1 to 4, the settings, and
/// key 0.
async fn encode<S: AuthenticatedSession>(chip: &mut InProcess<'_>, session: S, plan: &Plan) {
    let (uid, session) = session.get_uid(chip).await.unwrap();
    assert_eq!(uid, UID.bytes());
    let (version, session) = session.get_version(chip).await.unwrap();
    assert_eq!(version.has_tag_tamper_support(), plan.tamper);
    let written = session
        .write_file(chip, File::Ndef, 0, &plan.message())
        .await;
    let mut session = written.unwrap();
    for (number, slot) in NUMBERS.into_iter().zip(1..) {
        let new = key(slot);
        let changed = session.change_key(chip, number, new.expose(), 7, &FACTORY);
        session = changed.await.unwrap();
        let number = [
            KeyNumber::Key1,
            KeyNumber::Key2,
            KeyNumber::Key3,
            KeyNumber::Key4,
        ][usize::from(slot) - 1];
        let (version, next) = session.get_key_version(chip, number).await.unwrap();
        assert_eq!(version, 7);
        session = next;
    }
    let settings = plan.settings();
    let changed = session.change_file_settings(chip, File::Ndef, &settings);
    let session = changed.await.unwrap();
    let (seen, session) = session.get_file_settings(chip, File::Ndef).await.unwrap();
    assert_eq!(seen.into_update(), settings);
    let written = session
        .write_file(chip, File::CapabilityContainer, 14, &[0xFF])
        .await;
    let master = written
        .unwrap()
        .change_master_key(chip, key(0).expose(), 7)
        .await;
    master.unwrap();
}

/// Reads the counter and the proprietary file in a session, after every key was verified.
async fn prove<S: AuthenticatedSession>(chip: &mut InProcess<'_>, mut session: S) {
    for (number, slot) in [KeyNumber::Key4, KeyNumber::Key1, KeyNumber::Key3]
        .into_iter()
        .zip([4, 1, 3])
    {
        let key = key(slot);
        let proved = session.authenticate(chip, number, key.expose(), RANDOM);
        session = proved.await.unwrap();
    }
    let (counter, session) = session.get_file_counters(chip, File::Ndef).await.unwrap();
    assert_eq!(counter, 2);
    let text = [0x5A; 90];
    let written = session.write_file_with_mode(chip, File::Proprietary, 16, &text, CommMode::Full);
    let session = written.await.unwrap();
    let mut read = [0; 90];
    let (length, _) = session
        .read_file_with_mode(chip, File::Proprietary, 16, 90, CommMode::Full, &mut read)
        .await
        .unwrap();
    assert_eq!((length, read), (90, text));
}

#[test]
fn the_crate_encodes_a_chip_in_aes_mode_and_every_code_is_authentic() {
    let mut chip = VirtualNtag424::new(UID);
    let plan = Plan::new(CryptoMode::Aes, false);
    run(async {
        let chip = &mut InProcess(&mut chip);
        let session = Session::new().authenticate_aes(chip, KeyNumber::Key0, &FACTORY, RANDOM);
        let session = session.await.unwrap();
        encode(chip, session, &plan).await;
    });
    for counter in 1..=2 {
        let data = plan.opened(&mut chip, counter).expect("authentic");
        assert_eq!(data, *b"TTserial-number0");
    }
    run(async {
        let chip = &mut InProcess(&mut chip);
        let new = key(0);
        let session = Session::new().authenticate_aes(chip, KeyNumber::Key0, new.expose(), RANDOM);
        let session = session.await.unwrap();
        prove(chip, session).await;
    });
    assert_eq!(chip.tally().refusals, 0);
}

#[test]
fn the_crate_switches_a_chip_to_lrp_for_ever_and_encodes_it() {
    let mut chip = VirtualNtag424::new(UID);
    let plan = Plan::new(CryptoMode::Lrp, false);
    run(async {
        let chip = &mut InProcess(&mut chip);
        let session = Session::new().authenticate_aes(chip, KeyNumber::Key0, &FACTORY, RANDOM);
        let session = session.await.unwrap().enable_lrp(chip).await.unwrap();
        let refused = session
            .authenticate_aes(chip, KeyNumber::Key0, &FACTORY, RANDOM)
            .await;
        assert!(matches!(
            refused.err(),
            Some(SessionError::ErrorResponse(
                ResponseStatus::PermissionDenied
            ))
        ));
        let session = Session::new().authenticate_lrp(chip, KeyNumber::Key0, &FACTORY, RANDOM);
        let session = session.await.unwrap();
        encode(chip, session, &plan).await;
    });
    assert!(chip.speaks_lrp());
    for counter in 1..=2 {
        let data = plan.opened(&mut chip, counter).expect("authentic");
        assert_eq!(data, *b"TTserial-number0");
    }
    run(async {
        let chip = &mut InProcess(&mut chip);
        let new = key(0);
        let session = Session::new().authenticate_lrp(chip, KeyNumber::Key0, new.expose(), RANDOM);
        let session = session.await.unwrap();
        prove(chip, session).await;
    });
}

#[test]
fn a_tamper_loop_is_measured_from_the_activation_after_it_was_enabled() {
    let mut chip = VirtualNtag424::tag_tamper(UID);
    let plan = Plan::new(CryptoMode::Aes, true);
    let status = |chip: &mut VirtualNtag424| {
        run(async {
            let chip = &mut InProcess(chip);
            let session = Session::new().authenticate_aes(chip, KeyNumber::Key0, &FACTORY, RANDOM);
            let (status, _) = session.await.unwrap().get_tt_status(chip).await.unwrap();
            (status.permanent(), status.current())
        })
    };
    assert_eq!(
        status(&mut chip),
        (TagTamperStatus::Invalid, TagTamperStatus::Invalid)
    );
    run(async {
        let chip = &mut InProcess(&mut chip);
        let session = Session::new().authenticate_aes(chip, KeyNumber::Key0, &FACTORY, RANDOM);
        let enabled = Configuration::new().with_tag_tamper_enabled(Access::Key(KeyNumber::Key0));
        let session = session.await.unwrap().set_configuration(chip, &enabled);
        drop(session.await.unwrap());
    });
    chip.power_on();
    assert_eq!(
        status(&mut chip),
        (TagTamperStatus::Close, TagTamperStatus::Close)
    );
    run(async {
        let chip = &mut InProcess(&mut chip);
        let session = Session::new().authenticate_aes(chip, KeyNumber::Key0, &FACTORY, RANDOM);
        let session = session.await.unwrap();
        encode(chip, session, &plan).await;
    });
    assert_eq!(plan.opened(&mut chip, 1).unwrap()[..2], *b"CC");
    chip.cut_loop(true);
    assert_eq!(plan.opened(&mut chip, 2).unwrap()[..2], *b"OO");
    chip.cut_loop(false);
    assert_eq!(plan.opened(&mut chip, 3).unwrap()[..2], *b"OC");
}

#[test]
fn with_random_uids_the_chip_hides_its_own_until_a_key_is_proved() {
    let mut chip = VirtualNtag424::new(UID);
    run(async {
        let chip = &mut InProcess(&mut chip);
        let session = Session::new().authenticate_aes(chip, KeyNumber::Key0, &FACTORY, RANDOM);
        let hidden = Configuration::new().with_random_uid_enabled();
        let session = session.await.unwrap().set_configuration(chip, &hidden);
        drop(session.await.unwrap());
    });
    let mut shown = Vec::new();
    for _ in 0..2 {
        chip.power_on();
        run(async {
            let chip = &mut InProcess(&mut chip);
            shown.push(chip.get_uid().await.unwrap());
            let version = Session::new().get_version(chip).await.unwrap();
            assert_eq!(version.uid(), &[0; 7]);
            let session = Session::new().authenticate_aes(chip, KeyNumber::Key0, &FACTORY, RANDOM);
            let (uid, _) = session.await.unwrap().get_uid(chip).await.unwrap();
            assert_eq!(uid, UID.bytes());
        });
    }
    assert!(shown.iter().all(|uid| uid.len() == 4 && uid[0] == 0x08));
    assert_ne!(shown[0], shown[1]);
    chip.power_on();
    assert_eq!(chip.apdu(&[0x90, 0x3C, 0, 0, 1, 0, 0]), [0x91, 0xAE]);
}

#[test]
fn a_session_ends_with_any_error() {
    let mut chip = VirtualNtag424::new(UID);
    run(async {
        let session = Session::new()
            .authenticate_aes(&mut InProcess(&mut chip), KeyNumber::Key0, &FACTORY, RANDOM)
            .await
            .unwrap();
        assert!(session.get_uid(&mut InProcess(&mut chip)).await.is_ok());
    });
    for (command, status) in [
        // An unknown command, a wrong length, an ISO 7816-4 write, a missing file.
        (&[0x90, 0x11, 0, 0, 0][..], [0x91, 0x1C]),
        (&[0x90, 0x64, 0, 0, 2, 1, 0], [0x91, 0x7E]),
        (&[0x00, 0xD6, 0, 0, 1, 9], [0x69, 0x82]),
        (&[0x00, 0xA4, 0, 0x0C, 2, 0xE1, 0x09], [0x6A, 0x82]),
    ] {
        run(async {
            let chip = &mut InProcess(&mut chip);
            let session = Session::new().authenticate_aes(chip, KeyNumber::Key0, &FACTORY, RANDOM);
            drop(session.await.unwrap());
        });
        chip.apdu(&[0x00, 0xA4, 0, 0x0C, 2, 0xE1, 0x04]);
        assert!(chip.session().is_some(), "selecting a file ends none");
        assert_eq!(chip.apdu(command), status);
        assert!(chip.session().is_none(), "{status:02X?}");
    }
}
