//! Chips with a write password that are torn away at every step of a change.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::keyring::Passphrase;
use tapdesk_tests::virtual_card::type2::{Type2Chip, VirtualType2};
use tapdesk_tests::virtual_card::{Tear, TornOut, VirtualCard};
use tapdesk_tests::{TestService, TestTag};

use super::{CFG0, lay, new, none, password, protected, torn_after_each, uid, wish};

/// Places a chip that is torn away once per step, and then again. `first` makes the chip.
async fn tear_everywhere(
    service: &TestService,
    tag: &TestTag,
    wish: &Value,
    first: &VirtualType2,
    secret: &[u8],
) -> usize {
    for at in 0.. {
        let mut ended = false;
        for tear in [
            Tear::before(at),
            Tear::after(at),
            Tear::within(at, 7),
            Tear::within(at, 8),
        ] {
            let mut held = TornOut::new(tear, first.clone());
            let turn = lay(service, &mut held, wish).await;
            ended = !held.is_torn();
            let mut chip = held.into_card();
            if !ended {
                assert_eq!(turn["state"], "interrupted", "{tear:?}: {turn}");
                // A password in force is always the one that this service derives.
                let (auth0, now, _) = password(&chip, CFG0);
                assert!(auth0 == 0xFF || now == secret, "{tear:?}: {auth0} {now:?}");
                chip.power_on();
                let seen = chip.read_url();
                let whole = seen.ends_with(&tag.path());
                // A page that was written in part has no message that a phone understands.
                assert!(seen.is_empty() || whole || seen == "?", "{tear:?}: {seen}");
                let turn = lay(service, &mut chip, wish).await;
                assert_eq!(turn["state"], "verified", "{tear:?}: {turn}");
            }
            let (auth0, now, _) = password(&chip, CFG0);
            if wish["write_password"] == true {
                assert_eq!((auth0, &now[..]), (2, secret), "{tear:?}");
            } else {
                assert_eq!(password(&chip, CFG0), none(), "{tear:?}");
            }
        }
        if ended {
            return at;
        }
    }
    unreachable!("a chip answers a limited number of commands")
}

#[tokio::test]
async fn torn_at_any_step_a_chip_never_needs_a_password_that_is_not_known() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let (protected, open) = (
        wish(1, &tag, "ntag213", true),
        wish(1, &tag, "ntag213", false),
    );
    let blank = new(Type2Chip::Ntag213, 1);
    let mut whole = blank.clone();
    let turn = lay(&service, &mut whole, &protected).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    let (_, secret, _) = password(&whole, CFG0);
    let set = tear_everywhere(&service, &tag, &protected, &blank, &secret).await;
    assert!(set > 30, "only {set} commands");
    let removed = tear_everywhere(&service, &tag, &open, &whole, &secret).await;
    assert!(removed > 20, "only {removed} commands");
}

#[tokio::test]
async fn a_wipe_that_was_torn_and_ends_leaves_the_password_of_the_factory() {
    let service = TestService::start().await;
    let (_, whole) = protected(&service).await;
    let wipe = json!({"uid": uid(1).to_string(), "wipe": true, "technology": "ntag213"});
    let tears = torn_after_each(
        &service,
        &whole,
        &wipe,
        async |at, turn, mut chip, is_torn| {
            if is_torn {
                assert_eq!(turn["state"], "interrupted", "{at}: {turn}");
                let turn = lay(&service, &mut chip, &wipe).await;
                assert_eq!(turn["state"], "reset", "{at}: {turn}");
            } else {
                assert_eq!(turn["state"], "reset", "{turn}");
            }
            assert_eq!(password(&chip, CFG0), none(), "{at}");
        },
    );
    let commands = tears.await;
    assert!(commands > 20, "only {commands} commands");
}

/// A reader that says of one write that it is done, and does not do it.
struct Claimed<C> {
    card: C,
    /// The page whose first write is lost.
    page: u8,
    lost: bool,
}

impl<C: VirtualCard> VirtualCard for Claimed<C> {
    fn atr(&self) -> Vec<u8> {
        self.card.atr()
    }

    fn power_on(&mut self) {
        self.card.power_on();
    }

    fn transmit(&mut self, command: &[u8]) -> Option<Vec<u8>> {
        if !self.lost && command.starts_with(&[0xFF, 0xD6, 0x00, self.page]) {
            self.lost = true;
            return Some(vec![0x90, 0x00]);
        }
        self.card.transmit(command)
    }
}

#[tokio::test]
async fn a_password_that_is_still_in_force_is_never_replaced_by_another() {
    let service = TestService::start().await;
    let (tag, chip) = protected(&service).await;
    let (_, secret, _) = password(&chip, CFG0);
    let mut claimed = Claimed {
        card: chip,
        page: u8::try_from(CFG0).unwrap(),
        lost: false,
    };
    let open = wish(1, &tag, "ntag213", false);
    // The chip is cut off after each of its commands, so each state of it is looked at.
    for at in 0.. {
        let mut held = TornOut::new(
            Tear::before(at),
            Claimed {
                card: claimed.card.clone(),
                ..claimed
            },
        );
        lay(&service, &mut held, &open).await;
        let is_torn = held.is_torn();
        let (auth0, now, _) = password(&held.into_card().card, CFG0);
        assert!(auth0 == 0xFF || now == secret, "{at}: {auth0} {now:?}");
        if !is_torn {
            break;
        }
    }
    let turn = lay(&service, &mut claimed, &open).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    assert_eq!(password(&claimed.card, CFG0), none());
}

#[tokio::test]
async fn a_password_stays_unless_its_removal_is_asked_for_also_on_a_torn_chip() {
    let service = TestService::start().await;
    let (tag, whole) = protected(&service).await;
    let (_, secret, _) = password(&whole, CFG0);
    // Another message has to be written, so the password is out of force for a while.
    let mirror = json!({
        "name": "Mirror", "technology": "ntag213", "template": "https://m.example/m/{slug}?m={uid}",
    });
    let mirror = service.admin_create("/url-templates", mirror).await["id"].clone();
    let wish = json!({"uid": uid(1).to_string(), "tag_id": tag.id, "url_template_id": mirror});
    let tears = torn_after_each(
        &service,
        &whole,
        &wish,
        async |at, turn, mut chip, is_torn| {
            if is_torn {
                assert_eq!(turn["state"], "interrupted", "{at}: {turn}");
                chip.power_on();
                let turn = lay(&service, &mut chip, &wish).await;
                assert_eq!(turn["state"], "verified", "{at}: {turn}");
            }
            let (auth0, now, _) = password(&chip, CFG0);
            assert_eq!((auth0, now), (2, secret.clone()), "{at}");
        },
    );
    let commands = tears.await;
    assert!(commands > 30, "only {commands} commands");
    // A chip that never had one gets none.
    let other = service.tag(json!({"name": "Other"})).await;
    let mut open = new(Type2Chip::Ntag213, 2);
    let wish = json!({"uid": uid(2).to_string(), "tag_id": other.id, "technology": "ntag213"});
    assert_eq!(lay(&service, &mut open, &wish).await["state"], "verified");
    assert_eq!(password(&open, CFG0), none());
}

/// Nobody asked for its removal: it was only out of force when the chip was torn away.
#[tokio::test]
async fn a_chip_that_was_torn_and_given_up_keeps_its_password_for_another_tag() {
    let service = TestService::start().await;
    let (_, whole) = protected(&service).await;
    let (_, secret, _) = password(&whole, CFG0);
    let torn = service.redirecting_tag(Value::Null).await;
    let wish = |tag: &TestTag, replace: bool| {
        json!({
            "uid": uid(1).to_string(), "tag_id": tag.id, "technology": "ntag213", "replace": replace,
        })
    };
    let first = wish(&torn, true);
    let tears = torn_after_each(
        &service,
        &whole,
        &first,
        async |at, step, mut chip, is_torn| {
            if is_torn {
                let given_up = format!("/encodings/{}", step["id"]);
                let given_up = service.admin(Method::DELETE, &given_up, Value::Null).await;
                given_up.expect(204);
                let other = service.redirecting_tag(Value::Null).await;
                // A request that is refused in between changes nothing.
                let refused = lay(&service, &mut chip, &wish(&other, false)).await;
                assert_eq!(refused["reason"], "already_encoded", "{at}: {refused}");
                let step = lay(&service, &mut chip, &wish(&other, true)).await;
                assert_eq!(step["state"], "verified", "{at}: {step}");
            }
            let (auth0, now, _) = password(&chip, CFG0);
            assert_eq!((auth0, now), (2, secret.clone()), "{at}");
        },
    );
    let commands = tears.await;
    assert!(commands > 30, "only {commands} commands");
}

/// A change of chip number 1 for another tag.
async fn for_another_tag(service: &TestService) -> Value {
    let other = service.redirecting_tag(Value::Null).await;
    json!({"uid": uid(1).to_string(), "tag_id": other.id, "technology": "ntag213", "replace": true})
}

/// A change of chip number 1 for another tag, and the chip, torn out while its password was out of
/// force.
async fn torn_out_of_force(service: &TestService, whole: &VirtualType2) -> (Value, VirtualType2) {
    let wish = for_another_tag(service).await;
    for at in 0.. {
        let mut held = TornOut::new(Tear::after(at), whole.clone());
        let turn = lay(service, &mut held, &wish).await;
        assert!(held.is_torn(), "{turn}");
        let chip = held.into_card();
        if password(&chip, CFG0).0 == 0xFF {
            return (wish, chip);
        }
    }
    unreachable!("a chip answers a limited number of commands")
}

#[tokio::test]
async fn a_chip_that_was_torn_before_a_new_root_gets_a_password_of_it() {
    let service = TestService::start().await;
    let (_, whole) = protected(&service).await;
    let (_, former, _) = password(&whole, CFG0);
    let (wish, mut chip) = torn_out_of_force(&service, &whole).await;
    service.admin_create("/encoding-root", json!({})).await;
    let turn = lay(&service, &mut chip, &wish).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    let (auth0, secret, _) = password(&chip, CFG0);
    assert_eq!(auth0, 2);
    assert!(secret != former && secret != none().1, "{secret:?}");
}

/// A service with a restored backup of this one.
async fn restored(service: &TestService) -> TestService {
    const PASSPHRASE: &str = "correct horse battery";
    let file = service.backed_up(PASSPHRASE).await;
    TestService::restored(&file, &Passphrase::parse(PASSPHRASE).unwrap()).await
}

#[tokio::test]
async fn a_chip_that_was_torn_before_a_backup_has_its_password_after_the_restore() {
    let service = TestService::on_sqlite().await;
    let (_, whole) = protected(&service).await;
    let (wish, mut chip) = torn_out_of_force(&service, &whole).await;
    let elsewhere = restored(&service).await;
    let turn = lay(&elsewhere, &mut chip, &wish).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    let (auth0, secret, _) = password(&chip, CFG0);
    assert_eq!(auth0, 2);
    assert_ne!(secret, none().1);
}

/// All roots of a restored database only open chips, and the chip needs a password of a new one.
#[tokio::test]
async fn a_chip_that_is_written_again_after_a_restore_keeps_a_password() {
    let service = TestService::on_sqlite().await;
    let (_, mut chip) = protected(&service).await;
    let (_, former, _) = password(&chip, CFG0);
    let wish = for_another_tag(&service).await;
    let elsewhere = restored(&service).await;
    let turn = lay(&elsewhere, &mut chip, &wish).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    let (auth0, secret, _) = password(&chip, CFG0);
    assert_eq!(auth0, 2);
    assert!(secret != former && secret != none().1, "{secret:?}");
}
