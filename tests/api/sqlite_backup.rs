//! `/admin/v1/backup`. The tests of the command line restore such backups.

use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use tapdesk_tests::TestService;

/// A backup is a copy of the SQLite file, so PostgreSQL has none.
async fn service() -> TestService {
    TestService::on_sqlite().await
}

async fn backup(service: &TestService, request: Value) -> (HeaderMap, Vec<u8>) {
    let request = service
        .admin_request(Method::POST, "/backup")
        .json(&request);
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200);
    let headers = response.headers().clone();
    (headers, response.bytes().await.unwrap().to_vec())
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[tokio::test]
async fn a_backup_is_a_database_file_of_known_length() {
    let service = service().await;
    let (headers, file) = backup(&service, json!({})).await;
    assert!(file.starts_with(b"SQLite format 3\0"));
    assert_eq!(headers["content-type"], "application/vnd.sqlite3");
    assert_eq!(headers["content-length"], file.len().to_string());
    assert_eq!(
        headers["content-disposition"],
        "attachment; filename=\"tapdesk-20260101T120000Z.db\""
    );
}

#[tokio::test]
async fn a_backup_says_whether_it_carries_the_inlay_key_and_never_shows_it() {
    let service = service().await;
    let key = std::fs::read_to_string(service.folder().join("inlay.key")).unwrap();
    let key = key.trim();
    let bytes: Vec<_> = (0..64)
        .step_by(2)
        .map(|i| u8::from_str_radix(&key[i..i + 2], 16).unwrap())
        .collect();

    let (headers, file) = backup(&service, json!({"passphrase": null})).await;
    assert_eq!(headers["tapdesk-inlay-key"], "not-included");
    assert!(contains(&file, b"\"inlay_key\":null"));

    let (headers, file) = backup(&service, json!({"passphrase": "correct horse battery"})).await;
    assert_eq!(headers["tapdesk-inlay-key"], "included");
    for secret in [key.as_bytes(), &bytes, b"correct horse battery"] {
        assert!(!contains(&file, secret));
    }
}

#[tokio::test]
async fn a_backup_leaves_no_file_behind_and_holds_no_live_rolling_key() {
    let service = service().await;
    let (tag, mut inlay) = service.bottle().await;
    let tap = service.tap(&inlay.url(&tag)).await;
    let names = || {
        let entries = std::fs::read_dir(service.folder()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    let (_, file) = backup(&service, json!({})).await;
    assert_eq!(names(), before);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup.db");
    std::fs::write(&path, &file).unwrap();
    let copy = rusqlite::Connection::open(&path).unwrap();
    let rows = |table: &str| -> i64 {
        copy.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
            row.get(0)
        })
        .unwrap()
    };
    assert_eq!(rows("interactions"), 1);
    let living = "SELECT count(*) FROM interactions WHERE id > (SELECT up_to FROM expired_keys)";
    let living: i64 = copy.query_row(living, [], |row| row.get(0)).unwrap();
    assert_eq!(living, 0);
    // The running service continues with the key.
    assert!(service.payload(tap.key()).await.is_object());
}

#[tokio::test]
async fn a_short_passphrase_is_refused() {
    let service = service().await;
    for request in [
        json!({"passphrase": "short"}),
        json!({"passphrase": 1}),
        json!({"pass": "x"}),
    ] {
        service
            .admin(Method::POST, "/backup", request)
            .await
            .expect(422);
    }
}
