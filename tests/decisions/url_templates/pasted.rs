//! URLs as apps, mail programs and people change them: the solver finds the template of the chip.

use super::*;

/// Encrypted PICC data and the MAC of NXP's example (AN12196), whose keys are zeros.
const PICC: &str = "EF963FF7828658A599F3041510671E88";
const MAC: &str = "94EED9EE65337086";

const TEMPLATE: &str = "https://sdm.example.com/tag?picc_data={picc}&cmac={mac}";

/// The URL of NXP's example at this template.
fn plain() -> String {
    TEMPLATE.replace("{picc}", PICC).replace("{mac}", MAC)
}

/// The answer for texts, with keys of zeros and those of [`aes`] with `11` and `22`.
async fn solved(service: &TestService, texts: &[&str]) -> Value {
    let keys = ["00", "11", "22"].map(|byte| byte.repeat(16));
    let asked = json!({"urls": texts, "keys": keys});
    let path = "/url-templates/solve";
    service.admin(Method::POST, path, asked).await.expect(200)
}

/// The answer is a proof of the template, and a note has these words.
fn assert_proved(answer: &Value, template: &str, says: &str) {
    assert_eq!(answer["certainty"], json!("proved"), "{answer}");
    let found = &answer["candidates"][0]["template"];
    assert_eq!(found, &json!(template), "{answer}");
    let notes = answer["notes"].to_string();
    assert!(notes.contains(says), "{says}: {notes}");
}

#[tokio::test]
async fn parameters_that_apps_append_are_no_part_of_the_template() {
    let service = TestService::start().await;
    let url = plain() + "&fbclid=IwAR0abc";
    let answer = solved(&service, &[&url]).await;
    assert_proved(&answer, TEMPLATE, "fbclid");
    assert_eq!(answer["urls"], json!([plain()]));
    // Two shares of one tap, one of them as the chip wrote it.
    let answer = solved(&service, &[&url, &(plain() + "&fbclid=other"), &plain()]).await;
    assert_proved(&answer, TEMPLATE, "fbclid");
    assert_eq!(answer["candidates"][0]["proved_by"], json!(1));
    // Two taps with different parameters, and one without.
    let chip = Chip::new(settings(ONE_ADDRESS), aes("11", "22"));
    let taps = [1, 2, 3].map(|counter| chip.whole_url_at(counter, None));
    let [first, second, third] = taps;
    let first = first + "&utm_source=a&utm_medium=b";
    let second = second + "&gclid=Cj0KCQ";
    let answer = solved(&service, &[&first, &second, &third]).await;
    assert_proved(&answer, ONE_ADDRESS, "utm_source, utm_medium, gclid");
    assert_eq!(answer["candidates"][0]["proved_by"], json!(3));
    assert_eq!(answer["unused"], json!([]));
    // The published form is recognized without the parameter.
    let url = format!("https://m.example.com/njaix4?uid={PICC}&token={MAC}&brid=1");
    let answer = solved(&service, &[&url]).await;
    assert_eq!(answer["candidates"][0]["preset"], json!("bluebite"));
}

#[tokio::test]
async fn a_parameter_that_the_mac_covers_is_part_of_the_template() {
    let service = TestService::start().await;
    let text = "https://tags.example/v?utm_source=nfc&uid={uid}&ctr={counter}&cmac={mac}";
    let settings = TemplateSettings {
        mac_from: MacStart::Offset(0),
        ..settings(text)
    };
    let chip = Chip::new(settings, aes("11", "22"));
    let url = chip.whole_url_at(5, None) + "&fbclid=IwAR0abc";
    let answer = solved(&service, &[&url]).await;
    assert_proved(&answer, text, "fbclid");
    let notes = answer["notes"].to_string();
    assert!(!notes.contains("utm_source"), "{notes}");
}

#[tokio::test]
async fn a_scheme_and_a_host_in_capitals_are_the_same_as_in_small_letters() {
    let service = TestService::start().await;
    let rest = plain().split_off("https://".len());
    for (text, template) in [
        (format!("Https://{rest}"), TEMPLATE.to_owned()),
        (format!("HTTPS://{rest}"), TEMPLATE.to_owned()),
        (
            format!(
                "HTTPS://SDM.Example.com{}",
                &rest[rest.find('/').unwrap()..]
            ),
            TEMPLATE.to_owned(),
        ),
        (
            format!("LNURLW://{rest}"),
            TEMPLATE.replace("https", "lnurlw"),
        ),
    ] {
        let answer = solved(&service, &[&text]).await;
        assert_proved(&answer, &template, "small letters");
    }
    // The MAC covers the host as the chip has it.
    let text = "https://Tags.Example/v?uid={uid}&ctr={counter}&cmac={mac}";
    let covered = TemplateSettings {
        mac_from: MacStart::Offset(0),
        ..settings(text)
    };
    let chip = Chip::new(covered, aes("11", "22"));
    let answer = solved(&service, &[&chip.whole_url_at(5, None)]).await;
    assert_proved(&answer, text, "");

    let body = template_json(&settings("HTTPS://tags.example/v?p={picc}&c={mac}"), &[]);
    let stored = service.admin_create("/url-templates", body).await;
    let small = "https://tags.example/v?p={picc}&c={mac}";
    assert_eq!(stored["template"], json!(small));
}

#[tokio::test]
async fn encoded_separators_and_a_closing_slash_are_no_part_of_the_template() {
    let service = TestService::start().await;
    for (text, says) in [
        (plain().replace('&', "%26"), "%26"),
        (plain().replace('?', "%3F"), "%3F"),
        (
            plain()
                .replace('?', "%3F")
                .replace('=', "%3D")
                .replace('&', "%26"),
            "%3D",
        ),
        (plain() + "/", "behind the last value"),
        (
            format!("https://urldefense.com/v3/__{}__;!!abc$", plain()),
            "out of another one",
        ),
    ] {
        let answer = solved(&service, &[&text]).await;
        assert_proved(&answer, TEMPLATE, says);
        assert_eq!(answer["urls"], json!([plain()]), "{text}");
    }
}

#[tokio::test]
async fn a_url_that_a_program_shortened_is_named() {
    let service = TestService::start().await;
    let cut = plain().replace(&MAC[10..], "");
    for text in [format!("{cut}…"), format!("({cut}...)")] {
        let answer = solved(&service, &[&text]).await;
        assert_eq!(answer["certainty"], json!("unknown"), "{answer}");
        let notes = answer["notes"].to_string();
        assert!(notes.contains("shortened"), "{notes}");
        assert!(notes.contains("has 10 hex digits; a MAC has 16"), "{notes}");
    }
    // A sentence may end so.
    let answer = solved(&service, &[&(plain() + "…")]).await;
    assert_proved(&answer, TEMPLATE, "");
    let notes = answer["notes"].to_string();
    assert!(!notes.contains("shortened"), "{notes}");
}

#[tokio::test]
async fn a_host_in_other_letters_is_read_as_browsers_send_it() {
    let service = TestService::start().await;
    let url = plain().replace("sdm.example.com", "k\u{e4}se.example:8443");
    let template = TEMPLATE.replace("sdm.example.com", "xn--kse-qla.example:8443");
    let answer = solved(&service, &[&url]).await;
    assert_proved(&answer, &template, "k\u{e4}se.example");
    assert_eq!(answer["candidates"][0]["refused"], Value::Null);
}

/// The URL of [`plain`] in forms that no chip writes. Each is proved, and a note says what was read
/// otherwise.
#[tokio::test]
async fn a_url_is_read_however_apps_people_and_mail_wrote_it() {
    let service = TestService::start().await;
    let url = plain();
    let address = url.strip_prefix("https://").unwrap();
    let record = tapdesk_service::inlay::ndef::short_uri(4, address.as_bytes());
    let bytes: Vec<_> = record.iter().map(|byte| format!("{byte:02X}")).collect();
    for (text, says) in [
        (address.to_owned(), "completed"),
        (format!("//{address}"), "completed"),
        (format!("https:/{address}"), "completed"),
        (url.replacen('h', "", 1), "completed"),
        (format!("tel:{address}"), "completed"),
        (format!("\u{4}{address}"), "completed"),
        (url.replace('?', "?\n"), "put together"),
        (url.replace('?', "\n?"), "put together"),
        (url.replace('&', "& "), "put together"),
        (url.replace('&', "&=\r\n"), "mail broke"),
        (url.replace('?', "?=\r\n"), "mail broke"),
        (url.replace('=', "=\n"), "put together"),
        (url.replace(".com/", ".com/\n"), "put together"),
        (bytes.concat(), "bytes"),
        (bytes.join(":"), "bytes"),
        (format!("0x{}", bytes.join(" 0x")), "bytes"),
        (format!("NFC://{url}"), "left out"),
        (format!("_{url}_"), "left out"),
        (format!("[url={url}]tap[/url]"), "left out"),
        (format!("请看{url}。谢谢"), "left out"),
        (format!("{{\"url\":\"{url}\\n\"}}"), "left out"),
        (format!("{url}%0D%0A"), "Marks"),
        (format!("{url}&"), "Marks"),
    ] {
        let answer = solved(&service, &[&text]).await;
        assert_proved(&answer, TEMPLATE, says);
        assert_eq!(answer["urls"], json!([url]), "{text}");
    }
    // Beside a web address.
    let help = "https://help.example.com";
    let answer = solved(&service, &[&format!("{help} and {address}")]).await;
    assert_proved(&answer, TEMPLATE, "completed");
    assert_eq!(answer["urls"], json!([help, url]));
    // Two URLs without a space, one of which no key verifies.
    let other = url.replace(MAC, "94EED9EE65337087");
    let answer = solved(&service, &[&format!("{url}{other}")]).await;
    assert_eq!(answer["certainty"], json!("narrowed"), "{answer}");
    assert_eq!(answer["unused"][0]["text"], json!(other), "{answer}");
}

/// The parts of an authority that browsers do not send as the host.
#[tokio::test]
async fn a_host_is_read_as_browsers_send_it() {
    let service = TestService::start().await;
    for (host, sent, says) in [
        (
            "user:pw@sdm.example.com",
            "sdm.example.com",
            "before \\\"@\\\"",
        ),
        (
            "a%40b@sdm.example.com:8443",
            "sdm.example.com:8443",
            "before",
        ),
        ("other.example@sdm.example.com", "sdm.example.com", "before"),
        ("@sdm.example.com", "sdm.example.com", "before"),
        ("sdm.example.com.", "sdm.example.com", "sdm.example.com."),
        ("sdm.example.com.:8443", "sdm.example.com:8443", "was read"),
        ("sdm.example.com:", "sdm.example.com", "was read"),
        ("u@[2001:db8::1]:8080", "[2001:db8::1]:8080", "before"),
    ] {
        let url = plain().replace("sdm.example.com", host);
        let template = TEMPLATE.replace("sdm.example.com", sent);
        let answer = solved(&service, &[&url]).await;
        assert_proved(&answer, &template, says);
        let read = plain().replace("sdm.example.com", sent);
        assert_eq!(answer["urls"], json!([read]), "a password is not repeated");
        assert_eq!(answer["candidates"][0]["refused"], Value::Null);
    }
    // The address of a template is that of its taps in each spelling.
    let numeric = TEMPLATE.replace("https://sdm.example.com", "http://3221225985");
    let body = template_json(&settings(&numeric), &[]);
    let stored = service.admin_create("/url-templates", body).await;
    assert_eq!(stored["template"], json!(numeric));
    let same = TEMPLATE.replace("https://sdm.example.com", "http://192.0.2.1");
    for (template, status) in [
        (same, 409),
        (TEMPLATE.replace(".com", ".com:99999"), 422),
        (TEMPLATE.replace("sdm.example.com", "256.0.2.1"), 422),
    ] {
        let body = template_json(&settings(&template), &[]);
        let answer = service.admin(Method::POST, "/url-templates", body).await;
        answer.expect(status);
    }
}

#[tokio::test]
async fn a_parameter_that_is_there_twice_is_named() {
    let service = TestService::start().await;
    let answer = solved(&service, &[&(plain() + "&cmac=" + MAC)]).await;
    assert_eq!(answer["certainty"], json!("unknown"), "{answer}");
    let notes = answer["notes"].to_string();
    assert!(notes.contains("\\\"cmac\\\" is in a URL twice"), "{notes}");
}

/// Google's redirect leaves scheme and slashes of the URL inside of it as they are.
#[tokio::test]
async fn a_url_is_taken_out_of_a_redirect_of_a_search_engine() {
    let service = TestService::start().await;
    let inner = plain().replace('?', "%3F").replace('=', "%3D");
    let inner = inner.replace('&', "%26");
    let url = format!("https://www.search.example/url?q={inner}&sa=U&ved=2ahUKE");
    let answer = solved(&service, &[&url]).await;
    assert_proved(&answer, TEMPLATE, "out of another one");
}

#[tokio::test]
async fn a_host_can_be_an_address_or_have_an_underscore() {
    let service = TestService::start().await;
    for base in [
        "http://[2001:db8::1]:8080",
        "https://[2001:db8::1]",
        "http://192.0.2.1:5001",
        "https://my_tags.example.com",
        "http://tags_1:8080",
    ] {
        let template = TEMPLATE.replace("https://sdm.example.com", base);
        let url = plain().replace("https://sdm.example.com", base);
        for text in [url.clone(), format!("See ({url}).")] {
            let answer = solved(&service, &[&text]).await;
            assert_proved(&answer, &template, "");
            assert_eq!(answer["candidates"][0]["refused"], Value::Null);
        }
    }
    let address = plain().replace("https://sdm.example.com", "[2001:db8::1]:8080");
    let answer = solved(&service, &[&address]).await;
    let template = TEMPLATE.replace("https://sdm.example.com", "https://[2001:db8::1]:8080");
    assert_proved(&answer, &template, "completed");
}
