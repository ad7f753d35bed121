//! The undo of a bulk change, after others changed a tag again.

use serde_json::json;
use tapdesk_tests::TestService;

use super::{bulk, ten_tags, undo};

#[tokio::test]
async fn the_undo_of_a_bulk_change_leaves_tags_that_got_another_value_since() {
    let service = TestService::start().await;
    let [a, b] = ten_tags(&service).await;
    let mut groups = Vec::new();
    for name in ["Mine", "Theirs"] {
        let group = json!({"kind": "product", "name": name});
        groups.push(service.admin_create("/groups", group).await["id"].clone());
    }
    // A change of all tags, and a newer one of a single tag. Tag 1 has the first experience, tag 2 the second.
    for (change, tag, again) in [
        (
            json!({"action": "assign", "experience_id": b}),
            1,
            json!({"experience_id": null}),
        ),
        (
            json!({"action": "assign", "experience_id": null}),
            2,
            json!({"experience_id": a}),
        ),
        (
            json!({"action": "group", "group_id": groups[0]}),
            1,
            json!({"group_id": groups[1]}),
        ),
        (
            json!({"action": "status", "status": "archived"}),
            1,
            json!({"status": "active"}),
        ),
        (
            json!({"action": "set", "attributes": {"lot": "L1", "sku": "A"}}),
            1,
            json!({"attributes": {"lot": "L2"}}),
        ),
        (
            json!({"action": "set", "data": {"note": "mine"}}),
            1,
            json!({"data": {"note": "theirs"}}),
        ),
        (
            json!({"action": "set", "has_qr_code": true}),
            1,
            json!({"has_qr_code": false}),
        ),
    ] {
        let mut request = change.clone();
        request["select"] = json!({"filter": {}});
        let result = bulk(&service, request).await;
        let tag = format!("/tags/{tag}");
        service.admin_patch(&tag, again).await;
        // The undo concerns no name.
        let name = json!({"name": format!("Renamed after {}", change["action"])});
        service.admin_patch("/tags/5", name).await;
        let newer = service.admin_get(&tag).await;

        let changed = result["changed"].as_u64().unwrap();
        assert_eq!(undo(&service, &result).await, changed - 1, "{change}");
        assert_eq!(service.admin_get(&tag).await, newer, "{change}");
    }
}
