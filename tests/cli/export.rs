//! `export interactions` and `export submissions`.

use std::fs;

use serde_json::{Value, json};

use tapdesk_tests::Answering as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::{launch, run_at, run_with};

#[tokio::test]
async fn interactions_are_saved_in_either_format_with_filters_and_columns() {
    let service = launch().start().await;
    let (bottle, mut inlay) = service.bottle().await;
    let poster = service.redirecting_tag(Value::Null).await;
    for _ in 0..3 {
        service.tap(&inlay.url(&bottle)).await;
        service.tap(&poster.path()).await;
    }
    let file = service.folder().join("taps.csv");
    let export = ["export", "interactions", file.to_str().unwrap()];
    let said = run_at(&service, &export).await.good();
    assert!(said.contains("holds the interactions"), "{said}");
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.lines().count(), 7, "{text}");
    assert!(!text.lines().next().unwrap().contains("uid"), "{text}");
    let said = run_at(&service, &export).await.refused();
    assert!(said.contains("exists already"), "{said}");

    let filter = format!("tag_id={}", bottle.id);
    let some = [
        "export",
        "interactions",
        "-",
        "--format",
        "jsonl",
        "--columns",
        "id,tag_verified,uid",
        "--filter",
        &filter,
        "--filter",
        "verification=verified",
    ];
    let rows = run_at(&service, &some).await.good();
    let rows: Vec<Value> = rows
        .lines()
        .map(|row| serde_json::from_str(row).unwrap())
        .collect();
    let path = format!("/interactions?{filter}");
    let listed = service.admin_get(&path).await;
    let expected = listed["items"].as_array().unwrap().iter();
    let expected: Vec<Value> = expected
        .map(
            |tap| json!({"id": tap["id"], "tag_verified": true, "uid": inlay.chip.uid.to_string()}),
        )
        .collect();
    assert_eq!(rows, expected);

    let none = run_at(&service, &["export", "submissions", "-"])
        .await
        .good();
    assert_eq!(none.lines().count(), 1, "{none}");
    let wrong = ["export", "interactions", "-", "--columns", "hash"];
    let said = run_at(&service, &wrong).await.refused();
    assert!(said.contains("no column"), "{said}");
}

/// A submissions export has a column for each field. The rest of a file uses the columns of its
/// head, even if no row of the rest has a value for one.
#[tokio::test]
async fn the_rest_of_the_submissions_fits_the_part_that_arrived() {
    let service = launch().start().await;
    for variable in ["first", "second"] {
        let fields = json!([{"label": "Name", "kind": "text", "variable": variable}]);
        let blocks = json!([{"type": "form", "submit_label": "Send", "fields": fields}]);
        let page = json!({"name": "Ask", "kind": "studio", "blocks": blocks});
        let experience = service.experience(page).await;
        let variables = json!({"first": "", "second": ""});
        let tag = json!({"name": "T", "experience_id": experience, "variables": variables});
        let tag = service.tag(tag).await;
        let page = service.tap(&tag.path()).await.answer.body;
        let (_, key) = page.split_once(r#"name="rolling_key" value=""#).unwrap();
        let (key, _) = key.split_once('"').unwrap();
        let name = format!("tag:variable:{variable}");
        let fields = [("rolling_key", key), ("form", "1"), (&name, variable)];
        let sent = service.post_form(&tag.path(), &fields).answer().await;
        assert_eq!(sent.status, 200, "{}", sent.body);
    }
    let file = service.folder().join("whole.csv");
    let export = ["export", "submissions", file.to_str().unwrap()];
    run_at(&service, &export).await.good();
    let whole = fs::read_to_string(&file).unwrap();
    let lines: Vec<_> = whole.split_inclusive("\r\n").collect();
    assert_eq!(lines.len(), 3, "{whole}");
    let file = service.folder().join("again.csv");
    fs::write(service.folder().join("again.csv.part"), lines[..2].concat()).unwrap();
    let last = lines[1].split(',').next().unwrap();
    let cursor = format!("{last}.{last}");
    let resumed = [
        "export",
        "submissions",
        file.to_str().unwrap(),
        "--cursor",
        &cursor,
    ];
    run_at(&service, &resumed).await.good();
    assert_eq!(fs::read_to_string(&file).unwrap(), whole);
}

/// A service that sends a part of an export, and the rest to a client that asks for the columns of
/// the part.
async fn breaking_off() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        for (asked, body) in [
            (
                "format=csv ",
                "\u{feff}id,field:name\r\n7,a\r\n6,\"b\nb\"\r\n5,\"c\n",
            ),
            ("columns=id%2Cfield%3Aname&cursor=7.6 ", "5,\"c\nc\"\r\n"),
        ] {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = vec![0; 4096];
            let read = stream.read(&mut head).await.unwrap();
            let head = String::from_utf8_lossy(&head[..read]).into_owned();
            assert!(head.contains(asked), "{head}");
            let end = if asked.starts_with("columns") {
                "0\r\n\r\n"
            } else {
                ""
            };
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\ntapdesk-cursor: 7\r\nconnection: close\r\n\
                 transfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n{end}",
                body.len()
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
        }
    });
    url
}

#[tokio::test]
async fn what_was_broken_off_is_continued_with_the_cursor_that_is_named() {
    for what in ["interactions", "submissions"] {
        continued(what).await;
    }
}

async fn continued(what: &str) {
    let url = breaking_off().await;
    let launch = launch();
    let folder = launch.folder.path();
    let file = folder.join("taps.csv");
    let environment = [
        ("TAPDESK_URL", &*url),
        ("TAPDESK_ADMIN_TOKEN", "0123456789abcdef0123456789abcdef"),
    ];
    let export = ["export", what, file.to_str().unwrap()];
    let resumed = [&export[..], &["--cursor", "7.6"]].concat();
    let said = run_with(&launch.database(), &environment, &resumed).await;
    assert!(said.refused().contains("nothing to continue"));
    let said = run_with(&launch.database(), &environment, &export).await;
    let said = said.refused();
    assert!(said.contains("add --cursor 7.6 to"), "{said}");
    let part = fs::read_to_string(folder.join("taps.csv.part")).unwrap();
    assert_eq!(part, "\u{feff}id,field:name\r\n7,a\r\n6,\"b\nb\"\r\n");
    run_with(&launch.database(), &environment, &resumed)
        .await
        .good();
    let whole = fs::read_to_string(&file).unwrap();
    assert_eq!(whole, part + "5,\"c\nc\"\r\n");
    assert!(!folder.join("taps.csv.part").exists());
}
