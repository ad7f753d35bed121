//! The script for pages of owners, and the page that shows its integrity.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use scraper::{Html, Selector};
use sha2::{Digest as _, Sha384};
use tapdesk_service::Exposure;
use tapdesk_tests::{Answering as _, TestService};

#[tokio::test]
async fn the_script_of_the_page_kit_is_immutable_and_readable_by_any_origin() {
    let mut service = TestService::start().await;
    let public = service.listen(Exposure::PublicOnly);
    for host in ["localhost", "tags.example"] {
        let script = public.get("/kit/1/tapdesk.js").header("host", host);
        let script = script.answer().await;
        assert_eq!(script.status, 200);
        for (name, value) in [
            ("content-type", "text/javascript; charset=utf-8"),
            ("x-content-type-options", "nosniff"),
            ("cache-control", "public, max-age=31536000, immutable"),
            ("access-control-allow-origin", "*"),
            ("cross-origin-resource-policy", "cross-origin"),
        ] {
            assert_eq!(script.header(name), Some(value), "{name}");
        }
        assert!(script.body.len() <= 4096, "{} bytes", script.body.len());
    }
}

#[tokio::test]
async fn the_page_of_the_kit_shows_the_integrity_of_its_script() {
    let service = TestService::start().await;
    let script = service.get("/kit/1/tapdesk.js").answer().await.body;
    let integrity = format!("sha384-{}", STANDARD.encode(Sha384::digest(&script)));
    let source = format!("{}/kit/1/tapdesk.js", service.base());
    for path in ["/kit/1", "/kit/1/"] {
        let page = service.get(path).answer().await;
        assert_eq!(page.status, 200);
        let page = Html::parse_document(&page.body);
        let text = |id: &str| {
            let selector = Selector::parse(id).expect("a selector");
            let element = page.select(&selector).next().expect("it is there");
            element.text().collect::<String>()
        };
        assert_eq!(text("#integrity"), integrity);
        let snippet = Html::parse_fragment(&text("#snippet"));
        let selector = Selector::parse("script[integrity]").expect("a selector");
        let script = snippet.select(&selector).next().expect("it loads one");
        assert_eq!(script.attr("src"), Some(&*source));
        assert_eq!(script.attr("integrity"), Some(&*integrity));
        assert_eq!(script.attr("crossorigin"), Some("anonymous"));
    }
}
