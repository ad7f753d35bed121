//! A report agrees with the exported files, which another program counts.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tapdesk_tests::TestService;

use super::{PHONE, ROBOT, export, fold, reported, tap};

/// Counts both files of an export with `DuckDB`, which is independent of the service.
const RECOUNT: &str = "import duckdb, json, sys\n\
    db = duckdb.connect()\n\
    db.read_csv(sys.argv[1], header=True).create_view('csv')\n\
    db.read_json(sys.argv[2], format='newline_delimited').create_view('jsonl')\n\
    def by(table, column):\n    \
        rows = db.sql(f'SELECT {column}, count(*) FROM {table} GROUP BY ALL').fetchall()\n    \
        return {'' if value is None else str(value): taps for value, taps in rows}\n\
    columns = ['reason', 'tech', 'system', 'language', 'experience_id']\n\
    print(json.dumps({table: {column: by(table, column) for column in columns} for table in ['csv', 'jsonl']}))";

#[tokio::test]
async fn duckdb_counts_in_the_files_what_the_statistics_say() {
    let service = TestService::start().await;
    let (bottle, mut inlay) = service.bottle().await;
    let poster = service
        .redirecting_tag(json!({"has_qr_code": true, "name": "=\"quoted\"\nÄÖ,;"}))
        .await;
    for _ in 0..40 {
        let url = inlay.url(&bottle);
        tap(&service, &url, PHONE, "de-AT").await;
        tap(&service, &poster.path(), ROBOT, "pt-BR").await;
        service.advance(301_000);
        tap(&service, &url, "curl/8.5.0", "").await;
    }
    service.advance(1);
    fold(&service).await;
    let folder = tempfile::tempdir().expect("a folder");
    let files = ["csv", "jsonl"].map(|format| folder.path().join(format));
    for (format, file) in ["csv", "jsonl"].iter().zip(&files) {
        let text = export(&service, &format!("/interactions/export?format={format}")).await;
        std::fs::write(file, text).expect("a file");
    }
    let python = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/venv/bin/python");
    let output = std::process::Command::new(python)
        .args(["-c", RECOUNT])
        .args(&files)
        .output()
        .expect("Python runs; see .make/setup");
    let said = String::from_utf8_lossy(&output.stderr);
    let counts: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    let stats = service.admin_get("/stats").await;
    let report = service.admin_get("/reports").await;
    let reasons = stats["reasons"].as_array().expect("a list").iter();
    let reasons = reasons.map(|one| {
        (
            one["reason"].as_str().expect("a name").to_owned(),
            &one["taps"],
        )
    });
    let expected = json!({
        "reason": reasons.collect::<BTreeMap<_, _>>(),
        "tech": reported(&report, "technologies", "value"),
        "system": reported(&report, "systems", "value"),
        "language": reported(&report, "languages", "value"),
        "experience_id": reported(&report, "experiences", "experience_id"),
    });
    assert_eq!(counts["csv"], expected);
    assert_eq!(counts["jsonl"], expected);
    assert_eq!(stats["totals"]["verified"], 40);
}
