//! Tags of Blue Bite, found by the URLs in its tables.

use super::*;

async fn import(service: &TestService, query: &str, file: &str) -> Value {
    let path = format!("/tags/import?preset=bluebite{query}");
    let request = service.admin_request(Method::POST, &path);
    let request = request.header("content-type", "text/csv");
    request.body(file.to_owned()).answer().await.expect(200)
}

fn slugs(result: &Value) -> Vec<&str> {
    let rows = result["results"].as_array().unwrap().iter();
    rows.map(|row| row["slug"].as_str().unwrap_or_default())
        .collect()
}

/// The URL of an NTAG 213 ends with its UID and counter, and others with parameters of an app.
#[tokio::test]
async fn a_tag_is_found_at_the_url_in_the_table() {
    let service = TestService::start().await;
    let file = "Name,Encoded URL,UID\n\
        Bottle,https://tags.example/nilpps/042E276AA24881x0001A22702,042E276AA24881\n\
        Door,https://tags.example/njaix4&brid=abc,\n";
    let foreseen = import(&service, "&technology=ntag213&dry_run=true", file).await;
    assert_eq!(slugs(&foreseen), ["nilpps", "njaix4"], "{foreseen}");

    let text = "https://tags.example/{slug}/{uid}x{counter}2702";
    let settings = TemplateSettings::new(text, Technology::Ntag213);
    let id = template(&service, &settings, &[]).await;
    let fixed = TemplateSettings::new("https://tags.example/{slug}", Technology::Ntag213);
    template(&service, &fixed, &[]).await;
    let result = import(&service, &format!("&url_template_id={id}"), file).await;
    assert_eq!(slugs(&result), ["nilpps", "njaix4"], "{result}");
    for path in ["/nilpps/042E276AA24881x0001A22702", "/njaix4&brid=abc"] {
        assert_eq!(open(&service, path).await.status, 200, "{path}");
        assert_eq!(
            last(&service).await,
            (Value::Null, json!("no_mac")),
            "{path}"
        );
    }
}

/// Another table has the slug elsewhere in its URLs. Where the URL template has none, tags get one.
#[tokio::test]
async fn urls_are_read_by_the_template_of_the_import() {
    let service = TestService::start().await;
    let file = "Name,NFC URL\nDoor,https://tags.example/o?id=njaix4\n";
    for (text, lookup, expected) in [
        ("https://tags.example/o?id={slug}", None, Some("njaix4")),
        (
            "https://tags.example/o?m={uid}x{counter}",
            Some(Lookup::Unverified),
            None,
        ),
    ] {
        let settings = TemplateSettings {
            lookup,
            ..TemplateSettings::new(text, Technology::Ntag213)
        };
        let id = template(&service, &settings, &[]).await;
        let result = import(&service, &format!("&url_template_id={id}"), file).await;
        assert_eq!(result["created"], 1, "{result}");
        match expected {
            Some(slug) => assert_eq!(slugs(&result), [slug]),
            None => assert_ne!(slugs(&result), ["o"], "{result}"),
        }
    }
}
