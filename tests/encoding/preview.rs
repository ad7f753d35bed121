//! The dry run predicts the steps of an encoding, and changes nothing.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::relay::bytes;
use tapdesk_tests::virtual_card::VirtualCard;
use tapdesk_tests::virtual_card::ntag424::{FileSettings, VirtualNtag424};
use tapdesk_tests::virtual_card::type2::{PassesOn, Type2Chip, VirtualType2};
use tapdesk_tests::{Client, TestService};

use super::bench::uid;
use super::http::{hex, lay};

async fn preview(client: &Client, question: Value) -> Value {
    let answer = client
        .admin(Method::POST, "/encodings/preview", question)
        .await;
    answer.expect(200)
}

/// The names of all commands of a preview, in their order.
fn foreseen(preview: &Value) -> Vec<String> {
    let steps = preview["steps"].as_array().unwrap().iter();
    let commands = steps.flat_map(|step| step["commands"].as_array().unwrap());
    commands
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

/// The names of the commands that an encoding sent.
async fn sent(service: &TestService, turn: &Value) -> Vec<String> {
    let whole = service
        .admin_get(&format!("/encodings/{}", turn["id"]))
        .await;
    let exchanges = whole["exchanges"].as_array().unwrap().iter();
    exchanges
        .map(|exchange| exchange["name"].as_str().unwrap().to_owned())
        .collect()
}

async fn template(service: &TestService, name: &str, technology: &str, rest: Value) -> Value {
    let mut template = json!({"name": name, "technology": technology});
    for (member, value) in rest.as_object().unwrap() {
        template[member] = value.clone();
    }
    service.admin_create("/url-templates", template).await["id"].clone()
}

/// Previews, encodes, and compares the commands. Returns the preview.
async fn compare(
    service: &TestService,
    number: u32,
    chip: &mut dyn VirtualCard,
    tag: i64,
    how: Value,
) -> Value {
    let mut wish = json!({"uid": uid(number).to_string(), "tag_id": tag});
    for (member, value) in how.as_object().unwrap() {
        wish[member] = value.clone();
    }
    let preview = preview(service, wish.clone()).await;
    let turn = lay(service, chip, &wish).await;
    assert_eq!(turn["state"], "verified", "{how}: {turn}");
    assert_eq!(foreseen(&preview), sent(service, &turn).await, "{how}");
    preview
}

#[tokio::test]
async fn its_steps_are_the_commands_that_are_sent() {
    let service = TestService::start().await;
    let file_data = json!({"template": "https://e.example/v/{slug}?p={picc}&e={enc}&m={mac}", "mac_from": "enc", "enc_length": 32, "tamper_at": 0});
    let tamper = template(&service, "Tamper", "ntag424dna_tt", file_data).await;
    let lrp = json!({"template": "https://l.example/v/{slug}?p={picc}&m={mac}", "mode": "lrp"});
    let lrp = template(&service, "LRP", "ntag424dna", lrp).await;
    let mirror = json!({"template": "https://m.example/v/{slug}?m={uid}x{counter}"});
    let mirror = template(&service, "Mirror", "ntag213", mirror).await;
    let mut chips: Vec<(Value, Box<dyn VirtualCard>)> = Vec::new();
    for how in [
        json!({}),
        json!({"mirror": "plain", "mac_from": "uid"}),
        json!({"own_keys": true}),
        json!({"url_template_id": lrp, "lrp": true}),
    ] {
        let number = u32::try_from(chips.len()).unwrap() + 1;
        chips.push((how, Box::new(VirtualNtag424::new(uid(number)))));
    }
    chips.push((
        json!({"url_template_id": tamper}),
        Box::new(VirtualNtag424::tag_tamper(uid(5))),
    ));
    for (how, chip) in [
        (json!({"technology": "ntag213"}), Type2Chip::Ntag213),
        (
            json!({"technology": "ntag213", "lock": true}),
            Type2Chip::Ntag213,
        ),
        (
            json!({"technology": "ntag216", "lock": true}),
            Type2Chip::Ntag216,
        ),
        (json!({"url_template_id": mirror}), Type2Chip::Ntag213),
        (
            json!({"technology": "ntag215", "write_password": true}),
            Type2Chip::Ntag215,
        ),
    ] {
        let number = u32::try_from(chips.len()).unwrap() + 1;
        let chip = VirtualType2::factory(chip, uid(number).bytes());
        chips.push((how, Box::new(chip.on_reader(PassesOn::ByController))));
    }
    for (number, (how, mut chip)) in (1..).zip(chips) {
        let tag = service.tag(json!({"name": "Bottle"})).await;
        let first = compare(&service, number, &mut *chip, tag.id, how.clone()).await;
        assert_eq!(first["chip"], "new", "{first}");
        assert_eq!(
            (&first["slug"], &first["reason"]),
            (&json!(tag.slug), &Value::Null)
        );
        // Placed again, it is finished: a look, and a read.
        let again = compare(&service, number, &mut *chip, tag.id, how).await;
        assert_eq!(again["chip"], "finished", "{again}");
    }
}

#[tokio::test]
async fn a_finished_chip_that_gets_other_keys_is_foreseen_with_its_next_generation() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let mut chip = VirtualNtag424::new(uid(1));
    compare(&service, 1, &mut chip, tag.id, json!({})).await;
    let replaced = compare(&service, 1, &mut chip, tag.id, json!({"replace": true})).await;
    assert_eq!(
        (&replaced["chip"], &replaced["generation"]),
        (&json!("known"), &json!(2))
    );
    let open = &replaced["steps"][1]["text"];
    assert!(open.as_str().unwrap().contains("generation 1"), "{open}");
    // The preview says that another tag would be refused, and it is.
    let other = service.tag(json!({"name": "Other"})).await;
    let question = json!({"uid": uid(1).to_string(), "tag_id": other.id});
    let refused = preview(&service, question.clone()).await;
    assert_eq!(refused["reason"], "already_encoded");
    assert_eq!(foreseen(&refused), Vec::<String>::new());
    let turn = lay(&service, &mut chip, &question).await;
    assert_eq!(turn["reason"], "already_encoded");
}

#[tokio::test]
async fn its_url_bytes_and_settings_are_those_that_the_chip_gets() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let question = json!({"uid": uid(1).to_string(), "tag_id": tag.id, "chip": "ntag424dna"});
    let preview = preview(&service, question).await;
    let sheet = &preview["sheet"];
    let mut chip = VirtualNtag424::new(uid(1));
    let wish = json!({"uid": uid(1).to_string(), "tag_id": tag.id});
    lay(&service, &mut chip, &wish).await;
    let file = sheet["bytes"].as_str().unwrap().to_lowercase();
    // The data that the chip stores, without its mirrors.
    assert!(hex(chip.file(2)).starts_with(&file), "{file}");
    let settings = sheet["change_file_settings"]["data"].as_str().unwrap();
    let settings = FileSettings::parse(&bytes(settings)).unwrap();
    assert_eq!(*chip.ndef_settings(), settings);
    let url = sheet["url"].as_str().unwrap();
    assert!(url.contains(&format!("/{}?", tag.slug)), "{url}");
    // The tag URL of a test is an address of this computer.
    let warning = preview["warnings"][0].as_str().unwrap();
    assert!(warning.contains("only on this computer"), "{warning}");
}

#[tokio::test]
async fn it_stores_nothing() {
    let service = TestService::start().await;
    let plan = json!({"pattern": "Bottle {n:04}"});
    let run = json!({"name": "Roll", "planned": 3, "plan": plan});
    let run = service.admin_create("/encoding-runs", run).await["id"].clone();
    let of_run = json!({"uid": uid(1).to_string(), "run_id": run});
    let foreseen_tag = preview(&service, of_run.clone()).await;
    assert_eq!(foreseen_tag["tag_id"], Value::Null);
    preview(&service, json!({})).await;
    for path in ["/tags", "/encodings", "/inlays"] {
        let found = service.admin_get(&format!("{path}?count=true")).await;
        assert_eq!(found["count"], 0, "{path}");
    }
    let root = service.admin_get("/encoding-root").await;
    assert_eq!(root["created_at"], Value::Null);
    // The chip gets the tag that the preview named, and keeps it.
    let mut chip = VirtualNtag424::new(uid(1));
    let turn = lay(&service, &mut chip, &of_run).await;
    let own = preview(&service, of_run).await;
    assert_eq!(own["tag_id"], turn["result"]["tag_id"]);
    assert_eq!(own["chip"], "finished");
    let next = preview(&service, json!({"uid": uid(2).to_string(), "run_id": run})).await;
    assert_eq!(
        (&next["tag_id"], &next["chip"]),
        (&Value::Null, &json!("new"))
    );
}

#[tokio::test]
async fn what_speaks_against_a_chip_is_said_before_it_is_laid_down() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let wrong = json!({"uid": uid(1).to_string(), "chip": "ntag213", "tag_id": tag.id});
    assert_eq!(preview(&service, wrong).await["reason"], "not_encodable");
    let random = json!({"uid": "08AABBCC", "tag_id": tag.id});
    assert_eq!(preview(&service, random).await["reason"], "random_id");
    let mut chip = VirtualNtag424::new(uid(2));
    let wish = json!({"uid": uid(2).to_string(), "tag_id": tag.id});
    assert_eq!(lay(&service, &mut chip, &wish).await["state"], "verified");
    let second = json!({"uid": uid(3).to_string(), "tag_id": tag.id});
    assert_eq!(
        preview(&service, second.clone()).await["reason"],
        "tag_has_inlay"
    );
    let mut additional = second;
    additional["additional"] = true.into();
    assert_eq!(preview(&service, additional).await["reason"], Value::Null);
    let both = json!({"tag_id": tag.id, "run_id": 1});
    let both = service
        .admin(Method::POST, "/encodings/preview", both)
        .await;
    assert_eq!(both.status, 422);
    let inlays = service.admin_get("/inlays").await;
    let path = format!("/inlays/{}", inlays["items"][0]["id"]);
    service.admin_patch(&path, json!({"blocked": true})).await;
    let blocked = json!({"uid": uid(2).to_string(), "tag_id": tag.id});
    let blocked = service
        .admin(Method::POST, "/encodings/preview", blocked)
        .await;
    assert_eq!(blocked.expect(409)["code"], "inlay_blocked");
}

#[tokio::test]
async fn a_preview_says_that_a_chip_keeps_its_write_password_unless_it_is_removed() {
    let service = TestService::start().await;
    for (write_password, keeps) in [(Value::Null, true), (json!(false), false)] {
        let mut question = json!({"technology": "ntag213"});
        if !write_password.is_null() {
            question["write_password"] = write_password;
        }
        let shown = preview(&service, question).await;
        let mut facts = shown["facts"].as_array().unwrap().iter();
        let fact = facts.find(|fact| fact["name"] == "Write access");
        let text = fact.expect("a fact")["text"].as_str().unwrap();
        assert!(text.starts_with("Anyone with a phone can write this chip."));
        assert_eq!(text.contains("keeps it"), keeps, "{text}");
    }
}
