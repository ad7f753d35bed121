//! Plain pages (decisions, "Plain pages"): their owner's texts and look, and the page at `/`.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answer, Answering as _, TestService};

async fn set(service: &TestService, pages: Value) {
    let changes = json!({"pages": pages});
    service.admin_patch("/settings", changes).await;
}

/// A page as a visitor with these languages gets it.
async fn page(service: &TestService, path: &str, languages: &str) -> Answer {
    let request = service.get(path).header("accept-language", languages);
    request.answer().await
}

/// Paths of the pages whose texts an owner can write, and their kinds. Their status is 200 or 404.
async fn kinds(service: &TestService) -> [(String, &'static str); 5] {
    let bare = service.tag(json!({"name": "Bottle"})).await;
    let recalled = json!({"kind": "product", "name": "Wine"});
    let recalled = service.admin_create("/groups", recalled).await;
    let path = format!("/groups/{}", recalled["id"]);
    let status = json!({"status": "recalled"});
    service.admin_patch(&path, status).await;
    let recalled = json!({"name": "Bottle", "group_id": recalled["id"]});
    let recalled = service.tag(recalled).await;
    [
        ("/".to_owned(), "home"),
        ("/t/nobody-has-this".to_owned(), "not_found"),
        ("/shop/window".to_owned(), "not_found"),
        (bare.path(), "not_set_up"),
        (recalled.path(), "recalled"),
    ]
}

#[tokio::test]
async fn own_texts_of_a_page_are_shown_in_the_language_of_its_visitor() {
    let service = TestService::start().await;
    let kinds = kinds(&service).await;
    let mut before = Vec::new();
    for (path, _) in &kinds {
        before.push(page(&service, path, "en").await);
    }
    let text = |page: &str, language: &str| json!({"page": page, "language": language, "heading": format!("Own {page} in {language}"), "text": "<b>One</b>\n& two"});
    let texts: Vec<_> = ["home", "not_found", "not_set_up", "recalled"]
        .iter()
        .flat_map(|page| [text(page, "de"), text(page, "sv")])
        .collect();
    set(&service, json!({"texts": texts})).await;
    for ((path, kind), before) in kinds.iter().zip(before) {
        for (languages, language) in [("de-AT", "de"), ("sv, de;q=0.5", "sv")] {
            let answer = page(&service, path, languages).await;
            assert_eq!(answer.status, before.status, "{path}");
            let heading = format!("<h1 dir=\"auto\">Own {kind} in {language}</h1>");
            assert!(answer.body.contains(&heading), "{path}: {}", answer.body);
            assert!(answer.body.contains(&format!("<html lang=\"{language}\"")));
            assert!(!answer.body.contains("<b>"), "{path}: {}", answer.body);
            assert!(answer.body.contains("&#60;b&#62;One"), "{}", answer.body);
        }
        // A visitor who reads another language gets the service's text in it.
        let unchanged = page(&service, path, "en").await;
        assert_eq!(unchanged.body, before.body, "{path}");
        let french = page(&service, path, "fr, de;q=0.9").await.body;
        assert!(french.contains("<html lang=\"fr\""), "{path}: {french}");
    }
}

#[tokio::test]
async fn a_page_without_an_own_heading_has_the_default_one() {
    let service = TestService::start().await;
    let text = json!({"page": "not_found", "language": "en", "text": "Ask us."});
    set(&service, json!({"texts": [text]})).await;
    let answer = page(&service, "/t/nobody-has-this", "en").await;
    assert!(answer.body.contains("Unknown tag"), "{}", answer.body);
    assert!(answer.body.contains("Ask us."), "{}", answer.body);
    assert!(!answer.body.contains("No tag has"), "{}", answer.body);
}

#[tokio::test]
async fn plain_pages_have_the_name_and_a_readable_shade_of_the_colour_and_a_strict_policy() {
    let service = TestService::start().await;
    // Nobody can read this yellow on white.
    let name = "Grand Cru <script>";
    set(&service, json!({"name": name, "accent": "#ffff00"})).await;
    for (path, _) in kinds(&service).await {
        let answer = page(&service, &path, "en").await;
        let named = "<p class=\"name\" dir=\"auto\">Grand Cru &#60;script&#62;</p>";
        assert!(answer.body.contains(named), "{path}: {}", answer.body);
        let (_, light) = answer.body.split_once("--link:").expect("a colour");
        assert_ne!(&light[..7], "#ffff00", "{path}");
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(
            policy.starts_with("default-src 'none'; style-src 'sha256-"),
            "{policy}"
        );
        let rest = "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
        assert!(policy.ends_with(rest), "{policy}");
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        for word in ["Tapdesk", "tapdesk", env!("CARGO_PKG_VERSION")] {
            assert!(!answer.body.contains(word), "{path}: {word}");
        }
    }
}

#[tokio::test]
async fn the_page_at_the_root_of_a_host_says_what_is_there_or_redirects() {
    let service = TestService::start().await;
    let at = async |method: Method, host: &str| {
        let url = format!("{}/?from=tag", service.base());
        let request = service.request(method, &url);
        request.header("host", host).answer().await
    };
    let answer = at(Method::GET, "tags.example").await;
    assert_eq!(answer.status, 200);
    assert!(answer.body.contains("Tap a tag"), "{}", answer.body);
    assert_eq!(at(Method::POST, "tags.example").await.status, 404);
    let home = "https://www.example.com/shop?a=b#c";
    set(&service, json!({"home_url": home})).await;
    for method in [Method::GET, Method::HEAD] {
        let answer = at(method, "tags.example").await;
        assert_eq!(answer.status, 302);
        assert_eq!(answer.header("location"), Some(home));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    }
    // It would lead to itself for ever.
    set(&service, json!({"home_url": "https://tags.example"})).await;
    assert_eq!(at(Method::GET, "tags.example:443").await.status, 200);
    assert_eq!(at(Method::GET, "other.example").await.status, 302);
}

#[tokio::test]
async fn a_tag_at_the_root_of_a_host_goes_before_the_page_there() {
    let service = TestService::start().await;
    let url = "https://tags.example/?p={picc}&c={mac}";
    let template = json!({
        "name": "Root", "template": url, "technology": "ntag424dna",
        "meta_keys": ["A1".repeat(16)],
    });
    service.admin_create("/url-templates", template).await;
    let open = async |path: &str| {
        let url = format!("{}{path}", service.base());
        let request = service.get(&url).header("host", "tags.example");
        request.answer().await
    };
    let code = format!("/?p={}&c={}", "0".repeat(32), "0".repeat(16));
    let unknown = open(&code).await;
    assert_eq!(unknown.status, 404, "a code of no chip");
    assert!(unknown.body.contains("Unknown tag"), "{}", unknown.body);
}

#[tokio::test]
async fn pages_that_are_not_valid_are_refused_at_their_field() {
    let service = TestService::start().await;
    let before = service.admin_get("/settings").await;
    let text =
        |language: &str, text: &str| json!({"page": "home", "language": language, "text": text});
    let long = "x".repeat(1_001);
    for (pages, field) in [
        (json!({"home_url": "javascript:alert(1)"}), "pages.home_url"),
        (
            json!({"home_url": "https://me:secret@example.com"}),
            "pages.home_url",
        ),
        (json!({"name": "x".repeat(81)}), "pages.name"),
        (json!({"texts": [text("de", &long)]}), "pages.texts[0].text"),
        (
            json!({"texts": [text("a b", "c")]}),
            "pages.texts[0].language",
        ),
        (
            json!({"texts": vec![text("de", "a"); 2]}),
            "pages.texts[1].language",
        ),
    ] {
        let changes = json!({"pages": pages});
        let answer = service.admin(Method::PATCH, "/settings", changes).await;
        let problem = answer.expect(422);
        assert_eq!(problem["errors"][0]["field"], field, "{problem}");
    }
    for pages in [
        json!({"accent": "red"}),
        json!({"texts": [{"page": "moon", "language": "de", "text": "a"}]}),
        json!({"logo": "x"}),
        json!("x"),
    ] {
        let changes = json!({"pages": pages});
        let answer = service.admin(Method::PATCH, "/settings", changes).await;
        answer.expect(422);
    }
    assert_eq!(service.admin_get("/settings").await, before);
    // A merge: other members stay, and `null` removes one.
    set(
        &service,
        json!({"name": "A", "home_url": "https://a.example/"}),
    )
    .await;
    set(&service, json!({"home_url": null})).await;
    let pages = service.admin_get("/settings").await["pages"]["value"].clone();
    assert_eq!(pages, json!({"name": "A"}));
}
