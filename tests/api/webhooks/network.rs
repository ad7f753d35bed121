//! Webhooks cannot be used to reach the owner's network.

use serde_json::{Value, json};
use tapdesk_tests::{Receiver, TestService};

use super::post;

#[tokio::test]
async fn a_name_that_leads_into_the_network_is_refused_once_it_is_resolved() {
    let service = TestService::start().await;
    let _house = service.keep_house();
    let receiver = Receiver::start().await;
    for host in ["localhost", "LOCALHOST"] {
        let url = format!("http://{host}:{}/", receiver.port());
        let fields = json!({"url": url, "events": ["tap.verified"]});
        let created = service.admin_create("/webhooks", fields).await;
        let path = format!("/webhooks/{}/test", created["id"]);
        let tested = post(&service, &path, Value::Null).await.expect(200);
        assert_eq!(tested["delivered"], false);
        assert_eq!(tested["status"], Value::Null);
        assert_eq!(
            tested["error"], "The address is not on the public internet.",
            "{host}"
        );
    }
    assert!(receiver.received().is_empty());
}
