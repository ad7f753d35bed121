//! Runs: many chips, each for the next tag.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::key::AesKey;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::virtual_card::type2::{Type2Chip, VirtualType2};
use tapdesk_tests::virtual_card::{Tear, TornOut};
use tapdesk_tests::{Answering as _, Client, TestService};

use super::bench::uid;
use super::http::{hex, lay};

pub(super) async fn run(service: &TestService, body: Value) -> i64 {
    let run = service.admin_create("/encoding-runs", body).await;
    run["id"].as_i64().unwrap()
}

/// Places a chip for a run. Returns the state, or the reason of its rejection.
pub(super) async fn next(client: &Client, run: i64, chip: &mut VirtualNtag424) -> String {
    let wish = json!({"uid": chip.uid().to_string(), "run_id": run});
    let turn = lay(client, chip, &wish).await;
    let word = turn["reason"].as_str().or(turn["state"].as_str());
    word.unwrap().to_owned()
}

async fn rows(service: &TestService, run: i64) -> Vec<(Value, String, Value)> {
    let whole = service.admin_get(&format!("/encoding-runs/{run}")).await;
    let rows = whole["rows"].as_array().unwrap().iter();
    rows.map(|row| {
        let state = row["state"].as_str().unwrap().to_owned();
        (row["uid"].clone(), state, row["position"].clone())
    })
    .collect()
}

pub(super) fn foreign(number: u32) -> VirtualNtag424 {
    let keys = std::array::from_fn(|_| AesKey::from_bytes([9; 16]));
    VirtualNtag424::new(uid(number)).with_keys(keys, 1)
}

#[tokio::test]
async fn a_run_creates_its_tags_as_it_goes_and_passes_on_those_of_rejected_chips() {
    let service = TestService::start().await;
    let plan = json!({"pattern": "Bottle {n:04}"});
    let id = run(
        &service,
        json!({"name": "Roll", "planned": 3, "plan": plan}),
    )
    .await;
    let mut first = VirtualNtag424::new(uid(1));
    assert_eq!(next(&service, id, &mut first).await, "verified");
    // Placed and removed at once: its tag stays reserved.
    let wish = json!({"uid": uid(2).to_string(), "run_id": id});
    let begun = service.admin_create("/encodings", wish).await;
    assert_eq!(begun["state"], "planned");
    assert_eq!(next(&service, id, &mut foreign(3)).await, "foreign_key");
    let mut fourth = VirtualNtag424::new(uid(4));
    assert_eq!(next(&service, id, &mut fourth).await, "verified");
    // All three tags are taken or reserved.
    let fifth = json!({"uid": uid(5).to_string(), "run_id": id});
    let full = service.admin(Method::POST, "/encodings", fifth).await;
    assert_eq!(full.expect(409)["code"], "run_full");
    let mut second = VirtualNtag424::new(uid(2));
    assert_eq!(next(&service, id, &mut second).await, "verified");
    let uid = |number| json!(super::bench::uid(number).to_string());
    assert_eq!(
        rows(&service, id).await,
        [
            (uid(1), "verified".to_owned(), json!(1)),
            (uid(2), "verified".to_owned(), json!(2)),
            (uid(3), "rejected".to_owned(), Value::Null),
            (uid(4), "verified".to_owned(), json!(3)),
        ]
    );
    let tags = service.admin_get("/tags?q=Bottle&limit=10").await;
    let mut names: Vec<_> = tags["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| tag["name"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["Bottle 0001", "Bottle 0002", "Bottle 0003"]);
    let whole = service.admin_get(&format!("/encoding-runs/{id}")).await;
    assert_eq!(
        (&whole["verified_count"], &whole["tag_count"]),
        (&json!(3), &json!(3))
    );

    // Wiped, it makes room for another chip.
    let wipe = json!({"uid": fourth.uid().to_string(), "wipe": true});
    assert_eq!(lay(&service, &mut fourth, &wipe).await["state"], "reset");
    let mut sixth = VirtualNtag424::new(super::bench::uid(6));
    assert_eq!(next(&service, id, &mut sixth).await, "verified");
    let rows = rows(&service, id).await;
    assert_eq!(rows[3], (uid(4), "reset".to_owned(), Value::Null));
    assert_eq!(rows[4], (uid(6), "verified".to_owned(), json!(3)));

    let csv = service
        .admin(
            Method::GET,
            &format!("/encoding-runs/{id}/export"),
            Value::Null,
        )
        .await;
    let csv = csv.body;
    assert_eq!(csv.lines().count(), 6, "{csv}");
    assert!(csv.starts_with(
        "position,tag_id,slug,url,uid,technology,mode,generation,at,counter,state,reason"
    ));
    for number in 0..5 {
        let key = hex(sixth.key(number).expose());
        assert!(!csv.to_lowercase().contains(&key));
    }
}

/// Technology and mode of each chip in the exported table.
async fn exported_chips(service: &TestService, run: i64) -> Vec<(String, String)> {
    let path = format!("/encoding-runs/{run}/export");
    let csv = service.admin(Method::GET, &path, Value::Null).await.body;
    let rows = csv.lines().skip(1).map(|line| {
        let cells: Vec<_> = line.split(',').collect();
        (cells[5].to_owned(), cells[6].to_owned())
    });
    rows.collect()
}

#[tokio::test]
async fn the_export_says_of_each_chip_which_one_it_is() {
    let service = TestService::start().await;
    let made = |technology: &str, mode: &str| (technology.to_owned(), mode.to_owned());
    let plan = json!({"pattern": "Bottle {n}"});
    let id = run(&service, json!({"name": "AES", "plan": plan})).await;
    let mut tamper = VirtualNtag424::tag_tamper(uid(2));
    assert_eq!(
        next(&service, id, &mut VirtualNtag424::new(uid(1))).await,
        "verified"
    );
    assert_eq!(next(&service, id, &mut tamper).await, "verified");
    assert_eq!(next(&service, id, &mut foreign(3)).await, "foreign_key");
    let expected = [
        made("ntag424dna", "aes"),
        // A TagTamper is encoded as the plan's technology, and is exported as such.
        made("ntag424dna_tt", "aes"),
        // A row without an encoded chip has empty cells.
        made("", ""),
    ];
    assert_eq!(exported_chips(&service, id).await, expected);

    let template = json!({
        "name": "LRP", "technology": "ntag424dna", "mode": "lrp",
        "template": "https://lrp.example/v/{slug}?p={picc}&m={mac}",
    });
    let template = service.admin_create("/url-templates", template).await;
    let plan = json!({"pattern": "Bottle {n}", "url_template_id": template["id"], "lrp": true});
    let id = run(&service, json!({"name": "LRP", "plan": plan})).await;
    let mut chip = VirtualNtag424::new(uid(4));
    assert_eq!(next(&service, id, &mut chip).await, "verified");
    assert_eq!(
        exported_chips(&service, id).await,
        [made("ntag424dna", "lrp")]
    );

    let plan = json!({"pattern": "Bottle {n}", "technology": "ntag215"});
    let id = run(&service, json!({"name": "Pages", "plan": plan})).await;
    let mut chip = VirtualType2::factory(Type2Chip::Ntag215, uid(5).bytes());
    let wish = json!({"uid": uid(5).to_string(), "run_id": id});
    assert_eq!(lay(&service, &mut chip, &wish).await["state"], "verified");
    assert_eq!(exported_chips(&service, id).await, [made("ntag215", "")]);
    let rows = service.admin_get(&format!("/encoding-runs/{id}")).await["rows"].clone();
    assert_eq!(
        (&rows[0]["technology"], &rows[0]["mode"]),
        (&json!("ntag215"), &Value::Null)
    );
}

/// The steps of the desktop: an import, and then a run of its tags.
#[tokio::test]
async fn the_tags_of_a_file_become_those_of_a_run_in_the_order_of_its_rows() {
    let service = TestService::start().await;
    let known = service.tag(json!({"name": "B", "slug": "second00"})).await;
    let csv = "slug,name\nthird000,C\nsecond00,B renamed\nfirst000,A\n";
    let path = "/tags/import?on_error=abort&mode=upsert";
    let request = service.admin_request(Method::POST, path);
    let request = request.header("content-type", "text/csv").body(csv);
    let imported = request.answer().await.expect(200);
    let results = imported["results"].as_array().unwrap();
    let ids: Vec<_> = results.iter().map(|row| row["id"].clone()).collect();
    assert_eq!((ids.len(), &ids[1]), (3, &json!(known.id)));
    let id = run(&service, json!({"name": "File", "tag_ids": ids})).await;
    for (number, slug) in [(1, "third000"), (2, "second00"), (3, "first000")] {
        let mut chip = VirtualNtag424::new(uid(number));
        assert_eq!(next(&service, id, &mut chip).await, "verified");
        assert!(chip.read_url().contains(slug), "{number}");
    }
}

#[tokio::test]
async fn a_run_for_chosen_tags_takes_them_in_their_order_and_leaves_out_those_with_an_inlay() {
    let service = TestService::start().await;
    let mut tags = Vec::new();
    for name in ["A", "B", "C"] {
        tags.push(service.tag(json!({"name": name})).await.id);
    }
    let mut chip = VirtualNtag424::new(uid(1));
    let wish = json!({"uid": uid(1).to_string(), "tag_id": tags[1]});
    assert_eq!(lay(&service, &mut chip, &wish).await["state"], "verified");
    let order = [tags[2], tags[1], tags[0], tags[2]];
    let id = run(&service, json!({"name": "Three", "tag_ids": order})).await;
    for (number, tag) in [(2, tags[2]), (3, tags[0])] {
        let mut chip = VirtualNtag424::new(uid(number));
        assert_eq!(next(&service, id, &mut chip).await, "verified");
        let inlays = service.admin_get(&format!("/inlays?tag_id={tag}")).await;
        assert_eq!(inlays["items"][0]["uid"], uid(number).to_string());
    }
    // A chip of another tag does not belong to the run.
    let wish = json!({"uid": uid(1).to_string(), "run_id": id});
    let full = service
        .admin(Method::POST, "/encodings", wish.clone())
        .await;
    assert_eq!(full.expect(409)["code"], "run_full");
    let closed = json!({"closed": true});
    let path = format!("/encoding-runs/{id}");
    service
        .admin(Method::PATCH, &path, closed)
        .await
        .expect(200);
    let refused = service.admin(Method::POST, "/encodings", wish).await;
    assert_eq!(refused.expect(409)["code"], "run_closed");
    for bad in [
        json!({"name": "", "plan": {"pattern": "A {n}"}}),
        json!({"name": "No tags"}),
        json!({"name": "No number", "plan": {"pattern": "A"}}),
    ] {
        let refused = service.admin(Method::POST, "/encoding-runs", bad).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
    }
    let missing = json!({"name": "Missing", "tag_ids": [999_999]});
    let missing = service.admin(Method::POST, "/encoding-runs", missing).await;
    assert_eq!(missing.expect(409)["code"], "missing");
}

#[tokio::test]
async fn a_chip_that_another_run_finished_is_told_from_a_duplicate_and_from_any_finished_one() {
    let service = TestService::start().await;
    let plan = json!({"pattern": "Bottle {n:04}"});
    let [one, other] = [
        run(&service, json!({"name": "One", "plan": plan.clone()})).await,
        run(&service, json!({"name": "Other", "plan": plan})).await,
    ];
    let mut chip = VirtualNtag424::new(uid(1));
    assert_eq!(next(&service, one, &mut chip).await, "verified");
    let writes = chip.tally().writes;
    assert_eq!(next(&service, other, &mut chip).await, "in_other_run");
    // In its own run it is verified once more, and keeps its tag.
    assert_eq!(next(&service, one, &mut chip).await, "verified");
    let tag = service.tag(json!({"name": "Bottle"})).await;
    let wish = json!({"uid": uid(1).to_string(), "tag_id": tag.id});
    let turn = lay(&service, &mut chip, &wish).await;
    assert_eq!(turn["reason"], "already_encoded");
    assert_eq!(chip.tally().writes, writes);
    // The tag that the other run had reserved for it goes to the next chip.
    let mut second = VirtualNtag424::new(uid(2));
    assert_eq!(next(&service, other, &mut second).await, "verified");
    let rows = rows(&service, other).await;
    assert_eq!(rows[1].2, json!(1), "{rows:?}");
}

#[tokio::test]
async fn a_run_says_how_its_chips_are_written_whatever_a_relay_asks_for() {
    let service = TestService::start().await;
    let plan = json!({"pattern": "Poster {n}", "mirror": "plain", "own_keys": true});
    let id = run(&service, json!({"name": "Posters", "plan": plan})).await;
    let mut chip = VirtualNtag424::new(uid(1));
    let wish = json!({
        "uid": uid(1).to_string(), "run_id": id,
        "technology": "ntag213", "mirror": "encrypted", "lock": true, "lrp": true,
    });
    let turn = lay(&service, &mut chip, &wish).await;
    assert_eq!(turn["state"], "verified", "{turn}");
    let inlays = service.admin_get(&format!("/inlays?uid={}", uid(1))).await;
    assert_eq!(inlays["items"][0]["mirror"], "plain");
    assert!(!chip.speaks_lrp());
}

#[tokio::test]
async fn a_chip_of_a_run_that_was_torn_away_comes_back_to_its_own_tag_on_any_desk() {
    let service = TestService::start().await;
    let plan = json!({"pattern": "Bottle {n}"});
    let id = run(&service, json!({"name": "Roll", "plan": plan})).await;
    let mut torn = TornOut::new(Tear::after(30), VirtualNtag424::new(uid(1)));
    let wish = json!({"uid": uid(1).to_string(), "run_id": id});
    assert_eq!(
        lay(&service, &mut torn, &wish).await["state"],
        "interrupted"
    );
    let mut second = VirtualNtag424::new(uid(2));
    assert_eq!(next(&service, id, &mut second).await, "verified");
    // A week and a restart later, at another desktop.
    let service = service.restart(7 * 86_400_000).await;
    let desk = encoder(&service).await;
    let mut first = torn.into_card();
    assert_eq!(next(&desk, id, &mut first).await, "verified");
    let rows = rows(&service, id).await;
    let positions: Vec<_> = rows
        .into_iter()
        .map(|(uid, _, position)| (uid, position))
        .collect();
    let uid = |number| json!(uid(number).to_string());
    assert_eq!(positions, [(uid(1), json!(1)), (uid(2), json!(2))]);
}

/// A client whose token has one scope.
async fn encoder(service: &TestService) -> Client {
    let token = json!({"name": "Desk", "scopes": ["encode"]});
    let token = service.admin_create("/tokens", token).await;
    Client::new(service.base(), token["token"].as_str().unwrap())
}

#[tokio::test]
async fn who_may_only_encode_takes_back_the_inlay_of_an_open_run_that_nobody_tapped() {
    let service = TestService::start().await;
    let desk = encoder(&service).await;
    let plan = json!({"pattern": "Bottle {n:04}"});
    let run = run(&service, json!({"name": "Roll", "plan": plan.clone()})).await;
    let other = self::run(&service, json!({"name": "Other", "plan": plan})).await;
    let wipe = |number, run: Option<i64>| {
        let mut wipe = json!({"uid": uid(number).to_string(), "wipe": true});
        if let Some(run) = run {
            wipe["run_id"] = run.into();
        }
        wipe
    };
    let refused = async |wish: Value| {
        let refused = desk.admin(Method::POST, "/encodings", wish).await;
        assert_eq!(refused.expect(403)["scope"], "keys");
    };

    let mut first = VirtualNtag424::new(uid(1));
    assert_eq!(next(&desk, run, &mut first).await, "verified");
    refused(wipe(1, None)).await;
    refused(wipe(1, Some(other))).await;
    let turn = lay(&desk, &mut first, &wipe(1, Some(run))).await;
    assert_eq!(turn["state"], "reset", "{turn}");
    assert!((0..5).all(|slot| first.key(slot).is_factory()));
    // Its tag is free again for the next chip.
    let mut second = VirtualNtag424::new(uid(2));
    assert_eq!(next(&desk, run, &mut second).await, "verified");
    let positions: Vec<_> = rows(&service, run)
        .await
        .into_iter()
        .filter(|(_, state, _)| state == "verified")
        .collect();
    assert_eq!(positions.len(), 1);

    // It was tapped, so it is in use.
    let inlays = service.admin_get(&format!("/inlays?uid={}", uid(2))).await;
    let path = format!("/inlays/{}", inlays["items"][0]["id"]);
    service.admin_patch(&path, json!({"last_counter": 2})).await;
    refused(wipe(2, Some(run))).await;

    let mut third = VirtualNtag424::new(uid(3));
    assert_eq!(next(&desk, run, &mut third).await, "verified");
    let path = format!("/encoding-runs/{run}");
    service.admin_patch(&path, json!({"closed": true})).await;
    refused(wipe(3, Some(run))).await;
}

#[tokio::test]
async fn who_may_only_encode_takes_back_no_chip_without_keys_whose_tag_was_tapped() {
    let service = TestService::start().await;
    let desk = encoder(&service).await;
    let wipe = |run: i64| json!({"uid": uid(1).to_string(), "wipe": true, "run_id": run});
    for is_tapped in [false, true] {
        let tag = service.redirecting_tag(Value::Null).await;
        let plan = json!({"technology": "ntag213"});
        let roll = json!({"name": "Roll", "tag_ids": [tag.id], "plan": plan});
        let run = run(&service, roll).await;
        let mut chip = VirtualType2::factory(Type2Chip::Ntag213, uid(1).bytes());
        let wish = json!({"uid": uid(1).to_string(), "run_id": run});
        let turn = lay(&desk, &mut chip, &wish).await;
        assert_eq!(turn["state"], "verified", "{turn}");
        if is_tapped {
            // Its URL is static, so no counter shows this.
            service.tap(&tag.path()).await;
            let refused = desk.admin(Method::POST, "/encodings", wipe(run)).await;
            assert_eq!(refused.expect(403)["scope"], "keys");
        } else {
            let turn = lay(&desk, &mut chip, &wipe(run)).await;
            assert_eq!(turn["state"], "reset", "{turn}");
        }
    }
}

#[tokio::test]
async fn a_tag_that_is_passed_over_comes_last() {
    let service = TestService::start().await;
    let plan = json!({"pattern": "Bottle {n}"});
    let id = run(
        &service,
        json!({"name": "Roll", "planned": 3, "plan": plan}),
    )
    .await;
    let path = format!("/encoding-runs/{id}");
    let next_name = async || service.admin_get(&path).await["next"]["name"].clone();
    assert_eq!(next_name().await, "Bottle 1");
    let skip = async || {
        let path = format!("{path}/skip");
        service.admin(Method::POST, &path, Value::Null).await
    };
    let skipped = skip().await.expect(200);
    assert_eq!(skipped["next"]["name"], "Bottle 2", "{skipped}");
    assert_eq!(skipped["next"]["tag_id"], Value::Null);
    for (number, following) in [(1, "Bottle 3"), (2, "Bottle 1")] {
        let mut chip = VirtualNtag424::new(uid(number));
        assert_eq!(next(&service, id, &mut chip).await, "verified");
        assert_eq!(next_name().await, following);
    }
    // It is the only tag left: skipped once more, it is still the next one.
    let again = skip().await.expect(200);
    assert_eq!(
        (&again["next"]["name"], &again["next"]["skipped"]),
        (&json!("Bottle 1"), &json!(true))
    );
    let mut chip = VirtualNtag424::new(uid(3));
    assert_eq!(next(&service, id, &mut chip).await, "verified");
    assert_eq!(service.admin_get(&path).await["next"], Value::Null);
    assert_eq!(skip().await.expect(409)["code"], "run_full");
    let positions: Vec<_> = rows(&service, id)
        .await
        .into_iter()
        .map(|row| row.2)
        .collect();
    assert_eq!(positions, [json!(2), json!(3), json!(1)]);
}
