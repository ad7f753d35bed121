//! The chip matrix: on each known reader every chip that Tapdesk encodes is encoded and wiped, with
//! either block size.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tapdesk::backend::{Backend, RemoteService};
use tapdesk::reader::card::{Card, Context, Fault, Occupant, Slot, Stack};
use tapdesk::reader::encode::{Progress, Wanted, encode};
use tapdesk::reader::monitor::Monitor;
use tapdesk::reader::profile::Profile;
use tapdesk_service::admin_token::AdminToken;
use tapdesk_service::clock::SystemClock;
use tapdesk_service::inlay::Uid;
use tapdesk_tests::TestService;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::virtual_card::type2::{PassesOn, Type2Chip, VirtualType2};
use tapdesk_tests::virtual_card::{ByPage, VirtualCard};
use tokio::runtime::Runtime;

use crate::relay::laid;
use crate::table::Watch;

/// Each known reader as systems name it, and an unknown one, with the way in which it passes
/// commands on.
const READERS: [(&str, PassesOn); 6] = [
    ("ACS ACR122U PICC Interface 00 00", PassesOn::ByController),
    ("ACS ACR1252 1S CL Reader PICC 0", PassesOn::InSession),
    (
        "Identiv uTrust 3700 F CL Reader 00 00",
        PassesOn::PassThrough,
    ),
    (
        "HID Global OMNIKEY 5022 Smart Card Reader 0",
        PassesOn::InSession,
    ),
    (
        "SCM Microsystems SCL3711 Contactless Reader 00 00",
        PassesOn::InSession,
    ),
    ("Virtual reader 00 00", PassesOn::ByController),
];

/// A reader in this process, with a chip on it.
struct Reader<C> {
    name: &'static str,
    atr: Vec<u8>,
    chip: Arc<Mutex<C>>,
}

impl<C> Clone for Reader<C> {
    fn clone(&self) -> Self {
        Self {
            name: self.name,
            atr: self.atr.clone(),
            chip: Arc::clone(&self.chip),
        }
    }
}

impl<C: VirtualCard> Stack for Reader<C> {
    type Context = Self;

    fn establish(&mut self) -> Result<Self, Fault> {
        Ok(self.clone())
    }
}

impl<C: VirtualCard> Context for Reader<C> {
    fn slots(&mut self, _: Duration) -> Result<Vec<Slot>, Fault> {
        // A real stack blocks until a reader changes, or its time is over.
        std::thread::sleep(Duration::from_millis(5));
        Ok(vec![Slot {
            reader: self.name.to_owned(),
            occupant: Occupant::Card {
                atr: self.atr.clone(),
            },
            events: 1,
        }])
    }

    fn with_card<T>(
        &mut self,
        reader: &str,
        work: impl FnOnce(&mut dyn Card) -> T,
    ) -> Result<T, Fault> {
        let mut chip = self.chip.lock().unwrap();
        let mut card = Placed {
            chip: &mut *chip,
            profile: Profile::of(reader),
        };
        Ok(work(&mut card))
    }
}

/// A chip in a transaction.
struct Placed<'c, C> {
    chip: &'c mut C,
    profile: &'static Profile,
}

impl<C: VirtualCard> Card for Placed<'_, C> {
    fn transmit(&mut self, command: &[u8]) -> Result<Vec<u8>, Fault> {
        self.chip.transmit(command).ok_or(Fault::Removed)
    }

    fn reset(&mut self) -> Result<Vec<u8>, Fault> {
        self.chip.power_on();
        Ok(self.chip.atr())
    }

    fn keep_alive(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn profile(&self) -> &'static Profile {
        self.profile
    }
}

/// A service, and the runtime in which it runs.
struct Desk {
    service: TestService,
    runtime: Runtime,
    chips: u8,
}

impl Desk {
    fn next_uid(&mut self) -> Uid {
        self.chips += 1;
        Uid::from_bytes([0x04, 0xB1, 0x00, 0x00, 0x00, self.chips, 0x80])
    }

    /// Places the chip on the reader, as the desktop does, and reaches a target with it.
    fn place<C: VirtualCard + 'static>(&self, reader: &Reader<C>, target: &Value) -> Progress {
        let clock = Arc::new(SystemClock::start());
        let mut watch = Watch::of(Monitor::start(reader.clone(), clock).unwrap());
        let (name, laid) = laid(&mut watch);
        let token = AdminToken::parse(self.service.admin_token()).unwrap();
        let remote = RemoteService::new(self.service.base().to_owned(), token);
        let backend = Backend::Remote(Arc::new(remote));
        let target: Map<String, Value> = target.as_object().unwrap().clone();
        let wanted = Wanted {
            reader: name,
            insertion: laid.insertion,
            target,
        };
        let board = watch.board();
        let done = encode(reader.clone(), &board, &backend, wanted, |_| {});
        self.runtime.block_on(done).unwrap()
    }

    /// Encodes a chip for a new tag, and wipes it.
    fn passes<C: VirtualCard + 'static>(&self, name: &'static str, chip: C, more: &Value) {
        let reader = Reader {
            name,
            atr: chip.atr(),
            chip: Arc::new(Mutex::new(chip)),
        };
        let tag = self
            .runtime
            .block_on(self.service.tag(json!({"name": "Bottle"})));
        let mut target = json!({"tag_id": tag.id, "allow_unproved_address": true});
        for (member, value) in more.as_object().unwrap() {
            target[member] = value.clone();
        }
        let shown = self.place(&reader, &target);
        assert_eq!(shown.state, "verified", "{name}, {more}: {shown:?}");
        let shown = self.place(&reader, &json!({"wipe": true}));
        assert_eq!(shown.state, "reset", "{name}, {more}: {shown:?}");
    }
}

#[test]
fn each_known_reader_encodes_and_wipes_every_chip_with_either_block_size() {
    for profile in Profile::known() {
        let mut readers = READERS.iter();
        let is_there = readers.any(|(name, _)| Profile::of(name) == profile);
        assert!(is_there, "{}", profile.name);
    }
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(TestService::start());
    let mut desk = Desk {
        service,
        runtime,
        chips: 0,
    };
    for (name, passes_on) in READERS {
        let chip = VirtualNtag424::new(desk.next_uid());
        desk.passes(name, chip, &json!({}));
        for (kind, technology, by_page) in [
            (Type2Chip::Ntag213, "ntag213", false),
            (Type2Chip::Ntag213, "ntag213", true),
            (Type2Chip::Ntag215, "ntag215", false),
            (Type2Chip::Ntag216, "ntag216", true),
        ] {
            let chip = VirtualType2::factory(kind, desk.next_uid().bytes()).on_reader(passes_on);
            let more = json!({"technology": technology, "write_password": true});
            if by_page {
                desk.passes(name, ByPage::new(chip), &more);
            } else {
                desk.passes(name, chip, &more);
            }
        }
    }
}
