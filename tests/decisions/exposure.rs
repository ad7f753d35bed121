//! The routes that each client may call, and the host names that are accepted.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::Exposure;
use tapdesk_service::settings::SimulatedTargets;
use tapdesk_tests::raw::statuses;
use tapdesk_tests::{Answer, Answering as _, Client, RawClient, TestService, eventually};

/// Requests a tag with this `Host` and with the token.
async fn by_host(service: &Client, host: &str) -> Answer {
    service
        .get("/admin/v1/tags/1")
        .bearer_auth(service.admin_token())
        .header("host", host)
        .answer()
        .await
}

#[tokio::test]
async fn the_admin_api_answers_a_host_that_is_not_ours_with_421() {
    let service = TestService::start().await;
    for host in [
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "192.0.2.1",
        "[2001:db8::1]",
        "notlocalhost",
        "[::1].evil.example",
        "[::1]evil.example",
        "[::1]:80.evil.example",
        "[::1",
        "::1",
        "localhost:80:80",
        "evil.example#localhost",
        "localhost@evil.example",
        "",
    ] {
        let answer = by_host(&service, host).await;
        assert_eq!(answer.status, 421, "{host}");
        assert_eq!(
            answer.header("content-type"),
            Some("application/problem+json")
        );
    }
}

#[tokio::test]
async fn loopback_names_the_tag_urls_host_and_configured_hosts_are_ours() {
    let service = TestService::start_with(|options| {
        options.settings.hosts = vec!["tags.example".to_owned()];
        options.settings.hosts.push("[2001:db8::5]".to_owned());
    })
    .await;
    for host in [
        "localhost",
        "localhost:1234",
        "LOCALHOST.",
        "app.localhost",
        "127.0.0.1",
        "127.1.2.3:80",
        "[::1]:8787",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]:8787",
        "[2001:db8::5]",
        "[2001:DB8:0:0::5]:8787",
        "tags.example",
        "Tags.Example:443",
    ] {
        // 404 means that the request was accepted, and the tag looked for.
        assert_eq!(by_host(&service, host).await.status, 404, "{host}");
    }
}

#[tokio::test]
async fn an_ipv6_address_is_named_with_brackets_or_without_by_hosts_and_by_the_tag_url() {
    let service = TestService::start().await;
    for hosts in [json!(["2001:db8::5"]), json!(["[2001:DB8:0::5]"])] {
        let settings = service
            .admin_patch("/settings", json!({"hosts": hosts}))
            .await;
        assert_eq!(settings["hosts"]["value"], json!(["[2001:db8::5]"]));
        assert_eq!(by_host(&service, "[2001:db8::5]:8787").await.status, 404);
    }
    for host in [
        "[2001:db8::5]:80",
        "2001:db8::g",
        "[2001:db8::5",
        "[tags.example]",
    ] {
        let refused = service.admin(Method::PATCH, "/settings", json!({"hosts": [host]}));
        let detail = refused.await.expect(422)["detail"].to_string();
        assert!(detail.contains("2001:db8::5"), "{host}: {detail}");
    }
    assert_eq!(by_host(&service, "[2001:db8::7]").await.status, 421);
    let tag_url = json!({"tag_url": "http://[2001:db8::7]:8080/t"});
    service.admin_patch("/settings", tag_url).await;
    assert_eq!(by_host(&service, "[2001:db8::7]").await.status, 404);
}

/// Sends these bytes on a new connection. Returns the statuses of the responses.
async fn said(service: &TestService, head: &str) -> Vec<u16> {
    let mut client = RawClient::connect(service.authority()).await;
    client
        .send(format!("{head}connection: close\r\n\r\n"))
        .await;
    // An HTTP/1.0 request gets an HTTP/1.0 response.
    statuses(&client.read_to_end().await.replace("HTTP/1.0", "HTTP/1.1"))
}

/// RFC 9112, section 3.2. With two hosts, a proxy may have used the other one.
#[tokio::test]
async fn a_request_of_http_1_1_names_one_host() {
    let service = TestService::start().await;
    let token = format!("authorization: Bearer {}\r\n", service.admin_token());
    for path in [
        "/admin/v1/tags/1",
        "/openapi.json",
        "/metrics",
        "/health",
        "/t/nobody-knows",
    ] {
        let is_public = path == "/health" || path.starts_with("/t/");
        let get =
            |version: &str, hosts: &str| format!("GET {path} HTTP/{version}\r\n{hosts}{token}");
        for hosts in [
            "",
            "host: localhost\r\nhost: localhost\r\n",
            "host: localhost\r\nhost: evil.example\r\n",
            "host: evil.example\r\nhost: localhost\r\n",
        ] {
            assert_eq!(
                said(&service, &get("1.1", hosts)).await,
                [400],
                "{path} {hosts}"
            );
        }
        // HTTP/1.0 has no `Host`, and load balancers use it to ask whether a node is ready.
        let old = said(&service, &get("1.0", "")).await;
        assert_eq!(old != [421], is_public, "{path}: {old:?}");
        // The host of an absolute target has priority.
        let absolute =
            format!("GET http://evil.example{path} HTTP/1.1\r\nhost: localhost\r\n{token}");
        let absolute = said(&service, &absolute).await;
        assert_eq!(absolute != [421], is_public, "{path}: {absolute:?}");
    }
}

#[tokio::test]
async fn the_host_is_asked_for_before_the_token() {
    let service = TestService::start().await;
    for path in ["/admin/v1/tags/1", "/openapi.json", "/metrics"] {
        let request = service.get(path).header("host", "evil.example");
        assert_eq!(request.answer().await.status, 421, "{path}");
    }
}

#[tokio::test]
async fn taps_and_the_two_operations_answer_to_any_host() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    for (path, status) in [
        (tag.path().as_str(), 302),
        ("/v2/interactions/rk_payload?rk=x", 200),
        ("/v2/interactions/data", 405),
        ("/health", 200),
    ] {
        let request = service.get(path).header("host", "any.example");
        assert_eq!(request.answer().await.status, status, "{path}");
    }
    eventually("the service is ready", async || {
        let ready = service.get("/ready").header("host", "any.example");
        (ready.answer().await.status == 200).then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_admin_api_needs_its_token() {
    let service = TestService::start().await;
    let token = service.admin_token();
    for authorization in [
        String::new(),
        token.to_owned(),
        format!("Basic {token}"),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        format!("Bearer {}", &token[1..]),
        format!("Bearer {token}x"),
        format!("Bearer {}", token.to_uppercase()),
    ] {
        let request = service.get("/admin/v1/tags/1");
        let answer = request
            .header("authorization", &authorization)
            .answer()
            .await;
        assert_eq!(answer.status, 401, "{authorization}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        assert_eq!(
            answer.header("content-type"),
            Some("application/problem+json")
        );
        assert!(!answer.body.contains(token));
    }
    let lower = service.get("/admin/v1/tags/1");
    let lower = lower.header("authorization", format!("bearer {token}"));
    assert_eq!(lower.answer().await.status, 404);
}

#[tokio::test]
async fn a_cookie_gives_no_right() {
    let service = TestService::start().await;
    let request = service.get("/admin/v1/tags/1").header(
        "cookie",
        format!("token={0}; authorization=Bearer {0}", service.admin_token()),
    );
    assert_eq!(request.answer().await.status, 401);
}

#[tokio::test]
async fn no_origin_may_read_the_admin_api() {
    let service = TestService::start().await;
    let preflight = service
        .request(Method::OPTIONS, "/admin/v1/tags")
        .header("origin", "https://evil.example")
        .header("access-control-request-method", "POST")
        .header(
            "access-control-request-headers",
            "authorization,content-type",
        );
    let answers = [
        preflight.answer().await,
        service
            .get("/admin/v1/tags/1")
            .bearer_auth(service.admin_token())
            .header("origin", "https://evil.example")
            .answer()
            .await,
    ];
    for answer in answers {
        assert_eq!(answer.header("access-control-allow-origin"), None);
        assert!(answer.status >= 400);
    }
}

#[tokio::test]
async fn a_listener_for_the_public_serves_public_routes_only() {
    let mut service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let public = service.listen(Exposure::PublicOnly);
    for path in [
        "/admin/v1/tags/1",
        "/openapi.json",
        "/metrics",
        "/docs",
        "/docs/README.md",
        "/llms.txt",
    ] {
        let request = public.get(path).bearer_auth(service.admin_token());
        assert_eq!(request.answer().await.status, 404, "{path}");
    }
    let tap = public.tap(&tag.path()).await;
    assert!(public.payload(tap.key()).await.is_object());
    assert_eq!(public.get("/health").answer().await.status, 200);
}

#[tokio::test]
async fn the_stand_in_is_there_for_simulated_taps_alone() {
    let mut service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let twin = json!({"tag_id": tag.id});
    let twin = service.admin_create("/simulator/inlays", twin).await;
    let public = service.listen(Exposure::PublicOnly);
    let twin = format!("/t/{}", twin["tag"].as_str().expect("a slug"));
    let location = public.tap(&twin).await.location.expect("a redirect");
    let (_, query) = location.split_once("/stand-in?").expect("the stand-in");
    let own = format!("/stand-in?{query}");
    let with = |name: &str, value: &str| {
        let mut url = url::Url::parse(&location).expect("a URL");
        let pairs: Vec<_> = url.query_pairs().into_owned().collect();
        url.query_pairs_mut().clear().extend_pairs(
            pairs
                .iter()
                .map(|(known, old)| (known, if known == name { value } else { old })),
        );
        format!("/stand-in?{}", url.query().expect("a query"))
    };
    let get = async |path: &str| public.get(path).answer().await.status;
    assert_eq!(get(&own).await, 200);
    for made_up in [
        "/stand-in".to_owned(),
        "/stand-in?for=https://evil.example/".to_owned(),
        with("for", "https://evil.example/"),
        with("proof", ""),
        with("proof", "000000000000000000000000"),
    ] {
        assert_eq!(get(&made_up).await, 404, "{made_up}");
    }
    // If simulated taps lead to the owner's own domain, no route here serves them.
    let mut settings = (*service.service().settings()).clone();
    settings.simulated_targets = SimulatedTargets::Real;
    service.service().set_settings(settings);
    assert_eq!(get(&own).await, 404);
}
