//! A search finds words in the texts of tags, and the UIDs of their inlays.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Client, TestService};

use super::{all, import, names};

/// The names of the tags that a search finds.
async fn found(client: &Client, q: &str) -> Vec<String> {
    let q: String = url::form_urlencoded::byte_serialize(q.as_bytes()).collect();
    let found = all(client, &format!("/tags?q={q}"), 100).await;
    names(&found).into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn every_word_must_be_found_somewhere_in_the_tag() {
    let service = TestService::start().await;
    for tag in [
        json!({
            "name": "Grand Cru 2021", "slug": "cellar-001", "title": "Château d'Or",
            "attributes": {"lot": "L03-17", "origin": "Nuits-Saint-Georges"},
        }),
        json!({
            "name": "Grand Cru 2020", "slug": "cellar-002", "title": "Straße",
            "attributes": {"lot": "L03-18", "origin": "Ærø"},
            "data": {"note": "Pinot"}, "variables": {"owner": "Anna"},
        }),
    ] {
        service.tag(tag).await;
    }
    for (q, expected) in [
        ("grand", vec!["Grand Cru 2021", "Grand Cru 2020"]),
        ("2021 grand", vec!["Grand Cru 2021"]),
        ("l03 saint cellar", vec!["Grand Cru 2021"]),
        ("CHATEAU", vec!["Grand Cru 2021"]),
        ("cha\u{302}teau d'or", vec!["Grand Cru 2021"]),
        ("strasse", vec!["Grand Cru 2020"]),
        ("STRAẞE", vec!["Grand Cru 2020"]),
        ("aero", vec!["Grand Cru 2020"]),
        ("\u{a0}l0 \t gr", vec!["Grand Cru 2021", "Grand Cru 2020"]),
        // A text ends where another one begins.
        ("2021cellar", vec![]),
        // Neither data nor variables are searched, and no word stands for another.
        ("pinot", vec![]),
        ("anna", vec![]),
        ("grand 2022", vec![]),
        ("l03_17", vec![]),
        ("l03%", vec![]),
        ("*", vec![]),
        ("grand OR cru", vec!["Grand Cru 2021"]),
    ] {
        assert_eq!(found(&service, q).await, expected, "{q}");
    }
}

#[tokio::test]
async fn a_code_is_found_with_and_without_its_separators() {
    let service = TestService::start().await;
    for tag in [
        json!({"name": "SN-2026-0815", "slug": "first-1"}),
        json!({"name": "Second", "slug": "sn_2026_0815"}),
        json!({"name": "Third", "slug": "c", "attributes": {"serial": "Nr. 2026/08.15-B"}}),
        json!({"name": "Saint-Georges 2026 0815", "slug": "d"}),
    ] {
        service.tag(tag).await;
    }
    let lot = json!({"kind": "batch", "name": "Autumn", "code": "L-2026-08"});
    let lot = service.admin_create("/groups", lot).await;
    service
        .tag(json!({"name": "Fifth", "slug": "e", "group_id": lot["id"]}))
        .await;
    let first_two = vec!["SN-2026-0815", "Second"];
    for (q, expected) in [
        ("20260815", vec!["SN-2026-0815", "Second", "Third"]),
        ("SN20260815", first_two.clone()),
        ("n2026081", first_two),
        ("2026-0815", vec!["SN-2026-0815"]),
        ("sn_2026", vec!["Second"]),
        ("20260815b", vec!["Third"]),
        ("first1", vec!["SN-2026-0815"]),
        ("L202608", vec!["Fifth"]),
        ("l-2026-08", vec!["Fifth"]),
        // Only codes: a word without digits is found as it is written, and space ends a word.
        ("saintgeorges", vec![]),
        ("georges 20260815", vec![]),
        // The separators of the search must be those of the text.
        ("2026.0815", vec![]),
    ] {
        assert_eq!(found(&service, q).await, expected, "{q}");
    }
}

#[tokio::test]
async fn a_search_follows_every_change_of_a_text() {
    let service = TestService::start().await;
    let tag = service
        .tag(json!({"name": "Bottle", "slug": "bottle-one", "attributes": {"serial": "SN-0041"}}))
        .await;
    let path = tag.admin_path();
    let is_found = async |q: &str| !found(&service, q).await.is_empty();
    assert!(is_found("sn-0041").await);

    let serial = format!("{path}/attributes/serial");
    let put = service.admin(Method::PUT, &serial, json!({"value": "SN-0042"}));
    put.await.expect(200);
    assert!(is_found("sn-0042").await && !is_found("sn-0041").await);
    assert!(is_found("sn0042").await && !is_found("sn0041").await);
    let lot = format!("{path}/attributes/lot");
    let put = service.admin(Method::PUT, &lot, json!({"value": "L77"}));
    put.await.expect(201);
    assert!(is_found("l77 0042").await);
    let delete = service.admin(Method::DELETE, &lot, Value::Null);
    delete.await.expect(204);
    assert!(!is_found("l77").await);

    let change = json!({"attributes": {"serial": null, "lot": "L78"}, "title": "Riesling"});
    service.admin_patch(&path, change).await;
    assert!(is_found("l78 riesling").await && !is_found("sn-0042").await);
    service
        .admin_patch(&path, json!({"slug": "Bottle-Two"}))
        .await;
    service
        .admin_patch(&path, json!({"slug": "bottle-three"}))
        .await;
    assert!(is_found("bottle-one bottle-two bottle-three").await);
    let former = format!("{path}/former-slugs/Bottle-Two");
    let release = service.admin(Method::DELETE, &former, Value::Null);
    release.await.expect(204);
    assert!(is_found("bottle-one").await && !is_found("bottle-two").await);

    let rows = "slug,name,attribute:serial\nbottle-three,Kiste,SN-0043\nother-1,Kiste,SN-0044\n";
    import(&service, "?mode=upsert", rows.to_owned()).await;
    assert!(is_found("kiste sn-0043 l78").await && is_found("kiste sn-0044").await);
    assert!(is_found("bottle-one").await, "an import keeps former slugs");

    service.admin(Method::DELETE, &path, Value::Null).await;
    assert!(!is_found("l78").await);
    let restore = json!({"action": "restore", "select": {"ids": [tag.id]}});
    let restored = service.admin(Method::POST, "/tags/bulk", restore);
    restored.await.expect(200);
    assert!(is_found("l78").await);
}

#[tokio::test]
async fn a_uid_is_found_by_four_of_its_digits_or_more() {
    let service = TestService::start().await;
    let bottle = service
        .tag(json!({"name": "Bottle", "slug": "first"}))
        .await;
    let other = service
        .tag(json!({"name": "04de5f", "slug": "second"}))
        .await;
    let inlay = |uid: &str, tag: i64| json!({"uid": uid, "technology": "ntag213", "tag_id": tag});
    let first = service.inlay(inlay("04DE5F1EACC040", bottle.id)).await;
    service.inlay(inlay("04DD000000AABB", other.id)).await;
    service
        .inlay(json!({"uid": "04DE5F1EACC041", "technology": "ntag213"}))
        .await;
    for (q, expected) in [
        ("04de5f", vec!["Bottle", "04de5f"]),
        ("04:DE:5F:1E", vec!["Bottle"]),
        ("04DE5F1EACC040", vec!["Bottle"]),
        ("04de5f1eacc04", vec!["Bottle"]),
        ("04de5f1e bottle", vec!["Bottle"]),
        ("04dd0 04de", vec!["04de5f"]),
        ("5f1eacc040", vec!["Bottle"]),
        ("aabb", vec!["04de5f"]),
        // No tag has this inlay; of three digits, or of more than fourteen, the word is no UID.
        ("04de5f1eacc041", vec![]),
        ("04d", vec!["04de5f"]),
        ("04de5f1eacc04000", vec![]),
    ] {
        assert_eq!(found(&service, q).await, expected, "{q}");
    }
    let path = format!("/inlays/{first}");
    service.admin(Method::DELETE, &path, Value::Null).await;
    assert_eq!(found(&service, "04de5f").await, ["04de5f"]);
}

#[tokio::test]
async fn a_limited_token_searches_what_it_reaches() {
    let service = TestService::start().await;
    let own = service.redirect("https://owner.example/").await;
    let text = |experience| json!({"name": "Bottle", "attributes": {"lot": "L03"}, "experience_id": experience});
    let mine = service.tag(text(Some(own))).await;
    let other = service.tag(text(None)).await;
    for (tag, uid) in [(&mine, "04DE5F00000001"), (&other, "04DE5F00000002")] {
        let inlay = json!({"uid": uid, "technology": "ntag213", "tag_id": tag.id});
        service.inlay(inlay).await;
    }
    let token = json!({"name": "Shop", "scopes": ["read"], "experience_ids": [own]});
    let token = service.admin_create("/tokens", token).await;
    let client = Client::new(service.base(), token["token"].as_str().unwrap());
    for (q, all) in [("l03", 2), ("04de5f", 2), ("04de5f00000002", 1)] {
        assert_eq!(found(&service, q).await.len(), all, "{q}");
        let own = usize::from(all == 2);
        assert_eq!(found(&client, q).await.len(), own, "{q}");
        let count = format!("/tags?limit=1&count=true&q={q}");
        assert_eq!(client.admin_get(&count).await["count"], own, "{q}");
    }
}

#[tokio::test]
async fn a_search_of_200_characters_is_answered_and_nothing_but_accents_is_refused() {
    let service = TestService::start().await;
    service
        .tag(json!({"name": "é".repeat(200), "attributes": {"long": "ab".repeat(2_000)}}))
        .await;
    for (q, found_tags) in [
        ("e".repeat(200), 1),
        ("É".repeat(200), 1),
        ("e ".repeat(100), 1),
        ("04de ".repeat(40), 0),
        ("ab".repeat(100), 1),
        ("%".repeat(200), 0),
        ("\u{fdfa}".repeat(200), 0),
        (" ".repeat(200), 1),
    ] {
        assert_eq!(found(&service, &q).await.len(), found_tags, "{q}");
    }
    let refused = service
        .admin(Method::GET, "/tags?q=%CC%81", Value::Null)
        .await;
    let detail = refused.expect(422)["detail"].to_string();
    assert!(detail.contains("nothing to search for"), "{detail}");
}
