//! How a URL's inlay and tag are found, and the response.

use tapdesk_tests::{Receiver, eventually};

use super::*;

/// A service with one address for all tags, a tag, and its chip.
pub(super) async fn one_address() -> (TestService, TestTag, Chip, i64) {
    let service = TestService::start().await;
    let settings = settings(ONE_ADDRESS);
    let id = template(&service, &settings, &["A1", "11"]).await;
    let tag = service.redirecting_tag(Value::Null).await;
    let chip = Chip::new(settings, aes("11", "22"));
    service.inlay(inlay_json(&chip, id, Some(&tag))).await;
    (service, tag, chip, id)
}

#[tokio::test]
async fn without_a_slug_an_authentic_code_names_the_tag() {
    let (service, tag, mut chip, _) = one_address().await;
    let url = chip.url(None);
    let first = tap(&service, &url).await;
    assert_eq!(first.status, 302, "{:?}", first.answer);
    let templates = service.admin_get("/url-templates").await;
    let arrived = templates["items"][0]["first_tap_at"].clone();
    assert_eq!(arrived, newest(&service).await["at"]);
    let payload = service.payload(first.key()).await;
    assert_eq!(payload["tag_verified"], json!(true));
    assert_eq!(payload["metadata"]["tag_id"], json!(tag.id));
    assert_eq!(payload["metadata"]["url"], json!("https://tags.example/v"));
    let updated = service.update(first.key(), json!({"registered": "true"}));
    assert_eq!(updated.await.status, 200);

    service.advance(1_000);
    let again = tap(&service, &url).await;
    let templates = service.admin_get("/url-templates").await;
    assert_eq!(templates["items"][0]["first_tap_at"], arrived);
    assert_eq!(again.status, 302, "a replayed code is authentic");
    assert_eq!(last(&service).await, (json!(false), json!("replayed")));
    assert_eq!(service.scan_count(&tag).await, 2);
}

/// The number of codes that matched no inlay.
async fn unknown(service: &TestService) -> usize {
    let metrics = service.metrics().await;
    let name = "tapdesk_unknown_codes_total ";
    let line = metrics.lines().find_map(|line| line.strip_prefix(name));
    line.expect("it is there from the start").parse().unwrap()
}

#[tokio::test]
async fn without_a_slug_anything_else_is_the_404_page() {
    let (service, tag, mut chip, _) = one_address().await;
    let good = chip.url(None);
    let stranger = Chip::new(settings(ONE_ADDRESS), aes("33", "44"));
    let known_batch = Chip::new(settings(ONE_ADDRESS), aes("11", "44"));
    let mut wrong = Chip::new(settings(ONE_ADDRESS), aes("11", "44"));
    wrong.uid = chip.uid;
    let before = unknown(&service).await;
    let urls = [
        "/v".to_owned(),
        "/v?picc_data=00".to_owned(),
        good.replace("cmac=", "cmac=0"),
        good.replace("picc_data=", "cmac=00&picc_data="),
        stranger.url_at(1, None),
        known_batch.url_at(1, None),
        wrong.url_at(1, None),
    ];
    let page = open(&service, "/v").await.body;
    for url in &urls {
        let answer = open(&service, url).await;
        assert_eq!(answer.status, 404, "{url}: {}", answer.body);
        assert!(answer.header("set-cookie").is_none());
        assert_eq!(answer.body, page, "the same page for all of them: {url}");
    }
    assert_eq!(service.scan_count(&tag).await, 0);
    let counted = unknown(&service).await - before;
    assert_eq!(counted, urls.len() + 1);
    assert_eq!(
        tap(&service, &good).await.status,
        302,
        "nothing was used up"
    );
    assert_eq!(open(&service, "/elsewhere").await.status, 404);
    assert_eq!(service.get(&chip.url(None)).answer().await.status, 404);
}

#[tokio::test]
async fn an_inlay_without_a_tag_is_not_set_up_yet_and_its_tap_is_recorded() {
    let (service, tag, _, id) = one_address().await;
    let mut chip = Chip::new(settings(ONE_ADDRESS), aes("11", "55"));
    let inlay = service.inlay(inlay_json(&chip, id, None)).await;
    let stream = service.admin_request(Method::GET, "/events");
    let mut stream = stream.send().await.unwrap();
    let url = chip.url(None);
    let answer = open(&service, &url).await;
    assert_eq!(answer.status, 200);
    assert!(answer.body.contains("Not set up yet"), "{}", answer.body);
    assert!(answer.header("set-cookie").is_none());

    let recorded = newest(&service).await;
    let no_tag = json!([null, null, null]);
    let tag_of = |interaction: &Value| {
        json!([
            interaction["tag_id"],
            interaction["slug"],
            interaction["tag_name"]
        ])
    };
    assert_eq!(tag_of(&recorded), no_tag);
    assert_eq!(recorded["inlay_id"], json!(inlay));
    assert_eq!(recorded["reason"], "verified");
    assert_eq!(recorded["key_issued"], json!(false));
    let expected = format!(r#""interaction_id":{},"tag_id":null"#, recorded["id"]);
    let mut heard = String::new();
    while !heard.contains(&expected) {
        let chunk = stream.chunk().await.unwrap().expect("the stream goes on");
        heard += str::from_utf8(&chunk).unwrap();
    }

    // Its code is spent, and stays spent when the inlay gets a tag. The tap itself stays without
    // one.
    assert_eq!(open(&service, &url).await.status, 200);
    assert_eq!(last(&service).await, (json!(false), json!("replayed")));
    let path = format!("/inlays/{inlay}");
    service
        .admin_patch(&path, json!({ "tag_id": tag.id }))
        .await;
    assert_eq!(tap(&service, &url).await.status, 302);
    assert_eq!(last(&service).await, (json!(false), json!("replayed")));
    assert_eq!(service.scan_count(&tag).await, 1);
    assert_eq!(tap(&service, &chip.url(None)).await.status, 302);
    assert_eq!(last(&service).await, (json!(true), json!("verified")));

    let of_none = service.admin_get("/interactions?no_tag=true&limit=1").await;
    assert_eq!(of_none["items"][0]["reason"], "replayed");
    let next = of_none["next"].as_str().unwrap();
    let page = format!("/interactions?no_tag=true&limit=1&after={next}");
    let page = service.admin_get(&page).await;
    assert_eq!(page["items"][0]["id"], recorded["id"]);
    assert_eq!(page["next"], Value::Null);

    let path = format!("/interactions/{}", recorded["id"]);
    let traced = service.admin_get(&path).await;
    assert_eq!(tag_of(&traced), no_tag);
    let details = traced["steps"].as_array().unwrap().iter();
    let details: Vec<_> = details
        .map(|step| step["detail"].as_str().unwrap())
        .collect();
    assert_eq!(details[0], format!("no tag · uid {} · counter 1", chip.uid));
    assert_eq!(details[1], "authentic");
    assert_eq!(details[4], "none: the inlay is on no tag");
}

#[tokio::test]
async fn erasing_the_traces_of_taps_of_no_tag_erases_what_webhooks_keep_of_them() {
    let service = TestService::start_with(|options| options.settings.private_webhooks = true).await;
    let _house = service.keep_house();
    let settings = settings(ONE_ADDRESS);
    let id = template(&service, &settings, &["11"]).await;
    let mut chip = Chip::new(settings, aes("11", "55"));
    service.inlay(inlay_json(&chip, id, None)).await;
    let receiver = Receiver::start().await;
    let webhook = json!({"url": receiver.url(), "events": ["tap.verified"]});
    let webhook = service.admin_create("/webhooks", webhook).await;
    assert_eq!(open(&service, &chip.url(None)).await.status, 200);
    let log = format!("/webhooks/{}/attempts", webhook["id"]);
    let log = async || service.admin_get(&log).await["items"].clone();
    eventually("the attempt in the log", async || {
        (log().await.as_array()?.len() == 1).then_some(())
    })
    .await;
    let traces = "/interactions/no-tag/traces";
    let erased = service.admin(Method::DELETE, traces, Value::Null).await;
    erased.expect(204);
    assert_eq!(log().await, json!([]));
}

#[tokio::test]
async fn what_changes_of_an_inlay_holds_for_the_next_tap() {
    let (service, tag, mut chip, _) = one_address().await;
    let inlays = service.admin_get("/inlays").await;
    let path = format!("/inlays/{}", inlays["items"][0]["id"]);
    let led_to = async |chip: &mut Chip| {
        let answer = open(&service, &chip.url(None)).await;
        let newest = newest(&service).await;
        (
            answer.status,
            newest["tag_id"].clone(),
            newest["reason"].clone(),
        )
    };
    let verified = |tag: &TestTag| (302, json!(tag.id), json!("verified"));
    assert_eq!(led_to(&mut chip).await, verified(&tag));

    // Moves the inlay to another tag, while both are cached.
    let other = service.redirecting_tag(Value::Null).await;
    service
        .admin_patch(&path, json!({"tag_id": other.id}))
        .await;
    assert_eq!(led_to(&mut chip).await, verified(&other));

    // Removes it from its tag, and adds it again.
    service.admin_patch(&path, json!({"tag_id": null})).await;
    let without = (200, Value::Null, json!("verified"));
    assert_eq!(led_to(&mut chip).await, without);
    service.admin_patch(&path, json!({"tag_id": tag.id})).await;
    assert_eq!(led_to(&mut chip).await, verified(&tag));

    // With new keys, codes of the former keys match no inlay.
    let keys = json!({"meta_key": "11".repeat(16), "file_key": "55".repeat(16)});
    service.admin_patch(&path, keys).await;
    assert_eq!(open(&service, &chip.url(None)).await.status, 404);
    chip.keys = aes("11", "55");
    assert_eq!(led_to(&mut chip).await, verified(&tag));

    // Deletes the inlay with its tag.
    let tag_path = format!("/tags/{}", tag.id);
    service.admin(Method::DELETE, &tag_path, Value::Null).await;
    assert_ne!(led_to(&mut chip).await.0, 302);
    service.admin(Method::DELETE, &path, Value::Null).await;
    assert_eq!(open(&service, &chip.url(None)).await.status, 404);
}

#[tokio::test]
async fn a_reload_of_an_inlay_without_a_tag_is_another_tap() {
    let (service, _, _, id) = one_address().await;
    let mut chip = Chip::new(settings(ONE_ADDRESS), aes("11", "55"));
    service.inlay(inlay_json(&chip, id, None)).await;
    let url = chip.url(None);
    let reload = [("cache-control", "max-age=0")];
    for (headers, received) in [
        (&[][..], (json!(true), json!("verified"))),
        (&reload[..], (json!(false), json!("replayed"))),
    ] {
        let answer = send(&service, Method::GET, &url, headers).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert!(answer.header("set-cookie").is_none(), "there is no key");
        assert_eq!(last(&service).await, received);
    }
}

#[tokio::test]
async fn the_traces_of_taps_without_a_tag_are_erased() {
    let (service, _, _, id) = one_address().await;
    let mut chip = Chip::new(settings(ONE_ADDRESS), aes("11", "55"));
    service.inlay(inlay_json(&chip, id, None)).await;
    for _ in 0..2 {
        open(&service, &chip.url(None)).await;
    }
    assert_eq!(newest(&service).await["returning_day"], json!(true));
    let path = "/interactions/no-tag/traces";
    let erased = service.admin(Method::DELETE, path, Value::Null).await;
    assert_eq!(erased.status, 204, "{}", erased.body);
    assert_eq!(newest(&service).await["returning_day"], json!(false));
    open(&service, &chip.url(None)).await;
    assert_eq!(newest(&service).await["returning_day"], json!(false));
}

#[tokio::test]
async fn parameters_come_in_any_order_among_others_in_either_case_and_percent_encoded() {
    let (service, _, mut chip, _) = one_address().await;
    for counter in 1..=4 {
        let url = chip.url(None);
        let (_, query) = url.split_once('?').unwrap();
        let (picc, mac) = query.split_once('&').unwrap();
        let url = match counter {
            1 => format!("/v?utm_source=x&{mac}&{picc}"),
            2 => format!("/v?{}", query.to_lowercase()),
            3 => format!("/%76?p%69cc_data={}&{mac}", picc.replace("picc_data=", "")),
            _ => format!("/v?{picc}&{mac}&fbclid=1"),
        };
        assert_eq!(tap(&service, &url).await.status, 302, "{url}");
        assert_eq!(last(&service).await.0, json!(true), "{url}");
    }
}

#[tokio::test]
async fn a_cookie_is_named_by_the_url_and_repeats_the_answer() {
    let (service, tag, mut chip, _) = one_address().await;
    let url = chip.url(None);
    let first = open(&service, &url).await;
    let set = first.header("set-cookie").unwrap().to_owned();
    assert!(set.starts_with("tapdesk_tap_"), "{set}");
    assert!(
        set.contains("; Path=/;") && set.ends_with("; Secure"),
        "{set}"
    );
    let cookie = set.split(';').next().unwrap();
    let reload = send(&service, Method::GET, &url, &[("cookie", cookie)]).await;
    assert_eq!(first.header("location"), reload.header("location"));
    assert_eq!(service.scan_count(&tag).await, 1);
    let next = send(
        &service,
        Method::GET,
        &chip.url(None),
        &[("cookie", cookie)],
    )
    .await;
    assert_ne!(first.header("location"), next.header("location"));
    assert_eq!(service.scan_count(&tag).await, 2);
}

#[tokio::test]
async fn head_previews_and_prefetches_use_up_nothing() {
    let (service, tag, mut chip, _) = one_address().await;
    let url = chip.url(None);
    let head = send(&service, Method::HEAD, &url, &[]).await;
    assert_eq!(head.status, 302);
    let prefetch = [("sec-purpose", "prefetch")];
    assert_eq!(
        send(&service, Method::GET, &url, &prefetch).await.status,
        503
    );
    let messenger = [("user-agent", "WhatsApp/2.23")];
    let preview = send(&service, Method::GET, &url, &messenger).await;
    assert_eq!(preview.status, 200);
    assert!(preview.body.contains("Bottle 41"), "{}", preview.body);
    let delete = send(&service, Method::DELETE, &url, &[]).await;
    assert_eq!(
        (delete.status, delete.header("allow")),
        (405, Some("GET, HEAD"))
    );
    assert_eq!(service.scan_count(&tag).await, 0);
    tap(&service, &url).await;
    assert_eq!(last(&service).await.0, json!(true));
}

#[tokio::test]
async fn a_page_takes_its_form_at_its_own_url() {
    let (service, _, _, id) = one_address().await;
    let page = json!({"name": "Page", "kind": "studio", "blocks": [
        {"type": "form", "submit_label": "Save", "fields": [
            {"label": "Owner", "kind": "multiline", "variable": "owner", "required": true},
        ]},
    ]});
    let created = service.admin(Method::POST, "/experiences", page).await;
    let experience = created.expect(201)["id"].clone();
    let tag = json!({"name": "Page", "experience_id": experience, "variables": {"owner": ""}});
    let tag = service.tag(tag).await;
    let mut chip = Chip::new(settings(ONE_ADDRESS), aes("11", "66"));
    service.inlay(inlay_json(&chip, id, Some(&tag))).await;
    let url = chip.url(None);
    let shown = open(&service, &url).await;
    assert_eq!(shown.status, 200, "{}", shown.body);
    let page = scraper::Html::parse_document(&shown.body);
    let field = scraper::Selector::parse("[name=rolling_key]").unwrap();
    let key = page.select(&field).next().unwrap().attr("value").unwrap();
    let answer = service
        .post_form(&url, &[("rolling_key", key), ("tag:variable:owner", "Ada")])
        .header("host", HOST)
        .answer()
        .await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(
        service.variable(&tag, "owner").await.as_deref(),
        Some("Ada")
    );
}

#[tokio::test]
async fn with_a_slug_a_wrong_code_is_the_tags_and_false() {
    let service = TestService::start().await;
    let settings = settings("https://tags.example/{slug}/{picc}{mac}");
    let id = template(&service, &settings, &[]).await;
    let tag = service.redirecting_tag(Value::Null).await;
    let mut chip = Chip::new(settings.clone(), aes("11", "22"));
    service.inlay(inlay_json(&chip, id, Some(&tag))).await;
    let slug = Some(tag.slug.as_str());
    let good = tap(&service, &chip.url(slug)).await;
    assert_eq!(last(&service).await.0, json!(true));
    let payload = service.payload(good.key()).await;
    let address = format!("https://tags.example/{}", tag.slug);
    assert_eq!(payload["metadata"]["url"], json!(address));
    let path = format!("; Path=/{};", tag.slug);
    assert!(good.answer.header("set-cookie").unwrap().contains(&path));

    let mut forged = Chip::new(settings, aes("11", "33"));
    forged.uid = chip.uid;
    let forged = forged.url_at(7, slug);
    assert_eq!(tap(&service, &forged).await.status, 302);
    assert_eq!(last(&service).await, (json!(false), json!("wrong_mac")));
    let malformed = format!("/{}/{}", tag.slug, "Z".repeat(48));
    assert_eq!(tap(&service, &malformed).await.status, 302);
    assert_eq!(last(&service).await, (json!(false), json!("malformed")));
    let nobody = chip.url(Some("nobody-here"));
    assert_eq!(open(&service, &nobody).await.status, 404);
}

#[tokio::test]
async fn a_dry_run_of_a_templates_url_uses_up_nothing() {
    let (service, tag, mut chip, _) = one_address().await;
    let url = format!("https://{HOST}{}", chip.url(None));
    for _ in 0..2 {
        let asked = json!({"url": url});
        let run = service.admin(Method::POST, "/verification", asked).await;
        let run = run.expect(200);
        assert_eq!(run["tag_verified"], json!(true), "{run}");
        assert_eq!(run["tag_id"], json!(tag.id));
        assert_eq!(run["uid"], json!(chip.uid.to_string()));
        assert_eq!(run["at_tag_url"], json!(true));
    }
    assert_eq!(service.scan_count(&tag).await, 0);
    let stranger = Chip::new(settings(ONE_ADDRESS), aes("33", "44"));
    let asked = json!({"url": format!("https://{HOST}{}", stranger.url_at(1, None))});
    let run = service.admin(Method::POST, "/verification", asked).await;
    assert_eq!(run.expect(200)["reason"], json!("no_such_tag"));
}

#[tokio::test]
async fn what_is_twice_or_too_long_names_nobody_and_leaves_no_trace() {
    let (service, _, mut chip, _) = one_address().await;
    let good = chip.url(None);
    let (address, query) = good.split_once('?').unwrap();
    let (picc, mac) = query.split_once('&').unwrap();
    let long = "A".repeat(8 * 1024);
    for url in [
        format!("{address}?{picc}&{picc}&{mac}"),
        format!("{address}?{picc}&{mac}&{mac}"),
        format!("{address}?{picc}&{mac}&p%69cc_data=00"),
        format!("{address}?picc_data={long}&{mac}"),
        format!("{address}?{picc}{long}&{mac}"),
        format!("{address}?{picc}&{mac}00"),
        format!("/{address}?{query}"),
        format!("{address}%00?{query}"),
        format!("{address}?{picc}%00&{mac}"),
        format!("{address}?{picc};{mac}"),
        format!("{address}?{}&{mac}", picc.replace('=', "=%EF%BC%A1")),
    ] {
        let answer = open(&service, &url).await;
        assert_eq!(answer.status, 404, "{url}: {}", answer.body);
    }
    let recorded = service.admin_get("/interactions").await;
    assert_eq!(recorded["items"], json!([]), "nothing is written");
    // Whatever parameters are added, however long, the code verifies once.
    let beside = format!("{address}?x={long}&{query}");
    assert_eq!(tap(&service, &beside).await.status, 302);
    assert_eq!(last(&service).await, (json!(true), json!("verified")));
}

#[tokio::test]
async fn a_slug_with_a_code_that_is_twice_or_too_long_is_malformed() {
    let service = TestService::start().await;
    let settings = settings("https://tags.example/a/{slug}?p={picc}&c={mac}");
    let id = template(&service, &settings, &[]).await;
    let tag = service.redirecting_tag(Value::Null).await;
    let mut chip = Chip::new(settings, aes("11", "22"));
    service.inlay(inlay_json(&chip, id, Some(&tag))).await;
    let good = chip.url(Some(&tag.slug));
    let (address, query) = good.split_once('?').unwrap();
    let (picc, mac) = query.split_once('&').unwrap();
    for query in [
        format!("{picc}&{picc}&{mac}"),
        format!("{picc}{}&{mac}", "A".repeat(4 * 1024)),
        format!("p=&{mac}"),
        picc.to_owned(),
    ] {
        let answer = tap(&service, &format!("{address}?{query}")).await;
        assert_eq!(answer.status, 302, "the owner's page decides");
        assert_eq!(last(&service).await, (json!(false), json!("malformed")));
    }
    assert_eq!(tap(&service, &good).await.status, 302);
    assert_eq!(last(&service).await.0, json!(true), "nothing was used up");
}

#[tokio::test]
async fn a_path_in_another_case_is_a_template_s_if_no_template_has_it_exactly() {
    let service = TestService::start().await;
    let named = settings("https://tags.example/Wine/{slug}?uid={uid}&ctr={counter}&cmac={mac}");
    let named_id = template(&service, &named, &[]).await;
    let tag = service
        .redirecting_tag(json!({"slug": "Bottle-1907"}))
        .await;
    let mut chip = Chip::new(
        named,
        InlayKeys::Aes(Keys {
            meta: None,
            file: key("22"),
        }),
    );
    service.inlay(inlay_json(&chip, named_id, Some(&tag))).await;
    for place in [
        "/Wine/Bottle-1907",
        "/WINE/BOTTLE-1907",
        "/wine/bottle-1907",
    ] {
        let url = chip
            .url(Some(&tag.slug))
            .replace("/Wine/Bottle-1907", place);
        assert_eq!(tap(&service, &url).await.status, 302, "{url}");
        assert_eq!(last(&service).await.0, json!(true), "{url}");
        for appended in ["", "/", "&brid=1"] {
            let url = format!("{place}{appended}");
            assert_eq!(tap(&service, &url).await.status, 302, "{url}");
        }
    }

    // Without a slug, and with another template in capitals.
    let one = settings("https://tags.example/Item?picc_data={picc}&cmac={mac}");
    let one_id = template(&service, &one, &["11"]).await;
    let mut chip = Chip::new(one, aes("11", "22"));
    service.inlay(inlay_json(&chip, one_id, Some(&tag))).await;
    let url = chip.url(None).replace("/Item", "/ITEM");
    assert_eq!(tap(&service, &url).await.status, 302);
    let other = settings("https://tags.example/ITEM?picc_data={picc}&cmac={mac}");
    template(&service, &other, &["33"]).await;
    for (place, status) in [("/Item", 302), ("/ITEM", 404), ("/item", 302)] {
        let url = chip.url(None).replace("/Item", place);
        assert_eq!(tap(&service, &url).await.status, status, "{url}");
    }
}

/// A QR code in capitals, and programs that write the names of parameters in their own way.
#[tokio::test]
async fn names_of_parameters_in_another_case_are_a_template_s_if_none_has_them_exactly() {
    let (service, _, mut chip, _) = one_address().await;
    let names = [
        ("PICC_DATA", "CMAC"),
        ("Picc_Data", "Cmac"),
        ("picc_data", "CMAC"),
    ];
    for (picc, mac) in names {
        let url = chip.url(None);
        let url = url.replace("picc_data", picc).replace("cmac", mac);
        assert_eq!(tap(&service, &url).await.status, 302, "{url}");
        assert_eq!(last(&service).await.0, json!(true), "{url}");
    }
    let url = chip.url(None).to_uppercase() + "/";
    assert_eq!(tap(&service, &url).await.status, 302, "{url}");
    assert_eq!(last(&service).await.0, json!(true), "{url}");
    // The same name twice is no code, in whatever case.
    let url = chip.url(None).replace("cmac", "CMAC");
    let (_, mac) = url.split_once("CMAC=").unwrap();
    assert_eq!(
        tap(&service, &format!("{url}&Cmac={mac}")).await.status,
        404
    );

    // With a slug, and with a fixed parameter.
    let named = settings("https://tags.example/w?Brand=Ab&s={slug}&p={picc}&c={mac}");
    let id = template(&service, &named, &[]).await;
    let slug = json!({"slug": "bottle-1907"});
    let tag = service.redirecting_tag(slug).await;
    let mut chip = Chip::new(named, aes("11", "33"));
    service.inlay(inlay_json(&chip, id, Some(&tag))).await;
    let url = chip.url(Some(&tag.slug)).to_uppercase();
    let answer = tap(&service, &url).await;
    assert_eq!(answer.status, 302, "{url}");
    assert_eq!(last(&service).await.0, json!(true), "{url}");
}

/// Apps append a slash to a whole URL. The code before it is the chip's.
#[tokio::test]
async fn a_slash_behind_the_query_is_forgiven() {
    let (service, _, mut chip, _) = one_address().await;
    for behind in ["/", "&fbclid=1/"] {
        let url = chip.url(None) + behind;
        assert_eq!(tap(&service, &url).await.status, 302, "{url}");
        assert_eq!(last(&service).await.0, json!(true), "{url}");
    }
    let url = chip.url(None) + "//";
    assert_eq!(tap(&service, &url).await.status, 404, "{url}");
}
