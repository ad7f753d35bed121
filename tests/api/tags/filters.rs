//! Filters by attributes, inlays and taps, and counted values of attributes.

use std::fmt::Write as _;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Client, TestService, eventually};

use super::{all, export, import, names};
use crate::api::database::{execute, insert_tags};

/// The names of the tags in a list with this query.
async fn listed(client: &Client, query: &str) -> Vec<String> {
    let found = all(client, &format!("/tags?{query}"), 100).await;
    names(&found).into_iter().map(str::to_owned).collect()
}

async fn bottles(service: &TestService) {
    for (name, attributes) in [
        ("one", json!({"colour": "red", "size": "M", "lot": "L 3&4"})),
        ("two", json!({"colour": "Red", "size": "L", "a.b_c-d": "x"})),
        (
            "three",
            json!({"colour": "white", "size": "", "note": "é".repeat(300)}),
        ),
        (
            "four",
            json!({"size": "M", "note": format!("{}!", "é".repeat(299))}),
        ),
    ] {
        let data = json!({"colour": "blue"});
        let tag = json!({
            "name": name, "slug": format!("cellar-{name}"), "attributes": attributes, "data": data,
            "variables": {"size": "M"},
        });
        service.tag(tag).await;
    }
}

#[tokio::test]
async fn an_attribute_is_compared_exactly_with_any_of_the_values() {
    let service = TestService::start().await;
    bottles(&service).await;
    let long: String = url::form_urlencoded::byte_serialize("é".repeat(300).as_bytes()).collect();
    for (query, expected) in [
        ("attribute.colour=red", vec!["one"]),
        ("attribute.colour=Red", vec!["two"]),
        ("attribute.colour=re", vec![]),
        ("attribute.colour=blue", vec![]),
        ("attribute.Colour=red", vec![]),
        (
            "attribute.colour=red&attribute.colour=white",
            vec!["one", "three"],
        ),
        ("attribute.colour=red&attribute.size=M", vec!["one"]),
        ("attribute.colour=red&attribute.size=L", vec![]),
        ("attribute.size=M", vec!["one", "four"]),
        ("attribute.size=", vec!["three"]),
        ("attribute.size=&attribute.size=L", vec!["two", "three"]),
        ("attribute.lot=L+3%264", vec!["one"]),
        ("attribute.a.b_c-d=x", vec!["two"]),
        ("attribute.size=M&q=fo", vec!["four"]),
        ("attribute.size=M&q=one", vec!["one"]),
        (&format!("attribute.note={long}"), vec!["three"]),
        ("attribute.sku=%25", vec![]),
    ] {
        for sort in ["created", "name", "-scans"] {
            let mut found = listed(&service, &format!("{query}&sort={sort}")).await;
            found.sort_by_key(|name| {
                ["one", "two", "three", "four"]
                    .iter()
                    .position(|of| of == name)
            });
            assert_eq!(found, expected, "{query}");
        }
        let count = format!("/tags?{query}&limit=1&count=true");
        assert_eq!(service.admin_get(&count).await["count"], expected.len());
    }
    let file = export(&service, "?attribute.colour=red").await;
    assert_eq!(file.lines().count(), 2, "{file}");
    let filter = json!({"attributes": {"colour": ["red", "white"]}});
    let archive = json!({"action": "status", "status": "archived", "select": {"filter": filter}});
    let answer = service.admin(Method::POST, "/tags/bulk", archive).await;
    assert_eq!(answer.expect(200)["changed"], 2);
    let labels = json!({
        "select": {"filter": filter}, "format": "csv", "label_mm": [50, 30], "text": ["{{tag:name}}"],
    });
    let labels = service.admin(Method::POST, "/labels", labels).await;
    assert_eq!(labels.body.lines().count(), 3, "{}", labels.body);
}

#[tokio::test]
async fn a_filter_by_attributes_follows_every_change() {
    let service = TestService::start().await;
    let tag = service
        .tag(json!({"name": "one", "slug": "bottle-one", "attributes": {"lot": "L1"}}))
        .await;
    let is_found = async |lot: &str| {
        let query = format!("attribute.lot={lot}");
        !listed(&service, &query).await.is_empty()
    };
    assert!(is_found("L1").await);
    let path = format!("{}/attributes/lot", tag.admin_path());
    let put = service.admin(Method::PUT, &path, json!({"value": "L2"}));
    put.await.expect(200);
    assert!(is_found("L2").await && !is_found("L1").await);
    import(
        &service,
        "?mode=upsert",
        "slug,attribute:lot\nbottle-one,L3\n",
    )
    .await;
    assert!(is_found("L3").await && !is_found("L2").await);
    let set = json!({"action": "set", "select": {"ids": [tag.id]}, "attributes": {"lot": "L4"}});
    let answer = service.admin(Method::POST, "/tags/bulk", set).await;
    assert!(is_found("L4").await && !is_found("L3").await);
    for undo in answer.expect(200)["undo"].as_array().unwrap() {
        let undone = service.admin(Method::POST, "/tags/bulk", undo.clone());
        undone.await.expect(200);
    }
    assert!(is_found("L3").await && !is_found("L4").await);
    let delete = service.admin(Method::DELETE, &path, Value::Null);
    delete.await.expect(204);
    assert!(!is_found("L3").await);
}

#[tokio::test]
async fn tags_are_filtered_by_their_inlays_and_their_last_taps() {
    let service = TestService::start().await;
    let mut tags = Vec::new();
    for name in ["one", "two", "three"] {
        tags.push(service.tag(json!({"name": name})).await);
    }
    let inlay = json!({"uid": "04DE5F00000001", "technology": "ntag213", "tag_id": tags[1].id});
    let inlay = service.inlay(inlay).await;
    assert_eq!(listed(&service, "has_inlay=true").await, ["two"]);
    assert_eq!(listed(&service, "has_inlay=false").await, ["one", "three"]);
    let path = format!("/inlays/{inlay}");
    service.admin(Method::DELETE, &path, Value::Null).await;
    assert!(listed(&service, "has_inlay=true").await.is_empty());

    service.advance(60_000);
    service.tap(&tags[0].path()).await;
    let first = service.admin_get(&tags[0].admin_path()).await["last_scan_at"].clone();
    service.advance(60_000);
    service.tap(&tags[1].path()).await;
    let second = service.admin_get(&tags[1].admin_path()).await["last_scan_at"].clone();
    let [first, second] = [first, second].map(|at| at.as_str().unwrap().to_owned());
    for (query, expected) in [
        (format!("tapped_since={first}"), vec!["one", "two"]),
        (format!("tapped_since={second}"), vec!["two"]),
        (format!("tapped_until={second}"), vec!["one"]),
        (format!("tapped_until={first}"), vec![]),
        (
            format!("tapped_since={first}&tapped_until={second}"),
            vec!["one"],
        ),
        (format!("tapped_since={first}&q=two"), vec!["two"]),
    ] {
        let query = query.replace('+', "%2B");
        for sort in ["created", "-last_scan"] {
            let mut found = listed(&service, &format!("{query}&sort={sort}")).await;
            found.sort();
            assert_eq!(found, expected, "{query}");
        }
    }
    // The last tap counts.
    service.tap(&tags[0].path()).await;
    let query = format!("tapped_until={second}");
    assert!(listed(&service, &query).await.is_empty());
}

async fn values(client: &Client, query: &str) -> Vec<(String, u64)> {
    counted(client, &format!("/tags/values?{query}"), "value").await
}

async fn keys(client: &Client, query: &str) -> Vec<(String, u64)> {
    counted(client, &format!("/tags/attributes?{query}"), "key").await
}

/// The items of an exact answer: the member `of`, and the count.
async fn counted(client: &Client, path: &str, of: &str) -> Vec<(String, u64)> {
    let counted = client.admin_get(path).await;
    assert_eq!(counted["counts_are_estimates"], Value::Null);
    let items = counted["items"].as_array().unwrap().iter();
    let items = items.map(|item| {
        let name = item[of].as_str().unwrap().to_owned();
        (name, item["count"].as_u64().unwrap())
    });
    items.collect()
}

#[tokio::test]
async fn values_are_counted_within_the_filter_and_the_most_frequent_come_first() {
    let service = TestService::start().await;
    bottles(&service).await;
    let own = service.redirect("https://owner.example/").await;
    service
        .tag(json!({"name": "five", "slug": "cellar-5", "attributes": {"size": "L"}, "experience_id": own}))
        .await;
    service
        .tag(json!({"name": "six", "slug": "cellar-6", "attributes": {"size": "L"}, "status": "archived"}))
        .await;
    for (query, expected) in [
        ("attribute=size", vec![("L", 3), ("M", 2), ("", 1)]),
        ("attribute=size&limit=1", vec![("L", 3)]),
        (
            "attribute=size&status=active",
            vec![("L", 2), ("M", 2), ("", 1)],
        ),
        ("attribute=size&attribute.colour=red", vec![("M", 1)]),
        ("attribute=size&q=t&estimate=true", vec![("", 1), ("L", 1)]),
        (
            "attribute=colour",
            vec![("Red", 1), ("red", 1), ("white", 1)],
        ),
        ("attribute=sku", vec![]),
        ("attribute=size&simulated=true", vec![]),
    ] {
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(value, count): (&str, u64)| (value.to_owned(), count))
            .collect();
        assert_eq!(values(&service, query).await, expected, "{query}");
    }
    let token = json!({"name": "Shop", "scopes": ["read"], "experience_ids": [own]});
    let token = service.admin_create("/tokens", token).await;
    let client = Client::new(service.base(), token["token"].as_str().unwrap());
    assert_eq!(
        values(&client, "attribute=size").await,
        [("L".to_owned(), 1)]
    );
}

#[tokio::test]
async fn keys_are_counted_within_the_filter_and_the_most_frequent_come_first() {
    let service = TestService::start().await;
    bottles(&service).await;
    let own = service.redirect("https://owner.example/").await;
    service
        .tag(json!({"name": "five", "slug": "cellar-5", "attributes": {"a": "1"}, "experience_id": own}))
        .await;
    let all = [("size", 4), ("colour", 3), ("note", 2)];
    let rare = [("a", 1), ("a.b_c-d", 1), ("lot", 1)];
    for (query, expected) in [
        ("", [&all[..], &rare].concat()),
        ("limit=2", all[..2].to_vec()),
        (
            "attribute.size=L",
            vec![("a.b_c-d", 1), ("colour", 1), ("size", 1)],
        ),
        ("q=fiv&estimate=true", vec![("a", 1)]),
        ("status=archived", vec![]),
        ("simulated=true", vec![]),
    ] {
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(key, count): (&str, u64)| (key.to_owned(), count))
            .collect();
        assert_eq!(keys(&service, query).await, expected, "{query}");
    }
    let token = json!({"name": "Shop", "scopes": ["read"], "experience_ids": [own]});
    let token = service.admin_create("/tokens", token).await;
    let client = Client::new(service.base(), token["token"].as_str().unwrap());
    assert_eq!(keys(&client, "").await, [("a".to_owned(), 1)]);
}

#[tokio::test]
async fn an_attribute_of_10_000_values_is_counted() {
    let service = TestService::start().await;
    let mut file = "name,attribute:serial,attribute:lot\n".to_owned();
    for row in 0..10_000 {
        writeln!(file, "Bottle,SN{row:06},L{}", row / 4_000).unwrap();
    }
    import(&service, "", file).await;
    let serials = values(&service, "attribute=serial&limit=500").await;
    assert_eq!(serials.len(), 500);
    assert_eq!(serials[0], ("SN000000".to_owned(), 1));
    let lots = [("L0", 4_000), ("L1", 4_000), ("L2", 2_000)];
    let lots = lots.map(|(lot, count)| (lot.to_owned(), count));
    assert_eq!(values(&service, "attribute=lot").await, lots);
    let both = ["lot", "serial"].map(|key| (key.to_owned(), 10_000));
    assert_eq!(keys(&service, "").await, both);
    assert_eq!(values(&service, "attribute=lot&q=sn00999").await.len(), 1);
    let found = listed(&service, "attribute.serial=SN004100").await;
    assert_eq!(found.len(), 1);
}

/// More values than are counted at a time.
#[tokio::test]
async fn of_an_attribute_of_30_000_values_the_frequent_ones_are_counted() {
    let service = TestService::start().await;
    let batch = json!({"kind": "batch", "name": "L03"});
    let batch = service.admin_create("/groups", batch).await["id"].clone();
    insert_tags(&service, batch.as_i64().unwrap(), 30_000).await;
    // Every thirtieth tag has the same one.
    let values = "INSERT INTO properties (tag_id, class, key, value)
         SELECT id, 'attribute', 'serial',
             CASE WHEN CAST(substr(slug, 10) AS BIGINT) % 30 = 0 THEN 'none' ELSE slug END
         FROM tags";
    execute(&service, values).await;
    let counted = service
        .admin_get("/tags/values?attribute=serial&limit=500")
        .await;
    assert_eq!(counted["counts_are_estimates"], true);
    let items = counted["items"].as_array().unwrap();
    assert_eq!(items[0], json!({"value": "none", "count": 1_000}));
    assert!(items.len() <= 500, "{}", items.len());
}

/// More tags than are counted for each answer.
async fn many_bottles(service: &TestService) {
    let mut file = "name,attribute:lot\n".to_owned();
    for _ in 0..9_000 {
        file += "Bottle,L1\n";
    }
    import(service, "", file).await;
}

/// The attribute of the first of many bottles.
async fn first_lot(service: &TestService) -> String {
    let list = service.admin_get("/tags?limit=1").await;
    format!("/tags/{}/attributes/lot", list["items"][0]["id"])
}

/// Values with their counts, as [`values`] returns them.
fn lots(of: &[(&str, u64)]) -> Vec<(String, u64)> {
    let of = of.iter();
    of.map(|(lot, count)| ((*lot).to_owned(), *count)).collect()
}

#[tokio::test]
async fn counts_of_many_tags_are_kept_and_at_most_30_seconds_old() {
    let service = TestService::start().await;
    many_bottles(&service).await;
    let lot = first_lot(&service).await;
    assert_eq!(
        values(&service, "attribute=lot").await,
        lots(&[("L1", 9_000)])
    );
    assert_eq!(keys(&service, "").await, lots(&[("lot", 9_000)]));
    // The service does not hear of this change: an answer with it would be counted, not kept.
    execute(
        &service,
        "UPDATE properties SET value = 'L2' WHERE tag_id = (SELECT max(id) FROM tags)",
    )
    .await;
    service.advance(5_000);
    assert_eq!(
        values(&service, "attribute=lot").await,
        lots(&[("L1", 9_000)])
    );
    assert_eq!(
        values(&service, "attribute=lot&status=active").await,
        lots(&[("L1", 8_999), ("L2", 1)]),
        "a filtered count is made for its answer"
    );
    let put = service.admin(Method::PUT, &lot, json!({"value": "L3"}));
    put.await.expect(200);
    service.advance(25_000);
    assert_eq!(
        values(&service, "attribute=lot&limit=1").await,
        lots(&[("L1", 8_998)]),
        "a change is counted after 30 seconds"
    );
    let all = lots(&[("L1", 8_998), ("L2", 1), ("L3", 1)]);
    assert_eq!(values(&service, "attribute=lot&estimate=true").await, all);
    service
        .admin(Method::DELETE, &lot, Value::Null)
        .await
        .expect(204);
    service
        .tag(json!({"name": "new", "attributes": {"sku": "1"}}))
        .await;
    service.advance(30_000);
    assert_eq!(
        keys(&service, "").await,
        lots(&[("lot", 8_999), ("sku", 1)])
    );
}

#[tokio::test]
async fn counts_that_are_in_use_are_made_again_before_they_are_too_old() {
    let service = TestService::start().await;
    many_bottles(&service).await;
    let lot = first_lot(&service).await;
    assert_eq!(keys(&service, "").await, lots(&[("lot", 9_000)]));
    service
        .admin(Method::DELETE, &lot, Value::Null)
        .await
        .expect(204);
    service.advance(15_000);
    eventually("the counts after the change", async || {
        let counted = keys(&service, "").await;
        (counted == lots(&[("lot", 8_999)])).then_some(())
    })
    .await;
}

#[tokio::test]
async fn values_of_1_000_characters_are_listed_sorted_counted_and_filtered() {
    let service = TestService::start().await;
    let long = |beginning: &str| format!("{beginning}{}", "ß".repeat(1_000));
    for (name, beginning) in [("second", "b"), ("first", "a"), ("third", "c")] {
        let tag = json!({"name": name, "attributes": {"note": long(beginning)}});
        service.tag(tag).await;
    }
    assert_eq!(
        listed(&service, "sort=attribute.note").await,
        ["first", "second", "third"]
    );
    assert_eq!(
        listed(&service, "sort=-attribute.note").await,
        ["third", "second", "first"]
    );
    let expected: Vec<_> = ["a", "b", "c"].map(|one| (long(one), 1)).into();
    assert_eq!(values(&service, "attribute=note").await, expected);
    let value: String = url::form_urlencoded::byte_serialize(long("b").as_bytes()).collect();
    assert_eq!(
        listed(&service, &format!("attribute.note={value}")).await,
        ["second"]
    );
}

#[tokio::test]
async fn a_filter_that_cannot_be_is_refused_in_words() {
    let service = TestService::start().await;
    let many = "attribute.lot=x&".repeat(101);
    for (path, field, part) in [
        ("/tags?attribute.=x", "attribute.", "key"),
        ("/tags?attribute.a%20b=x", "attribute.a b", "key"),
        ("/tags?attribute=x", "attribute", "no query parameter"),
        ("/tags?attributes=x", "attributes", "no query parameter"),
        (
            "/inlays?attribute.lot=x",
            "attribute.lot",
            "no query parameter",
        ),
        ("/tags?attribute.lot=a%00b", "attributes", "NUL"),
        (&format!("/tags?{many}"), "attributes", "at most 100 values"),
        ("/tags?tapped_since=today", "tapped_since", "tapped_since"),
        ("/tags/values", "attribute", "missing field `attribute`"),
        ("/tags/values?attribute=a%20b", "attribute", "key"),
        (
            "/tags/values?attribute=lot&limit=501",
            "limit",
            "limit is 1 to 500",
        ),
        (
            "/tags/values?attribute=lot&sort=name",
            "sort",
            "no query parameter",
        ),
        ("/tags/attributes?limit=501", "limit", "limit is 1 to 500"),
        ("/tags/attributes?sort=name", "sort", "no query parameter"),
    ] {
        let answer = service.admin(Method::GET, path, Value::Null).await;
        let problem = answer.expect(422);
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(part), "{path}: {detail}");
        assert_eq!(problem["errors"][0]["field"], field, "{path}");
    }
    for (attributes, part) in [
        (json!({"lot": []}), "at least one value"),
        (json!({"lot": "x"}), "sequence"),
        (json!({"a b": ["x"]}), "key"),
    ] {
        let filter = json!({"filter": {"attributes": attributes}});
        let delete = json!({"action": "delete", "select": filter});
        let answer = service.admin(Method::POST, "/tags/bulk", delete).await;
        let detail = answer.expect(422)["detail"].to_string();
        assert!(detail.contains(part), "{attributes}: {detail}");
    }
}
