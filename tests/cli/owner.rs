//! A day of an owner of 5,000 bottles, from the spreadsheet to the report.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::clock::Timestamp;
use tapdesk_tests::{Answering as _, Client, ServiceProcess, tables};

use super::{launch, run_at};

const PHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15";

/// Imports the owner's table. Its headings get meanings, and its groups are created.
async fn import(service: &ServiceProcess) {
    let file = service.folder().join("Flaschen.csv");
    fs::write(&file, tables::german_bottles()).unwrap();
    let mut import = vec!["import", file.to_str().unwrap(), "--create-groups"];
    for meaning in [
        "Bezeichnung:name",
        "Seriennummer:attribute:serial",
        "Farbe:attribute:colour",
        "Charge:group",
    ] {
        import.extend(["--map", meaning]);
    }
    let said = run_at(service, &import).await.good();
    assert!(said.contains("was read as Windows-1252"), "{said}");
    assert!(said.contains("5000 tags created"), "{said}");
}

async fn group(client: &Client, name: &str, parent: Option<i64>) -> i64 {
    let groups = client.admin_get("/groups?limit=100").await;
    let groups = groups["items"].as_array().unwrap();
    let found = groups
        .iter()
        .find(|group| group["name"] == name && group["parent_id"] == json!(parent));
    found.unwrap_or_else(|| panic!("no group {name}: {groups:?}"))["id"]
        .as_i64()
        .unwrap()
}

async fn count(client: &Client, query: &str) -> Value {
    let page = client
        .admin_get(&format!("/tags?count=true&limit=1&{query}"))
        .await;
    page["count"].clone()
}

/// The only tag that a search finds.
async fn found(client: &Client, text: &str) -> Value {
    let page = client.admin_get(&format!("/tags?q={text}")).await;
    let tags = page["items"].as_array().unwrap();
    assert_eq!(tags.len(), 1, "{tags:?}");
    tags[0].clone()
}

/// Prints the labels of a group on sheets of 24, three in a row. Returns the file.
async fn print(service: &ServiceProcess, group: i64) -> PathBuf {
    let file = service.folder().join("labels.pdf");
    let group = format!("group_id={group}");
    let labels = ["labels", file.to_str().unwrap(), "--filter", &group];
    let sheet = ["--page", "a4", "--columns", "3", "--rows", "8"];
    let sizes = ["--label-mm", "70x36", "--margin-mm", "0x4.5"];
    let text = ["--text", "{{product:name}} {{tag:attribute:serial}}"];
    let unproved = ["--allow-unproved-address"];
    let refused = run_at(service, &labels).await.refused();
    assert!(
        refused.ends_with("give --allow-unproved-address."),
        "{refused}"
    );
    let arguments = [&labels[..], &sheet, &sizes, &text, &unproved].concat();
    let said = run_at(service, &arguments).await.good();
    assert!(said.contains("has 500 labels"), "{said}");
    file
}

fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The code of a label, as a scanner reads it. A label is named by its sheet, row and column, from
/// one.
fn scanned(sheets: &Path, [sheet, row, column]: [u32; 3]) -> String {
    let image = sheets.with_extension("");
    let (file, image) = (sheets.to_str().unwrap(), image.to_str().unwrap());
    // Ten dots are a millimetre.
    let (left, top) = ((column - 1) * 700, 45 + (row - 1) * 360);
    let part = [
        ("-r", 254),
        ("-f", sheet),
        ("-l", sheet),
        ("-x", left),
        ("-y", top),
        ("-W", 700),
        ("-H", 360),
    ];
    let part = part.map(|(name, number)| [name.to_owned(), number.to_string()]);
    let mut arguments: Vec<_> = part.iter().flatten().map(String::as_str).collect();
    arguments.extend(["-gray", "-singlefile", file, image]);
    output("pdftoppm", &arguments);
    let code = output("zbarimg", &["-q", "--raw", &format!("{image}.pgm")]);
    code.trim().to_owned()
}

/// Opens a tag's URL from a country. Returns the destination on the owner's site.
async fn tap(service: &ServiceProcess, url: &str, country: &str) -> String {
    let request = service.get(url).header("user-agent", PHONE);
    let answer = request.header("cf-ipcountry", country).answer().await;
    assert_eq!(answer.status, 302, "{}", answer.body);
    let target = answer.header("location").unwrap();
    let target = target.strip_prefix("https://owner.example/").unwrap();
    let (target, _) = target.split_once("?rk=").unwrap();
    target.to_owned()
}

async fn redirect(service: &ServiceProcess, name: &str, rules: Value) -> Value {
    let redirect = json!({
        "name": name, "kind": "redirect", "rules": rules,
        "target_url": format!("https://owner.example/{name}/{{{{batch:name}}}}"),
    });
    service.admin_create("/experiences", redirect).await["id"].clone()
}

/// Moves the clock to a moment.
async fn advance_to(service: &ServiceProcess, at: &str) {
    let millis = |at: Value| serde_json::from_value::<Timestamp>(at).unwrap().millis();
    let clock = service.admin_get("/clock").await;
    let ahead = millis(json!(at)) - millis(clock["now"].clone());
    let step = json!({"advance_ms": ahead});
    service
        .admin(Method::POST, "/clock", step)
        .await
        .expect(200);
}

#[tokio::test]
async fn the_day_of_an_owner_with_five_thousand_bottles() {
    let service = launch()
        .env("TAPDESK_COUNTRY_HEADER", "CF-IPCountry")
        .env("TAPDESK_TRUSTED_PROXIES", "127.0.0.1")
        .env("TAPDESK_TEST_CLOCK", "1")
        .start()
        .await;
    import(&service).await;
    assert_eq!(count(&service, "").await, 5_000);
    assert_eq!(count(&service, "attribute.colour=wei%C3%9F").await, 2_500);
    let wines = group(&service, "Weine", None).await;
    let red = group(&service, "Château Rouge", Some(wines)).await;
    let white = group(&service, "Weißer Riesling – trocken", Some(wines)).await;
    let lot = group(&service, "L03", Some(red)).await;
    assert_eq!(count(&service, &format!("group_id={lot}")).await, 500);

    // One page for the product, and another one for a country.
    let german = json!([{
        "when": [{"type": "country", "any_of": ["DE"]}],
        "target_url": "https://owner.example/de/{{batch:name}}",
    }]);
    let page = redirect(&service, "en", german).await;
    let change = json!({"experience_id": page});
    service.admin_patch(&format!("/groups/{red}"), change).await;

    // Labels of the batch: 20 full sheets, and 20 labels on another one.
    let labels = print(&service, lot).await;
    let pages = output("pdfinfo", &[labels.to_str().unwrap()]);
    let pages = pages.lines().find_map(|line| line.strip_prefix("Pages:"));
    assert_eq!(pages.unwrap().trim(), "21");
    let texts = output("pdftotext", &[labels.to_str().unwrap(), "-"]);
    for (place, serial) in [([1, 1, 1], "SN-003000"), ([21, 7, 2], "SN-003998")] {
        assert!(
            texts.contains(&format!("Château Rouge {serial}")),
            "{serial}"
        );
        let bottle = found(&service, serial).await;
        assert_eq!(bottle["url"], scanned(&labels, place));
    }

    // Customers scan a label in March.
    let bottle = scanned(&labels, [1, 1, 1]);
    let clock = service.admin_get("/clock").await;
    let year = clock["now"].as_str().unwrap()[..4].parse::<u32>().unwrap() + 1;
    advance_to(&service, &format!("{year}-03-02T08:00:00Z")).await;
    for (country, target) in [("DE", "de/L03"), ("FR", "en/L03")] {
        assert_eq!(tap(&service, &bottle, country).await, target);
    }

    // A recall of the batch leads everybody to its page, until it ends.
    let recall = redirect(&service, "recall", json!([])).await;
    for (change, target) in [
        (
            json!({"status": "recalled", "recall_experience_id": recall}),
            "recall/L03",
        ),
        (json!({"status": "active"}), "en/L03"),
    ] {
        service.admin_patch(&format!("/groups/{lot}"), change).await;
        assert_eq!(tap(&service, &bottle, "FR").await, target);
    }

    // A customer calls with a serial number.
    let called = found(&service, "sn-003014").await;
    assert_eq!(called["name"], "Flasche 3014");
    assert_eq!(called["group_id"], lot);

    // The last half hour of March in Berlin, and the first of April, which is in March elsewhere.
    for time in ["21:30", "22:00"] {
        advance_to(&service, &format!("{year}-03-31T{time}:00Z")).await;
        tap(&service, &bottle, "FR").await;
    }
    let march = format!(
        "step=month&time_zone=Europe/Berlin&since={year}-03-02T00:00:00Z&until={year}-03-03T00:00:00Z"
    );
    let file = format!("/reports/export?{march}&group_id={red}");
    let file = service.admin_request(Method::GET, &file).answer().await;
    assert_eq!(file.status, 200, "{}", file.body);
    for row in [
        format!("month,{year}-03-01T00:00:00+01:00,{year}-03,5,"),
        "country,DE,,1,".to_owned(),
        "country,FR,,4,".to_owned(),
        format!("group,{lot},L03,5,"),
        "Flasche 3000,5,".to_owned(),
    ] {
        assert!(file.body.contains(&row), "{row}: {}", file.body);
    }

    // A colleague sees this product, and nothing else.
    let token = ["token", "create", "Colleague", "--scopes", "read,tags"];
    let limit = ["--group", &red.to_string()];
    let token = run_at(&service, &[&token[..], &limit].concat()).await;
    let colleague = Client::new(service.base(), token.good().trim());
    assert_eq!(count(&colleague, "").await, 2_500);
    assert_eq!(count(&colleague, "q=SN-003013").await, 0);
    let report = colleague.admin_get(&format!("/reports?{march}")).await;
    assert_eq!(report["totals"]["taps"], 5, "{report}");
    let white = format!("/groups/{white}");
    let unseen = colleague.admin(Method::GET, &white, Value::Null).await;
    assert_eq!(unseen.status, 404);
}
