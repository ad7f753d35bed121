//! Slugs at the addresses of URL templates: the forms of short links, and the text that a MAC covers.

use tapdesk_service::inlay::technology::Family;

use super::chips::{of, on_tag, put_on};
use super::*;

/// The form of a short link, as other services write it.
const SHORT: &str = "https://tags.example/{slug}?uid={uid}&token={counter}{mac}";

fn file_only() -> InlayKeys {
    InlayKeys::Aes(Keys {
        meta: None,
        file: key("22"),
    })
}

async fn tag(service: &TestService, slug: &str) -> TestTag {
    service.redirecting_tag(json!({"slug": slug})).await
}

#[tokio::test]
async fn a_slug_can_be_the_first_segment_of_a_url() {
    let service = TestService::start().await;
    let mut chip = Chip::new(settings(SHORT), file_only());
    let tag = tag(&service, "1042").await;
    put_on(&service, &chip, &[], &tag).await;
    assert_eq!(
        super::tap(&service, &chip.url(Some("1042"))).await.status,
        302
    );
    assert_eq!(last(&service).await, (json!(true), json!("verified")));
    // The service's own paths are served first.
    for (path, status) in [
        ("/health", 200),
        ("/ready", 200),
        ("/favicon.ico", 404),
        ("/robots.txt", 404),
        ("/.well-known/security.txt", 404),
        ("/nobody", 404),
        ("/", 200),
    ] {
        assert_eq!(open(&service, path).await.status, status, "{path}");
    }
    assert_eq!(service.scan_count(&tag).await, 1);
    for text in [
        "https://tags.example/{*}?u={uid}&m={counter}{mac}",
        "https://tags.example/{*}/{slug}?u={uid}&m={counter}{mac}",
        "https://tags.example/a{slug}?u={uid}&m={counter}{mac}",
        "https://tags.example/kit/{slug}?u={uid}&m={counter}{mac}",
    ] {
        let body = template_json(&settings(text), &[]);
        let answer = service.admin(Method::POST, "/url-templates", body).await;
        let detail = answer.expect(422)["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("the service's own"), "{text}: {detail}");
    }
}

#[tokio::test]
async fn at_a_template_case_slash_and_ampersand_are_forgiven_too() {
    let service = TestService::start().await;
    let mut chip = Chip::new(settings(SHORT), file_only());
    let tag = tag(&service, "AbC123xy").await;
    put_on(&service, &chip, &[], &tag).await;
    for change in [
        (|path: &str| path.to_owned()) as fn(&str) -> String,
        |path| {
            path.to_uppercase()
                .replace("UID=", "uid=")
                .replace("TOKEN=", "token=")
        },
        |path| path.to_lowercase(),
        |path| path.replacen('?', "/?", 1),
        |path| path.replacen('?', "&", 1),
        |path| path.replacen('?', "/&", 1) + "&brid=abc",
        |path| path.replacen("AbC", "%41bC", 1),
    ] {
        let url = change(&chip.url(Some("AbC123xy")));
        assert_eq!(super::tap(&service, &url).await.status, 302, "{url}");
        assert_eq!(
            last(&service).await,
            (json!(true), json!("verified")),
            "{url}"
        );
        assert_eq!(newest(&service).await["tag_id"], json!(tag.id));
    }
    for path in [
        "/AbC123xy//",
        "/AbC123xy%2F",
        "/AbC123xy/more",
        "//AbC123xy",
        "/AbC123xy%26a=1",
    ] {
        assert_eq!(open(&service, path).await.status, 404, "{path}");
    }
    let path = format!("/{}", "a".repeat(10_000));
    assert_eq!(open(&service, &path).await.status, 404);
}

/// Campaigns and apps append their parameters to a short link without a `?`.
#[tokio::test]
async fn parameters_behind_an_ampersand_in_a_templates_path_are_passed_on() {
    let service = TestService::start().await;
    let experience = json!({
        "name": "R", "kind": "redirect", "pass_query": true,
        "target_url": "https://owner.example/?from={{query:utm}}",
    });
    let experience = service.experience(experience).await;
    let body = json!({"name": "Bottle", "slug": "AbC123xy", "experience_id": experience});
    let tag = service.tag(body).await;
    let mut chip = Chip::new(settings(SHORT), file_only());
    put_on(&service, &chip, &[], &tag).await;
    for change in [
        (|path: &str| format!("{path}&utm=x&y=1")) as fn(&str) -> String,
        |path| path.replacen('?', "&", 1) + "&utm=x&y=1",
        |path| path.replacen('?', "/&utm=x&y=1&", 1),
        |path| path.replacen('?', "&utm=x?y=1&", 1),
        |path| path.replacen('?', "&utm=x&y=1&", 1) + "/",
        |path| path.to_lowercase().replacen('?', "&utm=x&y=1&", 1),
    ] {
        let url = change(&chip.url(Some("AbC123xy")));
        let tap = super::tap(&service, &url).await;
        let key = tap.key();
        let expected = format!("https://owner.example/?from=x&rk={key}&utm=x&y=1");
        assert_eq!(tap.location, Some(expected), "{url}");
        assert_eq!(last(&service).await, (json!(true), json!("verified")));
    }
    // An `&` of the template's own path: what follows is the template's, and no code leaves.
    let own = settings("https://tags.example/shop/w&{slug}?uid={uid}&token={counter}{mac}");
    let mut chip = Chip::new(own, file_only());
    put_on(&service, &chip, &[], &tag).await;
    let url = chip.url(Some("AbC123xy")) + "&y=1";
    let tap = super::tap(&service, &url).await;
    let key = tap.key();
    let expected = format!("https://owner.example/?from=&rk={key}&y=1");
    assert_eq!(tap.location, Some(expected), "{url}");
}

/// A MAC over the slug: the chip wrote the tag's own text, whatever the request made of it.
#[tokio::test]
async fn a_mac_over_the_slug_is_made_over_the_tags_own_text() {
    let service = TestService::start().await;
    let settings = TemplateSettings {
        mac_from: MacStart::Slug,
        ..settings("https://tags.example/{slug}?c={counter}&m={mac}")
    };
    let mut chip = Chip::new(settings, file_only());
    let tag = tag(&service, "Bottle-41").await;
    put_on(&service, &chip, &[], &tag).await;
    let as_written = |path: &str| path.to_owned();
    let lower = |path: &str| path.to_lowercase();
    let capitals = |path: &str| path.replacen("/Bottle", "/BOTTLE", 1);
    let changes: [fn(&str) -> String; 3] = [as_written, lower, capitals];
    let check = async |chip: &mut Chip| {
        for change in changes {
            let url = change(&chip.url(Some("Bottle-41")));
            let text = json!({"url": format!("https://{HOST}{url}")});
            let checked = service.admin(Method::POST, "/verification", text).await;
            assert_eq!(checked.expect(200)["tag_verified"], json!(true), "{url}");
            assert_eq!(super::tap(&service, &url).await.status, 302, "{url}");
            assert_eq!(
                last(&service).await,
                (json!(true), json!("verified")),
                "{url}"
            );
        }
    };
    check(&mut chip).await;
    // The same chip, whose slug is a former one now: first of another word, then of another case.
    let path = tag.admin_path();
    service
        .admin_patch(&path, json!({"slug": "cask-0041"}))
        .await;
    check(&mut chip).await;
    service
        .admin_patch(&path, json!({"slug": "bottle-41"}))
        .await;
    check(&mut chip).await;
    // Another text is another MAC.
    let url = chip.url(Some("bottle-4l"));
    let url = url.replace("bottle-4l", "bottle-41");
    super::tap(&service, &url).await;
    assert_eq!(last(&service).await, (json!(false), json!("wrong_mac")));
}

#[tokio::test]
async fn a_slug_in_the_host_is_one_label_in_any_case() {
    let service = TestService::start().await;
    let settings = settings("https://{slug}.tags.example/v?uid={uid}&c={counter}&m={mac}");
    let mut chip = Chip::new(settings, file_only());
    let bottle = tag(&service, "AbC123xy").await;
    put_on(&service, &chip, &[], &bottle).await;
    for (host, status) in [
        ("AbC123xy.tags.example", 302),
        ("abc123xy.tags.example", 302),
        ("x.abc123xy.tags.example", 404),
        ("tags.example", 404),
    ] {
        let url = chip.whole_url_at(chip.counter + 1, Some("AbC123xy"));
        chip.counter += 1;
        let (_, path) = url.split_once("tags.example").unwrap();
        let request = service.request(Method::GET, path).header("host", host);
        assert_eq!(request.answer().await.status, status, "{host}");
    }
    // No chip can be written with a slug that is no label.
    let dotted = tag(&service, "a.b_c-dotted").await;
    let templates = service.admin_get("/url-templates").await;
    let id = &templates["items"][0]["id"];
    let sheet = format!("/url-templates/{id}/encoding-sheet?tag_id={}", dotted.id);
    let sheet = service.admin(Method::GET, &sheet, Value::Null).await;
    assert!(
        sheet.expect(422)["detail"]
            .as_str()
            .unwrap()
            .contains("host")
    );
}

#[tokio::test]
async fn a_static_chip_and_a_rolling_one_share_the_address_of_a_tag() {
    let service = TestService::start().await;
    let fixed = Chip::new(
        of(Technology::Ntag213, "https://tags.example/{slug}"),
        InlayKeys::None,
    );
    assert_eq!(
        fixed.template.settings().technology.family(),
        Family::Ntag21x
    );
    let tag = on_tag(&service, &fixed, &[]).await;
    let mut rolling = Chip::new(settings(SHORT), file_only());
    let id = template(&service, rolling.template.settings(), &[]).await;
    service.inlay(inlay_json(&rolling, id, Some(&tag))).await;
    let slug = tag.slug.clone();
    super::tap(&service, &rolling.url(Some(&slug))).await.key();
    let seen = newest(&service).await;
    assert_eq!(
        (&seen["tag_verified"], &seen["tag_id"]),
        (&json!(true), &json!(tag.id))
    );
    // The URL of the other chip is always the same, and proves nothing.
    super::tap(&service, &format!("/{slug}")).await.key();
    assert_eq!(last(&service).await, (json!(null), json!("no_mac")));
}
