//! Several templates at one address, which the URL tells apart.

use tapdesk_service::inlay::technology::Mode;

use super::*;

/// The forms that sdm-backend answers at `/tag`: template, mode, and characters of `{enc}`.
const FORMS: [(&str, Mode, Option<usize>); 7] = [
    ("picc_data={picc}&cmac={mac}", Mode::Aes, None),
    ("picc_data={picc}&enc={enc}&cmac={mac}", Mode::Aes, Some(32)),
    ("picc_data={picc}&cmac={mac}", Mode::Lrp, None),
    ("picc_data={picc}&enc={enc}&cmac={mac}", Mode::Lrp, Some(32)),
    ("uid={uid}&ctr={counter}&cmac={mac}", Mode::Aes, None),
    ("e={picc}{mac}", Mode::Aes, None),
    ("e={picc}{enc}{mac}", Mode::Aes, Some(32)),
];

fn form((text, mode, enc_length): (&str, Mode, Option<usize>)) -> TemplateSettings {
    TemplateSettings {
        mode,
        enc_length,
        mac_from: enc_length.map_or(MacStart::None, |_| MacStart::Enc),
        ..settings(&format!("https://tags.example/tag?{text}"))
    }
}

/// A chip of each form, on a tag of its own, with the id of its template. Their shared meta key is
/// the same.
async fn chips(service: &TestService) -> Vec<(Chip, TestTag, i64)> {
    let mut chips = Vec::new();
    for (index, text) in FORMS.into_iter().enumerate() {
        let settings = form(text);
        let has_picc = settings.template.contains("{picc}");
        let meta: &[&str] = if has_picc { &["11"] } else { &[] };
        let id = template(service, &settings, meta).await;
        let file = key(&format!("2{index}"));
        let meta = has_picc.then(|| key("11"));
        let mut chip = Chip::new(settings, InlayKeys::Aes(Keys { meta, file }));
        chip.file_data = b"0123456789ABCDEF";
        let tag = service.redirecting_tag(Value::Null).await;
        service.inlay(inlay_json(&chip, id, Some(&tag))).await;
        chips.push((chip, tag, id));
    }
    chips
}

#[tokio::test]
async fn the_forms_of_sdm_backend_are_at_one_path() {
    let service = TestService::start().await;
    let mut chips = chips(&service).await;
    for (chip, tag, id) in &mut chips {
        let url = chip.url(None);
        let text = json!({"url": format!("https://{HOST}{url}")});
        let checked = service
            .admin(Method::POST, "/verification", text)
            .await
            .expect(200);
        assert_eq!(checked["tag_verified"], json!(true), "{url}: {checked}");
        assert_eq!(checked["url_template_id"], json!(id), "{url}: {checked}");
        let first = tap(&service, &url).await;
        assert_eq!(first.status, 302, "{url}");
        let seen = newest(&service).await;
        assert_eq!(seen["tag_id"], json!(tag.id), "{url}");
        assert_eq!(seen["tag_verified"], json!(true), "{url}");
        // A reload repeats the answer.
        let cookie = first.cookie.clone().unwrap();
        let again = send(&service, Method::GET, &url, &[("cookie", &cookie)]).await;
        assert_eq!(again.header("location"), first.location.as_deref(), "{url}");
        // With what an app changes.
        let url = chip.url(None).to_lowercase() + "&utm_source=mail";
        assert_eq!(tap(&service, &url).await.status, 302, "{url}");
        assert_eq!(
            last(&service).await,
            (json!(true), json!("verified")),
            "{url}"
        );
    }
    let templates = service.admin_get("/url-templates").await;
    for template in templates["items"].as_array().unwrap() {
        assert_ne!(template["first_tap_at"], Value::Null, "{template}");
    }
    // A changed code names nobody, whichever templates are tried.
    for (chip, ..) in &mut chips {
        let url = chip.url(None);
        let last = if url.ends_with('0') { "1" } else { "0" };
        let wrong = format!("{}{last}", &url[..url.len() - 1]);
        assert_eq!(open(&service, &wrong).await.status, 404, "{wrong}");
    }
}

#[tokio::test]
async fn templates_that_are_alike_are_refused_with_the_others_name() {
    let service = TestService::start().await;
    chips(&service).await;
    for text in FORMS {
        let body = template_json(&form(text), &[]);
        let problem = service
            .admin(Method::POST, "/url-templates", body)
            .await
            .expect(409);
        assert_eq!(problem["code"], "templates_overlap");
        assert_eq!(problem["errors"][0]["field"], "template");
        assert!(
            problem["detail"].as_str().unwrap().contains("Bottles 2024"),
            "{problem}"
        );
    }
    // In clear the mode is not seen, and the name of a parameter is not enough.
    for (text, mode) in [
        ("uid={uid}&ctr={counter}&cmac={mac}", Mode::Lrp),
        ("p={picc}&c={mac}", Mode::Aes),
        ("x={*}&picc_data={picc}&cmac={mac}", Mode::Aes),
    ] {
        let body = template_json(&form((text, mode, None)), &[]);
        let answer = service.admin(Method::POST, "/url-templates", body).await;
        assert_eq!(answer.expect(409)["code"], "templates_overlap", "{text}");
    }
}

#[tokio::test]
async fn the_fifth_template_for_a_url_is_refused_in_words() {
    let service = TestService::start().await;
    let with = |index: usize| TemplateSettings {
        enc_length: Some(32 * (index % 4 + 1)),
        mac_from: MacStart::Enc,
        ..settings(&format!(
            "https://tags.example/v?p={{picc}}&e{index}={{enc}}&m={{mac}}"
        ))
    };
    for index in 0..4 {
        template(&service, &with(index), &[]).await;
    }
    let fifth = template_json(&settings("https://tags.example/v?p={picc}&m={mac}"), &[]);
    let problem = service
        .admin(Method::POST, "/url-templates", fifth)
        .await
        .expect(409);
    assert_eq!(problem["code"], "templates_overlap");
    assert!(
        problem["detail"].as_str().unwrap().contains("4 others"),
        "{problem}"
    );
    assert_eq!(problem["errors"][0]["field"], "template");
    // However many are tried, each is answered at once.
    for index in 4..64 {
        let body = template_json(&with(index), &[]);
        let answer = service.admin(Method::POST, "/url-templates", body).await;
        assert_eq!(answer.status, 409, "{index}: {}", answer.body);
    }
    // Another path is free.
    template(
        &service,
        &settings("https://tags.example/w?p={picc}&m={mac}"),
        &[],
    )
    .await;
}

/// `/v` and `/{slug}`: the literal path is asked first, and a tag with that slug is found by its
/// code all the same.
#[tokio::test]
async fn a_path_beside_a_slug_keeps_both_tags() {
    let service = TestService::start().await;
    let (literal, any) = (
        settings("https://tags.example/tag?p={picc}&m={mac}"),
        settings("https://tags.example/{slug}?p={picc}&m={mac}"),
    );
    let literal_id = template(&service, &literal, &["11"]).await;
    let any_id = template(&service, &any, &[]).await;
    let mut one = Chip::new(literal, aes("11", "22"));
    let mut other = Chip::new(any, aes("33", "44"));
    let tag = service.redirecting_tag(Value::Null).await;
    let called_tag = service.redirecting_tag(json!({"slug": "tag"})).await;
    service
        .inlay(inlay_json(&one, literal_id, Some(&tag)))
        .await;
    service
        .inlay(inlay_json(&other, any_id, Some(&called_tag)))
        .await;
    for _ in 0..2 {
        assert_eq!(tap(&service, &one.url(None)).await.status, 302);
        let seen = newest(&service).await;
        assert_eq!(
            (&seen["tag_id"], &seen["tag_verified"]),
            (&json!(tag.id), &json!(true))
        );
        assert_eq!(tap(&service, &other.url(Some("tag"))).await.status, 302);
        let seen = newest(&service).await;
        assert_eq!(
            (&seen["tag_id"], &seen["tag_verified"]),
            (&json!(called_tag.id), &json!(true))
        );
    }
    // A wrong code at the path of a tag is that tag's.
    let mut wrong = other.url(Some("tag"));
    let digit = wrong.pop();
    wrong.push(if digit == Some('0') { '1' } else { '0' });
    assert_eq!(tap(&service, &wrong).await.status, 302);
    assert_eq!(newest(&service).await["tag_id"], json!(called_tag.id));
    assert_eq!(last(&service).await, (json!(false), json!("wrong_mac")));
}
