//! Query parameters: every operation refuses parameters that it does not know.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answering as _, TestService};

/// Each operation that needs a token, by method and path, with its query parameters. They come from
/// the document, so new operations are tested automatically.
fn operations() -> Vec<(Method, String, Vec<String>)> {
    let document = tapdesk_service::openapi().to_json().unwrap();
    let document: Value = serde_json::from_str(&document).unwrap();
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let is_reference = ["/docs", "/llms.txt", "/openapi.json"].contains(&path.as_str());
            if operation["security"][0]["token"].is_null() && !is_reference {
                continue;
            }
            let parameters = operation["parameters"].as_array().cloned();
            let parameters = parameters.unwrap_or_default().into_iter();
            let names = parameters
                .filter(|parameter| parameter["in"] == "query")
                .map(|parameter| parameter["name"].as_str().unwrap().to_owned());
            let method = method.to_uppercase().parse().unwrap();
            operations.push((method, path.clone(), names.collect()));
        }
    }
    operations
}

async fn service() -> TestService {
    // Without a limit, because this test provokes refused requests.
    TestService::start_with(|options| options.settings.rate_limit = None).await
}

#[tokio::test]
async fn an_unknown_one_is_refused_by_every_operation() {
    let service = service().await;
    let operations = operations();
    assert!(operations.len() > 90, "{}", operations.len());
    for (method, path, known) in operations {
        let path = path.replace("{id}", "1").replace(['{', '}'], "");
        for name in ["permanent", "Limit", "dry-run", "x%20y"] {
            let request = service
                .request(method.clone(), &format!("{path}?{name}=true"))
                .bearer_auth(service.admin_token())
                .json(&json!({}));
            let answer = request.answer().await;
            let problem = answer.expect(422);
            let plain = name.replace("%20", " ");
            assert_eq!(problem["code"], "invalid", "{method} {path}: {problem}");
            assert_eq!(problem["errors"][0]["field"], plain, "{method} {path}");
            let detail = problem["detail"].as_str().unwrap();
            assert!(detail.contains(&format!("\"{plain}\"")), "{detail}");
            // The problem names the closest parameter, or says that there is none.
            if known.is_empty() {
                assert!(detail.contains("takes none"), "{method} {path}: {detail}");
            } else {
                let names = known.iter();
                let mut quoted = names.map(|name| format!("nearest one is \"{name}\""));
                assert!(quoted.any(|name| detail.contains(&name)), "{detail}");
            }
        }
    }
}

#[tokio::test]
async fn a_misspelt_one_is_answered_with_the_nearest() {
    let service = service().await;
    for (path, nearest) in [
        ("/tags?limt=5", "limit"),
        ("/tags?experienceid=5", "experience_id"),
        ("/interactions?simulate=all", "simulated"),
        ("/submissions/export?collumns=id", "columns"),
        ("/reports?untill=2026-01-01T00:00:00Z", "until"),
    ] {
        let refused = service.admin(Method::GET, path, Value::Null).await;
        let problem = refused.expect(422);
        let detail = problem["detail"].as_str().unwrap();
        let expected = format!("The nearest one is \"{nearest}\".");
        assert!(detail.contains(&expected), "{path}: {detail}");
    }
}

#[tokio::test]
async fn a_request_that_is_refused_for_one_does_nothing() {
    let service = service().await;
    let tag = service.tag(json!({"name": "Bottle 41"})).await;
    let path = format!("{}?permanent=true", tag.admin_path());
    let delete = service.admin(Method::DELETE, &path, Value::Null).await;
    delete.expect(422);
    let rename = service.admin(Method::PATCH, &path, json!({"name": "Other"}));
    rename.await.expect(422);
    assert_eq!(
        service.admin_get(&tag.admin_path()).await["name"],
        "Bottle 41"
    );
    let path = tag.admin_path();
    let delete = service.admin(Method::DELETE, &path, Value::Null).await;
    delete.expect(204);
}

/// Public routes ignore unknown parameters, which campaigns and load balancers add. In the admin
/// API, a missing scope is reported before an unknown parameter.
#[tokio::test]
async fn what_visitors_and_balancers_send_is_not_refused() {
    let service = service().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let tap = service.get(&format!("{}?fbclid=x&utm_source=y", tag.path()));
    assert_eq!(tap.answer().await.status, 302);
    for path in [
        "/health?x=1",
        "/ready?x=1",
        "/v2/interactions/rk_payload?rk=x&fbclid=y",
    ] {
        assert_eq!(service.get(path).answer().await.status, 200, "{path}");
    }
    let update = service
        .post("/v2/interactions/data?fbclid=x")
        .json(&json!({"rolling_key": "eA==", "data": {"a": "b"}}));
    let message = update.answer().await.expect(400)["message"].clone();
    assert_eq!(message, "Invalid rolling key");
}
