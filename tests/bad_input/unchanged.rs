//! A service whose complete state is known, to detect any change by bad input.

use std::ops::Deref;

use serde_json::{Value, json};
use tapdesk_tests::{TestInlay, TestService, TestTag};

/// A service with a tag and its inlay, and a record of their state at the start.
pub(super) struct Unchanged {
    service: TestService,
    pub tag: TestTag,
    pub inlay: TestInlay,
    before: Value,
}

impl Deref for Unchanged {
    type Target = TestService;

    fn deref(&self) -> &TestService {
        &self.service
    }
}

impl Unchanged {
    /// A service without a limit on refused requests, so that each one gets its own response.
    pub(super) async fn start() -> Self {
        let service = TestService::start_with(|options| options.settings.rate_limit = None).await;
        let (tag, mut inlay) = service.bottle().await;
        // One tap, so that the comparison is not between two empty lists.
        service.tap(&inlay.url(&tag)).await.key();
        let before = everything(&service).await;
        for list in ["taps", "interactions", "tags", "inlays"] {
            assert_ne!(before[list], json!([]), "{list}");
        }
        Self {
            service,
            tag,
            inlay,
            before,
        }
    }

    /// Asserts that nothing was written since the start, and that the service works.
    pub(super) async fn assert_unchanged(mut self) {
        assert_eq!(everything(&self.service).await, self.before);
        let url = self.inlay.url(&self.tag);
        let tap = self.service.tap(&url).await;
        let payload = self.service.payload(tap.key()).await;
        assert_eq!(payload["tag_verified"], json!(true));
    }
}

async fn everything(service: &TestService) -> Value {
    let metrics = service.metrics().await;
    let taps: Vec<_> = metrics
        .lines()
        .filter(|line| line.starts_with("tapdesk_taps_total"))
        .collect();
    json!({
        "taps": taps,
        "interactions": service.admin_get("/interactions").await["items"],
        "tags": service.admin_get("/tags").await["items"],
        "inlays": service.admin_get("/inlays").await["items"],
        "experiences": service.admin_get("/experiences").await["items"],
    })
}
