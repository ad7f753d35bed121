//! Virtual inlays of every technology that write their URLs by a template.

use super::*;

/// A template of each kind of chip.
fn templates() -> Vec<Value> {
    let encrypted = "https://a.example/v?p={picc}&c={mac}";
    vec![
        json!({"technology": "ntag424dna", "template": encrypted, "meta_keys": ["11".repeat(16)]}),
        json!({
            "technology": "ntag424dna", "template": "https://b.example/v?p={picc}&c={mac}", "mode": "lrp",
            "meta_keys": ["22".repeat(16)],
        }),
        json!({
            "technology": "ntag424dna", "template": "https://c.example/a/{slug}?p={picc}&e={enc}&c={mac}",
            "mac_from": "enc", "enc_length": 32,
        }),
        json!({
            "technology": "ntag424dna_tt", "template": "https://d.example/v?u={uid}&n={counter}&t={tamper}&c={mac}",
            "mac_from": "uid",
        }),
        json!({"technology": "ntag223dna", "template": "https://e.example/v?m={uid}x{counter}x{tamper}x{mac}"}),
        json!({"technology": "ntag224dna", "template": "https://f.example/v?m={uid}x{counter}x{mac}"}),
        json!({"technology": "sic43nt", "template": "https://g.example/v?d={uid}{tamper}{counter}{mac}"}),
        json!({
            "technology": "sic43s1", "template": "https://h.example/v?U={uid}&TF={tamper}&TS={counter}&SAC={mac}",
        }),
        json!({"technology": "ntag213", "template": "https://i.example/a/{slug}?m={uid}x{counter}"}),
        json!({"technology": "ntag213tt", "template": "https://j.example/a/{slug}?m={uid}x{counter}x{tamper}"}),
        json!({"technology": "ntag210", "template": "https://k.example/a/{slug}?m={uid}"}),
    ]
}

async fn of_template(service: &TestService, mut template: Value) -> (Value, Value) {
    template["name"] = json!("Batch");
    let template = service.admin_create("/url-templates", template).await;
    let new = json!({"name": "Bottle", "url_template_id": template["id"]});
    (virtual_inlay(service, new).await, template)
}

#[tokio::test]
async fn every_technology_taps_by_its_template() {
    let service = TestService::start().await;
    for template in templates() {
        let (inlay, template) = of_template(&service, template).await;
        assert_eq!(inlay["technology"], template["technology"]);
        assert_eq!(inlay["mode"], template["mode"]);
        assert_eq!(inlay["url_template_id"], template["id"]);
        assert_eq!(inlay["mirror"], Value::Null);
        let (rolls, has_counter) = match template["technology"].as_str().unwrap() {
            "ntag210" => (false, false),
            "ntag213" | "ntag213tt" => (false, true),
            _ => (true, true),
        };
        let verified = if rolls { json!(true) } else { Value::Null };
        let first = tap(&service, &inlay, json!({"follow": true})).await;
        assert_eq!(first["followed"]["tag_verified"], verified, "{first}");
        assert_eq!(first["followed"]["status"], 200, "{first}");
        let id = &first["followed"]["interaction_id"];
        let recorded = service.admin_get(&format!("/interactions/{id}")).await;
        assert_eq!(recorded["tag_id"], inlay["tag_id"]);
        assert_eq!(recorded["simulated"], json!(true));
        if has_counter {
            assert_eq!(recorded["counter"], json!(1), "{recorded}");
        }
        // The same code again, and a modified one.
        let again = json!({"follow": true, "counter": 1});
        let again = tap(&service, &inlay, again).await;
        let refused = if rolls { json!(false) } else { Value::Null };
        assert_eq!(again["followed"]["tag_verified"], refused, "{again}");
        let forged = tap(&service, &inlay, json!({"follow": true, "tamper": true})).await;
        if rolls {
            assert_ne!(forged["followed"]["tag_verified"], json!(true), "{forged}");
        }
        // Checking a URL does not raise the counter.
        let url = tap(&service, &inlay, Value::Null).await["url"].clone();
        for _ in 0..2 {
            let asked = json!({"url": url});
            let asked = service.admin(Method::POST, "/verification", asked).await;
            let asked = asked.expect(200);
            assert_eq!(asked["tag_verified"], verified, "{asked}");
            assert_eq!(asked["url_template_id"], template["id"]);
        }
    }
}

#[tokio::test]
async fn a_loop_and_file_data_are_simulated() {
    let service = TestService::start().await;
    let mut all = templates();
    let (inlay, _) = of_template(&service, all.remove(3)).await;
    for seal in ["sealed", "open", "reclosed", "off", "unknown"] {
        let tapped = tap(&service, &inlay, json!({"follow": true, "seal": seal})).await;
        let id = &tapped["followed"]["interaction_id"];
        let recorded = service.admin_get(&format!("/interactions/{id}")).await;
        assert_eq!(recorded["tamper"], json!(seal));
    }
    let (inlay, _) = of_template(&service, all.remove(2)).await;
    let options = json!({"follow": true, "file_data": "A-1"});
    let tapped = tap(&service, &inlay, options).await;
    let id = &tapped["followed"]["interaction_id"];
    let recorded = service.admin_get(&format!("/interactions/{id}")).await;
    assert_eq!(recorded["file_data"]["text"], "A-1");
}

#[tokio::test]
async fn without_a_slug_the_code_alone_names_the_tag() {
    let service = TestService::start().await;
    let (inlay, _) = of_template(&service, templates().remove(0)).await;
    let options = json!({"at_tag_id": inlay["tag_id"]});
    let refused = service
        .admin(Method::POST, &tap_path(&inlay), options)
        .await;
    assert_eq!(refused.expect(422)["errors"][0]["field"], "at_tag_id");
    let new = json!({"name": "Bottle", "url_template_id": 404});
    let missing = service.admin(Method::POST, "/simulator/inlays", new).await;
    assert_eq!(missing.expect(409)["code"], "missing");
}
