//! Factory orders: the files for a bureau, and goods-in.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::key::AesKey;
use tapdesk_service::keyring::{Passphrase, SealedKeys};
use tapdesk_tests::relay::bytes;
use tapdesk_tests::virtual_card::ntag424::{FileSettings, VirtualNtag424};
use tapdesk_tests::virtual_card::{Tear, TornOut};
use tapdesk_tests::{Answer, Answering as _, Client, TestService, files_containing};

use super::bench::uid;
use super::http::{hex, lay};
use super::templates::{in_use, not_in_use, template};

const PASSPHRASE: &str = "correct horse battery";

/// The tables of an order: rows by column name.
pub(super) struct Sent {
    id: Value,
    pub(super) rows: Vec<Value>,
    keys: Vec<[AesKey; 5]>,
}

fn table(text: &str) -> Vec<Value> {
    let mut lines = text.lines();
    let names: Vec<_> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        let cells = names.iter().zip(line.split(','));
        let cells = cells.map(|(name, cell)| ((*name).to_owned(), json!(cell)));
        Value::Object(cells.collect())
    };
    lines.map(row).collect()
}

pub(super) fn text<'a>(row: &'a Value, column: &str) -> &'a str {
    row[column].as_str().unwrap()
}

/// Orders chips for new tags, and returns the files for the bureau.
pub(super) async fn order(service: &TestService, count: usize, plan: Value) -> Sent {
    let mut tags = Vec::new();
    for number in 1..=count {
        let tag = service
            .tag(json!({"name": format!("Bottle {number}")}))
            .await;
        tags.push(tag.id);
    }
    let order = json!({"name": "Autumn", "tag_ids": tags, "plan": plan});
    let made = service.admin_create("/factory-orders", order).await;
    assert_eq!(made["position_count"], count);
    let id = made["id"].clone();
    let path = format!("/factory-orders/{id}/export");
    let csv = service.admin(Method::GET, &path, Value::Null).await.body;
    let keys = table(&open(service, &id).await);
    let keys = keys.iter().map(|row| {
        assert_eq!(text(row, "key_version"), "1");
        std::array::from_fn(|slot| {
            let key = bytes(text(row, &format!("key_{slot}")));
            AesKey::from_bytes(key.try_into().unwrap())
        })
    });
    Sent {
        id,
        rows: table(&csv),
        keys: keys.collect(),
    }
}

/// Decrypts the sealed keys, as the bureau does.
async fn open(service: &TestService, id: &Value) -> String {
    let sealed = service
        .admin(
            Method::POST,
            &format!("/factory-orders/{id}/keys"),
            json!({"passphrase": PASSPHRASE}),
        )
        .await;
    assert_eq!(sealed.status, 200, "{}", sealed.body);
    let sealed: SealedKeys = serde_json::from_str(&sealed.body).unwrap();
    let opened = sealed.open(&Passphrase::parse(PASSPHRASE).unwrap());
    opened.unwrap().as_str().to_owned()
}

impl Sent {
    /// A chip as the bureau writes it, with this key version.
    pub(super) fn chip(&self, position: usize, number: u32, version: u8) -> VirtualNtag424 {
        let row = &self.rows[position - 1];
        let mut chip = VirtualNtag424::new(uid(number));
        let file = bytes(text(row, "ndef_hex"));
        chip.set_message(&file[2..]);
        let settings = bytes(text(row, "change_file_settings_hex"));
        chip.set_ndef_settings(FileSettings::parse(&settings).unwrap());
        for (slot, key) in (0..).zip(&self.keys[position - 1]) {
            chip.set_key(slot, key.clone(), version);
        }
        chip
    }

    /// Sends the bureau's report.
    pub(super) async fn report(&self, service: &TestService, query: &str, csv: &str) -> Answer {
        let path = format!("/factory-orders/{}/import{query}", self.id);
        let request = service.admin_request(Method::POST, &path);
        let request = request.header("content-type", "text/csv");
        request.body(csv.to_owned()).answer().await
    }

    pub(super) fn goods_in(&self, number: u32) -> Value {
        json!({"uid": uid(number).to_string(), "factory_order_id": self.id})
    }

    pub(super) async fn states(&self, client: &TestService) -> Vec<String> {
        let path = format!("/factory-orders/{}", self.id);
        let whole = client.admin_get(&path).await;
        let positions = whole["positions"].as_array().unwrap().iter();
        positions
            .map(|position| text(position, "state").to_owned())
            .collect()
    }
}

pub(super) async fn verdict(client: &Client, chip: &mut VirtualNtag424) -> Value {
    let asked = json!({"url": chip.read_url()});
    let verdict = client.admin(Method::POST, "/verification", asked).await;
    verdict.expect(200)["tag_verified"].clone()
}

#[tokio::test]
async fn what_a_bureau_encodes_verifies_and_gets_keys_of_this_service_at_goods_in() {
    let service = TestService::start().await;
    let sent = order(&service, 3, json!({})).await;
    // The bureau forgot the version of the third chip, and wrote another one on the second.
    let mut chips = [sent.chip(1, 1, 1), sent.chip(2, 2, 7), sent.chip(3, 3, 0)];
    let mut report = "position,uid,status,url\n".to_owned();
    for (position, chip) in (1..).zip(&mut chips) {
        // The second chip is a sample.
        let url = if position == 2 {
            chip.read_url()
        } else {
            String::new()
        };
        let row = format!("{position},{},ok,{url}\n", chip.uid());
        report.push_str(&row);
    }
    let looked = sent
        .report(&service, "?dry_run=true", &report)
        .await
        .expect(200);
    assert_eq!(
        (&looked["bound"], &looked["proved"]),
        (&json!(3), &json!(1)),
        "{looked}"
    );
    assert_eq!(service.admin_get("/inlays?count=true").await["count"], 0);
    let taken = sent.report(&service, "", &report).await.expect(200);
    assert_eq!(
        (&taken["bound"], &taken["missing"]),
        (&json!(3), &json!([])),
        "{taken}"
    );
    assert_eq!(sent.states(&service).await, ["bureau_keys"; 3]);
    let again = sent.report(&service, "", &report).await.expect(200);
    assert_eq!(
        (&again["bound"], &again["unchanged"]),
        (&json!(0), &json!(3))
    );

    for (number, chip) in (1..).zip(&mut chips) {
        let path = format!("/inlays?uid={}", uid(number));
        let inlay = service.admin_get(&path).await["items"][0].clone();
        assert_eq!(inlay["bureau_keys"], true);
        assert_eq!(verdict(&service, chip).await, true, "{number}");
        let turn = lay(&service, chip, &sent.goods_in(number)).await;
        assert_eq!(turn["state"], "verified", "{number}: {turn}");
        assert_eq!(turn["result"]["tag_id"], inlay["tag_id"]);
        let rekeyed = service.admin_get(&path).await["items"][0].clone();
        assert_eq!(rekeyed["bureau_keys"], false);
        assert_eq!(rekeyed["id"], inlay["id"]);
        let position = usize::try_from(number).unwrap() - 1;
        for slot in 0..5 {
            assert_ne!(*chip.key(slot), sent.keys[position][usize::from(slot)]);
            assert_eq!(chip.key_version(slot), 2);
        }
        assert_eq!(verdict(&service, chip).await, true);
        assert!(chip.tally().refusals <= 1, "{number}: {:?}", chip.tally());
        // Placed once more, it is finished.
        let turn = lay(&service, chip, &sent.goods_in(number)).await;
        assert_eq!(turn["state"], "verified", "{turn}");
    }
    assert_eq!(sent.states(&service).await, ["rekeyed"; 3]);
}

#[tokio::test]
async fn the_order_of_a_chip_is_found_by_its_uid_once_the_bureau_reported_it() {
    let service = TestService::start().await;
    let [first, second] = [
        order(&service, 2, json!({})).await,
        order(&service, 1, json!({})).await,
    ];
    let found = async |number: u32| {
        let path = format!("/factory-orders?count=true&uid={}", uid(number));
        let page = service.admin_get(&path).await;
        let items = page["items"].as_array().unwrap();
        assert_eq!(page["count"], items.len());
        items
            .iter()
            .map(|order| order["id"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(found(1).await, Vec::<Value>::new());
    for (sent, number) in [(&first, 1), (&second, 2)] {
        let report = format!("position,uid\n1,{}\n", uid(number));
        sent.report(&service, "", &report).await.expect(200);
    }
    assert_eq!(found(1).await, std::slice::from_ref(&first.id));
    assert_eq!(found(2).await, std::slice::from_ref(&second.id));
    assert_eq!(found(3).await, Vec::<Value>::new());
    let all = service.admin_get("/factory-orders?count=true").await;
    assert_eq!(all["count"], 2);
    let refused = service.admin(Method::GET, "/factory-orders?uid=04", Value::Null);
    refused.await.expect(422);
}

#[tokio::test]
async fn a_chip_that_is_torn_away_at_goods_in_is_finished_when_it_is_laid_down_again() {
    let service = TestService::start().await;
    let count = 16;
    let sent = order(
        &service,
        count,
        json!({"mirror": "plain", "mac_from": "uid"}),
    )
    .await;
    let rows = sent.rows.iter().zip(1..);
    let rows: Vec<_> = rows
        .map(|(row, number)| format!("{};{}\n", text(row, "slug"), uid(number)))
        .collect();
    let report = format!("slug;uid\n{}", rows.concat());
    let taken = sent.report(&service, "", &report).await.expect(200);
    assert_eq!(taken["bound"], count, "{taken}");
    for (position, number) in (1..=count).zip(1..) {
        // Each chip is removed at another command; the later ones while keys are changed.
        let at = 8 + 2 * position;
        let chip = sent.chip(position, number, 1);
        let mut torn = TornOut::new(Tear::after(at), chip);
        lay(&service, &mut torn, &sent.goods_in(number)).await;
        let mut chip = torn.into_card();
        let reported = lay(&service, &mut chip, &sent.goods_in(number)).await;
        assert_eq!(reported["state"], "verified", "{position}: {reported}");
        assert!(chip.tally().refusals <= 2, "{position}: {:?}", chip.tally());
        assert_eq!(verdict(&service, &mut chip).await, true);
    }
}

#[tokio::test]
async fn a_chip_at_goods_in_that_is_not_the_bureaus_is_not_touched() {
    let service = TestService::start().await;
    let sent = order(&service, 2, json!({})).await;
    let report = format!("position,uid\n1,{}\n2,{}\n", uid(1), uid(2));
    sent.report(&service, "", &report).await.expect(200);
    // One with the factory key, like an imitation; and one with the keys of another position.
    let mut blank = VirtualNtag424::new(uid(1));
    let turn = lay(&service, &mut blank, &sent.goods_in(1)).await;
    assert_eq!(turn["reason"], "not_genuine", "{turn}");
    let mut swapped = sent.chip(1, 2, 1);
    let turn = lay(&service, &mut swapped, &sent.goods_in(2)).await;
    assert_eq!(turn["reason"], "foreign_key", "{turn}");
    for chip in [&blank, &swapped] {
        assert_eq!(chip.tally().writes, 0);
        assert!(chip.tally().refusals <= 2);
    }
    // It cannot become an inlay of another tag.
    let other = service.tag(json!({"name": "Other"})).await;
    let wish = json!({"uid": uid(1).to_string(), "tag_id": other.id});
    let mut chip = sent.chip(1, 1, 1);
    let turn = lay(&service, &mut chip, &wish).await;
    assert_eq!(turn["reason"], "already_encoded");
}

#[tokio::test]
async fn keys_leave_sealed_and_noted_and_only_for_who_may() {
    let service = TestService::start().await;
    let sent = order(&service, 2, json!({})).await;
    let again = table(&open(&service, &sent.id).await);
    assert_eq!(
        text(&again[1], "key_4").to_lowercase(),
        hex(sent.keys[1][4].expose())
    );
    // No two keys are the same.
    let mut all: Vec<_> = sent
        .keys
        .iter()
        .flatten()
        .map(|key| hex(key.expose()))
        .collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 10);
    let short = json!({"passphrase": "short"});
    let path = format!("/factory-orders/{}/keys", sent.id);
    assert_eq!(service.admin(Method::POST, &path, short).await.status, 422);
    let order = service
        .admin_get(&format!("/factory-orders/{}", sent.id))
        .await;
    assert!(order["exported_at"].is_string());
    let audit = service.admin_get("/audit?limit=20").await.to_string();
    assert!(
        audit.contains(&format!("factory-orders/{}", sent.id)),
        "{audit}"
    );
    let read_me = format!("/factory-orders/{}/instructions", sent.id);
    let read_me = service.admin(Method::GET, &read_me, Value::Null).await;
    assert!(read_me.body.contains("tapdesk factory keys v1"));
    let csv = format!("/factory-orders/{}/export", sent.id);
    let csv = service.admin(Method::GET, &csv, Value::Null).await.body;
    for key in sent.keys.iter().flatten() {
        let found = files_containing(service.folder(), key.expose());
        assert!(found.is_empty(), "{found:?}");
        for shown in [&csv, &audit, &read_me.body, &order.to_string()] {
            assert!(!shown.to_lowercase().contains(&hex(key.expose())));
        }
    }
    // A token that can encode takes chips in, and gets no keys.
    let token = json!({"name": "Desk", "scopes": ["read", "encode"]});
    let created = service.admin_create("/tokens", token).await;
    let desk = Client::new(service.base(), created["token"].as_str().unwrap());
    for path in [&path, &format!("/factory-orders/{}/export", sent.id)] {
        let method = if path.ends_with("keys") {
            Method::POST
        } else {
            Method::GET
        };
        let refused = desk
            .admin(method, path, json!({"passphrase": PASSPHRASE}))
            .await;
        assert_eq!(refused.expect(403)["code"], "scope");
    }
    let report = format!("position,uid\n1,{}\n", uid(1));
    sent.report(&service, "", &report).await.expect(200);
    let turn = lay(&desk, &mut sent.chip(1, 1, 1), &sent.goods_in(1)).await;
    assert_eq!(turn["state"], "verified", "{turn}");
}

#[tokio::test]
async fn an_order_is_of_chips_that_a_bureau_can_key() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let template = json!({"name": "LRP", "technology": "ntag424dna", "mode": "lrp", "template": "https://l.example/v/{slug}?p={picc}&m={mac}"});
    let lrp = service.admin_create("/url-templates", template).await["id"].clone();
    let mut chip = VirtualNtag424::new(uid(1));
    let wish = json!({"uid": uid(1).to_string(), "tag_id": tag.id});
    assert_eq!(lay(&service, &mut chip, &wish).await["state"], "verified");
    for order in [
        json!({"name": "A", "tag_ids": []}),
        json!({"name": "", "tag_ids": [tag.id]}),
        json!({"name": "A", "tag_ids": [tag.id], "plan": {"url_template_id": lrp}}),
        json!({"name": "A", "tag_ids": [999]}),
    ] {
        let refused = service
            .admin(Method::POST, "/factory-orders", order.clone())
            .await;
        assert!(
            matches!(refused.status, 409 | 422),
            "{order}: {}",
            refused.body
        );
    }
    // A tag that already has an inlay is left out.
    let free = service.tag(json!({"name": "Free"})).await;
    let order = json!({"name": "A", "tag_ids": [tag.id, free.id, free.id]});
    let made = service.admin_create("/factory-orders", order).await;
    assert_eq!(made["position_count"], 1);
    let listed = service.admin_get("/factory-orders?count=true").await;
    assert_eq!(
        (&listed["count"], &listed["items"][0]["id"]),
        (&json!(1), &made["id"])
    );
}

#[tokio::test]
async fn a_template_stays_while_chips_of_an_order_are_out() {
    let service = TestService::start().await;
    let id = template(&service).await;
    let plan = json!({"url_template_id": id});
    let sent = order(&service, 2, plan.clone()).await;
    let why = in_use(&service, id).await;
    assert!(why.contains("Autumn") && why.contains("2 of its"), "{why}");
    // An order whose chips will not arrive is deleted with its keys.
    let path = format!("/factory-orders/{}", sent.id);
    let deleted = service.admin(Method::DELETE, &path, Value::Null).await;
    assert_eq!(deleted.status, 204, "{}", deleted.body);
    for method in [Method::GET, Method::DELETE] {
        let gone = service.admin(method, &path, Value::Null).await;
        assert_eq!(gone.status, 404);
    }
    not_in_use(&service, id).await;

    let sent = order(&service, 2, plan).await;
    let report = format!("position,uid\n1,{}\n", uid(1));
    sent.report(&service, "", &report).await.expect(200);
    let path = format!("/factory-orders/{}", sent.id);
    let refused = service.admin(Method::DELETE, &path, Value::Null).await;
    assert_eq!(refused.expect(409)["code"], "in_use");
    let inlays = service.admin_get("/inlays").await;
    let inlay = format!("/inlays/{}", inlays["items"][0]["id"]);
    let gone = service.admin(Method::DELETE, &inlay, Value::Null).await;
    assert_eq!(gone.status, 204, "{}", gone.body);
    let why = in_use(&service, id).await;
    assert!(why.contains("1 of its"), "{why}");
    // Without its tag, a chip that is still out cannot be taken in.
    let order = service.admin_get(&path).await;
    let tag = format!("/tags/{}", order["positions"][1]["tag_id"]);
    let gone = service.admin(Method::DELETE, &tag, Value::Null).await;
    assert_eq!(gone.status, 204, "{}", gone.body);
    not_in_use(&service, id).await;
}
