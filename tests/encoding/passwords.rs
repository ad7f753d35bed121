//! Write passwords of chips without keys: set, kept, changed and removed.

mod torn;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::virtual_card::type2::{PassesOn, Type2Chip, VirtualType2};
use tapdesk_tests::virtual_card::{Tear, TornOut, VirtualCard};
use tapdesk_tests::{TestService, TestTag};

use super::bench::uid;
use super::http::lay;

/// Kind and technology of a chip, and its first configuration page.
const CHIPS: [(Type2Chip, &str, usize); 3] = [
    (Type2Chip::Ntag213, "ntag213", 0x29),
    (Type2Chip::Ntag215, "ntag215", 0x83),
    (Type2Chip::Ntag216, "ntag216", 0xE3),
];
const CFG0: usize = 0x29;

fn new(chip: Type2Chip, number: u32) -> VirtualType2 {
    VirtualType2::factory(chip, uid(number).bytes()).on_reader(PassesOn::ByController)
}

fn wish(number: u32, tag: &TestTag, technology: &str, write_password: bool) -> Value {
    json!({
        "uid": uid(number).to_string(), "tag_id": tag.id, "technology": technology,
        "write_password": write_password,
    })
}

/// `AUTH0`, the password and its acknowledgement, as they are in the chip's memory.
fn password(chip: &VirtualType2, config: usize) -> (u8, Vec<u8>, Vec<u8>) {
    let acknowledgement = chip.page(config + 3)[..2].to_vec();
    (
        chip.page(config)[3],
        chip.page(config + 2).to_vec(),
        acknowledgement,
    )
}

/// A chip without a password, as the factory delivers it.
fn none() -> (u8, Vec<u8>, Vec<u8>) {
    (0xFF, vec![0xFF; 4], vec![0; 2])
}

/// Whether anyone can write a page now.
fn is_writable(chip: &mut VirtualType2, page: u8) -> bool {
    chip.power_on();
    let page_now = chip.page(usize::from(page)).to_vec();
    let command = [&[0xFF, 0xD6, 0x00, page, 0x04], &page_now[..]].concat();
    chip.apdu(&command) == [0x90, 0x00]
}

#[tokio::test]
async fn a_chip_with_a_write_password_is_read_by_anyone_and_written_by_this_service_only() {
    let service = TestService::start().await;
    for (number, (kind, technology, config)) in (1..).zip(CHIPS) {
        let tag = service.redirecting_tag(Value::Null).await;
        let mut chip = new(kind, number);
        let wish = wish(number, &tag, technology, true);
        let turn = lay(&service, &mut chip, &wish).await;
        assert_eq!(turn["state"], "verified", "{turn}");
        let (auth0, secret, _) = password(&chip, config);
        assert_eq!(auth0, 2);
        assert_ne!(secret, vec![0xFF; 4]);
        // Neither limit nor protection of reads.
        assert_eq!(chip.page(config + 1)[0] & 0x87, 0);
        chip.power_on();
        assert!(chip.read_url().ends_with(&tag.path()));
        let configs = u8::try_from(config).unwrap();
        for page in [2, 3, 4, configs - 1, configs, configs + 2] {
            assert!(!is_writable(&mut chip, page), "{page}");
        }
        // Placed again, nothing is written.
        let writes = chip.writes();
        let again = lay(&service, &mut chip, &wish).await;
        assert_eq!(
            (&again["state"], chip.writes()),
            (&json!("verified"), writes)
        );

        // Another tag's URL is written over it with permission, and the password stays.
        let other = service.tag(json!({"name": "Other"})).await;
        let mut replaced = self::wish(number, &other, technology, true);
        let refused = lay(&service, &mut chip, &replaced).await;
        assert_eq!(refused["reason"], "already_encoded", "{refused}");
        assert_eq!(chip.writes(), writes);
        replaced["replace"] = true.into();
        let turn = lay(&service, &mut chip, &replaced).await;
        assert_eq!(turn["state"], "verified", "{turn}");
        assert_eq!(password(&chip, config).1, secret);
        assert!(!is_writable(&mut chip, 4));

        // Without a password for the same tag, it is removed.
        let open = self::wish(number, &other, technology, false);
        let turn = lay(&service, &mut chip, &open).await;
        assert_eq!(turn["state"], "verified", "{turn}");
        assert_eq!(password(&chip, config), none());
        assert!(is_writable(&mut chip, 4));

        let protected = self::wish(number, &other, technology, true);
        assert_eq!(
            lay(&service, &mut chip, &protected).await["state"],
            "verified"
        );
        let wipe = json!({"uid": uid(number).to_string(), "wipe": true, "technology": technology});
        let turn = lay(&service, &mut chip, &wipe).await;
        assert_eq!(turn["state"], "reset", "{turn}");
        assert_eq!(password(&chip, config), none());
    }
}

/// A tag with its chip number 1, which has a write password.
async fn protected(service: &TestService) -> (TestTag, VirtualType2) {
    let tag = service.redirecting_tag(Value::Null).await;
    let mut chip = new(Type2Chip::Ntag213, 1);
    let turn = lay(service, &mut chip, &wish(1, &tag, "ntag213", true)).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    (tag, chip)
}

/// Tears copies of the chip `whole` out of the reader, each after one more command of `wish`, until
/// one ends before. `then` gets the number of commands, the answer, the chip, and whether it was torn
/// out. Returns the number of commands of a whole attempt.
async fn torn_after_each(
    service: &TestService,
    whole: &VirtualType2,
    wish: &Value,
    then: impl AsyncFn(usize, Value, VirtualType2, bool),
) -> usize {
    for at in 0.. {
        let mut held = TornOut::new(Tear::after(at), whole.clone());
        let turn = lay(service, &mut held, wish).await;
        let is_torn = held.is_torn();
        then(at, turn, held.into_card(), is_torn).await;
        if !is_torn {
            return at;
        }
    }
    unreachable!("there is always one more command")
}

#[tokio::test]
async fn a_chip_that_is_locked_for_good_gets_no_password() {
    let service = TestService::start().await;
    for (number, (kind, technology, config)) in (1..).zip(CHIPS) {
        let tag = service.redirecting_tag(Value::Null).await;
        let mut chip = new(kind, number);
        let mut locked = wish(number, &tag, technology, false);
        locked["lock"] = true.into();
        let turn = lay(&service, &mut chip, &locked).await;
        assert_eq!(turn["state"], "verified", "{turn}");
        let writes = chip.writes();
        let protected = wish(number, &tag, technology, true);
        let turn = lay(&service, &mut chip, &protected).await;
        assert_eq!(turn["reason"], "read_only", "{turn}");
        assert_eq!((chip.writes(), password(&chip, config)), (writes, none()));
        // It is still the inlay of its tag.
        let open = wish(number, &tag, technology, false);
        let turn = lay(&service, &mut chip, &open).await;
        assert_eq!(turn["state"], "verified", "{turn}");
    }
}

#[tokio::test]
async fn a_password_that_locked_settings_keep_in_force_is_named_and_nothing_is_written() {
    let service = TestService::start().await;
    let (tag, chip) = protected(&service).await;
    // Whoever heard the password can lock the settings for ever (`CFGLCK`).
    let mut chip = chip.with_page(CFG0 + 1, [0x40, 0x05, 0x00, 0x00]);
    chip.power_on();
    let writes = chip.writes();
    let turn = lay(&service, &mut chip, &wish(1, &tag, "ntag213", false)).await;
    assert_eq!(
        (&turn["state"], &turn["reason"]),
        (&json!("rejected"), &json!("read_only")),
        "{turn}"
    );
    assert_eq!(chip.writes(), writes);
    chip.power_on();
    assert!(chip.read_url().ends_with(&tag.path()));
}

#[tokio::test]
async fn a_locked_chip_with_a_password_loses_it_before_its_lock() {
    let service = TestService::start().await;
    let (tag, whole) = protected(&service).await;
    let (_, secret, _) = password(&whole, CFG0);
    let mut locked = json!({"uid": uid(1).to_string(), "tag_id": tag.id, "technology": "ntag213"});
    locked["lock"] = true.into();
    let tears = torn_after_each(
        &service,
        &whole,
        &locked,
        async |at, turn, mut chip, is_torn| {
            if is_torn {
                let (auth0, now, _) = password(&chip, CFG0);
                assert!(auth0 == 0xFF || now == secret, "{at}: {auth0} {now:?}");
                chip.power_on();
                let turn = lay(&service, &mut chip, &locked).await;
                assert_eq!(turn["state"], "verified", "{at}: {turn}");
            } else {
                assert_eq!(turn["state"], "verified", "{turn}");
            }
            assert_eq!(password(&chip, CFG0).0, 0xFF, "{at}");
            assert!(!is_writable(&mut chip, 4), "{at}");
        },
    );
    let commands = tears.await;
    assert!(commands > 20, "only {commands} commands");
}

#[tokio::test]
async fn a_chip_gets_the_password_of_a_new_root_when_it_is_placed_again() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let wish = wish(1, &tag, "ntag213", true);
    let mut chip = new(Type2Chip::Ntag213, 1);
    assert_eq!(lay(&service, &mut chip, &wish).await["state"], "verified");
    let before = password(&chip, CFG0);
    let replaced = service.admin(Method::POST, "/encoding-root", json!({"compromised": true}));
    assert!(replaced.await.status < 300);
    let turn = lay(&service, &mut chip, &wish).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    let after = password(&chip, CFG0);
    assert_eq!((before.0, after.0), (2, 2));
    assert_ne!(before.1, after.1);
}

#[tokio::test]
async fn a_reader_that_passes_no_commands_on_sets_no_password() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let wish = wish(1, &tag, "ntag213", true);
    let mut simple = VirtualType2::factory(Type2Chip::Ntag213, uid(1).bytes());
    let turn = lay(&service, &mut simple, &wish).await;
    assert_eq!(
        (&turn["state"], &turn["reason"], simple.writes()),
        (&json!("rejected"), &json!("not_passed_on"), 0)
    );
    let mut chip = new(Type2Chip::Ntag213, 1);
    assert_eq!(lay(&service, &mut chip, &wish).await["state"], "verified");
}

/// A reader that activates the chip again after each of the chip's own commands.
struct Activating<C>(C);

impl<C: VirtualCard> VirtualCard for Activating<C> {
    fn atr(&self) -> Vec<u8> {
        self.0.atr()
    }

    fn power_on(&mut self) {
        self.0.power_on();
    }

    fn transmit(&mut self, command: &[u8]) -> Option<Vec<u8>> {
        let answer = self.0.transmit(command);
        if command.starts_with(&[0xFF, 0x00, 0x00, 0x00]) {
            self.0.power_on();
        }
        answer
    }
}

#[tokio::test]
async fn a_reader_that_activates_the_chip_after_its_password_is_named_and_another_one_finishes() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let mut chip = Activating(new(Type2Chip::Ntag213, 1));
    // The last write needs no password, so such a reader sets one.
    let protected = wish(1, &tag, "ntag213", true);
    let turn = lay(&service, &mut chip, &protected).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    let before = password(&chip.0, CFG0);
    let open = wish(1, &tag, "ntag213", false);
    let turn = lay(&service, &mut chip, &open).await;
    assert_eq!(
        (&turn["state"], &turn["reason"]),
        (&json!("interrupted"), &json!("not_passed_on")),
        "{turn}"
    );
    let Activating(mut chip) = chip;
    assert_eq!(password(&chip, CFG0), before);
    let turn = lay(&service, &mut chip, &open).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    assert_eq!(password(&chip, CFG0), none());
}

#[tokio::test]
async fn a_password_of_somebody_else_is_named_and_a_chip_that_counts_is_not_asked() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    // The root exists from here on.
    let mut own = new(Type2Chip::Ntag213, 1);
    let turn = lay(&service, &mut own, &wish(1, &tag, "ntag213", true)).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    for (number, access, asked) in [(2, 0x00, true), (3, 0x01, false)] {
        let tag = service.tag(json!({"name": "Foreign"})).await;
        let mut foreign = new(Type2Chip::Ntag213, number)
            .with_page(CFG0 + 1, [access, 0x05, 0x00, 0x00])
            .with_page(CFG0 + 2, [1, 2, 3, 4])
            .password_from(2);
        for write_password in [false, true] {
            let wish = wish(number, &tag, "ntag213", write_password);
            let turn = lay(&service, &mut foreign, &wish).await;
            assert_eq!(turn["reason"], "read_only", "{turn}");
            assert_eq!(foreign.writes(), 0);
            let path = format!("/encodings/{}", turn["id"]);
            let whole = service.admin_get(&path).await;
            let mut exchanges = whole["exchanges"].as_array().unwrap().iter();
            let was = exchanges.any(|one| one["name"] == "Authenticate with the password");
            assert_eq!(was, asked, "{whole}");
        }
    }
    // It accepts the password and does not have its acknowledgement.
    let mut imitation = own.with_page(CFG0 + 3, [0xAB, 0xCD, 0, 0]);
    let turn = lay(&service, &mut imitation, &wish(1, &tag, "ntag213", true)).await;
    assert_eq!(turn["reason"], "not_genuine", "{turn}");
}

#[tokio::test]
async fn a_write_password_is_for_chips_without_keys_that_are_not_locked() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let mut both = wish(1, &tag, "ntag213", true);
    both["lock"] = true.into();
    for refused in [both, wish(1, &tag, "ntag424dna", true)] {
        let refused = service.admin(Method::POST, "/encodings", refused).await;
        assert_eq!(refused.expect(422)["errors"][0]["field"], "write_password");
    }
    let mut chip = VirtualNtag424::new(uid(2));
    let turn = lay(&service, &mut chip, &wish(2, &tag, "ntag424dna", false)).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    let plan = json!({"pattern": "Poster {n}", "technology": "ntag215", "write_password": true});
    let run = json!({"name": "Posters", "planned": 1, "plan": plan});
    let run = service.admin_create("/encoding-runs", run).await["id"].clone();
    let mut poster = new(Type2Chip::Ntag215, 3);
    let wish = json!({"uid": uid(3).to_string(), "run_id": run});
    let turn = lay(&service, &mut poster, &wish).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    assert_eq!(password(&poster, 0x83).0, 2);
}
