//! `unlisted`: chips that are no inlays.

use serde_json::{Value, json};
use tapdesk_tests::fixtures::{TEMPLATE_HOST, unlisted_template, unlisted_uid, unlisted_url};
use tapdesk_tests::{Answering as _, ServiceProcess};

use super::{launch, run_at};

async fn tap(service: &ServiceProcess, number: u8, counter: u32) -> u16 {
    let request = service.get(&unlisted_url(number, counter));
    request.header("host", TEMPLATE_HOST).answer().await.status
}

#[tokio::test]
async fn chips_are_listed_enrolled_and_what_taps_created_is_undone() {
    let service = launch().start().await;
    let template = service
        .admin_create("/url-templates", unlisted_template(&json!({})))
        .await;
    let id = template["id"].to_string();
    assert_eq!(
        [tap(&service, 1, 5).await, tap(&service, 2, 7).await],
        [404, 404]
    );
    let listed = run_at(&service, &["unlisted", "list", "--url-template", &id])
        .await
        .good();
    let uids: Vec<_> = listed
        .lines()
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    assert_eq!(
        uids,
        [unlisted_uid(2).to_string(), unlisted_uid(1).to_string()],
        "{listed}"
    );
    let json = run_at(&service, &["unlisted", "list", "--json"])
        .await
        .good();
    let first: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!(first["last_counter"], 7);

    let uid = unlisted_uid(1).to_string();
    let enrolled = run_at(&service, &["unlisted", "enrol", &uid]).await.good();
    assert!(
        enrolled.starts_with(&format!("The chip {uid} is the inlay 1 on the tag ")),
        "{enrolled}"
    );
    let again = run_at(&service, &["unlisted", "enrol", &uid])
        .await
        .refused();
    assert!(again.contains("unlisted chip"), "{again}");

    service
        .admin_patch(
            &format!("/url-templates/{id}"),
            json!({"unlisted": "create"}),
        )
        .await;
    assert_eq!(tap(&service, 3, 5).await, 200, "the tag leads nowhere yet");
    let revert = ["unlisted", "revert", &id, "--since", "2020-01-01T00:00:00Z"];
    let dry = [&revert[..], &["--dry-run"]].concat();
    assert_eq!(
        run_at(&service, &dry).await.good(),
        "Would delete 1 inlays and 1 tags.\n"
    );
    assert_eq!(
        run_at(&service, &revert).await.good(),
        "Deleted 1 inlays and 1 tags.\n"
    );
    assert_eq!(tap(&service, 3, 6).await, 404);
}
