//! Imports that store either all rows or none.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::housekeeping;
use tapdesk_tests::{TestService, eventually};

use super::{all, import};

fn rows(count: usize) -> String {
    (0..count).fold("slug,name\n".to_owned(), |file, row| {
        format!("{file}bottle-{row:04},Bottle {row}\n")
    })
}

async fn count(service: &TestService) -> u64 {
    let page = service.admin_get("/tags?limit=1&count=true").await;
    page["count"].as_u64().unwrap()
}

#[tokio::test]
async fn every_row_is_told_with_its_tag() {
    let service = TestService::start().await;
    let result = import(&service, "?on_error=abort", rows(250)).await;
    assert_eq!(
        (&result["created"], &result["stopped"]),
        (&json!(250), &json!(null))
    );
    let results = result["results"].as_array().unwrap();
    let tags = all(&service, "/tags", 500).await;
    assert_eq!(tags.len(), 250);
    for (row, tag) in tags.iter().enumerate() {
        assert_eq!(results[row]["row"], row + 2);
        assert_eq!(
            (&results[row]["id"], &results[row]["slug"]),
            (&tag["id"], &tag["slug"])
        );
        assert_eq!(
            tag["slug"],
            format!("bottle-{row:04}"),
            "in the order of the file"
        );
    }
    let changed = rows(250).replace("Bottle", "Changed");
    let result = import(&service, "?on_error=abort&mode=upsert", changed).await;
    assert_eq!(result["updated"], 250);
    assert_eq!(all(&service, "/tags?q=changed", 500).await.len(), 250);
}

#[tokio::test]
async fn rows_that_are_accepted_go_in_whether_their_caller_waits_or_not() {
    let service = TestService::start().await;
    let request = service.admin_request(Method::POST, "/tags/import?on_error=abort");
    let request = request.header("content-type", "text/csv").body(rows(1_000));
    // The response's head says that all rows are accepted; the rest is not read.
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    drop(answer);
    eventually("all rows are in", async || {
        (count(&service).await == 1_000).then_some(())
    })
    .await;
}

#[tokio::test]
async fn what_was_refused_can_be_imported_again_at_once() {
    let service = TestService::start().await;
    let bad = format!("{}bottle-0001,again\n", rows(250));
    let result = import(&service, "?on_error=abort", bad).await;
    // The import completed: refused rows are not a failure of the service.
    assert_eq!(result["stopped"], Value::Null);
    assert_eq!(
        (&result["refused"], &result["left_out"]),
        (&json!(1), &json!(250))
    );
    assert_eq!(count(&service).await, 0);
    let result = import(&service, "?on_error=abort", rows(250)).await;
    assert_eq!(result["created"], 250, "{}", result["results"][0]);
    service.advance(120_000);
    housekeeping::sweep(service.service()).await.unwrap();
    assert_eq!(count(&service).await, 250);
}
