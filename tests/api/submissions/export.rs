//! The export, parsed by Python's own CSV reader.

use futures_util::{StreamExt as _, stream};
use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::TestService;
use tapdesk_tests::service::ADMIN_TOKEN;

use super::{Form, list, send};
use crate::api::exports::on_the_way::Slow;
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

/// More submissions than the service reads ahead. A read has 500 rows, and four reads are made
/// before the first row is taken and the reader stops.
const SENT: usize = 2_600;

#[tokio::test]
async fn rows_that_are_erased_while_an_export_is_on_its_way_are_left_out() {
    let service = TestService::start().await;
    let form = Form::new(&service).await;
    stream::iter(0..SENT)
        .for_each_concurrent(16, async |number| {
            let name = ["Ada", "Grace"][number % 2];
            send(&service, &form.tag, name, "", true).await;
        })
        .await;
    let mut export = Slow::begin(&service, "submissions", ADMIN_TOKEN, "id,fields").await;
    let person = json!({"value": "Ada"});
    let erased = service
        .admin(Method::POST, "/submissions/erase", person)
        .await
        .expect(200);
    assert_eq!(erased["erased"], SENT / 2);
    while export.more().await.expect("it stays whole") {}
    let (ids, rows) = (export.ids(), export.rows());
    assert!(ids.is_sorted_by(|before, after| before > after));
    let of = |name: &str| {
        let values = rows.iter().map(|row| &row["fields"][0]["value"]);
        values.filter(|value| *value == name).count()
    };
    assert_eq!(of("Grace"), SENT / 2, "nobody else's");
    assert!((1..SENT / 2).contains(&of("Ada")), "{}", of("Ada"));
    // Of the oldest 600, which had not been read ahead, half are left.
    let oldest = &rows[rows.len() - 200..];
    assert!(
        oldest
            .iter()
            .all(|row| row["fields"][0]["value"] == "Grace")
    );
}

/// Counts both files of an export with `DuckDB`, which is independent of the service.
const RECOUNT: &str = "import duckdb, json, sys\n\
    db = duckdb.connect()\n\
    db.read_csv(sys.argv[1], header=True, all_varchar=True).create_view('csv')\n\
    db.read_json(sys.argv[2], format='newline_delimited').create_view('jsonl')\n\
    def by(table, value):\n    \
        rows = db.sql(f'SELECT {value} AS value, count(*) FROM {table} GROUP BY ALL').fetchall()\n    \
        return {'' if value is None else str(value): many for value, many in rows}\n\
    email = {'csv': '\"field:email\"', 'jsonl': 'fields[2].value'}\n\
    consent = {'csv': 'consent IS NOT NULL', 'jsonl': 'consent IS NOT NULL'}\n\
    tables = ['csv', 'jsonl']\n\
    print(json.dumps({table: {'email': by(table, email[table]), 'consent': by(table, consent[table]),\n    \
        'experience': by(table, 'experience_id')} for table in tables}))";

#[tokio::test]
async fn duckdb_counts_in_both_files_what_the_lists_count() {
    let service = TestService::start().await;
    let forms = [Form::new(&service).await, Form::new(&service).await];
    for number in 0..30 {
        let form = &forms[number % 3 % 2];
        let email = ["ada@example.com", "grace@example.com"][usize::from(number % 5 == 0)];
        let name = format!("=\"{number}\"\nÄÖ,;");
        send(&service, &form.tag, &name, email, number % 4 == 0).await;
        service.advance(301_000);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let files = ["csv", "jsonl"].map(|format| folder.path().join(format));
    for (format, file) in ["csv", "jsonl"].iter().zip(&files) {
        let export = export(&service, &format!("format={format}")).await;
        std::fs::write(file, export.text).expect("a file");
    }
    let python = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/venv/bin/python");
    let output = std::process::Command::new(python)
        .args(["-c", RECOUNT])
        .args(&files)
        .output()
        .expect("Python runs; see .make/setup");
    let said = String::from_utf8_lossy(&output.stderr);
    let counts: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    let count = async |filter: &str| {
        let path = format!("/submissions?limit=1&count=true&{filter}");
        service.admin_get(&path).await["count"].clone()
    };
    let mut experiences = serde_json::Map::new();
    for Form { experience, .. } in &forms {
        let many = count(&format!("experience_id={experience}")).await;
        experiences.insert(experience.to_string(), many);
    }
    let expected = json!({
        "email": {
            "ada@example.com": count("value=ada%40example.com").await,
            "grace@example.com": count("value=grace%40example.com").await,
        },
        "consent": {"True": count("consent=true").await, "False": count("consent=false").await},
        "experience": experiences,
    });
    assert_eq!(counts["csv"], expected);
    assert_eq!(counts["jsonl"], expected);
    assert_eq!(count("").await, 30);
}
