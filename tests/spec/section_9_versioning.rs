//! Section 9: the version in the paths of the operations.

use serde_json::json;
use tapdesk_tests::{Answering as _, TestService};

#[tokio::test]
async fn the_version_is_carried_in_the_path_prefix_for_both_operations() {
    let service = TestService::start().await;
    for prefix in ["", "/v1", "/v3", "/v2/v2"] {
        let payload = service.get(&format!("{prefix}/interactions/rk_payload?rk=x"));
        assert_eq!(payload.answer().await.status, 404, "{prefix}");
        let update = service.post(&format!("{prefix}/interactions/data"));
        let update = update.json(&json!({"rolling_key": "x", "data": {"a": "b"}}));
        assert_eq!(update.answer().await.status, 404, "{prefix}");
    }
    let payload = service.get("/v2/interactions/rk_payload?rk=x");
    assert_eq!(payload.answer().await.status, 200);
}
