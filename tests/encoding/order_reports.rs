//! Factory orders: the reports of a bureau.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::key::AesKey;
use tapdesk_tests::TestService;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;

use super::bench::uid;
use super::http::lay;
use super::orders::{order, text, verdict};

#[tokio::test]
async fn what_does_not_fit_the_order_is_refused_row_by_row() {
    let service = TestService::start().await;
    let sent = order(&service, 4, json!({})).await;
    let other = order(&service, 1, json!({})).await;
    let mut known = VirtualNtag424::new(uid(9));
    let tag = service.tag(json!({"name": "Own"})).await;
    let own = json!({"uid": uid(9).to_string(), "tag_id": tag.id});
    assert_eq!(lay(&service, &mut known, &own).await["state"], "verified");
    let wipe = json!({"uid": uid(9).to_string(), "wipe": true});
    assert_eq!(lay(&service, &mut known, &wipe).await["state"], "reset");
    let right = sent.chip(1, 1, 1).read_url();
    let mut forged = sent.chip(1, 1, 1);
    forged.set_key(2, AesKey::from_bytes([9; 16]), 1);
    let wrong = forged.read_url();
    let foreign = text(&other.rows[0], "slug");
    let report = [
        "position,uid,status,slug,url".to_owned(),
        format!("1,{},ok,,{wrong}", uid(1)),
        format!("2,{},failed,,", uid(2)),
        "3,04DE5F1E,ok,,".to_owned(),
        "3,AADE5F1EACC040,ok,,".to_owned(),
        format!("9,{},ok,,", uid(3)),
        format!(",{},ok,{foreign},", uid(3)),
        format!("3,{},ok,,", uid(9)),
        format!("4,{},ok,,", uid(4)),
        format!("3,{},ok,,", uid(4)),
        format!(",{},,,{right}", uid(1)),
    ];
    let taken = sent
        .report(&service, "", &report.join("\r\n"))
        .await
        .expect(200);
    let results = taken["results"].as_array().unwrap();
    let outcomes: Vec<_> = results
        .iter()
        .map(|row| {
            (
                row["row"].as_i64().unwrap(),
                row["reason"].as_str().unwrap_or("bound"),
            )
        })
        .collect();
    let expected = [
        "The code in its URL is not one",
        "The bureau says of this chip: failed",
        "no UID of 7 bytes",
        "begin with 04",
        "no such position",
        "no such position",
        "has encoded this chip before",
        "bound",
        "Another row has the same chip",
        "bound",
    ];
    for ((row, found), (number, expected)) in outcomes.iter().zip((2..).zip(expected)) {
        assert_eq!(*row, number);
        assert!(found.contains(expected), "{row}: {found}");
    }
    assert_eq!(taken["missing"], json!([2, 3]));
    assert_eq!((&taken["bound"], &taken["proved"]), (&json!(2), &json!(1)));
    // A chip that no report names does not belong to the order.
    let unknown = service
        .admin(Method::POST, "/encodings", sent.goods_in(2))
        .await;
    assert_eq!(unknown.status, 404);
    for (query, file, part) in [
        ("?preset=other", "uid,position\n", "no preset"),
        ("", "position\n1\n", "no column for the UID"),
        (
            "?preset=ixkio",
            "UID,RESPONSE\n",
            "no column for a position",
        ),
    ] {
        let refused = sent.report(&service, query, file).await.expect(422);
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains(part), "{detail}");
    }
}

#[tokio::test]
async fn a_chip_that_was_laid_down_before_it_was_reported_is_received() {
    let service = TestService::start().await;
    let sent = order(&service, 3, json!({})).await;
    let tag = service.tag(json!({"name": "Own"})).await;
    let other = |number: u32| json!({"uid": uid(number).to_string(), "tag_id": tag.id});
    // Continue until the service requests no more keys; the second chip is removed at once.
    let mut chips = [sent.chip(1, 1, 1), sent.chip(2, 2, 1)];
    for _ in 0..4 {
        let turn = lay(&service, &mut chips[0], &other(1)).await;
        assert_eq!(turn["reason"], "foreign_key", "{turn}");
    }
    let begun = service.admin_create("/encodings", other(2)).await;
    // This chip has our keys, so no bureau has written it.
    let mut own = VirtualNtag424::new(uid(3));
    assert_eq!(
        lay(&service, &mut own, &other(3)).await["state"],
        "verified"
    );
    let inlay =
        service.admin_get(&format!("/inlays?uid={}", uid(3))).await["items"][0]["id"].clone();
    let path = format!("/inlays/{inlay}");
    let gone = service.admin(Method::DELETE, &path, Value::Null).await;
    assert_eq!(gone.status, 204, "{}", gone.body);

    let report = format!("position,uid\n1,{}\n2,{}\n3,{}\n", uid(1), uid(2), uid(3));
    for query in ["?dry_run=true", ""] {
        let taken = sent.report(&service, query, &report).await.expect(200);
        assert_eq!(taken["bound"], 2, "{taken}");
        let why = taken["results"].to_string();
        assert!(why.contains("has encoded this chip before"), "{why}");
    }
    let path = format!("/encodings/{}", begun["id"]);
    assert_eq!(service.admin_get(&path).await["state"], "abandoned");
    for (number, chip) in (1..).zip(&mut chips) {
        let turn = lay(&service, chip, &sent.goods_in(number)).await;
        assert_eq!(turn["state"], "verified", "{number}: {turn}");
        assert_eq!(verdict(&service, chip).await, true);
    }
    assert_eq!(
        sent.states(&service).await,
        ["rekeyed", "rekeyed", "ordered"]
    );
}
