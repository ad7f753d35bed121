//! The ways in which a URL of a template may be written, and those that name nobody.

use super::places::one_address;
use super::*;

#[tokio::test]
async fn parameters_come_in_any_order_among_others_in_either_case_and_percent_encoded() {
    let (service, _, mut chip, _) = one_address().await;
    for counter in 1..=4 {
        let url = chip.url(None);
        let (_, query) = url.split_once('?').unwrap();
        let (picc, mac) = query.split_once('&').unwrap();
        let url = match counter {
            1 => format!("/v?utm_source=x&{mac}&{picc}"),
            2 => format!("/v?{}", query.to_lowercase()),
            3 => format!("/%76?p%69cc_data={}&{mac}", picc.replace("picc_data=", "")),
            _ => format!("/v?{picc}&{mac}&fbclid=1"),
        };
        assert_eq!(tap(&service, &url).await.status, 302, "{url}");
        assert_eq!(last(&service).await.0, json!(true), "{url}");
    }
}

#[tokio::test]
async fn what_is_twice_or_too_long_names_nobody_and_leaves_no_trace() {
    let (service, _, mut chip, _) = one_address().await;
    let good = chip.url(None);
    let (address, query) = good.split_once('?').unwrap();
    let (picc, mac) = query.split_once('&').unwrap();
    let long = "A".repeat(8 * 1024);
    for url in [
        format!("{address}?{picc}&{picc}&{mac}"),
        format!("{address}?{picc}&{mac}&{mac}"),
        format!("{address}?{picc}&{mac}&p%69cc_data=00"),
        format!("{address}?picc_data={long}&{mac}"),
        format!("{address}?{picc}{long}&{mac}"),
        format!("{address}?{picc}&{mac}00"),
        format!("/{address}?{query}"),
        format!("{address}%00?{query}"),
        format!("{address}?{picc}%00&{mac}"),
        format!("{address}?{picc};{mac}"),
        format!("{address}?{}&{mac}", picc.replace('=', "=%EF%BC%A1")),
    ] {
        let answer = open(&service, &url).await;
        assert_eq!(answer.status, 404, "{url}: {}", answer.body);
    }
    let recorded = service.admin_get("/interactions").await;
    assert_eq!(recorded["items"], json!([]), "nothing is written");
    // Whatever parameters are added, however long, the code verifies once.
    let beside = format!("{address}?x={long}&{query}");
    assert_eq!(tap(&service, &beside).await.status, 302);
    assert_eq!(last(&service).await, (json!(true), json!("verified")));
}

#[tokio::test]
async fn a_slug_with_a_code_that_is_twice_or_too_long_is_malformed() {
    let service = TestService::start().await;
    let settings = settings("https://tags.example/a/{slug}?p={picc}&c={mac}");
    let id = template(&service, &settings, &[]).await;
    let tag = service.redirecting_tag(Value::Null).await;
    let mut chip = Chip::new(settings, aes("11", "22"));
    service.inlay(inlay_json(&chip, id, Some(&tag))).await;
    let good = chip.url(Some(&tag.slug));
    let (address, query) = good.split_once('?').unwrap();
    let (picc, mac) = query.split_once('&').unwrap();
    for query in [
        format!("{picc}&{picc}&{mac}"),
        format!("{picc}{}&{mac}", "A".repeat(4 * 1024)),
        format!("p=&{mac}"),
        picc.to_owned(),
    ] {
        let answer = tap(&service, &format!("{address}?{query}")).await;
        assert_eq!(answer.status, 302, "the owner's page decides");
        assert_eq!(last(&service).await, (json!(false), json!("malformed")));
    }
    assert_eq!(tap(&service, &good).await.status, 302);
    assert_eq!(last(&service).await.0, json!(true), "nothing was used up");
}

#[tokio::test]
async fn a_path_in_another_case_is_a_template_s_if_no_template_has_it_exactly() {
    let service = TestService::start().await;
    let named = settings("https://tags.example/Wine/{slug}?uid={uid}&ctr={counter}&cmac={mac}");
    let named_id = template(&service, &named, &[]).await;
    let tag = service
        .redirecting_tag(json!({"slug": "Bottle-1907"}))
        .await;
    let mut chip = Chip::new(
        named,
        InlayKeys::Aes(Keys {
            meta: None,
            file: key("22"),
        }),
    );
    service.inlay(inlay_json(&chip, named_id, Some(&tag))).await;
    for place in [
        "/Wine/Bottle-1907",
        "/WINE/BOTTLE-1907",
        "/wine/bottle-1907",
    ] {
        let url = chip
            .url(Some(&tag.slug))
            .replace("/Wine/Bottle-1907", place);
        assert_eq!(tap(&service, &url).await.status, 302, "{url}");
        assert_eq!(last(&service).await.0, json!(true), "{url}");
        for appended in ["", "/", "&brid=1"] {
            let url = format!("{place}{appended}");
            assert_eq!(tap(&service, &url).await.status, 302, "{url}");
        }
    }

    // Without a slug, and with another template in capitals.
    let one = settings("https://tags.example/Item?picc_data={picc}&cmac={mac}");
    let one_id = template(&service, &one, &["11"]).await;
    let mut chip = Chip::new(one, aes("11", "22"));
    service.inlay(inlay_json(&chip, one_id, Some(&tag))).await;
    let url = chip.url(None).replace("/Item", "/ITEM");
    assert_eq!(tap(&service, &url).await.status, 302);
    let other = settings("https://tags.example/ITEM?picc_data={picc}&cmac={mac}");
    template(&service, &other, &["33"]).await;
    for (place, status) in [("/Item", 302), ("/ITEM", 404), ("/item", 302)] {
        let url = chip.url(None).replace("/Item", place);
        assert_eq!(tap(&service, &url).await.status, status, "{url}");
    }
}

/// A QR code in capitals, and programs that write the names of parameters in their own way.
#[tokio::test]
async fn names_of_parameters_in_another_case_are_a_template_s_if_none_has_them_exactly() {
    let (service, _, mut chip, _) = one_address().await;
    let names = [
        ("PICC_DATA", "CMAC"),
        ("Picc_Data", "Cmac"),
        ("picc_data", "CMAC"),
    ];
    for (picc, mac) in names {
        let url = chip.url(None);
        let url = url.replace("picc_data", picc).replace("cmac", mac);
        assert_eq!(tap(&service, &url).await.status, 302, "{url}");
        assert_eq!(last(&service).await.0, json!(true), "{url}");
    }
    let url = chip.url(None).to_uppercase() + "/";
    assert_eq!(tap(&service, &url).await.status, 302, "{url}");
    assert_eq!(last(&service).await.0, json!(true), "{url}");
    // The same name twice is no code, in whatever case.
    let url = chip.url(None).replace("cmac", "CMAC");
    let (_, mac) = url.split_once("CMAC=").unwrap();
    assert_eq!(
        tap(&service, &format!("{url}&Cmac={mac}")).await.status,
        404
    );

    // With a slug, and with a fixed parameter.
    let with_slug = settings("https://tags.example/w?Brand=Ab&s={slug}&p={picc}&c={mac}");
    let id = template(&service, &with_slug, &[]).await;
    let slug = json!({"slug": "bottle-1907"});
    let tag = service.redirecting_tag(slug).await;
    let mut chip = Chip::new(with_slug, aes("11", "33"));
    service.inlay(inlay_json(&chip, id, Some(&tag))).await;
    let url = chip.url(Some(&tag.slug)).to_uppercase();
    let answer = tap(&service, &url).await;
    assert_eq!(answer.status, 302, "{url}");
    assert_eq!(last(&service).await.0, json!(true), "{url}");
}

/// Apps append a slash to a whole URL. The code before it is the chip's.
#[tokio::test]
async fn a_slash_behind_the_query_is_forgiven() {
    let (service, _, mut chip, _) = one_address().await;
    // The script of a page appends its mark to the page's own address.
    for behind in ["/", "&fbclid=1/", "/&again"] {
        let url = chip.url(None) + behind;
        assert_eq!(tap(&service, &url).await.status, 302, "{url}");
        assert_eq!(last(&service).await.0, json!(true), "{url}");
    }
    let url = chip.url(None) + "//";
    assert_eq!(tap(&service, &url).await.status, 404, "{url}");
}
