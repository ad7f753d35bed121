//! The export, read back by Python's own reader of CSV.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::TestService;

use super::{Form, list, send};
use crate::api::exports::{read_csv, read_jsonl};

struct File {
    cursor: String,
    text: String,
}

async fn export(service: &TestService, query: &str) -> File {
    let path = format!("/submissions/export?{query}");
    let answer = service.admin_request(Method::GET, &path).send().await;
    let answer = answer.expect("the service answers");
    assert_eq!(answer.status(), 200, "{query}");
    let cursor = answer.headers()["tapdesk-cursor"].to_str().expect("text");
    let cursor = cursor.to_owned();
    let text = answer.text().await.expect("the file arrives whole");
    File { cursor, text }
}

#[tokio::test]
async fn both_formats_have_every_submission_as_the_list_has_it() {
    let service = TestService::start().await;
    let form = Form::new(&service).await;
    for number in 0..20 {
        let name = format!("=cmd|{number}\n\"quoted\", ÄÖ");
        send(
            &service,
            &form.tag,
            &name,
            "ada@example.com",
            number % 2 == 0,
        )
        .await;
        service.advance(1_000);
    }
    let listed = list(&service, "limit=500").await;
    let jsonl = read_jsonl(&export(&service, "format=jsonl").await.text);
    assert_eq!(jsonl.len(), 20);
    for (row, item) in jsonl.iter().zip(&listed) {
        assert_eq!(row, item);
    }
    let text = export(&service, "").await.text;
    assert!(text.starts_with("\u{feff}id,at,"), "{text}");
    let csv = read_csv(&text);
    assert_eq!(csv.len(), 20);
    for (row, item) in csv.iter().zip(&listed) {
        assert_eq!(row["id"], item["id"].to_string());
        let sent = item["fields"][0]["value"].as_str().expect("a name");
        assert_eq!(
            row["field:name"],
            format!("'{sent}"),
            "safe in a spreadsheet"
        );
        assert_eq!(row["field:email"], "ada@example.com");
        let (text, version) = match item["consent"].as_object() {
            Some(consent) => (consent["text"].clone(), json!("1")),
            None => (json!(""), json!("")),
        };
        assert_eq!(
            (&row["consent"], &row["consent_version"]),
            (&text, &version)
        );
    }
}

#[tokio::test]
async fn filters_and_columns_are_those_that_are_asked_for() {
    let service = TestService::start().await;
    let form = Form::new(&service).await;
    send(&service, &form.tag, "Ada", "ada@example.com", true).await;
    send(&service, &form.tag, "Grace", "grace@example.com", false).await;
    let file = export(&service, "consent=true&columns=field:email,id").await;
    assert!(
        file.text
            .starts_with("\u{feff}field:email,id\r\nada@example.com,"),
        "{}",
        file.text
    );
    assert_eq!(read_csv(&file.text).len(), 1);
    for query in [
        "columns=folded",
        "columns=",
        "columns=id,id",
        "format=xml",
        "cursor=x",
        "count=true",
        "cursor=5",
    ] {
        let path = format!("/submissions/export?{query}");
        service
            .admin(Method::GET, &path, Value::Null)
            .await
            .expect(422);
    }
}

#[tokio::test]
async fn an_export_that_was_broken_off_goes_on_and_has_nothing_newer() {
    let service = TestService::start().await;
    let form = Form::new(&service).await;
    for number in 0..9 {
        send(&service, &form.tag, &number.to_string(), "", true).await;
    }
    let whole = export(&service, "columns=id,field:name").await;
    send(&service, &form.tag, "newer", "", true).await;
    let ids: Vec<_> = read_csv(&whole.text)
        .into_iter()
        .map(|row| row["id"].clone())
        .collect();
    let cursor = format!("{}.{}", whole.cursor, ids[3].as_str().expect("an id"));
    let rest = export(&service, &format!("columns=id,field:name&cursor={cursor}"))
        .await
        .text;
    let all: Vec<_> = whole.text.lines().collect();
    let rest: Vec<_> = rest.lines().collect();
    assert_eq!(rest, all[5..]);
    let empty = export(&service, "tag_id=999").await;
    assert_eq!(empty.text.lines().count(), 1, "a head");
}
