//! Chips that mirror less than expected: no key is wrong.

use tapdesk_service::entropy::{self, OsEntropy};
use tapdesk_service::inlay::check::Read;
use tapdesk_service::inlay::key::{AesKey, InlayKeys, Keys};
use tapdesk_service::inlay::technology::ntag424::Mirrored;
use tapdesk_service::inlay::template::{Field, MacStart, Template, TemplateSettings};
use tapdesk_service::inlay::{Technology, Uid};

use super::*;

const UID: Uid = Uid::from_bytes([0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]);
const META: &str = "11111111111111111111111111111111";
const FILE: &str = "22222222222222222222222222222222";
const ZEROS: &str = "00000000000000000000000000000000";

/// A chip that mirrors only the UID in its PICC data.
const UID_ALONE: Mirrored = Mirrored {
    uid: Some(UID),
    counter: None,
};
const COUNTER_ALONE: Mirrored = Mirrored {
    uid: None,
    counter: Some(41),
};

/// PICC data and MAC of a chip with these keys.
fn code(template: &Template, picc: Mirrored) -> (String, String) {
    let key = |hex| AesKey::from_hex(hex).unwrap();
    let keys = InlayKeys::Aes(Keys {
        meta: Some(key(META)),
        file: key(FILE),
    });
    let read = Read {
        uid: UID,
        counter: 41,
        keys: &keys,
        picc: Some(picc),
        tamper: "",
        file_data: &[],
        random: entropy::bytes(&OsEntropy),
    };
    let code = template.make_code(Some("bottle-41"), &read).unwrap();
    let value = |field| code.get(field).unwrap().to_owned();
    (value(Field::Picc), value(Field::Mac))
}

/// A tag with such a chip in the canonical form.
async fn canonical(mirror: &str) -> (TestService, TestTag) {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let mut inlay = json!({
        "uid": UID.to_string(), "technology": "ntag424dna", "mirror": mirror,
        "file_key": FILE, "tag_id": tag.id,
    });
    if mirror == "encrypted" {
        inlay["meta_key"] = META.into();
    }
    service.inlay(inlay).await;
    (service, tag)
}

async fn findings(service: &TestService, url: &str) -> (Vec<String>, String) {
    let verification = verify(service, url).await;
    let findings = verification["findings"].as_array().unwrap();
    let kinds = findings
        .iter()
        .map(|f| f["kind"].as_str().unwrap().to_owned());
    let texts = findings.iter().map(|f| f["text"].as_str().unwrap());
    (kinds.collect(), texts.collect::<Vec<_>>().join(" "))
}

#[tokio::test]
async fn picc_data_without_a_counter_or_a_uid_name_what_is_not_mirrored() {
    let (service, tag) = canonical("encrypted").await;
    let base = format!("{}/t/{}", service.base(), tag.slug);
    for (mac_from, picc, says) in [
        (MacFrom::None, UID_ALONE, "no read counter"),
        (MacFrom::None, COUNTER_ALONE, "no UID"),
        (MacFrom::Uid, COUNTER_ALONE, "no UID"),
    ] {
        let form = format!("{}/t", service.base());
        let template = Template::canonical(&form, Mirror::Encrypted, mac_from).unwrap();
        let (uid, token) = code(&template, picc);
        let url = format!("{base}?uid={uid}&token={token}");
        let (kinds, text) = findings(&service, &url).await;
        assert_eq!(kinds, ["not_mirrored"], "{picc:?}: {text}");
        assert!(text.contains(says), "{picc:?}: {text}");
        let nobody = format!(
            "{}/t/nobody-has-this?uid={uid}&token={token}",
            service.base()
        );
        let (kinds, _) = findings(&service, &nobody).await;
        assert_eq!(kinds, ["other_inlay", "not_mirrored"], "{picc:?}");
    }
}

#[tokio::test]
async fn picc_data_without_a_uid_at_a_url_template_name_what_is_not_mirrored() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let settings = TemplateSettings {
        mac_from: MacStart::Picc,
        ..TemplateSettings::new(
            "https://bottles.example/v?e={picc}&c={mac}",
            Technology::Ntag424Dna,
        )
    };
    let mut template = serde_json::to_value(&settings).unwrap();
    template["name"] = json!("Bottles");
    template["meta_keys"] = json!([META]);
    let id = service.admin_create("/url-templates", template).await["id"].clone();
    service
        .inlay(json!({
            "uid": UID.to_string(), "technology": "ntag424dna", "url_template_id": id,
            "tag_id": tag.id, "meta_key": META, "file_key": FILE,
        }))
        .await;
    let (picc, mac) = code(&Template::new(settings).unwrap(), COUNTER_ALONE);
    let url = format!("https://bottles.example/v?e={picc}&c={mac}");
    let (kinds, text) = findings(&service, &url).await;
    assert_eq!(kinds, ["not_mirrored"], "{text}");
    assert!(text.contains("no UID"), "{text}");
    for (picc, mac, kind) in [
        (&*picc, "0000000000000000", "no_mac"),
        (ZEROS, "0000000000000000", "nothing_written"),
    ] {
        let url = format!("https://bottles.example/v?e={picc}&c={mac}");
        let (kinds, _) = findings(&service, &url).await;
        assert_eq!(kinds, [kind]);
    }
}

/// An authentic code without a counter is `same_code`, and a MAC that begins elsewhere hides that
/// the UID is missing, too.
#[tokio::test]
async fn an_authentic_code_and_a_wrong_beginning_name_what_is_not_mirrored_too() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let settings = |mac_from| TemplateSettings {
        mac_from,
        ..TemplateSettings::new(
            "https://bottles.example/v/{slug}?e={picc}&c={mac}",
            Technology::Ntag424Dna,
        )
    };
    let mut template = serde_json::to_value(settings(MacStart::None)).unwrap();
    template["name"] = json!("Bottles");
    let id = service.admin_create("/url-templates", template).await["id"].clone();
    service
        .inlay(json!({
            "uid": UID.to_string(), "technology": "ntag424dna", "url_template_id": id,
            "tag_id": tag.id, "meta_key": META, "file_key": FILE,
        }))
        .await;
    for (mac_from, picc, reason, expected, says) in [
        (
            MacStart::None,
            UID_ALONE,
            "same_code",
            vec!["not_mirrored"],
            "no read counter",
        ),
        (
            MacStart::Picc,
            COUNTER_ALONE,
            "wrong_mac",
            vec!["mac_window", "not_mirrored"],
            "no UID",
        ),
    ] {
        let template = Template::new(settings(mac_from)).unwrap();
        let key = |hex| AesKey::from_hex(hex).unwrap();
        let keys = InlayKeys::Aes(Keys {
            meta: Some(key(META)),
            file: key(FILE),
        });
        let read = Read {
            uid: UID,
            counter: 41,
            keys: &keys,
            picc: Some(picc),
            tamper: "",
            file_data: &[],
            random: entropy::bytes(&OsEntropy),
        };
        let code = template.make_code(Some(&tag.slug), &read).unwrap();
        let url = template.url(Some(&tag.slug), &code);
        assert_eq!(verify(&service, &url).await["reason"], reason, "{picc:?}");
        let (kinds, text) = findings(&service, &url).await;
        assert_eq!(kinds, expected, "{picc:?}: {text}");
        assert!(text.contains(says), "{picc:?}: {text}");
    }
}

#[tokio::test]
async fn a_mac_of_zeros_is_one_that_the_chip_does_not_write() {
    let (service, tag) = canonical("plain").await;
    let base = format!("{}/t/{}", service.base(), tag.slug);
    for (uid, token, kind) in [
        (&*UID.to_string(), "0000290000000000000000", "no_mac"),
        (
            "00000000000000",
            "0000000000000000000000",
            "nothing_written",
        ),
    ] {
        let url = format!("{base}?uid={uid}&token={token}");
        let (kinds, text) = findings(&service, &url).await;
        assert_eq!(kinds, [kind]);
        assert!(text.contains("all zeros"), "{text}");
    }
    let (service, tag) = canonical("encrypted").await;
    let template = Template::canonical(service.base(), Mirror::Encrypted, MacFrom::None).unwrap();
    let (picc, _) = code(&template, Mirrored::both(UID, 41));
    for (uid, kind) in [(&*picc, "no_mac"), (ZEROS, "nothing_written")] {
        let url = format!(
            "{}/t/{}?uid={uid}&token=0000000000000000",
            service.base(),
            tag.slug
        );
        let (kinds, _) = findings(&service, &url).await;
        assert_eq!(kinds, [kind]);
    }
}

#[tokio::test]
async fn a_code_in_other_parameters_is_named() {
    let (service, tag) = canonical("encrypted").await;
    let base = format!("{}/t/{}", service.base(), tag.slug);
    let picc = "EF963FF7828658A599F3041510671E88";
    let mac = "94EED9EE65337086";
    for (query, names) in [
        (
            format!("picc_data={picc}&cmac={mac}"),
            "\"picc_data\", \"cmac\"",
        ),
        (format!("e={picc}&c={mac}"), "\"e\", \"c\""),
        (format!("UID={picc}&Token={mac}"), "\"UID\", \"Token\""),
        (
            format!("uid=04DE5F1EACC040&ctr=00003D&cmac={mac}"),
            "\"cmac\"",
        ),
    ] {
        let (kinds, text) = findings(&service, &format!("{base}?{query}")).await;
        assert_eq!(kinds, ["other_parameters"], "{query}");
        assert!(text.contains(names), "{query}: {text}");
    }
    // The same at a tag that expects no code; but parameters that campaigns append are not a code.
    let printed = super::tag(&service).await;
    let base = format!("{}/t/{}", service.base(), printed.slug);
    let (kinds, _) = findings(&service, &format!("{base}?picc_data={picc}&cmac={mac}")).await;
    assert_eq!(kinds, ["other_parameters"]);
    let (kinds, _) = findings(&service, &format!("{base}?utm_source=poster&fbclid=IwAR1")).await;
    assert_eq!(kinds, Vec::<String>::new());
}
