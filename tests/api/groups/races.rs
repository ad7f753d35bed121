//! Several people change one tree at the same time.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{TestService, at_once, length};

use super::{group, tag_count};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_that_tags_move_into_is_deleted_before_them_or_not_at_all() {
    let service = TestService::start().await;
    let mut tags = Vec::new();
    for _ in 0..8 {
        tags.push(service.tag(json!({"name": "Bottle"})).await.admin_path());
    }
    for _ in 0..length(5, 50) {
        let id = group(&service, "batch", None, Value::Null).await;
        let client = &service.another();
        let paths = tags.clone();
        let statuses = at_once(tags.len() + 1, |i| {
            let client = client.clone();
            let move_into = paths.get(i).cloned();
            async move {
                let (method, path, body) = match move_into {
                    Some(path) => (Method::PATCH, path, json!({"group_id": id})),
                    None => (Method::DELETE, format!("/groups/{id}"), Value::Null),
                };
                client.admin(method, &path, body).await.status
            }
        })
        .await;
        let moved = statuses[..tags.len()]
            .iter()
            .filter(|status| **status == 200);
        let moved = moved.count();
        if *statuses.last().unwrap() == 204 {
            assert_eq!(moved, 0, "no tag is in a group that is gone");
            let lost = service.admin_get("/tags?limit=500").await;
            let lost = lost["items"].as_array().unwrap();
            assert!(lost.iter().all(|tag| tag["group_id"] != id), "{lost:?}");
        } else {
            assert_eq!(tag_count(&service, id).await, json!(moved));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_who_recall_and_rename_both_have_their_way() {
    let service = TestService::start().await;
    let id = group(&service, "batch", None, Value::Null).await;
    let path = format!("/groups/{id}");
    for round in 0..length(5, 50) {
        let name = format!("Name {round}");
        let status = if round % 2 == 0 { "recalled" } else { "active" };
        let changes = [json!({"name": name}), json!({"status": status})];
        let client = &service.another();
        let statuses = at_once(2, |i| {
            let (client, path, changes) = (client.clone(), path.clone(), changes[i].clone());
            async move { client.admin(Method::PATCH, &path, changes).await.status }
        })
        .await;
        assert_eq!(statuses, [200, 200]);
        let group = service.admin_get(&path).await;
        assert_eq!(
            (&group["name"], &group["status"]),
            (&json!(name), &json!(status))
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_that_another_moves_into_is_deleted_before_it_or_not_at_all() {
    let service = TestService::start().await;
    let batch = group(&service, "batch", None, Value::Null).await;
    for _ in 0..length(5, 50) {
        let id = group(&service, "product", None, Value::Null).await;
        let client = &service.another();
        let statuses = at_once(2, |i| {
            let client = client.clone();
            async move {
                let (method, path, body) = if i == 0 {
                    let path = format!("/groups/{batch}");
                    (Method::PATCH, path, json!({"parent_id": id}))
                } else {
                    (Method::DELETE, format!("/groups/{id}"), Value::Null)
                };
                client.admin(method, &path, body).await.status
            }
        })
        .await;
        let moved = statuses[0] == 200;
        assert_eq!(statuses[1] == 204, !moved, "{statuses:?}");
        let parent = service.admin_get(&format!("/groups/{batch}")).await["parent_id"].clone();
        assert_eq!(parent == id, moved, "{parent}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_groups_that_move_into_each_other_form_no_circle() {
    let service = TestService::start().await;
    for _ in 0..length(5, 50) {
        let mut ids = Vec::new();
        for _ in 0..3 {
            ids.push(group(&service, "folder", None, Value::Null).await);
        }
        let client = &service.another();
        let statuses = at_once(3, |i| {
            let (id, parent) = (ids[i], ids[(i + 1) % 3]);
            let client = client.clone();
            async move {
                let changes = json!({"parent_id": parent});
                let path = format!("/groups/{id}");
                client.admin(Method::PATCH, &path, changes).await.status
            }
        })
        .await;
        let moved = statuses.iter().filter(|status| **status == 200).count();
        assert_eq!(moved, 2, "{statuses:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_groups_that_move_into_each_other_form_no_circle() {
    let service = TestService::start().await;
    for _ in 0..length(5, 50) {
        let one = group(&service, "folder", None, Value::Null).await;
        let other = group(&service, "folder", None, Value::Null).await;
        let client = &service.another();
        let statuses = at_once(2, |i| {
            let (id, parent) = if i == 0 { (one, other) } else { (other, one) };
            let client = client.clone();
            async move {
                let changes = json!({"parent_id": parent});
                let path = format!("/groups/{id}");
                client.admin(Method::PATCH, &path, changes).await.status
            }
        })
        .await;
        let moved = statuses.iter().filter(|status| **status == 200).count();
        assert_eq!(moved, 1, "{statuses:?}");
    }
}
