//! The moves of the published forms of URLs, by the API only. The stories of the wizard make the same
//! ones.

use tapdesk_tests::fixtures::TEMPLATE_MEMBERS;

use super::*;

/// The moves from other services.
fn moves() -> Vec<Value> {
    let file = include_str!("../../vectors/moves.json");
    serde_json::from_str(file).expect("the vectors are moves")
}

/// The items of a member that may be missing.
fn items<'a>(of: &'a Value, member: &str) -> &'a [Value] {
    of[member].as_array().map_or(&[], Vec::as_slice)
}

/// The preset of a former service, by its title on the screen.
fn preset(service: &str) -> &'static str {
    match service {
        "Blue Bite" => "bluebite",
        "ixkio" => "ixkio",
        "GoToTags" => "gototags",
        "sdm-backend" => "sdm_backend",
        "Bolt Card, LNbits" => "boltcard",
        _ => "csv",
    }
}

/// The key at the position that a slot of the solver names.
fn key_at<'a>(reel: &'a Value, member: &str, slot: &Value) -> Option<&'a Value> {
    items(reel, member).get(usize::try_from(slot.as_u64()?).ok()?)
}

/// The format that is proved, or the one of several that the move chooses.
async fn format(service: &TestService, host: &Value, reel: &Value) -> Value {
    let host = host.as_str().unwrap();
    let urls = items(reel, "urls").iter();
    let urls = urls.map(|path| format!("https://{host}{}", path.as_str().unwrap()));
    let asked = json!({
        "urls": urls.collect::<Vec<_>>(),
        "keys": items(reel, "keys"),
        "master_keys": items(reel, "master_keys"),
    });
    let path = "/url-templates/solve";
    let solved = service.admin(Method::POST, path, asked).await.expect(200);
    let Some(chosen) = reel.get("format") else {
        assert_eq!(solved["certainty"], json!("proved"), "{solved}");
        return solved["candidates"][0].clone();
    };
    let is_chosen = |candidate: &&Value| {
        let chip = serde_json::from_value::<Technology>(candidate["technology"].clone());
        candidate["template"] == chosen["template"] && chosen["chip"] == chip.unwrap().name()
    };
    let mut candidates = items(&solved, "candidates").iter();
    let found = candidates.find(is_chosen);
    found.unwrap_or_else(|| panic!("{solved}")).clone()
}

/// Stores a format with its master key. Returns the ids of the template and of the master key.
async fn stored(service: &TestService, format: &Value, reel: &Value) -> (Value, Option<Value>) {
    let slots = &format["slots"];
    let master = match key_at(reel, "master_keys", &slots["master"]) {
        Some(key) => {
            let derivation = &format["derivation"];
            let body = json!({"name": reel["name"], "key": key, "derivation": derivation});
            Some(service.admin_create("/master-keys", body).await["id"].clone())
        }
        None => None,
    };
    let mut body = json!({"name": reel["name"]});
    for member in TEMPLATE_MEMBERS.into_iter().chain(["lookup"]) {
        body[member] = format[member].clone();
    }
    if reel["shared_factory_key"] == json!(true) {
        body["allow_factory_keys"] = json!(true);
    }
    if let Some(unlisted) = reel.get("unlisted") {
        assert_eq!(unlisted, "Create a tag");
        body["unlisted"] = json!("create");
    }
    let text = format["template"].as_str().unwrap();
    if text.contains("{picc}") && !text.contains("{slug}") {
        // Only a shared key finds the inlay of such a URL.
        match (key_at(reel, "keys", &slots["meta"]), &master) {
            (Some(key), _) => body["meta_keys"] = json!([key]),
            (None, Some(master)) => body["master_key_ids"] = json!([master]),
            (None, None) => {}
        }
    }
    let template = service.admin_create("/url-templates", body).await;
    (template["id"].clone(), master)
}

/// Imports the table of a reel, after a dry run that says the same.
async fn import(
    service: &TestService,
    preset: &str,
    reel: &Value,
    (template, master): &(Value, Option<Value>),
) {
    let lines = items(reel, "table").iter();
    let lines: Vec<_> = lines.map(|line| line.as_str().unwrap()).collect();
    let Some(rows) = lines.len().checked_sub(1) else {
        return;
    };
    let mut query = vec![
        format!("preset={preset}"),
        format!("url_template_id={template}"),
    ];
    query.extend(
        master
            .as_ref()
            .map(|master| format!("master_key_id={master}")),
    );
    let counter = reel["counter"].as_str();
    query.extend(counter.map(|counter| format!("counter={counter}")));
    if reel["factory_keys"] == json!(true) {
        query.push("allow_factory_keys=true".to_owned());
    }
    let meanings = reel["meanings"].as_object().into_iter().flatten();
    query.extend(meanings.map(|(heading, column)| {
        let column = column.as_str().unwrap();
        format!("map={heading}:{column}")
    }));
    let query = query.join("&");
    for dry_run in [true, false] {
        let path = format!("/tags/import?{query}&dry_run={dry_run}");
        let request = service.admin_request(Method::POST, &path);
        let request = request.header("content-type", "text/csv");
        let result = request.body(lines.join("\n")).answer().await.expect(200);
        assert_eq!(result["created"], json!(rows), "{}: {result}", reel["name"]);
    }
}

/// Taps at the old address, and compares each record.
async fn tap_all(service: &TestService, of: &Value) {
    for tap in items(of, "taps") {
        let path = tap["path"].as_str().unwrap();
        let request = service.request(Method::GET, path);
        let host = of["host"].as_str().unwrap();
        let answer = request.header("host", host).answer().await;
        assert_eq!(answer.status, 200, "{}: {path}", of["name"]);
        let recorded = newest(service).await;
        for (member, expected) in [
            ("tag_verified", &tap["verified"]),
            ("reason", &tap["reason"]),
        ] {
            assert_eq!(&recorded[member], expected, "{}: {path}", of["name"]);
        }
        if let Some(tamper) = tap.get("tamper") {
            assert_eq!(&recorded["tamper"], tamper, "{}: {path}", of["name"]);
        }
    }
}

/// Each published form ends with its verdict at the old address. All of them are moved to one
/// service, so that their templates, slugs and chips are beside each other.
#[tokio::test]
async fn each_published_form_is_moved_in_by_the_api() {
    let service = TestService::start().await;
    for of in moves() {
        let mut templates = Vec::new();
        for reel in items(&of, "reels") {
            let format = format(&service, &of["host"], reel).await;
            let stored = stored(&service, &format, reel).await;
            import(
                &service,
                preset(of["service"].as_str().unwrap()),
                reel,
                &stored,
            )
            .await;
            templates.push(stored.0);
        }
        tap_all(&service, &of).await;
        for id in templates {
            let template = service.admin_get(&format!("/url-templates/{id}")).await;
            assert!(template["first_tap_at"].is_string(), "{template}");
        }
    }
}
