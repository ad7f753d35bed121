//! Chips that make no MAC: found by the UID that they mirror, and other chips at a tag's slug.

use super::chips::{of, put_on};
use super::*;

const ADDRESS: &str = "https://tags.example/reel?m={uid}x{counter}";
const AT_SLUG: &str = "https://tags.example/b/{slug}?m={uid}x{counter}";

fn by_uid(technology: Technology, template: &str) -> TemplateSettings {
    TemplateSettings {
        lookup: Some(Lookup::Unverified),
        ..of(technology, template)
    }
}

async fn created(service: &TestService, settings: &TemplateSettings) -> Answer {
    let body = template_json(settings, &[]);
    service.admin(Method::POST, "/url-templates", body).await
}

async fn verification(service: &TestService, url: &str) -> Value {
    let dry_run = json!({"url": url});
    let dry_run = service.admin(Method::POST, "/verification", dry_run);
    dry_run.await.expect(200)
}

#[tokio::test]
async fn a_chip_without_a_mac_is_found_by_its_uid_if_the_owner_says_so() {
    let service = TestService::start().await;
    for (technology, template, counts) in [
        (Technology::Ntag213, ADDRESS, true),
        (
            Technology::Ntag210,
            "https://tags.example/210?u={uid}",
            false,
        ),
        (
            Technology::Ultralight,
            "https://tags.example/ul/{uid}",
            false,
        ),
    ] {
        let settings = by_uid(technology, template);
        let chip = Chip::new(settings.clone(), InlayKeys::None);
        let stranger = Chip::new(settings, InlayKeys::None);
        let tag = service.redirecting_tag(Value::Null).await;
        let id = put_on(&service, &chip, &[], &tag).await;
        let shown = service.admin_get("/url-templates?limit=100").await;
        let newest = shown["items"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(newest["lookup"], "unverified");
        for counter in [5, 5] {
            let tapped = tap(&service, &chip.url_at(counter, None)).await;
            assert_eq!(tapped.status, 302, "{technology}");
            assert_eq!(last(&service).await, (Value::Null, json!("no_mac")));
            assert_eq!(super::newest(&service).await["tag_id"], tag.id);
        }
        let counted = service.admin_get(&format!("/inlays/{id}")).await;
        assert_eq!(counted["last_counter"], if counts { 5 } else { 0 });
        assert_eq!(open(&service, &stranger.url_at(5, None)).await.status, 404);
        // A dry run says the same, and says why.
        let known = verification(&service, &chip.whole_url_at(6, None)).await;
        assert_eq!(known["tag_verified"], Value::Null);
        assert_eq!(known["tag_id"], tag.id);
        assert_eq!(known["reason"], "no_mac");
        assert_eq!(known["findings"], json!([]));
        let unknown = verification(&service, &stranger.whole_url_at(6, None)).await;
        assert_eq!(unknown["tag_id"], Value::Null);
        assert_eq!(unknown["findings"][0]["kind"], "not_configured");
    }
}

#[tokio::test]
async fn without_the_lookup_a_uid_names_nobody() {
    let service = TestService::start().await;
    let rolling = "https://tags.example/v?u={uid}&n={counter}&c={mac}";
    for (settings, field, says) in [
        (of(Technology::Ntag213, ADDRESS), "template", "lookup"),
        (by_uid(Technology::Ntag213, AT_SLUG), "lookup", "{slug}"),
        (by_uid(Technology::Ntag424Dna, rolling), "lookup", "no MAC"),
        (
            by_uid(Technology::Ntag213, "https://tags.example/n?c={counter}"),
            "template",
            "{uid}",
        ),
    ] {
        let refused = created(&service, &settings).await.expect(422);
        assert_eq!(refused["errors"][0]["field"], field, "{refused}");
        assert!(
            refused["detail"].as_str().unwrap().contains(says),
            "{refused}"
        );
    }
    // An owner who chose it can leave it only by another URL.
    let settings = by_uid(Technology::Ntag213, ADDRESS);
    let id = template(&service, &settings, &[]).await;
    let path = format!("/url-templates/{id}");
    let refused = service
        .admin(Method::PATCH, &path, json!({"lookup": null}))
        .await
        .expect(422);
    assert_eq!(refused["errors"][0]["field"], "template");
    let changed = json!({"lookup": null, "template": AT_SLUG});
    let changed = service.admin_patch(&path, changed).await;
    assert_eq!(changed["lookup"], Value::Null);
}

#[tokio::test]
async fn the_uid_of_another_chip_at_a_slug_has_a_reason_of_its_own() {
    let service = TestService::start().await;
    let settings = of(Technology::Ntag213, AT_SLUG);
    let genuine = Chip::new(settings.clone(), InlayKeys::None);
    let tag = service.redirecting_tag(Value::Null).await;
    let id = put_on(&service, &genuine, &[], &tag).await;
    let template = service.admin_get(&format!("/inlays/{id}")).await["url_template_id"].clone();
    let other = Chip::new(settings.clone(), InlayKeys::None);
    let elsewhere = service.redirecting_tag(Value::Null).await;
    let template = template.as_i64().unwrap();
    service
        .inlay(inlay_json(&other, template, Some(&elsewhere)))
        .await;
    let unknown = Chip::new(settings, InlayKeys::None);
    let slug = Some(tag.slug.as_str());
    let why = Some(elsewhere.slug.as_str());
    for (chip, whose) in [(&other, why), (&unknown, None)] {
        let tapped = tap(&service, &chip.url_at(7, slug)).await;
        assert_eq!(tapped.status, 302, "the tag is named by its slug");
        let interaction = newest(&service).await;
        assert_eq!(interaction["tag_verified"], Value::Null);
        assert_eq!(interaction["reason"], "other_uid");
        assert_eq!(interaction["uid"], chip.uid.to_string());
        assert_eq!(interaction["inlay_id"], Value::Null);
        let traced = service
            .admin_get(&format!("/interactions/{}", interaction["id"]))
            .await;
        let steps = traced["steps"].to_string();
        assert!(
            steps.contains("not that of an inlay of this tag"),
            "{steps}"
        );
        assert!(whose.is_none_or(|slug| steps.contains(slug)), "{steps}");
        let dry_run = verification(&service, &chip.whole_url_at(8, slug)).await;
        assert_eq!(dry_run["reason"], "other_uid");
        assert_eq!(dry_run["uid"], chip.uid.to_string());
        let kind = if whose.is_some() {
            "other_inlay"
        } else {
            "not_configured"
        };
        assert_eq!(dry_run["findings"][0]["kind"], kind, "{dry_run}");
    }
    // The counter of the tag's own chip did not move.
    assert_eq!(
        service.admin_get(&format!("/inlays/{id}")).await["last_counter"],
        0
    );
    tap(&service, &genuine.url_at(7, slug)).await;
    assert_eq!(last(&service).await, (Value::Null, json!("no_mac")));
    let listed = service.admin_get("/interactions?reason=other_uid").await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
    // Where the tag has no inlay of the template, there is nothing to compare with.
    let empty = service.redirecting_tag(Value::Null).await;
    tap(&service, &unknown.url_at(7, Some(&empty.slug))).await;
    assert_eq!(last(&service).await, (Value::Null, json!("no_mac")));
}

/// The first tap of a chip that moved here without its counter, with the URL of NXP's example (NTAG
/// 213/215/216, section 8.7.4).
#[tokio::test]
async fn the_first_counter_without_a_mac_is_no_jump_and_a_forged_last_one_is() {
    let service = TestService::start().await;
    let settings = by_uid(
        Technology::Ntag213,
        "https://tags.example/?m={uid}x{counter}",
    );
    let id = template(&service, &settings, &[]).await;
    for (uid, taps) in [
        (
            "04E141124C2880",
            [
                ("003F31", "no_mac", 16_177),
                ("003F32", "no_mac", 16_178),
                ("FFFFFF", "jumped", 16_178),
            ],
        ),
        (
            "04E141124C2881",
            [
                ("FFFFFF", "jumped", 0),
                ("000005", "no_mac", 5),
                ("001388", "jumped", 5),
            ],
        ),
    ] {
        let tag = service.redirecting_tag(Value::Null).await;
        let inlay = json!({
            "uid": uid, "technology": "ntag213", "url_template_id": id, "tag_id": tag.id,
        });
        let path = format!("/inlays/{}", service.inlay(inlay).await);
        for (counter, reason, last_counter) in taps {
            let url = format!("/?m={uid}x{counter}");
            let foreseen = verification(&service, &format!("https://tags.example{url}")).await;
            assert_eq!(foreseen["reason"], reason, "{url}");
            assert_eq!(tap(&service, &url).await.status, 302, "{url}");
            assert_eq!(last(&service).await, (Value::Null, json!(reason)), "{url}");
            let shown = service.admin_get(&path).await;
            assert_eq!(shown["last_counter"], last_counter, "{url}");
        }
    }
}
