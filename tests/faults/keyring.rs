//! A service without its wrapping key: it verifies no code, and does not reveal which chips it
//! knows.

use reqwest::Method;
use serde_json::json;
use tapdesk_tests::client::Answering as _;

use super::launch;

const TEMPLATE: &str = "https://tags.example/v?u={uid}&n={counter}&m={mac}";
const KNOWN: &str = "04A39493CC8680";

#[tokio::test]
async fn a_locked_keyring_answers_for_known_and_unknown_chips_alike() {
    let launch = launch();
    let service = launch.start().await;
    let template = json!({"name": "Reel", "template": TEMPLATE, "technology": "ntag424dna", "mode": "aes", "mac_from": "none"});
    let template = service.admin_create("/url-templates", template).await;
    let inlay = json!({"uid": KNOWN, "technology": "ntag424dna", "url_template_id": template["id"], "file_key": "22".repeat(16)});
    service.admin_create("/inlays", inlay).await;
    service.terminate().await;

    std::fs::remove_file(launch.folder.path().join("inlay.key")).unwrap();
    let service = launch.start().await;
    let mut answers = Vec::new();
    for uid in [KNOWN, "04A39493CC8681"] {
        let path = format!("/v?u={uid}&n=000001&m={}", "0".repeat(16));
        let request = service
            .request(Method::GET, &path)
            .header("host", "tags.example");
        let answer = request.answer().await;
        answers.push((answer.status, answer.body.clone()));
    }
    assert_eq!(answers[0], answers[1]);
    // The page says that the tag is not at fault.
    assert_eq!(answers[0].0, 409);
    service.terminate().await;
}
