//! Searches all tables of a database, for both databases.

use std::collections::BTreeSet;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use tapdesk_tests::TestService;
use tapdesk_tests::fixtures::hex;

/// The tables that contain a text of lower-case letters, in any case, as text or as bytes.
pub(super) async fn holding(service: &TestService, text: &str) -> BTreeSet<String> {
    let lower = |found: &[u8]| found.to_ascii_lowercase();
    look(service, text.as_bytes(), Some(text), lower).await
}

/// The tables that contain these bytes.
pub(super) async fn holding_bytes(service: &TestService, bytes: &[u8]) -> BTreeSet<String> {
    look(service, bytes, None, <[u8]>::to_vec).await
}

async fn look(
    service: &TestService,
    bytes: &[u8],
    text: Option<&str>,
    as_searched: fn(&[u8]) -> Vec<u8>,
) -> BTreeSet<String> {
    match service.postgres() {
        None => in_file(&file(service), bytes, as_searched),
        Some(database) => {
            let client = database.connect().await.expect("the server answers");
            let names = "SELECT relname::TEXT FROM pg_class
                 WHERE relkind = 'r' AND relnamespace = 'public'::REGNAMESPACE";
            let tables = client.query(names, &[]).await.expect("the catalogue");
            let bytes = format!("%{}%", hex(bytes));
            let text = text.map_or_else(|| bytes.clone(), |text| format!("%{text}%"));
            let mut found = BTreeSet::new();
            for table in tables {
                let table: String = table.get(0);
                let sql = format!(
                    "SELECT count(*) FROM \"{table}\" r WHERE r::TEXT ILIKE $1 OR r::TEXT ILIKE $2"
                );
                let rows = client.query_one(&sql, &[&text, &bytes]).await;
                if rows.expect("its rows").get::<_, i64>(0) > 0 {
                    found.insert(table);
                }
            }
            found
        }
    }
}

/// The bytes that a statement selects; both databases understand the statement.
pub(super) async fn bytes(service: &TestService, sql: &str) -> Vec<Option<Vec<u8>>> {
    match service.postgres() {
        None => {
            let file = file(service);
            let mut statement = file.prepare(sql).expect("a statement");
            let rows = statement.query_map([], |row| row.get(0));
            rows.expect("rows").map(|row| row.expect("bytes")).collect()
        }
        Some(database) => {
            let client = database.connect().await.expect("the server answers");
            let rows = client.query(sql, &[]).await.expect("rows");
            rows.iter().map(|row| row.get(0)).collect()
        }
    }
}

fn file(service: &TestService) -> Connection {
    let path = service.folder().join("tapdesk.db");
    let read = OpenFlags::SQLITE_OPEN_READ_ONLY;
    Connection::open_with_flags(path, read).expect("the file can be read")
}

fn in_file(file: &Connection, bytes: &[u8], as_searched: fn(&[u8]) -> Vec<u8>) -> BTreeSet<String> {
    let mut names = file
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
        .expect("the catalogue");
    let names = names.query_map([], |row| row.get::<_, String>(0));
    let names = names
        .expect("tables")
        .map(|name| name.expect("a name"))
        .filter(|table| {
            let sql = format!("SELECT * FROM \"{table}\"");
            let mut all = file.prepare(&sql).expect("a table");
            let columns = all.column_count();
            let mut rows = all.query([]).expect("its rows");
            let mut holds = false;
            while let Some(row) = rows.next().expect("a row") {
                holds |= (0..columns).any(|column| match row.get_ref(column).expect("a value") {
                    ValueRef::Text(found) | ValueRef::Blob(found) => {
                        memchr::memmem::find(&as_searched(found), bytes).is_some()
                    }
                    _ => false,
                });
            }
            holds
        });
    names.collect()
}
