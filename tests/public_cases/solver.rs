//! Taps that people posted in forums: their format, or the reason why it cannot be determined.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::assessment::Tamper;
use tapdesk_service::inlay::key::{AesKey, InlayKeys, Keys};
use tapdesk_service::inlay::technology::Technology;
use tapdesk_service::inlay::template::{MacStart, Request, Template, TemplateSettings};
use tapdesk_tests::fixtures::TEMPLATE_MEMBERS;
use tapdesk_tests::{Answering as _, TestService};

use super::links::{input, texts};

const ZERO: &str = "00000000000000000000000000000000";

/// The solver's answer to URLs of a case, with the case's keys.
async fn solved(service: &TestService, id: &str, urls: &[&str]) -> Value {
    let asked = json!({"urls": urls, "keys": input(id)["keys"]});
    let path = "/url-templates/solve";
    service.admin(Method::POST, path, asked).await.expect(200)
}

fn urls(id: &str) -> Vec<&'static str> {
    texts(&input(id)["urls"]).collect()
}

fn assert_member(candidate: &Value, member: &str, expected: impl Into<Value>) {
    assert_eq!(candidate[member], expected.into(), "{member}: {candidate}");
}

#[tokio::test]
async fn u1_escapes_of_a_web_page_and_of_mail_are_no_part_of_a_url() {
    let service = TestService::start().await;
    let template = "https://ntag.nxp.com/424?e={picc}&c={mac}";
    let plain = "https://ntag.nxp.com/424?e=EF963FF7828658A599F3041510671E88&c=94EED9EE65337086";
    let mut pasted: Vec<String> = urls("U1").into_iter().map(str::to_owned).collect();
    pasted.extend([
        plain.replace('&', "&#38;"),
        plain.replace('&', "%26amp%3B"),
        plain.replace("828658", "8286=\r\n58"),
        format!("<{plain}>."),
        format!("  ({plain}), thanks"),
    ]);
    // A single URL does not show whether 424 is the owner's text or a tag's name.
    let as_it_is = solved(&service, "U1", &[plain]).await;
    for text in &pasted {
        let answer = solved(&service, "U1", &[text]).await;
        assert_eq!(answer["urls"], json!([plain]), "{text}");
        assert_ne!(answer["notes"], json!([]), "{text}");
        assert_eq!(answer["certainty"], as_it_is["certainty"], "{text}");
        assert_eq!(answer["candidates"], as_it_is["candidates"], "{text}");
        let candidate = &answer["candidates"][0];
        assert_member(candidate, "template", template);
        assert_member(candidate, "mac_from", "none");
        assert_member(candidate, "uid", "04DE5F1EACC040");
        assert_member(candidate, "counter", 61);
    }
    let notes = solved(&service, "U1", &[&pasted[0]]).await["notes"].to_string();
    assert!(notes.contains("&amp;"), "{notes}");
    let notes = solved(&service, "U1", &[&pasted[2]]).await["notes"].to_string();
    assert!(notes.contains("=3D"), "{notes}");
}

#[tokio::test]
async fn u1_several_urls_in_one_text_are_each_read() {
    let service = TestService::start().await;
    let text = urls("U3").join(", and then\n");
    let answer = solved(&service, "U3", &[&text]).await;
    assert_member(&answer, "certainty", "proved");
    assert_eq!(answer["urls"], json!(urls("U3")));
    // Of more than five, the first are read and the others named.
    let many: Vec<_> = (0..6)
        .map(|n| format!("https://a.example/?q={n}"))
        .collect();
    let answer = solved(&service, "U3", &[&many.join(" ")]).await;
    assert_eq!(answer["urls"], json!(many[..5]));
    let unused = answer["unused"].as_array().unwrap();
    let sixth = unused.iter().find(|piece| piece["text"] == json!(many[5]));
    assert_eq!(sixth.unwrap()["reason"], json!("too_many"), "{answer}");
}

/// Siblings of the forum's URL, as mail programs, chats and developers' tools show it.
#[tokio::test]
async fn u1_other_escapes_are_no_part_of_a_url_either() {
    let service = TestService::start().await;
    let plain = "https://ntag.nxp.com/424?e=EF963FF7828658A599F3041510671E88&c=94EED9EE65337086";
    let encoded = plain
        .replace(':', "%3A")
        .replace('/', "%2F")
        .replace('?', "%3F");
    let encoded = encoded.replace('=', "%3D").replace('&', "%26");
    for text in [
        plain.replace('&', "\\u0026"),
        plain.replace('/', "\\/"),
        plain.replace('&', "&amp%3B"),
        plain.replace("ntag.", "ntag.\u{200B}"),
        plain.replace('=', "&#x3D;"),
        encoded.clone(),
        format!("https://safelinks.example/?url={encoded}&data=05%7C02&reserved=0"),
        format!("[the tag]({plain})"),
        format!("<{plain}|ntag.nxp.com>"),
    ] {
        let answer = solved(&service, "U1", &[&text]).await;
        assert_eq!(answer["urls"][0], json!(plain), "{text}");
        let candidate = &answer["candidates"][0];
        assert_member(
            candidate,
            "template",
            "https://ntag.nxp.com/424?e={picc}&c={mac}",
        );
        assert_member(candidate, "proved_by", 1);
        assert_ne!(answer["notes"], json!([]), "{text}");
        assert!(!answer.to_string().contains("amp;c"), "{answer}");
    }
}

#[tokio::test]
async fn u2_another_scheme_is_no_web_address_and_no_wrong_key() {
    let service = TestService::start().await;
    let answer = solved(&service, "U2", &urls("U2")).await;
    assert_member(&answer, "certainty", "unknown");
    let notes = answer["notes"].to_string();
    assert!(notes.contains("no web address"), "{notes}");
    assert!(notes.contains("myprefix://"), "{notes}");
    assert_eq!(answer["unused"][0]["reason"], json!("no_web_address"));
    assert_eq!(answer["unused"][0]["text"], json!(urls("U2")[0]));
    let asked = json!({"url": urls("U2")[0]});
    let checked = service.admin(Method::POST, "/verification", asked).await;
    let detail = checked.expect(422)["detail"].to_string();
    assert!(detail.contains("no web address"), "{detail}");
    // The scheme of an app can look like a host.
    for scheme in ["com.example.app://", "app.link://tags.example.com/v?"] {
        let url = urls("U2")[0].replace("myprefix://", scheme);
        let answer = solved(&service, "U2", &[&url]).await;
        assert_member(&answer, "certainty", "unknown");
        assert_eq!(answer["unused"][0]["reason"], json!("no_web_address"));
    }
}

#[tokio::test]
async fn u2b_the_same_tap_at_a_web_address_is_proved() {
    let service = TestService::start().await;
    let answer = solved(&service, "U2b", &urls("U2b")).await;
    assert_member(&answer, "certainty", "proved");
    let candidate = &answer["candidates"][0];
    let template = "https://tags.example.com/v?uid={uid}&ctr={counter}&mac={mac}";
    assert_member(candidate, "template", template);
    assert_member(candidate, "mac_from", "uid");
    assert_member(candidate, "uid", "04494ACAFD1990");
    assert_member(candidate, "counter", 30);
}

/// A service with the template and the chip of a case, created from the solver's answer.
async fn moved_in(id: &str) -> (TestService, Value) {
    let service = TestService::start().await;
    let answer = solved(&service, id, &urls(id)).await;
    assert_member(&answer, "certainty", "proved");
    let candidate = answer["candidates"][0].clone();
    let mut template = json!({"name": id});
    for member in TEMPLATE_MEMBERS {
        template[member] = candidate[member].clone();
    }
    let template = service.admin_create("/url-templates", template).await["id"].clone();
    let tag = service.redirecting_tag(Value::Null).await;
    service
        .inlay(json!({
            "uid": candidate["uid"], "technology": candidate["technology"], "tag_id": tag.id,
            "url_template_id": template, "file_key": ZERO, "allow_factory_keys": true,
        }))
        .await;
    (service, candidate)
}

#[tokio::test]
async fn u3_literal_parameters_are_kept_and_counters_go_up() {
    let (service, candidate) = moved_in("U3").await;
    assert_member(&candidate, "mac_from", "none");
    assert_member(&candidate, "counter", 33);
    let text = candidate["template"].as_str().unwrap();
    assert!(text.ends_with("&n=002&t=1&p=3"), "{text}");
    let open = async |url: &str| {
        let (host, path) = url["https://".len()..].split_once('/').unwrap();
        let request = service.request(Method::GET, &format!("/{path}"));
        let answer = request.header("host", host).answer().await;
        let page = service.admin_get("/interactions?limit=1").await;
        (answer.status, page["items"][0].clone())
    };
    let (earlier, later) = (urls("U3")[0], urls("U3")[1]);
    let (status, tap) = open(later).await;
    assert_eq!((status, &tap["tag_verified"]), (302, &json!(true)));
    let (status, tap) = open(earlier).await;
    assert_eq!((status, &tap["tag_verified"]), (302, &json!(false)));
    assert_eq!(tap["reason"], json!("out_of_order"));
    let (status, _) = open(&later.replace("n=002", "n=2")).await;
    assert_eq!(status, 404, "not at this template");
}

#[tokio::test]
async fn u4_a_tamper_loop_that_wrote_nothing_is_unknown_and_never_sealed() {
    let service = TestService::start().await;
    let answer = solved(&service, "U4", &urls("U4")).await;
    assert_member(&answer, "certainty", "proved");
    let candidate = &answer["candidates"][0];
    let template = "https://sdm.nfcdeveloper.com/tagtt?_____TRIAL_VERSION______NOT_FOR_PRODUCTION_____\
                    &picc_data={picc}&enc={enc}&cmac={mac}";
    assert_member(candidate, "template", template);
    assert_member(candidate, "mac_from", "enc");
    assert_member(candidate, "enc_length", 32);
    assert_member(candidate, "uid", "04586F5A081090");
    assert_member(candidate, "counter", 8);

    let template = Template::new(TemplateSettings {
        mac_from: MacStart::Enc,
        enc_length: Some(32),
        tamper_at: Some(0),
        ..TemplateSettings::new(template, Technology::Ntag424DnaTt)
    })
    .unwrap();
    let request = Request::of_url(urls("U4")[0]).unwrap();
    let code = template.read(&request).unwrap().code.unwrap().unwrap();
    let keys = InlayKeys::Aes(Keys {
        meta: Some(AesKey::FACTORY),
        file: AesKey::FACTORY,
    });
    let uid: Uid = "04586F5A081090".parse().unwrap();
    let found = template.check(None, &code, uid, &keys);
    assert!(found.is_authentic());
    assert_eq!(found.tamper, Some(Tamper::Unknown));
    let data = found.file_data.unwrap();
    assert_eq!(data.expose(), b"XXtest\0\0\0\0\0\0\0\0\0\0");
}

#[tokio::test]
async fn u7_a_value_that_was_cut_off_is_named() {
    let service = TestService::start().await;
    let answer = solved(&service, "U7", &urls("U7")).await;
    assert_ne!(answer["certainty"], json!("proved"), "{answer}");
    let notes = answer["notes"].to_string();
    assert!(notes.contains("\\\"f\\\" has 31 hex digits"), "{notes}");
    assert_eq!(answer["unused"][0]["reason"], json!("cut"), "{answer}");
}

/// The same tap with a whole MAC: an address of digits and a port are no reason to refuse.
#[tokio::test]
async fn u7_an_ip_address_with_a_port_is_an_address() {
    let service = TestService::start().await;
    let cut = urls("U7")[0];
    let (start, _) = cut.split_once("&f=").unwrap();
    let answer = solved(&service, "U7", &[&format!("{start}&f=AAFB274DC79B413E")]).await;
    assert_member(&answer, "certainty", "proved");
    let candidate = &answer["candidates"][0];
    let template = "http://192.168.188.114:5001/tag?d={picc}&f={mac}";
    assert_member(candidate, "template", template);
    assert_member(candidate, "uid", "046B75CA9C1790");
    assert_member(candidate, "counter", 3);
    assert_member(candidate, "refused", Value::Null);
}
