//! URLs as people paste them, from mail and web pages.

use super::*;

#[tokio::test]
async fn a_url_from_mail_or_a_web_page_is_read_as_the_chip_wrote_it() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let inlay = service
        .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None)
        .await;
    let plain = url(&service, &tag, &inlay.code_at(7));
    let token = plain.find("&token=").expect("a token") - 10;
    let broken = format!("{}=\r\n{}", &plain[..token], &plain[token..]);
    let spaced = format!("{} {}", &plain[..token], &plain[token..]);
    for (text, says) in [
        (plain.clone(), ""),
        (format!(" {plain}\n"), ""),
        (format!("{plain}\n{plain}"), ""),
        (plain.replace('&', "&amp;"), "&amp;"),
        (plain.replace('&', "&#38;"), "&amp;"),
        (plain.replace('=', "=3D"), "=3D"),
        (broken, "mail broke"),
        (spaced, "between spaces"),
        (format!("<{plain}>."), "left out"),
        (format!("I tapped {plain}, and now?"), "left out"),
    ] {
        let verification = verify(&service, &text).await;
        assert_eq!(verification["tag_verified"], json!(true), "{text}");
        assert_eq!(verification["counter"], json!(7), "{text}");
        let detail = verification["steps"][0]["detail"].as_str().unwrap();
        assert!(detail.contains(says), "{text}: {detail}");
    }
}

#[tokio::test]
async fn several_urls_and_other_schemes_are_refused_in_words() {
    let service = TestService::start().await;
    let tag = tag(&service).await;
    let one = format!("{}/t/{}?uid=1", service.base(), tag.slug);
    let two = format!("{one} {one}&token=2");
    let custom = "myprefix://uid=04494ACAFD1990&ctr=00001E&mac=E8E4FD1BDC5005D3";
    for (text, says) in [(&*two, "one at a time"), (custom, "no web address")] {
        let body = json!({"url": text});
        let answer = service.admin(Method::POST, "/verification", body).await;
        let detail = answer.expect(422)["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(says), "{detail}");
    }
}
