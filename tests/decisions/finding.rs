//! Finding and changing many tags.

use std::fmt::Write as _;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answering as _, TestService};

async fn found(service: &TestService, query: &str) -> usize {
    let list = service.admin_get(&format!("/tags?{query}")).await;
    list["items"].as_array().unwrap().len()
}

#[tokio::test]
async fn a_search_finds_every_word_in_the_texts_and_the_uids_of_a_tag() {
    let service = TestService::start().await;
    let tag = json!({
        "name": "Grand Cru", "slug": "cellar-7", "title": "Château", "attributes": {"serial": "SN-0041"},
        "data": {"note": "corked"}, "variables": {"owner": "Anna"},
    });
    let tag = service.tag(tag).await;
    service
        .admin_patch(&tag.admin_path(), json!({"slug": "cellar-8"}))
        .await;
    let inlay = json!({"uid": "04DE5F1EACC040", "technology": "ntag213", "tag_id": tag.id});
    service.inlay(inlay).await;
    for (q, tags) in [
        ("cru+sn-0041+chateau+cellar-7+cellar-8+04:de:5f", 1),
        ("04de5f1eacc040", 1),
        ("n-004", 1),
        ("acc040", 1),
        ("cru+sn-0042", 0),
        ("corked", 0),
        ("anna", 0),
    ] {
        assert_eq!(found(&service, &format!("q={q}")).await, tags, "{q}");
    }
}

#[tokio::test]
async fn a_uid_is_found_by_any_of_its_digits_as_people_write_them() {
    let service = TestService::start().await;
    let tag = service
        .tag(json!({"name": "Bottle", "slug": "cellar-8"}))
        .await;
    let inlay = json!({"uid": "04DE5F1EACC040", "technology": "ntag213", "tag_id": tag.id});
    service.inlay(inlay).await;
    for (q, tags) in [
        ("c040", 1),
        ("E5F1", 1),
        ("ac:c0:40", 1),
        ("ac-c0-40", 1),
        ("5F+1E+AC+C0", 1),
        ("04+de+5f+1e+ac+c0+40", 1),
        ("40c0ac1e5fde04", 1),
        ("40:C0:AC:1E", 1),
        ("bottle+1eacc0", 1),
        // Fewer than four pairs are words of their own; fewer than eight digits have one order.
        ("ac+c0+40", 0),
        ("40c0ac", 0),
        ("040", 0),
        ("5f1eacc1", 0),
        ("04de5f1eacc04000", 0),
    ] {
        assert_eq!(found(&service, &format!("q={q}")).await, tags, "{q}");
    }
}

#[tokio::test]
async fn a_year_finds_no_uids_but_those_that_end_with_it() {
    let service = TestService::start().await;
    for (name, uid) in [("Middle", "04202115203180"), ("End", "04202215202021")] {
        let tag = service.tag(json!({"name": name, "slug": name})).await;
        let inlay = json!({"uid": uid, "technology": "ntag213", "tag_id": tag.id});
        service.inlay(inlay).await;
    }
    service
        .tag(json!({"name": "Vintage 2021", "slug": "vintage"}))
        .await;
    for (q, tags) in [
        ("2021", 2),
        ("02021", 1),
        ("20211", 0),
        ("202115", 1),
        // Written as a UID.
        ("20:21", 2),
        ("2031", 0),
        ("3180", 1),
    ] {
        assert_eq!(found(&service, &format!("q={q}")).await, tags, "{q}");
    }
}

#[tokio::test]
async fn a_search_ignores_accents_and_an_erasure_does_not() {
    let service = TestService::start().await;
    for name in ["Müller", "Muller"] {
        let tag = json!({"name": name, "variables": {"registered": ""}});
        let tag = service.redirecting_tag(tag).await;
        let tap = service.tap(&tag.path()).await;
        let update = service.update(tap.key(), json!({"registered": name}));
        update.await.expect(200);
    }
    assert_eq!(found(&service, "q=MULLER").await, 2);
    assert_eq!(found(&service, "q=m%C3%BCller").await, 2);
    let erase = json!({"value": "MÜLLER"});
    let erased = service.admin(Method::POST, "/submissions/erase", erase);
    assert_eq!(erased.await.expect(200), json!({"erased": 1}));
}

#[tokio::test]
async fn the_values_that_are_counted_are_those_that_a_filter_selects() {
    let service = TestService::start().await;
    for colour in ["red", "Red", "réd", " red", "red", "R\u{1f}d", "a%b_c\\d"] {
        service
            .tag(json!({"name": "Bottle", "attributes": {"colour": colour}}))
            .await;
    }
    let counted = service.admin_get("/tags/values?attribute=colour").await;
    let items = counted["items"].as_array().unwrap();
    assert_eq!(items[0], json!({"value": "red", "count": 2}));
    assert_eq!(items.len(), 6);
    for item in items {
        let value = item["value"].as_str().unwrap();
        let value: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
        let tags = found(&service, &format!("attribute.colour={value}")).await;
        assert_eq!(tags, item["count"], "{item}");
    }
    let both = "attribute.colour=red&attribute.colour=Red";
    assert_eq!(found(&service, both).await, 3);
}

#[tokio::test]
async fn a_last_tap_is_within_a_time_from_its_beginning_and_before_its_end() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "Bottle"})).await;
    assert_eq!(
        found(&service, "tapped_until=2100-01-01T00:00:00Z").await,
        0
    );
    service.tap(&tag.path()).await;
    let tag = service.admin_get(&tag.admin_path()).await;
    let at = tag["last_scan_at"].as_str().unwrap().replace('+', "%2B");
    assert_eq!(found(&service, &format!("tapped_since={at}")).await, 1);
    assert_eq!(found(&service, &format!("tapped_until={at}")).await, 0);
}

#[tokio::test]
async fn a_call_that_sets_properties_ends_when_its_undo_is_large() {
    let service = TestService::start().await;
    let mut file = "name,attribute:note\n".to_owned();
    let note = "n".repeat(4_000);
    for row in 0..2_400 {
        writeln!(file, "Bottle,{note}{row}").unwrap();
    }
    let import = service.admin_request(Method::POST, "/tags/import");
    let import = import.header("content-type", "text/csv").body(file);
    import.answer().await.expect(200);
    let mut requests = vec![json!({
        "action": "set", "select": {"filter": {}}, "attributes": {"note": "short"},
    })];
    let (mut calls, mut undo) = (0, Vec::new());
    while let Some(request) = requests.pop() {
        let answer = service.admin(Method::POST, "/tags/bulk", request).await;
        assert!(answer.body.len() < 16 * 1024 * 1024);
        let result = answer.expect(200);
        assert_eq!(result["stopped"], Value::Null);
        requests.extend(result["rest"].as_array().unwrap().iter().cloned());
        undo.extend(result["undo"].as_array().unwrap().iter().cloned());
        calls += 1;
    }
    assert_eq!(calls, 2);
    assert_eq!(found(&service, "attribute.note=short&limit=500").await, 500);
    assert_eq!(undo.len(), 2_400);
    let last = undo.pop().unwrap();
    service
        .admin(Method::POST, "/tags/bulk", last)
        .await
        .expect(200);
    // Four digits by themselves stand in the generated slug of one of a hundred such sets of tags.
    let part = "n".repeat(20);
    assert_eq!(found(&service, &format!("q={part}")).await, 1);
    assert_eq!(
        found(&service, &format!("q={part}2399")).await,
        0,
        "only its beginning is searched"
    );
    let value = format!("{note}2399");
    assert_eq!(found(&service, &format!("attribute.note={value}")).await, 1);
}

#[tokio::test]
async fn an_order_by_an_attribute_is_that_of_the_values_which_a_filter_compares() {
    let service = TestService::start().await;
    let wines = json!({"kind": "product", "name": "Wines", "attributes": {"lot": "L03"}});
    let wines = service.admin_create("/groups", wines).await["id"].clone();
    for (name, lot) in [("own", json!({"lot": "l02"})), ("given", json!({}))] {
        let tag = json!({"name": name, "group_id": wines, "attributes": lot});
        service.tag(tag).await;
    }
    service.tag(json!({"name": "none"})).await;
    for (sort, expected) in [
        ("attribute.lot", ["own", "given", "none"]),
        ("-attribute.lot", ["given", "own", "none"]),
    ] {
        let list = service.admin_get(&format!("/tags?sort={sort}")).await;
        let items = list["items"].as_array().unwrap().iter();
        let names: Vec<_> = items.map(|tag| tag["name"].as_str().unwrap()).collect();
        assert_eq!(names, expected);
    }
    assert_eq!(found(&service, "attribute.lot=L03").await, 1);
}
