//! A URL template cannot change while chips are written by it.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::encoding::{EncodingOutcome, Exchange, Goal, State};
use tapdesk_service::id::{EncodingId, TagId, UrlTemplateId};
use tapdesk_service::inlay::check::Read;
use tapdesk_service::inlay::key::{AesKey, InlayKeys, Keys};
use tapdesk_service::inlay::technology::Mode;
use tapdesk_service::inlay::template::{Template, TemplateSettings};
use tapdesk_service::inlay::{MacFrom, Technology};
use tapdesk_service::inventory::{InlayFields, NewInlay};
use tapdesk_service::storage::{Conflict, EncodingTurn, Ending, StorageError, StoredEncoding};
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::virtual_card::{Tear, TornOut};
use tapdesk_tests::{Answering as _, TestService};

use super::bench::uid;
use super::http::lay;

const CASKS: &str = "https://casks.example/a/{slug}?p={picc}&c={mac}";
/// The same at another place.
const MOVED: &str = "https://casks.example/c/{slug}?p={picc}&c={mac}";

pub(super) async fn template(service: &TestService) -> i64 {
    let settings = TemplateSettings::new(CASKS, Technology::Ntag424Dna);
    let mut body = serde_json::to_value(settings).unwrap();
    body["name"] = "Casks".into();
    let created = service.admin_create("/url-templates", body).await;
    created["id"].as_i64().unwrap()
}

/// The message that refuses editing and deleting a template.
pub(super) async fn in_use(service: &TestService, id: i64) -> String {
    let path = format!("/url-templates/{id}");
    let moved = json!({"template": MOVED});
    let edited = service.admin(Method::PATCH, &path, moved).await.expect(409);
    let deleted = service.admin(Method::DELETE, &path, Value::Null).await;
    assert_eq!(edited["code"], "in_use", "{edited}");
    assert_eq!(deleted.expect(409)["detail"], edited["detail"]);
    // Its name has no effect on chips.
    let named = service.admin_patch(&path, json!({"name": "Casks 2"})).await;
    assert_eq!(named["template"], CASKS);
    edited["detail"].as_str().unwrap().to_owned()
}

/// The template is edited, and edited back.
pub(super) async fn not_in_use(service: &TestService, id: i64) {
    let path = format!("/url-templates/{id}");
    for text in [MOVED, CASKS] {
        let edited = service.admin_patch(&path, json!({"template": text})).await;
        assert_eq!(edited["template"], text);
    }
}

fn wish(tag: i64, template: i64) -> Value {
    json!({"uid": uid(1).to_string(), "tag_id": tag, "url_template_id": template})
}

#[tokio::test]
async fn a_template_stays_while_a_chip_is_half_way_with_it() {
    let service = TestService::start().await;
    let (id, tag) = (
        template(&service).await,
        service.tag(json!({"name": "Cask"})).await.id,
    );
    let begun = service.admin_create("/encodings", wish(tag, id)).await;
    let why = in_use(&service, id).await;
    assert!(
        why.contains(&uid(1).to_string()) && why.contains("cancel the encoding"),
        "{why}"
    );
    let path = format!("/encodings/{}", begun["id"]);
    let given_up = service.admin(Method::DELETE, &path, Value::Null).await;
    assert_eq!(given_up.status, 204, "{}", given_up.body);
    not_in_use(&service, id).await;

    // Removed while it is written, and finished.
    let mut moved = TornOut::new(Tear::after(20), VirtualNtag424::new(uid(1)));
    lay(&service, &mut moved, &wish(tag, id)).await;
    let why = in_use(&service, id).await;
    assert!(why.contains("partly encoded"), "{why}");
    let mut chip = moved.into_card();
    let turn = lay(&service, &mut chip, &wish(tag, id)).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    let why = in_use(&service, id).await;
    assert!(why.contains("One inlay uses"), "{why}");
}

#[tokio::test]
async fn a_template_stays_while_an_open_run_writes_it() {
    let service = TestService::start().await;
    let id = template(&service).await;
    let run = json!({"name": "Roll", "plan": {"pattern": "Cask {n}", "url_template_id": id}});
    let run = service.admin_create("/encoding-runs", run).await;
    let why = in_use(&service, id).await;
    assert!(why.contains("Roll") && why.contains("Close"), "{why}");
    let path = format!("/encoding-runs/{}", run["id"]);
    service.admin_patch(&path, json!({"closed": true})).await;
    not_in_use(&service, id).await;
}

/// So its QR code can be printed, whatever URL its inlay writes.
#[tokio::test]
async fn a_tag_of_a_run_with_a_template_answers_at_its_tag_url() {
    let service = TestService::start().await;
    let id = template(&service).await;
    let tag = service.redirecting_tag(Value::Null).await;
    let run = json!({"name": "Roll", "tag_ids": [tag.id], "plan": {"url_template_id": id}});
    let run = service.admin_create("/encoding-runs", run).await["id"].clone();
    let mut chip = VirtualNtag424::new(uid(1));
    let of_run = json!({"uid": uid(1).to_string(), "run_id": run});
    let turn = lay(&service, &mut chip, &of_run).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    assert!(!chip.read_url().contains(&tag.path()));
    let whole = service.admin_get(&format!("/encoding-runs/{run}")).await;
    assert_eq!(whole["rows"][0]["slug"], tag.slug);
    let named = service.admin_get(&format!("/tags/{}", tag.id)).await;
    assert_eq!(whole["rows"][0]["name"], named["name"]);
    assert_eq!(service.tap(&tag.path()).await.status, 302);
}

/// Begins an encoding, and returns it as stored.
async fn stored(service: &TestService, wish: Value) -> (StoredEncoding, EncodingTurn) {
    let begun = service.admin_create("/encodings", wish).await;
    let storage = &service.service().storage;
    let id = EncodingId::new(begun["id"].as_i64().unwrap());
    let encoding = storage.encoding(id).await.unwrap().unwrap();
    let state = storage.chip_state(uid(1)).await.unwrap();
    let turn = EncodingTurn {
        expected: Some((id, encoding.seq)),
        encoding: encoding.clone(),
        journal: state.journal.unwrap(),
        exchanges: Vec::new(),
        ending: Ending::None,
        replaces: false,
        place: None,
    };
    (encoding, turn)
}

/// Encodings that began before this rule, or at the moment of the edit.
#[tokio::test]
async fn a_chip_that_was_written_by_another_text_of_its_template_is_not_bound() {
    let service = TestService::start().await;
    let (id, tag) = (
        template(&service).await,
        service.tag(json!({"name": "Cask"})).await.id,
    );
    let (encoding, mut turn) = stored(&service, wish(tag, id)).await;
    let fields = InlayFields {
        technology: Technology::Ntag424Dna,
        mode: Mode::Aes,
        url_template_id: Some(UrlTemplateId::new(id)),
        tag_id: Some(TagId::new(tag)),
        mirror: None,
        mac_from: MacFrom::None,
        keys: None,
        other_keys: None,
        blocked_at: None,
    };
    turn.ending = Ending::Bound(Box::new(NewInlay {
        uid: uid(1),
        fields,
        simulated: false,
        last_counter: 1,
    }));
    let mut form = encoding.form.unwrap();
    form.template.template = MOVED.to_owned();
    turn.encoding.form = Some(form);
    turn.encoding.state = State::Verified(EncodingOutcome {
        inlay_id: None,
        counter: 1,
        technology: None,
        mode: None,
        address: None,
    });
    turn.encoding.seq += 1;
    let refused = service.service().storage.store_turn(turn).await;
    let Err(StorageError::Conflict(why)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(why, Conflict::TemplateChanged);
    assert_eq!(service.admin_get("/inlays?count=true").await["count"], 0);
}

#[tokio::test]
async fn of_the_commands_of_an_encoding_the_newest_are_kept() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Cask"})).await.id;
    let wish = json!({"uid": uid(1).to_string(), "tag_id": tag});
    let (encoding, mut turn) = stored(&service, wish).await;
    let exchange = |number: u32| Exchange {
        name: format!("Command {number}"),
        status: Some(0x9100),
    };
    for part in [1..=700, 701..=1_400] {
        turn.expected = Some((encoding.id.unwrap(), turn.encoding.seq));
        turn.encoding.seq += 1;
        turn.exchanges = part.map(exchange).collect();
        let storage = &service.service().storage;
        assert!(storage.store_turn(turn.clone()).await.unwrap().is_some());
    }
    let path = format!("/encodings/{}", encoding.id.unwrap());
    let kept = service.admin_get(&path).await["exchanges"].clone();
    let kept = kept.as_array().unwrap();
    assert_eq!(kept.len(), 1_000);
    assert_eq!(kept[0]["name"], "Command 401");
    assert_eq!(kept[999]["name"], "Command 1400");
}

/// Only a place in a run creates a tag. Without one, the row would mean a wipe.
#[tokio::test]
async fn the_goal_of_a_new_tag_is_not_stored_without_its_place_in_a_run() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Cask"})).await.id;
    let wish = json!({"uid": uid(1).to_string(), "tag_id": tag});
    let (encoding, mut turn) = stored(&service, wish).await;
    turn.encoding.goal = Goal::NewTag;
    turn.encoding.seq += 1;
    let storage = &service.service().storage;
    let refused = storage.store_turn(turn).await;
    assert!(
        matches!(refused, Err(StorageError::Failed(_))),
        "{refused:?}"
    );
    let kept = storage.encoding(encoding.id.unwrap()).await;
    let kept = kept.unwrap().unwrap();
    assert_eq!(kept.goal, Goal::Tag(TagId::new(tag)));
    assert_eq!(kept.seq, encoding.seq);
}

/// An encoded chip has file keys of its own, also if its template has a shared one: whoever learns
/// the shared key cannot imitate it.
#[tokio::test]
async fn a_chip_that_is_encoded_for_a_template_with_a_shared_file_key_has_its_own() {
    const TEXT: &str = "https://casks.example/u?uid={uid}&ctr={counter}&cmac={mac}";
    let service = TestService::start().await;
    let settings = TemplateSettings::new(TEXT, Technology::Ntag424Dna);
    let shared = AesKey::from_bytes([0x22; 16]);
    for (number, unlisted) in [(1, "refuse"), (2, "create")] {
        let mut body = serde_json::to_value(&settings).unwrap();
        body["name"] = "Casks".into();
        body["shared_file_key"] = "22".repeat(16).into();
        body["unlisted"] = unlisted.into();
        body["template"] = TEXT.replace("/u", &format!("/{unlisted}")).into();
        let id = service.admin_create("/url-templates", body.clone()).await["id"].clone();
        let tag = service.redirecting_tag(Value::Null).await;
        let wish = json!({"uid": uid(number).to_string(), "tag_id": tag.id, "url_template_id": id});
        let mut chip = VirtualNtag424::new(uid(number));
        let turn = lay(&service, &mut chip, &wish).await;
        assert_eq!(turn["state"], "verified", "{turn}");
        let open = async |url: &str| {
            let path = url.split_once("casks.example").unwrap().1.to_owned();
            let asked = service.get(&path).header("host", "casks.example");
            asked.answer().await.status
        };
        assert_eq!(open(&chip.read_url()).await, 302);
        let newest = service.admin_get("/interactions?limit=1").await["items"][0].clone();
        assert_eq!(newest["tag_verified"], true, "{newest}");
        assert_eq!(newest["tag_id"], tag.id, "{newest}");

        // A code of its UID that the shared key made.
        let settings: TemplateSettings =
            TemplateSettings::new(body["template"].as_str().unwrap(), Technology::Ntag424Dna);
        let template = Template::new(settings).unwrap();
        let keys = InlayKeys::Aes(Keys {
            meta: None,
            file: shared.clone(),
        });
        let read = Read {
            uid: uid(number),
            counter: 500,
            keys: &keys,
            picc: None,
            tamper: "",
            file_data: &[],
            random: [3; 24],
        };
        let forged = template.url(None, &template.make_code(None, &read).unwrap());
        assert_eq!(open(&forged).await, 404);
        let last = service.admin_get("/interactions?limit=1").await["items"][0]["id"].clone();
        assert_eq!(last, newest["id"]);
        assert_eq!(
            service.admin_get("/unlisted-chips?count=true").await["count"],
            0
        );
        assert_eq!(
            open(&chip.read_url()).await,
            302,
            "the chip's own codes still verify"
        );
    }
}
