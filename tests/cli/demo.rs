//! `demo`, `tap` and `tail`: a newcomer's first five minutes.

use serde_json::Value;
use tapdesk_tests::ServiceProcess;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use super::{BINARY, launch, run_at, run_with};

async fn with_demo() -> ServiceProcess {
    let service = launch().start().await;
    run_at(&service, &["demo"]).await.good();
    service
}

async fn simulated(service: &ServiceProcess, path: &str) -> usize {
    let list = service.admin_get(path).await;
    list["items"].as_array().unwrap().len()
}

#[tokio::test]
async fn demo_data_is_loaded_once_and_can_be_removed_and_loaded_again() {
    let service = with_demo().await;
    for _ in 0..2 {
        let tags = service.admin_get("/tags?simulated=true").await;
        let mut slugs: Vec<_> = tags["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tag| tag["slug"].as_str().unwrap())
            .collect();
        slugs.sort_unstable();
        assert_eq!(slugs, ["demo-bottle", "demo-jacket", "demo-poster"]);
        assert_eq!(simulated(&service, "/simulator/inlays").await, 2);
        assert_eq!(simulated(&service, "/experiences").await, 1);
        assert_eq!(
            simulated(&service, "/tags").await,
            0,
            "nothing of it is real"
        );
        let again = run_at(&service, &["demo"]).await.good();
        assert!(again.contains("already loaded"), "{again}");

        run_at(&service, &["demo", "--remove"]).await.good();
        for path in ["/tags?simulated=all", "/simulator/inlays", "/experiences"] {
            assert_eq!(simulated(&service, path).await, 0, "{path}");
        }
        let none = run_at(&service, &["demo", "--remove"]).await.good();
        assert_eq!(none, "There is no demo data.\n");
        run_at(&service, &["demo"]).await.good();
    }
}

#[tokio::test]
async fn commands_to_copy_have_a_path_with_spaces_in_quotes() {
    let service = launch().start().await;
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("my data/tapdesk.db");
    let environment = [
        ("TAPDESK_URL", service.base()),
        ("TAPDESK_ADMIN_TOKEN", service.admin_token()),
    ];
    let demo = run_with(&database, &environment, &["demo"]).await.good();
    let quoted = format!("--database 'sqlite:{}'", database.display());
    assert!(demo.contains(&quoted), "{demo}");
}

#[tokio::test]
async fn a_tap_prints_a_one_time_url_that_verifies_once() {
    let service = with_demo().await;
    for slug in ["demo-bottle", "demo-jacket"] {
        let urls = run_at(&service, &["tap", slug, "--count", "2"])
            .await
            .good();
        let urls: Vec<_> = urls.lines().collect();
        assert_eq!(urls.len(), 2);
        assert_ne!(urls[0], urls[1]);
        for (url, verified) in [(urls[0], true), (urls[1], true), (urls[0], false)] {
            let tap = service.tap(url).await;
            let payload = service.payload(tap.key()).await;
            assert_eq!(payload["tag_verified"], Value::Bool(verified), "{url}");
        }
    }
}

/// The rule of a tap: the exact slug, a former one, or the only one in another case.
#[tokio::test]
async fn a_tap_finds_the_tag_that_a_path_with_the_slug_names() {
    let service = with_demo().await;
    let tag = async |slug: &str| {
        let new = serde_json::json!({"name": slug, "slug": slug});
        service.admin_create("/tags", new).await["id"].clone()
    };
    let renamed = tag("Former-One").await;
    let path = format!("/tags/{renamed}");
    let slug = serde_json::json!({"slug": "Present-One"});
    service.admin_patch(&path, slug).await;
    tag("Twice-aa").await;
    tag("Twice-AA").await;
    for (asked, slug) in [
        ("Present-One", "Present-One"),
        ("PRESENT-ONE", "Present-One"),
        ("Former-One", "Former-One"),
        ("former-one", "former-one"),
        ("Twice-aa", "Twice-aa"),
        ("Twice-AA", "Twice-AA"),
    ] {
        let url = run_at(&service, &["tap", asked]).await.good();
        let path = format!("/t/{slug}");
        assert!(
            url.trim().to_lowercase().ends_with(&path.to_lowercase()),
            "{asked}: {url}"
        );
        assert_eq!(service.tap(url.trim()).await.status, 200, "{asked}: {url}");
    }
    let first = run_at(&service, &["tap", "DEMO-BOTTLE"]).await.good();
    assert!(first.contains("/t/demo-bottle?"), "{first}");
    for nobody in ["twice-AA", "twice-aa", "a/b", "demo bottle", "%"] {
        let said = run_at(&service, &["tap", nobody]).await.refused();
        assert!(said.contains("no tag with the slug"), "{nobody}: {said}");
    }
}

#[tokio::test]
async fn the_demo_poster_has_a_plain_url_and_nothing_to_verify() {
    let service = with_demo().await;
    let url = run_at(&service, &["tap", "demo-poster"]).await.good();
    assert_eq!(url.trim(), format!("{}/t/demo-poster", service.base()));
    let tap = service.tap(url.trim()).await;
    let payload = service.payload(tap.key()).await;
    assert_eq!(payload["tag_verified"], Value::Null);
}

#[tokio::test]
async fn a_followed_tap_shows_every_step_and_updates_the_variable() {
    let service = with_demo().await;
    let tap = ["tap", "demo-bottle", "--follow", "--set", "registered=true"];
    let shown = run_at(&service, &tap).await.good();
    for step in [
        "● URL",
        "● MAC",
        "● Counter",
        "● Record",
        "● Key",
        "● Redirect",
        "● Payload",
        "● Update",
    ] {
        assert!(shown.contains(step), "{step}: {shown}");
    }
    let tags = service
        .admin_get("/tags?simulated=true&q=demo-bottle")
        .await;
    let tag = service
        .admin_get(&format!("/tags/{}", tags["items"][0]["id"]))
        .await;
    assert_eq!(tag["variables"]["registered"], "true");
}

#[tokio::test]
async fn a_followed_tap_says_why_its_update_was_refused() {
    let service = with_demo().await;
    let tap = ["tap", "demo-bottle", "--follow", "--set", "no such key=1"];
    let said = run_at(&service, &tap).await.refused();
    assert!(said.starts_with("The update was refused:"), "{said}");
    let said = run_at(&service, &["tap", "nobody"]).await.refused();
    assert!(said.contains("no tag with the slug nobody"), "{said}");
}

#[tokio::test]
async fn tail_shows_taps_and_updates_as_they_happen() {
    let service = with_demo().await;
    let listen = |arguments: &[&str]| {
        let mut tail = Command::new(BINARY)
            .arg("tail")
            .args(arguments)
            .env("TAPDESK_URL", service.base())
            .env("TAPDESK_ADMIN_TOKEN", service.admin_token())
            .stdout(std::process::Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let lines = BufReader::new(tail.stdout.take().unwrap()).lines();
        (tail, lines)
    };
    let (_words, mut words) = listen(&[]);
    let (_json, mut json) = listen(&["--json"]);
    // Events before the streams began are not sent, so tap until both have received one.
    let heard = async {
        (
            words.next_line().await.unwrap().unwrap(),
            json.next_line().await.unwrap().unwrap(),
        )
    };
    let tapping = async {
        loop {
            run_at(
                &service,
                &["tap", "demo-bottle", "--follow", "--set", "registered=true"],
            )
            .await
            .good();
        }
    };
    let (line, event) = tokio::select! {
        heard = heard => heard,
        () = tapping => unreachable!("it never ends"),
    };
    assert!(
        line.contains("demo-bottle") && line.contains("simulated"),
        "{line}"
    );
    let event: Value = serde_json::from_str(&event).unwrap();
    assert_eq!(event["simulated"], true);
}

#[tokio::test]
async fn what_a_visitor_wrote_moves_no_cursor() {
    let service = with_demo().await;
    let tap = ["tap", "demo-bottle", "--follow", "--set"];
    let set = [&tap[..], &["registered=a\u{1b}[2Jb\u{9b}c\nd"]].concat();
    let shown = run_at(&service, &set).await.good();
    let update = shown.lines().find(|line| line.contains("Update"));
    let update = update.unwrap_or_else(|| panic!("no update: {shown}"));
    assert!(!update.contains(char::is_control), "{update:?}");
    assert!(update.ends_with('d'), "on one line: {update:?}");
}
