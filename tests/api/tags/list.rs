//! Pages, sort orders, search and filters of the tag list.

use std::fmt::Write as _;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::TestService;

use super::{all, import, names, tags_named};
use crate::api::database::{execute, insert_tags};

#[tokio::test]
async fn pages_show_every_tag_once_in_every_order_whatever_stands_equal() {
    let service = TestService::start().await;
    for name in ["b", "A", "a", "B", "a", "c", "a", "a"] {
        let tag = service.tag(json!({"name": name})).await;
        for _ in 0..(tag.id % 3) {
            service.advance(1_000);
            service.tap(&tag.path()).await;
        }
    }
    for order in ["created", "name", "scans", "last_scan"] {
        let whole = all(&service, &format!("/tags?sort={order}"), 500).await;
        assert_eq!(whole.len(), 8);
        let mut keys: Vec<_> = whole.iter().map(|tag| key(order, tag)).collect();
        assert!(keys.is_sorted(), "{order}: {keys:?}");
        for limit in [1, 2, 3, 7, 8] {
            let paged = all(&service, &format!("/tags?sort={order}"), limit).await;
            assert_eq!(paged, whole, "{order} by {limit}");
        }
        keys.reverse();
        let backwards = all(&service, &format!("/tags?sort=-{order}"), 3).await;
        let backwards: Vec<_> = backwards.iter().map(|tag| key(order, tag)).collect();
        assert_eq!(backwards, keys, "-{order}");
    }
}

#[tokio::test]
async fn an_order_by_an_attribute_has_inherited_values_and_ends_with_tags_without_one() {
    let service = TestService::start().await;
    let wines = json!({"kind": "product", "name": "Wines", "attributes": {"lot": "B"}});
    let wines = service.admin_create("/groups", wines).await["id"].clone();
    let batch = json!({"kind": "batch", "name": "L03", "parent_id": wines});
    let batch = service.admin_create("/groups", batch).await["id"].clone();
    for (name, lot, group) in [
        ("of a group", None, &batch),
        ("none", None, &Value::Null),
        ("c", Some("C"), &batch),
        ("a", Some("a"), &Value::Null),
        ("accent", Some("Á1"), &Value::Null),
        ("empty", Some(""), &wines),
        ("same", Some("b"), &Value::Null),
        ("none, too", None, &Value::Null),
    ] {
        let mut tag = json!({"name": name, "group_id": group});
        if let Some(lot) = lot {
            tag["attributes"] = json!({"lot": lot});
        }
        service.tag(tag).await;
    }
    for (sort, expected) in [
        (
            "attribute.lot",
            [
                "empty",
                "a",
                "accent",
                "of a group",
                "same",
                "c",
                "none",
                "none, too",
            ],
        ),
        (
            "-attribute.lot",
            [
                "c",
                "same",
                "of a group",
                "accent",
                "a",
                "empty",
                "none, too",
                "none",
            ],
        ),
    ] {
        for limit in [1, 3, 7, 500] {
            let found = all(&service, &format!("/tags?sort={sort}"), limit).await;
            assert_eq!(names(&found), expected, "{sort} by {limit}");
        }
    }
    let path = format!("/tags?sort=attribute.lot&group_id={wines}");
    let found = all(&service, &path, 2).await;
    assert_eq!(names(&found), ["empty", "of a group", "c"]);
    let first = service.admin_get("/tags?sort=name&limit=1").await;
    let other = format!(
        "/tags?sort=attribute.lot&after={}",
        first["next"].as_str().unwrap()
    );
    for refused in [
        other.as_str(),
        "/tags?sort=attribute.",
        "/tags?sort=attribute",
    ] {
        let refused = service.admin(Method::GET, refused, Value::Null).await;
        refused.expect(422);
    }
}

#[tokio::test]
async fn orders_by_taps_are_the_same_among_thousands_of_tags() {
    // More tags than the database itself sorts.
    let many = 2_300;
    let service = TestService::start().await;
    let mut file = "slug,name,status\n".to_owned();
    for row in 0..many {
        let status = if row % 7 == 0 { "archived" } else { "active" };
        writeln!(file, "tag-{row:06},Tag {row},{status}").unwrap();
    }
    import(&service, "", file).await;
    tap_rows(&service, &[3, 3, 3, 7, 7, 14, 2_299, 900, 900, 901, 0]).await;
    for filter in ["", "&status=archived", "&q=tag-0022", "&q=tag"] {
        for order in ["scans", "last_scan"] {
            let path = |sort: &str| format!("/tags?sort={sort}{filter}");
            let whole = all(&service, &path(order), 500).await;
            let by_id = all(&service, &path("created"), 500).await;
            let keys: Vec<_> = whole.iter().map(|tag| key(order, tag)).collect();
            let mut expected: Vec<_> = by_id.iter().map(|tag| key(order, tag)).collect();
            expected.sort();
            assert_eq!(keys, expected, "{order}{filter}");
            let backwards = all(&service, &path(&format!("-{order}")), 77).await;
            let backwards: Vec<_> = backwards.iter().map(|tag| key(order, tag)).collect();
            expected.reverse();
            assert_eq!(backwards, expected, "-{order}{filter}");
        }
    }
    // A few later changes are in place at once, and deleted tags are gone.
    tap_rows(&service, &[5, 5, 5, 5]).await;
    let first = service.admin_get("/tags?sort=-scans&limit=1").await;
    assert_eq!(names(first["items"].as_array().unwrap()), ["Tag 5"]);
    let path = format!("/tags/{}", first["items"][0]["id"]);
    service.admin(Method::DELETE, &path, Value::Null).await;
    let first = service.admin_get("/tags?sort=-last_scan&limit=2").await;
    assert_eq!(
        names(first["items"].as_array().unwrap()),
        ["Tag 0", "Tag 901"]
    );
}

async fn tap_rows(service: &TestService, rows: &[u32]) {
    for row in rows {
        service.advance(1_000);
        service.tap(&format!("/t/tag-{row:06}")).await;
    }
}

#[tokio::test]
async fn a_count_that_takes_no_time_is_exact_though_an_estimate_would_do() {
    let service = TestService::start().await;
    tags_named(&service, &["a", "b", "c"]).await;
    let page = service
        .admin_get("/tags?limit=1&count=true&estimate=true")
        .await;
    assert_eq!(
        (&page["count"], &page["count_is_estimate"]),
        (&json!(3), &Value::Null)
    );
    let page = service.admin_get("/tags?limit=1&estimate=true").await;
    assert_eq!(page["count"], Value::Null);
}

/// The sort key of a tag in `order`, and the tag's id.
fn key(order: &str, tag: &Value) -> (String, i64) {
    let id = tag["id"].as_i64().unwrap();
    let key = match order {
        "name" => tag["name"].as_str().unwrap().to_ascii_lowercase(),
        "scans" => tag["scan_count"].to_string(),
        "last_scan" => tag["last_scan_at"].as_str().unwrap_or("").to_owned(),
        _ => String::new(),
    };
    (key, id)
}

#[tokio::test]
async fn a_page_goes_on_where_the_last_one_ended_while_others_write() {
    let service = TestService::start().await;
    tags_named(&service, &["c", "e", "g", "i"]).await;
    let first = service.admin_get("/tags?sort=name&limit=2").await;
    assert_eq!(names(first["items"].as_array().unwrap()), ["c", "e"]);
    // One sorts before the end of the first page, and one after it.
    tags_named(&service, &["a", "f"]).await;
    let path = format!("/tags/{}", first["items"][1]["id"]);
    service.admin(Method::DELETE, &path, Value::Null).await;
    let after = first["next"].as_str().unwrap();
    let second = service
        .admin_get(&format!("/tags?sort=name&limit=9&after={after}"))
        .await;
    assert_eq!(names(second["items"].as_array().unwrap()), ["f", "g", "i"]);
    assert_eq!(second["next"], Value::Null);
}

#[tokio::test]
async fn a_search_finds_a_part_of_name_slug_or_title_in_either_case() {
    let service = TestService::start().await;
    for tag in [
        json!({"name": "Bottle of Riesling", "slug": "cellar-001"}),
        json!({"name": "Box", "title": "Ein Fläschchen RIESLING", "slug": "cellar-002"}),
        json!({"name": "ÄPFEL", "slug": "orchard-77"}),
        json!({"name": "100% \"juice\" _now_", "slug": "orchard-78"}),
    ] {
        service.tag(tag).await;
    }
    for (q, expected) in [
        ("riesling", vec!["Bottle of Riesling", "Box"]),
        ("CELLAR-002", vec!["Box"]),
        ("cellar", vec!["Bottle of Riesling", "Box"]),
        ("äpfe", vec!["ÄPFEL"]),
        ("fläsch", vec!["Box"]),
        ("%25", vec!["100% \"juice\" _now_"]),
        ("_", vec!["100% \"juice\" _now_"]),
        ("%22juice%22+_", vec!["100% \"juice\" _now_"]),
        ("ox", vec!["Box"]),
        ("x", vec!["Box"]),
        // All trigrams occur, but the text does not.
        ("lingof", vec![]),
        ("nothing of the kind", vec![]),
        ("*", vec![]),
        ("AND", vec![]),
    ] {
        for sort in ["created", "name"] {
            let found = all(&service, &format!("/tags?sort={sort}&q={q}"), 1).await;
            assert_eq!(names(&found), expected, "{q}");
        }
        let count = service
            .admin_get(&format!("/tags?limit=1&count=true&q={q}"))
            .await["count"]
            .as_u64();
        assert_eq!(count, Some(expected.len() as u64), "{q}");
    }
    assert_eq!(all(&service, "/tags?q=", 500).await.len(), 4);
}

#[tokio::test]
async fn a_search_follows_what_is_renamed() {
    let service = TestService::start().await;
    let tag = service.tag(json!({"name": "before"})).await;
    service
        .admin_patch(&tag.admin_path(), json!({"name": "afterwards"}))
        .await;
    assert!(all(&service, "/tags?q=before", 50).await.is_empty());
    assert_eq!(all(&service, "/tags?q=afterw", 50).await.len(), 1);
}

#[tokio::test]
async fn filters_narrow_the_list_together() {
    let service = TestService::start().await;
    let experience = service.redirect("https://owner.example/").await;
    for (name, status, assigned, verifier) in [
        ("one", "active", true, true),
        ("two", "active", false, true),
        ("three", "archived", true, true),
        ("four", "active", true, false),
    ] {
        let experience = assigned.then_some(experience);
        service
            .tag(json!({
                "name": name, "status": status, "experience_id": experience, "verifier_enabled": verifier,
                "has_qr_code": name == "two",
            }))
            .await;
    }
    for (filter, expected) in [
        ("status=active", vec!["one", "two", "four"]),
        ("status=archived", vec!["three"]),
        (
            &format!("experience_id={experience}"),
            vec!["one", "three", "four"],
        ),
        ("assigned=false", vec!["two"]),
        ("assigned=true&status=active", vec!["one", "four"]),
        ("verifier_enabled=false", vec!["four"]),
        ("has_qr_code=true", vec!["two"]),
        ("has_qr_code=false", vec!["one", "three", "four"]),
        (
            &format!("experience_id={experience}&status=active&verifier_enabled=true"),
            vec!["one"],
        ),
        ("status=active&q=o", vec!["one", "two", "four"]),
        ("experience_id=999", vec![]),
        ("simulated=true", vec![]),
        ("simulated=all&status=archived", vec!["three"]),
    ] {
        for sort in ["created", "name", "-scans"] {
            let mut found = all(&service, &format!("/tags?{filter}&sort={sort}"), 2).await;
            found.sort_by_key(|tag| tag["id"].as_i64());
            assert_eq!(names(&found), expected, "{filter}");
        }
    }
}

#[tokio::test]
async fn what_a_list_does_not_understand_is_refused_in_words() {
    let service = TestService::start().await;
    tags_named(&service, &["one", "two"]).await;
    let by_name = service.admin_get("/tags?sort=name&limit=1").await;
    let after = by_name["next"].as_str().unwrap();
    for (query, part) in [
        ("limit=0", "limit is 1 to 500"),
        ("limit=501", "limit is 1 to 500"),
        ("sort=size", "unknown variant `size`"),
        ("colour=red", "There is no query parameter \"colour\""),
        ("simulated=maybe", "unknown variant `maybe`"),
        ("after=bm8", "after is not a cursor"),
        // Cursors that nobody got: {"name":["\u0000",1]} and {"attribute":[5,1]}.
        (
            "sort=name&after=eyJuYW1lIjpbIlx1MDAwMCIsMV19",
            "after is not a cursor",
        ),
        (
            "sort=attribute.lot&after=eyJhdHRyaWJ1dGUiOls1LDFdfQ",
            "after is not a cursor",
        ),
        (
            &format!("after={after}"),
            "after is a place in another order",
        ),
        ("q=a%00b", "NUL"),
        (&format!("q={}", "x".repeat(201)), "at most 200 characters"),
    ] {
        let answer = service
            .admin(Method::GET, &format!("/tags?{query}"), Value::Null)
            .await;
        let detail = answer.expect(422)["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(part), "{query}: {detail}");
    }
    // {"attribute":["l03",9223372036854775807]} is a place as any: both tags have no value.
    let place = "eyJhdHRyaWJ1dGUiOlsibDAzIiw5MjIzMzcyMDM2ODU0Nzc1ODA3XX0";
    for sort in ["attribute.lot", "-attribute.lot"] {
        let path = format!("/tags?sort={sort}&after={place}");
        let found = service.admin_get(&path).await;
        assert_eq!(names(found["items"].as_array().unwrap()).len(), 2);
    }
}

/// More tags than are read at once.
#[tokio::test]
async fn an_order_by_an_attribute_is_that_of_however_many_tags() {
    let tags: u64 = 50_100;
    let service = TestService::start().await;
    let batch = json!({"kind": "batch", "name": "L03", "attributes": {"lot": "1050000"}});
    let batch = service.admin_create("/groups", batch).await["id"].clone();
    let count = usize::try_from(tags).unwrap();
    insert_tags(&service, batch.as_i64().unwrap(), count).await;
    let number = "CAST(substr(slug, 10) AS BIGINT)";
    let values = format!(
        "INSERT INTO properties (tag_id, class, key, value)
         SELECT id, 'attribute', 'lot', CAST(1000000 + {number} * 7919 % 100003 AS TEXT)
         FROM tags WHERE {number} % 3 <> 0"
    );
    execute(&service, &values).await;
    let mut expected: Vec<(u64, u64)> = (1..=tags)
        .map(|number| match number % 3 {
            0 => (1_050_000, number),
            _ => (1_000_000 + number * 7_919 % 100_003, number),
        })
        .collect();
    expected.sort_unstable();
    for sort in ["attribute.lot", "-attribute.lot"] {
        let mut path = format!("/tags?sort={sort}&limit=500");
        for page in expected.chunks(500).take(2) {
            let list = service.admin_get(&path).await;
            let expected: Vec<_> = page
                .iter()
                .map(|(_, number)| format!("Bottle {number}"))
                .collect();
            assert_eq!(names(list["items"].as_array().unwrap()), expected);
            let after = list["next"].as_str().unwrap();
            path = format!("/tags?sort={sort}&limit=500&after={after}");
        }
        expected.reverse();
    }
}
