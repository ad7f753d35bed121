//! `/admin/v1/sheets`.

mod report;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answering, TestService};

async fn sheet(service: &TestService) -> String {
    let sheet = json!({"name": "Delivery 12", "expected": {"tag_verified": true}, "planned": 25});
    let created = service.admin_create("/sheets", sheet).await;
    format!("/sheets/{}", created["id"])
}

/// The author of rows that a test sends.
fn by() -> Value {
    json!({"kind": "installation", "id": null, "name": null})
}

fn row(uid: &str, verdict: &str) -> Value {
    json!({"uid": uid, "tag_id": 7, "counter": 3, "verdict": verdict, "reason": "as it should be"})
}

#[tokio::test]
async fn a_sheet_keeps_its_rows_in_order_over_a_restart() {
    let service = TestService::start().await;
    let sheet = sheet(&service).await;
    let rows = format!("{sheet}/rows");
    let first = service
        .admin_create(&rows, row("04de5f1eacc040", "ok"))
        .await;
    assert_eq!(
        first,
        json!({"position": 1, "at": "2026-01-01T12:00:00Z", "by": by(), "uid": "04DE5F1EACC040",
               "tag_id": 7, "counter": 3, "verdict": "ok", "reason": "as it should be", "reader": null,
               "photo": null})
    );
    service.advance(1_000);
    let unreadable = json!({"verdict": "unreadable", "reader": "ACS ACR1252 1S CL Reader"});
    service.admin_create(&rows, unreadable).await;

    let service = service.restart(0).await;
    let whole = service.admin_get(&sheet).await;
    assert_eq!(whole["name"], "Delivery 12");
    assert_eq!(
        whole["expected"],
        json!({"tag_url": null, "experience_id": null, "tag_verified": true, "locked": null})
    );
    assert_eq!(
        (&whole["planned"], &whole["row_count"]),
        (&json!(25), &json!(2))
    );
    assert_eq!(whole["rows"][0], first);
    assert_eq!(
        whole["rows"][1],
        json!({"position": 2, "at": "2026-01-01T12:00:01Z", "by": by(), "uid": null,
               "tag_id": null, "counter": null, "verdict": "unreadable", "reason": "",
               "reader": "ACS ACR1252 1S CL Reader", "photo": null})
    );
}

#[tokio::test]
async fn a_sheet_keeps_the_tag_url_that_its_inlays_should_have() {
    let service = TestService::start().await;
    let sheet =
        json!({"name": "Delivery 12", "expected": {"tag_url": " https://tags.example/t/ "}});
    let created = service.admin_create("/sheets", sheet).await;
    assert_eq!(created["expected"]["tag_url"], "https://tags.example/t");
    let service = service.restart(0).await;
    let kept = service
        .admin_get(&format!("/sheets/{}", created["id"]))
        .await;
    assert_eq!(kept["expected"], created["expected"]);
}

#[tokio::test]
async fn a_uid_that_was_there_before_is_stored_with_the_verdict_that_was_sent() {
    let service = TestService::start().await;
    let sheet = sheet(&service).await;
    let rows = format!("{sheet}/rows");
    for verdict in ["ok", "duplicate", "ok"] {
        service
            .admin_create(&rows, row("04DE5F1EACC040", verdict))
            .await;
    }
    let whole = service.admin_get(&sheet).await;
    let verdicts = whole["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["verdict"]);
    assert_eq!(verdicts.collect::<Vec<_>>(), ["ok", "duplicate", "ok"]);
}

#[tokio::test]
async fn a_closed_sheet_takes_no_rows_until_it_is_opened_again() {
    let service = TestService::start().await;
    let sheet = sheet(&service).await;
    let rows = format!("{sheet}/rows");
    let closed = service
        .admin_patch(&sheet, json!({"name": "Delivery 12, done", "closed": true}))
        .await;
    assert_eq!(closed["name"], "Delivery 12, done");
    assert_eq!(closed["closed_at"], "2026-01-01T12:00:00Z");
    let refused = service
        .admin(Method::POST, &rows, row("04DE5F1EACC040", "ok"))
        .await;
    refused.expect(409);
    let opened = service.admin_patch(&sheet, json!({"closed": false})).await;
    assert_eq!(opened["closed_at"], Value::Null);
    service
        .admin_create(&rows, row("04DE5F1EACC040", "ok"))
        .await;
}

#[tokio::test]
async fn sheets_are_listed_the_newest_first() {
    let service = TestService::start().await;
    for name in ["a", "b", "c"] {
        service.admin_create("/sheets", json!({"name": name})).await;
    }
    let first = service.admin_get("/sheets?limit=2&count=true").await;
    assert_eq!(first["count"], 3);
    let after = first["next"].as_str().unwrap();
    let second = service
        .admin_get(&format!("/sheets?limit=2&after={after}"))
        .await;
    let all = first["items"]
        .as_array()
        .unwrap()
        .iter()
        .chain(second["items"].as_array().unwrap());
    let names: Vec<_> = all.map(|sheet| sheet["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["c", "b", "a"]);
    assert_eq!(second["next"], Value::Null);
}

#[tokio::test]
async fn what_is_no_sheet_or_row_is_refused_in_words() {
    let service = TestService::start().await;
    let sheet = sheet(&service).await;
    for body in [
        json!({}),
        json!({"name": ""}),
        json!({"name": "a", "planned": 0}),
        json!({"name": "a", "planned": 10_001}),
        json!({"name": "a", "expected": {"colour": "red"}}),
        json!({"name": "a", "closed": true}),
        json!({"name": "a", "expected": {"tag_url": "tags.example/t"}}),
        json!({"name": "a", "expected": {"tag_url": "https://tags.example/t?a=1"}}),
        json!({"name": "a", "expected": {"tag_url": ""}}),
    ] {
        service
            .admin(Method::POST, "/sheets", body)
            .await
            .expect(422);
    }
    for body in [
        json!({}),
        json!({"verdict": ""}),
        json!({"verdict": "not ok"}),
        json!({"verdict": "ok", "uid": "04DE5F"}),
        json!({"verdict": "ok", "uid": "04DE5F1EACC04G"}),
        json!({"verdict": "ok", "counter": 16_777_216}),
        json!({"verdict": "ok", "counter": -1}),
        json!({"verdict": "ok", "reason": "a\u{0}b"}),
        json!({"verdict": "ok", "position": 9}),
        json!({"verdict": "ok", "by": {"kind": "token", "id": 1, "name": "Somebody"}}),
        json!({"verdict": "ok", "reader": "a\u{0}b"}),
        json!({"verdict": "ok", "reader": "r".repeat(201)}),
    ] {
        let answer = service
            .admin(Method::POST, &format!("{sheet}/rows"), body)
            .await;
        answer.expect(422);
    }
    for body in [
        json!({"name": null}),
        json!({"expected": {}}),
        json!({"planned": "many"}),
    ] {
        service.admin(Method::PATCH, &sheet, body).await.expect(422);
    }
    for (method, path) in [
        (Method::GET, "/sheets/999"),
        (Method::GET, "/sheets/none"),
        (Method::GET, "/sheets/999/export"),
        (Method::GET, "/sheets/999/report.pdf"),
    ] {
        service.admin(method, path, Value::Null).await.expect(404);
    }
    service
        .admin(Method::PATCH, "/sheets/999", json!({}))
        .await
        .expect(404);
    let nowhere = service.admin(
        Method::POST,
        "/sheets/999/rows",
        row("04DE5F1EACC040", "ok"),
    );
    nowhere.await.expect(404);
    let signed = json!({"signer": "Anna Berg", "row_count": 0});
    let nowhere = service.admin(Method::POST, "/sheets/999/sign-off", signed);
    nowhere.await.expect(404);
    for body in [
        json!({"signer": "Anna Berg"}),
        json!({"signer": " ", "row_count": 0}),
        json!({"signer": "a".repeat(201), "row_count": 0}),
        json!({"signer": "Anna Berg", "row_count": -1}),
        // The sheet is empty.
        json!({"signer": "Anna Berg", "row_count": 0}),
    ] {
        let path = format!("{sheet}/sign-off");
        service.admin(Method::POST, &path, body).await.expect(422);
    }
    assert_eq!(service.admin_get(&sheet).await["row_count"], 0);
}

#[tokio::test]
async fn an_export_is_a_csv_file_that_runs_nothing_in_a_spreadsheet() {
    let service = TestService::start().await;
    let sheet = sheet(&service).await;
    for reason in ["fine", "=1+1", "says \"no\", twice\nor more"] {
        let row = json!({"uid": "04DE5F1EACC040", "verdict": "ok", "reason": reason});
        service.admin_create(&format!("{sheet}/rows"), row).await;
    }
    let answer = service
        .admin_request(Method::GET, &format!("{sheet}/export"))
        .answer()
        .await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("content-type"),
        Some("text/csv; charset=utf-8")
    );
    assert_eq!(
        answer.body,
        "position,at,uid,tag_id,counter,verdict,reason,reader,by,has_photo\r\n\
         1,2026-01-01T12:00:00Z,04DE5F1EACC040,,,ok,fine,,Program,false\r\n\
         2,2026-01-01T12:00:00Z,04DE5F1EACC040,,,ok,'=1+1,,Program,false\r\n\
         3,2026-01-01T12:00:00Z,04DE5F1EACC040,,,ok,\"says \"\"no\"\", twice\nor more\",,Program,false\r\n"
    );
}
