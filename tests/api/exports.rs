//! `/admin/v1/interactions/export`, parsed by Python's own CSV reader.

pub(in crate::api) mod on_the_way;

use std::io::Write as _;
use std::process::{Command, Stdio};

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::TestService;

/// A downloaded export file.
struct File {
    cursor: String,
    text: String,
}

async fn export(service: &TestService, query: &str) -> File {
    let request = service.admin_request(Method::GET, &format!("/interactions/export?{query}"));
    let answer = request.send().await.expect("the service answers");
    assert_eq!(answer.status(), 200);
    let cursor = answer.headers()["tapdesk-cursor"]
        .to_str()
        .expect("text")
        .to_owned();
    let text = answer.text().await.expect("the file arrives whole");
    File { cursor, text }
}

/// Parses CSV with an independent reader; each row becomes a JSON object of texts.
pub(in crate::api) fn read_csv(text: &str) -> Vec<Value> {
    const READER: &str = "import csv, io, json, sys\n\
        text = io.TextIOWrapper(sys.stdin.buffer, encoding='utf-8-sig', newline='')\n\
        print(json.dumps(list(csv.DictReader(text, strict=True))))";
    let mut python = Command::new("python3")
        .args(["-c", READER])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python can be started");
    let mut input = python.stdin.take().expect("a pipe");
    let text = text.as_bytes().to_vec();
    let writer = std::thread::spawn(move || input.write_all(&text));
    let output = python.wait_with_output().expect("Python ends");
    writer.join().expect("a writer").expect("Python reads");
    serde_json::from_slice(&output.stdout).expect("Python prints JSON")
}

pub(in crate::api) fn read_jsonl(text: &str) -> Vec<Value> {
    let rows = text.lines().map(serde_json::from_str);
    rows.collect::<Result<_, _>>().expect("each line is JSON")
}

/// Taps of two tags, with each verdict.
async fn taps(service: &TestService, count: usize) {
    let (tag, mut inlay) = service.bottle().await;
    let formula = json!({"name": "=HYPERLINK(\"x\")\n\"quoted\", ÄÖ"});
    let other = service.redirecting_tag(formula).await;
    for place in 0..count {
        match place % 3 {
            0 => service.tap(&inlay.url(&tag)).await,
            1 => service.tap(&tag.with(&inlay.code_at(1))).await,
            _ => service.tap(&other.path()).await,
        };
        service.advance(301_000);
    }
}

#[tokio::test]
async fn both_formats_have_every_interaction_and_counts_are_those_of_the_statistics() {
    let service = TestService::start().await;
    taps(&service, 60).await;
    let csv = read_csv(&export(&service, "").await.text);
    let jsonl = read_jsonl(&export(&service, "format=jsonl").await.text);
    assert_eq!((csv.len(), jsonl.len()), (60, 60));
    let listed = service.admin_get("/interactions?limit=500").await;
    for (row, item) in jsonl.iter().zip(listed["items"].as_array().expect("items")) {
        for (name, value) in row.as_object().expect("a row") {
            assert_eq!(value, &item[name], "{name}");
        }
        assert!(row.get("uid").is_none() && row.get("file_data").is_none());
    }
    let totals = service.admin_get("/stats").await["totals"].clone();
    let count = |verdict: &str| {
        csv.iter()
            .filter(|row| row["tag_verified"] == verdict)
            .count()
    };
    assert_eq!(
        json!({"verified": count("true"), "not_verified": count("false"), "not_checked": count("")}),
        totals
    );
    let named = csv
        .iter()
        .find(|row| row["tag_verified"] == "")
        .expect("a static tap");
    assert_eq!(named["tag_name"], "'=HYPERLINK(\"x\")\n\"quoted\", ÄÖ");
}

#[tokio::test]
async fn filters_and_columns_are_those_that_are_asked_for() {
    let service = TestService::start().await;
    taps(&service, 12).await;
    let text = export(&service, "verification=verified&columns=reason,id")
        .await
        .text;
    let rows = read_csv(&text);
    assert_eq!(rows.len(), 4);
    assert!(text.starts_with("\u{feff}reason,id\r\n"), "{text}");
    assert!(rows.iter().all(|row| row["reason"] == "verified"));
    for query in [
        "columns=client",
        "columns=id,id",
        "columns=",
        "format=xml",
        "cursor=x",
        "other=1",
    ] {
        let path = format!("/interactions/export?{query}");
        service
            .admin(Method::GET, &path, Value::Null)
            .await
            .expect(422);
    }
}

#[tokio::test]
async fn an_export_that_was_broken_off_goes_on_and_has_nothing_newer() {
    let service = TestService::start().await;
    taps(&service, 20).await;
    let whole = export(&service, "format=jsonl&columns=id").await;
    taps(&service, 3).await;
    let all: Vec<i64> = read_jsonl(&whole.text)
        .iter()
        .map(|row| row["id"].as_i64().expect("an id"))
        .collect();
    assert_eq!(all.len(), 20);
    let query = |cursor: &str| format!("format=jsonl&columns=id&cursor={cursor}");
    let again = export(&service, &query(&whole.cursor)).await;
    assert_eq!(again.text, whole.text);
    let rest = export(&service, &query(&format!("{}.{}", whole.cursor, all[6]))).await;
    let rest: Vec<i64> = read_jsonl(&rest.text)
        .iter()
        .map(|row| row["id"].as_i64().expect("an id"))
        .collect();
    assert_eq!(rest, all[7..]);
}

#[tokio::test]
async fn an_export_of_nothing_has_a_head() {
    let service = TestService::start().await;
    let file = export(&service, "columns=id,at").await;
    assert_eq!(
        (file.text.as_str(), file.cursor.as_str()),
        ("\u{feff}id,at\r\n", "")
    );
}
