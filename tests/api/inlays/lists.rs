//! Lists of inlays, with their filters.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::TestService;
use tapdesk_tests::fixtures::{chip, chip_json};

use super::{refused, tag};

#[tokio::test]
async fn a_list_is_filtered_counted_and_paged() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let mut inlays = Vec::new();
    for _ in 0..5 {
        inlays.push(
            service
                .rolling_inlay(&tag, Mirror::Plain, MacFrom::None)
                .await,
        );
    }
    let unbound = service
        .inlay(chip_json(&chip(Mirror::Plain, MacFrom::None)))
        .await;
    let ids = |page: &Value| {
        let items = page["items"].as_array().cloned().unwrap_or_default();
        items
            .iter()
            .map(|item| item["id"].as_i64().unwrap_or_default())
            .collect::<Vec<_>>()
    };
    let mut seen = Vec::new();
    let mut path = "/inlays?limit=4&count=true".to_owned();
    loop {
        let page = service.admin_get(&path).await;
        assert_eq!(page["count"], json!(6));
        seen.extend(ids(&page));
        let Some(next) = page["next"].as_str() else {
            break;
        };
        path = format!("/inlays?limit=4&count=true&after={next}");
    }
    let mut all: Vec<_> = inlays.iter().map(|inlay| inlay.id).collect();
    all.push(unbound);
    assert_eq!(seen, all);

    let uid = inlays[2].chip.uid.to_string().to_lowercase();
    for (query, expected) in [
        (format!("tag_id={}", tag.id), all[..5].to_vec()),
        (format!("uid={uid}"), vec![inlays[2].id]),
        ("uid=04FFFFFFFFFFFF".to_owned(), vec![]),
        (format!("uid_part={uid}"), vec![inlays[2].id]),
        (format!("uid_part={}", &uid[3..]), vec![inlays[2].id]),
        ("uid_part=04".to_owned(), all.clone()),
        ("uid_part=04&limit=1".to_owned(), all[..1].to_vec()),
        ("unbound=true".to_owned(), vec![unbound]),
        ("unbound=false&limit=2".to_owned(), all[..2].to_vec()),
        ("simulated=true".to_owned(), vec![]),
        ("simulated=false".to_owned(), all.clone()),
    ] {
        let page = service.admin_get(&format!("/inlays?{query}")).await;
        assert_eq!(ids(&page), expected, "{query}");
    }
    for query in [
        "uid=04",
        "uid_part=",
        "uid_part=0g",
        "unbound=maybe",
        "after=x",
        "tag=1",
        "limit=0",
    ] {
        let path = format!("/inlays?{query}");
        refused(&service, Method::GET, &path, Value::Null)
            .await
            .expect(422);
    }
}

/// Everything that the overview lists under "needs attention" can be listed by a filter: the chip,
/// factory keys, exhausted counters, no tag.
#[tokio::test]
async fn inlays_that_need_attention_are_listed_by_filters() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let key = "0123456789abcdef0123456789abcdef";
    let zero = "00000000000000000000000000000000";
    let create = |uid: &str, more: Value| {
        let mut inlay =
            json!({"uid": uid, "technology": "ntag424dna", "mirror": "plain", "file_key": key});
        for (name, value) in more.as_object().into_iter().flatten() {
            inlay[name] = value.clone();
        }
        service.inlay(inlay)
    };
    let plain = create("04AABBCCDD0001", json!({"tag_id": tag.id})).await;
    let factory = create(
        "04AABBCCDD0002",
        json!({"file_key": zero, "allow_factory_keys": true}),
    )
    .await;
    let exhausted = create("04AABBCCDD0003", json!({"last_counter": 0x00FF_FFFF})).await;
    let sticker = service
        .inlay(json!({"uid": "04AABBCCDD0004", "technology": "ntag213"}))
        .await;
    for (query, expected) in [
        ("factory_keys=true", vec![factory]),
        ("factory_keys=false", vec![plain, exhausted, sticker]),
        ("exhausted=true", vec![exhausted]),
        ("exhausted=false", vec![plain, factory, sticker]),
        ("technology=ntag213", vec![sticker]),
        (
            "technology=ntag424dna&unbound=true",
            vec![factory, exhausted],
        ),
        ("technology=sic43nt", vec![]),
    ] {
        let page = service
            .admin_get(&format!("/inlays?count=true&{query}"))
            .await;
        let items = page["items"].as_array().into_iter().flatten();
        let ids: Vec<_> = items.map(|item| item["id"].as_i64()).collect();
        let expected: Vec<_> = expected.into_iter().map(Some).collect();
        assert_eq!(ids, expected, "{query}");
        assert_eq!(page["count"], json!(expected.len()), "{query}");
    }
    refused(
        &service,
        Method::GET,
        "/inlays?technology=ntag999",
        Value::Null,
    )
    .await
    .expect(422);
    let attention = &service.admin_get("/stats").await["attention"];
    assert_eq!(
        (&attention["factory_keys"], &attention["used_up"]),
        (&json!(1), &json!(1))
    );
}
