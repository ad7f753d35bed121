//! A phone on the same network: Chromium in a separate network namespace, which reaches the program
//! by its detected address. A wrong address is reported before a chip is encoded.

mod network;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tapdesk_tests::{Client, skip, within_attempts};
use tempfile::TempDir;

use self::network::{Network, portal, resolver};
use crate::process::address;

/// The program on a machine whose names this test resolves, with phones allowed.
fn desktop(home: &Path, resolver: &str) -> Child {
    const OWN_NAMES: &str = r#"mount --bind "$0/resolv.conf" /etc/resolv.conf &&
        mount --bind "$0/nsswitch.conf" /etc/nsswitch.conf && exec "$@""#;
    let config = home.join(".config/tapdesk");
    fs::create_dir_all(&config).unwrap();
    let preferences = r#"{"last_port": 0, "phones": true}"#;
    fs::write(config.join("desktop.json"), preferences).unwrap();
    let lookup = format!("nameserver {resolver}\noptions timeout:1 attempts:3\n");
    fs::write(home.join("resolv.conf"), lookup).unwrap();
    fs::write(home.join("nsswitch.conf"), "hosts: files dns\n").unwrap();
    Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", OWN_NAMES])
        .arg(home)
        .arg(env!("CARGO_BIN_EXE_tapdesk"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Asserts that a check ends with this state and reason. On a busy machine, an answer may come too
/// late, so the check is repeated.
async fn is(client: &Client, tag_url: &str, expected: &(Value, Value)) {
    within_attempts(5, async || {
        let found = check(client, tag_url).await;
        (found == *expected).then_some(()).ok_or((tag_url, found))
    })
    .await;
}

/// The state and the reason of a check.
async fn check(client: &Client, tag_url: &str) -> (Value, Value) {
    let body = json!({"tag_url": tag_url});
    let answer = client
        .admin(axum::http::Method::POST, "/tag-url/check", body)
        .await;
    let checked = answer.expect(200);
    (checked["state"].clone(), checked["reason"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_opens_a_tag_by_the_detected_address_and_each_wrong_address_is_named() {
    let network = match Network::new() {
        Ok(network) => network,
        Err(why) => return skip(why),
    };
    let here = network.here;
    // The network's own name server resolves every name to itself.
    if !resolver(here) {
        return skip("port 53 of the test's own network is taken");
    }
    let portal = portal(here);
    let home = TempDir::new().unwrap();
    let mut child = desktop(home.path(), &here.to_string());
    let (_, base) = address(&mut child);
    let token = home.path().join(".local/share/tapdesk/admin.token");
    let token = fs::read_to_string(token).unwrap();
    let client = Client::new(base, token.trim());

    let detected = client.admin_get("/settings").await["tag_url"]["value"].clone();
    let detected = detected.as_str().unwrap();
    let (_, port) = client.authority().rsplit_once(':').unwrap();
    assert!(detected.ends_with(&format!(":{port}/t")), "{detected}");
    assert!(!detected.contains("127.0.0.1"), "{detected}");
    let proved = (json!("proved"), Value::Null);
    is(&client, detected, &proved).await;

    // The phone opens the tag's URL, and the test page of the QR code.
    let blocks = json!([{"type": "heading", "text": "Bottle {{tag:name}} of the cellar"}]);
    let page = json!({"name": "Welcome", "kind": "studio", "blocks": blocks});
    let page = client.admin_create("/experiences", page).await["id"].clone();
    let tag = json!({"name": "41", "experience_id": page});
    let tag = client.admin_create("/tags", tag).await;
    let url = format!("{detected}/{}", tag["slug"].as_str().unwrap());
    let seen = network.phone(&url);
    assert!(seen.contains("Bottle 41 of the cellar"), "{seen}");
    let path = format!("/tags/{}", tag["id"]);
    assert_eq!(client.admin_get(&path).await["scan_count"], 1);
    let shown = client
        .admin_get(&format!("/tag-url?tag_url={detected}"))
        .await;
    network.phone(shown["phone_url"].as_str().unwrap());
    let kept = client.admin_get("/settings").await["tag_url"]["check"].clone();
    assert_eq!(kept["state"], "proved");
    let how = kept["detail"].as_str().unwrap();
    assert!(how.contains("phone"), "{how}");

    let failed = |reason: &str| (json!("failed"), json!(reason));
    // A wrong address: nothing listens there, or another server, or it leads each phone to itself.
    let nobody = format!("{here}:{}", tapdesk_tests::free_port());
    is(&client, &nobody, &failed("refused")).await;
    let own = format!("127.0.0.1:{port}");
    is(&client, &own, &failed("loopback")).await;
    let elsewhere = detected.replace("/t", "/x");
    is(&client, &elsewhere, &failed("path")).await;
    // A firewall drops incoming packets.
    network.drop_answers();
    let dropped = format!("http://{}:8787", network.there);
    is(&client, &dropped, &failed("timeout")).await;
    // A captive portal, which answers for every host, but has no certificate for it.
    let captive = format!("http://tags.cellar.example:{portal}");
    is(&client, &captive, &failed("other_server")).await;
    let captive = format!("https://tags.cellar.example:{portal}");
    is(&client, &captive, &failed("tls")).await;
    let unknown = "https://tags.nowhere.example";
    is(&client, unknown, &failed("dns")).await;
    is(&client, detected, &proved).await;
    crate::process::end(child);
}
