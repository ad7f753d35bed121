//! Cookies, codes and forms that no staff phone sends.

use tapdesk_tests::Answering as _;

use super::unchanged::Unchanged;

/// Values in the form of a secret, and others.
fn values() -> [String; 7] {
    let secret = "a".repeat(43);
    [
        String::new(),
        secret.clone(),
        secret[1..].to_owned(),
        format!("{secret}a"),
        format!("\"{secret}\""),
        format!("{}%41", &secret[3..]),
        format!("{secret}; tapdesk_staff={secret}"),
    ]
}

#[tokio::test]
async fn a_cookie_of_no_phone_opens_nothing() {
    let service = Unchanged::start().await;
    for name in ["tapdesk_staff", "__Host-tapdesk_staff"] {
        for value in values() {
            let cookie = format!("{name}={value}");
            let page = service.get("/staff/taps/1").header("cookie", &cookie);
            assert_eq!(page.answer().await.status, 404, "{cookie}");
            let form = service.post_form("/staff/taps/1", &[("action", "good")]);
            let form = form.header("origin", service.base());
            let form = form.header("cookie", &cookie).answer().await;
            assert_eq!(form.status, 404, "{cookie}");
        }
    }
    service.assert_unchanged().await;
}

#[tokio::test]
async fn a_code_of_no_phone_pairs_nothing() {
    let service = Unchanged::start().await;
    for code in [
        "x",
        "%ff",
        "%00",
        "..%2F..%2Fadmin",
        &"a".repeat(43),
        &"a".repeat(2_000),
    ] {
        let path = format!("/staff/pair/{code}");
        let page = service.get(&path).answer().await;
        assert_eq!(page.status, 404, "{code}");
        let pair = service.post(&path).header("origin", service.base());
        let paired = pair.answer().await;
        assert_eq!(paired.status, 404, "{code}");
        assert_eq!(paired.header("set-cookie"), None);
    }
    service.assert_unchanged().await;
}

#[tokio::test]
async fn an_address_of_no_tap_is_no_page_of_staff() {
    let service = Unchanged::start().await;
    for path in [
        "/staff",
        "/staff/",
        "/staff/taps",
        "/staff/taps/",
        "/staff/taps/0",
        "/staff/taps/-1",
        "/staff/taps/x",
        "/staff/taps/%ff",
        "/staff/taps/99999999999999999999",
        "/staff/taps/x/photo",
        "/staff/taps/1/photo",
        "/staff/scan",
        "/staff/pair",
    ] {
        assert_eq!(service.get(path).answer().await.status, 404, "{path}");
    }
    service.assert_unchanged().await;
}
