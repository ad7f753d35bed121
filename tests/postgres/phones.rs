//! Phones of staff that are paired and work over two nodes.

use serde_json::{Value, json};
use tapdesk_tests::{Answer, Answering as _, Client, TestDatabase, eventually};

use crate::postgres::two;

/// A new phone: its id, and the path of its pair URL.
async fn unpaired(node: &Client, phone: Value) -> (Value, String) {
    let phone = node.admin_create("/phones", phone).await;
    let url = phone["pair_url"].as_str().expect("a pair URL");
    let at = url.find("/staff/").expect("it is below /staff");
    (phone["id"].clone(), url[at..].to_owned())
}

/// Presses the button of the page of a pair URL that has this text.
async fn press(node: &Client, path: &str, page: &str) -> Answer {
    let form = node.post_form(path, &[("page", page)]);
    form.header("origin", node.base()).answer().await
}

/// The cookie of a phone that this answer paired.
fn cookie(paired: &Answer) -> String {
    let cookie = paired.header("set-cookie").expect("a cookie");
    cookie.split(';').next().expect("a pair").to_owned()
}

/// A new phone that was paired at this node: its id and its cookie.
pub(super) async fn paired(node: &Client, phone: Value) -> (Value, String) {
    let (id, path) = unpaired(node, phone).await;
    let paired = press(node, &path, "").await;
    assert_eq!(paired.status, 200, "{}", paired.body);
    (id, cookie(&paired))
}

/// The value of a hidden field of a page.
fn hidden(page: &str, name: &str) -> String {
    let (_, rest) = page
        .split_once(&format!(r#"name="{name}" value=""#))
        .expect("a form");
    rest.split('"').next().expect("a value").to_owned()
}

/// A balancer may send each request to another node.
#[tokio::test]
async fn a_phone_of_staff_is_paired_and_works_over_both_nodes() {
    let [one, other] = two(&TestDatabase::create_migrated().await).await;
    let phone = || json!({"name": "Bench", "scopes": ["tags"]});
    let (_, of_two) = unpaired(&one, phone()).await;
    let (here, there) = tokio::join!(press(&one, &of_two, ""), press(&other, &of_two, ""));
    let mut statuses = [here.status, there.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 404], "{} {}", here.body, there.body);

    // Both presses of one page.
    let (_, path) = unpaired(&one, phone()).await;
    let page = hidden(&one.get(&path).answer().await.body, "page");
    let (here, there) = tokio::join!(press(&one, &path, &page), press(&other, &path, &page));
    assert_eq!((here.status, there.status), (200, 200), "{}", there.body);
    assert_eq!(there.header("set-cookie"), here.header("set-cookie"));
    let cookie = cookie(&here);

    let variables = json!({"variables": {"owner": "Ada"}});
    let tag = one.redirecting_tag(variables).await;
    let path = eventually("one node knows the phone", async || {
        let tap = one.tap_with_cookie(&tag.path(), &cookie).await;
        tap.location.filter(|_| tap.status == 303)
    })
    .await;
    let page = eventually("the other node knows the phone", async || {
        let page = other.get(&path).header("cookie", &cookie).answer().await;
        (page.status == 200).then_some(page.body)
    })
    .await;
    let token = hidden(&page, "token");
    let fields = [
        ("token", &*token),
        ("action", "value"),
        ("key", "owner"),
        ("value", "Bob"),
    ];
    let form = one.post_form(&path, &fields).header("origin", one.base());
    let saved = form.header("cookie", &cookie).answer().await;
    assert_eq!(saved.status, 303, "{}", saved.body);
    let owner = other.variable(&tag, "owner").await;
    assert_eq!(owner.as_deref(), Some("Bob"));
}
